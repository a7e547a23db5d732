"""The pool of questions, source by source: what is out and why, what has a type, what was drawn."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content

from workbench.errors import UsageError
from workbench.model.breakdown import NAMELESS
from workbench.model.curation import PoolStatus, Scope, SourceStatus
from workbench.model.selection import Condition
from workbench.render.bars import counted
from workbench.services.curating.status import pool_status
from workbench.tui.actions import Action
from workbench.tui.live import LiveScreen
from workbench.tui.table_screen import TableScreen
from workbench.tui.widgets import pool_view as view
from workbench.tui.widgets.cells import printable


class PoolScreen(TableScreen, LiveScreen):
    """The table of sources, and the one under the cursor in words.

    Attributes:
        status: What is shown; None until it has come, and where there is no question.
    """

    CSS_PATH = "pool.tcss"
    TITLE_TEXT = "Pool of questions"
    PREFIX, BELOW, WIDE = "pool", ("words",), 100
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("pool.items", "i,enter", "open_row", "Items", "List the source's completions in Browse."),
    )

    def __init__(self) -> None:
        super().__init__()
        self.status: PoolStatus | None = None

    def read(self) -> PoolStatus:
        """Count."""
        return pool_status(self.project, Scope())

    def show(self, data: PoolStatus) -> None:
        """Fill the table; all sources together stand last."""
        self.status = data
        self.say(f"{printable(self.project.path.name)} · {counted(data.questions, 'question')}")
        self.fill()

    def fill(self) -> None:
        """List the sources."""
        last = len(self._lines) - 1
        rows = [view.row(place, one, wide=self.wide, whole=place == last) for place, one in enumerate(self._lines)]
        self.table.show_rows(view.columns(wide=self.wide), rows)
        self.highlighted(self.table.selected_id or 0)

    @property
    def _lines(self) -> tuple[SourceStatus, ...]:
        return () if self.status is None else (*self.status.sources, self.status.total)

    def trouble(self, error: BaseException | None) -> None:
        """Why there is nothing to count."""
        if isinstance(error, UsageError):
            self.say("no questions")
            self.put("words", Content(printable(str(error))))
        else:
            super().trouble(error)

    def highlighted(self, row: int) -> None:
        """Tell of a source in words."""
        if self.status is not None and row < len(self._lines):
            whole = row == len(self._lines) - 1
            text = view.words(self._lines[row], whole=whole, stale=self.status.stale)
            self.put("words", text)

    def opened(self, row: int) -> None:
        """Show the source in Browse."""
        from workbench.tui.screens.browse import BrowseScreen

        if self.status is None:
            return
        one = self._lines[row]
        anywhere = one is self.status.total or one.source == NAMELESS
        self.app.push_screen(BrowseScreen(*(() if anywhere else (Condition("source", "=", one.source),))))
