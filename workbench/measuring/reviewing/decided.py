"""What has been decided of disagreements: the reviews of an item, and verifiers' errors counted by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec import structs

from workbench.core.database.events import Connection
from workbench.core.project import Project
from workbench.data.store import label_lines
from workbench.measuring.records.review import ERROR_CATEGORIES, ErrorCount, Review, ReviewLine, StandingReview
from workbench.measuring.store import reviews

Part = Literal["type", "subtype"]
"""What errors can be counted by."""


def reviews_of(project: Project, completion: int) -> list[Review]:
    """The reviews of an item that are in force, the newest last."""
    return reviews.standing(project.database.reader(), [completion]).get(completion, [])


def standing_reviews(project: Project) -> list[StandingReview]:
    """All reviews in force, in the order in which they came."""
    reader = project.database.reader()
    found = list(reviews.every(reader, only_standing=True))
    golds = reviews.gold_of(reader, {review.completion for review in found})
    return [
        StandingReview(**structs.asdict(line_of(reader, review)), gold_now=golds[review.completion].word)
        for review in found
    ]


def line_of(connection: Connection, review: Review) -> ReviewLine:
    """A review in the words of review files."""
    place = label_lines.place(connection, "correctness", review.completion)
    names = ("uuid", "kind", "reviewer", "created_at", "gold", "verifier", "category", "queue", "note", "supersedes")
    return ReviewLine(**place._asdict(), **{name: getattr(review, name) for name in names})


def error_counts(project: Project, verifiers: Sequence[str] = (), by: Part | None = None) -> list[ErrorCount]:
    """Marked errors in force, counted by verifier, group and category; categories nobody marked are left out.

    A mark on a verdict that gold has come to agree with is counted apart, in ``outdated``.

    Args:
        verifiers: Names; empty for all that have marks.
    """
    marks = [mark for mark in reviews.marks(project.database.reader()) if not verifiers or mark.verifier in verifiers]
    groups = [(mark, (mark.verifier, getattr(mark, by) if by else None)) for mark in marks]
    outdated = Counter(key for mark, key in groups if mark.outdated)
    marked = Counter(key for mark, key in groups if not mark.outdated)
    counts = Counter((key, mark.category) for mark, key in groups if not mark.outdated)
    return [
        ErrorCount(
            verifier=key[0],
            group=key[1],
            category=category,
            count=counts[key, category],
            marked=marked[key],
            outdated=outdated[key],
        )
        for key in sorted(marked, key=lambda key: (key[0], key[1] or ""))
        for category in ERROR_CATEGORIES
        if counts[key, category]
    ]
