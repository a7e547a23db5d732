"""Quality of a verifier's ranking and scores of the solutions of problems.

Source: Scoring Verifiers (arXiv 2502.13820), section 4.3, as in its authors' ``evaluate.py``; Kendall's tau-b and R²
are only in that code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from scipy.stats import rankdata

from workbench.statistics.bootstrap import intervals
from workbench.statistics.confusion import BoolArray, FloatArray
from workbench.statistics.correlation import coefficients, signs_of
from workbench.statistics.intervals import student_interval
from workbench.statistics.records.ranking import Ends

_NOTHING = 1e-24
"""Squared difference between scores below which it is rounding."""


class ProblemScores(NamedTuple):
    """The solutions of one problem, at least one; arrays with one value for each solution.

    Attributes:
        rank: The true rank, 1 the best.
        truth: The true score.
        score: The verifier's score, in its own unit.
    """

    rank: FloatArray
    truth: FloatArray
    score: FloatArray


class ProblemRanking(NamedTuple):
    """The metrics of one problem; an undefined coefficient is NaN.

    Attributes:
        top1: Probability that the solution with the highest score is the best one, with ties broken at random.
        bottom1: Probability that the solution with the lowest score is the worst one, with ties broken at random.
        solutions: Number of solutions.
        absolute: Sum of the absolute differences between scores and true scores.
        squared: Sum of the squares of these differences.
        mean: Mean of the true scores.
        spread: Sum of the squared differences between the true scores and their mean.
    """

    top1: float
    bottom1: float
    spearman: float
    kendall: float
    solutions: int
    absolute: float
    squared: float
    mean: float
    spread: float


class MetricFigures(Struct, frozen=True, kw_only=True):
    """Metrics of many problems, by their names in `RankingRow`; each is None without problems."""

    problems: int
    solutions: int
    values: Mapping[str, float | None]
    intervals: Mapping[str, Ends | None]
    spearman_undefined: int
    kendall_undefined: int


def of_problem(problem: ProblemScores, *, shared: bool, normalise: bool) -> ProblemRanking:
    """Compute one problem's metrics.

    Args:
        shared: Whether several solutions may be the best. If True, one of the solutions with the highest score is
            picked at random, which is right if it is one of the best. If False, as in the released code, a tie for the
            highest score that contains a best solution counts 1 / its size, however many best solutions it contains.
            Both are equal if only one solution is the best.
        normalise: Whether to scale the scores to 0 to 1 before comparing them with the true scores; scores that are
            all equal become 0.
    """
    rank, truth, score = problem
    rho, tau = coefficients(signs_of(-rank)[None], signs_of(score)[None])[0]
    predicted = normalised(score) if normalise else score
    return ProblemRanking(
        top1=_tie_credit(score == score.max(), rank == (rank.min() if shared else 1), shared=shared),
        bottom1=_tie_credit(score == score.min(), rank == rank.max(), shared=shared),
        spearman=float(rho),
        kendall=float(tau),
        solutions=len(score),
        absolute=float(np.abs(predicted - truth).sum()),
        squared=float(((predicted - truth) ** 2).sum()),
        mean=float(truth.mean()),
        spread=float(((truth - truth.mean()) ** 2).sum()),
    )


def normalised(score: FloatArray) -> FloatArray:
    """Scale scores from 0 for the lowest to 1 for the highest; scores that are all equal become 0."""
    return np.asarray((score - score.min()) / (float(np.ptp(score)) or 1.0))


def _tie_credit(tied: BoolArray, wanted: BoolArray, *, shared: bool) -> float:
    hit = int((tied & wanted).sum())
    return (hit if shared else min(hit, 1)) / int(tied.sum())


def of_problems(found: Sequence[ProblemRanking], *, samples: int, seed: int) -> MetricFigures:
    """Compute the metrics of a data set with 95 % intervals; an undefined coefficient counts as 0.

    Top-1, Bottom-1 and the coefficients are means over problems; MAE and R² are over all solutions. The intervals are
    percentiles of the bootstrap over problems, all from the same samples.
    """
    columns = np.array(found, dtype=np.float64).reshape(len(found), len(ProblemRanking._fields)).T
    undefined = np.isnan(columns).sum(axis=1).tolist()
    columns = np.nan_to_num(columns, nan=0.0)
    named = dict(zip(ProblemRanking._fields, columns, strict=True))
    measures: dict[str, Callable[[FloatArray], FloatArray]] = {
        **{name: _RatioOfSums(named[name], np.ones(len(found))) for name in ("top1", "bottom1", "spearman", "kendall")},
        "mae": _RatioOfSums(named["absolute"], named["solutions"]),
        "r2": _Determination(named["solutions"], named["squared"], named["mean"], named["spread"]),
    }
    everyone = np.ones((1, len(found)))
    places = np.arange(len(found))
    drawn = intervals(places, len(found), places, measures, samples=samples, seed=seed) if found else {}
    of_field = dict(zip(ProblemRanking._fields, undefined, strict=True))
    return MetricFigures(
        problems=len(found),
        solutions=int(named["solutions"].sum()),
        values={name: float(measure(everyone)[0]) if found else None for name, measure in measures.items()},
        intervals={name: drawn[name].ends if found else None for name in measures},
        spearman_undefined=of_field["spearman"],
        kendall_undefined=of_field["kendall"],
    )


class _RatioOfSums:
    """The ratio of two sums over problems in each bootstrap sample. It is called with the multiplicity of each problem
    in each sample: samples x problems.
    """

    def __init__(self, over: FloatArray, under: FloatArray) -> None:
        self._over, self._under = over, under

    def __call__(self, counts: FloatArray) -> FloatArray:
        return np.asarray((counts @ self._over) / (counts @ self._under))


class _Determination:
    """R² in each bootstrap sample: 1 - sum of squared differences / sum of squares of the true scores about their
    mean; 1 if the latter is 0."""

    def __init__(self, number: FloatArray, squared: FloatArray, mean: FloatArray, spread: FloatArray) -> None:
        # Sums about one value in the middle of all, regardless of the sample: little is lost to rounding.
        off = mean - np.average(mean, weights=number) if len(mean) else mean
        self._sums = (number, squared, number * off, spread + number * off**2)

    def __call__(self, counts: FloatArray) -> FloatArray:
        number, residual, off, squares = (counts @ sums for sums in self._sums)
        total = squares - off**2 / np.maximum(number, 1)
        constant = total <= _NOTHING * number
        return np.where(constant, 1.0, 1 - residual / np.where(constant, 1.0, total))


# -- Saturation: how well rankings by k tests agree with those by all tests.


class Saturation(NamedTuple):
    rho: float
    ci: Ends
    sigma: float
    problems_ci: Ends | None
    undefined: float


def correlations(passes: BoolArray, sizes: Sequence[int], *, resamples: int, seed: int, name: str) -> FloatArray:
    """Return one problem's rank correlations (Spearman) of its solutions by k tests with those by all tests: resamples
    x sizes, NaN where undefined.

    Each resample orders the tests randomly; the first k in this order are used.

    Args:
        passes: Solutions x tests.
        sizes: The values of k, each from 1 to the number of tests.
        seed: Together with ``name``, it determines all draws, independently of other problems.
        name: The problem's unique name.
    """
    solutions, tests = passes.shape
    generator = np.random.default_rng(list(blake2b(f"{seed}\0{name}".encode(), digest_size=16).digest()))
    order = generator.permuted(np.tile(np.arange(tests), (resamples, 1)), axis=1)[:, : max(sizes)]
    passed = np.cumsum(passes[:, order], axis=2, dtype=np.int64)[:, :, np.asarray(sizes) - 1]
    some = rankdata(passed, axis=0) - (solutions + 1) / 2
    every = rankdata(passes.sum(axis=1)) - (solutions + 1) / 2
    over = np.einsum("s,srk->rk", every, some)
    under = np.sqrt((every**2).sum() * (some**2).sum(axis=0))
    with np.errstate(invalid="ignore"):
        found: FloatArray = over / under
    return found


def saturation(coefficients: FloatArray) -> Saturation:
    """Summarize the coefficients for one k.

    ``ci`` is Student's interval for the mean over resamples, as the widths in the paper imply; it measures the
    precision of the mean for these problems. ``problems_ci`` is Student's interval over problems.

    Args:
        coefficients: Problems x resamples, NaN where undefined; at least one problem and two resamples.
    """
    counted = np.nan_to_num(coefficients, nan=0.0)
    means = counted.mean(axis=0)
    rho = float(means.mean())
    return Saturation(
        rho=rho,
        ci=student_interval(means) or (rho, rho),
        sigma=float(means.std(ddof=1)),
        problems_ci=student_interval(counted.mean(axis=1)),
        undefined=float(np.isnan(coefficients).mean()),
    )
