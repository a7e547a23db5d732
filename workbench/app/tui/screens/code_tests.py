"""Tests of all code problems in one list: passed by every solution, by none, or excluded."""

from __future__ import annotations

from typing import ClassVar

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.pass_view import WORDS
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.table_screen import TableScreen
from workbench.core.text.figures import counted, percent
from workbench.data.records import SuiteRun
from workbench.measuring.testing import FATES, TestFigures, suite_figures
from workbench.tables.document import Cell
from workbench.tables.table import Columns, column, count, word

_TOLD = {"none": Cell("by none", "error"), "all": Cell("by all", "dim"), "mixed": Cell("by some")}


def _passed_cell(test: TestFigures) -> Cell:
    return _TOLD.get(test.fate) or Cell("excluded" if test.fate == "apart" else "broken", "warning")


def _columns(*, several: bool) -> Columns[TestFigures]:
    return (
        word("problem", lambda test: test.task_id, room=(16, 24)),
        count("test", lambda test: test.position + 1, room=4),
        column("pass %", lambda test: test.rate, lambda rate: percent(rate, 0), room=6, tone="bold"),
        column("passed", _passed_cell, lambda cell: cell, words=True, by=lambda test: FATES[test.fate], room=9),
        column("of", lambda test: test.ran, str, room=4),
        word("source", lambda test: " ".join(test.source.split()), room=(20, 80), tone="dim"),
        word("why", lambda test: test.why, room=(4, 40)),
        word("data set", lambda test: test.dataset, room=(8, 16), tone="dim", there=several),
    )


class CodeTestsScreen(TableScreen, LiveScreen):
    """One row per test, with counts over all solutions. Showing it is not recorded as a reveal; opening a problem is.

    Args:
        run: The run and suite of the outcomes.
        dataset: The data set whose tests are listed; None for all.
    """

    TITLE_TEXT = "Tests"
    WORDS = WORDS
    PREFIX = "code-tests"
    EMPTY = "No tests: the run has no outcomes of the listed problems."
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-tests.open", "enter", "open_row", "Open", "Open the test's problem, with the cursor on the test."),
        Action("code-tests.again", "r", "again", "Read again", "Count the outcomes again.", False),
    )

    action_again = LiveScreen.action_reload

    def __init__(self, run: SuiteRun, dataset: str | None = None) -> None:
        super().__init__()
        self._run, self._dataset = run, dataset

    def read(self) -> list[TestFigures]:
        found = suite_figures(self.project, run=self._run.run)
        tests = [test for figures in found if figures.suite == self._run.suite for test in figures.tests]
        return [test for test in tests if self._dataset in (None, test.dataset)]

    def show(self, data: list[TestFigures]) -> None:
        self.list_records(_columns(several=len({test.dataset for test in data}) > 1), data)
        none, every = (sum(test.fate == fate for test in data) for fate in ("none", "all"))
        self.say(f"{counted(len(data), 'test')} of {printable(self._run.suite)} · {none:,} by none, {every:,} by all")

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.code_problem import CodeProblemScreen

        test = self.records[row]
        order = list(dict.fromkeys(self.records[place].question for place in self.table.order))
        self.app.push_screen(
            CodeProblemScreen(test.question, suite=test.suite, run=self._run.run, neighbours=order, test=test.position)
        )
