"""Flags: what annotators ask the coordinator, oldest first, and the answers that go back to them."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.render.bars import counted
from workbench.services.items.browsing import coordinator_name
from workbench.services.labelling import flags
from workbench.services.labelling.flags import Answered, Flag
from workbench.tui.actions import Action
from workbench.tui.live import LiveScreen
from workbench.tui.widgets.cells import fit, printable
from workbench.tui.widgets.columns import TableCell, TableColumn, TableRow
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.memory_source import MemorySource
from workbench.tui.widgets.table_messages import Failed, RowHighlighted, RowSelected
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable

_COLUMNS = (
    TableColumn("state", "", min_width=1, ideal_width=1, sortable=False),
    TableColumn("annotator", "who", min_width=8, ideal_width=14, sortable=False),
    TableColumn("asked", "asks", min_width=24, ideal_width=60, sortable=False),
    TableColumn("completion_id", "item", min_width=8, ideal_width=16, sortable=False),
    TableColumn("at", "when", min_width=11, ideal_width=16, sortable=False),
)
_EMPTY = "No flag waits for an answer. Annotators raise one with f; h lists those that were answered."


class FlagsScreen(LiveScreen):
    """Flags say nothing of labels, verdicts or gold: looking at them is no reveal; opening the item is."""

    CSS_PATH = "flags.tcss"
    TITLE_TEXT = "Flags"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("flags.answer", "a,enter", "answer", "Answer", "Answer every open flag on the item."),
        Action("flags.open", "o", "open", "Item", "Open the item with its labels and verdicts; the look is recorded."),
        Action("flags.hide", "h", "hide", "Answered", "List answered flags too, or not."),
        Action("flags.reload", "r", "reload", "Reload", "Read the flags again."),
    )

    def __init__(self) -> None:
        super().__init__()
        self._flags: list[Flag] = []
        self._every = False

    def compose(self) -> ComposeResult:
        """The frame; the flags come by themselves."""
        yield TitleBar("Flags", "…")
        yield VirtualTable(id="flags-table")
        with VerticalScroll(id="flags-detail", can_focus=False):
            yield Static(markup=False)
        yield Static(_EMPTY, id="flags-empty", markup=False)
        yield Footer(show_command_palette=False)

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> list[Flag]:
        """The flags that are listed."""
        return flags.flags(self.project, "all" if self._every else "open")

    def show(self, data: list[Flag]) -> None:
        """List them; the one under the cursor stays under it."""
        table = self.query_one(VirtualTable)
        at = table.cursor or 0
        self._flags = data
        table.set_source(MemorySource(_COLUMNS, [_row(number, flag) for number, flag in enumerate(data)]))
        self.set_class(not data, "empty")
        if data:
            table.focus()
            table.jump_to_row(min(at, len(data) - 1) + 1)
        waiting = sum(flag.is_open for flag in data)
        listed = f" · {len(data):,} listed" if self._every else ""
        by = printable(coordinator_name())
        self.query_one(TitleBar).say(f"{counted(waiting, 'flag')} to answer{listed} · answers by {by}")
        self._show_detail(self._chosen)

    def action_reload(self) -> None:
        """Read again."""
        self.read_again()

    def action_hide(self) -> None:
        """List answered flags, or leave them out."""
        self._every = not self._every
        self.read_again()

    @property
    def _chosen(self) -> Flag | None:
        chosen = self.query_one(VirtualTable).selected_id
        return self._flags[chosen] if chosen is not None and chosen < len(self._flags) else None

    @on(RowHighlighted)
    def _highlighted(self) -> None:
        self._show_detail(self._chosen)

    def _show_detail(self, flag: Flag | None) -> None:
        self.query_one("#flags-detail Static", Static).update(Content() if flag is None else _detail(flag))

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self.trouble(event.error)

    # -- answering ---------------------------------------------------------------------------------

    @on(RowSelected)
    def _row_selected(self) -> None:
        self.action_answer()

    def action_answer(self) -> None:
        """Ask for the answer."""
        if (flag := self._chosen) is not None:
            self.ask_line(_title(flag), flag.completion, partial(self._answered, flag))

    def _answered(self, flag: Flag, said: str | None) -> None:
        if said:
            work = partial(flags.answer, self.project, flag.completion, said, by=coordinator_name())
            self.in_background(work, partial(self._stored, flag), group="flags-answer", exclusive=False)

    def _stored(self, flag: Flag, done: Answered) -> None:
        self.line_stored(_title(flag), flag.completion)
        self.notify(f"Answered to {printable(', '.join(done.to))}.", markup=False)
        self.read_again()

    def action_open(self) -> None:
        """Open the item."""
        if (flag := self._chosen) is not None:
            from workbench.tui.screens.item import ItemScreen

            self.app.push_screen(ItemScreen(flag.completion, [one.completion for one in self._flags]))


def _title(flag: Flag) -> str:
    return f"Answer to {fit(flag.annotator, 24).rstrip()}"


def _row(number: int, flag: Flag) -> TableRow:
    mark = TableCell("⚑", "warning") if flag.is_open else TableCell("✓", "success")
    asked = TableCell(flag.asked) if flag.asked else TableCell("calls you, without a question", "dim")
    when = flag.flagged_at[:16].replace("T", " ")
    return TableRow(
        number, (mark, TableCell(flag.annotator, "bold"), asked, TableCell(flag.completion_id), TableCell(when, "dim"))
    )


def _detail(flag: Flag) -> Content:
    lines = [
        Content.assemble((f"{printable(flag.annotator)}  ", "bold"), printable(flag.asked) or "calls you"),
        Content.styled(printable(flag.question), "$text-muted"),
    ]
    if flag.answered_at:
        read = "read" if flag.heard else "not read yet"
        lines.append(
            Content.assemble(
                (f"{printable(flag.answered_by)}  ", "bold"), printable(flag.answer), (f"  ({read})", "$text-muted")
            )
        )
    return Content("\n").join(lines)
