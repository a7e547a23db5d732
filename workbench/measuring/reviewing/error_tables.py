"""Marked errors as a table: a line for each verifier, and one for each group of items it has errors on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from workbench.core.project import Project
from workbench.core.taxonomy import type_display
from workbench.measuring.records.review import ERROR_CATEGORIES, ErrorCategory
from workbench.measuring.reviewing.deciding import Part, error_counts
from workbench.tables.document import Table
from workbench.tables.files import SUFFIXES, WRITERS, write_beside
from workbench.tables.table import Column, Columns, count, table, word


class ErrorLine(Struct, frozen=True, kw_only=True):
    """The marked errors of one verifier on one group of items.

    Attributes:
        group: None for all items.
        marked: How many there are.
        outdated: Marks beside them on verdicts that gold has come to agree with.
        counts: Category -> how many.
    """

    verifier: str
    group: str | None
    marked: int
    outdated: int
    counts: dict[ErrorCategory, int]


def error_lines(project: Project, by: Part | None = None) -> list[ErrorLine]:
    """Every verifier with marks on all items, and after it the same by group."""
    everything, grouped = _lines(project, None), _lines(project, by) if by is not None else []
    return [
        line for total in everything for line in (total, *(one for one in grouped if one.verifier == total.verifier))
    ]


def _lines(project: Project, by: Part | None) -> list[ErrorLine]:
    found: dict[tuple[str, str | None], ErrorLine] = {}
    for one in error_counts(project, by=by):
        line = found.setdefault(
            (one.verifier, one.group),
            ErrorLine(verifier=one.verifier, group=one.group, marked=one.marked, outdated=one.outdated, counts={}),
        )
        line.counts[one.category] = one.count
    return list(found.values())


def categories_of(lines: Sequence[ErrorLine]) -> list[ErrorCategory]:
    """The categories that occur, in the order of the taxonomy."""
    return [category for category in ERROR_CATEGORIES if any(category in line.counts for line in lines)]


def group_words(group: str | None) -> str:
    """A group for people: ``A1 - Integer``."""
    return "all" if group is None else type_display(group)


def error_table(lines: Sequence[ErrorLine]) -> Table:
    """The lines as a table."""

    def of_kind(category: ErrorCategory) -> Column[ErrorLine]:
        return count(category, lambda line: line.counts.get(category, 0))

    columns: Columns[ErrorLine] = (
        word("verifier", lambda line: line.verifier),
        word("group", lambda line: group_words(line.group)),
        count("marked", lambda line: line.marked),
        *map(of_kind, categories_of(lines)),
    )
    outdated = sum(line.outdated for line in lines if line.group is None)
    note = f"Not counted: {outdated:,} marked before gold came to say what the verifier had said."
    return table(
        "Verifiers' errors by kind, as reviewers marked them",
        columns,
        lines,
        notes=(note,) if outdated else (),
        kind=lambda line: "total" if line.group is None else "",
    )


def save_errors(project: Project, by: Part | None, as_: Literal["csv", "markdown"]) -> Path:
    """Write the table beside the database, to a file that was not there before.

    Raises:
        StoreError: The file can't be written.
    """
    found = error_table(error_lines(project, by))
    stem = f"{project.path.stem}-errors" + (f"-{by}" if by else "")
    return write_beside(project.path, stem, SUFFIXES[as_], WRITERS[as_](found))
