"""Code: every code problem in a table, with what came of its solutions in one run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from msgspec import convert, structs
from textual import on
from textual.app import ComposeResult
from textual.widgets import Static

from workbench.model.pass_matrix import PROBLEM_KINDS, ProblemKind, ProblemQuery, SuiteRun
from workbench.services.coding import problems
from workbench.tui.actions import Action
from workbench.tui.live import LiveScreen
from workbench.tui.screens.sort_by import IMPORT_ORDER, SortByScreen
from workbench.tui.widgets import table_messages
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.choices import Choice, ChoiceMenu
from workbench.tui.widgets.columns import Sort
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.pass_view import run_words
from workbench.tui.widgets.problem_source import ProblemSource
from workbench.tui.widgets.prompt_bar import PromptBar
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable

_EVERY_SET = "-"
_NO_PROBLEMS = "No code problems yet: workbench import DB problems.jsonl solutions.jsonl"


class CodeScreen(LiveScreen):
    """The table of problems; its figures follow the run they are of.

    Attributes:
        asked: Which problems are shown, and whose outcomes.
        runs: Runs that have outcomes.
    """

    CSS_PATH = "code.tcss"
    TITLE_TEXT = "Code"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code.open", "o,enter", "open_row", "Open", "Open the problem: its solutions against its tests."),
        Action("code.search", "slash", "search", "Search", "Search task ids, entry points and prompts."),
        Action("code.filter", "f", "filter", "Filter", "Show problems by what comes of their solutions."),
        Action("code.sort", "s", "sort", "Sort", "Choose the column to sort by."),
        Action("code.reverse", "S", "reverse", "Reverse", "Turn the order round.", footer=False),
        Action("code.jump", "g", "jump", "Jump", "Go to a row number or to a task id."),
        Action("code.run", "u", "choose_run", "Run", "Choose whose outcomes are counted: run and suite."),
        Action("code.metrics", "m", "rankings", "Rankings", "Show how verifiers rank solutions against their tests."),
        Action("code.evolution", "e", "rounds", "Evolution", "Show how suites of tests grow harder by rounds."),
        Action("code.dataset", "D", "dataset", "Data set", "Show the problems of one data set.", footer=False),
        Action("code.again", "r", "again", "Read again", "Read the problems anew.", footer=False),
        Action("code.back", "escape", "back", "Back", "Clear the search, then the filters, then go back."),
    )

    def __init__(self) -> None:
        super().__init__()
        self.asked = ProblemQuery()
        self.runs: list[SuiteRun] = []
        self._source: ProblemSource | None = None
        self._hidden = False

    def compose(self) -> ComposeResult:
        """The frame; rows come later."""
        yield TitleBar(self.TITLE_TEXT, "…")
        yield Static("", id="code-caption", markup=False)
        yield VirtualTable(id="code-table")
        yield PromptBar()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """The cursor belongs to the table."""
        table = self.query_one(VirtualTable)
        table.focus()
        self.watch(table, "position", self._tell, init=False)

    def on_unmount(self) -> None:
        """Nobody waits for the rows any more."""
        if self._source is not None:
            self._source.problems.cancel()

    # -- following the database --------------------------------------------------------------------

    def read(self) -> list[SuiteRun]:
        """The runs there are; the table reads its rows itself."""
        return problems.suite_runs(self.project)

    def show(self, data: list[SuiteRun]) -> None:
        """Read the rows in sight again; their order stays until it is asked for anew."""
        self.runs = data
        before = self.asked.run
        run = next((one for one in data if before is not None and _same(one, before)), None) or next(iter(data), None)
        if self._source is None or before is None or run is None or not _same(run, before):
            self._change(run=run)
            return
        self.asked = structs.replace(self.asked, run=run)
        self.query_one(VirtualTable).refresh_rows()
        self._tell()

    def _change(self, **changes: Any) -> None:
        self.asked = structs.replace(self.asked, **changes)
        project, asked = self.project, self.asked
        self.in_background(
            lambda: ProblemSource(problems.ProblemTable(project, asked)), self._listed, group="code-open"
        )

    def _listed(self, source: ProblemSource) -> None:
        older, self._source, self._hidden = self._source, source, False
        asked = source.problems.query
        sort = Sort(asked.sort, asked.descending) if asked.sort else None
        self.query_one(VirtualTable).set_source(source, sort=sort)
        if older is not None:
            older.problems.cancel()
        self._tell()

    def action_again(self) -> None:
        """Read the problems anew."""
        self._change()

    def _tell(self) -> None:
        """Where the cursor is, and of what; whose outcomes are counted."""
        table, asked = self.query_one(VirtualTable), self.asked
        parts = [table.position]
        if asked.kind != "all":
            parts.append(PROBLEM_KINDS[asked.kind])
        if asked.dataset is not None:
            parts.append(asked.dataset)
        if asked.search:
            parts.append(f"/{asked.search}")
        if self._hidden and table.cursor is None:
            parts.append("selection filtered out")
        self.query_one(TitleBar).say(printable("  ·  ".join(parts)))
        suite = f"suite {printable(asked.run.suite)}, " if asked.run else ""
        caption = f"pass@1 and run: {suite}{run_words(asked.run)} · gold %: solutions that gold calls correct"
        self.query_one("#code-caption", Static).update(_NO_PROBLEMS if table.position == "– of 0" else caption)

    # -- search, filter, jump ----------------------------------------------------------------------

    def action_search(self) -> None:
        """Ask for a text."""
        hint = "part of a task id, an entry point or a prompt"
        self.query_one(PromptBar).ask("search", "/", self.asked.search, hint=hint)

    def action_jump(self) -> None:
        """Ask for a place."""
        self.query_one(PromptBar).ask("jump", "go to", hint="row number, or a task id")

    @on(PromptBar.Submitted)
    def _answered(self, event: PromptBar.Submitted) -> None:
        text = event.text.strip()
        if event.asked == "jump":
            self._jump(text)
            return
        if text != self.asked.search:
            self._change(search=text)
        self._close_prompt()

    def _jump(self, text: str) -> None:
        table, number = self.query_one(VirtualTable), text.replace(",", "")
        if not text:
            self._close_prompt()
        elif number.isdecimal() and 1 <= int(number) <= table.row_count:
            table.jump_to_row(int(number))
            self._close_prompt()
        else:
            self.in_background(lambda: (text, problems.find(self.project, text)), self._go_to, group="code-find")

    def _go_to(self, found: tuple[str, list[int]]) -> None:
        task_id, ids = found
        if not ids:
            self.query_one(PromptBar).complain(f"No problem has the task id {task_id!r}.")
            return
        self._close_prompt()
        self.query_one(VirtualTable).jump_to_id(ids[0])

    def _close_prompt(self) -> None:
        self.query_one(PromptBar).close()
        self.query_one(VirtualTable).focus()

    def action_filter(self) -> None:
        """Choose which problems are shown."""
        choices = [Choice(kind, words) for kind, words in PROBLEM_KINDS.items()]
        self.app.push_screen(ChoiceMenu("Show", choices, chosen={self.asked.kind}), self._filter)

    def _filter(self, kind: str | None) -> None:
        if kind is not None and kind != self.asked.kind:
            self._change(kind=convert(kind, ProblemKind))

    def action_dataset(self) -> None:
        """Choose a data set, or all of them."""
        self.in_background(partial(problems.datasets, self.project), self._ask_dataset, group="code-datasets")

    def _ask_dataset(self, names: list[str]) -> None:
        choices = [
            Choice(_EVERY_SET, "all data sets"),
            *(Choice(f"{_EVERY_SET}{name}", printable(name)) for name in names),
        ]
        chosen = {_EVERY_SET + (self.asked.dataset or "")}
        self.app.push_screen(ChoiceMenu("Problems of", choices, chosen=chosen), self._of_dataset)

    def _of_dataset(self, value: str | None) -> None:
        if value is not None:
            self._change(dataset=value.removeprefix(_EVERY_SET) or None)

    def action_choose_run(self) -> None:
        """Choose whose outcomes are counted."""
        if not self.runs:
            self.notify("Nothing has been run yet: workbench verify DB execution", markup=False)
            return
        choices = [
            Choice(str(place), f"{printable(run.suite)} · {run_words(run)}") for place, run in enumerate(self.runs)
        ]
        chosen = {str(place) for place, run in enumerate(self.runs) if run == self.asked.run}
        self.app.push_screen(ChoiceMenu("Count the outcomes of", choices, chosen=chosen), self._count_run)

    def _count_run(self, place: str | None) -> None:
        if place is not None:
            self._change(run=self.runs[int(place)])

    def action_back(self) -> None:
        """Close the line, else clear the search, else the filters, else leave."""
        if self.query_one(PromptBar).asking:
            self._close_prompt()
        elif self.asked.search:
            self._change(search="")
        elif self.asked.kind != "all" or self.asked.dataset is not None:
            self._change(kind="all", dataset=None)
        else:
            self.workbench.action_go_back()

    # -- sorting -----------------------------------------------------------------------------------

    def action_sort(self) -> None:
        """Choose a column."""
        if self._source is not None:
            table = self.query_one(VirtualTable)
            self.app.push_screen(SortByScreen(self._source.columns, table.sort), self._sort_by)

    def action_reverse(self) -> None:
        """Turn the order round."""
        self._change(descending=not self.asked.descending)

    @on(VirtualTable.SortRequested)
    def _header_clicked(self, event: table_messages.SortRequested) -> None:
        self._sort_by(event.column)

    def _sort_by(self, column: str | None) -> None:
        if column is not None:
            again = column == (self.asked.sort or IMPORT_ORDER)
            self._change(sort=column or None, descending=again and not self.asked.descending)

    # -- opening -----------------------------------------------------------------------------------

    def action_open_row(self) -> None:
        """Open the problem under the cursor."""
        self.query_one(VirtualTable).action_open()

    @on(VirtualTable.RowSelected)
    def _open(self, event: table_messages.RowSelected) -> None:
        from workbench.tui.screens.code_problem import CodeProblemScreen

        run = self.asked.run
        self.app.push_screen(
            CodeProblemScreen(
                event.row_id,
                suite=None if run is None else run.suite,
                run=None if run is None else run.run,
                neighbours=self._order,
            )
        )

    @property
    def _order(self) -> Sequence[int]:
        """Row ids of the problems, in the order of the table."""
        ordered = self._source.ordered if self._source is not None else None
        return self.query_one(VirtualTable).visible_ids if ordered is None else ordered

    def action_rankings(self) -> None:
        """Show rankings against truth, with the problem under the cursor."""
        from workbench.tui.screens.code_rankings import CodeRankingsScreen

        if (question := self.query_one(VirtualTable).selected_id) is not None:
            self.app.push_screen(CodeRankingsScreen(question, self._order))

    def action_rounds(self) -> None:
        """Show evolutions, at the problem under the cursor."""
        from workbench.tui.screens.code_rounds import CodeRoundsScreen

        self.app.push_screen(CodeRoundsScreen(self.query_one(VirtualTable).selected_id))

    @on(VirtualTable.SelectionHidden)
    def _selection_hidden(self) -> None:
        self._hidden = True
        self._tell()

    @on(VirtualTable.Failed)
    def _failed(self, event: table_messages.Failed) -> None:
        self.trouble(event.error)


def _same(one: SuiteRun, other: SuiteRun) -> bool:
    return (one.run, one.suite) == (other.run, other.suite)
