"""Permutation tests by question: does a verifier's accuracy on a group of items differ from its accuracy on the
group's scope?

A group is compared with its scope: a subtype with its type, any other group with all items. A piece is a question's
items in one group: completions of one question stay together. The test permutes the assignment of pieces to the group.
Among the questions with one piece, it assigns as many as the group has; within each other question that has a piece in
the group, it assigns one of the question's pieces. Differences between questions therefore don't matter if groups
share questions, as completions of different models do. The statistic is the group's delta divided by its standard
error: the number of correct items minus the expected number, divided by the root of the sum of the pieces' variances.
For questions of equal size it is equivalent to the delta; otherwise a group of many small
questions would be treated like one of few large ones. The test is two-sided: p is the share of permutations with a
statistic at least as extreme.

All permutations are enumerated if the group shares no question with others and its combinations of pieces are few, as
they are if errors are few. Else permutations are drawn at random, and the observed one is counted as one of them
(Phipson and Smyth, "Permutation p-values should never be zero", Statistical Applications in
Genetics and Molecular Biology 9, 2010). Until they have been drawn, p is that of a normal distribution with the
permutations' mean and variance.
"""

from __future__ import annotations

from hashlib import blake2b
from math import erfc, exp, prod, sqrt
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import compact

MOST_WAYS = 1 << 15
"""Most combinations of pieces that are enumerated."""
STAGES: Final = ((999, 50), (9_999, 20), (99_999, 0))
"""Total permutations drawn, and the number of extreme ones that is enough to stop: small p-values need more draws.
Tests that stop early have p above the levels of later stages, so p stays valid (Besag and Clifford, "Sequential Monte
Carlo p-values", Biometrika 78, 1991).
"""
_SMALLEST_P = 1e-12
"""p-value below which a sum of probabilities is rounding error, and a normal tail differs from the permutation's."""
_ROUNDING = 1e-9
_NONE = -1
_MIN_EQUAL_QUESTIONS = 16
"""Number of equal questions from which their pieces are drawn as counts."""
_BLOCK = 1 << 22

How: TypeAlias = Literal["counted", "drawn", "normal"]
Totals: TypeAlias = tuple[FloatArray, FloatArray]
"""Totals of a group in each permutation: correct items minus the expected number, and its variance."""


class CellTest(NamedTuple):
    """The test of one group against its scope.

    Attributes:
        p: Two-sided probability of a statistic at least as extreme under random assignment of pieces to the group.
        how: How it was computed: all permutations enumerated, some drawn, or a normal approximation.
        of: The group that identifies the test. If a scope has only two groups, both have the same test, identified by
            the first.
        scope: The scope's code.
    """

    p: float
    how: How
    of: int
    scope: int


class Pieces(NamedTuple):
    """Pieces, each a question's counted items in one group: arrays with one value for each piece.

    Attributes:
        size: The question's counted items in the group.
        right: Number of them judged correctly.
        group: The group's code, at least 0.
        scope: The code of the group's scope, at least 0.
        question: The question's code, at least 0.
    """

    size: IntArray
    right: IntArray
    group: IntArray
    scope: IntArray
    question: IntArray

    def of(self, kept: BoolArray) -> Pieces:
        return Pieces(*(values[kept] for values in self))


class _LabelPool(NamedTuple):
    """Kinds of pieces among which a group's label is permuted, and the number of pieces that get it.

    Attributes:
        excess: Correct items of a piece of each kind minus the expected number; 0 on average over all pieces.
        variance: The expected square of the excess.
        often: Number of pieces of each kind.
        drawn: Number of pieces of all kinds that get the label.
    """

    excess: FloatArray
    variance: FloatArray
    often: IntArray
    drawn: int


class _SharedQuestions(NamedTuple):
    """Questions shared by groups, in each of which one piece gets the label: arrays with one value for each piece, in
    order.

    Attributes:
        excess: Correct items of the piece minus the number expected from its question; 0 on average over a question.
        variance: The expected square of the excess.
        first: Each question's first piece.
        number: Number of pieces of each question.
        often: Number of questions with identical pieces.
    """

    excess: FloatArray
    variance: FloatArray
    first: IntArray
    number: IntArray
    often: IntArray


class _GroupTotals(NamedTuple):
    excess: float
    variance: float
    pool: _LabelPool
    blocks: _SharedQuestions | None

    def is_as_extreme(self, excess: FloatArray, variance: FloatArray) -> BoolArray:
        own = abs(self.excess) / sqrt(self.variance) if self.variance > _ROUNDING else 0.0
        found: BoolArray = np.abs(excess) >= own * np.sqrt(variance) * (1 - _ROUNDING) - _ROUNDING
        return found & ((variance > _ROUNDING) | (own == 0))


def scope_of(group: IntArray, scope: IntArray, groups: int) -> IntArray:
    """Return each group's scope; -1 if the group's items are in several scopes, or it has no items.

    Args:
        group: One group code for each item or piece, from 0 to ``groups - 1``.
        scope: One scope code for each item or piece, at least 0.
        groups: The number of groups.
    """
    only = np.full(groups, _NONE)
    only[group] = scope
    only[group[only[group] != scope]] = _NONE
    return only


def cell_tests(pieces: Pieces, seed: int | None = None) -> dict[int, CellTest]:
    """Test each group against its scope; pieces without items don't count.

    Args:
        seed: Seed of the permutations; None for the normal approximation.

    Returns:
        Group -> its test. A group that is its whole scope, or whose items are in several scopes, has none.
    """
    there = pieces.of(pieces.size > 0)
    only = scope_of(there.group, there.scope, int(there.group.max(initial=0)) + 1)
    found: dict[int, CellTest] = {}
    for code in np.unique(there.scope).tolist():
        whole = there.of(there.scope == code)
        inside = np.unique(whole.group).tolist()
        alone = [name for name in inside if only[name] == code]
        single = np.bincount(whole.question)[whole.question] == 1
        excess, variance = _residuals(whole, single)
        for name in alone if len(inside) > 1 else ():
            cell = _group_totals(whole, excess, variance, single, whole.group == name)
            p, how = _compute_p(cell, None if seed is None else [seed, name])
            found[name] = CellTest(p, how, inside[0] if len(inside) == len(alone) == 2 else name, code)
    return found


def tests_key(pieces: Pieces, seed: int) -> str:
    """Return a text that identifies the result of `cell_tests`."""
    digest = blake2b(repr((seed, STAGES, MOST_WAYS)).encode(), digest_size=16)
    for values in pieces:
        digest.update(values.astype(np.int64).data)
    return digest.hexdigest()


def _residuals(whole: Pieces, single: BoolArray) -> Totals:
    """Return each piece's excess of right items over the expected number, and the variance of the excess.

    A piece of m items that is its question's only piece has the expected number m p and the variance p (1 - p) m (1 +
    (m - 1) r): p is the share of right items over all such pieces and r their intra-class correlation by moments, from
    0 to 1. A piece of a question shared by groups, which has N items and the share p, has the expected number m p and
    the variance p (1 - p) m (N - m) / (N - 1).
    """
    size, right = whole.size.astype(np.float64), whole.right.astype(np.float64)
    items = np.bincount(whole.question, weights=size)[whole.question]
    share = np.bincount(whole.question, weights=right)[whole.question] / items
    own, all_right = size[single], float(right[single].sum())
    share[single] = all_right / max(float(own.sum()), 1.0)
    excess = right - size * share
    variance = share * (1 - share) * size * (items - size) / np.maximum(items - 1, 1)
    spread = share[single] * (1 - share[single])
    pairs = float((spread * own * (own - 1)).sum())
    alike = (float((excess[single] ** 2).sum()) - float((spread * own).sum())) / pairs if pairs > 0 else 0.0
    variance[single] = spread * own * (1 + (own - 1) * min(max(alike, 0.0), 1.0))
    return excess, variance


def _group_totals(
    whole: Pieces, excess: FloatArray, variance: FloatArray, single: BoolArray, own: BoolArray
) -> _GroupTotals:
    most = int(whole.right.max()) + 1
    kind = whole.size.astype(np.int64) * most + whole.right
    place, kinds = compact(kind[single])
    first = np.zeros(len(kinds), dtype=np.intp)
    first[place] = np.flatnonzero(single)
    pool = _LabelPool(
        excess=excess[first],
        variance=variance[first],
        often=np.bincount(place, minlength=len(kinds)),
        drawn=int(np.count_nonzero(single & own)),
    )
    blocks = _shared_questions(whole.question, kind, excess, variance, ~single, own)
    return _GroupTotals(float(excess[own].sum()), float(variance[own].sum()), pool, blocks)


def _shared_questions(
    question: IntArray, kind: IntArray, excess: FloatArray, variance: FloatArray, shared: BoolArray, own: BoolArray
) -> _SharedQuestions | None:
    concerned = np.zeros(int(question.max()) + 1, dtype=np.bool_)
    concerned[question[shared & own]] = True
    kept = np.flatnonzero(concerned[question])
    if not len(kept):
        return None
    kept = kept[np.lexsort((kind[kept], question[kept]))]
    first = np.flatnonzero(np.diff(question[kept], prepend=_NONE))
    number = np.diff(first, append=len(kept))
    kinds = kind[kept]
    same: dict[bytes, tuple[int, int]] = {}
    for start, length in zip(first.tolist(), number.tolist(), strict=True):
        key = kinds[start : start + length].tobytes()
        same[key] = (same[key][0] + 1 if key in same else 1, start)
    keys = sorted(same)
    number = np.array([len(key) // kinds.itemsize for key in keys])
    pieces = np.concatenate([kept[same[key][1] : same[key][1] + len(key) // kinds.itemsize] for key in keys])
    return _SharedQuestions(
        excess=excess[pieces],
        variance=variance[pieces],
        first=np.cumsum(number) - number,
        number=number,
        often=np.array([same[key][0] for key in keys]),
    )


def _compute_p(cell: _GroupTotals, seed: list[int] | None) -> tuple[float, How]:
    pool = cell.pool
    drawn = min(pool.drawn, int(pool.often.sum()) - pool.drawn)
    if cell.blocks is None and prod(min(one, drawn) + 1 for one in sorted(pool.often.tolist())[:-1]) <= MOST_WAYS:
        return min(max(_enumerated_p(cell, drawn), _SMALLEST_P), 1.0), "counted"
    if seed is None:
        return min(max(_normal_p(cell), _SMALLEST_P), 1.0), "normal"
    return _sampled_p(cell, np.random.default_rng(seed)), "drawn"


def _enumerated_p(cell: _GroupTotals, drawn: int) -> float:
    """Return the exact p-value over all ways to draw ``drawn`` pieces. For pieces of one item, it is Fisher's exact
    test with a two-sided p by the distance from the mean.

    Assigning some pieces to the group is equivalent to leaving out all others, so the smaller number is drawn. Source:
    Pitman,
    "Significance tests which may be applied to samples from any populations", JRSS supplement 4, 1937.
    """
    excess, variance, often, wanted = cell.pool
    order = np.argsort(often, kind="stable")
    number = np.zeros(1, dtype=np.int64)
    apart, spread, weight = (np.zeros(1) for _ in range(3))
    for kind in order[:-1]:
        ways = _log_choices(int(often[kind]), drawn)
        taken = np.arange(len(ways))
        apart, spread, weight = (
            (known[:, None] + each).ravel()
            for known, each in ((apart, taken * excess[kind]), (spread, taken * variance[kind]), (weight, ways))
        )
        number = (number[:, None] + taken).ravel()
        kept = number <= drawn
        number, apart, spread, weight = number[kept], apart[kept], spread[kept], weight[kept]
    # The remaining pieces are of the most frequent kind.
    last, left = order[-1], drawn - number
    possible = left <= often[last]
    left = left[possible]
    weight = weight[possible] + _log_choices(int(often[last]), drawn)[left]
    apart, spread = apart[possible] + left * excess[last], spread[possible] + left * variance[last]
    if drawn != wanted:
        apart, spread = -apart, float(often @ variance) - spread
    chance = np.exp(weight - weight.max())
    return float(chance[cell.is_as_extreme(apart, spread)].sum() / chance.sum())


def _log_choices(number: int, most: int) -> FloatArray:
    """Return the logarithms of the numbers of ways to choose 0, 1, … of ``number`` objects, up to ``most`` or all of
    them."""
    taken = np.arange(min(number, most))
    return np.concatenate([np.zeros(1), np.cumsum(np.log((number - taken) / (taken + 1)))])


def _sampled_p(cell: _GroupTotals, generator: np.random.Generator) -> float:
    """Return (1 + extreme permutations) / (1 + drawn permutations), drawing them in `STAGES`. If none can be expected
    to be extreme, none is drawn.
    """
    if _tail_bound(cell) < _SMALLEST_P:
        return 1 / (1 + STAGES[-1][0])
    deals = far = 0
    for goal, enough in STAGES:
        kinds = len(cell.pool.often) + (0 if cell.blocks is None else len(cell.blocks.often))
        step = max(1, _BLOCK // max(kinds, 1))
        while deals < goal:
            size = min(step, goal - deals)
            far += int(np.count_nonzero(cell.is_as_extreme(*_draw_permutations(cell, size, generator))))
            deals += size
        if far >= enough:
            break
    return (1 + far) / (1 + deals)


def _tail_bound(cell: _GroupTotals) -> float:
    """Return an upper bound on the share of permutations with a statistic as extreme as the observed one.

    It is Bernstein's inequality, which also holds for drawing without replacement (Hoeffding, "Probability inequalities
    for sums of bounded random variables", JASA 58, 1963), with the least variance that a permutation can have.
    """
    pool, blocks = cell.pool, cell.blocks
    number = int(pool.often.sum())
    order = np.argsort(pool.variance)
    before = np.cumsum(pool.often[order]) - pool.often[order]
    least = float(np.clip(pool.drawn - before, 0, pool.often[order]) @ pool.variance[order])
    spread = min(pool.drawn, number - pool.drawn) * float(pool.often @ pool.excess**2) / max(number, 1)
    most = float(np.abs(pool.excess).max(initial=0))
    if blocks is not None:
        least += float(blocks.often @ np.minimum.reduceat(blocks.variance, blocks.first))
        spread += float(np.repeat(blocks.often / blocks.number, blocks.number) @ blocks.excess**2)
        most = max(most, float(np.abs(blocks.excess).max()))
    if min(least, spread, cell.variance) <= _ROUNDING:
        return 1.0
    far = abs(cell.excess) * sqrt(least / cell.variance)
    return 2 * exp(-(far**2) / (2 * (spread + most * far / 3)))


def _draw_permutations(cell: _GroupTotals, deals: int, generator: np.random.Generator) -> Totals:
    pool, blocks = cell.pool, cell.blocks
    excess, variance = np.zeros(deals), np.zeros(deals)
    if pool.drawn:
        taken = generator.multivariate_hypergeometric(pool.often, pool.drawn, size=deals, method="marginals")
        excess += taken @ pool.excess
        variance += taken @ pool.variance
    if blocks is None:
        return excess, variance
    many = blocks.often >= _MIN_EQUAL_QUESTIONS
    for place in np.flatnonzero(many).tolist():
        inside = slice(blocks.first[place], blocks.first[place] + blocks.number[place])
        even = np.full(blocks.number[place], 1 / blocks.number[place])
        taken = generator.multinomial(blocks.often[place], even, size=deals)
        excess += taken @ blocks.excess[inside]
        variance += taken @ blocks.variance[inside]
    first, number = (np.repeat(values[~many], blocks.often[~many]) for values in (blocks.first, blocks.number))
    rows = max(1, _BLOCK // max(len(first), 1))
    for start in range(0, deals, rows):
        share = generator.random((min(rows, deals - start), len(first)))
        chosen = first + (share * number).astype(np.int64)
        excess[start : start + rows] += blocks.excess[chosen].sum(axis=1)
        variance[start : start + rows] += blocks.variance[chosen].sum(axis=1)
    return excess, variance


def _normal_p(cell: _GroupTotals) -> float:
    """Return the probability of both tails of a normal distribution with the permutations' variance. The statistic's
    denominator is replaced by its mean over permutations.

    For n of G pieces that are their question's only one, the variance is n (G - n) / (G (G - 1)) sum excess² (Cochran,
    "Sampling Techniques", 3rd edition,
    1977, theorem 2.2); for a question shared by groups it is the mean of excess² over its pieces.
    """
    pool, blocks = cell.pool, cell.blocks
    number = int(pool.often.sum())
    spread = expected = 0.0
    if pool.drawn:
        share = pool.drawn / number
        spread = share * (number - pool.drawn) / max(number - 1, 1) * float(pool.often @ pool.excess**2)
        expected = share * float(pool.often @ pool.variance)
    if blocks is not None:
        of_piece = np.repeat(blocks.often / blocks.number, blocks.number)
        spread += float(of_piece @ blocks.excess**2)
        expected += float(of_piece @ blocks.variance)
    if min(spread, expected, cell.variance) <= _ROUNDING:
        return 1.0
    return erfc(abs(cell.excess) / sqrt(2 * cell.variance * spread / expected))
