"""One spelling for tests that differ in blanks, quotes or brackets alone; nothing of a test is run here."""

from __future__ import annotations

import ast
from typing import Final

from workbench.core.code_tests.assertion import parsed

LONGEST_TEST: Final = 20_000
"""Characters of a test that a model may write."""

_MOST_NODES: Final = 20_000
_DEEPEST: Final = 60


def tree_of(source: str) -> ast.Module | None:
    """The syntax tree of a test; None where it is no Python, or too long or too deep to be walked."""
    tree = parsed(source) if len(source) <= LONGEST_TEST else None
    return tree if tree is not None and _is_small(tree) else None


def spelling(source: str) -> str:
    """A test's text as its syntax tree would be written; the text itself where it has none.

    The message of an assert says nothing of what is tested, and is left out.
    """
    tree = tree_of(source)
    if tree is None:
        return source.strip()
    for node in tree.body:
        if isinstance(node, ast.Assert):
            node.msg = None
    return ast.unparse(tree)


def bound_names(setup: str) -> list[str]:
    """Names that a problem's setup binds, such as ``candidate`` in ``candidate = add``."""
    tree = tree_of(setup)
    if tree is None:
        return []
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _is_small(tree: ast.AST) -> bool:
    level: list[ast.AST] = [tree]
    count = 0
    for _ in range(_DEEPEST):
        count += len(level)
        if not level or count > _MOST_NODES:
            break
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return not level and count <= _MOST_NODES
