"""What differs between two sets: items that only one has, other gold, other answer types, other texts."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from workbench.model.selection import Condition
from workbench.model.set_views import SetDiff
from workbench.services.building.comparing import set_diff
from workbench.tui.actions import Action
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.widgets import set_view as view
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.memory_source import MemorySource
from workbench.tui.widgets.table_messages import RowSelected
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable


class SetDiffScreen(WorkbenchScreen):
    """A row for each item that differs.

    Args:
        old, new: Names of sets with their versions.

    Attributes:
        found: What differs; None until it has come.
    """

    CSS_PATH = "set_diff.tcss"
    TITLE_TEXT = "What differs"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("set-diff.open", "i,enter", "open_row", "Items", "Show the row's item, or its question's, in Browse."),
    )

    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self._old, self._new = old, new
        self.found: SetDiff | None = None

    def compose(self) -> ComposeResult:
        """The frame; rows come later."""
        yield TitleBar(self.TITLE_TEXT, printable(f"{self._old} → {self._new}"))
        yield Static("reading …", id="diff-caption", markup=False)
        yield VirtualTable()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Compare."""
        self.query_one(VirtualTable).focus()
        self.in_background(
            partial(set_diff, self.project, self._old, self._new), self._show, group="set-diff", stops=True
        )

    def _show(self, found: SetDiff) -> None:
        self.found = found
        self.query_one("#diff-caption", Static).update(view.diff_caption(found))
        self.query_one(VirtualTable).set_source(MemorySource(view.DIFF_COLUMNS, tuple(view.diff_rows(found))))

    def action_open_row(self) -> None:
        """Open the row under the cursor."""
        self.query_one(VirtualTable).action_open()

    @on(RowSelected)
    def _open(self, event: RowSelected) -> None:
        from workbench.tui.screens.browse import BrowseScreen

        if self.found is None:
            return
        _, one = view.differing(self.found)[event.row_id]
        found = [Condition("dataset", "=", one.dataset), Condition("question_id", "=", one.question_id)]
        if one.completion_id is not None:
            found.append(Condition("completion_id", "=", one.completion_id))
        self.app.push_screen(BrowseScreen(*found))
