"""One problem: its solutions against the tests of a suite, and the code of a solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from workbench.coding.evolution.origins import origin_of
from workbench.coding.store import pass_matrix
from workbench.coding.store.pass_matrix import GridSolution
from workbench.core.code import CodeTest, Execution
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.data.records.browse import BrowseRow
from workbench.data.records.pass_matrix import MatrixSolution, PassMatrix, SolutionCode, SuiteRun
from workbench.data.store import browsing, problem_list, tests
from workbench.data.store.suites import tests_of
from workbench.runs.store import runs, test_results
from workbench.verifiers.execution.programs import EXTRACTORS, code_of, form_of
from workbench.verifiers.execution.standing import standings

_FIRST_EXTRACTOR: Final = "fence"

_AT_ONCE: Final = 500
"""Completions named in one read."""


def read_matrix(project: Project, question: int, *, suite: str | None = None, run: int | None = None) -> PassMatrix:
    """A problem's solutions against the tests of one suite.

    Args:
        question: Row id of the problem.
        suite: Which suite, if the problem has it; else that of the run that comes first, else the problem's first.
        run: Whose outcomes, if it has any of the suite; else the newest run's that has been complete, else the newest.

    Raises:
        UsageError: There is no such problem.
    """
    with project.database.reading() as reader:
        found = problem_list.rows(reader, [question], None)
        if not found:
            raise UsageError(f"There is no code problem with row id {question}.", "It may have been removed.")
        suites = found[0].tests | pass_matrix.own_suites(reader, question)
        ran = pass_matrix.suite_runs(reader, question)
        suite = _suite(suite, suites, ran)
        there = tuple(one for one in ran if one.suite == suite)
        shown = _run(run, there)
        verifiers = {
            number: name
            for number, name in browsing.newest_runs(reader).items()
            if shown is None or name != shown.verifier
        }
        origin = origin_of(project, question, suite)
        if origin is not None and len(origin.rounds) != suites.get(suite):
            origin = None
        seen = {} if origin is None or shown is not None else origin.outcomes
        problem = tests.problems_of(project.database, [question], [suite])[question]
        every = _solutions(project, question, suite, shown, verifiers, seen)
        own = (test for one in every for test in one.tests)
        return PassMatrix(
            question=question,
            problem=problem,
            dataset=found[0].dataset,
            suites=suites,
            suite=suite,
            runs=there,
            run=shown,
            evolution=None if origin is None else origin.evolution,
            rounds=() if origin is None else origin.rounds,
            verifiers=tuple(verifiers.values()),
            solutions=every,
            where=standings(problem, (*problem.suites.get(suite, ()), *own)),
        )


def _suite(wanted: str | None, suites: dict[str, int], every: Sequence[SuiteRun]) -> str:
    there = [wanted, *(one.suite for one in every), *suites]
    return next((name for name in there if name is not None and name in suites), "")


def _run(wanted: int | None, there: Sequence[SuiteRun]) -> SuiteRun | None:
    return next((one for one in there if one.run == wanted), next(iter(there), None))


def _solutions(
    project: Project,
    question: int,
    suite: str,
    run: SuiteRun | None,
    verifiers: dict[int, str],
    seen: Mapping[int, str],
) -> tuple[MatrixSolution, ...]:
    reader = project.database.reader()
    every = pass_matrix.solutions(reader, question)
    made: list[MatrixSolution] = []
    for start in range(0, len(every), _AT_ONCE):
        part = every[start : start + _AT_ONCE]
        ids = [one.id for one in part]
        executions = {} if run is None else test_results.of_run(reader, run.run, ids)
        named = {row.id: row for row in browsing.rows(reader, ids, verifiers)}
        own = tests_of(reader, "completion", ids, [suite])
        for one in part:
            found = executions.get(one.id, {}).get(suite)
            for_itself = own.get(one.id, {}).get(suite, ())
            made.append(_solution(one, named[one.id], found, seen.get(one.id, ""), for_itself))
    return tuple(made)


def _solution(
    one: GridSolution, named: BrowseRow, found: Execution | None, seen: str, own: tuple[CodeTest, ...]
) -> MatrixSolution:
    return MatrixSolution(
        id=one.id,
        solution_id=named.completion_id.removeprefix(f"{named.question_id}/"),
        model=named.model,
        ground_truth=one.ground_truth,
        gold=named.gold,
        verdicts=named.verdicts,
        outcomes=seen if found is None else found.outcomes,
        execution=found,
        tests=own,
    )


def solution_code(project: Project, matrix: PassMatrix, completion: int) -> SolutionCode:
    """A solution's code as the run shown has run it; nothing of it is run here.

    Raises:
        UsageError: There is no such completion.
    """
    stored = browsing.detail(project.database.reader(), completion).completion
    said = tests.solutions_of(project.database, [completion])[completion].form
    extractor = _extractor(project, matrix.run)
    form = said or form_of(stored, matrix.problem.language)
    return SolutionCode(
        stored=stored,
        form=form,
        source=code_of(matrix.problem, stored, form, extractor).source,
        extractor=extractor,
    )


def _extractor(project: Project, shown: SuiteRun | None) -> str:
    """How a run takes code from a reply, as its verifier is configured."""
    run = None if shown is None else runs.get(project.database.reader(), shown.run)
    name = "" if run is None else str(run.verifier.config.get("extractor", "")).partition("-")[0]
    return name if name in EXTRACTORS else _FIRST_EXTRACTOR
