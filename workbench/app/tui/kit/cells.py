"""Text made safe for a line of terminal cells: in one line, and of an exact width."""

from __future__ import annotations

import re
import shlex
from typing import Final, Literal

from rich.cells import cell_len, set_cell_size

from workbench.core.text.inert import inert

Align = Literal["left", "right"]

CLIP: Final = 500
"""Characters of a cell that are looked at; longer cells are cut before they are measured."""

_LINE_END = re.compile("\r\n|[\n\u2028\u2029]")
_SHAPING = re.compile("[\u200c\u200d\ufe00-\ufe0f]")  # joiners and variation selectors


def printable(text: str) -> str:
    """The text in one line, in characters that each take 0, 1 or 2 cells whatever stands beside them.

    Line ends become ``↵`` and tabs a space; what could steer the terminal or hide is shown as by
    `inert`. Joiners and variation selectors are left out: terminals disagree about their widths.
    """
    if text.isascii() and text.isprintable():
        return text
    return _SHAPING.sub("", inert(_LINE_END.sub("↵", text).replace("\t", " ")))


def as_typed(word: str) -> str:
    """A file's or a person's name in one line, as a command that is shown has to have it."""
    return printable(shlex.quote(word))


def fit(text: str, width: int, align: Align = "left") -> str:
    """The text cut with ``…`` or padded to exactly `width` cells."""
    if width <= 0:
        return ""
    shown = printable(text[:CLIP])
    size = cell_len(shown)
    if size > width or len(text) > CLIP:
        return set_cell_size(set_cell_size(shown, min(size, width - 1)) + "…", width)
    padding = " " * (width - size)
    return padding + shown if align == "right" else shown + padding
