"""Correlation of a verifier's scores with gold: Kendall, Pearson and Spearman, over all rows and by question."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from math import factorial
from typing import Final

import numpy as np
from msgspec import Struct

from workbench.statistics.bootstrap import percentiles
from workbench.statistics.confusion import FloatArray, IntArray
from workbench.statistics.records.combined import Association

METHODS: Final = ("kendall", "pearson", "spearman")


class Correlation(Struct, frozen=True, kw_only=True):
    """One coefficient, from -1 to 1.

    Attributes:
        corpus: Coefficient over all rows; None if scores or labels don't vary.
        mean: Mean of the groups' coefficients; None if no group has a coefficient.
        defined: Number of groups with a coefficient: both their scores and their labels vary.
        groups: Number of groups with at least one row.
    """

    corpus: float | None
    mean: float | None
    defined: int
    groups: int


def correlations(score: FloatArray, gold: IntArray, group: IntArray) -> dict[str, Correlation]:
    """Return Kendall's tau-b, Pearson's r and Spearman's rho between scores and gold labels, by name.

    The mean over groups covers those in which the coefficient is defined, like the example-level mean of ICE-Score
    (arXiv 2304.14317).

    Args:
        score: One score for each row, in any unit; rows with NaN (no score) don't count.
        gold: 1 correct, 0 incorrect; rows with -1 (no gold) don't count.
        group: Each row's group, such as its question.
    """
    kept = (gold >= 0) & ~np.isnan(score)
    score, gold, group = score[kept], gold[kept], group[kept]
    order = np.argsort(group, kind="stable")
    rows = np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else []
    found = {}
    for method in METHODS:
        own = [one for row in rows if (one := _coefficient(method, score[row], gold[row])) is not None]
        found[method] = Correlation(
            corpus=_coefficient(method, score, gold),
            mean=float(np.mean(own)) if own else None,
            defined=len(own),
            groups=len(rows),
        )
    return found


def _coefficient(method: str, score: FloatArray, gold: IntArray) -> float | None:
    from scipy import stats

    if len(score) == 0 or np.ptp(score) == 0 or np.ptp(gold) == 0:
        return None
    measure = {"kendall": stats.kendalltau, "pearson": stats.pearsonr, "spearman": stats.spearmanr}[method]
    return float(measure(score, gold).statistic)


# -- Rank correlation of a few objects, such as verifiers: Spearman's rho and Kendall's tau-b, tested by permutation.


SEED = 0
"""Seed of random orders and samples."""
PERMUTATIONS = 10_000
"""Number of random orders if there are too many to enumerate."""
SAMPLES = 2_000
"""Number of bootstrap samples."""
FEWEST = 10
"""Fewest objects for a bootstrap interval: with fewer, too many samples contain only a few distinct ones."""
_MAX_ENUMERATED = 8
_BLOCK = 1 << 22
_NOTHING = 1e-9


class Associations(Struct, frozen=True):
    spearman: Association
    kendall: Association


def is_exact(things: int) -> bool:
    """Return whether the test enumerates every order of this many objects."""
    return things <= _MAX_ENUMERATED


def orders_of(things: int) -> int:
    return factorial(things) if is_exact(things) else PERMUTATIONS


def associations(x: FloatArray, y: FloatArray) -> Associations:
    """Return Spearman's rho and Kendall's tau-b with one-sided p-values and intervals.

    p is the share of orders of ``y`` with a coefficient at least as large as the observed one. If orders are drawn at
    random, the observed order is counted as one of them (Phipson and Smyth, "Permutation p-values should never be
    zero", Statistical Applications in Genetics and
    Molecular Biology 9, 2010). Intervals are by a bootstrap over the pairs of values.

    Args:
        x: One value for each object, such as a verifier's accuracy.
        y: The other value of each object.
    """
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        nothing = Association(coefficient=None, p=None, least_p=None, ci=None)
        return Associations(nothing, nothing)
    signs = signs_of(x), signs_of(y)
    observed = coefficients(signs[0][None], signs[1][None])[0]
    everything = np.arange(len(x))[None]
    shuffled = np.concatenate(
        [_coefficients_of_orders(signs, everything, orders) for orders in _generate_orders(len(x))]
    )
    if not is_exact(len(x)):
        shuffled = np.concatenate([shuffled, observed[None]])
    p = (shuffled >= observed - _NOTHING).mean(axis=0)
    least = (shuffled >= shuffled.max(axis=0) - _NOTHING).mean(axis=0)
    intervals = _intervals(signs, len(x))
    return Associations(
        *(
            Association(coefficient=float(observed[at]), p=float(p[at]), least_p=float(least[at]), ci=intervals[at])
            for at in range(2)
        )
    )


def signs_of(values: FloatArray) -> FloatArray:
    return np.sign(values[:, None] - values[None, :])


def coefficients(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return rho and tau-b from stacked matrices of the signs of pairwise differences, one row for each pair of
    orders; NaN if x or y does not vary."""
    rank_x, rank_y = x.sum(axis=2), y.sum(axis=2)
    over = [(rank_x * rank_y).sum(axis=1), (x * y).sum(axis=(1, 2))]
    under = [
        np.sqrt((rank_x**2).sum(axis=1) * (rank_y**2).sum(axis=1)),
        np.sqrt((x**2).sum(axis=(1, 2)) * (y**2).sum(axis=(1, 2))),
    ]
    with np.errstate(invalid="ignore"):
        found: FloatArray = np.stack(over, axis=1) / np.stack(under, axis=1)
    return found


def _coefficients_of_orders(signs: tuple[FloatArray, FloatArray], of_x: IntArray, of_y: IntArray) -> FloatArray:
    x, y = (matrix[rows[:, :, None], rows[:, None, :]] for matrix, rows in zip(signs, (of_x, of_y), strict=True))
    return coefficients(x, y)


def _generate_orders(things: int) -> Iterator[IntArray]:
    if is_exact(things):
        yield np.array(list(permutations(range(things))))
        return
    generator = np.random.default_rng(SEED)
    for size in _block_sizes(PERMUTATIONS, things):
        yield generator.permuted(np.tile(np.arange(things), (size, 1)), axis=1)


def _intervals(signs: tuple[FloatArray, FloatArray], things: int) -> list[tuple[float, float] | None]:
    if things < FEWEST:
        return [None, None]
    generator = np.random.default_rng(SEED)
    drawn = (generator.integers(things, size=(size, things)) for size in _block_sizes(SAMPLES, things))
    found = np.concatenate([_coefficients_of_orders(signs, sample, sample) for sample in drawn])
    return [percentiles(values).ends for values in found.T]


def _block_sizes(rows: int, things: int) -> Iterator[int]:
    size = max(1, _BLOCK // things**2)
    for start in range(0, rows, size):
        yield min(size, rows - start)
