"""Code: every code problem in a table, with its solutions' outcomes in one run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from msgspec import structs

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, choose
from workbench.app.tui.kit.pass_view import WORDS, run_words
from workbench.app.tui.kit.sources import PagedSource
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.suite_start import choose_suite, export_outcomes
from workbench.app.tui.table_screen import CatalogScreen
from workbench.coding import problems
from workbench.core.selection import Condition
from workbench.core.text.figures import NONE, percent
from workbench.data.records import PROBLEM_KINDS, ProblemQuery, ProblemRow, SuiteRun
from workbench.tables.document import Cell
from workbench.tables.table import Columns, column, count, word

_NO_PROBLEMS = "No code problems yet. Import problems, then their solutions, with the command Import ({palette})."


class CodeScreen(CatalogScreen, LiveScreen):
    """The table of code problems; its counts are those of the chosen run.

    Attributes:
        asked: The query: which problems are shown, and which run's outcomes.
        runs: Runs that have outcomes.
    """

    TITLE_TEXT = "Code"
    WORDS = WORDS
    PREFIX, ABOVE, KIND, WIDE = "code", ("caption",), ("problem", "task id"), 100
    SEARCH_HINT = "part of a task id, an entry point or a prompt"
    JUMP_HINT = "row number, or a task id"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code.open", "enter", "open_row", "Open", "Open the problem: its solutions against its tests."),
        Action("code.search", "/", "search", "Search", "Search task ids, entry points and prompts."),
        Action("code.filter", "f", "filter", "Filter", "Filter problems by their solutions' outcomes."),
        Action("code.jump", "@", "jump", "Jump", "Go to a row number or to a task id."),
        Action("code.run", "w", "choose_run", "Run", "Choose the run and suite of the outcomes."),
        Action("code.start", "a", "start", "Start", "Run the solutions against a suite of tests."),
        Action("code.metrics", "V", "rankings", "Rankings", "Show how verifiers rank solutions against their tests."),
        Action("code.tests", "i", "tests", "Tests", "List all tests: passed by all, by none, excluded."),
        Action("code.evolution", "o", "rounds", "Evolution", "Show how suites of tests grow harder by rounds."),
        Action("code.dataset", "D", "dataset", "Data set", "Show the problems of one data set.", False),
        Action("code.again", "r", "again", "Read again", "Read the problems again.", False),
        Action("code.back", "escape,q", "back", "Back", "Clear the search, then the filters, then go back."),
    )

    def __init__(self) -> None:
        super().__init__(ProblemQuery())
        self.runs: list[SuiteRun] = []
        self._datasets = 0

    # -- following the database --------------------------------------------------------------------

    def read(self) -> tuple[list[SuiteRun], int]:
        """Return the runs with outcomes, and the number of data sets with problems; the table reads its rows itself."""
        return problems.suite_runs(self.project), len(problems.datasets(self.project))

    def show(self, found: tuple[list[SuiteRun], int]) -> None:
        data, datasets = found
        self.runs = data
        before = self.asked.run
        run = next((one for one in data if _is_same_run(one, before)), None) or next(iter(data), None)
        beside = _second_run(run, data)
        came, self._datasets = datasets != self._datasets, datasets
        if self._source is None or came or not _is_same_run(run, before) or not _is_same_run(beside, self.asked.beside):
            self.change(run=run, beside=beside)
            return
        self.asked = structs.replace(self.asked, run=run, beside=beside)
        self.table.refresh_rows()
        self.tell()

    def rows_of(self, asked: ProblemQuery) -> PagedSource[ProblemRow]:
        return PagedSource(
            _columns(asked.beside, several=self._datasets > 1, wide=self.wide),
            problems.ProblemTable(self.project, asked),
            lambda row: row.id,
        )

    def find(self, name: str) -> list[int]:
        return problems.find(self.project, name)

    def narrowed(self) -> list[str]:
        kind = [] if self.asked.kind == "all" else [PROBLEM_KINDS[self.asked.kind]]
        return kind if self.asked.dataset is None else [*kind, self.asked.dataset]

    def tell(self) -> None:
        super().tell()
        run = self.asked.run
        suite = f"suite {printable(run.suite)}, " if run else ""
        beside = self.asked.beside
        other = f" · {printable(beside.suite)}: {run_words(beside)}" if beside else ""
        caption = f"pass@1: {suite}{run_words(run)}{other} · gold %: correct by gold"
        if self.table.position == "– of 0" and not (self.asked.search or self.narrowed() or self.table.chips):
            caption = _NO_PROBLEMS.format(palette=key_of("app.palette"))
        self.put("caption", caption)

    # -- which problems ----------------------------------------------------------------------------

    def action_filter(self) -> None:
        choose(self, ChoiceMenu("Show", PROBLEM_KINDS, chosen={self.asked.kind}), lambda kind: self.change(kind=kind))

    def action_dataset(self) -> None:
        self.in_background(partial(problems.datasets, self.project), self._ask_dataset, group="code-datasets")

    def _ask_dataset(self, names: list[str]) -> None:
        choices = {"": "all data sets"} | {name: printable(name) for name in names}
        menu = ChoiceMenu("Problems of", choices, chosen={self.asked.dataset or ""})
        choose(self, menu, lambda name: self.change(dataset=name or None))

    def action_choose_run(self) -> None:
        if not self._has_run():
            return
        choices = [Choice(run, f"{printable(run.suite)} · {run_words(run)}") for run in self.runs]
        menu = ChoiceMenu("Count the outcomes of", choices, chosen=[self.asked.run])
        choose(self, menu, lambda run: self.change(run=run, beside=_second_run(run, self.runs)))

    def action_start(self) -> None:
        named = self.asked.dataset
        choose_suite(self, *([] if named is None else [Condition("dataset", "=", named)]))

    def clear_restriction(self) -> bool:
        found = super().clear_restriction()
        if not found and (self.asked.kind != "all" or self.asked.dataset is not None):
            self.change(kind="all", dataset=None)
            return True
        return found

    def further_exports(self) -> Mapping[str, Callable[[], None]]:
        return {
            "Export test outcomes …": partial(export_outcomes, self),
            "Export a training file (sft, pairs) …": self.workbench.open_training_file,
        }

    # -- opening -----------------------------------------------------------------------------------

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.code_problem import CodeProblemScreen

        run = self.asked.run
        self.app.push_screen(
            CodeProblemScreen(
                row,
                suite=None if run is None else run.suite,
                run=None if run is None else run.run,
                neighbours=self.table.order,
            )
        )

    def action_rankings(self) -> None:
        from workbench.app.tui.screens.code_rankings import CodeRankingsScreen

        if (question := self.table.selected_id) is not None:
            self.app.push_screen(CodeRankingsScreen(question, self.table.order))

    def action_tests(self) -> None:
        from workbench.app.tui.screens.code_tests import CodeTestsScreen

        if self._has_run() and self.asked.run is not None:
            self.app.push_screen(CodeTestsScreen(self.asked.run, self.asked.dataset))

    def _has_run(self) -> bool:
        if not self.runs:
            self.notify(f"No solution has been run yet: {key_of('code.start')} starts a suite of tests.")
        return bool(self.runs)

    def action_rounds(self) -> None:
        from workbench.app.tui.screens.code_rounds import CodeRoundsScreen

        self.app.push_screen(CodeRoundsScreen(self.table.selected_id))


def _second_run(run: SuiteRun | None, runs: Sequence[SuiteRun]) -> SuiteRun | None:
    return None if run is None else next((one for one in runs if one.suite != run.suite), None)


def _is_same_run(one: SuiteRun | None, other: SuiteRun | None) -> bool:
    return one is other if one is None or other is None else (one.run, one.suite) == (other.run, other.suite)


def _unfinished_cell(row: ProblemRow) -> Cell:
    if row.done and not row.judged:
        return Cell("no test counts", "warning")
    if row.done == row.solutions:
        return Cell("")
    return Cell(f"ran {row.done}/{row.solutions}", "warning" if row.done else "dim")


def _executed_cell(row: ProblemRow) -> Cell:
    if row.done and not row.judged:
        return Cell("untested", "warning")
    return Cell(f"{row.done}/{row.solutions}", "" if row.done == row.solutions else "warning" if row.done else "dim")


def _columns(beside: SuiteRun | None, *, several: bool, wide: bool) -> Columns[ProblemRow]:
    """Return the columns, with one for a second suite's outcomes, if given, and one for data sets, if there are
    several.

    Args:
        wide: Show the numbers of all and of executed solutions in separate columns.
    """
    return (
        word("problem", lambda row: row.task_id, key="task_id", room=(12 if wide else 13, 24)),
        word("data set", lambda row: row.dataset, key="dataset", room=(8, 14), tone="dim", there=several),
        column(
            "entry point" if wide else "entry",
            lambda row: row.entry_point,
            lambda name: name or Cell(NONE, "dim"),
            words=True,
            key="entry_point",
            room=(11 if wide else 5, 20),
        ),
        count("sol.", lambda row: row.solutions, key="solutions", room=(4, 9), there=wide),
        column("ran", lambda row: row, _executed_cell, key="done", room=(5, 9), there=not wide),
        column(
            "gold %" if wide else "gold%",
            lambda row: row.share_correct,
            partial(percent, decimals=0),
            key="gold",
            room=6 if wide else 5,
        ),
        column("pass@1", lambda row: row.pass_at_1, partial(percent, decimals=0), key="passing", room=6, tone="bold"),
        column(
            "" if beside is None else printable(beside.suite),
            lambda row: row.beside,
            partial(percent, decimals=0),
            key="beside",
            room=(5, 8 if wide else 5),
            there=beside is not None,
        ),
        column("run", lambda row: row, _unfinished_cell, words=True, key="done", room=(7, 14), there=wide),
        word(
            "tests",
            lambda row: " ".join(f"{suite}:{tests}" for suite, tests in row.tests.items()) or "none",
            key="tests",
            room=(23, 30),
            tone="dim",
        ),
    )
