"""Code problems as rows of a table."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Final

from workbench.model.pass_matrix import ProblemRow
from workbench.render.bars import NONE, percent
from workbench.services.coding.problems import ProblemTable
from workbench.tui.widgets.columns import CellStyle, TableCell, TableColumn, TableRow

COLUMNS: Final = (
    TableColumn("task_id", "problem", min_width=12, ideal_width=24),
    TableColumn("entry_point", "entry point", min_width=8, ideal_width=20),
    TableColumn("solutions", "sol.", min_width=4, ideal_width=9, align="right"),
    TableColumn("gold", "gold %", min_width=6, ideal_width=6, align="right"),
    TableColumn("passing", "pass@1", min_width=7, ideal_width=7, align="right"),
    TableColumn("done", "run", min_width=7, ideal_width=13),
    TableColumn("tests", "tests", min_width=22, ideal_width=30),
)


class ProblemSource:
    """A `RowSource` over the problems of one query.

    Attributes:
        problems: The problems.
        ordered: The ids of all rows in order, once they have been read.
    """

    def __init__(self, problems: ProblemTable) -> None:
        self.problems = problems
        self.ordered: array[int] | None = None
        self.columns: Sequence[TableColumn] = COLUMNS

    def count(self) -> int:
        """How many problems there are."""
        return self.problems.count()

    def ids(self) -> array[int]:
        """The row ids of all problems, in order."""
        self.ordered = self.problems.ids()
        return self.ordered

    def first_page(self, limit: int, offset: int = 0) -> list[TableRow]:
        """Problems in the order of import."""
        return [problem_row(row) for row in self.problems.first(limit, offset)]

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        """Problems by row id."""
        return [problem_row(row) for row in self.problems.rows(ids)]


def problem_row(row: ProblemRow) -> TableRow:
    """A problem in the cells of its row."""
    return TableRow(
        row.id,
        (
            TableCell(row.task_id),
            TableCell(row.entry_point or NONE, "" if row.entry_point else "dim"),
            TableCell(f"{row.solutions:,}"),
            TableCell(percent(row.share_correct, 0)),
            TableCell(percent(row.pass_at_1, 0), "bold"),
            _done(row),
            TableCell(" ".join(f"{suite}:{tests}" for suite, tests in row.tests.items()) or "none", "dim"),
        ),
    )


def _done(row: ProblemRow) -> TableCell:
    """How far the run is with this problem."""
    if not row.done:
        return TableCell(f"{NONE} 0/{row.solutions}", "dim")
    mark: tuple[str, CellStyle] = ("✓", "success") if row.done == row.solutions else ("…", "warning")
    return TableCell(f"{mark[0]} {row.done}/{row.solutions}", mark[1])
