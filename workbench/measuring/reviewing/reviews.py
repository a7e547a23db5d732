"""Review files: JSON Lines, one decision a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from workbench.core.item import Refusal
from workbench.data.formats.records import read_checked
from workbench.measuring.records.review import ReviewLine

_DECODER = msgspec.json.Decoder(ReviewLine)


def read(path: Path) -> Iterator[tuple[int, ReviewLine | Refusal]]:
    """Line numbers (from 1) with a review each, or why the line can't be taken.

    Raises:
        FormatError: The file can't be opened.
    """
    return read_checked(path, _DECODER, _fault)


def _fault(line: ReviewLine) -> tuple[str, str] | None:
    """A field, and what is wrong with it."""
    is_error = line.kind == "error"
    if (line.verifier is not None) != is_error:
        return "verifier", "an error is a verifier's, and nothing else is"
    if (line.category is not None) != is_error:
        return "category", "an error has a category, and nothing else has one"
    if line.category == "other" and not (line.note or "").strip():
        return "note", "another kind of error needs a note that says which"
    if (line.supersedes is not None) != (line.kind == "retraction"):
        return "supersedes", "a retraction takes something back, and nothing else does"
    return None
