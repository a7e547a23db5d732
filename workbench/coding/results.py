"""Outcomes of tests: a line for every solution and suite of a run, whether it has been run or not."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from workbench.core.code import PASS, Execution, SolutionResult, counted
from workbench.core.database.selection import chosen_ids, ids_of
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.data.store import tests
from workbench.data.store.tests import SolutionName
from workbench.runs.run_status import run_row
from workbench.runs.running_verdicts import run_of
from workbench.runs.store import runs as stored_runs
from workbench.runs.store import test_results
from workbench.runs.store.runs import RunRow

if TYPE_CHECKING:
    import sqlite3

KIND: Final = "execution"
"""The kind of verifier that runs solutions."""

_AT_ONCE: Final = 500
"""Solutions whose outcomes are read at once."""

_NOT_RUN: Final = "n"


def results(
    project: Project,
    verifier: str | None = None,
    run: int | None = None,
    suite: str | None = None,
    selection: Selection | None = None,
) -> Iterator[SolutionResult]:
    """Outcomes of a run's solutions, in the order of import; one that was not run has ``n`` for each test.

    Args:
        verifier: Its name; by default every verifier that runs solutions, one after the other.
        run: A run; by default each verifier's newest that has been complete, or its newest while none has.
        suite: One suite; by default all that the run is about.
        selection: Only these solutions.

    Raises:
        UsageError: There is no such verifier, run, suite or field, or the run is of another verifier.
    """
    reader = project.database.reader()
    rows = _runs(project, verifier, run)
    known = {row.id: _suites(reader, row) for row in rows}
    if suite is not None and not any(suite in names for names in known.values()):
        there = ", ".join(dict.fromkeys(name for names in known.values() for name in names))
        raise UsageError(f"There are no outcomes of a suite {suite!r}.", f"Suites: {there or 'none'}.")
    wanted = None if selection is None else set(chosen_ids(reader, selection))
    asked = {run: tuple(name for name in names if suite in (None, name)) for run, names in known.items()}
    return (line for row in rows for line in _lines(project, row, asked[row.id], wanted))


def _runs(project: Project, verifier: str | None, run: int | None) -> list[RunRow]:
    """The runs that are meant, the verifiers in the order they came."""
    reader = project.database.reader()
    if run is None and verifier is None:
        names = [one.name for one in stored_runs.verifiers(reader)]
    else:
        names = [verifier or run_row(reader, run or 0).verifier.name]
    numbers = [number for name in names if (number := run_of(project, name, run)) is not None]
    ran = test_results.runs_with(reader)
    rows = [row for number in numbers if (row := run_row(reader, number)).verifier.kind == KIND or number in ran]
    if not rows:
        who = f"{verifier} has run no solution." if verifier else "No solution was run here."
        raise UsageError(who, "Run them: workbench verify DB execution")
    return rows


def _suites(connection: sqlite3.Connection, row: RunRow) -> tuple[str, ...]:
    """What a run is about: as it was configured, else as it is stored."""
    configured = row.verifier.config.get("suites") if row.verifier.kind == KIND else None
    # A file of somebody else's may hold anything there.
    named = isinstance(configured, list) and all(isinstance(name, str) for name in configured)
    return tuple(configured if named and configured else test_results.suites_of(connection, row.id))


def _lines(
    project: Project, row: RunRow, suites: Sequence[str], wanted: Container[int] | None
) -> Iterator[SolutionResult]:
    """A run's lines: what it chose, and what it has outcomes of all the same."""
    reader = project.database.reader()
    items = sorted({*ids_of(reader, row.selection), *test_results.items_of(reader, row.id)})
    items = items if wanted is None else [item for item in items if item in wanted]
    for start in range(0, len(items), _AT_ONCE):
        chunk = items[start : start + _AT_ONCE]
        found = test_results.of_run(reader, row.id, chunk)
        for solution in tests.named_solutions(project.database, chunk, suites):
            for suite in suites:
                yield _line(row.verifier.name, solution, suite, found.get(solution.item, {}).get(suite))


def _line(verifier: str, solution: SolutionName, suite: str, execution: Execution | None) -> SolutionResult:
    outcomes = _NOT_RUN * solution.tests.get(suite, 0) if execution is None else execution.outcomes
    passed, total = outcomes.count(PASS), counted(outcomes)
    return SolutionResult(
        task_id=solution.question_id,
        solution_id=solution.completion_id.removeprefix(f"{solution.question_id}/"),
        completion_id=solution.completion_id,
        suite=suite,
        outcomes=outcomes,
        passed=passed,
        total=total,
        score=passed / total if total else None,
        isolation=None if execution is None else execution.level,
        forgeable=0 if execution is None else execution.forgeable,
        ms=None if execution is None else execution.ms,
        verifier=verifier,
        dataset=solution.dataset,
    )
