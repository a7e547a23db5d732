"""Whether a verifier is better or worse on a group than on what the group belongs to.

A group is set against its scope: a subtype against its type, any other group against all items. The test deals out the
group's label to the scope's pieces at random, a piece being a question's items in one group: completions of one
question stay together. The permutation distribution is counted out where that is little work, which is where errors are
few; elsewhere it is close to a normal distribution, whose mean and variance are known exactly.
"""

from __future__ import annotations

from math import erfc, prod, sqrt
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import Z95, compact, tally, wilson

MOST_WAYS = 1 << 15
"""Combinations of pieces that are counted out at most."""
_SMALLEST_P = 1e-12
"""Below this a sum of chances is rounding, and a normal tail is not the permutation's."""
_NONE = -1


class CellTest(NamedTuple):
    """One group against its scope.

    Attributes:
        p: Two-sided chance that random labels set the group as far apart.
        exact: The chance is counted out.
        of: The group whose test it is: the first of two that are a scope's only ones, else the group itself.
    """

    p: float
    exact: bool
    of: int


class _PieceKinds(Struct, frozen=True, kw_only=True, eq=False):
    """Kinds of pieces: arrays with one value a kind of piece in a group of a scope.

    Attributes:
        scope: The scope's code.
        group: The group's code.
        size: Items of such a piece.
        right: How many of them are right.
        often: How many such pieces there are.
    """

    scope: IntArray
    group: IntArray
    size: IntArray
    right: IntArray
    often: IntArray

    def of(self, kept: BoolArray) -> _PieceKinds:
        """Some of the kinds."""
        return _PieceKinds(
            scope=self.scope[kept],
            group=self.group[kept],
            size=self.size[kept],
            right=self.right[kept],
            often=self.often[kept],
        )

    @property
    def items(self) -> int:
        """Items of all these pieces."""
        return int(self.size @ self.often)

    @property
    def right_items(self) -> int:
        """Right items of all these pieces."""
        return int(self.right @ self.often)

    @property
    def number(self) -> int:
        """How many pieces these are."""
        return int(self.often.sum())


class _Lots(NamedTuple):
    """The pieces of a scope by kind, as groups are drawn from them.

    Attributes:
        items: Items of the scope.
        right: How many of them are right.
        residual: Each kind's right items less what its size would have by the scope's share, times ``items``: whole
            numbers, whose sum over a group is its delta times both numbers of items.
        often: How many pieces of each kind there are.
    """

    items: int
    right: int
    residual: IntArray
    often: IntArray


def scope_of(group: IntArray, scope: IntArray, groups: int) -> IntArray:
    """The scope in which all items of a group lie; -1 where they lie in several, or there are none.

    Args:
        group: One group code an item or piece, from 0 to ``groups - 1``.
        scope: One scope code an item or piece, at least 0.
        groups: The number of groups.
    """
    only = np.full(groups, _NONE)
    only[group] = scope
    only[group[only[group] != scope]] = _NONE
    return only


def cell_tests(size: IntArray, right: IntArray, group: IntArray, scope: IntArray) -> dict[int, CellTest]:
    """Set each group against the rest of its scope; arrays with one value a piece.

    Args:
        size: The piece's items; pieces without any don't count.
        right: How many of them are right.
        group: The group's code, at least 0.
        scope: The scope's code, at least 0.

    Returns:
        Group -> its test. A group that is its whole scope, or whose items lie in several, has none.
    """
    everything = _counted(size, right, group, scope)
    only = scope_of(everything.group, everything.scope, int(everything.group.max(initial=0)) + 1)
    found: dict[int, CellTest] = {}
    for code in np.unique(everything.scope).tolist():
        whole = everything.of(everything.scope == code)
        inside = np.unique(whole.group).tolist()
        alone = [name for name in inside if only[name] == code]
        lots = _lots(whole)
        for name in alone if len(inside) > 1 else ():
            p, exact = _against_rest(whole.of(whole.group == name), lots)
            found[name] = CellTest(p, exact, inside[0] if len(inside) == len(alone) == 2 else name)
    return found


def _counted(size: IntArray, right: IntArray, group: IntArray, scope: IntArray) -> _PieceKinds:
    """Count the pieces by scope, group, size and right items."""
    there = size > 0
    size, right = size[there].astype(np.int64), right[there].astype(np.int64)
    group, scope = group[there].astype(np.int64), scope[there].astype(np.int64)
    groups, most = int(group.max(initial=0)) + 1, int(size.max(initial=0)) + 1
    kind, kinds = compact(((scope * groups + group) * most + size) * most + right)
    often = np.bincount(kind, minlength=len(kinds))
    cell = kinds // (most * most)
    return _PieceKinds(
        scope=cell // groups, group=cell % groups, size=kinds // most % most, right=kinds % most, often=often
    )


def _lots(whole: _PieceKinds) -> _Lots:
    """What groups of a scope are drawn from."""
    most = int(whole.right.max(initial=0)) + 1
    place, kinds = compact(whole.size * most + whole.right)
    items, right = whole.items, whole.right_items
    return _Lots(
        items=items,
        right=right,
        residual=items * (kinds % most) - right * (kinds // most),
        often=np.bincount(place, weights=whole.often).astype(np.int64),
    )


def _against_rest(part: _PieceKinds, lots: _Lots) -> tuple[float, bool]:
    """The test's chance, and whether it is counted out."""
    observed = abs(lots.items * part.right_items - lots.right * part.items)
    # Labelling some pieces or all others is the same choice, and gives the same sum but for its sign.
    drawn = min(part.number, int(lots.often.sum()) - part.number)
    exact = prod(min(number, drawn) + 1 for number in sorted(lots.often.tolist())[:-1]) <= MOST_WAYS
    p = (_counted_out if exact else _normal)(lots.residual, lots.often, drawn, observed)
    return min(max(p, _SMALLEST_P), 1.0), exact


def _counted_out(residual: IntArray, often: IntArray, drawn: int, observed: int) -> float:
    """P(|sum of residuals| >= observed) over all ways to draw so many pieces: Fisher's test for pieces of one item.

    Source: Pitman, "Significance tests which may be applied to samples from any populations", JRSS supplement 4, 1937.
    """
    order = np.argsort(often, kind="stable")
    number, total, weight = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(1)
    for kind in order[:-1]:
        ways = _log_choices(int(often[kind]), drawn)
        taken = np.arange(len(ways))
        number = (number[:, None] + taken).ravel()
        total = (total[:, None] + taken * residual[kind]).ravel()
        weight = (weight[:, None] + ways).ravel()
        kept = number <= drawn
        number, total, weight = number[kept], total[kept], weight[kept]
    # The rest comes from the most frequent kind.
    last, left = order[-1], drawn - number
    possible = left <= often[last]
    left, total, weight = left[possible], total[possible], weight[possible]
    total = total + left * residual[last]
    weight = weight + _log_choices(int(often[last]), drawn)[left]
    chance = np.exp(weight - weight.max())
    return float(chance[np.abs(total) >= observed].sum() / chance.sum())


def _log_choices(number: int, most: int) -> FloatArray:
    """Logarithms of the numbers of ways to take 0, 1, … of them, up to ``most`` or all."""
    taken = np.arange(min(number, most))
    return np.concatenate([np.zeros(1), np.cumsum(np.log((number - taken) / (taken + 1)))])


def _normal(residual: IntArray, often: IntArray, drawn: int, observed: int) -> float:
    """The same chance by the normal distribution of mean 0 and the variance of a sum drawn without replacement.

    Variance n (G - n) / (G (G - 1)) times the sum of the residuals' squares, for n of G pieces (Cochran, "Sampling
    Techniques", 3rd edition, 1977, theorem 2.2). Sums lie in steps of the residuals' greatest common difference; each
    tail begins half a step before its first sum.
    """
    number = int(often.sum())
    squares = float(often @ residual.astype(np.float64) ** 2)
    deviation = sqrt(drawn * (number - drawn) / (number * (number - 1)) * squares)
    step = int(np.gcd.reduce(residual - residual[0]))
    if not step or not deviation:
        return 1.0
    # The sums are n times one residual and whole steps.
    start = drawn * int(residual[0]) % step
    above, below = start + -((start - observed) // step) * step, start + (-observed - start) // step * step
    ends = ((above - step / 2) / deviation, -(below + step / 2) / deviation)
    return sum(erfc(end / sqrt(2)) / 2 for end in ends)


# -- How much more often one kind of completion is accepted than the others, gold (and more) being equal.


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
