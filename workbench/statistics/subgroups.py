"""Whether a verifier is better or worse on a group than on what the group belongs to.

A group is set against its scope: a subtype against its type, any other group against all items. The test deals out the
group's label to the scope's pieces at random, a piece being a question's items in one group: completions of one
question stay together. The permutation distribution is counted out where that is little work, which is where errors are
few; elsewhere it is close to a normal distribution, whose mean and variance are known exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, prod, sqrt
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from workbench.statistics.confusion import BoolArray, FloatArray, IntArray

# -- Intervals for a proportion whose items come in clusters: completions that share a question.


Z95 = 1.959963984540054
"""The 0.975 quantile of the standard normal distribution."""


class Clustering(NamedTuple):
    """Clusters and design effect of each group, arrays of one length."""

    clusters: IntArray
    deff: FloatArray


class Clusters(NamedTuple):
    """Items by group and question: what intervals are clustered by.

    It depends on neither gold nor verdicts, so that one serves many figures.

    Attributes:
        of_item: Each item's cluster (int32).
        group: Each cluster's group, ascending.
        question: Each cluster's question, from 0 to ``questions - 1``.
        items: How many items each cluster has.
        groups: The number of groups.
        questions: The number of questions.
    """

    of_item: IntArray
    group: IntArray
    question: IntArray
    items: IntArray
    groups: int
    questions: int

    def of(self, rows: BoolArray | slice) -> Clusters:
        """The clusters of some of the items; those of others have none left."""
        kept = self.of_item[rows]
        return self._replace(of_item=kept, items=np.bincount(kept, minlength=len(self.group)))


def wilson(k: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval for ``k`` of ``n``; both may be fractional, as effective counts are.

    (k + z²/2 ± z sqrt(k (n - k) / n + z²/4)) / (n + z²). Without items it is [0, 1].
    Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.

    Args:
        z: The normal quantile; that of 95 % by default.
    """
    if n <= 0:
        return 0.0, 1.0
    centre = k + z * z / 2
    half = z * sqrt(max(k * (n - k), 0.0) / n + z * z / 4)
    # At 0 and n a bound is exact; rounding would leave it a hair inside or outside.
    lo = max((centre - half) / (n + z * z), 0.0) if k > 0 else 0.0
    hi = min((centre + half) / (n + z * z), 1.0) if k < n else 1.0
    return lo, hi


def clustered_wilson(correct: BoolArray, cluster: IntArray) -> tuple[float, float]:
    """Wilson's 95 % interval for the share of True, with the sample size divided by the design effect.

    Args:
        correct: One value an item; without items the interval is [0, 1].
        cluster: Each item's cluster, any integers.
    """
    sizes, right = tally(cluster, correct)
    deff = float(design_effects(sizes, right, np.zeros(len(sizes), dtype=np.int64), 1).deff[0])
    return wilson(int(correct.sum()) / deff, len(correct) / deff)


def clustering(correct: BoolArray | FloatArray, cluster: IntArray, group: IntArray, groups: int) -> Clustering:
    """Design effects of many groups at once; a cluster never reaches beyond its group.

    With n items in G clusters of size m_g with k_g right, and p = k / n:
    SE_c = sqrt(G / (G - 1) * sum (k_g - m_g p)²) / n, SE = sqrt(p (1 - p) / n) and
    deff = max(1, (SE_c / SE)²); 1 when p is 0 or 1 or G < 2.
    Sources: Cochran, "Sampling Techniques", 3rd edition, 1977, chapter 3 (a proportion from clusters);
    Rao and Scott, "A simple method for the analysis of clustered binary data", Biometrics 48, 1992.

    Args:
        correct: True where an item is right, or by what share it is.
        cluster: Each item's cluster, any integers.
        group: Each item's group, from 0 to ``groups - 1``.
        groups: The number of groups.
    """
    found = clusters(cluster, group, groups)
    right = np.bincount(found.of_item, weights=correct, minlength=len(found.group))
    return design_effects(found.items, right, found.group, groups)


def design_effects(sizes: IntArray, right: FloatArray | IntArray, group: IntArray, groups: int) -> Clustering:
    """The same from each cluster's items and how many of them are right; clusters without items don't count."""
    n = np.bincount(group, weights=sizes, minlength=groups)
    p = np.bincount(group, weights=right, minlength=groups) / np.maximum(n, 1)
    g = np.bincount(group[sizes > 0], minlength=groups)
    squares = np.bincount(group, weights=(right - sizes * p[group]) ** 2, minlength=groups)
    deff = np.ones(groups)
    varies = (p > 0) & (p < 1) & (g > 1)
    among = g[varies] / (g[varies] - 1) * squares[varies]
    deff[varies] = np.maximum(among / (n * p * (1 - p))[varies], 1.0)
    return Clustering(g, deff)


def clusters(question: IntArray, group: IntArray | None = None, groups: int = 1) -> Clusters:
    """Items by group and question.

    Args:
        question: Each item's question, any integers.
        group: Each item's group, from 0 to ``groups - 1``; None for one group of all items.
        groups: The number of groups.
    """
    code, known = compact(question)
    width = max(len(known), 1)
    pair = code if group is None else group.astype(np.int64) * width + code
    of_item, pairs = compact(pair)
    return Clusters(
        of_item=of_item.astype(np.int32),
        group=pairs // width,
        question=pairs % width,
        items=np.bincount(of_item, minlength=len(pairs)),
        groups=groups,
        questions=len(known),
    )


def tally(cluster: IntArray, values: BoolArray | FloatArray) -> tuple[IntArray, FloatArray | IntArray]:
    """How many items each cluster has, and the sum of their values; clusters without items may stand between."""
    codes = countable(cluster)
    return np.bincount(codes), np.bincount(codes, weights=values)


def countable(values: IntArray) -> IntArray:
    """Integers as they are where they can be counted without being ranked first, else each one's rank."""
    return values if _are_small(values) else compact(values)[0]


def _are_small(values: IntArray) -> bool:
    return bool(len(values) and values.min() >= 0 and values.max() < 4 * len(values) + 1024)


def compact(values: IntArray) -> tuple[IntArray, IntArray]:
    """Each value's rank among the distinct ones, and the distinct ones in order.

    Small values are counted, which saves sorting them.
    """
    if _are_small(values):
        known = np.flatnonzero(np.bincount(values))
        rank = np.zeros(int(values.max()) + 1, dtype=np.intp)
        rank[known] = np.arange(len(known))
        return rank[values], known
    known, codes = np.unique(values, return_inverse=True)
    return codes, known


def distinct(values: IntArray) -> int:
    """How many different values there are; numpy's own way holds up all other threads."""
    return int(np.count_nonzero(np.bincount(countable(values)))) if len(values) else 0


def student_interval(values: FloatArray) -> tuple[float, float] | None:
    """Student's 95 % interval for the mean of values from -1 to 1; None for one value, or equal ones.

    Source: Student, "The probable error of a mean", Biometrika 6, 1908.
    """
    from scipy.special import stdtrit

    if len(values) < 2 or np.ptp(values) < 1e-12:
        return None
    half = float(stdtrit(len(values) - 1, 0.975)) * float(values.std(ddof=1)) / sqrt(len(values))
    mean = float(values.mean())
    return max(-1.0, mean - half), min(1.0, mean + half)


# -- p-values of many tests at once.


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: with p_(1) <= … <= p_(m), max over j <= i of min(1, (m - j + 1) p_(j)).

    Rejecting those below 5 % makes any false rejection at most 5 % likely, however the tests depend on each other.
    Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.

    Returns:
        One value a test, in the tests' order.
    """
    order, ranked = _ranked(p)
    steps = np.maximum.accumulate(np.arange(len(p), 0, -1) * ranked)
    return _in_order(steps, order)


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's q-values: with p_(1) <= … <= p_(m), min over j >= i of min(1, m p_(j) / j).

    Rejecting those below 5 % makes the expected share of false ones among them at most 5 %, for tests that are
    independent or depend positively. scipy has it too, behind an import of most of a second. Source: Benjamini and
    Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995.

    Returns:
        One value a test, in the tests' order.
    """
    order, ranked = _ranked(p)
    steps = np.minimum.accumulate((len(p) * ranked / np.arange(1, len(p) + 1))[::-1])[::-1]
    return _in_order(steps, order)


def _ranked(p: Sequence[float]) -> tuple[IntArray, FloatArray]:
    order = np.argsort(p, kind="stable")
    return order, np.asarray(p, dtype=np.float64)[order]


def _in_order(steps: FloatArray, order: IntArray) -> list[float]:
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(steps, 1)
    found: list[float] = adjusted.tolist()
    return found


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
