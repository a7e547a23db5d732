"""Marked errors as a table: a line for each verifier, and one for each group of items it has errors on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from workbench.model.review import ERROR_CATEGORIES, ErrorCategory
from workbench.model.taxonomy import type_display
from workbench.reports.document import Cell, Row, Table, heads
from workbench.services.measuring.table_files import SUFFIXES, WRITERS, write_beside
from workbench.services.project import Project
from workbench.services.reviewing.decided import Part, error_counts


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
    for count in error_counts(project, by=by):
        line = found.setdefault(
            (count.verifier, count.group),
            ErrorLine(
                verifier=count.verifier, group=count.group, marked=count.marked, outdated=count.outdated, counts={}
            ),
        )
        line.counts[count.category] = count.count
    return list(found.values())


def categories_of(lines: Sequence[ErrorLine]) -> list[ErrorCategory]:
    """The categories that occur, in the order of the taxonomy."""
    return [category for category in ERROR_CATEGORIES if any(category in line.counts for line in lines)]


def group_words(group: str | None) -> str:
    """A group for people: ``A1 - Integer``."""
    return "all" if group is None else type_display(group)


def error_table(lines: Sequence[ErrorLine]) -> Table:
    """The lines as a table."""
    categories = categories_of(lines)
    outdated = sum(line.outdated for line in lines if line.group is None)
    note = f"Not counted: {outdated:,} marked before gold came to say what the verifier had said."
    return Table(
        caption="Verifiers' errors by kind, as reviewers marked them",
        head=(heads("verifier", "group", "marked", *categories),),
        left=2,
        rows=tuple(
            Row(
                (
                    Cell(line.verifier),
                    Cell(group_words(line.group)),
                    Cell(f"{line.marked:,}"),
                    *(Cell(f"{line.counts.get(category, 0):,}") for category in categories),
                ),
                "total" if line.group is None else "",
            )
            for line in lines
        ),
        notes=(note,) if outdated else (),
    )


def save_errors(project: Project, by: Part | None, as_: Literal["csv", "markdown"]) -> Path:
    """Write the table beside the database, to a file that was not there before.

    Raises:
        StoreError: The file can't be written.
    """
    table = error_table(error_lines(project, by))
    stem = f"{project.path.stem}-errors" + (f"-{by}" if by else "")
    return write_beside(project.path, stem, SUFFIXES[as_], WRITERS[as_](table))
