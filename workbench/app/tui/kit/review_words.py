"""What a reviewer decided, in symbol and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual.content import Content

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import CellStyle, TableCell
from workbench.measuring.records.review import Review, ReviewKind

REVIEW_MARKS: Final[dict[ReviewKind, tuple[str, CellStyle]]] = {
    "confirmed": ("✓", "success"),
    "reannotate": ("↻", "accent"),
    "error": ("✗", "error"),
}
"""Decision -> its symbol and style; one that was taken back is never shown."""

_WORDS: Final[dict[ReviewKind, str]] = {"confirmed": "gold is right", "reannotate": "sent back"}
_SHORT: Final[dict[ReviewKind, str]] = {"confirmed": "gold ok", "reannotate": "sent back"}


def review_words(review: Review) -> str:
    """A decision in full: ``✗ error of math-verify: extraction``."""
    mark = REVIEW_MARKS[review.kind][0]
    if review.kind == "error":
        return f"{mark} error of {review.verifier}: {review.category}"
    return f"{mark} {_WORDS[review.kind]}"


def decision_words(reviews: Sequence[Review]) -> str:
    """What was decided at one go: the errors of several verifiers are all of one category."""
    if len(reviews) == 1:
        return review_words(reviews[0])
    names = ", ".join(review.verifier or "" for review in reviews)
    return f"{REVIEW_MARKS['error'][0]} error of {names}: {reviews[0].category}"


def review_cell(reviews: Sequence[Review]) -> TableCell:
    """What stands decided of an item, for a narrow column: the newest decision, and how many there are."""
    if not reviews:
        return TableCell("· open", "dim")
    newest = reviews[-1]
    mark, style = REVIEW_MARKS[newest.kind]
    more = f" +{len(reviews) - 1}" if len(reviews) > 1 else ""
    return TableCell(f"{mark} {newest.category or _SHORT[newest.kind]}{more}", style)


def review_lines(why: str, reviews: Sequence[Review], note: str, said: str) -> Content:
    """Why an item is in its queue, what stands decided of it, the note that waits, and what was stored last."""
    parts = [Content.assemble(("Why  ", "bold"), printable(why))] if why else []
    if reviews:
        decided = " · ".join(f"{review_words(review)} ({review.reviewer})" for review in reviews)
        parts.append(Content.assemble(("Decided  ", "bold"), printable(decided)))
    if note:
        parts.append(Content(f"✎ {printable(note)}"))
    if said:
        parts.append(Content.styled(printable(said), "$text-success"))
    return Content("\n").join(parts)
