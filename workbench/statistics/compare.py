"""Two verifiers on the same items: who is right where, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from msgspec import structs

from workbench.statistics.accuracy import group_order
from workbench.statistics.arrays import BoolArray, IntArray
from workbench.statistics.confusion import Graded
from workbench.statistics.intervals import Z95, compact
from workbench.statistics.multiplicity import benjamini_hochberg
from workbench.statistics.permuting import permutation
from workbench.statistics.records.comparison import GroupFigures, PairedFigures

Z80 = 0.8416212335729143
"""The 0.8 quantile of the standard normal distribution."""


class Quadrants(NamedTuple):
    """Where each of two verifiers is right: masks over the items."""

    both_right: BoolArray
    only_a: BoolArray
    only_b: BoolArray
    both_wrong: BoolArray

    def of(self, kept: BoolArray | IntArray) -> Quadrants:
        """The cells of some of the items."""
        return Quadrants(*(cell[kept] for cell in self))


class ComparisonPower(NamedTuple):
    """What a paired comparison could show.

    Attributes:
        n: Items both are counted on.
        discordance: Share of them only one of the two judges rightly.
        detectable: As `detectable`, with the clusters' design effect.
    """

    n: int
    discordance: float
    detectable: float | None


def quadrants(right_a: BoolArray, right_b: BoolArray) -> Quadrants:
    """The four cells of the paired table."""
    return Quadrants(right_a & right_b, right_a & ~right_b, ~right_a & right_b, ~(right_a | right_b))


def compare(cells: Quadrants, question: IntArray) -> PairedFigures:
    """All figures of a paired comparison.

    Args:
        cells: The items by who is right.
        question: Each item's question; questions are the clusters.

    Raises:
        ValueError: There are no items.
    """
    n = len(question)
    if n == 0:
        raise ValueError("a comparison on no items is undefined")
    both_right, only_a, only_b, both_wrong = (int(np.count_nonzero(cell)) for cell in cells)
    sizes, sums = _by_question(cells, question)
    deff = difference_deff(sizes, sums, only_a, only_b)
    return PairedFigures(
        n=n,
        both_right=both_right,
        only_a=only_a,
        only_b=only_b,
        both_wrong=both_wrong,
        mcnemar_p=mcnemar(only_a, only_b),
        difference=(only_a - only_b) / n,
        ci=difference_interval(only_a / deff, only_b / deff, n / deff),
        questions=len(sizes),
        deff=deff,
        permutation_p=permutation(sums),
        detectable=detectable((only_a + only_b) / n, n / deff),
    )


def power(cells: Quadrants, question: IntArray) -> ComparisonPower:
    """What a comparison of these items could show; of `compare` only that.

    Args:
        cells: The items by who is right.
        question: Each item's question; questions are the clusters.
    """
    only_a, only_b = int(np.count_nonzero(cells.only_a)), int(np.count_nonzero(cells.only_b))
    discordance, n = (only_a + only_b) / len(question), len(question)
    deff = difference_deff(*_by_question(cells, question), only_a, only_b)
    return ComparisonPower(n, discordance, detectable(discordance, n / deff))


def compare_graded(a: Graded, b: Graded, question: IntArray) -> PairedFigures | None:
    """`compare` on the items that count for both verifiers; None where none does."""
    both = a.counted & b.counted
    return compare(quadrants(a.right[both], b.right[both]), question[both]) if both.any() else None


def compare_groups(cells: Quadrants, question: IntArray, group: IntArray, names: Sequence[str]) -> list[GroupFigures]:
    """The same in each group that has items, in the order of `group_order`; q-values over all of them.

    Args:
        cells: The items by who is right.
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
        GroupFigures(**structs.asdict(figures), group=name, q=q)
        for (name, figures), q in zip(found.items(), adjusted, strict=True)
    ]


def mcnemar(only_a: int, only_b: int) -> float:
    """McNemar's exact conditional test, two-sided: min(1, 2 P(X <= min(b, c))), X ~ Binomial(b + c, 1/2).

    Source: McNemar, "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 12, 1947, with the binomial instead of its approximation.
    """
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))


def difference_deff(sizes: IntArray, sums: IntArray, only_a: int, only_b: int) -> float:
    """The factor by which clusters raise the variance of a paired difference, at least 1.

    With n items in G questions of size m_g, each item's difference +1, 0 or -1, their sum S_g a question and
    d = (b - c) / n: SE_c = sqrt(G / (G - 1) * sum (S_g - m_g d)²) / n, SE = sqrt(((b + c) / n - d²) / n) and
    deff = max(1, (SE_c / SE)²); 1 when all items differ alike or G < 2.
    Source: Cochran, "Sampling Techniques", 3rd edition, 1977, chapter 9 (clusters of unequal size).
    """
    n, clusters = int(sizes.sum()), len(sizes)
    d = (only_a - only_b) / n
    spread = only_a + only_b - n * d * d
    if clusters < 2 or spread <= 0:
        return 1.0
    squares = float(((sums - sizes * d) ** 2).sum())
    return max(1.0, clusters / (clusters - 1) * squares / spread)


def difference_interval(only_a: float, only_b: float, n: float) -> tuple[float, float]:
    """Agresti and Min's 95 % interval for a difference of paired proportions; counts may be fractional.

    One half is added to each cell of the table: with N = n + 2 and d = (b - c) / N it is
    d ± z sqrt(b + c + 1 - (b - c)² / N) / N, cut at -1 and 1. Where verifiers seldom differ it keeps 95 %
    coverage, and without any difference it has a width, unlike d ± z SE.
    Source: Agresti and Min, "Simple improved confidence intervals for comparing matched proportions",
    Statistics in Medicine 24, 2005. Clusters enter as effective counts, each divided by the design effect:
    Rao and Scott, "A simple method for the analysis of clustered binary data", Biometrics 48, 1992.
    """
    enlarged = n + 2
    centre = (only_a - only_b) / enlarged
    half = Z95 * sqrt(only_a + only_b + 1 - (only_a - only_b) ** 2 / enlarged) / enlarged
    return max(-1.0, centre - half), min(1.0, centre + half)


def detectable(discordance: float, n: float) -> float | None:
    """The true difference a two-sided 5 % test finds with 80 % power: (z.975 + z.8) sqrt(discordance / n).

    None when the two never differ. Source: Connor, "Sample size for testing differences in proportions for the
    paired-sample design", Biometrics 43, 1987, to first order.

    Args:
        discordance: Share of items only one of the two judges rightly.
        n: Items, or effective items.
    """
    return (Z95 + Z80) * sqrt(discordance / n) if discordance else None


def _by_question(cells: Quadrants, question: IntArray) -> tuple[IntArray, IntArray]:
    """Each question's number of items and its sum of differences."""
    labels, known = compact(question)
    sizes = np.bincount(labels, minlength=len(known))
    sums = np.bincount(labels[cells.only_a], minlength=len(known)) - np.bincount(
        labels[cells.only_b], minlength=len(known)
    )
    return sizes[sizes > 0], sums[sizes > 0]
