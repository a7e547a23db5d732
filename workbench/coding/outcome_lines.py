"""Outcomes of every test of every solution: one line each, with the test's text and the reason of a failure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from workbench.coding.problems import LeftOut, OutcomeLines, SolutionOutcome, chosen_runs, outcomes_in, suites_of
from workbench.core.code import BROKEN, NOT_RUN, OUTCOMES, Execution, Problem
from workbench.core.code_tests.broken import broken_tests
from workbench.core.database.selection import chosen_ids
from workbench.core.project import Project, batches
from workbench.core.selection import Selection
from workbench.data.store.tests import SolutionName, problems_of, solutions_of, tests_of
from workbench.runs.store.runs import RunRow


class TestOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of one test on one solution.

    Attributes:
        test: The test's place in the suite, from 1.
        source: The test's text; for a program that reads standard input, its input.
        outcome: A letter (see `OUTCOMES`).
        meaning: A description of the outcome.
        error: The raised error; None if it wasn't stored, which is done for a solution's first few failures only.
        set_apart: Why the test is excluded; None if it counts.
    """

    __test__ = False

    task_id: str
    solution_id: str
    completion_id: str
    suite: str
    test: int
    source: str
    outcome: str
    meaning: str
    error: str | None
    got: str | None
    expected: str | None
    set_apart: str | None
    verifier: str
    run: int
    dataset: str


def lines_by_test(project: Project, selection: Selection | None = None) -> OutcomeLines[TestOutcome]:
    """Yield the tests of all executed solutions, by verifier, in import order; count the solutions not executed.

    Raises:
        UsageError: No solution was run, or the selection names something unknown.
    """
    reader = project.database.reader()
    rows = chosen_runs(project, None, None)
    wanted = set(chosen_ids(reader, selection or Selection()))
    suites = {row.id: suites_of(reader, row) for row in rows}
    left_out = LeftOut()
    lines = (
        line
        for row in rows
        for part in batches(outcomes_in(project, row, suites[row.id], wanted, left_out))
        for line in _outcome_lines(project, row, suites[row.id], part)
    )
    return OutcomeLines(lines, left_out)


def _outcome_lines(
    project: Project, row: RunRow, suites: Sequence[str], found: Sequence[SolutionOutcome]
) -> Iterator[TestOutcome]:
    items = [one.solution.item for one in found]
    of = solutions_of(project.database, items)
    problems = problems_of(project.database, [one.question for one in of.values()], suites)
    own = tests_of(project.database.reader(), "completion", items, suites)
    for solution, suite, execution in found:
        problem = problems[of[solution.item].question]
        yield from _solution_lines(row, solution, problem, suite, execution, own=suite in own[solution.item])


def _solution_lines(
    row: RunRow, solution: SolutionName, problem: Problem, suite: str, execution: Execution, *, own: bool
) -> Iterator[TestOutcome]:
    tests = () if own else problem.suites.get(suite, ())
    faults, excluded = broken_tests(problem, tests), problem.apart.get(suite, {})
    failures = {failure.position: failure for failure in execution.failures}
    for place, letter in enumerate(execution.outcomes):
        failure = failures.get(place)
        why = excluded[place].words if place in excluded else faults[place].error if place in faults else None
        yield TestOutcome(
            task_id=solution.question_id,
            solution_id=solution.completion_id.removeprefix(f"{solution.question_id}/"),
            completion_id=solution.completion_id,
            suite=suite,
            test=place + 1,
            source=tests[place].source if place < len(tests) else "",
            outcome=letter,
            meaning=OUTCOMES.get(letter, OUTCOMES[NOT_RUN]),
            error=None if failure is None else ": ".join(filter(None, (failure.error, failure.message))) or None,
            got=None if failure is None else failure.got,
            expected=None if failure is None else failure.expected,
            set_apart=why if letter == BROKEN else None,
            verifier=row.verifier.name,
            run=row.id,
            dataset=solution.dataset,
        )
