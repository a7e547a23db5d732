"""The items of one cell of the accuracy table, wrong verdicts first."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Footer, Static

from workbench.model.reasons import title
from workbench.model.selection import Condition
from workbench.model.verdict import GoldChoice, Outcome, Protocol3
from workbench.render.bars import counted
from workbench.services.measuring.accuracy_items import JudgedItems, JudgedRow, judged_items
from workbench.tui.actions import Action
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.widgets.accuracy_view import PROTOCOLS
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import Cell, Column, Row
from workbench.tui.widgets.item_source import FixedSource, marked
from workbench.tui.widgets.table_messages import Failed, RowSelected
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable

_COLUMNS = (
    Column("completion_id", "id", min_width=8, ideal_width=20, sortable=False),
    Column("result", "result", min_width=11, ideal_width=11, sortable=False),
    Column("verdict", "verdict", min_width=11, ideal_width=11, sortable=False),
    Column("gold", "gold", min_width=11, ideal_width=11, sortable=False),
    Column("reason", "why", min_width=14, ideal_width=28, sortable=False),
    Column("subtype", "type", min_width=4, ideal_width=4, sortable=False),
    Column("question", "question", min_width=6, ideal_width=36, sortable=False),
    Column("model", "model", min_width=5, ideal_width=16, sortable=False),
)


class JudgedSource(FixedSource):
    """Judged items, wrong verdicts first."""

    def __init__(self, items: JudgedItems) -> None:
        super().__init__(_COLUMNS, items.ids(), lambda ids: [Row(row.item.id, _cells(row)) for row in items.rows(ids)])


def _cells(row: JudgedRow) -> tuple[Cell, ...]:
    item = row.item
    return (
        Cell(item.completion_id),
        _result(row),
        marked(row.outcome.word),
        marked("correct" if row.gold else "incorrect"),
        Cell(_why(row.reason)),
        Cell(item.subtype),
        Cell(item.question),
        Cell(item.model, "dim"),
    )


def _why(reason: str) -> str:
    """A reason in a few words: "numbers" where the answers were compared as numbers."""
    return title(reason).removeprefix("compared as ") or reason


def _result(row: JudgedRow) -> Cell:
    if row.outcome in (Outcome.ABSTAIN, Outcome.ERROR):
        return Cell("? undecided", "warning")
    agrees = (row.outcome is Outcome.CORRECT) == row.gold
    return Cell("✓ right", "success") if agrees else Cell("✗ wrong", "error")


class AccuracyItemsScreen(WorkbenchScreen):
    """One verifier on one group of items; enter opens an item with its evidence.

    Args:
        verifier: Its name.
        words: The group of items, for people.
        conditions: The same for the database.
        reason: Only verdicts with this reason; None for all.
    """

    CSS_PATH = "accuracy_items.tcss"
    TITLE_TEXT = "Items of a cell"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("accuracy-items.open", "o,enter", "open_item", "Open", "Open the item with the verdict's evidence."),
    )

    def __init__(
        self,
        verifier: str,
        words: str,
        conditions: tuple[Condition, ...],
        protocol: Protocol3,
        gold: GoldChoice,
        reason: str | None = None,
    ) -> None:
        super().__init__()
        self.verifier, self.words, self.conditions = verifier, words, conditions
        self.protocol, self.gold, self.reason = protocol, gold, reason
        self._source: JudgedSource | None = None

    def compose(self) -> ComposeResult:
        """The frame; the items come later."""
        yield TitleBar("Items", f"{printable(self.verifier)} × {self.words}")
        yield Static("reading …", id="accuracy-items-counts", markup=False)
        yield VirtualTable(id="accuracy-items-table")
        yield Footer()

    def on_mount(self) -> None:
        """Read."""
        self.query_one(VirtualTable).focus()
        self.in_background(self._read, self._fill, group="items")

    def _read(self) -> tuple[JudgedItems, JudgedSource]:
        items = judged_items(self.project, self.verifier, self.conditions, self.gold, self.reason)
        return items, JudgedSource(items)

    def _fill(self, found: tuple[JudgedItems, JudgedSource]) -> None:
        items, self._source = found
        right = f"✓ {items.right:,} right"
        self.query_one("#accuracy-items-counts", Static).update(
            f"{counted(len(items), 'item')}: ✗ {items.wrong:,} wrong · ? {items.undecided:,} undecided · {right}\n"
            f"gold {self.gold} · protocol {self.protocol}: {PROTOCOLS[self.protocol]}"
        )
        self.query_one(VirtualTable).set_source(self._source)

    def action_open_item(self) -> None:
        """Open the row under the cursor."""
        self.query_one(VirtualTable).action_open()

    @on(RowSelected)
    def _row_selected(self, event: RowSelected) -> None:
        from workbench.tui.screens.item import ItemScreen

        order = () if self._source is None else self._source.order
        self.app.push_screen(ItemScreen(event.row_id, order, (self.verifier,)))

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self.trouble(event.error)
