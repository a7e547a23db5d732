"""A label in one line: symbol and word for everything, never colour alone."""

from __future__ import annotations

from textual.content import Content

from workbench.app.tui.kit.cells import printable
from workbench.core.label import EXCLUSION_REASONS
from workbench.core.taxonomy import type_display
from workbench.labelling.rulings import Ruling

SYMBOLS = {"correct": "✓", "incorrect": "✗", "unsuitable": "⊘", "abstain": "?", "error": "!"}
"""Verdict -> symbol."""

_STYLES = {"correct": "bold $text-success", "incorrect": "bold $text-error", "unsuitable": "bold $text-warning"}


def verdict_words(verdict: str, reason: str | None = None) -> Content:
    """A verdict as symbol and word, with the reason of an exclusion."""
    words = f"{SYMBOLS.get(verdict, '·')} {verdict}"
    if reason:
        words += f" ({EXCLUSION_REASONS.get(reason, printable(reason))})"
    return Content.styled(words, _STYLES.get(verdict, ""))


def stored_words(said: Ruling) -> Content:
    """A decision as it is stored: verdict or type, marks, partial score, note."""
    parts = [verdict_words(said.verdict, said.reason)] if said.verdict else []
    if said.subtype:
        parts.append(Content(f"type {printable(type_display(said.subtype))}"))
    parts.extend(Content.styled(f"◆ {tag_words(tag)}", "bold $text-accent") for tag in said.tags)
    if said.partial is not None:
        parts.append(Content.styled(f"◔ {said.partial:g} right", "bold $text-accent"))
    if said.note:
        parts.append(Content(f"✎ {printable(said.note)}"))
    return Content("  ").join(parts)


def label_line(
    *,
    verdict: str | None,
    reason: str | None,
    subtype: str | None,
    unsure: bool,
    note: str,
    tags: tuple[str, ...] = (),
    partial: float | None = None,
    flagged: bool = False,
    answered: bool = False,
    wants_type: bool = False,
) -> Content:
    """Everything a person has said of an item, or that there is nothing yet.

    Args:
        wants_type: The question's type is still to be given.
    """
    parts = [verdict_words(verdict, reason)] if verdict else [Content.styled("· not labelled", "$text-muted")]
    if wants_type and verdict not in (None, "unsuitable"):
        parts.append(Content.styled("! type missing: t", "bold $text-warning"))
    if unsure:
        parts.append(Content.styled("? unsure", "bold $text-warning"))
    parts.extend(Content.styled(f"◆ {tag_words(tag)}", "bold $text-accent") for tag in tags)
    if partial is not None:
        parts.append(Content.styled(f"◔ {partial:g} right", "bold $text-accent"))
    if subtype:
        parts.append(Content(f"type {printable(type_display(subtype))}"))
    if flagged:
        words, style = ("⚑ answered: F", "$text-success") if answered else ("⚑ flagged", "$text-warning")
        parts.append(Content.styled(words, f"bold {style}"))
    if note:
        parts.append(Content(f"✎ {printable(note)}"))
    return Content("  ").join(parts)


def tag_words(tag: str) -> str:
    """A tag in a word or two; what it means in full stands in the menu."""
    return printable(tag.replace("_", " "))
