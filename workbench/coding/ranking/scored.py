"""Solutions of each problem with their true scores and ranks, and those that verifiers give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.coding.ranking.truth import ProblemOutcomes, SolutionOutcomes, Truth, outcomes_by_problem
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome
from workbench.data.store import browsing
from workbench.measuring.columns import Columns, columns
from workbench.statistics.records.ranking import ScoredProblem, ScoredSolution
from workbench.statistics.records.study import JUDGES_NOTHING

if TYPE_CHECKING:
    from workbench.statistics.arrays import FloatArray, IntArray


class Rater(Struct, frozen=True, kw_only=True):
    """A verifier that gives scores, and the run they come from."""

    name: str
    run: int


def raters(project: Project, truth: Truth | None = None) -> list[Rater]:
    """Verifiers whose newest complete run has scores; not those whose runs are the truth."""
    runs = browsing.newest_runs(project.database.reader(), without=JUDGES_NOTHING)
    known = columns(project)
    own = () if truth is None else truth.runs.values()
    return [Rater(name=name, run=run) for run, name in runs.items() if run not in own and _has_scores(known.score(run))]


def scored(
    project: Project,
    truth: Truth,
    verifiers: Sequence[Rater] = (),
    *,
    selection: Selection | None = None,
    questions: Sequence[int] | None = None,
) -> Iterator[ScoredProblem]:
    """Each problem's solutions with true and other scores.

    Args:
        truth: Where the true scores come from (`truth.truth_of`).
        verifiers: Whose scores stand beside them (`raters`).
        selection: Only these solutions.
        questions: Only these problems, by row id.

    Raises:
        UsageError: The selection names something unknown.
    """
    known = columns(project)
    given = {rater.name: known.score(rater.run) for rater in verifiers}
    said = {rater.name: known.outcome(rater.run) for rater in verifiers}
    for problem in outcomes_by_problem(project, truth, selection, questions):
        yield _scored(problem, known, {name: score for name, score in given.items() if score is not None}, said)


def _has_scores(score: FloatArray | None) -> bool:
    import numpy as np

    return score is not None and bool(np.isfinite(score).any())


def _scored(
    problem: ProblemOutcomes, known: Columns, given: Mapping[str, FloatArray], said: Mapping[str, IntArray]
) -> ScoredProblem:
    import numpy as np

    from workbench.statistics.arrays import align, defined

    items = np.array([one.item for one in problem.solutions], dtype=np.int64)
    scores = {
        name: [defined(value) for value in align(items, known.item, score, np.float64("nan")).tolist()]
        for name, score in given.items()
    }
    none = {
        name: [value in (-1, Outcome.ERROR) for value in align(items, known.item, outcome, np.int8(-1)).tolist()]
        for name, outcome in said.items()
    }
    ranks = {name: ranks_of(values) for name, values in scores.items()}
    truth = [one.score for one in problem.solutions]
    return ScoredProblem(
        question=problem.question,
        dataset=problem.dataset,
        task_id=problem.task_id,
        solutions=tuple(
            _solution(
                one,
                problem.known.get(one.item) == "flag",
                rank,
                {name: values[place] for name, values in scores.items()},
                {name: values[place] for name, values in ranks.items()},
                frozenset(name for name, values in none.items() if values[place]),
            )
            for place, (one, rank) in enumerate(zip(problem.solutions, ranks_of(truth), strict=True))
        ),
    )


def _solution(
    one: SolutionOutcomes,
    flagged: bool,
    rank: float | None,
    scores: dict[str, float | None],
    ranks: dict[str, float | None],
    unjudged: frozenset[str],
) -> ScoredSolution:
    return ScoredSolution(
        item=one.item,
        solution_id=one.solution_id,
        ground_truth=flagged,
        score=one.score,
        rank=rank,
        ms=one.ms if one.by_suite else None,
        scores=scores,
        ranks=ranks,
        unjudged=unjudged,
    )


def ranks_of(scores: Sequence[float | None]) -> list[float | None]:
    """Ranks from 1 for the highest score; equal ones share the mean of theirs, and what has no score has no rank."""
    there = sorted(score for score in scores if score is not None)
    found: dict[float, float] = {}
    for place, score in enumerate(reversed(there), 1):
        found.setdefault(score, place + (there.count(score) - 1) / 2)
    return [None if score is None else found[score] for score in scores]
