"""Files of verdicts: JSON Lines, one verdict a line, such as `workbench verdicts` prints."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from pathlib import Path

import msgspec

from workbench.core.item import Refusal
from workbench.core.numbers import is_figure
from workbench.core.run import VerdictRow
from workbench.data.formats.records import read_checked

_DECODER = msgspec.json.Decoder(VerdictRow)


def read(path: Path) -> Iterator[tuple[int, VerdictRow | Refusal]]:
    """Line numbers (from 1) with a verdict each, or why the line can't be taken.

    Raises:
        FormatError: The file can't be opened.
    """
    return read_checked(path, _DECODER, _fault)


def _fault(line: VerdictRow) -> tuple[str, str] | None:
    """A field, and what is wrong with it."""
    if line.verdict is None and line.score is None:
        return "verdict", "a line needs a verdict (correct, incorrect, abstain, error), a score, or both"
    if line.score is not None and not is_figure(line.score):
        return "score", "a score is a finite number, 1e100 at most"
    if not (isfinite(line.ms) and line.ms >= 0):
        return "ms", "a time is a number of milliseconds from 0"
    return None
