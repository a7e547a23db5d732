"""Accuracy: verifiers by answer type, one verifier in detail, and the way down to the items."""

from __future__ import annotations

from typing import ClassVar, get_args

from msgspec import Struct, structs
from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.coordinate import Coordinate
from textual.widgets import DataTable, Footer, Static

from workbench.model.report import AccuracyReport, AccuracyRow
from workbench.model.selection import Condition, Selection
from workbench.model.verdict import GoldChoice, Protocol3
from workbench.services.measuring.accuracy import accuracy
from workbench.services.measuring.judged import BASELINE
from workbench.services.measuring.tables import save_accuracy_csv
from workbench.tui.actions import Action
from workbench.tui.live import LiveScreen
from workbench.tui.switches import following
from workbench.tui.widgets import accuracy_view as view
from workbench.tui.widgets.cells import fit, printable
from workbench.tui.widgets.memory_source import MemorySource, show_rows
from workbench.tui.widgets.table_messages import RowHighlighted, RowSelected
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable

GROUPS = ("type", "subtype", "domain", "source", "model", "dataset", "reason")
"""What the table is broken down by, in the order of the key."""

WIDE = 116
"""Terminal columns from which columns have full titles, and bars."""

_NAME_WIDTH = 18
_GROUP_WIDTH = 20
_CELL_WIDTH = 12


class Shown(Struct, frozen=True, kw_only=True):
    """What is asked for.

    Attributes:
        parent: The answer type whose subtypes are shown; None for all items.
    """

    by: str = "type"
    protocol: Protocol3 = "forced"
    gold: GoldChoice = "final"
    parent: str | None = None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The items the table is about."""
        return () if self.parent is None else (Condition("type", "=", self.parent),)


class AccuracyScreen(LiveScreen):
    """An overview with a cursor on one cell; the verifier of that cell in detail below it."""

    CSS_PATH = "accuracy.tcss"
    TITLE_TEXT = "Accuracy"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("accuracy.open", "o,enter", "open_cell", "Open", "Open a type's subtypes, or a cell's items."),
        Action("accuracy.items", "i", "items", "Items", "List the cell's items, wrong verdicts first."),
        Action("accuracy.compare", "c", "compare", "Compare", "Compare the verifier with another on these items."),
        Action("accuracy.protocol", "p", "next_protocol", "Protocol", "Count undecided rows in the next way."),
        Action("accuracy.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported."),
        Action("accuracy.by", "b", "next_group", "By", "Break down by the next property (type, source, reason …)."),
        Action("accuracy.export", "e", "export", "CSV", "Write the table as CSV beside the database.", footer=False),
        Action("accuracy.up", "escape,backspace", "up", "Back", "Go back from subtypes to types, or leave."),
    )

    def __init__(self) -> None:
        super().__init__()
        self.shown = Shown()
        self.report: AccuracyReport | None = None
        self._displayed: Shown | None = None
        self._return_to: str | None = None
        self._verifiers: list[str] = []
        self._groups: list[str | None] = [None]
        self._source: MemorySource | None = None

    def compose(self) -> ComposeResult:
        """Lay out."""
        yield TitleBar("Accuracy", "reading …")
        yield Static("", id="accuracy-caption", markup=False)
        yield DataTable[Text](id="accuracy-matrix", fixed_columns=1, cell_padding=0)
        with Vertical(id="accuracy-lower"):
            yield Static("", id="accuracy-verifier", markup=False)
            yield VirtualTable(id="accuracy-detail")
        yield Static("", id="accuracy-cell", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """The cursor belongs to the overview."""
        self.query_one(DataTable).focus()

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> tuple[Shown, AccuracyReport]:
        """Count; what was asked for goes with the report."""
        shown = self.shown
        return shown, accuracy(
            self.project,
            by=shown.by,
            protocol=shown.protocol,
            gold=shown.gold,
            selection=Selection(shown.conditions),
        )

    def show(self, data: tuple[Shown, AccuracyReport]) -> None:
        """Fill the tables; the cursor stays with its verifier and group."""
        shown, report = data
        if shown != self.shown:
            return
        self._displayed, self.report = shown, report
        self.query_one(TitleBar).say(self._remark(shown))
        self.query_one("#accuracy-caption", Static).update(view.caption(report))
        self._fill_matrix(report)
        self._fill_detail()

    def _remark(self, shown: Shown) -> str:
        part = f"{view.group_name(shown.parent, 'type')} by subtype" if shown.parent else f"by {shown.by}"
        alone = " · no verifier has a complete run yet" if self._only_baseline() else ""
        return f"{printable(self.project.path.name)} · {part}{alone}"

    def _only_baseline(self) -> bool:
        return self.report is not None and view.verifiers_of(self.report) == [BASELINE]

    # -- the overview ------------------------------------------------------------------------------

    @property
    def _wide(self) -> bool:
        return self.size.width >= WIDE

    def _row(self, verifier: str, group: str | None) -> AccuracyRow | None:
        assert self.report is not None
        return next((row for row in self.report.rows if (row.verifier, row.group) == (verifier, group)), None)

    def _fill_matrix(self, report: AccuracyReport) -> None:
        table = self.query_one(DataTable)
        verifiers, groups = view.verifiers_of(report), view.groups_of(report)
        if (verifiers, groups) == (self._verifiers, self._groups) and table.row_count:
            for y, name in enumerate(verifiers):
                for x, column in enumerate(groups):
                    table.update_cell_at(Coordinate(y, x + 1), self._matrix_cell(name, column))
            return
        chosen, group = self.chosen
        self._verifiers, self._groups = verifiers, groups
        group, self._return_to = self._return_to or group, None
        table.clear(columns=True)
        table.add_column(Text(fit(" verifier", _NAME_WIDTH)), width=_NAME_WIDTH)
        columns = [[self._matrix_cell(name, column) for name in verifiers] for column in groups]
        for column, cells in zip(groups, columns, strict=True):
            title = fit(view.group_title(column, report.by, self._wide), _GROUP_WIDTH).rstrip()
            width = max(_CELL_WIDTH, 1 + max(cell_len(text) for text in (title, *map(str, cells))))
            table.add_column(Text(" " * (width - cell_len(title)) + title), width=width)
        for name, *cells in zip(verifiers, *columns, strict=True):
            table.add_row(Text(fit(f" {name}", _NAME_WIDTH), style="bold"), *cells)
        self._move_to(chosen, group)

    def _matrix_cell(self, verifier: str, group: str | None) -> Text:
        return Text(view.matrix_text(self._row(verifier, group)), justify="right")

    def _move_to(self, verifier: str | None, group: str | None) -> None:
        y = self._verifiers.index(verifier) if verifier in self._verifiers else 0
        x = self._groups.index(group) + 1 if group in self._groups else 1
        self.query_one(DataTable).move_cursor(row=y, column=x)

    @property
    def chosen(self) -> tuple[str | None, str | None]:
        """Verifier and group under the cursor; the column of names stands for all items."""
        place = self.query_one(DataTable).cursor_coordinate
        if place.row >= len(self._verifiers):
            return None, None
        return self._verifiers[place.row], self._groups[min(max(place.column - 1, 0), len(self._groups) - 1)]

    # -- one verifier ------------------------------------------------------------------------------

    @on(DataTable.CellHighlighted)
    def _cell_highlighted(self) -> None:
        self._fill_detail()

    def _fill_detail(self) -> None:
        verifier, group = self.chosen
        if self.report is None or verifier is None:
            return
        self.query_one("#accuracy-verifier", Static).update(view.verifier_title(self.report, verifier))
        self.query_one("#accuracy-cell", Static).update(view.cell_sentence(self.report, self._row(verifier, group)))
        columns = view.detail_columns(self._wide, view.scored(self.report, verifier), self.report.by)
        detail = self.query_one(VirtualTable)
        rows = view.detail_rows(self.report, verifier, self._wide)
        self._source = show_rows(detail, self._source, columns, rows)
        detail.jump_to_id(self._groups.index(group))

    @on(RowHighlighted)
    def _group_highlighted(self, event: RowHighlighted) -> None:
        if event.table.has_focus and event.row_id < len(self._groups):
            self._move_to(self.chosen[0], self._groups[event.row_id])

    def on_resize(self, event: events.Resize) -> None:
        """Other titles and columns at another width."""
        if self.report is not None and self.is_attached:
            self._verifiers = []
            self.call_after_refresh(self.show, (self.shown, self.report))

    # -- actions -----------------------------------------------------------------------------------

    @on(DataTable.CellSelected)
    @on(RowSelected)
    def action_open_cell(self) -> None:
        """Go one step down: from a type to its subtypes, from any other cell to its items."""
        group = self.chosen[1]
        if self._displayed != self.shown:
            return
        if self.shown.by == "type" and group is not None:
            self._ask(structs.replace(self.shown, by="subtype", parent=group))
        else:
            self.action_items()

    def action_items(self) -> None:
        """List the items of the cell under the cursor."""
        from workbench.tui.screens.accuracy_items import AccuracyItemsScreen

        verifier, group = self.chosen
        if self._displayed != self.shown or verifier is None or self._row(verifier, group) is None:
            return
        conditions, reason = self.shown.conditions, None
        if self.shown.by == "reason":
            reason = group
        elif group is not None:
            conditions += (Condition(self.shown.by, "=", group),)
        words = view.group_name(self.shown.parent if group is None else group, self.shown.by)
        self.app.push_screen(
            AccuracyItemsScreen(verifier, words, conditions, self.shown.protocol, self.shown.gold, reason)
        )

    def action_compare(self) -> None:
        """Compare the verifier under the cursor with the next one, on the group's items."""
        from workbench.tui.screens.compare import CompareScreen, Pair

        verifier, group = self.chosen
        if self._displayed != self.shown or verifier is None or len(self._verifiers) < 2:
            return
        conditions, group = self.shown.conditions, None if self.shown.by == "reason" else group
        if group is not None:
            conditions += (Condition(self.shown.by, "=", group),)
        pair = Pair(
            a=verifier,
            b=following(verifier, tuple(self._verifiers)),
            protocol=self.shown.protocol,
            gold=self.shown.gold,
            words=view.group_name(self.shown.parent if group is None else group, self.shown.by),
            conditions=conditions,
        )
        self.app.push_screen(CompareScreen(pair, tuple(self._verifiers)))

    def action_up(self) -> None:
        """From subtypes back to the types; else to the screen before."""
        if self.shown.parent is None:
            self.workbench.action_go_back()
            return
        self._return_to = self.shown.parent
        self._ask(structs.replace(self.shown, by="type", parent=None))

    def action_next_protocol(self) -> None:
        """Count undecided rows in the next way."""
        self._ask(structs.replace(self.shown, protocol=following(self.shown.protocol, get_args(Protocol3))))

    def action_next_gold(self) -> None:
        """Compare with the next gold."""
        self._ask(structs.replace(self.shown, gold=following(self.shown.gold, get_args(GoldChoice))))

    def action_next_group(self) -> None:
        """Break down by the next property."""
        self._ask(structs.replace(self.shown, by=following(self.shown.by, GROUPS), parent=None))

    def action_export(self) -> None:
        """Write the shown table beside the database."""
        report, path, part = self.report, self.project.path, self.shown.parent or ""
        if report is not None:
            self.in_background(lambda: save_accuracy_csv(report, path, part), self._exported, group="export")

    def _exported(self, path: object) -> None:
        self.notify(f"Written to {path}", title="CSV", markup=False)

    def _ask(self, shown: Shown) -> None:
        self.shown = shown
        self.query_one(TitleBar).say("reading …")
        self.read_again()
