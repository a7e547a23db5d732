"""The calls to model servers behind a verdict, in order, and the call under the cursor in full."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Tree

from workbench.app.tui.form import FindingScreen, finding_actions
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.evidence import REPLY, call_text, tokens_text
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.table_messages import RowHighlighted, RowSelected
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screen import BREAKPOINTS, WorkbenchScreen
from workbench.core.run import CallShown, RunInfo, Transcript, WrittenReply
from workbench.core.text.document import RenderedText
from workbench.core.text.figures import NONE, counted
from workbench.measuring import browsing
from workbench.runs import transcripts
from workbench.runs.run_status import run_info_without_counts
from workbench.runs.transcripts import SearchNode, SearchRollout, TreeSearch, search_of, transcript
from workbench.tables.document import Cell, Tone
from workbench.tables.table import Columns, column, text, word


class CallsScreen(FindingScreen):
    """A list of calls to model servers, and the call under the cursor in full."""

    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    PREFIX = "transcript"
    _raw = False

    def content(self) -> ComposeResult:
        yield from self.texts("facts")
        with Container(id="transcript-panes"):
            yield VirtualTable(id="transcript-calls")
            yield Reader(title="Call", id="transcript-call")

    @abstractmethod
    def call(self, row: int) -> CallShown:
        """Return the call in a row; runs in a thread."""

    @abstractmethod
    def title_of(self, row: int, call: CallShown) -> str:
        """Return the title above the call."""

    @on(RowHighlighted)
    def _show_row_notes(self, event: RowHighlighted) -> None:
        self.show_call(event.row_id)

    @on(RowSelected)
    def _focus_evidence(self) -> None:
        self.reader.focus()

    def show_call(self, row: int) -> None:
        self.in_background(partial(self._text_of, row, raw=self._raw), self._show_text, group="call")

    def _text_of(self, row: int, *, raw: bool) -> tuple[str, RenderedText]:
        call = self.call(row)
        return self.title_of(row, call), call_text(call, raw=raw)

    def _show_text(self, found: tuple[str, RenderedText]) -> None:
        title, text = found
        self.reader.set_title(title)
        self.reader.show(text)
        self.call_after_refresh(self.reader.jump, REPLY)

    def action_go(self, step: int) -> None:
        self.query_one(VirtualTable).action_move(step)

    def action_reply(self) -> None:
        self.reader.jump(REPLY)

    def action_raw(self) -> None:
        self._raw = not self._raw
        if (row := self.query_one(VirtualTable).selected_id) is not None:
            self.show_call(row)


def _call_actions(screen: str, *more: Action) -> tuple[Action, ...]:
    return (
        Action(f"{screen}.next", "]", "go(1)", "Next call", "Show the next call."),
        Action(f"{screen}.previous", "[", "go(-1)", "Previous call", "Show the previous call.", False),
        Action(f"{screen}.pane", "tab", "app.focus_next", "Pane", "Go to the other pane.", False),
        Action(f"{screen}.reply", "C", "reply", "Reply", "Go to the reply of the call."),
        Action(f"{screen}.raw", "o", "raw", "Raw", "Show both bodies as they were sent, and back."),
        *more,
        *finding_actions(screen),
    )


class TranscriptScreen(CallsScreen):
    """The calls of one verdict.

    Args:
        run: The run of the verdict.
        item: Row id of the item.
        only: Indexes of the calls to show, from 0; None for all of them.
        about: Title part that says what these calls have in common; "" for none.
    """

    TITLE_TEXT = "Transcript"
    ACTIONS: ClassVar[tuple[Action, ...]] = _call_actions(
        "transcript", Action("transcript.tree", "T", "tree", "Tree", "Show the search of MCTS-Judge as a tree.")
    )

    def __init__(self, run: int, item: int, only: Collection[int] | None = None, about: str = "") -> None:
        super().__init__()
        self.run_number, self.item = run, item
        self._only, self._about = only, about
        self._transcript: Transcript | None = None
        self._calls: dict[int, CallShown] = {}

    def on_mount(self) -> None:
        self.in_background(self._read_calls, self._fill, group="transcript")

    def _read_calls(self) -> Transcript:
        found = transcripts.transcript(self.project, self.run_number, self.item)
        browsing.reveal_shown_to(self.project, found.verifier, self.workbench.names_worked_under)
        return found

    def _fill(self, found: Transcript) -> None:
        self._transcript = found
        self._calls = {
            place: call for place, call in enumerate(found.calls) if self._only is None or place in self._only
        }
        place = f"{found.verifier}, run {found.run} · {found.completion_id} · {found.dataset}"
        self.say(printable(f"{self._about} · {place}" if self._about else place))
        self.put("facts", _facts_text(found))
        several = len({call.role for call in found.calls}) > 1
        columns = _columns(self._calls, several_roles=several)
        self.query_one(VirtualTable).show_records(columns, zip(self._calls, self._calls, strict=True))
        self.refresh_bindings()
        if self._calls:
            self.show_call(next(iter(self._calls)))
        else:
            self.reader.set_title("No calls: this verdict needed none")

    def call(self, row: int) -> CallShown:
        return self._calls[row]

    def title_of(self, row: int, call: CallShown) -> str:
        return f"{row + 1} of {len(self._transcript.calls) if self._transcript else 0} · {call.step}"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "tree":
            return self._transcript is not None and transcripts.is_search(self._transcript.trace)
        return super().check_action(action, parameters)

    def action_tree(self) -> None:
        if self._transcript is not None:
            self.app.push_screen(SearchTreeScreen(self.run_number, self.item))


def _columns(calls: Mapping[int, CallShown], *, several_roles: bool) -> Columns[int]:
    return (
        text("#", lambda place: str(place + 1), room=(3, 4), tone="dim"),
        word("step", lambda place: calls[place].step, room=(12, 34), tone="bold"),
        word("asked", lambda place: calls[place].role, room=(5, 10), there=several_roles),
        text("tokens", lambda place: tokens_text(calls[place]), room=(7, 13)),
        text("ms", lambda place: f"{calls[place].ms:,.0f}", room=(5, 8)),
        column("", calls.__getitem__, _remark_cell, words=True, room=(9, 20)),
    )


def _remark_cell(call: CallShown) -> Cell:
    odd = "" if call.finish_reason in (None, "stop") else call.finish_reason
    origin = "recorded" if call.origin is not None else "reused" if call.reused else ""
    return Cell(" ".join(word for word in (odd, origin) if word), "warning" if odd or call.origin else "dim")


def _facts_text(found: Transcript) -> Content:
    mark, style = OUTCOME_MARKS[found.verdict]
    score = "" if found.score is None else f"score {found.score:.3g}"
    votes = " ".join(f"{vote.by or ''} {OUTCOME_MARKS[vote.verdict][0]}".strip() for vote in found.votes)
    words = [found.reason or "", score, counted(len(found.calls), "call"), f"votes {votes}" if votes else ""]
    broken = sum(call.broken_tokens for call in found.calls)
    words += [f"{counted(broken, 'control token')} of the texts broken"] if broken else []
    recorded = "recorded replies" if any(call.origin is not None for call in found.calls) else ""
    return Content.assemble(
        (f"{mark} {found.verdict}", f"bold $text-{style}"),
        *(f" · {printable(word)}" for word in words if word),
        (f" · {recorded}" if recorded else "", "bold $text-warning"),
        ("\nread in: " if found.detail else "\n", "$text-muted"),
        printable(found.detail or ""),
    )


# -- Texts that models wrote.


class WrittenScreen(CallsScreen):
    """The calls that wrote texts: tests, solutions, refined problems, completions.

    Args:
        run: The run that wrote them.
    """

    TITLE_TEXT = "Written texts"
    ACTIONS: ClassVar[tuple[Action, ...]] = _call_actions("written")

    def __init__(self, run: int) -> None:
        super().__init__()
        self.run_number = run
        self._places: dict[int, int] = {}

    def on_mount(self) -> None:
        self.in_background(self._read_calls, self._fill, group="transcript")

    def _read_calls(self) -> tuple[RunInfo, list[WrittenReply]]:
        run = self.run_number
        return run_info_without_counts(self.project, run), transcripts.written_list(self.project, run)

    def _fill(self, found: tuple[RunInfo, list[WrittenReply]]) -> None:
        info, replies = found
        self.say(printable(f"{info.verifier}, run {info.run}"))
        reused = info.usage.reused if info.usage is not None else 0
        words = [counted(len(replies), "call"), f"{reused:,} more were reused" if reused else ""]
        self.put("facts", " · ".join(word for word in words if word))
        self._places = {one.id: place for place, one in enumerate(replies)}
        self.query_one(VirtualTable).show_records(_written_columns(self._places), ((one.id, one) for one in replies))
        if replies:
            self.show_call(replies[0].id)
        else:
            self.reader.set_title("No calls: this run made none itself")

    def call(self, row: int) -> CallShown:
        """Read the call from the database: all replies of a run may not fit into memory."""
        return transcripts.written_call(self.project, row)

    def title_of(self, row: int, call: CallShown) -> str:
        return f"{self._places[row] + 1} of {len(self._places)} · {printable(call.model)}"


def _written_columns(places: Mapping[int, int]) -> Columns[WrittenReply]:
    return (
        text("#", lambda one: str(places[one.id] + 1), room=(3, 6), tone="dim"),
        word("model", lambda one: one.model, room=(12, 26), tone="bold"),
        text("sample", lambda one: str(one.sample), room=6, tone="dim"),
        text("tokens", tokens_text, room=(7, 13)),
        text("ms", lambda one: f"{one.ms:,.0f}", room=(5, 8)),
    )


# -- The search of MCTS-Judge behind a verdict: its tree with values and visits, and its rollouts.


_LEFT_OUT = "∅"
_SIMULATED = "┆"
_CHOSEN = "▶"
_MARKS: dict[bool | None, tuple[str, Tone]] = {True: ("✓", "success"), False: ("✗", "error"), None: ("?", "warning")}
_LEGEND = f"✓ found right  ✗ found wrong  ? not read  {_LEFT_OUT} left out  {_SIMULATED} simulated from here"


class SearchTreeScreen(WorkbenchScreen):
    """A judge's tree search: the tree and its rollouts; enter on either opens its calls.

    Args:
        run: The run of the verdict.
        item: Row id of the item.
    """

    TITLE_TEXT, PREFIX = "Search", "search"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("search.pane", "tab", "app.focus_next", "Tree / rollouts", "Go to the other pane."),
        Action("search.calls", "T", "calls", "Calls", "Show the calls of the node or rollout."),
    )

    def __init__(self, run: int, item: int) -> None:
        super().__init__()
        self.run_number, self.item = run, item
        self.search: TreeSearch | None = None

    def content(self) -> ComposeResult:
        yield from self.texts("facts")
        with Container(id="search-panes"):
            tree: Tree[int] = Tree(Text("root"), id="search-tree")
            tree.guide_depth = 2
            yield tree
            yield VirtualTable(id="search-rollouts")

    def on_mount(self) -> None:
        self.in_background(self._read_search, self._fill, group="search")

    def _read_search(self) -> tuple[str, TreeSearch | None]:
        found = transcript(self.project, self.run_number, self.item)
        return f"{found.verifier}, run {found.run} · {found.completion_id}", search_of(found)

    def _fill(self, found: tuple[str, TreeSearch | None]) -> None:
        title, search = found
        self.say(printable(title))
        if search is None:
            self.put("facts", "This verdict has no readable search.")
            return
        self.search = search
        self.put("facts", _search_facts(search))
        self._fill_tree(search)
        columns = _rollout_columns(search.rollouts)
        self.query_one(VirtualTable).show_records(columns, enumerate(range(len(search.rollouts))))

    def _fill_tree(self, search: TreeSearch) -> None:
        tree: Tree[int] = self.query_one(Tree)
        grown = [tree.root]
        tree.root.set_label(_node_label(search.nodes[0]))
        tree.root.data = 0
        has_children = {one.node.parent for one in search.nodes}
        for place, one in enumerate(search.nodes[1:], 1):
            parent = grown[one.node.parent or 0]
            grown.append(parent.add(_node_label(one), place, expand=True, allow_expand=place in has_children))
        tree.root.expand()

    # -- opening -----------------------------------------------------------------------------------

    @on(Tree.NodeSelected)
    def _node_selected(self, event: Tree.NodeSelected[int]) -> None:
        self._open_node(event.node.data or 0)

    @on(RowSelected)
    def _rollout_selected(self, event: RowSelected) -> None:
        if self.search is not None:
            self._open_calls(self.search.rollouts[event.row_id].calls, f"rollout {event.row_id + 1}")

    def action_calls(self) -> None:
        table = self.query_one(VirtualTable)
        if self.focused is table:
            table.action_open()
        elif (node := self.query_one(Tree).cursor_node) is not None:
            self._open_node(node.data or 0)

    def _open_node(self, place: int) -> None:
        if self.search is None:
            return
        node = self.search.nodes[place]
        if node.subtask is None:
            self._open_calls(None, "all calls")
        elif not node.calls:
            self.notify("The subtask was left out here: no call was made.")
        else:
            self._open_calls(node.calls, f"node {place}, {node.subtask}")

    def _open_calls(self, calls: tuple[int, ...] | None, about: str) -> None:
        self.app.push_screen(TranscriptScreen(self.run_number, self.item, calls, about))


def _node_label(one: SearchNode) -> Text:
    figures = f"  Q {one.node.q:.1f}  N {one.node.n}" + ("" if one.uct is None else f"  UCT {one.uct:.2f}")
    if one.subtask is None:
        return Text.assemble(("root", "bold"), figures)
    mark = _MARKS[one.node.outcome][0] if one.done else _LEFT_OUT
    sign = f"{_CHOSEN} " if one.chosen else ""
    return Text.assemble((f"{sign}{mark} {printable(one.subtask)}", "bold" if one.chosen else ""), figures)


def _rollout_columns(rollouts: Sequence[SearchRollout]) -> Columns[int]:
    def chosen(there: Tone, else_: Tone) -> Callable[[int], Tone]:
        return lambda number: there if rollouts[number].chosen else else_

    def mark(number: int) -> str:
        return f"{_CHOSEN} " * rollouts[number].chosen

    return (
        text("#", lambda number: f"{mark(number)}{number + 1}", room=4, tone=chosen("bold", "dim")),
        word("steps", lambda number: _path_text(rollouts[number]), room=(12, 14)),
        column("f", lambda number: rollouts[number].rollout.f, lambda said: Cell(*_MARKS[said]), words=True, room=3),
        column("h", lambda number: rollouts[number].h, _h_cell, words=True, room=3),
        text("reward", lambda number: f"{rollouts[number].rollout.reward:g}", room=6),
        text("R", lambda number: f"{rollouts[number].rollout.weight:.1f}", room=(6, 7), tone=chosen("bold", "")),
        word("", lambda number: _remarks_text(rollouts[number]), room=(8, 22), tone=chosen("accent", "dim")),
    )


def _remarks_text(rollout: SearchRollout) -> str:
    remarks = ("its f is the answer" if rollout.chosen else "", "not all read" if rollout.rollout.flagged else "")
    return ", ".join(filter(None, remarks))


def _path_text(rollout: SearchRollout) -> str:
    path = (
        _LEFT_OUT if level in rollout.left_out else _MARKS[outcome][0] for level, outcome in enumerate(rollout.path, 1)
    )
    simulated = "".join(_MARKS[outcome][0] for outcome in rollout.simulated)
    return "".join(path) + (_SIMULATED + simulated if simulated else "")


def _h_cell(said: bool | None) -> Cell:
    return Cell(NONE, "dim") if said is None else Cell(*_MARKS[said])


def _search_facts(search: TreeSearch) -> Content:
    trace, answer = search.trace, search.trace.answer
    mark, style = _MARKS[answer.correct]
    word = {True: "correct", False: "incorrect", None: "no answer"}[answer.correct]
    how = "no rollout was rewarded: the majority's answer" if answer.no_reward else "the drawn rollout's prediction"
    parts = (
        "" if answer.score is None else f"chance of correct {answer.score:.2f}",
        f"global evaluation {_MARKS[trace.g][0]}",
        "" if trace.tests is None else f"{len(trace.tests.kept)} tests kept",
    )
    return Content.assemble(
        (f"{mark} {word}", f"bold $text-{style}"),
        f" ({how}) · {' · '.join(part for part in parts if part)}\n",
        (_LEGEND, "$foreground-muted"),
    )
