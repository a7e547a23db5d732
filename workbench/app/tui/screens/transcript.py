"""How a verdict of a model server came about: its calls in order, and the one under the cursor in full."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from workbench.app.tui.actions import Action
from workbench.app.tui.finding import FindingScreen, finding_actions
from workbench.app.tui.kit.call_text import REPLY, call_text, tokens_text
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS, TableCell, TableColumn, TableRow
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.prompt_bar import PromptBar
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.sources import MemorySource
from workbench.app.tui.kit.table_messages import RowHighlighted, RowSelected
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screen import BREAKPOINTS
from workbench.core.calls import CallShown, Transcript
from workbench.core.text.document import RenderedText
from workbench.core.text.figures import counted
from workbench.runs import transcripts

_ROLE = TableColumn("role", "asked", 5, 10, sortable=False)


def _columns(several_roles: bool) -> tuple[TableColumn, ...]:
    return (
        TableColumn("number", "#", 3, 4, "right", sortable=False),
        TableColumn("step", "step", 12, 34, sortable=False),
        *((_ROLE,) if several_roles else ()),
        TableColumn("tokens", "tokens", 7, 13, "right", sortable=False),
        TableColumn("ms", "ms", 5, 8, "right", sortable=False),
        TableColumn("remark", "", 9, 20, sortable=False),
    )


class TranscriptScreen(FindingScreen):
    """The calls of one verdict.

    Args:
        run: The run of the verdict.
        item: Row id of the item.
        only: Places of the calls to show, from 0; None for all of them.
        about: What those calls have in common, for the title.
    """

    CSS_PATH = "transcript.tcss"
    TITLE_TEXT = "Transcript"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("transcript.next", "right_square_bracket", "go(1)", "Next call", "Show the next call."),
        Action("transcript.previous", "left_square_bracket", "go(-1)", "Call before", "Show the call before.", False),
        Action("transcript.pane", "tab", "app.focus_next", "Pane", "Go to the other pane.", False),
        Action("transcript.reply", "f", "reply", "Reply", "Go to the reply of the call."),
        Action("transcript.raw", "r", "raw", "Raw", "Show both bodies as they were sent, and back."),
        Action("transcript.tree", "t", "tree", "Tree", "Show the search of MCTS-Judge as a tree."),
        *finding_actions("transcript"),
    )

    def __init__(self, run: int, item: int, only: Collection[int] | None = None, about: str = "") -> None:
        super().__init__()
        self.run_number, self.item = run, item
        self._only, self._about = only, about
        self._transcript: Transcript | None = None
        self._calls: dict[int, CallShown] = {}
        self._raw = False

    def compose(self) -> ComposeResult:
        """The frame; the calls come later."""
        yield TitleBar(self.TITLE_TEXT, "reading …")
        yield Static(id="transcript-facts", markup=False)
        with Container(id="transcript-panes"):
            yield VirtualTable(id="transcript-calls")
            yield Reader(title="Call", id="transcript-call")
        yield PromptBar()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Read."""
        self.query_one(VirtualTable).focus()
        work = partial(transcripts.transcript, self.project, self.run_number, self.item)
        self.in_background(work, self._fill, group="transcript")

    def _fill(self, found: Transcript) -> None:
        self._transcript = found
        self._calls = {
            place: call for place, call in enumerate(found.calls) if self._only is None or place in self._only
        }
        place = f"{found.verifier}, run {found.run} · {found.completion_id} · {found.dataset}"
        self.say(printable(f"{self._about} · {place}" if self._about else place))
        self.query_one("#transcript-facts", Static).update(_facts(found))
        several = len({call.role for call in found.calls}) > 1
        rows = [TableRow(place, _cells(place, call, several)) for place, call in self._calls.items()]
        self.query_one(VirtualTable).set_source(MemorySource(_columns(several), rows))
        self.refresh_bindings()
        if rows:
            self._show(rows[0].id)
        else:
            self.reader.set_title("No call: nothing was asked for this verdict")

    # -- one call ----------------------------------------------------------------------------------

    @on(RowHighlighted)
    def _highlighted(self, event: RowHighlighted) -> None:
        self._show(event.row_id)

    @on(RowSelected)
    def _selected(self) -> None:
        self.reader.focus()

    def _show(self, place: int) -> None:
        call = self._calls[place]
        work = partial(_with_place, place, call, self._raw)
        self.in_background(work, self._show_text, group="call")

    def _show_text(self, found: tuple[int, RenderedText]) -> None:
        place, text = found
        reader, call = self.reader, self._calls[place]
        reader.set_title(f"{place + 1} of {len(self._transcript.calls) if self._transcript else 0} · {call.step}")
        reader.border_subtitle = ""
        reader.show(text)
        self.call_after_refresh(reader.jump, REPLY)

    def action_go(self, step: int) -> None:
        """Move the cursor, wherever the focus is."""
        self.query_one(VirtualTable).action_move(step)

    def action_reply(self) -> None:
        """Go to the reply."""
        self.reader.jump(REPLY)

    def action_raw(self) -> None:
        """Read or raw."""
        self._raw = not self._raw
        if (place := self.query_one(VirtualTable).selected_id) is not None:
            self._show(place)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is a tree where there was a search."""
        if action == "tree":
            return self._transcript is not None and transcripts.is_search(self._transcript.trace)
        return super().check_action(action, parameters)

    def action_tree(self) -> None:
        """Show the search."""
        from workbench.app.tui.screens.search_tree import SearchTreeScreen

        if self._transcript is not None:
            self.app.push_screen(SearchTreeScreen(self.run_number, self.item))


def _with_place(place: int, call: CallShown, raw: bool) -> tuple[int, RenderedText]:
    return place, call_text(call, raw=raw)


def _cells(place: int, call: CallShown, several_roles: bool) -> tuple[TableCell, ...]:
    odd = "" if call.finish_reason in (None, "stop") else call.finish_reason
    origin = "recorded" if call.origin is not None else "reused" if call.reused else ""
    return (
        TableCell(str(place + 1), "dim"),
        TableCell(call.step, "bold"),
        *((TableCell(call.role),) if several_roles else ()),
        TableCell(tokens_text(call)),
        TableCell(f"{call.ms:,.0f}"),
        TableCell(" ".join(word for word in (odd, origin) if word), "warning" if odd or call.origin else "dim"),
    )


def _facts(found: Transcript) -> Content:
    """The verdict, why, the words it rests on, and the votes it was made of."""
    mark, style = OUTCOME_MARKS[found.verdict]
    score = "" if found.score is None else f"score {found.score:.3g}"
    words = [found.reason or "", score, counted(len(found.calls), "call"), _votes(found)]
    recorded = "recorded replies" if any(call.origin is not None for call in found.calls) else ""
    return Content.assemble(
        (f"{mark} {found.verdict}", f"bold $text-{style}"),
        *(f" · {printable(word)}" for word in words if word),
        (f" · {recorded}" if recorded else "", "bold $text-warning"),
        ("\nread in: " if found.detail else "\n", "$text-muted"),
        printable(found.detail or ""),
    )


def _votes(found: Transcript) -> str:
    return "votes " + " ".join(OUTCOME_MARKS[vote.verdict][0] for vote in found.votes) if found.votes else ""
