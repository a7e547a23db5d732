"""Show one problem's solutions against the tests of a suite, and the code of a solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from workbench.coding import store
from workbench.coding.evolution.evolving import origin_of
from workbench.core.code import BROKEN, NOT_RUN, PASS, Failure
from workbench.core.code_tests.broken import broken_tests
from workbench.core.errors import UsageError
from workbench.core.options import record_from
from workbench.core.project import Project, batches
from workbench.data.records import MatrixSolution, PassMatrix, SolutionCode, SuiteRun
from workbench.data.store import browsing, problems, tests
from workbench.data.store.tests import tests_of
from workbench.runs.store import runs, verdicts
from workbench.verifiers.execution.evidence import decision_sites
from workbench.verifiers.execution.interpreter import EXTRACTORS, code_of, form_of

_FIRST_EXTRACTOR: Final = "fence"


def read_matrix(project: Project, question: int, *, suite: str | None = None, run: int | None = None) -> PassMatrix:
    """Read a problem's solutions against the tests of one suite.

    Args:
        question: Row id of the problem.
        suite: The suite, if the problem has it; else that of the first run, else the problem's first.
        run: The run, if it has outcomes of the suite; else the newest complete run, else the newest.

    Raises:
        UsageError: There is no such problem.
    """
    with project.database.reading() as reader:
        found = problems.rows(reader, [question], None)
        if not found:
            raise UsageError(f"There is no code problem with row id {question}.", "It may have been removed.")
        suites = found[0].tests | store.own_suites(reader, question)
        ran = store.suite_runs(reader, question)
        suite = _choose_suite(suite, suites, ran)
        there = tuple(one for one in ran if one.suite == suite)
        shown = next((one for one in there if one.run == run), next(iter(there), None))
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
        every = _matrix_solutions(project, question, suite, shown, verifiers, seen)
        shared = (*problem.suites.get(suite, ()), *(test for one in every for test in one.tests))
        wrong = broken_tests(problem, shared, suite)
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
            where=decision_sites(problem, shared, suite),
            faults={shared[place]: fault.error for place, fault in wrong.items()},
        )


def _choose_suite(wanted: str | None, suites: dict[str, int], every: Sequence[SuiteRun]) -> str:
    there = [wanted, *(one.suite for one in every), *suites]
    return next((name for name in there if name is not None and name in suites), "")


def _matrix_solutions(
    project: Project,
    question: int,
    suite: str,
    run: SuiteRun | None,
    verifiers: dict[int, str],
    seen: Mapping[int, str],
) -> tuple[MatrixSolution, ...]:
    reader = project.database.reader()
    every = store.grid_solutions(reader, question)
    made: list[MatrixSolution] = []
    for part in batches(every):
        ids = [one.id for one in part]
        executions = {} if run is None else verdicts.of_run(reader, run.run, ids)
        named = {row.id: row for row in browsing.rows(reader, ids, verifiers)}
        own = tests_of(reader, "completion", ids, [suite])
        for one in part:
            found = executions.get(one.id, {}).get(suite)
            for_itself = own.get(one.id, {}).get(suite, ())
            key = named[one.id].completion_id
            made.append(
                record_from(
                    MatrixSolution,
                    named[one.id],
                    key=key,
                    solution_id=key.removeprefix(f"{named[one.id].question_id}/"),
                    ground_truth=one.ground_truth,
                    outcomes=seen.get(one.id, "") if found is None else found.outcomes,
                    execution=found,
                    tests=for_itself,
                )
            )
    return tuple(made)


def solution_code(project: Project, matrix: PassMatrix, completion: int) -> SolutionCode:
    """Return a solution's code as the run has executed it; nothing is executed here.

    Raises:
        UsageError: There is no such completion.
    """
    stored = browsing.detail(project.database.reader(), completion).completion
    said = tests.solutions_of(project.database, [completion])[completion].form
    extractor = _extractor(project, matrix.run)
    form = said or form_of(stored, matrix.problem.language)
    return SolutionCode(
        stored=stored, form=form, source=code_of(matrix.problem, stored, form, extractor).source, extractor=extractor
    )


class SolutionSummary(NamedTuple):
    """A summary of a solution's tests.

    Attributes:
        suite: The suite of the tests; "" if the solution was not run.
        failing: The position of the first test that was run and not passed; None without one.
        source: That test's text.
        why: The actual value, or the error; "" if it was not stored.
    """

    entry_point: str
    suite: str
    outcomes: str
    failing: int | None
    source: str
    why: str


def summarize_solution(project: Project, completion: int) -> SolutionSummary | None:
    """Summarize a solution's tests in the run shown by default; None if its question is not a code problem."""
    with project.database.reading() as reader:
        question = store.problem_of(reader, completion)
        if question is None:
            return None
        run = next(iter(store.suite_runs(reader, question)), None)
        found = {} if run is None else verdicts.of_run(reader, run.run, [completion]).get(completion, {})
        execution = None if run is None else found.get(run.suite)
        problem = tests.problems_of(project.database, [question], [] if run is None else [run.suite])[question]
    entry = problem.entry_point or ""
    if run is None or execution is None:
        return SolutionSummary(entry, "", "", None, "", "")
    letters, suite = execution.outcomes, problem.suites.get(run.suite, ())
    failing = next((place for place, one in enumerate(letters) if one not in (PASS, NOT_RUN, BROKEN)), None)
    failure = next((one for one in execution.failures if one.position == failing), None)
    source = suite[failing].source if failing is not None and failing < len(suite) else ""
    return SolutionSummary(entry, run.suite, letters, failing, source, failure_words(failure))


def failure_words(failure: Failure | None) -> str:
    if failure is None:
        return ""
    if failure.got is not None:
        return f"got {failure.got}"
    return ": ".join(filter(None, (failure.error, failure.message)))


def _extractor(project: Project, shown: SuiteRun | None) -> str:
    run = None if shown is None else runs.get(project.database.reader(), shown.run)
    name = "" if run is None else str(run.verifier.config.get("extractor", "")).partition("-")[0]
    return name if name in EXTRACTORS else _FIRST_EXTRACTOR


# -- Layout of a pass matrix: the best solutions first, equal ones together, easy tests before hard ones.


class Cluster(NamedTuple):
    """Solutions with the same letter for every test.

    Attributes:
        members: Positions of the solutions in the input, ascending.
        outcomes: Their outcome letters, in the suite's order; "" if they were not run.
    """

    members: tuple[int, ...]
    outcomes: str


class Arrangement(NamedTuple):
    """Rows and columns in order.

    Attributes:
        columns: Positions of the tests.
        clusters: The rows, solutions with equal outcomes together, the best score first; solutions that were not run
            come
            last.
        rates: Share of solutions that pass each test, by position; None if it was run on no solution, or is broken.
    """

    columns: tuple[int, ...]
    clusters: tuple[Cluster, ...]
    rates: tuple[float | None, ...]


def arrange(outcomes: Sequence[str], tests: int, *, by_rate: bool = True) -> Arrangement:
    """Sort solutions and tests.

    Args:
        outcomes: One string of outcome letters for each solution, in the suite's order; missing letters count as not
            run.
        tests: Number of tests.
        by_rate: Whether to sort columns by decreasing pass rate, with ties in the suite's order; else all are in the
            suite's order.
    """
    rates = tuple(_pass_rate([one[test] for one in outcomes if test < len(one)]) for test in range(tests))
    columns = tuple(range(tests))
    if by_rate:
        columns = tuple(sorted(columns, key=lambda test: 1.0 if (rate := rates[test]) is None else -rate))

    def place(row: int) -> tuple[object, ...]:
        letters = outcomes[row]
        row_letters = [letters[test] if test < len(letters) else NOT_RUN for test in columns]
        return not letters, -letters.count(PASS), [(letter != PASS, letter) for letter in row_letters], letters, row

    order = sorted(range(len(outcomes)), key=place)
    clusters = tuple(
        Cluster(tuple(members), letters) for letters, members in groupby(order, key=lambda row: outcomes[row])
    )
    return Arrangement(columns, clusters, rates)


def _pass_rate(letters: Sequence[str]) -> float | None:
    run = [letter for letter in letters if letter not in (NOT_RUN, BROKEN)]
    return run.count(PASS) / len(run) if run else None


def distinguishing_tests(first: str, second: str) -> list[int]:
    return [
        test
        for test, pair in enumerate(zip(first, second, strict=False))
        if {NOT_RUN, BROKEN}.isdisjoint(pair) and (pair[0] == PASS) != (pair[1] == PASS)
    ]
