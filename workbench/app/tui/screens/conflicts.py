"""Conflicts by kind: which two answers stand against each other, and how often."""

from __future__ import annotations

from typing import ClassVar

from workbench.app.tui.actions import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import TableCell, TableColumn, TableRow
from workbench.app.tui.kit.conflict_words import about, kind_words, undone
from workbench.app.tui.person import PersonScreen, person_action
from workbench.app.tui.table_screen import TableScreen
from workbench.labelling.conflict_classes import ConflictClass, ConflictClasses
from workbench.labelling.roles import Role

_COLUMNS = (
    TableColumn("kind", "against each other", min_width=30, ideal_width=70),
    TableColumn("count", "conflicts", min_width=9, ideal_width=9, align="right"),
    TableColumn("task", "about", min_width=11, ideal_width=14),
)


class ConflictsScreen(TableScreen, PersonScreen):
    """Counts only: what people said of which item is read when a kind is opened."""

    TITLE_TEXT = "Conflicts by kind"
    PREFIX, EMPTY = "conflicts", "There is no conflict for {name} to settle."
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("conflicts.open", "o,enter", "open", "Open", "Show the conflicts of this kind."),
        Action("conflicts.undo", "z", "undo", "Undo", "Take your last decision back, on however many it was taken."),
        Action("conflicts.single", "s", "app.open_screen('adjudicate')", "One by one", "Settle them one at a time."),
        Action("conflicts.reload", "r", "reload", "Reload", "Count again."),
        person_action("conflicts"),
    )
    ROLE: ClassVar[Role] = "adjudicator"
    action_open = TableScreen.action_open_row

    def __init__(self) -> None:
        super().__init__()
        self._person = ""
        self._kinds: list[ConflictClass] = []

    def heading(self) -> tuple[str, str]:
        """Nothing is read before it is known for whom."""
        return self.TITLE_TEXT, "…"

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
        self.table.show_rows(_COLUMNS, [_row(number, kind) for number, kind in enumerate(kinds)])
        self.set_class(not kinds, "empty")
        self.put("empty", self.EMPTY.format(name=printable(self._person) or "anybody"))
        if kinds:
            self.table.focus()
        total = sum(kind.count for kind in kinds)
        self.say(
            f"{self.shown_name(self._person) if self._person else 'nobody'} · {total:,} to settle · enter opens a kind"
        )

    def opened(self, row: int) -> None:
        """Show the conflicts of a kind."""
        from workbench.app.tui.screens.conflict_class import ConflictClassScreen

        self.app.push_screen(ConflictClassScreen(self._kinds[row].name, self._session()))

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
