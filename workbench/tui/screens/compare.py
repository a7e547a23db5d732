"""Two verifiers on the same items: who is right where, how sure that is, and the items they differ on."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Literal, get_args

from msgspec import Struct, structs
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Footer, Static

from workbench.model.selection import Condition, Selection
from workbench.model.verdict import GoldChoice, Protocol3
from workbench.render.bars import counted
from workbench.services.measuring.comparing import Compared, comparable, compared
from workbench.services.measuring.comparing_text import verdict
from workbench.tui.actions import Action
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.switches import following
from workbench.tui.widgets import compare_view as view
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.memory_source import MemorySource
from workbench.tui.widgets.table_messages import Failed, RowSelected
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable


class Pair(Struct, frozen=True, kw_only=True):
    """What is compared.

    Attributes:
        words: The items, for people.
        conditions: The same for the database.
    """

    a: str
    b: str
    protocol: Protocol3 = "forced"
    gold: GoldChoice = "final"
    words: str = "all"
    conditions: tuple[Condition, ...] = ()


class CompareScreen(WorkbenchScreen):
    """The paired table, the tests and a sentence above the items only one of the two judges rightly.

    Args:
        pair: What to compare first; None for the first two verifiers on all items.
        verifiers: The names A and B can become; none for all that can be compared.
    """

    CSS_PATH = "compare.tcss"
    TITLE_TEXT = "Compare"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("compare.open", "o,enter", "open_item", "Open", "Open the item with both verdicts' evidence."),
        Action("compare.where", "w", "other_kind", "A/B", "List the items only A judges rightly, or only B."),
        Action("compare.next", "n", "next_verifier", "Next B", "Compare A with the next verifier."),
        Action(
            "compare.previous", "N", "next_verifier(-1)", "B before", "Compare A with the one before.", footer=False
        ),
        Action("compare.swap", "s", "swap", "Swap", "Make A of B and B of A.", footer=False),
        Action("compare.protocol", "p", "next_protocol", "Protocol", "Count undecided rows in the next way."),
        Action("compare.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported."),
    )

    def __init__(self, pair: Pair | None = None, verifiers: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.pair, self.verifiers = pair, verifiers
        self.kind: Literal["A", "B"] = "A"
        self.found: Compared | None = None

    def compose(self) -> ComposeResult:
        """The frame; figures and items come later."""
        yield TitleBar("Compare")
        yield Static("", id="compare-head", markup=False)
        with Horizontal(id="compare-figures"):
            yield Static("", id="compare-table", markup=False)
            yield Static("", id="compare-tests", markup=False)
        yield Static("", id="compare-verdict", markup=False)
        yield Static("", id="compare-kind", markup=False)
        yield VirtualTable(id="compare-items")
        yield Footer()

    def on_mount(self) -> None:
        """Count."""
        self.query_one(VirtualTable).focus()
        if self.pair is None:
            self.in_background(partial(comparable, self.project), self._begin, group="compare")
        else:
            self._ask(self.pair)

    def _begin(self, names: tuple[str, ...]) -> None:
        self.verifiers = names
        if len(names) < 2:
            self._say("no verifier has a complete run yet")
            self.query_one("#compare-head", Static).update("Start one in Verifiers & runs, then compare it here.")
            return
        self._ask(Pair(a=names[0], b=names[1]))

    def _ask(self, pair: Pair) -> None:
        self.pair = pair
        self.query_one(TitleBar).say("reading …")
        self.in_background(lambda: (pair, self._read(pair)), self._show, group="compare")

    def _read(self, pair: Pair) -> Compared:
        selection = Selection(pair.conditions)
        return compared(self.project, pair.a, pair.b, protocol=pair.protocol, gold=pair.gold, selection=selection)

    def _show(self, data: tuple[Pair, Compared]) -> None:
        pair, found = data
        if pair != self.pair:
            return
        self.found = found
        self._say(printable(self.project.path.name))
        self.query_one("#compare-head", Static).update(view.head(found.report, pair.words))
        self.query_one("#compare-table", Static).update(view.table(found.report))
        self.query_one("#compare-tests", Static).update(view.figures(found.report))
        self.query_one("#compare-verdict", Static).update(verdict(found.report))
        self._list()

    def trouble(self, error: BaseException | None) -> None:
        """What can't be compared leaves no figures of something else behind."""
        super().trouble(error)
        self.found = None
        pair = self.pair
        self._say("" if pair is None else f"{printable(pair.a)} and {printable(pair.b)} can't be compared")
        for part in ("head", "table", "tests", "verdict", "kind"):
            self.query_one(f"#compare-{part}", Static).update("")
        self.query_one(VirtualTable).set_source(MemorySource(view.COLUMNS))

    def _say(self, remark: str) -> None:
        self.query_one(TitleBar).say(remark)

    def _list(self) -> None:
        if self.found is None:
            return
        order = self.found.only_a if self.kind == "A" else self.found.only_b
        self.query_one("#compare-kind", Static).update(f"only {self.kind} right: {counted(len(order), 'item')}")
        self.query_one(VirtualTable).set_source(view.DifferingSource(self.found, order))

    # -- actions -----------------------------------------------------------------------------------

    def action_open_item(self) -> None:
        """Open the row under the cursor."""
        self.query_one(VirtualTable).action_open()

    @on(RowSelected)
    def _row_selected(self, event: RowSelected) -> None:
        from workbench.tui.screens.item import ItemScreen

        if self.found is not None and self.pair is not None:
            a, b = self.pair.a, self.pair.b
            order, first = (self.found.only_a, (a, b)) if self.kind == "A" else (self.found.only_b, (b, a))
            self.app.push_screen(ItemScreen(event.row_id, order, first))

    def action_other_kind(self) -> None:
        """List the other items."""
        self.kind = "B" if self.kind == "A" else "A"
        self._list()

    def action_next_verifier(self, step: int = 1) -> None:
        """Compare A with the verifier after B, or before."""
        if self.pair is not None:
            others = tuple(name for name in self.verifiers if name != self.pair.a)[::step]
            self._ask(structs.replace(self.pair, b=following(self.pair.b, others)))

    def action_swap(self) -> None:
        """Make A of B and B of A; the listed items stay."""
        if self.pair is not None:
            self.kind = "B" if self.kind == "A" else "A"
            self._ask(structs.replace(self.pair, a=self.pair.b, b=self.pair.a))

    def action_next_protocol(self) -> None:
        """Count undecided rows in the next way."""
        if self.pair is not None:
            self._ask(structs.replace(self.pair, protocol=following(self.pair.protocol, get_args(Protocol3))))

    def action_next_gold(self) -> None:
        """Compare with the next gold."""
        if self.pair is not None:
            self._ask(structs.replace(self.pair, gold=following(self.pair.gold, get_args(GoldChoice))))

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        super().trouble(event.error)
