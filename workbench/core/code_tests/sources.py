"""The text of a syntax tree's nodes, in time that does not grow with the text around them."""

from __future__ import annotations

import ast
import re
from typing import Final

_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
"""A line as the parser counts them, with its end: form feeds and other separators end none."""


class Sources:
    """Cuts nodes out of the text they were parsed from, where `ast.get_source_segment` takes half a minute a megabyte.

    Args:
        text: That text.
    """

    def __init__(self, text: str) -> None:
        self._lines: list[bytes] = _LINE.findall(text.encode("utf-8", "surrogatepass"))

    def of(self, node: ast.stmt | ast.expr) -> str:
        """The node as it is written; a statement that holds others is written anew, without its indentation."""
        if isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.Try | ast.FunctionDef | ast.ClassDef):
            return ast.unparse(node)
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        lines = self._lines[first : last + 1]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"".join(lines).decode("utf-8", "surrogatepass")
