"""Which items have been reviewed: those with a decision, and those behind a count of errors."""

from __future__ import annotations

from array import array

from workbench.core.project import Project
from workbench.measuring.records.review import ErrorCategory
from workbench.measuring.reviewing.decided import Part
from workbench.measuring.store import reviews


def reviewed_items(project: Project) -> set[int]:
    """Row ids of the items of which something stands decided, unless gold has become another since."""
    return set(reviews.settled_items(project.database.reader()))


def marked_items(
    project: Project,
    verifier: str,
    category: ErrorCategory | None = None,
    by: Part | None = None,
    group: str | None = None,
) -> array[int]:
    """Row ids of the items behind a figure of `error_counts`, in the order in which they were marked.

    Args:
        category: None for all categories.
        by: What the figure was counted by; None for all items.
        group: Its group.
    """
    marks = [mark for mark in reviews.marks(project.database.reader()) if mark.verifier == verifier]
    return array(
        "q",
        [
            mark.completion
            for mark in marks
            if not mark.outdated and category in (None, mark.category) and (by is None or getattr(mark, by) == group)
        ],
    )
