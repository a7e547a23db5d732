"""The search of MCTS-Judge behind a verdict: its tree with values and visits, and its rollouts."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static, Tree

from workbench.app.tui.actions import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import CellStyle, TableCell, TableColumn, TableRow
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.sources import MemorySource
from workbench.app.tui.kit.table_messages import RowSelected
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screen import BREAKPOINTS, WorkbenchScreen
from workbench.core.text.figures import NONE
from workbench.runs.search import Search, SearchNode, SearchRollout
from workbench.runs.searching import search_of
from workbench.runs.transcripts import transcript

_LEFT_OUT = "∅"
_SIMULATED = "┆"
_CHOSEN = "▶"
_MARKS: dict[bool | None, tuple[str, CellStyle]] = {
    True: ("✓", "success"),
    False: ("✗", "error"),
    None: ("?", "warning"),
}
_COLUMNS = (
    TableColumn("number", "#", 4, 4, "right", sortable=False),
    TableColumn("steps", "steps", 12, 14, sortable=False),
    TableColumn("f", "f", 3, 3, sortable=False),
    TableColumn("h", "h", 3, 3, sortable=False),
    TableColumn("reward", "reward", 6, 6, "right", sortable=False),
    TableColumn("weight", "R", 6, 7, "right", sortable=False),
    TableColumn("remark", "", 8, 22, sortable=False),
)
_LEGEND = f"✓ found right  ✗ found wrong  ? not read  {_LEFT_OUT} left out  {_SIMULATED} simulated from here"


class SearchTreeScreen(WorkbenchScreen):
    """Enter on a node or a rollout opens its calls.

    Args:
        run: The run of the verdict.
        item: Row id of the item.
    """

    CSS_PATH = "search_tree.tcss"
    TITLE_TEXT = "Search"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("search.pane", "tab", "app.focus_next", "Tree / rollouts", "Go to the other pane."),
        Action("search.calls", "c", "calls", "Calls (or enter)", "Show the calls of the node or rollout."),
    )

    def __init__(self, run: int, item: int) -> None:
        super().__init__()
        self.run_number, self.item = run, item
        self.search: Search | None = None

    def compose(self) -> ComposeResult:
        """The frame; the search comes later."""
        yield TitleBar(self.TITLE_TEXT, "reading …")
        yield Static(id="search-facts", markup=False)
        with Container(id="search-panes"):
            tree: Tree[int] = Tree(Text("root"), id="search-tree")
            tree.guide_depth = 2
            yield tree
            yield VirtualTable(id="search-rollouts")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Read."""
        self.query_one(Tree).focus()
        self.in_background(partial(self._read), self._fill, group="search")

    def _read(self) -> tuple[str, Search | None]:
        found = transcript(self.project, self.run_number, self.item)
        return f"{found.verifier}, run {found.run} · {found.completion_id}", search_of(found)

    def _fill(self, found: tuple[str, Search | None]) -> None:
        title, search = found
        self.say(printable(title))
        if search is None:
            self.query_one("#search-facts", Static).update("No search can be read behind this verdict.")
            return
        self.search = search
        self.query_one("#search-facts", Static).update(_facts(search))
        self._grow(search)
        rows = [TableRow(number, _cells(number, rollout)) for number, rollout in enumerate(search.rollouts)]
        self.query_one(VirtualTable).set_source(MemorySource(_COLUMNS, rows))

    def _grow(self, search: Search) -> None:
        tree: Tree[int] = self.query_one(Tree)
        grown = [tree.root]
        tree.root.set_label(_label(search.nodes[0]))
        tree.root.data = 0
        has_children = {node.parent for node in search.nodes}
        for place, node in enumerate(search.nodes[1:], 1):
            parent = grown[node.parent or 0]
            grown.append(parent.add(_label(node), place, expand=True, allow_expand=place in has_children))
        tree.root.expand()

    # -- opening -----------------------------------------------------------------------------------

    @on(Tree.NodeSelected)
    def _node_selected(self, event: Tree.NodeSelected[int]) -> None:
        self._open_node(event.node.data or 0)

    @on(RowSelected)
    def _rollout_selected(self, event: RowSelected) -> None:
        if self.search is not None:
            self._open(self.search.rollouts[event.row_id].calls, f"rollout {event.row_id + 1}")

    def action_calls(self) -> None:
        """Open what the cursor is on."""
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
            self._open(None, "all calls")
        elif not node.calls:
            self.notify("The subtask was left out here: no call was made.", markup=False)
        else:
            self._open(node.calls, f"node {place}, {node.subtask}")

    def _open(self, calls: tuple[int, ...] | None, about: str) -> None:
        from workbench.app.tui.screens.transcript import TranscriptScreen

        self.app.push_screen(TranscriptScreen(self.run_number, self.item, calls, about))


def _label(node: SearchNode) -> Text:
    figures = f"  Q {node.q:.1f}  N {node.n}" + ("" if node.uct is None else f"  UCT {node.uct:.2f}")
    if node.subtask is None:
        return Text.assemble(("root", "bold"), figures)
    mark = _MARKS[node.outcome][0] if node.done else _LEFT_OUT
    sign = f"{_CHOSEN} " if node.chosen else ""
    return Text.assemble((f"{sign}{mark} {printable(node.subtask)}", "bold" if node.chosen else ""), figures)


def _cells(number: int, rollout: SearchRollout) -> tuple[TableCell, ...]:
    remarks = ("its f is the answer" if rollout.chosen else "", "not all read" if rollout.flagged else "")
    sign = f"{_CHOSEN} " if rollout.chosen else ""
    return (
        TableCell(f"{sign}{number + 1}", "bold" if rollout.chosen else "dim"),
        TableCell(_steps(rollout)),
        _said(rollout.f),
        _said(rollout.h) if rollout.h is not None else TableCell(NONE, "dim"),
        TableCell(f"{rollout.reward:g}"),
        TableCell(f"{rollout.weight:.1f}", "bold" if rollout.chosen else ""),
        TableCell(", ".join(filter(None, remarks)), "accent" if rollout.chosen else "dim"),
    )


def _steps(rollout: SearchRollout) -> str:
    """One sign a level."""
    path = (
        _LEFT_OUT if level in rollout.left_out else _MARKS[outcome][0] for level, outcome in enumerate(rollout.path, 1)
    )
    simulated = "".join(_MARKS[outcome][0] for outcome in rollout.simulated)
    return "".join(path) + (_SIMULATED + simulated if simulated else "")


def _said(said: bool | None) -> TableCell:
    return TableCell(*_MARKS[said])


def _facts(search: Search) -> Content:
    mark, style = _MARKS[search.correct]
    word = {True: "correct", False: "incorrect", None: "no answer"}[search.correct]
    how = "no rollout was rewarded: what most of them say" if search.no_reward else "the drawn rollout's prediction"
    parts = (
        "" if search.score is None else f"chance of correct {search.score:.2f}",
        f"global evaluation {_MARKS[search.g][0]}",
        "" if search.tests is None else f"{search.tests} tests kept",
    )
    return Content.assemble(
        (f"{mark} {word}", f"bold $text-{style}"),
        f" ({how}) · {' · '.join(part for part in parts if part)}\n",
        (_LEGEND, "$foreground-muted"),
    )
