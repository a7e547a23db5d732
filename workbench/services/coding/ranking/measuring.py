"""How well verifiers rank and score the solutions of problems, from a database or from a file of scored solutions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, structs

from workbench.errors import UsageError
from workbench.formats.code import scored_rows
from workbench.model.candidates import Id
from workbench.model.item import Refusal
from workbench.model.ranking import ProblemRow, RankingReport, RankingRow, ScoredProblem
from workbench.model.selection import Selection
from workbench.services.coding.ranking.scored import Rater, ranks_of, raters, scored
from workbench.services.coding.ranking.selecting import How, select_stored
from workbench.services.coding.ranking.truth import Truth
from workbench.services.project import Project
from workbench.store import runs as stored_runs

if TYPE_CHECKING:
    from workbench.analysis.ranking.metrics import ProblemFigures, Scored

REWARDS: Final = ("reward-model", "reward-local")
"""Kinds of verifiers whose scores have no unit: they are stretched to 0 to 1 in each problem."""

SAMPLES: Final = 2_000
"""Samples behind the intervals, unless others are asked for."""

TRUTH: Final = "truth"


class FileRanking(Struct, frozen=True, kw_only=True):
    """The figures of a file, and its lines that were not taken."""

    report: RankingReport
    refused: list[Refusal]


class _Measured(Struct, frozen=True, kw_only=True):
    """One verifier's scores of the problems of one data set.

    Attributes:
        problems: Task ids with what is measured.
        shared: Several solutions may be the best.
        normalise: Its scores are stretched.
    """

    verifier: str
    run: int | None
    dataset: str
    problems: list[tuple[Id, Scored]]
    shared: bool
    normalise: bool


def ranking_of_file(path: Path, *, samples: int = SAMPLES, seed: int = 0) -> FileRanking:
    """The figures of a file, as Scoring Verifiers' ``evaluate.py`` reckons them; every known data set has a row.

    Raises:
        FormatError: The file can't be read, has no score at all, or names an unknown data set.
    """
    found = scored_rows.read(path)
    measured = [_of_rows(found, name, dataset) for name in found.verifiers for dataset in scored_rows.DATASETS]
    rows, problems = _figures(measured, samples, seed)
    report = RankingReport(
        rows=rows,
        problems=problems,
        truth=str(path),
        truth_runs={},
        left_out=0,
        lacking={},
        samples=samples,
        seed=seed,
        refused=len(found.refused),
    )
    return FileRanking(report=report, refused=found.refused)


def ranking(
    project: Project,
    truth: Truth,
    verifiers: Sequence[str] = (),
    *,
    selection: Selection | None = None,
    k: int | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> RankingReport:
    """The figures of verifiers, on the problems in which each of them has a score for every solution.

    Args:
        truth: Where true scores come from.
        verifiers: Names; empty for all that have scores.
        selection: Only these solutions.
        k: Only the solutions that selection would keep, k of each problem; None for all.

    Raises:
        UsageError: A verifier has no scores, or none has any.
    """
    chosen = _chosen(raters(project, truth), verifiers)
    problems = list(scored(project, truth, chosen, selection=selection))
    if k is not None:
        problems = _kept(problems, project, truth, selection, k)
    rows, by_problem = _figures(_measured(project, problems, chosen), samples, seed)
    lacking = [_lacking(problem, chosen) for problem in problems]
    names = [name for lack in lacking for name in lack]
    return RankingReport(
        rows=rows,
        problems=by_problem,
        truth=truth.name,
        truth_runs=truth.runs,
        left_out=sum(map(bool, lacking)),
        lacking={name: names.count(name) for name in dict.fromkeys(names)},
        k=k,
        samples=samples,
        seed=seed,
    )


def _chosen(there: Sequence[Rater], verifiers: Sequence[str]) -> list[Rater]:
    known = ", ".join(rater.name for rater in there) or "none yet"
    unknown = [name for name in verifiers if name not in {rater.name for rater in there}]
    if unknown or not there:
        wanted = ", ".join(unknown) or "any verifier besides the truth"
        raise UsageError(f"There is no complete run with scores of {wanted}.", f"Verifiers with scores: {known}.")
    return [rater for rater in there if not verifiers or rater.name in verifiers]


def _kept(
    problems: Iterable[ScoredProblem], project: Project, truth: Truth, selection: Selection | None, k: int
) -> list[ScoredProblem]:
    """The problems with their selected solutions alone, ranked among themselves; those without any are left out."""
    selected = {
        one.problem.question: set(one.line.selected)
        for one in select_stored(project, How(k=k), truth, selection)
        if one.problem is not None and one.line.selected
    }
    found = []
    for problem in problems:
        ids = selected.get(problem.question, set())
        kept = tuple(one for one in problem.solutions if one.solution_id in ids)
        if kept:
            found.append(structs.replace(problem, solutions=kept))
    return found


def _measured(project: Project, problems: Sequence[ScoredProblem], chosen: Sequence[Rater]) -> Iterator[_Measured]:
    """Each verifier on the problems of each data set in which nobody lacks a score."""
    kinds = {known.name: known.kind for known in stored_runs.verifiers(project.database.reader())}
    whole = [problem for problem in problems if not _lacking(problem, chosen)]
    for rater in chosen:
        for dataset in dict.fromkeys(problem.dataset for problem in problems):
            there = [problem for problem in whole if problem.dataset == dataset]
            yield _of_problems(there, rater, dataset, kinds[rater.name])


def _lacking(problem: ScoredProblem, chosen: Sequence[Rater]) -> list[str]:
    """Who has no score for some solution of a problem."""
    without = [TRUTH] if any(one.score is None for one in problem.solutions) else []
    return without + [
        rater.name for rater in chosen if any(one.scores.get(rater.name) is None for one in problem.solutions)
    ]


def _of_problems(problems: Sequence[ScoredProblem], rater: Rater, dataset: str, kind: str) -> _Measured:
    truths = [[one.score for one in problem.solutions] for problem in problems]
    scores = [[one.scores[rater.name] for one in problem.solutions] for problem in problems]
    is_share = all(score is not None and 0 <= score <= 1 for row in scores for score in row)
    return _Measured(
        verifier=rater.name,
        run=rater.run,
        dataset=dataset,
        problems=[
            (problem.task_id, _arrays(ranks_of(truth), truth, score))
            for problem, truth, score in zip(problems, truths, scores, strict=True)
        ],
        shared=True,
        normalise=kind in REWARDS or not is_share,
    )


def _of_rows(found: scored_rows.ScoredRows, verifier: str, dataset: str) -> _Measured:
    rows: dict[Id, list[tuple[float, float, float]]] = {}
    for row, scores in found.rows:
        if row.dataset == dataset:
            values = (row.rank, row.ground_average_test_score, scores[verifier])
            rows.setdefault(row.task_id, []).append(values)
    return _Measured(
        verifier=verifier,
        run=None,
        dataset=dataset,
        problems=[(task, _arrays(*zip(*values, strict=True))) for task, values in rows.items()],
        shared=False,
        normalise=verifier == "reward",
    )


def _arrays(rank: Sequence[float | None], truth: Sequence[float | None], score: Sequence[float | None]) -> Scored:
    import numpy as np

    from workbench.analysis.ranking.metrics import Scored

    return Scored(*(np.array(values, dtype=np.float64) for values in (rank, truth, score)))


def _figures(measured: Iterable[_Measured], samples: int, seed: int) -> tuple[list[RankingRow], list[ProblemRow]]:
    from workbench.analysis.ranking.metrics import of_problem

    rows, problems = [], []
    for one in measured:
        found = [(task, of_problem(each, shared=one.shared, normalise=one.normalise)) for task, each in one.problems]
        rows.append(_row(one, [figures for _, figures in found], samples, seed))
        problems += [_problem_row(one, task, figures) for task, figures in found]
    return rows, problems


def _row(one: _Measured, found: Sequence[ProblemFigures], samples: int, seed: int) -> RankingRow:
    from workbench.analysis.ranking.metrics import of_problems

    figures = of_problems(found, samples=samples, seed=seed)
    ends = {f"{name}_ci": found for name, found in figures.intervals.items()}
    values: dict[str, Any] = {**figures.values, **ends}
    return RankingRow(
        verifier=one.verifier,
        dataset=one.dataset,
        run=one.run,
        problems=figures.problems,
        solutions=figures.solutions,
        **values,
        spearman_undefined=figures.spearman_undefined,
        kendall_undefined=figures.kendall_undefined,
        normalised=one.normalise,
    )


def _problem_row(one: _Measured, task: Id, figures: ProblemFigures) -> ProblemRow:
    from workbench.analysis.arrays import defined

    return ProblemRow(
        verifier=one.verifier,
        dataset=one.dataset,
        task_id=task,
        solutions=figures.solutions,
        top1=figures.top1,
        bottom1=figures.bottom1,
        spearman=defined(figures.spearman),
        kendall=defined(figures.kendall),
        mae=figures.absolute / figures.solutions,
    )
