"""How the scores of a selection are spread, and what came of tests: figures 3 to 5 and appendix C of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from workbench.coding.ranking.selecting import SelectedSet
from workbench.coding.records.figures import Bins, HistogramReport, OutcomeShares, SharesOfTests
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.data.store import solutions
from workbench.statistics.records.candidates import Picked

BINS: Final = 20
"""Bins of scores from 0 to 1."""


def histograms(sets: Iterable[SelectedSet]) -> list[HistogramReport]:
    """Histograms of what was selected, one a data set; problems with nothing selected don't count."""
    by_dataset: dict[str, list[Picked]] = {}
    for one in sets:
        if one.picked.ranked:
            by_dataset.setdefault(one.line.dataset or "", []).append(one.picked)
    return [_histogram(dataset, picked) for dataset, picked in by_dataset.items()]


def outcome_shares(project: Project, selection: Selection | None = None) -> list[OutcomeShares]:
    """What came of tests, by run that has been complete, suite and data set.

    Raises:
        UsageError: The selection names something unknown.
    """
    found: dict[tuple[str, int, str, str], list[solutions.OutcomeCounts]] = {}
    for one in solutions.outcome_counts(project.database.reader(), selection or Selection()):
        found.setdefault((one.verifier, one.run, one.suite, one.dataset), []).append(one)
    return [
        OutcomeShares(
            verifier=verifier,
            run=run,
            suite=suite,
            dataset=dataset,
            every=_share(parts),
            ground_truth=_share(flagged) if (flagged := [part for part in parts if part.flagged]) else None,
        )
        for (verifier, run, suite, dataset), parts in found.items()
    ]


def _histogram(dataset: str, picked: Sequence[Picked]) -> HistogramReport:
    by_problem = [[one.score for one in problem.ranked] for problem in picked]
    scores = [score for problem in by_problem for score in problem]
    return HistogramReport(
        dataset=dataset,
        problems=len(picked),
        solutions=len(scores),
        mean_score=sum(scores) / len(scores),
        scores=_bins(scores),
        gaps=_bins([max(problem) - min(problem) for problem in by_problem]),
        sizes=dict(sorted(Counter(map(len, by_problem)).items())),
    )


def _bins(values: Sequence[float]) -> Bins:
    """Values by bin; what is a bin's edge but for rounding is in the bin that begins there."""
    counts = [0] * BINS
    for value in values:
        counts[min(int(round(value * BINS, 9)), BINS - 1)] += 1
    return Bins(edges=[place / BINS for place in range(BINS + 1)], counts=counts)


def _share(parts: Sequence[solutions.OutcomeCounts]) -> SharesOfTests:
    tests, passed, assertion = (sum(getattr(part, name) for part in parts) for name in ("tests", "passed", "assertion"))
    return SharesOfTests(
        solutions=sum(part.solutions for part in parts),
        tests=tests,
        passed=passed / tests if tests else None,
        assertion=assertion / tests if tests else None,
        other=(tests - passed - assertion) / tests if tests else None,
    )
