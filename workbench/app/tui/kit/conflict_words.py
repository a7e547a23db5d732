"""Conflicts in words."""

from __future__ import annotations

from textual.content import Content

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.label_line import verdict_words
from workbench.core.taxonomy import type_display
from workbench.labelling.conflict_classes import ConflictClass


def value_words(value: str, reason: str = "") -> Content:
    """A verdict with its reason, or an answer type."""
    if value in ("correct", "incorrect", "unsuitable"):
        return verdict_words(value, reason)
    return Content(printable(type_display(value)))


def side_words(value: str) -> Content:
    """One side of a kind, such as ``unsuitable:proof``."""
    return value_words(*value.split(":", 1))


def kind_words(kind: ConflictClass) -> str:
    """A kind of conflict: "✓ correct against ✗ incorrect"."""
    return " against ".join(side_words(value).plain for value in kind.values)


def about(kind: ConflictClass) -> str:
    """What a kind is about: correctness, the subtypes within one type, or several types."""
    if kind.task == "correctness":
        return "correctness"
    letters = sorted({printable(value[:1]) for value in kind.values})
    return f"type, within {letters[0]}" if len(letters) == 1 else f"type, {' or '.join(letters)}"


def undone(count: int) -> str:
    """What an undo has done."""
    if not count:
        return "There is no decision of yours to take back."
    return f"{count:,} {'decision' if count == 1 else 'decisions'} taken back."
