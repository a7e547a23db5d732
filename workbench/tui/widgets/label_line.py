"""A label in one line: symbol and word for everything, never colour alone."""

from __future__ import annotations

from textual.content import Content

from workbench.model.label import EXCLUSION_REASONS
from workbench.model.taxonomy import type_display
from workbench.tui.widgets.cells import printable

SYMBOLS = {"correct": "✓", "incorrect": "✗", "unsuitable": "⊘", "abstain": "?", "error": "!"}
"""Verdict -> symbol."""

_STYLES = {"correct": "bold $text-success", "incorrect": "bold $text-error", "unsuitable": "bold $text-warning"}


def verdict_words(verdict: str, reason: str | None = None) -> Content:
    """A verdict as symbol and word, with the reason of an exclusion."""
    words = f"{SYMBOLS.get(verdict, '·')} {verdict}"
    if reason:
        words += f" ({EXCLUSION_REASONS.get(reason, printable(reason))})"
    return Content.styled(words, _STYLES.get(verdict, ""))


def label_line(
    *, verdict: str | None, reason: str | None, subtype: str | None, unsure: bool, note: str, flagged: bool = False
) -> Content:
    """Everything a person has said of an item, or that there is nothing yet."""
    parts = [verdict_words(verdict, reason)] if verdict else [Content.styled("· not labelled", "$text-muted")]
    if unsure:
        parts.append(Content.styled("? unsure", "bold $text-warning"))
    if subtype:
        parts.append(Content(f"type {printable(type_display(subtype))}"))
    if flagged:
        parts.append(Content.styled("⚑ flagged", "bold $text-warning"))
    if note:
        parts.append(Content(f"✎ {printable(note)}"))
    return Content("  ").join(parts)
