"""How much more often one kind of completion is accepted than the others, gold (and more) being equal.

Whatever goes with correctness goes with acceptance too: where wrong completions are longer, a perfect verifier
refuses long ones more often. Differences are therefore taken within strata of equal gold, and averaged.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from msgspec import Struct

from workbench.statistics.arrays import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import Z95, tally, wilson

FEWEST = 10
"""Completions of either kind, in strata that have both, below which no effect is reported."""


class Effect(Struct, frozen=True, kw_only=True):
    """The mean difference within strata of two shares.

    Attributes:
        exposed: Completions of the kind in question, in strata that have both kinds.
        others: The others there.
        strata: Strata that have both kinds.
        difference: The share accepted of the exposed less that of the others; None for too few.
        ci: Its 95 % interval, clustered; None for too few.
    """

    exposed: int
    others: int
    strata: int
    difference: float | None = None
    ci: tuple[float, float] | None = None


def stratified_difference(accepted: BoolArray, exposed: BoolArray, stratum: IntArray, question: IntArray) -> Effect:
    """Mantel and Haenszel's risk difference with the interval of Yan and Su, for clustered items.

    Strata count by w = n1 n0 / (n1 + n0). Each side's share is sum(w p) / sum(w), its interval Wilson's over strata
    with z' = z sqrt(sum w² v) / sum(w sqrt(v)), v = p (1 - p) / n, each stratum's n divided by the difference's
    design effect; the difference's ends follow from both (Newcombe's square-and-add). It keeps its coverage where
    shares are near 0, as they are for verifiers that rarely err, and a normal interval would have no width.
    Sources: Mantel and Haenszel, JNCI 22, 1959; Newcombe, "Interval estimation for the difference between independent
    proportions", Statistics in Medicine 17, 1998; Yan and Su, "Stratified Wilson and Newcombe confidence intervals for
    multiple binomial proportions", Statistics in Biopharmaceutical Research 2, 2010.

    Args:
        accepted: Whether the verifier accepts an item.
        exposed: Whether the item is of the kind in question.
        stratum: What is held equal, as small integers from 0.
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
    influence[both] = _influences(weights, shares, n)
    deff = _design_effect(influence.ravel()[cell], question)
    sides = [_side(shares[:, side], n[:, side], weights, deff) for side in (1, 0)]
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


def _influences(weights: FloatArray, shares: FloatArray, n: IntArray) -> FloatArray:
    """An item's w (y - p) / n of its side and stratum, against its side's sign: strata x sides x y."""
    signed = np.array([-1.0, 1.0])[None, :] * weights[:, None]
    influences: FloatArray = signed[:, :, None] * (np.array([0.0, 1.0]) - shares[:, :, None]) / n[:, :, None]
    return influences


def _design_effect(influence: FloatArray, question: IntArray) -> float:
    """By what clusters raise the difference's variance, at least 1.

    The variance is the sum of squared influences over items if they are independent, over questions (each one's sum,
    times G / (G - 1)) if they are not.
    """
    sizes, sums = tally(question, influence)
    known = int(np.count_nonzero(sizes))
    alone = float(influence @ influence)
    if alone == 0 or known < 2:
        return 1.0
    return max(known / (known - 1) * float(sums @ sums) / alone, 1.0)


def _side(shares: FloatArray, n: IntArray, weights: FloatArray, deff: float) -> tuple[float, float, float]:
    """One side's share over strata, and the ends of its interval."""
    effective = n / deff
    # Where all or none are accepted the variance is that of Wilson's centre: it must not vanish.
    centre = (shares * effective + Z95**2 / 2) / (effective + Z95**2)
    errors = np.sqrt(centre * (1 - centre) / (effective + Z95**2))
    scale = float(np.sqrt((weights**2 * errors**2).sum()) / (weights * errors).sum())
    low, high = 0.0, 0.0
    for weight, share, size in zip(weights.tolist(), shares.tolist(), effective.tolist(), strict=True):
        ends = wilson(share * size, size, Z95 * scale)
        low, high = low + weight * ends[0], high + weight * ends[1]
    return float((weights * shares).sum()), low, high
