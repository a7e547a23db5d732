"""Compares two verifiers on the same items: numbers of items that each judges correctly, p-values and intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np
from msgspec import structs

from workbench.statistics.accuracy import group_order
from workbench.statistics.agreement.coefficients import divide_or_nan
from workbench.statistics.confusion import BoolArray, FloatArray, Graded, IntArray
from workbench.statistics.detecting import detectable
from workbench.statistics.intervals import (
    Ends,
    compact,
    countable,
    design_effects,
    has_enough_clusters,
    is_seldom,
    share_ends,
)
from workbench.statistics.rates import class_rates, mcc_intervals
from workbench.statistics.records.comparison import GroupComparison, Metric, MetricDifference, PairedFigures
from workbench.statistics.subgroups import benjamini_hochberg

# -- The exact paired permutation test, computed from the non-negligible angles of a Fourier transform.


_SMALLEST_P = 1e-12
"""p-value below which the sums of a Fourier transform are rounding errors."""
_DECIMALS = 14
"""Decimals beyond which the sums of a Fourier transform differ between processors."""
_MIN_LOG_PRODUCT = log(1e-19)
"""Log of the product below which angles together change no value by 1e-16."""
_ROUNDING = 1e-12
_CELLS = 1_024
"""Initial number of intervals of angles; each interval that is kept is split into `_PARTS`, down to single angles."""
_PARTS = 4


def permutation(sums: IntArray) -> float:
    """Run the exact two-sided paired permutation test that swaps A and B in all items of a question at once.

    The p-value is P(|sum ± S_g| >= |sum S_g|) over all choices of signs. The characteristic function of the signed sum
    is the product of cos(S_g t). The probability of a sum at least as large is the inverse Fourier transform summed
    over these values: over the angles t, the sum of the product times a difference of Dirichlet kernels. Angles with a
    negligible product are left out: with thousands of questions that is nearly all of them. With one item in each
    question it is McNemar's exact test. The result is rounded to 14 decimals and is at least 1e-12. Source: Fisher,
    "The Design of Experiments", 1935, section 21, with questions as the units.

    Args:
        sums: S_g for each question: the number of its items that only A judges correctly minus the number that only B
            judges correctly.
    """
    sizes, counts = np.unique(np.abs(sums[sums != 0]).astype(np.int64), return_counts=True)
    observed, largest = abs(int(sums.sum())), int((sizes * counts).sum())
    if observed == 0:
        return 1.0
    points = 1 << (2 * largest).bit_length()
    angle = angles(sizes, counts, points)
    transform = np.where((angle == 0) | (angle == points // 2), 1.0, 2.0)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        transform *= np.cos(_angle_radians(size * angle, points)) ** count
    chance = 2 * float(transform @ _dirichlet_sum(angle, observed, largest, points)) / points
    return float(np.clip(round(chance, _DECIMALS), _SMALLEST_P, 1))


def angles(sizes: IntArray, counts: IntArray, points: int) -> IntArray:
    """Return the j, 0 <= j <= points / 2, of the angles j · 2π / points at which the product of cos(size · angle) **
    count is not negligible.

    An interval of angles is dropped once none of its angles can contribute; the others are split into parts.

    Args:
        sizes: Positive integers.
        counts: How often each size is a factor.
        points: A power of 2.
    """
    last = points // 2
    width = max(1, last // _CELLS)
    first = np.arange(0, last + 1, width)
    while True:
        first = first[_max_log_product(first, width, sizes, counts, points) >= _MIN_LOG_PRODUCT]
        if width == 1:
            return first
        parts = min(_PARTS, width)
        width //= parts
        first = (first[:, None] + np.arange(parts) * width).ravel()
        first = first[first <= last]


def _max_log_product(first: IntArray, width: int, sizes: IntArray, counts: IntArray, points: int) -> FloatArray:
    found = np.zeros(len(first))
    middle, reach = first + (width - 1) / 2, (width - 1) / 2
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        # In half turns: |cos| is 1 at integers. ``away`` is the least distance of the interval from an integer.
        turned = size * middle * (2 / points)
        away = np.maximum(np.abs(turned - np.rint(turned)) - size * reach * (2 / points), 0.0)
        found += count * np.log(np.cos(pi * away))
    return found


def _dirichlet_sum(angle: IntArray, first: int, last: int, points: int) -> FloatArray:
    found = np.full(len(angle), float(last - first + 1))
    turning = angle > 0
    half = angle[turning]
    # Doubling the points halves the angle; integers keep it exact.
    ends = [np.sin(_angle_radians((2 * k + 1) * half, 2 * points)) for k in (last, first - 1)]
    found[turning] = (ends[0] - ends[1]) / (2 * np.sin(half * (pi / points)))
    return found


def _angle_radians(place: IntArray, points: int) -> FloatArray:
    return np.asarray(place % points * (2 * pi / points), dtype=np.float64)


class Quadrants(NamedTuple):
    """The items that both, only A, only B or neither of two verifiers judge correctly, as masks."""

    both_right: BoolArray
    only_a: BoolArray
    only_b: BoolArray
    both_wrong: BoolArray

    def of(self, kept: BoolArray | IntArray) -> Quadrants:
        return Quadrants(*(cell[kept] for cell in self))


class ComparisonPower(NamedTuple):
    """The power of a paired comparison.

    Attributes:
        n: Number of items that count for both verifiers.
        discordance: Share of them that only one of the two judges correctly.
        detectable: The minimum detectable difference, see `detecting.detectable`; None if it can't be estimated.
    """

    n: int
    discordance: float
    detectable: float | None


def quadrants(right_a: BoolArray, right_b: BoolArray) -> Quadrants:
    return Quadrants(right_a & right_b, right_a & ~right_b, ~right_a & right_b, ~(right_a | right_b))


def compare(cells: Quadrants, question: IntArray) -> PairedFigures:
    """Compute all metrics of a paired comparison.

    Args:
        cells: The items by the verifiers that judge them correctly.
        question: Each item's question; questions are the clusters.

    Raises:
        ValueError: There are no items.
    """
    if len(question) == 0:
        raise ValueError("a comparison on no items is undefined")
    right_a, right_b = cells.both_right | cells.only_a, cells.both_right | cells.only_b
    return _paired_figures(_count_by_question(right_a, right_b, None, question))


def compare_counted(table: IntArray) -> PairedFigures | None:
    """Run `compare` from each question's counts of items that neither, only B, only A and both judge correctly; None
    without items.
    """
    there = table.any(axis=1)
    return _paired_figures(table[there]) if there.any() else None


def _paired_figures(table: IntArray) -> PairedFigures:
    both_wrong, only_b, only_a, both_right = table.sum(axis=0).tolist()
    sizes, (_, b_alone, a_alone, _) = table.sum(axis=1), table.T
    n = int(sizes.sum())
    return PairedFigures(
        n=n,
        both_right=both_right,
        only_a=only_a,
        only_b=only_b,
        both_wrong=both_wrong,
        mcnemar_p=mcnemar(only_a, only_b) if (a_alone + b_alone).max() <= 1 else None,
        difference=(only_a - only_b) / n,
        ci=difference_interval(sizes, a_alone, b_alone),
        questions=len(sizes),
        deff=difference_deff(sizes, a_alone - b_alone, only_a, only_b),
        permutation_p=permutation(a_alone - b_alone),
        detectable=detectable(sizes, a_alone, b_alone),
    )


def power(a: Graded, b: Graded, question: IntArray) -> ComparisonPower | None:
    """Return the power of a comparison on the items that count for both: only that part of `compare_graded`.

    Args:
        question: Each item's question; questions are the clusters.
    """
    table = _count_by_question(a.right, b.right, a.counted & b.counted, question)
    sizes, (_, b_alone, a_alone, _) = table.sum(axis=1), table.T
    only_a, only_b, n = int(a_alone.sum()), int(b_alone.sum()), int(sizes.sum())
    return None if n == 0 else ComparisonPower(n, (only_a + only_b) / n, detectable(sizes, a_alone, b_alone))


def compare_graded(a: Graded, b: Graded, question: IntArray) -> PairedFigures | None:
    """Run `compare` on the items that count for both verifiers; None without such items."""
    table = _count_by_question(a.right, b.right, a.counted & b.counted, question)
    return _paired_figures(table) if len(table) else None


def compare_groups(
    cells: Quadrants, question: IntArray, group: IntArray, names: Sequence[str]
) -> list[GroupComparison]:
    """Run the comparison in each group that has items, in the order of `group_order`; q-values are adjusted over all
    these groups.

    Args:
        cells: The items by the verifiers that judge them correctly.
        question: Each item's question.
        group: Each item's group, a position in ``names``.
        names: The groups' names.
    """
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=len(names)))
    parts = {name: rows for name, rows in zip(names, np.split(order, ends[:-1]), strict=True) if len(rows)}
    found = {name: compare(cells.of(parts[name]), question[parts[name]]) for name in sorted(parts, key=group_order)}
    adjusted = benjamini_hochberg([figures.permutation_p for figures in found.values()])
    return [
        GroupComparison(**structs.asdict(figures), group=name, q=q)
        for (name, figures), q in zip(found.items(), adjusted, strict=True)
    ]


def mcnemar(only_a: int, only_b: int) -> float:
    """Return McNemar's exact conditional p-value, two-sided: min(1, 2 P(X <= min(b, c))), X ~ Binomial(b + c, 1/2),
    with b = ``only_a`` and c = ``only_b``.

    Source: McNemar, "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 12, 1947, with the binomial instead of its approximation.
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))


def difference_deff(sizes: IntArray, sums: IntArray, only_a: int, only_b: int) -> float:
    """Return the factor by which clusters raise the variance of a paired difference, at least 1.

    With n items in G questions of size m_g, each item's difference +1, 0 or -1, their sum S_g over a question, b =
    ``only_a``, c = ``only_b`` and d = (b - c) / n: SE_c = sqrt(G / (G - 1) * sum (S_g - m_g d)²) / n, SE = sqrt(((b +
    c) / n - d²) / n) and deff = max(1,
    (SE_c / SE)²); 1 when all items have the same difference or G < 2. Source: Cochran, "Sampling Techniques", 3rd
    edition, 1977, chapter 9 (clusters of unequal size).
    """
    n, clusters = int(sizes.sum()), len(sizes)
    d = (only_a - only_b) / n
    spread = only_a + only_b - n * d * d
    if clusters < 2 or spread <= 0:
        return 1.0
    squares = float(((sums - sizes * d) ** 2).sum())
    return max(1.0, clusters / (clusters - 1) * squares / spread)


def difference_interval(sizes: IntArray, only_a: IntArray, only_b: IntArray) -> Ends:
    """Return the 95 % interval of A's accuracy minus B's, from the intervals of the shares that only one judges
    correctly.

    b and c are the shares of items that only A and only B judge correctly. The lower end of d = b - c is d - sqrt(u² +
    v² - 2 r u v): u is the distance of b to its lower end and v that of c to its upper end, both by `share_ends`; r is
    the correlation of b and c over questions. The upper end is analogous. The possible number of discordant items
    limits the interval: if the two never differ in n items, it ends where the interval of c = 0 of n does. A positive
    r, which occurs if the two differ in both directions on the same questions, is replaced by 0: estimated from few
    questions it makes intervals too narrow. If too few questions differ in one direction to estimate r, or nearly all
    do, r is at most the correlation of mutually exclusive shares at these ends, -min(1, sqrt(b c / ((1 - b) (1 -
    c)))): if nearly all items are discordant, A gains what B loses. Source: Newcombe, "Improved confidence intervals
    for the difference
    between binomial proportions based on paired data", Statistics in Medicine 17, 1998, generalised by Zou and Donner
    to any two shares (Statistics in Medicine 27, 2008), with clustered intervals of each share.

    Args:
        sizes: Items of each question, at least one.
        only_a: Items of each question that only A judges correctly.
        only_b: Items of each question that only B judges correctly.
    """
    return _combined_ends(
        _shares(np.stack([only_a, only_b]), np.stack([sizes, sizes])), lambda share: float(share[0] - share[1])
    )


class _Shares(NamedTuple):
    """Shares of the same questions' items with their 95 % intervals, one value for each share.

    Attributes:
        correlation: Correlation of the shares' errors over questions.
        seldom: Whether too few questions count towards the share, or nearly all do, to estimate a correlation.
        enough: Whether there are enough questions for an interval.
    """

    share: FloatArray
    low: FloatArray
    high: FloatArray
    correlation: FloatArray
    seldom: BoolArray
    enough: BoolArray


def _shares(counts: IntArray, sizes: IntArray) -> _Shares:
    number, questions = counts.shape
    known = design_effects(sizes.ravel(), counts.ravel(), np.repeat(np.arange(number), questions), number)
    n = sizes.sum(axis=1)
    share = counts.sum(axis=1) / np.maximum(n, 1)
    deviation = counts - sizes * share[:, None]
    products = deviation @ deviation.T
    spread = np.sqrt(np.outer(products.diagonal(), products.diagonal()))
    correlation = np.divide(products, spread, out=np.zeros_like(products), where=spread > 0)
    np.fill_diagonal(correlation, 1.0)
    ends = share_ends(counts.sum(axis=1), n, known)
    return _Shares(share, *ends, correlation, is_seldom(share, known), has_enough_clusters(known))


def _combined_ends(known: _Shares, figure: Callable[[FloatArray], float]) -> Ends:
    """Return the ends of the interval of a function of shares, from -1 to 1: the function's value ± sqrt(sum r d d')
    over all pairs of shares; see `rates`.

    d is the change of the function if one share alone moves to the end of its interval that moves the function in that
    direction. Pairs of shares whose correlation would make the interval narrower are left out. The first half are
    shares of items that only A judges correctly, the second half the corresponding shares that only B judges
    correctly: for such a pair, r is that of `difference_interval`.
    """
    at = figure(known.share)
    alone = np.eye(len(known.share), dtype=np.bool_)
    opposite = np.roll(alone, len(alone) // 2, axis=0) & (known.seldom | known.seldom[:, None])
    moved = [
        np.array([figure(np.where(one, end, known.share)) - at for one in alone]) for end in (known.low, known.high)
    ]
    ends = []
    for sign in (-1, 1):
        falls = sign * moved[0] > sign * moved[1]
        step = np.maximum(sign * np.where(falls, *moved), 0.0)
        way = np.where(falls, -1, 1)
        end = np.where(falls, known.low, known.high)
        odds = end / np.maximum(1 - end, _ROUNDING)
        exclusive = -np.minimum(np.sqrt(np.outer(odds, odds)), 1.0)
        correlation = np.where(opposite, np.minimum(known.correlation, exclusive), known.correlation)
        products = np.outer(step * way, step * way) * correlation
        ends.append(at + sign * sqrt(float(np.maximum(products, 0.0).sum())))
    return max(-1.0, ends[0]), min(1.0, ends[1])


def _count_by_question(right_a: BoolArray, right_b: BoolArray, kept: BoolArray | None, question: IntArray) -> IntArray:
    # An additional column for items that are left out, so that nothing has to be copied.
    cell = 2 * right_a.astype(np.int8) + right_b
    if kept is not None:
        cell[~kept] = 4
    labels = countable(question)
    number = int(labels.max(initial=-1)) + 1
    table = np.bincount(labels.astype(np.int64, copy=False) * 5 + cell, minlength=5 * number).reshape(-1, 5)[:, :4]
    return table[table.any(axis=1)]


# -- Accuracy, balanced accuracy and Matthews' correlation of two verifiers on the same items, and their
# differences.


Figure = Callable[[FloatArray, FloatArray], FloatArray]
"""Computes a metric of each sample from its correctly judged items and all its items by gold; see `balanced`."""
_PAIRED_CELLS = 8
"""Combinations of gold, whether A is right, and whether B is right."""


class PairedItems(NamedTuple):
    """The items judged by two verifiers, as arrays of equal length.

    Attributes:
        gold: 1 correct, 0 incorrect.
        right_a: Whether A is right.
        right_b: Whether B is right.
        question: The item's question; questions are the clusters.
    """

    gold: IntArray
    right_a: BoolArray
    right_b: BoolArray
    question: IntArray


def metric_differences(items: PairedItems) -> list[MetricDifference]:
    """Return each metric of A and B and their difference with its interval.

    Definitions as in `statistics.accuracy`. The interval of balanced accuracy is combined as in `difference_interval`,
    from four shares: those of incorrect and of correct items that only A and only B judge correctly. For the interval
    of Matthews' correlation see `_matthews_interval`.
    """
    cell = 4 * (items.gold > 0) + 2 * items.right_a + items.right_b
    labels, known = compact(items.question)
    by_question = np.bincount(_PAIRED_CELLS * labels + cell, minlength=_PAIRED_CELLS * len(known)).reshape(-1, 2, 2, 2)
    counts = by_question.sum(axis=0).reshape(1, -1).astype(float)
    sizes = by_question.sum(axis=(2, 3)).T
    only_a, only_b = (by_question[:, :, a, b].T for a, b in ((1, 0), (0, 1)))
    alone = [part.sum(axis=0) for part in (only_a, only_b)]
    shares = _shares(np.concatenate([only_a, only_b]), np.concatenate([sizes, sizes]))
    ends = {
        "accuracy": difference_interval(sizes.sum(axis=0), *alone),
        "balanced_accuracy": _combined_ends(shares, _balanced_difference),
        "mcc": _matthews_interval(by_question),
    }
    carried = bool(shares.enough[:2].all())
    return [
        _metric_difference(
            metric, *_metric_of_both(figure, counts), ends[metric] if carried or metric == "accuracy" else None
        )
        for metric, figure in _FIGURES.items()
    ]


def _balanced_difference(shares: FloatArray) -> float:
    only_a, only_b = shares.reshape(2, 2)
    return float((only_a - only_b).mean())


def _matthews_interval(by_question: IntArray) -> Ends | None:
    """Return the 95 % interval of A's Matthews' correlation minus B's, combined from the intervals of both; None with
    too few questions.

    a and b are the two correlations. The lower end of d = a - b is d - sqrt(u² + v² - 2 r u v): u is the distance of a
    to its lower end, v that of b to its upper end, and r the correlation of a and b when one question at a time is
    left out. The upper end is analogous. To keep r below 1 for two verifiers that never differ, r is computed with
    additional questions: for each class, one that only A judges correctly and one that only B does. Sources: Zou,
    "Toward using confidence intervals to compare correlations", Psychological Methods 12,
    2007; Efron and Stein, "The jackknife estimate of variance", Annals of Statistics 9, 1981, for r.

    Args:
        by_question: Number of items by question, gold, whether A is right and whether B is right.
    """
    questions = len(by_question)
    whole = np.zeros(questions, dtype=np.int64)
    ends = [end for axis in (3, 2) for end in mcc_intervals(class_rates(by_question.sum(axis=axis), whole, 1)) if end]
    if len(ends) < 2:
        return None
    counts = by_question.reshape(questions, -1).astype(float)
    a, b = (one.item() for one in _metric_of_both(matthews, counts.sum(axis=0, keepdims=True)))
    counts = np.concatenate([counts, _extra_differing_questions(by_question)])
    covariance = np.cov(*_metric_of_both(matthews, counts.sum(axis=0) - counts))
    spread = float(np.sqrt(covariance[0, 0] * covariance[1, 1]))
    r = float(covariance[0, 1]) / spread if spread > 0 else 0.0
    (a_low, a_high), (b_low, b_high) = ends
    below, above = (a - a_low, b_high - b), (a_high - a, b - b_low)
    reach = [sqrt(max(u * u + v * v - 2 * r * u * v, 0.0)) for u, v in (below, above)]
    return max(a - b - reach[0], -2.0), min(a - b + reach[1], 2.0)


def _extra_differing_questions(by_question: IntArray) -> FloatArray:
    of_class = by_question.sum(axis=(2, 3))
    size = of_class.sum(axis=0) / np.maximum(np.count_nonzero(of_class, axis=0), 1)
    found = np.zeros((4, 2, 2, 2))
    for gold in (0, 1):
        found[2 * gold, gold, 1, 0] = found[2 * gold + 1, gold, 0, 1] = size[gold]
    return found.reshape(4, -1)


def _metric_difference(metric: Metric, a: FloatArray, b: FloatArray, ends: Ends | None) -> MetricDifference:
    ours, theirs = a.item(), b.item()
    if ours != ours or theirs != theirs:
        return MetricDifference(metric=metric, a=None, b=None, difference=None)
    return MetricDifference(metric=metric, a=ours, b=theirs, difference=ours - theirs, ci=ends)


def _metric_of_both(figure: Figure, totals: FloatArray) -> tuple[FloatArray, FloatArray]:
    counts = totals.reshape(-1, 2, 2, 2)
    of_gold = counts.sum(axis=(2, 3))
    return figure(counts[:, :, 1, :].sum(axis=2), of_gold), figure(counts[:, :, :, 1].sum(axis=2), of_gold)


def _accuracy(right: FloatArray, of_gold: FloatArray) -> FloatArray:
    return divide_or_nan(right.sum(axis=1), of_gold.sum(axis=1))


def balanced(right: FloatArray, of_gold: FloatArray) -> FloatArray:
    """Return the balanced accuracy of each sample, NaN where gold lacks a class.

    Args:
        right: Number of correctly judged items with gold incorrect, and with gold correct: samples x 2.
        of_gold: Number of all items with gold incorrect, and with gold correct: samples x 2.
    """
    return np.asarray(divide_or_nan(right, of_gold).mean(axis=1))


def matthews(right: FloatArray, of_gold: FloatArray) -> FloatArray:
    """Return Matthews' correlation of each sample: NaN if gold lacks a class, 0 if all verdicts are the same.

    For the arguments see `balanced`.
    """
    (tn, tp), (fp, fn) = right.T, (of_gold - right).T
    below = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return np.where(of_gold.all(axis=1), np.nan_to_num(divide_or_nan(tp * tn - fp * fn, below)), np.nan)


_FIGURES: dict[Metric, Figure] = {"accuracy": _accuracy, "balanced_accuracy": balanced, "mcc": matthews}
