"""The section on code: pass@1 by problem, tests that carry no information, ranked solutions."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.text.figures import counted
from workbench.measuring.report.common import share
from workbench.measuring.report.contents import Contents
from workbench.measuring.testing import FATES, Fate, ProblemFigures, SuiteFigures, TestFigures
from workbench.tables.document import Block, Group, Paragraph, Section, percentage
from workbench.tables.table import Columns, count, table, word

_TOLD: tuple[Fate, ...] = ("none", "all", "broken", "apart")
"""Results of tests that are listed test by test."""
_MAX_TESTS = 200
_MAX_PROBLEMS = 10
_MAX_TEXT = 120


def testing_section(contents: Contents) -> Section | None:
    blocks = [block for figures in contents.tests for block in _suite_blocks(figures)]
    return Section("tests", "Solutions against their tests", tuple(blocks)) if blocks else None


def testing_sentence(figures: SuiteFigures) -> str:
    tests = figures.tests
    solutions = sum(problem.solutions for problem in figures.problems)
    parts = [f"{counted(sum(test.fate == fate for test in tests), 'test')} {FATES[fate]}" for fate in _TOLD]
    there = [part for part in parts if not part.startswith("0 ")]
    mean = "–" if figures.pass_at_1 is None else f"{percentage(figures.pass_at_1)} %"
    lost = f" The sandbox died on {counted(figures.lost, 'solution')}: not counted." if figures.lost else ""
    return (
        f"{figures.verifier} (run {figures.run}) ran {counted(solutions, 'solution')} of "
        f"{counted(len(figures.problems), 'problem')} against {counted(len(tests), 'test')} of suite {figures.suite}: "
        f"pass@1 {mean} (mean over problems){'; ' if there else ''}{', '.join(there)}.{lost}"
    )


def _suite_blocks(figures: SuiteFigures) -> Iterator[Block]:
    yield Paragraph(testing_sentence(figures))
    several = len({problem.dataset for problem in figures.problems}) > 1
    yield table(f"Problems, suite {figures.suite}.", _problem_columns(several=several), figures.problems)
    told = [test for fate in _TOLD for test in figures.tests if test.fate == fate]
    if told:
        left = len(told) - _MAX_TESTS
        notes = (f"{left:,} more are left out here: export the table tests for all.",) if left > 0 else ()
        blocks = (table("Tests that distinguish no solutions.", _TESTS, told[:_MAX_TESTS], notes=notes),)
        yield Group(title=f"Tests of {figures.suite} that all or no solutions pass", blocks=blocks, folded=left > 0)


def _ranking_text(problem: ProblemFigures) -> str:
    shown = [f"{name} ({passed})" for name, passed in problem.order[:_MAX_PROBLEMS]]
    more = len(problem.order) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _problem_columns(*, several: bool) -> Columns[ProblemFigures]:
    return (
        word("Problem", lambda row: row.task_id),
        word("Data set", lambda row: row.dataset, there=several),
        count("Solutions", lambda row: row.solutions),
        share("pass@1", lambda row: row.pass_at_1),
        count("Tests", lambda row: len(row.tests)),
        count("by all", lambda row: row.count("all"), over="passed"),
        count("by none", lambda row: row.count("none"), over="passed"),
        count("broken", lambda row: row.count("broken"), over="not counted"),
        count("excluded", lambda row: row.count("apart"), over="not counted"),
        word("Solutions in order (tests passed)", _ranking_text),
    )


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_TEXT else f"{line[: _MAX_TEXT - 1]}…"


_TESTS: Columns[TestFigures] = (
    word("Problem", lambda row: row.task_id),
    word("Test", lambda row: str(row.position + 1)),
    word("Outcome", lambda row: FATES[row.fate]),
    word("Why", lambda row: row.why),
    word("Source", lambda row: _shorten(row.source)),
)
