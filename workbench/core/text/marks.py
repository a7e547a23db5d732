"""The mark at names of judges whose verdicts, or whose model's, chose the items a table is about."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

CHOSE: Final = "†"


def with_mark(verifier: str, chose: Collection[str]) -> str:
    """A verifier's name, with the mark if it is one of those that chose the items."""
    return f"{verifier} {CHOSE}" if verifier in chose else verifier


def what_marks_mean(chose: Collection[str]) -> tuple[str, ...]:
    """The sentence that says whom the mark is at; none where nobody has it."""
    if not chose:
        return ()
    names = ", ".join(chose)
    return (f"{names}: verdicts of this judge, or of its model, decided what belongs to the data (marked {CHOSE}).",)
