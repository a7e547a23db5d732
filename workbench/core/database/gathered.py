"""Whole columns of integers, which SQLite gathers into one text."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_PIECE = 65_536


def integers(text: str | None) -> array[int]:
    """What ``group_concat`` made of integers; nothing for the NULL it makes of no rows.

    That costs a third of a row-by-row read and leaves other threads free. The text is read in pieces: one list of
    a million would take fifty megabytes.
    """
    found = array("q")
    text, at = text or "", 0
    while at < len(text):
        end = text.find(",", at + _PIECE)
        end = len(text) if end < 0 else end
        found.extend(msgspec.json.decode(f"[{text[at:end]}]", type=list[int]))
        at = end + 1
    return found


def vector(text: str | None) -> npt.NDArray[np.int64]:
    """The same as an array of numpy's, which reads the text three times as fast."""
    import numpy as np

    return np.fromstring(text or "", dtype=np.int64, sep=",")
