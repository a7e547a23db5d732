"""Flags: annotators' questions to the coordinator, oldest first, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual.content import Content

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import fit, printable
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.table_screen import TableScreen
from workbench.core.label import coordinator_name
from workbench.core.text.figures import counted, time_to_minute
from workbench.labelling import coordinating
from workbench.labelling.coordinating import Answered, Flag
from workbench.tables.document import Cell
from workbench.tables.table import Columns, column, identifier, word

_OPEN, _ANSWERED = Cell("⚑", "warning"), Cell("✓", "success")
_CALLS = Cell("no question", "dim")
_COLUMNS: Columns[Flag] = (
    column("", lambda flag: flag.is_open, lambda is_open: _OPEN if is_open else _ANSWERED, words=True, room=1),
    word("who", lambda flag: flag.annotator, room=(8, 14), tone="bold"),
    column("asks", lambda flag: flag.asked, lambda asked: asked or _CALLS, words=True, room=(24, 60)),
    identifier("item", lambda flag: flag.completion_id, room=(6, 16)),
    word("when", lambda flag: time_to_minute(flag.flagged_at), room=(11, 16), tone="dim"),
)


class FlagsScreen(TableScreen, LiveScreen):
    """Flags contain no labels, verdicts or gold: showing them is not recorded as a reveal; opening an item is."""

    TITLE_TEXT = "Flags"
    PREFIX, DETAIL = "flags", True
    EMPTY = "No flag waits for an answer. Annotators raise them; those that were answered can be listed, too."
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("flags.answer", "enter", "answer", "Answer", "Answer every open flag on the item."),
        Action("flags.open", "i", "open", "Item", "Open the item with labels and verdicts; this is recorded."),
        Action("flags.hide", "h", "hide", "Answered", "Show answered flags too, or hide them."),
        Action("flags.reload", "r", "reload", "Reload", "Read the flags again."),
    )
    records: Sequence[Flag] = ()
    _every = False

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> list[Flag]:
        return coordinating.flags(self.project, "all" if self._every else "open")

    def show(self, data: list[Flag]) -> None:
        self.list_records(_COLUMNS, data)
        waiting = sum(flag.is_open for flag in data)
        listed = f" · {len(data):,} listed" if self._every else ""
        by = printable(coordinator_name())
        self.say(f"{counted(waiting, 'flag')} to answer{listed} · answers by {by}")
        self.highlighted(0)

    def action_hide(self) -> None:
        self._every = not self._every
        self.read_again()

    def highlighted(self, row: int) -> None:
        self.put_detail(Content() if self.record_here is None else _detail_text(self.record_here))

    # -- answering ---------------------------------------------------------------------------------

    def opened(self, row: int) -> None:
        self.action_answer()

    def action_answer(self) -> None:
        if (flag := self.record_here) is not None:
            title = f"Answer to {fit(flag.annotator, 24).rstrip()}"

            def store(said: str) -> None:
                work = partial(coordinating.answer, self.project, flag.completion, said, by=coordinator_name())
                self.in_background(work, sent, group="flags-answer", exclusive=False)

            def sent(done: Answered) -> None:
                self.line_stored(title, flag.completion)
                self.notify(f"Your answer was sent to {printable(', '.join(done.to))}.")
                self.read_again()

            self.ask_line(title, flag.completion, store)

    def action_open(self) -> None:
        if (flag := self.record_here) is not None:
            from workbench.app.tui.screens.item import ItemScreen

            order = [self.records[row].completion for row in self.table.order]
            self.app.push_screen(ItemScreen(flag.completion, order))


def _detail_text(flag: Flag) -> Content:
    earlier = (f"{one.asked or 'calls you'} → {one.answered_by}: {one.answer}" for one in flag.earlier)
    lines = [
        *(Content.styled(printable(text), "$text-muted") for text in earlier),
        Content.assemble((f"{printable(flag.annotator)}  ", "bold"), printable(flag.asked) or "no question"),
        Content.styled(printable(flag.question), "$text-muted"),
    ]
    if flag.answered_at:
        by, said, read = printable(flag.answered_by), printable(flag.answer), "read" if flag.heard else "not read yet"
        lines.append(Content.assemble((f"{by}  ", "bold"), said, (f"  ({read})", "$text-muted")))
    return Content("\n").join(lines)
