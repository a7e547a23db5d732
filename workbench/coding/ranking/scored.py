"""Read the solutions of each problem with their true scores and ranks, and verifiers' scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.coding.ranking.truth import ProblemOutcomes, Truth, outcomes_by_problem
from workbench.core.code import ASSERTION, BROKEN, NOT_RUN, PASS, Failure
from workbench.core.errors import UsageError
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import OutcomeCode
from workbench.data.store import browsing
from workbench.data.store import tests as test_store
from workbench.measuring.columns import Columns, columns
from workbench.statistics.records.probe import JUDGES_NOTHING
from workbench.statistics.records.ranking import Rules, ScoredProblem, ScoredSolution

if TYPE_CHECKING:
    from workbench.statistics.confusion import FloatArray, IntArray


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
    suites = [(run, suite) for _, run, suite in test_store.run_sizes(reader)]
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
