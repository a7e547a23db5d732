"""The items two people have both labelled: those on which they differ, or all of them."""

from __future__ import annotations

from array import array
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from workbench.model.label import Task
from workbench.render.bars import counted
from workbench.services.labelling.agreement.pair_items import LabelledRow, PairItems, pair_items
from workbench.tui.actions import Action
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.widgets.agreement_view import marked
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import TableCell, TableColumn, TableRow
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.item_source import FixedSource
from workbench.tui.widgets.table_messages import Failed, RowSelected
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable


def _columns(pair: tuple[str, str]) -> tuple[TableColumn, ...]:
    return (
        TableColumn("completion_id", "id", min_width=10, ideal_width=20, sortable=False),
        TableColumn("same", "", min_width=1, ideal_width=1, sortable=False),
        *(TableColumn(name, printable(name), min_width=12, ideal_width=14, sortable=False) for name in pair),
        TableColumn("state", "state", min_width=10, ideal_width=10, sortable=False),
        TableColumn("subtype", "type", min_width=4, ideal_width=8, sortable=False),
        TableColumn("domain", "domain", min_width=8, ideal_width=18, sortable=False),
        TableColumn("question", "question", min_width=10, ideal_width=60, sortable=False),
    )


class LabelPairSource(FixedSource):
    """Items with what each of the two said."""

    def __init__(self, found: PairItems, order: array[int], pair: tuple[str, str]) -> None:
        super().__init__(
            _columns(pair), order, lambda ids: [TableRow(row.item.id, _cells(row)) for row in found.rows(ids)]
        )


def _cells(row: LabelledRow) -> tuple[TableCell, ...]:
    item = row.item
    same = TableCell("=", "dim") if row.a == row.b else TableCell("≠", "warning")
    said = (TableCell(marked(row.a)), TableCell(marked(row.b)))
    return (
        TableCell(item.completion_id),
        same,
        *said,
        TableCell(item.state),
        TableCell(item.subtype),
        TableCell(item.domain, "dim"),
        TableCell(item.question),
    )


class AgreementItemsScreen(WorkbenchScreen):
    """Two people's items; enter opens one, and that look is recorded as a reveal.

    Args:
        kind: The task.
        pair: Their names.
        coarse: Types by their letter.
        everything: Begin with all items, not only those on which they differ.
    """

    CSS_PATH = "agreement_items.tcss"
    TITLE_TEXT = "Items of two people"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("agreement-items.open", "o,enter", "open_item", "Open", "Open the item with all its labels."),
        Action("agreement-items.which", "w", "other_items", "All/≠", "List all items, or those on which they differ."),
    )

    def __init__(self, kind: Task, pair: tuple[str, str], coarse: bool = False, everything: bool = False) -> None:
        super().__init__()
        self.kind, self.pair, self.coarse, self.everything = kind, pair, coarse, everything
        self.found: PairItems | None = None
        self._source: LabelPairSource | None = None

    def compose(self) -> ComposeResult:
        """The frame; the items come later."""
        yield TitleBar(
            "Items", f"{printable(' – '.join(self.pair))} · {'types by letter' if self.coarse else self.kind}"
        )
        yield Static("reading …", id="agreement-items-counts", markup=False)
        yield VirtualTable(id="agreement-items-table")
        yield Footer()

    def on_mount(self) -> None:
        """Read."""
        self.query_one(VirtualTable).focus()
        work = partial(pair_items, self.project, self.kind, *self.pair, coarse=self.coarse)
        self.in_background(work, self._fill, group="items")

    def _fill(self, found: PairItems) -> None:
        self.found = found
        self._list()

    def _list(self) -> None:
        if self.found is None:
            return
        differing, same = self.found.differing, self.found.same
        order = differing + same if self.everything else differing
        listed = "all are listed" if self.everything else "those that differ are listed"
        both = counted(len(differing) + len(same), "item")
        self.query_one("#agreement-items-counts", Static).update(
            f"{both}: ≠ {len(differing):,} differ · = {len(same):,} agree · {listed}"
        )
        self._source = LabelPairSource(self.found, order, self.pair)
        self.query_one(VirtualTable).set_source(self._source)

    def action_open_item(self) -> None:
        """Open the row under the cursor."""
        self.query_one(VirtualTable).action_open()

    def action_other_items(self) -> None:
        """All items, or only those on which they differ."""
        self.everything = not self.everything
        self._list()

    @on(RowSelected)
    def _row_selected(self, event: RowSelected) -> None:
        from workbench.tui.screens.item import ItemScreen

        order = () if self._source is None else self._source.order
        self.app.push_screen(ItemScreen(event.row_id, order))

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self.trouble(event.error)
