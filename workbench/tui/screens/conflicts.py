"""Conflicts by kind: which two answers stand against each other, and how often."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from workbench.services.labelling.conflict_classes import ConflictClass, ConflictClasses
from workbench.services.labelling.roles import Role
from workbench.tui.actions import Action
from workbench.tui.person import PersonScreen, person_action
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import TableCell, TableColumn, TableRow
from workbench.tui.widgets.conflict_words import about, kind_words, undone
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.memory_source import MemorySource
from workbench.tui.widgets.table_messages import Failed, RowSelected
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable

_COLUMNS = (
    TableColumn("kind", "against each other", min_width=30, ideal_width=70, sortable=False),
    TableColumn("count", "conflicts", min_width=9, ideal_width=9, align="right", sortable=False),
    TableColumn("task", "about", min_width=11, ideal_width=14, sortable=False),
)
_EMPTY = "There is no conflict for {name} to settle."


class ConflictsScreen(PersonScreen):
    """Counts only: what people said of which item is read when a kind is opened."""

    CSS_PATH = "conflicts.tcss"
    TITLE_TEXT = "Conflicts by kind"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("conflicts.open", "o,enter", "open", "Open", "Show the conflicts of this kind."),
        Action("conflicts.undo", "z", "undo", "Undo", "Take your last decision back, on however many it was taken."),
        Action("conflicts.single", "s", "app.open_screen('adjudicate')", "One by one", "Settle them one at a time."),
        Action("conflicts.reload", "r", "reload", "Reload", "Count again."),
        person_action("conflicts"),
    )
    ROLE: ClassVar[Role] = "adjudicator"

    def __init__(self) -> None:
        super().__init__()
        self._person = ""
        self._kinds: list[ConflictClass] = []

    def compose(self) -> ComposeResult:
        """The frame; the counts come by themselves."""
        yield TitleBar("Conflicts by kind", "…")
        yield VirtualTable(id="conflicts-table")
        yield Static(id="conflicts-empty", markup=False)
        yield Footer(show_command_palette=False)

    def begin(self, name: str) -> None:
        """Count what the person may settle."""
        self._person = name
        self.action_reload()

    def nobody(self) -> None:
        """Without people there are no conflicts."""
        self._show([])

    def on_screen_resume(self) -> None:
        """Count again: some may have been settled."""
        if self._person:
            self.action_reload()

    def _session(self) -> ConflictClasses:
        return ConflictClasses(self.project, self._person, sighted=self.workbench.annotator is None)

    def action_reload(self) -> None:
        """Count."""
        self.in_background(lambda: self._session().classes(), self._show, group="conflicts")

    def _show(self, kinds: list[ConflictClass]) -> None:
        self._kinds = kinds
        table = self.query_one(VirtualTable)
        table.set_source(MemorySource(_COLUMNS, [_row(number, kind) for number, kind in enumerate(kinds)]))
        self.set_class(not kinds, "empty")
        self.query_one("#conflicts-empty", Static).update(_EMPTY.format(name=printable(self._person) or "anybody"))
        if kinds:
            table.focus()
        total = sum(kind.count for kind in kinds)
        self.query_one(TitleBar).say(
            f"{self.shown_name(self._person) if self._person else 'nobody'} · {total:,} to settle · enter opens a kind"
        )

    def action_open(self) -> None:
        """Open the kind under the cursor."""
        self.query_one(VirtualTable).action_open()

    @on(RowSelected)
    def _row_selected(self, event: RowSelected) -> None:
        from workbench.tui.screens.conflict_class import ConflictClassScreen

        self.app.push_screen(ConflictClassScreen(self._kinds[event.row_id].name, self._session()))

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self.trouble(event.error)

    def action_undo(self) -> None:
        """Take the last decision back."""
        if self._person:
            self.in_background(lambda: self._session().undo(), self._undone, group="conflicts-undo")

    def _undone(self, count: int) -> None:
        self.notify(undone(count), markup=False)
        self.action_reload()


def _row(number: int, kind: ConflictClass) -> TableRow:
    return TableRow(
        number, (TableCell(kind_words(kind)), TableCell(f"{kind.count:,}", "bold"), TableCell(about(kind), "dim"))
    )
