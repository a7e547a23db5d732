"""Scores of the solutions of each problem: true ones, from the newest runs of their tests, and those of verifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from workbench.coding.problems import KIND, execution_verifier, opened_sandbox
from workbench.core.code import ASSERTION, BASE, BROKEN, NOT_RUN, PASS, Execution, Failure, Program
from workbench.core.errors import Command, UsageError, opt
from workbench.core.options import record_from
from workbench.core.project import Project, batches
from workbench.core.run import ClusterUse
from workbench.core.selection import Selection
from workbench.core.verdict import OutcomeCode
from workbench.data.store import browsing, tests
from workbench.data.store.tests import problems_of
from workbench.measuring.columns import Columns, columns
from workbench.runs.run_status import run_row
from workbench.runs.store import runs as stored_runs
from workbench.runs.store import verdicts
from workbench.statistics.records.probe import JUDGES_NOTHING
from workbench.statistics.records.ranking import GroundTruthFrom, Rules, ScoredProblem, ScoredSolution

if TYPE_CHECKING:
    from workbench.statistics.confusion import FloatArray, IntArray


RECORDED: Final = "recorded"
"""Used in place of a verifier's name if true scores and ranks were imported with the solutions."""
DEFAULT_SUITES: Final = (BASE, "plus")
"""Suites that are combined by default: a "+" data set has both."""

_SOLUTIONS_PER_READ = 2_000
"""Solutions whose outcomes are read together; the solutions of one problem are never split."""


class Truth(Struct, frozen=True, kw_only=True):
    """The source of true scores.

    Attributes:
        name: The verifier, or several separated by commas; `RECORDED` for scores imported with the solutions.
        runs: The run of each suite; empty for recorded scores.
    """

    name: str
    runs: dict[str, int]

    @property
    def suites(self) -> tuple[str, ...]:
        return tuple(self.runs)


class SolutionOutcomes(Struct, frozen=True, kw_only=True):
    """A solution with its test outcomes.

    Attributes:
        item: The solution's row id.
        by_suite: Outcomes by suite.
        complete: Whether it was run against all tests of its problem in the suites, and at least one of them counts.
        recorded: The imported score, if imported scores are the truth; else None.
    """

    item: int
    solution_id: str
    by_suite: dict[str, Execution]
    complete: bool
    recorded: tests.RecordedScore | None = None

    @property
    def outcomes(self) -> str:
        return "".join(found.outcomes for found in self.by_suite.values())

    @property
    def passed(self) -> int:
        return sum(found.passed for found in self.by_suite.values())

    @property
    def total(self) -> int:
        return sum(found.counted for found in self.by_suite.values())

    @property
    def score(self) -> float | None:
        """Return the share of passed tests, not rounded; None if not all were run."""
        if self.recorded is not None:
            return self.recorded.score
        return self.passed / self.total if self.complete else None

    @property
    def passes(self) -> bool | None:
        """Return whether the solution passes every test; None if unknown, for example if it was not run.

        A solution that failed a test or ran out of time fails, even if other tests were not run.
        """
        letters = set(self.outcomes) - {BROKEN}
        if letters - {NOT_RUN} and letters - {PASS}:
            return False
        return True if self.complete else None

    @property
    def ms(self) -> float:
        if self.recorded is not None:
            return 1000 * (self.recorded.seconds or 0.0)
        executions = self.by_suite.values()
        return sum(one.ran * one.ms for one in executions) / max(sum(one.ran for one in executions), 1)


class ProblemOutcomes(Struct, frozen=True, kw_only=True):
    """A problem's chosen solutions in the order of import.

    Attributes:
        question: The problem's row id.
        known: Row ids of solutions known to be correct, and how that is known.
    """

    question: int
    dataset: str
    task_id: str
    solutions: tuple[SolutionOutcomes, ...]
    known: dict[int, GroundTruthFrom]


def runs_in_words(runs: Mapping[str, int]) -> str:
    """Describe runs, such as ``base (run 3), plus (run 3)``."""
    return ", ".join(f"{suite} (run {run})" for suite, run in runs.items())


def truth_of(project: Project, name: str | None = None, suites: Sequence[str] = ()) -> Truth:
    """Return the source of true scores: for each suite the complete run with most solutions, of equal ones the newest.

    Args:
        name: The verifier; None for any verifier that executes tests, or for imported scores if none was run;
            `RECORDED` for imported scores.
        suites: Suites to count together; by default those of `DEFAULT_SUITES` that have been run.

    Raises:
        UsageError: A suite, or every suite, lacks a complete run.
    """
    reader = project.database.reader()
    recorded = tests.has_recorded_scores(reader) and not suites
    if name == RECORDED and recorded:
        return Truth(name=RECORDED, runs={})
    names = {
        row.id: row.verifier.name
        for row in stored_runs.every(reader)
        if row.completed_at is not None and (row.verifier.kind == KIND if name is None else row.verifier.name == name)
    }
    found = {suite: run for _, run, suite in sorted(tests.run_sizes(reader)) if run in names}
    wanted = tuple(dict.fromkeys(suites)) or tuple(suite for suite in DEFAULT_SUITES if suite in found)
    missing = [suite for suite in wanted if suite not in found]
    if name is None and not wanted and recorded:
        return Truth(name=RECORDED, runs={})
    if missing or not wanted:
        raise _missing_run_error(name, missing, list(found))
    runs = {suite: found[suite] for suite in wanted}
    return Truth(name=", ".join(dict.fromkeys(names[run] for run in runs.values())), runs=runs)


def _missing_run_error(name: str | None, missing: Sequence[str], found: Sequence[str]) -> UsageError:
    if name == RECORDED:
        text = "No solution came with a score" if not missing else "Scores that came with solutions have no suites"
        return UsageError(
            f"{text}.", f"{opt.truth:recorded} uses the fields average_test_score and rank of data sets such as HE-R."
        )
    wanted = ", ".join(missing) or " or ".join(DEFAULT_SUITES)
    by = "" if name is None else f" by {name!r}"
    there = f"Complete{by}: {', '.join(found)}; name them with {opt.suite}." if found else ""
    start = f"Run the tests: {Command('verify DB execution', option='suite=' + ','.join(missing or DEFAULT_SUITES))}"
    return UsageError(f"No complete run used the tests of {wanted}{by}.", there or start)


def outcomes_by_problem(
    project: Project, truth: Truth, selection: Selection | None = None, questions: Sequence[int] | None = None
) -> Iterator[ProblemOutcomes]:
    """Yield problems with their solutions' test outcomes, in the order of import, loading a part at a time.

    Args:
        selection: Include only these solutions.
        questions: Include only these problems, by row id.

    Raises:
        UsageError: The selection names something unknown.
    """
    rows = tests.solutions_by_problem(project.database.reader(), selection or Selection(), questions)
    block: list[list[tests.SolutionRow]] = []
    for _, group in groupby(rows, key=attrgetter("question")):
        block.append(list(group))
        if sum(map(len, block)) >= _SOLUTIONS_PER_READ:
            yield from _read_block(project, truth, block)
            block = []
    yield from _read_block(project, truth, block)


def _read_block(
    project: Project, truth: Truth, block: Sequence[Sequence[tests.SolutionRow]]
) -> Iterator[ProblemOutcomes]:
    reader = project.database.reader()
    items = [row.item for rows in block for row in rows]
    known = tests.ground_truths(reader, items)
    counts = tests.test_counts(reader, "question", [rows[0].question for rows in block], truth.suites)
    recorded = tests.recorded_scores(reader, items) if truth.name == RECORDED else {}
    results = {run: verdicts.of_run(reader, run, items) for run in sorted(set(truth.runs.values()))}
    for rows in block:
        expected = counts[rows[0].question]
        yield record_from(
            ProblemOutcomes,
            rows[0],
            solutions=tuple(
                structs.replace(_solution_outcomes(row, truth, expected, results), recorded=recorded.get(row.item))
                for row in rows
            ),
            known={row.item: known[row.item] for row in rows if row.item in known},
        )


def _solution_outcomes(
    row: tests.SolutionRow, truth: Truth, expected: dict[str, int], results: dict[int, dict[int, dict[str, Execution]]]
) -> SolutionOutcomes:
    found = {suite: results[run].get(row.item, {}).get(suite) for suite, run in truth.runs.items()}
    by_suite = {suite: execution for suite, execution in found.items() if execution is not None}
    settled = {suite: one.settled for suite, one in by_suite.items()}
    counts = any(one.counted for one in by_suite.values())
    return SolutionOutcomes(
        item=row.item,
        solution_id=row.key.removeprefix(f"{row.task_id}/"),
        by_suite=by_suite,
        complete=counts and all(settled.get(suite) == count for suite, count in expected.items()),
    )


# -- Reference solutions that are not stored as solutions, run in the same way as the solutions of their problems.


ReferenceOutcomes = dict[int, dict[str, Execution]]
"""Row id of a problem -> suite -> the results of its reference solution."""
_BATCH_PROBLEMS: Final = 100
"""Problems whose tests are in memory at a time."""


def outcomes_of_references(
    project: Project,
    truth: Truth,
    selection: Selection | None = None,
    *,
    workers: int | None = None,
    allow_unsafe: bool = False,
    cluster: ClusterUse | None = None,
    trust: bool = False,
) -> ReferenceOutcomes:
    """Return outcomes by suite of the human reference solutions of problems without a known ground truth.

    A reference is run with the options of the run of its problem's solutions: limits, packages, a writable folder. A
    sandbox is opened only if there is a reference to run. A reference that crashed the harness has no outcomes.

    Args:
        selection: Use only problems of these solutions.
        workers: Number of programs executed at a time; by default one per core.
        allow_unsafe: Whether the user approves resource limits without isolation.
        cluster: The cluster that runs them instead of this machine; counts of its nodes' work are recorded in it.
        trust: Whether the user approves the interpreter of a run.

    Raises:
        UsageError: The selection names something unknown.
        NotTrustedError: The user has not approved the interpreter.
        UnsafeError: Only resource limits would apply, and the user has not approved that.
        RunError, VerifierError: This machine doesn't support the sandbox of a run.
    """
    by_suite: ReferenceOutcomes = {}
    lost: set[int] = set()
    if not truth.runs:
        return by_suite
    lacking = [one.question for one in outcomes_by_problem(project, truth, selection) if not one.known]
    for run in dict.fromkeys(truth.runs.values()):
        suites = [suite for suite, number in truth.runs.items() if number == run]
        jobs = _reference_programs(project, lacking, suites, _run_options(project, run))
        if (first := next(jobs, None)) is None:
            continue
        with opened_sandbox(
            project,
            _run_options(project, run),
            workers=workers,
            allow_unsafe=allow_unsafe,
            cluster=cluster,
            trust=trust,
        ) as sandbox:
            for (question, suite), execution in sandbox.run(chain([first], jobs)):
                by_suite.setdefault(question, {})[suite] = execution
                if execution.harness_killed:
                    lost.add(question)
    return {
        question: {suite: found[suite] for suite in truth.suites if suite in found}
        for question, found in by_suite.items()
        if question not in lost
    }


def _run_options(project: Project, run: int) -> Mapping[str, str]:
    verifier = run_row(project.database.reader(), run).verifier
    return verifier.options if verifier.kind == KIND else {}


def _reference_programs(
    project: Project, questions: Sequence[int], suites: Sequence[str], options: Mapping[str, str]
) -> Iterator[tuple[tuple[int, str], Program]]:
    verifier = execution_verifier({**options, "suite": ",".join(suites)})
    for some in batches(questions, _BATCH_PROBLEMS):
        for question, problem in problems_of(project.database, some, suites).items():
            if problem.oracle:
                for suite, program in verifier.programs(problem, problem.oracle, "program").items():
                    yield (question, suite), program


class Rater(Struct, frozen=True, kw_only=True):
    """A verifier that gives scores, and the run they come from."""

    name: str
    run: int


def raters(project: Project, truth: Truth | None = None) -> list[Rater]:
    """Return verifiers whose newest complete run has scores, except those whose runs are the truth."""
    runs = browsing.newest_runs(project.database.reader(), without=JUDGES_NOTHING)
    known = columns(project)
    own = () if truth is None else truth.runs.values()
    return [Rater(name=name, run=run) for run, name in runs.items() if run not in own and _has_scores(known.score(run))]


def named_raters(there: Sequence[Rater], verifiers: Sequence[str]) -> list[Rater]:
    """Return the raters with these names; all if no name is given.

    Raises:
        UsageError: A verifier has no scores, or no verifier has.
    """
    known = ", ".join(rater.name for rater in there) or "none yet"
    unknown = [name for name in verifiers if name not in {rater.name for rater in there}]
    if unknown or not there:
        wanted = ", ".join(unknown) or "any verifier besides the truth"
        raise UsageError(f"There is no complete run with scores of {wanted}.", f"Verifiers with scores: {known}.")
    return [rater for rater in there if not verifiers or rater.name in verifiers]


def tested_by(project: Project, truth: Truth, verifiers: Sequence[str]) -> dict[str, Truth]:
    """Return the runs of each verifier with whose settings to execute references; empty unless all execute tests.

    Raises:
        UsageError: A verifier has no scores, or no verifier has.
    """
    reader = project.database.reader()
    suites = [(run, suite) for _, run, suite in tests.run_sizes(reader)]
    found = {
        rater.name: Truth(name=rater.name, runs={suite: run for run, suite in suites if run == rater.run})
        for rater in named_raters(raters(project, truth), verifiers)
    }
    return found if all(one.runs for one in found.values()) else {}


def scored_problems(
    project: Project,
    truth: Truth,
    verifiers: Sequence[Rater] = (),
    *,
    selection: Selection | None = None,
    questions: Sequence[int] | None = None,
) -> Iterator[ScoredProblem]:
    """Yield each problem's solutions with true scores and verifiers' scores.

    Args:
        truth: The source of true scores (`truth.truth_of`).
        verifiers: Verifiers whose scores are included (`raters`).
        selection: Include only these solutions.
        questions: Include only these problems, by row id.

    Raises:
        UsageError: The selection names something unknown.
    """
    known = columns(project)
    given = {rater.name: known.score(rater.run) for rater in verifiers}
    said = {rater.name: known.outcome(rater.run) for rater in verifiers}
    for problem in outcomes_by_problem(project, truth, selection, questions):
        yield _scored_problem(problem, known, {name: score for name, score in given.items() if score is not None}, said)


def _has_scores(score: FloatArray | None) -> bool:
    import numpy as np

    return score is not None and bool(np.isfinite(score).any())


def _scored_problem(
    problem: ProblemOutcomes, known: Columns, given: Mapping[str, FloatArray], said: Mapping[str, IntArray]
) -> ScoredProblem:
    import numpy as np

    from workbench.statistics.confusion import align, defined

    items = np.array([one.item for one in problem.solutions], dtype=np.int64)
    scores = {
        name: [defined(value) for value in align(items, known.item, score, np.float64("nan")).tolist()]
        for name, score in given.items()
    }
    none = {
        name: [value in (-1, OutcomeCode.ERROR) for value in align(items, known.item, outcome, np.int8(-1)).tolist()]
        for name, outcome in said.items()
    }
    ranks = {name: ranks_of(values) for name, values in scores.items()}
    true_ranks = _true_ranks(problem)
    return record_from(
        ScoredProblem,
        problem,
        solutions=tuple(
            ScoredSolution(
                item=one.item,
                solution_id=one.solution_id,
                score=one.score,
                ground_truth=problem.known.get(one.item) == "flag",
                rank=rank,
                ms=one.ms if one.by_suite or one.recorded else None,
                scores={name: values[place] for name, values in scores.items()},
                ranks={name: values[place] for name, values in ranks.items()},
                unjudged=frozenset(name for name, values in none.items() if values[place]),
            )
            for place, (one, rank) in enumerate(zip(problem.solutions, true_ranks, strict=True))
        ),
    )


def _true_ranks(problem: ProblemOutcomes) -> list[float | None]:
    recorded = [None if one.recorded is None else one.recorded.rank for one in problem.solutions]
    if None not in recorded:
        return recorded
    return ranks_of([one.score for one in problem.solutions])


def ranks_of(scores: Sequence[float | None]) -> list[float | None]:
    """Return ranks from 1 for the highest score; ties share their mean rank, and a missing score has none."""
    there = sorted(score for score in scores if score is not None)
    found: dict[float, float] = {}
    for place, score in enumerate(reversed(there), 1):
        found.setdefault(score, place + (there.count(score) - 1) / 2)
    return [None if score is None else found[score] for score in scores]


# -- A solution's score, and which test outcomes exclude it from a benchmark.


DECIMALS: Final = 2
"""Decimals that scores are rounded to before solutions of equal score are removed."""
BARE_ASSERTION: Final = "AssertionError()"
"""Standard error of an assertion without a message, as the released code sees it."""


def as_scored(share: float, rules: Rules) -> float:
    """Return a share of passed tests as a score: rounded as in the released code, or exact as in the paper."""
    return round(share, DECIMALS) if rules == "released" else share


def only_errors(outcomes: str) -> bool:
    """Return whether every test failed, and none by an assertion: syntax errors, timeouts and kills count as errors.

    The result is False without tests, or if a test was not run.
    """
    letters = set(outcomes) - {BROKEN}
    return bool(letters) and not letters & {PASS, ASSERTION, NOT_RUN}


def only_stderr(stderrs: Sequence[str]) -> bool:
    """Return whether every test wrote to standard error, and something else than the name of a bare assertion.

    The released code drops such solutions (``combine_solutions.py``); so a failed assertion with a message counts as an
    error, and so does a test that passes with a warning. Without tests the result is False.
    """
    return bool(stderrs) and all(text.strip() not in ("", BARE_ASSERTION) for text in stderrs)


def letters_of(stderrs: Sequence[str]) -> str:
    return "".join(map(_outcome_letter, stderrs))


def _outcome_letter(stderr: str) -> str:
    text = stderr.strip()
    return PASS if not text else ASSERTION if text.startswith("AssertionError") else "e"


def stderrs_of(outcomes: str, failures: Iterable[Failure]) -> list[str]:
    """Reconstruct the standard error of tests, as the released code would have seen it, from outcomes.

    Output of tests that didn't fail is unknown, as are messages of assertions whose failure isn't stored.
    """
    messages = {failure.position: failure.message for failure in failures if failure.outcome == ASSERTION}
    letters = ((position, letter) for position, letter in enumerate(outcomes) if letter != BROKEN)
    return [_stderr_text(letter, messages.get(position)) for position, letter in letters]


def _stderr_text(letter: str, message: str | None) -> str:
    if letter in (PASS, NOT_RUN):
        return ""
    if letter != ASSERTION:
        return "Error()"
    return f"AssertionError({message!r})" if message else BARE_ASSERTION
