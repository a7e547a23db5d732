"""The pool of questions, source by source: what is out and why, what has a type, what was drawn."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.errors import UsageError
from workbench.model.breakdown import NAMELESS
from workbench.model.curation import PoolStatus, Scope, SourceStatus
from workbench.model.selection import Condition
from workbench.render.bars import counted
from workbench.services.curating.status import pool_status
from workbench.tui.actions import Action
from workbench.tui.live import LiveScreen
from workbench.tui.widgets import pool_view as view
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.memory_source import MemorySource, show_rows
from workbench.tui.widgets.table_messages import RowHighlighted, RowSelected
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable

WIDE = 100
"""Terminal columns from which the table has licences."""


class PoolScreen(LiveScreen):
    """The table of sources, and the one under the cursor in words.

    Attributes:
        status: What is shown; None until it has come, and where there is no question.
    """

    CSS_PATH = "pool.tcss"
    TITLE_TEXT = "Pool of questions"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("pool.items", "i,enter", "open_row", "Items", "List the source's completions in Browse."),
    )

    def __init__(self) -> None:
        super().__init__()
        self.status: PoolStatus | None = None
        self._source: MemorySource | None = None

    def compose(self) -> ComposeResult:
        """The frame; sources come later."""
        yield TitleBar(self.TITLE_TEXT, "reading …")
        yield VirtualTable()
        yield Static("", id="pool-words", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """The cursor belongs to the table."""
        self.query_one(VirtualTable).focus()

    def read(self) -> PoolStatus:
        """Count."""
        return pool_status(self.project, Scope())

    def show(self, data: PoolStatus) -> None:
        """Fill the table; all sources together stand last."""
        self.status = data
        self.query_one(TitleBar).say(f"{printable(self.project.path.name)} · {counted(data.questions, 'question')}")
        self._fill()

    def _fill(self) -> None:
        wide, table = self.size.width >= WIDE, self.query_one(VirtualTable)
        last = len(self._lines) - 1
        rows = [view.row(place, one, wide=wide, whole=place == last) for place, one in enumerate(self._lines)]
        self._source = show_rows(table, self._source, view.columns(wide=wide), rows)
        self._say(table.selected_id or 0)

    def on_resize(self, event: events.Resize) -> None:
        """Other columns at another width."""
        if self._source is not None:
            self.call_after_refresh(self._fill)

    @property
    def _lines(self) -> tuple[SourceStatus, ...]:
        return () if self.status is None else (*self.status.sources, self.status.total)

    def trouble(self, error: BaseException | None) -> None:
        """Why there is nothing to count."""
        if isinstance(error, UsageError):
            self.query_one(TitleBar).say("no questions")
            self.query_one("#pool-words", Static).update(Content(printable(str(error))))
        else:
            super().trouble(error)

    @on(RowHighlighted)
    def _highlighted(self, event: RowHighlighted) -> None:
        self._say(event.row_id)

    def _say(self, place: int) -> None:
        if self.status is not None and place < len(self._lines):
            whole = place == len(self._lines) - 1
            text = view.words(self._lines[place], whole=whole, stale=self.status.stale)
            self.query_one("#pool-words", Static).update(text)

    def action_open_row(self) -> None:
        """Open the row under the cursor."""
        self.query_one(VirtualTable).action_open()

    @on(RowSelected)
    def _open(self, event: RowSelected) -> None:
        from workbench.tui.screens.browse import BrowseScreen

        if self.status is None:
            return
        one = self._lines[event.row_id]
        anywhere = one is self.status.total or one.source == NAMELESS
        self.app.push_screen(BrowseScreen(*(() if anywhere else (Condition("source", "=", one.source),))))
