"""Compute pass@k: how often at least one of k solutions of a problem passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import structs

from workbench.coding.ranking.scores import (
    DEFAULT_SUITES,
    ProblemOutcomes,
    Rater,
    Truth,
    named_raters,
    outcomes_by_problem,
    raters,
    runs_in_words,
)
from workbench.coding.ranking.selecting import SelectedSet
from workbench.coding.records.figures import (
    Bins,
    HistogramReport,
    ModelPasses,
    OutcomeShares,
    PassReport,
    PassRow,
    SaturationReport,
    SaturationRow,
    SelectedScores,
    SharesOfTests,
)
from workbench.core.code import BROKEN, PASS
from workbench.core.errors import UsageError
from workbench.core.options import grouped
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import OutcomeCode
from workbench.data.store import tests
from workbench.measuring.columns import columns
from workbench.measuring.judged import judges_of
from workbench.statistics.records.ranking import Id

if TYPE_CHECKING:
    from workbench.statistics.confusion import FloatArray


Counts = dict[tuple[str, Id], tuple[int, int]]
"""Data set and problem -> the numbers of solutions and of passing solutions."""


class ItemPass(NamedTuple):
    """A solution, and whether it passes; a solution with ``passes`` None (unknown) does not count."""

    item: int
    dataset: str
    task_id: Id
    passes: bool | None


class Passes(NamedTuple):
    """Solutions with whether they pass; ``judge`` describes what decides that."""

    found: list[ItemPass]
    judge: str


def passes_by_tests(project: Project, truth: Truth, selection: Selection | None = None) -> Passes:
    """Return the solutions with whether they pass all tests; reference solutions are left out.

    Raises:
        UsageError: The selection names something unknown.
    """
    found = [
        ItemPass(one.item, problem.dataset, problem.task_id, one.passes)
        for problem in outcomes_by_problem(project, truth, selection)
        for one in problem.solutions
        if problem.known.get(one.item) != "flag"
    ]
    return Passes(found, f"{truth.name} on {runs_in_words(truth.runs)}")


def passes_by_verdict(project: Project, verifier: str, selection: Selection | None = None) -> Passes:
    """Return the solutions with whether a verifier calls them correct.

    Solutions without a verdict or with an error don't count, nor do reference solutions.

    Raises:
        UsageError: The verifier has no complete run, or the selection names something unknown.
    """
    judge = judges_of(project, (verifier,))[0]
    every = columns(project)
    outcomes = dict(zip(every.item.tolist(), every.outcome(judge.run).tolist(), strict=True))
    says = {OutcomeCode.CORRECT: True, OutcomeCode.INCORRECT: False, OutcomeCode.ABSTAIN: False}
    reader = project.database.reader()
    rows = tests.solutions_by_problem(reader, selection or Selection())
    known = tests.ground_truths(reader, [row.item for row in rows])
    found = [
        ItemPass(row.item, row.dataset, row.task_id, says.get(outcomes.get(row.item, -1)))
        for row in rows
        if known.get(row.item) != "flag"
    ]
    return Passes(found, f"{verifier} (run {judge.run})")


def pass_report(passes: Passes, sizes: Sequence[int]) -> PassReport:
    unknown = sum(one.passes is None for one in passes.found)
    return PassReport(rows=_pass_rows(_pass_counts(passes.found), sizes), judge=passes.judge, unknown=unknown)


def with_models(
    project: Project, passes: Passes, report: PassReport, sizes: Sequence[int], against: str | None = None
) -> PassReport:
    """Add a line for each model and k: pass@k on every data set, their average, and the difference from ``against``.

    Args:
        against: The model that the others are compared with; None for no comparison.

    Raises:
        UsageError: No counted solution is by that model.
    """
    by_model = _by_model(project, passes.found)
    unnamed = len(by_model.pop("", []))
    if against is not None and against not in by_model:
        raise UsageError(
            f"There are no solutions by the model {against!r}.", f"Models: {', '.join(by_model) or 'none'}."
        )
    datasets = list(dict.fromkeys(row.dataset for row in report.rows))
    rows = [_model_row(model, k, found, datasets) for k in sizes for model, found in by_model.items()]
    before = {row.k: row.average for row in rows if row.model == against}
    held = [row if row.model == against else with_difference(row, before.get(row.k)) for row in rows]
    return structs.replace(report, models=held, against=against, unnamed=unnamed)


def _by_model(project: Project, found: Iterable[ItemPass]) -> dict[str, list[ItemPass]]:
    known = columns(project)
    groups = known.groups("model")
    named = {
        item: groups.names[code]
        for item, code in zip(known.item.tolist(), groups.code.tolist(), strict=True)
        if code >= 0
    }
    by_model = grouped((named[one.item], one) for one in found if one.item in named)
    return dict(sorted(by_model.items()))


def _model_row(model: str, k: int, found: Iterable[ItemPass], datasets: Sequence[str]) -> ModelPasses:
    values = {row.dataset: row.value for row in _pass_rows(_pass_counts(found), (k,))}
    every = [values.get(name) for name in datasets]
    there = [value for value in every if value is not None]
    average = sum(there) / len(there) if there and len(there) == len(every) else None
    by_dataset = dict(zip(datasets, every, strict=True))
    return ModelPasses(model=model, k=k, values=by_dataset, average=average, delta=None, gain=None)


def with_difference(row: ModelPasses, other: float | None) -> ModelPasses:
    if row.average is None or other is None:
        return row
    gain = (other - row.average) / row.average if row.average else None
    return structs.replace(row, delta=row.average - other, gain=gain)


def _pass_counts(found: Iterable[ItemPass]) -> Counts:
    counts: Counts = {}
    for one in found:
        key = one.dataset, one.task_id
        n, c = counts.get(key, (0, 0))
        counts[key] = n + (one.passes is not None), c + bool(one.passes)
    return counts


def _pass_rows(counts: Counts, sizes: Sequence[int]) -> list[PassRow]:
    by_dataset = grouped((dataset, count) for (dataset, _), count in counts.items())
    return [_pass_row(dataset, k, found) for dataset, found in by_dataset.items() for k in sizes]


def _pass_row(dataset: str, k: int, counts: Iterable[tuple[int, int]]) -> PassRow:
    import numpy as np

    from workbench.statistics.best_of import mean_interval, pass_at

    size, right = np.array(list(counts), dtype=np.int64).T
    enough = size >= k
    shares = pass_at(k, size[enough], right[enough])
    there = bool(enough.any())
    number = int(size[enough].sum())
    return PassRow(
        dataset=dataset,
        k=k,
        problems=int(enough.sum()),
        fewer=int((~enough).sum()),
        solutions=number,
        value=float(shares.mean()) if there else None,
        ci=mean_interval(shares, number),
    )


# -- How many tests are enough to rank the solutions of a database's problems.


TARGET: Final = 0.90
"""Tests are enough if the interval is at or above this value (Scoring Verifiers, appendix B)."""
MIN_TESTS: Final = 15
"""Problems with fewer tests are excluded: k of them would be nearly all."""
SIZES: Final = tuple(range(1, 11))
"""The k in the paper's table."""
DEFINITION: Final = "workbench-1"
"""Name of our definition (`statistics.ranking.saturation`): the paper doesn't specify the sampling."""


def saturation(
    project: Project,
    truth: Truth,
    *,
    selection: Selection | None = None,
    sizes: Sequence[int] = SIZES,
    resamples: int = 100,
    seed: int = 0,
) -> SaturationReport:
    """Return Spearman's coefficient between scores on k tests and on all tests, for each k.

    Args:
        truth: The source of outcomes; all its suites together.
        selection: Use only these solutions.
        sizes: The k, ascending, each from 1 to `MIN_TESTS`.
        resamples: Number of draws of tests, at least two.

    Raises:
        UsageError: The selection names something unknown.
    """
    found: list[FloatArray] = []
    left_out: Counter[str] = Counter()
    for problem in outcomes_by_problem(project, truth, selection):
        run = _without_broken_tests([one.outcomes for one in problem.solutions if one.complete])
        why = _exclusion_reason(run)
        if why is None:
            found.append(_correlations(problem, run, sizes, resamples, seed))
        else:
            left_out[why] += 1
    rows = _saturation_rows(found, sizes)
    return SaturationReport(
        definition=DEFINITION,
        problems=len(found),
        few_tests=left_out["few_tests"],
        one_score=left_out["one_score"],
        least_tests=MIN_TESTS,
        target=TARGET,
        enough=next((row.k for row in rows if row.ci[0] >= TARGET), None),
        rows=rows,
        suites=list(truth.suites),
        truth=truth.name,
        truth_runs=truth.runs,
        resamples=resamples,
        seed=seed,
    )


def _without_broken_tests(run: Sequence[str]) -> list[str]:
    kept = [place for place, letters in enumerate(zip(*run, strict=True)) if BROKEN not in letters]
    return ["".join(outcomes[place] for place in kept) for outcomes in run]


def _exclusion_reason(run: Sequence[str]) -> str | None:
    if not run or len(run[0]) < MIN_TESTS:
        return "few_tests"
    return "one_score" if len({outcomes.count(PASS) for outcomes in run}) < 2 else None


def _correlations(
    problem: ProblemOutcomes, run: Sequence[str], sizes: Sequence[int], resamples: int, seed: int
) -> FloatArray:
    import numpy as np

    from workbench.statistics.ranking import correlations

    passes = np.array([[letter == PASS for letter in outcomes] for outcomes in run], dtype=np.bool_)
    name = f"{problem.dataset}\0{problem.task_id}"
    return correlations(passes, sizes, resamples=resamples, seed=seed, name=name)


def _saturation_rows(found: Sequence[FloatArray], sizes: Sequence[int]) -> list[SaturationRow]:
    import numpy as np

    from workbench.statistics.ranking import saturation as of_size

    if not found:
        return []
    every = np.stack(found)
    return [SaturationRow(k=k, **of_size(every[:, :, place])._asdict()) for place, k in enumerate(sizes)]


# -- Distributions of the scores of a selection, and test outcomes: figures 3 to 5 and appendix C of the paper.


BINS: Final = 20
"""Number of bins of scores from 0 to 1."""


def histograms(
    sets: Iterable[SelectedSet], counts: Mapping[int, int] = {}, given: Mapping[str, list[SelectedScores]] = {}
) -> list[HistogramReport]:
    """Return histograms of the selections by data set; problems without a selection don't count.

    Args:
        counts: Number of tests of each problem, by row id (`tests_of_problems`).
        given: Verifiers' scores of the same solutions, by data set (`scores_of_selected`).
    """
    by_dataset = grouped((one.line.dataset or "", one) for one in sets if one.picked.ranked)
    found = (_histogram(dataset, there, counts) for dataset, there in by_dataset.items())
    return [structs.replace(one, given=given.get(one.dataset, [])) for one in found]


def tests_of_problems(project: Project, truth: Truth, sets: Iterable[SelectedSet]) -> dict[int, int]:
    questions = [one.problem.question for one in sets if one.problem is not None]
    found = tests.test_counts(project.database.reader(), "question", questions, truth.suites or DEFAULT_SUITES)
    return {question: sum(by_suite.values()) for question, by_suite in found.items()}


def scores_of_selected(
    project: Project, truth: Truth, sets: Sequence[SelectedSet], verifiers: Sequence[str]
) -> dict[str, list[SelectedScores]]:
    """Return verifiers' scores of the selected solutions, by data set.

    Raises:
        UsageError: A verifier has no scores, or scores that are not shares.
    """
    chosen = named_raters(raters(project, truth), verifiers)
    items: dict[str, list[int]] = {}
    for one in sets:
        if one.problem is not None and one.picked.ranked:
            there: dict[Id, int] = {solution.solution_id: solution.item for solution in one.problem.solutions}
            items.setdefault(one.line.dataset or "", []).extend(there[key] for key in one.line.selected)
    return {dataset: [_scores_of_rater(project, rater, these) for rater in chosen] for dataset, these in items.items()}


def _scores_of_rater(project: Project, rater: Rater, items: Sequence[int]) -> SelectedScores:
    import numpy as np

    from workbench.statistics.confusion import align, defined

    known = columns(project)
    score = known.score(rater.run)
    of_all = np.full(len(known.item), np.nan) if score is None else score
    there = align(np.array(items, dtype=np.int64), known.item, of_all, np.float64("nan")).tolist()
    given = [one for one in map(defined, there) if one is not None]
    if any(not 0 <= one <= 1 for one in given):
        raise UsageError(f"The scores of {rater.name} are not shares from 0 to 1, so no histogram can be drawn.")
    return SelectedScores(
        verifier=rater.name,
        run=rater.run,
        solutions=len(given),
        without=len(items) - len(given),
        mean_score=sum(given) / len(given) if given else None,
        scores=_histogram_bins(given),
    )


def outcome_shares(project: Project, selection: Selection | None = None) -> list[OutcomeShares]:
    """Return shares of test outcomes, by complete run, suite and data set.

    Raises:
        UsageError: The selection names something unknown.
    """
    counts = tests.outcome_counts(project.database.reader(), selection or Selection())
    found = grouped(((one.verifier, one.run, one.suite, one.dataset), one) for one in counts)
    return [
        OutcomeShares(
            verifier=verifier,
            run=run,
            suite=suite,
            dataset=dataset,
            every=_shares_of_tests(parts),
            ground_truth=_shares_of_tests(flagged) if (flagged := [part for part in parts if part.flagged]) else None,
        )
        for (verifier, run, suite, dataset), parts in found.items()
    ]


def _histogram(dataset: str, sets: Sequence[SelectedSet], counts: Mapping[int, int]) -> HistogramReport:
    by_problem = [[one.score for one in problem.picked.ranked] for problem in sets]
    known = [counts[one.problem.question] for one in sets if one.problem and one.problem.question in counts]
    scores = [score for problem in by_problem for score in problem]
    return HistogramReport(
        dataset=dataset,
        problems=len(sets),
        solutions=len(scores),
        mean_score=sum(scores) / len(scores),
        scores=_histogram_bins(scores),
        gaps=_histogram_bins([max(problem) - min(problem) for problem in by_problem]),
        sizes=dict(sorted(Counter(map(len, by_problem)).items())),
        mean_tests=sum(known) / len(known) if known else None,
    )


def _histogram_bins(values: Sequence[float]) -> Bins:
    counts = [0] * BINS
    for value in values:
        counts[min(int(round(value * BINS, 9)), BINS - 1)] += 1
    return Bins(edges=[place / BINS for place in range(BINS + 1)], counts=counts)


def _shares_of_tests(parts: Sequence[tests.OutcomeCounts]) -> SharesOfTests:
    tests, passed, assertion = (sum(getattr(part, name) for part in parts) for name in ("tests", "passed", "assertion"))
    return SharesOfTests(
        solutions=sum(part.solutions for part in parts),
        tests=tests,
        passed=passed / tests if tests else None,
        assertion=assertion / tests if tests else None,
        other=(tests - passed - assertion) / tests if tests else None,
    )
