"""Items as rows of a table: columns, symbols beside words, and where the rows come from."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Final

from workbench.model.browse import BrowseRow
from workbench.services.items.browsing import ItemTable
from workbench.tui.widgets.columns import CellStyle, TableCell, TableColumn, TableRow
from workbench.tui.widgets.overview import STATE_MARKS

OUTCOME_MARKS: Final[dict[str, tuple[str, CellStyle]]] = {
    "correct": ("✓", "success"),
    "incorrect": ("✗", "error"),
    "abstain": ("?", "warning"),
    "error": ("!", "warning"),
    "none": ("–", "dim"),
}
"""Verdict or gold -> its symbol and style."""


def marked(word: str) -> TableCell:
    """A verdict or gold in symbol and word."""
    mark, style = OUTCOME_MARKS[word]
    return TableCell(f"{mark} {word}", style)


class FixedSource:
    """Items whose order is settled, as a table reads them.

    Args:
        columns: The table's columns.
        order: All row ids.
        rows: Makes rows by id.
    """

    def __init__(
        self, columns: Sequence[TableColumn], order: array[int], rows: Callable[[Sequence[int]], list[TableRow]]
    ) -> None:
        self.columns, self.order, self.page = columns, order, rows

    def count(self) -> int:
        """How many items there are."""
        return len(self.order)

    def ids(self) -> array[int]:
        """Row ids in that order."""
        return self.order

    def first_page(self, limit: int, offset: int = 0) -> list[TableRow]:
        """Rows in the same order."""
        return self.page(self.order[offset : offset + limit])


_STATE_STYLES: Final[dict[str, CellStyle]] = {
    "unlabelled": "dim",
    "labelled": "accent",
    "conflict": "warning",
    "final": "success",
    "excluded": "dim",
}

_BEFORE = (
    TableColumn("completion_id", "id", min_width=10, ideal_width=20),
    TableColumn("subtype", "type", min_width=6, ideal_width=9),
    TableColumn("state", "state", min_width=12, ideal_width=12),
    TableColumn("gold", "gold", min_width=11, ideal_width=11),
)
_AFTER = (
    TableColumn("question_id", "question", min_width=24, ideal_width=48),
    TableColumn("model", "model", min_width=10, ideal_width=24),
    TableColumn("source", "source", min_width=10, ideal_width=20),
)


class ItemSource:
    """A `RowSource` over the items of one query.

    Attributes:
        items: The items.
        ordered: The ids of all rows in order, once they have been read.
    """

    def __init__(self, items: ItemTable) -> None:
        self.items = items
        self.ordered: array[int] | None = None
        verdicts = (
            TableColumn(f"verdict:{name}", name, min_width=6, ideal_width=min(14, len(name) + 2))
            for name in items.verifiers
        )
        self.columns: Sequence[TableColumn] = (*_BEFORE, *verdicts, *_AFTER)

    def count(self) -> int:
        """How many items there are."""
        return self.items.count()

    def ids(self) -> array[int]:
        """The row ids of all items, in order."""
        self.ordered = self.items.ids()
        return self.ordered

    def first_page(self, limit: int, offset: int = 0) -> list[TableRow]:
        """Items in the order of import."""
        return [self._row(row) for row in self.items.first(limit, offset)]

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        """Items by row id."""
        return [self._row(row) for row in self.items.rows(ids)]

    def _row(self, row: BrowseRow) -> TableRow:
        verdicts = (_symbol(row.verdicts.get(name, "none")) for name in self.items.verifiers)
        return TableRow(
            row.id,
            (
                TableCell(row.completion_id),
                TableCell(row.subtype),
                TableCell(f"{STATE_MARKS[row.state][0]} {row.state}", _STATE_STYLES[row.state]),
                TableCell(f"{OUTCOME_MARKS[row.gold][0]} {row.gold}", OUTCOME_MARKS[row.gold][1]),
                *verdicts,
                TableCell(row.question, "dim"),
                TableCell(row.model),
                TableCell(row.source),
            ),
        )


def _symbol(word: str) -> TableCell:
    return TableCell(*OUTCOME_MARKS[word])
