"""The items of one cell of the accuracy table, wrong verdicts first, with the reasons behind them."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Final, get_args

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from workbench.model.reasons import title
from workbench.model.report import NO_REASON
from workbench.model.verdict import Outcome
from workbench.render.bars import counted
from workbench.services.measuring.accuracy_items import AccuracyCell as AccuracyCell
from workbench.services.measuring.accuracy_items import JudgedItems, JudgedRow, Which, judged_items
from workbench.tui.actions import Action
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.switches import following
from workbench.tui.widgets.accuracy_view import PROTOCOLS
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import TableCell, TableColumn, TableRow
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.item_source import FixedSource, marked
from workbench.tui.widgets.table_messages import Failed, RowSelected
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable

_COLUMNS = (
    TableColumn("completion_id", "id", min_width=8, ideal_width=20, sortable=False),
    TableColumn("result", "result", min_width=8, ideal_width=8, sortable=False),
    TableColumn("verdict", "verdict", min_width=11, ideal_width=11, sortable=False),
    TableColumn("gold", "gold", min_width=11, ideal_width=11, sortable=False),
    TableColumn("reason", "why", min_width=18, ideal_width=28, sortable=False),
    TableColumn("subtype", "type", min_width=4, ideal_width=4, sortable=False),
    TableColumn("question", "question", min_width=6, ideal_width=36, sortable=False),
    TableColumn("model", "model", min_width=5, ideal_width=16, sortable=False),
)

_WORDS: Final[dict[Which, str]] = {
    "all": "in all",
    "wrong": "counted as wrong",
    "accepted": "wrongly accepted",
    "refused": "wrongly refused",
    "undecided": "undecided",
    "right": "counted as right",
}

_REASONS = 4
"""So many reasons are named at most."""


class JudgedSource(FixedSource):
    """Judged items, wrong verdicts first."""

    def __init__(self, items: JudgedItems, which: Which = "all") -> None:
        super().__init__(
            _COLUMNS, items.ids(which), lambda ids: [TableRow(row.item.id, _cells(row)) for row in items.rows(ids)]
        )


def _cells(row: JudgedRow) -> tuple[TableCell, ...]:
    item = row.item
    return (
        TableCell(item.completion_id),
        _result(row),
        marked(row.outcome.word),
        marked("correct" if row.gold else "incorrect"),
        TableCell(_why(row.reason)),
        TableCell(item.subtype),
        TableCell(item.question),
        TableCell(item.model, "dim"),
    )


def _why(reason: str) -> str:
    """A reason in a few words: "numbers" where the answers were compared as numbers."""
    return title(reason).removeprefix("compared as ") or reason


def _result(row: JudgedRow) -> TableCell:
    """What the row counts as; an undecided one only because the protocol says so."""
    if row.outcome >= Outcome.ABSTAIN:
        return TableCell("? right", "warning") if row.right else TableCell("? wrong", "warning")
    return TableCell("✓ right", "success") if row.right else TableCell("✗ wrong", "error")


class AccuracyItemsScreen(WorkbenchScreen):
    """One verifier on one group of items; enter opens an item with its evidence.

    Args:
        cell: Whose items.
        words: The group of items, for people.
    """

    CSS_PATH = "accuracy_items.tcss"
    TITLE_TEXT = "Items of a cell"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("accuracy-items.open", "o,enter", "open_item", "Open", "Open the item with the verdict's evidence."),
        Action(
            "accuracy-items.which", "w", "next_kind(1)", "Which", "List all, the wrong, wrongly accepted, undecided …"
        ),
        Action("accuracy-items.which-before", "W", "next_kind(-1)", "Which before", "List the kind before.", False),
    )

    def __init__(self, cell: AccuracyCell, words: str) -> None:
        super().__init__()
        self.cell, self.words = cell, words
        self.which: Which = "all"
        self.items: JudgedItems | None = None
        self._source: JudgedSource | None = None

    def compose(self) -> ComposeResult:
        """The frame; the items come later."""
        yield TitleBar("Items", f"{printable(self.cell.verifier)} × {self.words}")
        yield Static("reading …", id="accuracy-items-counts", markup=False)
        yield VirtualTable(id="accuracy-items-table")
        yield Footer()

    def on_mount(self) -> None:
        """Read."""
        self.query_one(VirtualTable).focus()
        self.in_background(partial(judged_items, self.project, self.cell), self._fill, group="items", stops=True)

    def _fill(self, items: JudgedItems) -> None:
        self.items = items
        self._list()

    def _list(self) -> None:
        """List one kind of items; the selected one stays selected where it is among them."""
        if self.items is None:
            return
        self._source = JudgedSource(self.items, self.which)
        self.query_one("#accuracy-items-counts", Static).update(self._counts(self.items, self._source.count()))
        self.query_one(VirtualTable).set_source(self._source)

    def _counts(self, items: JudgedItems, listed: int) -> str:
        left_out = f" · {counted(items.left_out, 'undecided item')} left out" if items.left_out else ""
        undecided = f" · ? {items.undecided:,} of them undecided" if items.undecided else ""
        shown = "" if self.which == "all" else f"{counted(listed, 'item')} {_WORDS[self.which]} · "
        of: Which = "wrong" if self.which == "all" and items.wrong else self.which
        return (
            f"{counted(len(items), 'item')} counted: ✗ {items.wrong:,} wrong · ✓ {items.right:,} right{undecided}\n"
            f"gold {self.cell.gold} · protocol {self.cell.protocol}: {PROTOCOLS[self.cell.protocol]}{left_out}\n"
            f"{shown}{'why wrong' if of != self.which else 'why'}: {self._reasons(items, of)}"
        )

    def _reasons(self, items: JudgedItems, which: Which) -> str:
        """The most frequent reasons of some items."""
        found = items.reasons(which)
        named = [f"{printable(_why(code)) if code != NO_REASON else 'no reason'} {n:,}" for code, n in found[:_REASONS]]
        more = f" · {len(found) - _REASONS} more" if len(found) > _REASONS else ""
        return " · ".join(named) + more or "–"

    def action_next_kind(self, step: int) -> None:
        """List the next kind of items, or the one before."""
        self.which = following(self.which, get_args(Which)[::step])
        self._list()

    def action_open_item(self) -> None:
        """Open the row under the cursor."""
        self.query_one(VirtualTable).action_open()

    @on(RowSelected)
    def _row_selected(self, event: RowSelected) -> None:
        from workbench.tui.screens.item import ItemScreen

        order = () if self._source is None else self._source.order
        self.app.push_screen(ItemScreen(event.row_id, order, (self.cell.verifier,)))

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self.trouble(event.error)
