"""Measure how well verifiers rank and score the solutions of problems, from a database or a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, structs

from workbench.coding import formats
from workbench.coding.ranking.scores import (
    Rater,
    SolutionOutcomes,
    Truth,
    named_raters,
    ranks_of,
    raters,
    scored_problems,
)
from workbench.coding.ranking.selecting import NO_ITEM, RankingSelectionRules, SelectedSet, select_stored
from workbench.core.code import Execution
from workbench.core.item import Refusal
from workbench.core.options import grouped, record_from
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.runs.store import runs as stored_runs
from workbench.statistics.records.ranking import (
    Id,
    Missing,
    PartialVerifier,
    ProblemMetrics,
    RankingReport,
    RankingRow,
    ScoredProblem,
    ScoredSolution,
    SelectedProblems,
)

if TYPE_CHECKING:
    from workbench.statistics.ranking import ProblemRanking, ProblemScores


# -- Missing scores: which verifiers are excluded for too few verdicts, and how an abstention counts.


TRUTH: Final = "truth"
MAX_UNJUDGED_SHARE: Final = 0.1
"""Share of problems with an unjudged solution above which a verifier is excluded."""


class Covered(Struct, frozen=True, kw_only=True):
    """The scope of a measurement.

    Attributes:
        problems: Problems in which every solution has a true score and a score of each verifier.
        raters: The verifiers.
        partial: Verifiers that are excluded because they have judged too few solutions.
        coverage: Share of the solutions with true scores that a verifier has scored, by name and data set.
        filled: Number of missing scores that count as the lowest, by verifier.
        left_out: Number of problems that are not measured.
        lacking: Number of such problems by the verifier whose score is missing, or ``truth`` if a true score is.
    """

    problems: list[ScoredProblem]
    raters: list[Rater]
    partial: list[PartialVerifier]
    coverage: dict[tuple[str, str], float]
    filled: dict[str, int]
    left_out: int
    lacking: dict[str, int]


def choose_coverage(
    problems: Sequence[ScoredProblem],
    raters: Sequence[Rater],
    missing: Missing,
    *,
    named: bool,
    unitless: Sequence[str],
) -> Covered:
    """Determine which verifiers are measured, and on which problems.

    Args:
        missing: How abstentions count: as the lowest score (``zero``), or by excluding the problem for all verifiers
            (``drop``). Solutions that were not judged or failed always exclude the problem.
        named: Whether the verifiers were requested by name, so that none is excluded.
        unitless: Verifiers whose scores are not shares, so that 0 is not the lowest.
    """
    known = [problem for problem in problems if all(one.score is not None for one in problem.solutions)]
    partial = [] if named else _partial_verifiers(known, raters)
    if len(partial) == len(raters):
        partial = []
    out = {one.verifier for one in partial}
    kept = [rater for rater in raters if rater.name not in out]
    names = [rater.name for rater in kept]
    filled: Counter[str] = Counter()
    whole = list(problems)
    if missing == "zero":
        lowest = {name: _lowest_score(known, name) if name in unitless else 0.0 for name in names}
        whole = [_fill_missing_scores(problem, lowest, filled) for problem in problems]
    lacking = [_verifiers_without_score(problem, names) for problem in whole]
    every = Counter(name for lack in lacking for name in lack)
    return Covered(
        problems=[problem for problem, lack in zip(whole, lacking, strict=True) if not lack],
        raters=kept,
        partial=partial,
        coverage=_coverage(known, names),
        filled=dict(filled),
        left_out=sum(map(bool, lacking)),
        lacking=dict(every),
    )


def _partial_verifiers(known: Sequence[ScoredProblem], raters: Sequence[Rater]) -> list[PartialVerifier]:
    found = []
    total = sum(len(problem.solutions) for problem in known)
    for rater in raters:
        unjudged = [problem for problem in known if any(rater.name in one.unjudged for one in problem.solutions)]
        if known and len(unjudged) / len(known) > MAX_UNJUDGED_SHARE:
            judged = sum(rater.name not in one.unjudged for problem in known for one in problem.solutions)
            found.append(PartialVerifier(verifier=rater.name, judged=judged, solutions=total))
    return found


def _lowest_score(known: Sequence[ScoredProblem], name: str) -> float:
    scores = (one.scores.get(name) for problem in known for one in problem.solutions)
    return min((score for score in scores if score is not None), default=0.0)


def _fill_missing_scores(problem: ScoredProblem, lowest: Mapping[str, float], filled: Counter[str]) -> ScoredProblem:
    def scores(one: ScoredSolution) -> dict[str, float | None]:
        refused = [name for name in lowest if one.scores.get(name) is None and name not in one.unjudged]
        filled.update(refused)
        return one.scores | {name: lowest[name] for name in refused}

    found = [structs.replace(one, scores=scores(one)) for one in problem.solutions]
    ranks = {name: ranks_of([one.scores.get(name) for one in found]) for name in lowest}
    solutions = (
        structs.replace(one, ranks=one.ranks | {name: values[place] for name, values in ranks.items()})
        for place, one in enumerate(found)
    )
    return structs.replace(problem, solutions=tuple(solutions))


def _verifiers_without_score(problem: ScoredProblem, names: Sequence[str]) -> list[str]:
    without = [TRUTH] if any(one.score is None for one in problem.solutions) else []
    return without + [name for name in names if any(one.scores.get(name) is None for one in problem.solutions)]


def _coverage(known: Sequence[ScoredProblem], names: Sequence[str]) -> dict[tuple[str, str], float]:
    given: Counter[tuple[str, str]] = Counter()
    total: Counter[str] = Counter()
    for problem in known:
        total[problem.dataset] += len(problem.solutions)
        for name in names:
            given[name, problem.dataset] += sum(one.scores.get(name) is not None for one in problem.solutions)
    return {(name, dataset): given[name, dataset] / total[dataset] for dataset in total for name in names}


REWARDS: Final = ("reward-model", "reward-local")
"""Kinds of verifiers whose scores have no unit: they are scaled to 0 to 1 in each problem."""
PAPER_K: Final = 5
"""Default number of solutions selected of each problem."""
SAMPLES: Final = 2_000
"""Default number of bootstrap samples for the intervals."""


class RankedVerifiers(Struct, frozen=True, kw_only=True):
    """The metrics of verifiers, and the solutions they were computed from, with their scores.

    Attributes:
        problems: All problems, including those that are not measured.
        verifiers: All verifiers, including excluded ones.
    """

    report: RankingReport
    problems: list[ScoredProblem]
    verifiers: tuple[str, ...]


class _VerifierScores(Struct, frozen=True, kw_only=True):
    """One verifier's scores of the problems of one data set.

    Attributes:
        problems: Each problem's task id and measured values.
        shared: Whether several solutions may share the best rank.
        normalise: Whether the scores are scaled.
    """

    verifier: str
    run: int | None
    dataset: str
    problems: list[tuple[Id, ProblemScores]]
    shared: bool
    normalise: bool


def ranking_of_file(path: Path, *, samples: int = SAMPLES, seed: int = 0) -> tuple[RankingReport, list[Refusal]]:
    """Compute the metrics of a file as Scoring Verifiers' ``evaluate.py`` does; every known data set has a row. Also
    return the rejected lines.

    Raises:
        FormatError: The file can't be read, has no scores, or names an unknown data set.
    """
    found = formats.read_scored_rows(path)
    measured = [_scores_from_rows(found, name, dataset) for name in found.verifiers for dataset in formats.DATASETS]
    rows, problems = _ranking_rows(measured, samples, seed)
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
    return report, found.refused


def compare_verifiers(
    project: Project,
    truth: Truth,
    verifiers: Sequence[str] = (),
    *,
    selection: Selection | None = None,
    k: int | None = None,
    references: Mapping[int, dict[str, Execution]] = {},
    reference_scores: Mapping[str, Mapping[int, dict[str, Execution]]] = {},
    missing: Missing = "zero",
    samples: int = SAMPLES,
    seed: int = 0,
) -> RankedVerifiers:
    """Compute the metrics of verifiers, all on the same problems, and return them with the solutions.

    Args:
        truth: The source of true scores.
        verifiers: Names of verifiers; empty for all that have judged enough solutions.
        selection: Use only these solutions.
        k: Use only k selected solutions of each problem; None for all.
        references: With k, the outcomes of reference solutions (`truth.outcomes_of_references`).
        reference_scores: Outcomes of reference solutions in the tests that a verifier executes, by verifier.
        missing: How abstentions count; see `choose_coverage`.

    Raises:
        UsageError: A named verifier has no scores, or no verifier has.
    """
    chosen = named_raters(raters(project, truth), verifiers)
    kinds = {known.name: known.kind for known in stored_runs.verifiers(project.database.reader())}
    problems = list(scored_problems(project, truth, chosen, selection=selection))
    selected = None
    if k is not None:
        sets = list(select_stored(project, RankingSelectionRules(k=k), truth, selection, references))
        problems, selected = _selected_problems(problems, sets, reference_scores), selected_problems(sets)
    unitless = [one.name for one in chosen if kinds[one.name] in REWARDS or not _are_shares(problems, one.name)]
    found = choose_coverage(problems, chosen, missing, named=bool(verifiers), unitless=unitless)
    measured = _verifier_scores(found, dict.fromkeys(problem.dataset for problem in problems), unitless)
    rows, by_problem = _ranking_rows(measured, samples, seed)
    report = record_from(
        RankingReport,
        found,
        rows=[structs.replace(row, coverage=found.coverage.get((row.verifier, row.dataset))) for row in rows],
        problems=by_problem,
        truth=truth.name,
        truth_runs=truth.runs,
        missing=missing,
        k=k,
        selected=selected,
        samples=samples,
        seed=seed,
    )
    return RankedVerifiers(report=report, problems=problems, verifiers=tuple(rater.name for rater in chosen))


def selected_problems(sets: Sequence[SelectedSet]) -> SelectedProblems:
    chosen = [one.line for one in sets if one.line.selected]
    return SelectedProblems(
        problems=len(chosen),
        stand_ins=sum(line.ground_truth_from == "stand_in" for line in chosen),
        without_ground_truth=sum(one.line.reason == "no_ground_truth" for one in sets),
        without_scores=sum(one.line.reason == "no_solutions" for one in sets),
        fewer=sum(len(line.selected) < line.k for line in chosen),
    )


def _selected_problems(
    problems: Iterable[ScoredProblem],
    sets: Sequence[SelectedSet],
    reference_scores: Mapping[str, Mapping[int, dict[str, Execution]]],
) -> list[ScoredProblem]:
    selected = {one.problem.question: (one.problem, one.picked.ranked) for one in sets if one.problem is not None}
    found = []
    for problem in problems:
        if problem.question not in selected:
            continue
        outcomes, ranked = selected[problem.question]
        there: dict[Id, ScoredSolution] = {one.solution_id: one for one in problem.solutions}
        for one in outcomes.solutions:
            if one.item == NO_ITEM:
                there[one.solution_id] = _scored_reference(problem, one, reference_scores)
        kept = tuple(structs.replace(there[one.id], rank=one.rank) for one in ranked)
        if kept:
            found.append(structs.replace(problem, solutions=kept))
    return found


def _scored_reference(
    problem: ScoredProblem,
    solution: SolutionOutcomes,
    reference_scores: Mapping[str, Mapping[int, dict[str, Execution]]],
) -> ScoredSolution:
    scores: dict[str, float | None] = {}
    for name, outcomes in reference_scores.items():
        executions = outcomes.get(problem.question, {}).values()
        if total := sum(one.counted for one in executions):
            scores[name] = sum(one.passed for one in executions) / total
    return record_from(
        ScoredSolution,
        solution,
        ground_truth=True,
        rank=None,
        scores=scores,
        ranks={},
        unjudged=frozenset(reference_scores.keys() - scores.keys()),
    )


def _are_shares(problems: Sequence[ScoredProblem], name: str) -> bool:
    scores = (one.scores.get(name) for problem in problems for one in problem.solutions)
    return all(0 <= score <= 1 for score in scores if score is not None)


def _verifier_scores(found: Covered, datasets: Iterable[str], unitless: Sequence[str]) -> Iterator[_VerifierScores]:
    for rater in found.raters:
        for dataset in datasets:
            there = [problem for problem in found.problems if problem.dataset == dataset]
            yield _scores_on_problems(there, rater, dataset, normalise=rater.name in unitless)


def _scores_on_problems(
    problems: Sequence[ScoredProblem], rater: Rater, dataset: str, *, normalise: bool
) -> _VerifierScores:
    truths = [[one.score for one in problem.solutions] for problem in problems]
    # Lower ranks are better; among the measured solutions they begin with 1.
    ranks = [ranks_of([None if one.rank is None else -one.rank for one in problem.solutions]) for problem in problems]
    scores = [[one.scores[rater.name] for one in problem.solutions] for problem in problems]
    return _VerifierScores(
        verifier=rater.name,
        run=rater.run,
        dataset=dataset,
        problems=[
            (problem.task_id, _problem_scores(rank, truth, score))
            for problem, rank, truth, score in zip(problems, ranks, truths, scores, strict=True)
        ],
        shared=True,
        normalise=normalise,
    )


def _scores_from_rows(found: formats.ScoredRows, verifier: str, dataset: str) -> _VerifierScores:
    rows = grouped(
        (row.task_id, (row.rank, row.ground_average_test_score, scores[verifier]))
        for row, scores in found.rows
        if row.dataset == dataset
    )
    return _VerifierScores(
        verifier=verifier,
        run=None,
        dataset=dataset,
        problems=[(task, _problem_scores(*zip(*values, strict=True))) for task, values in rows.items()],
        shared=False,
        normalise=verifier == "reward",
    )


def _problem_scores(
    rank: Sequence[float | None], truth: Sequence[float | None], score: Sequence[float | None]
) -> ProblemScores:
    import numpy as np

    from workbench.statistics.ranking import ProblemScores

    return ProblemScores(*(np.array(values, dtype=np.float64) for values in (rank, truth, score)))


def _ranking_rows(
    measured: Iterable[_VerifierScores], samples: int, seed: int
) -> tuple[list[RankingRow], list[ProblemMetrics]]:
    from workbench.statistics.ranking import of_problem

    rows, problems = [], []
    for one in measured:
        found = [(task, of_problem(each, shared=one.shared, normalise=one.normalise)) for task, each in one.problems]
        rows.append(_ranking_row(one, [figures for _, figures in found], samples, seed))
        problems += [_problem_row(one, task, figures) for task, figures in found]
    return rows, problems


def _ranking_row(one: _VerifierScores, found: Sequence[ProblemRanking], samples: int, seed: int) -> RankingRow:
    from workbench.statistics.ranking import of_problems

    figures = of_problems(found, samples=samples, seed=seed)
    ends = {f"{name}_ci": found for name, found in figures.intervals.items()}
    values: dict[str, Any] = {**figures.values, **ends}
    return record_from(
        RankingRow,
        figures,
        verifier=one.verifier,
        dataset=one.dataset,
        run=one.run,
        **values,
        normalised=one.normalise,
    )


def _problem_row(one: _VerifierScores, task: Id, figures: ProblemRanking) -> ProblemMetrics:
    from workbench.statistics.confusion import defined

    return record_from(
        ProblemMetrics,
        figures,
        verifier=one.verifier,
        dataset=one.dataset,
        task_id=task,
        spearman=defined(figures.spearman),
        kendall=defined(figures.kendall),
        mae=figures.absolute / figures.solutions,
    )
