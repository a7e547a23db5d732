"""Corrected p-values of many tests, and stratified differences of shares between two kinds of items."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from math import sqrt

import numpy as np
from msgspec import Struct

from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import FEWEST as FEWEST_QUESTIONS
from workbench.statistics.intervals import Z95, tally, wilson

# -- Adjusted p-values of many tests.


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values: with p_(1) <= … <= p_(m), max over j <= i of min(1, (m - j + 1) p_(j)).

    Rejecting those below 5 % makes any false rejection at most 5 % likely, under any dependence of the tests. Source:
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.

    Returns:
        One value for each test, in order.
    """
    order, ranked = _sort_ascending(p)
    steps = np.maximum.accumulate(np.arange(len(p), 0, -1) * ranked)
    return _restore_order(steps, order)


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Return Benjamini and Hochberg's q-values: with p_(1) <= … <= p_(m), min over j >= i of min(1, m p_(j) / j).

    Rejecting those below 5 % makes the expected share of false ones among them at most 5 %, for tests that are
    independent or depend positively. scipy has the same function, but importing it takes most of a second. Source:
    Benjamini and
    Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995.

    Returns:
        One value for each test, in order.
    """
    order, ranked = _sort_ascending(p)
    steps = np.minimum.accumulate((len(p) * ranked / np.arange(1, len(p) + 1))[::-1])[::-1]
    return _restore_order(steps, order)


def tree(p: Sequence[float], families: Sequence[Hashable]) -> list[float]:
    """Return q-values of tests in families; the tests of a family count only if the family is selected.

    Families are selected by Benjamini and Hochberg's procedure on the Simes p-value of each one's tests. If R of m
    families are selected, the tests in each are tested at R / m times the level. q is the lowest level at which a test
    is rejected: if q is below 5
    %, the mean share of false ones is at most 5 % among families, and on average within selected ones. For one family
    q equals Benjamini and Hochberg's q-value. Sources: Benjamini and Bogomolov, "Selective inference on multiple
    families of
    hypotheses", JRSS B 76, 2014; Bogomolov, Peterson, Benjamini and Sabatti, "Hypotheses on a tree", Biometrika 108,
    2021; Simes, Biometrika 73, 1986.

    Args:
        families: Each test's family.
    """
    inside: dict[Hashable, list[int]] = {}
    for place, family in enumerate(families):
        inside.setdefault(family, []).append(place)
    within = [benjamini_hochberg([p[place] for place in places]) for places in inside.values()]
    found = [1.0] * len(p)
    for places, values in zip(inside.values(), across(within), strict=True):
        for place, q in zip(places, values, strict=True):
            found[place] = q
    return found


def across(families: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return q-values of families of tests as parts of one tree, see `tree`; a family may itself be a tree.

    Args:
        families: The q-values of each family, at least one; the least of them is the family's Simes p-value.
    """
    order, simes = _sort_ascending([min(values) for values in families])
    number = len(simes)
    selected = np.arange(1, number + 1)
    level = np.minimum.accumulate((number * simes / selected)[::-1])[::-1]
    found: list[list[float]] = [[] for _ in families]
    for rank, place in enumerate(order.tolist()):
        own = np.array(families[place])
        later = np.maximum(level[None, rank:], own[:, None] * number / selected[None, rank:])
        found[place] = np.minimum(later.min(axis=1), 1.0).tolist()
    return found


def _sort_ascending(p: Sequence[float]) -> tuple[IntArray, FloatArray]:
    order = np.argsort(p, kind="stable")
    return order, np.asarray(p, dtype=np.float64)[order]


def _restore_order(steps: FloatArray, order: IntArray) -> list[float]:
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(steps, 1)
    found: list[float] = adjusted.tolist()
    return found


# -- Difference in acceptance between one kind of completion and the others, with gold (and more) equal.


FEWEST = 10
"""Fewest completions of either kind, in strata with both, for which an effect is reported."""


class Effect(Struct, frozen=True, kw_only=True):
    """The mean difference of two shares within strata.

    Attributes:
        exposed: Number of completions of the exposed kind, in strata with both kinds.
        others: Number of other completions in these strata.
        strata: Number of strata with both kinds.
        difference: Share of exposed completions accepted minus that of the others; None with too few completions or
            questions.
        ci: Its 95 % interval, clustered by question; None with too few completions or questions.
    """

    exposed: int
    others: int
    strata: int
    difference: float | None = None
    ci: tuple[float, float] | None = None


def stratified_difference(accepted: BoolArray, exposed: BoolArray, stratum: IntArray, question: IntArray) -> Effect:
    """Return Mantel and Haenszel's risk difference with the interval of Yan and Su, for clustered items.

    Strata count by w = n1 n0 / (n1 + n0). Each side's share is sum(w p) / sum(w), its interval Wilson's over strata
    with z' = z sqrt(sum w² v) / sum(w sqrt(v)), v = p (1 - p) / n, with each stratum's n divided by the difference's
    design effect, and Student's t for the side's effective questions in place of z, as in `intervals.share_ends`.
    There is no interval if either side has too few questions. Clopper and Pearson's interval, which `share_ends` uses
    near 0 and 1,
    has no stratified form: instead v is taken at Wilson's centre, so that the interval has a width even if a verifier
    rarely errs. The difference's ends combine both (Newcombe's square-and-add). Sources: Mantel and Haenszel, JNCI 22,
    1959; Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine 17,
    1998; Yan and Su, "Stratified Wilson and Newcombe confidence intervals for multiple binomial proportions",
    Statistics in Biopharmaceutical Research 2, 2010.

    Args:
        accepted: Whether the verifier accepts an item.
        exposed: Whether the item is of the exposed kind.
        stratum: The matched properties, as small integers from 0.
        question: Each item's question; questions are the clusters.
    """
    groups = int(stratum.max(initial=-1)) + 1
    cell = 4 * stratum.astype(np.int64, copy=False)
    cell += 2 * exposed
    cell += accepted
    counts = np.bincount(cell, minlength=4 * groups).reshape(groups, 2, 2)
    n = counts.sum(axis=2)
    both = (n > 0).all(axis=1)
    counts, n = counts[both], n[both]
    found = Effect(exposed=int(n[:, 1].sum()), others=int(n[:, 0].sum()), strata=len(n))
    if min(found.exposed, found.others) < FEWEST:
        return found
    weights = n[:, 1] * n[:, 0] / (n[:, 1] + n[:, 0])
    weights = weights / weights.sum()
    if len(stratum) != found.exposed + found.others:
        inside = both[stratum]
        cell, question = cell[inside], question[inside]
    influence = np.zeros((groups, 2, 2))
    shares = counts[:, :, 1] / n
    signed = np.array([-1.0, 1.0])[None, :] * weights[:, None]
    influences: FloatArray = signed[:, :, None] * (np.array([0.0, 1.0]) - shares[:, :, None]) / n[:, :, None]
    influence[both] = influences
    deff = _design_effect(influence.ravel()[cell], question)
    mass = np.zeros((groups, 2))
    mass[both] = weights[:, None] / n
    quantiles = [_student_quantile(mass.ravel()[kind], question[of]) for kind, of in _items_by_side(cell >> 1)]
    if None in quantiles:
        return found
    sides = [
        _side_interval(shares[:, side], n[:, side] / deff, weights, t or Z95)
        for side, t in zip((1, 0), quantiles, strict=True)
    ]
    (p1, low1, high1), (p0, low0, high0) = sides
    difference = p1 - p0
    return Effect(
        exposed=found.exposed,
        others=found.others,
        strata=found.strata,
        difference=difference,
        ci=(
            difference - sqrt((p1 - low1) ** 2 + (high0 - p0) ** 2),
            difference + sqrt((high1 - p1) ** 2 + (p0 - low0) ** 2),
        ),
    )


def _design_effect(influence: FloatArray, question: IntArray) -> float:
    """Return the factor by which clusters raise the difference's variance, at least 1.

    The variance is the sum of squared influences over items if they are independent, over questions (their sums, times
    G / (G - 1)) if not.
    """
    sizes, sums = tally(question, influence)
    known = int(np.count_nonzero(sizes))
    alone = float(influence @ influence)
    return 1.0 if alone == 0 or known < 2 else max(known / (known - 1) * float(sums @ sums) / alone, 1.0)


def _items_by_side(kind: IntArray) -> Iterator[tuple[IntArray, BoolArray]]:
    for side in (1, 0):
        of = (kind & 1) == side
        yield kind[of], of


def _student_quantile(mass: FloatArray, question: IntArray) -> float | None:
    """Return Student's t for a side with these item weights; None with too few questions, as in `intervals.is_carried`.

    The weight of a question is its size in `intervals.Clustering`.
    """
    from scipy.special import stdtrit

    _, sizes = tally(question, mass)
    squares = float((sizes**2).sum())
    if float(sizes.sum()) ** 2 / squares < FEWEST_QUESTIONS:
        return None
    return float(stdtrit(max(squares**2 / float((sizes**4).sum()) - 1, 1.0), 0.975))


def _side_interval(
    shares: FloatArray, effective: FloatArray, weights: FloatArray, z: float
) -> tuple[float, float, float]:
    # If all or none are accepted, the variance is that at Wilson's centre: it must not vanish.
    centre = (shares * effective + z**2 / 2) / (effective + z**2)
    errors = np.sqrt(centre * (1 - centre) / (effective + z**2))
    scale = float(np.sqrt((weights**2 * errors**2).sum()) / (weights * errors).sum())
    low, high = 0.0, 0.0
    for weight, share, size in zip(weights.tolist(), shares.tolist(), effective.tolist(), strict=True):
        ends = wilson(share * size, size, z * scale)
        low, high = low + weight * ends[0], high + weight * ends[1]
    return float((weights * shares).sum()), low, high
