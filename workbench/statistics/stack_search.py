"""Searches all stacks (verifiers in sequence) of some verifiers for the best ones, which are chosen on some questions
and evaluated on the others.

Everything is computed on the distinct combinations (patterns) of verdicts, scores, answer types and gold, of which
there are few. Each item's result is that of its pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct, structs

from workbench.core.verdict import Outcome, OutcomeCode, Protocol3
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray, grade
from workbench.statistics.intervals import Z95, compact
from workbench.statistics.stacks import NOTHING, decide_by_stage

QUANTILES: Final = (0.5, 0.75, 0.9)
"""Quantiles of a verifier's scores that are tried as thresholds, upper and lower."""
MOST_BOUNDED: Final = 200
"""Most candidates, the cheapest first, for which the interval of the difference is computed."""
MOST_TYPED: Final = 20
"""Most candidates, and most two-stage candidates, that are tried with fewer types."""
_EITHER = (Outcome.CORRECT, Outcome.INCORRECT)


class Rule(Struct, frozen=True):
    """The verdicts and scores of a verifier by which its stage decides an item; see `stacks.settled`."""

    outcomes: tuple[Outcome, ...] = ()
    least: float | None = None
    most: float | None = None


BOTH: Final = Rule(_EITHER)


class CandidateStage(Struct, frozen=True):
    """A stage of a candidate stack: the verifier's number, the verdicts by which it decides, and the types it judges
    (None for all)."""

    verifier: int
    rule: Rule = BOTH
    types: frozenset[int] | None = None


Candidate = tuple[CandidateStage, ...]


class Pool(Struct, frozen=True, kw_only=True, eq=False):
    """The items that all verifiers have judged.

    Attributes:
        outcomes: Outcomes by verifier and item.
        scores: Scores by verifier; None for one without scores.
        gold: 1 correct, 0 incorrect.
        fold: Each item's fold, from 0.
        type: Each item's answer type.
        untyped: The number in ``type`` for items without a type; -1 if there are none.
        cost: Cost of verdicts by verifier and item.
    """

    outcomes: IntArray
    scores: tuple[FloatArray | None, ...]
    gold: IntArray
    question: IntArray
    fold: IntArray
    type: IntArray
    untyped: int
    cost: FloatArray
    protocol: Protocol3


class PatternVerdicts(NamedTuple):
    outcome: IntArray
    asked: BoolArray


class Searched(NamedTuple):
    """All candidates (stacks) with their results, by candidate and fold.

    Attributes:
        right: Number of items judged correctly.
        counted: Number of counted items.
        cost: Cost of the items' verdicts.
    """

    candidates: list[Candidate]
    right: FloatArray
    counted: FloatArray
    cost: FloatArray


class StackSearch:
    def __init__(self, pool: Pool, most_stages: int) -> None:
        self.pool = pool
        self.menus = [_possible_rules(score) for score in pool.scores]
        self.folds = int(pool.fold.max()) + 1
        self._first, self.pattern = _patterns(pool, self.menus)
        width = len(self._first)
        cell = pool.fold * width + self.pattern
        self.items = self._by_cell(cell, np.ones(len(cell)), width)
        self.costs = np.stack([self._by_cell(cell, cost, width) for cost in pool.cost])
        self._outcomes = pool.outcomes[:, self._first]
        self._scores = [None if score is None else score[self._first] for score in pool.scores]
        self._types = pool.type[self._first]
        gold = pool.gold[self._first]
        graded = [grade(np.full(width, outcome, dtype=np.int8), gold, pool.protocol) for outcome in range(4)]
        self._right = np.stack([one.right for one in graded])
        self._counted = np.stack([one.counted for one in graded])
        self._settled: dict[tuple[int, Rule], IntArray] = {}
        self._typed: dict[bytes, tuple[list[Candidate], FloatArray, FloatArray]] = {}
        self.found = self._search_candidates(most_stages)

    def pattern_verdicts(self, candidate: Candidate) -> PatternVerdicts:
        width = len(self._first)
        outcome = np.full(width, OutcomeCode.ABSTAIN, dtype=np.int8)
        open_, asked = np.ones(width, dtype=np.bool_), np.zeros((len(self.costs), width), dtype=np.bool_)
        for place in candidate:
            here = open_ & self._is_judged_type(place)
            settles = self._stage_decisions(place)
            done = here & (settles != NOTHING)
            asked[place.verifier] |= here
            outcome = np.where(done, settles, np.where(here, self._outcomes[place.verifier], outcome))
            open_ &= ~done
        return PatternVerdicts(outcome, asked)

    def worth(self, said: PatternVerdicts, folds: BoolArray) -> tuple[float, float]:
        items = self.items[folds].sum(axis=0)
        places = np.arange(len(items))
        counted = float((items * self._counted[said.outcome, places]).sum())
        right = float((items * self._right[said.outcome, places]).sum())
        cost = float((self.costs[:, folds].sum(axis=1) * said.asked).sum())
        return right / counted if counted else -1.0, cost / max(float(items.sum()), 1.0)

    def shares(self, folds: BoolArray) -> tuple[FloatArray, FloatArray]:
        right, counted, cost = (part[:, folds].sum(axis=1) for part in self.found[1:])
        share = np.divide(right, counted, out=np.full(len(right), -1.0), where=counted > 0)
        return share, cost / max(float(self.items[folds].sum()), 1.0)

    def right(self, said: PatternVerdicts) -> FloatArray:
        return self._right[said.outcome, np.arange(len(self._first))][self.pattern].astype(np.float64)

    def refined(self, candidate: Candidate, folds: BoolArray, cap: float) -> Candidate:
        best, (share, cost) = candidate, self.worth(self.pattern_verdicts(candidate), folds)
        typed = sorted({kind for kind in self._types.tolist() if kind != self.pool.untyped})
        for number in range(len(candidate) - 1):
            for kind in typed:
                place = best[number]
                types = (frozenset(typed) if place.types is None else place.types) - {kind}
                if not types:
                    continue
                other = (*best[:number], structs.replace(place, types=types), *best[number + 1 :])
                found = self.worth(self.pattern_verdicts(other), folds)
                if found[1] <= cap and (found[0], -found[1]) > (share, -cost):
                    best, (share, cost) = other, found
        return best

    def typed(self, folds: BoolArray) -> tuple[list[Candidate], FloatArray, FloatArray]:
        """Return candidates whose stages judge only some answer types, chosen on the given folds, with their `shares`.

        They are derived from all candidates with two stages, and from the most accurate candidates with more.
        """
        key = folds.tobytes()
        if key not in self._typed:
            share, _ = self.shares(folds)
            order = np.argsort(-share, kind="stable").tolist()
            staged = [place for place in order if len(self.found.candidates[place]) > 1]
            pairs = [place for place in staged if len(self.found.candidates[place]) == 2]
            chosen = dict.fromkeys([*staged[:MOST_TYPED], *pairs[:MOST_TYPED]])
            found = [self.refined(self.found.candidates[place], folds, np.inf) for place in chosen]
            found = [one for one in found if any(place.types is not None for place in one)]
            worth = np.array([self.worth(self.pattern_verdicts(one), folds) for one in found]).reshape(-1, 2)
            self._typed[key] = found, worth[:, 0], worth[:, 1]
        return self._typed[key]

    def _search_candidates(self, most_stages: int) -> Searched:
        candidates: list[Candidate] = []
        sums: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        nothing = np.zeros(self.folds)
        everything = np.ones(len(self._first), dtype=np.bool_)
        for candidate, *found in self._extend_candidate((), everything, nothing, nothing, nothing, most_stages):
            candidates.append(candidate)
            sums.append((found[0], found[1], found[2]))
        right, counted, cost = (np.stack(part) for part in zip(*sums, strict=True))
        return Searched(candidates, right, counted, cost)

    def _extend_candidate(
        self, before: Candidate, left: BoolArray, right: FloatArray, counted: FloatArray, cost: FloatArray, stages: int
    ) -> Iterator[tuple[Candidate, FloatArray, FloatArray, FloatArray]]:
        used = {place.verifier for place in before}
        for verifier in range(len(self.costs)):
            if verifier in used:
                continue
            paid = cost + self.costs[verifier] @ left
            last = self._outcomes[verifier]
            yield (
                (*before, CandidateStage(verifier)),
                right + self._sum_by_fold(self._right, last, left),
                counted + self._sum_by_fold(self._counted, last, left),
                paid,
            )
            if stages <= 1:
                continue
            for rule in self.menus[verifier]:
                place = CandidateStage(verifier, rule)
                settles = self._stage_decisions(place)
                done = left & (settles != NOTHING)
                if done.any() and not (done == left).all():
                    more = (
                        self._sum_by_fold(self._right, settles, done),
                        self._sum_by_fold(self._counted, settles, done),
                    )
                    rest = left & ~done
                    yield from self._extend_candidate(
                        (*before, place), rest, right + more[0], counted + more[1], paid, stages - 1
                    )

    def _sum_by_fold(self, table: BoolArray, outcome: IntArray, rows: BoolArray) -> FloatArray:
        there = table[np.where(rows, outcome, 0), np.arange(len(outcome))] & rows
        return np.asarray(self.items @ there.astype(np.float64))

    def _stage_decisions(self, place: CandidateStage) -> IntArray:
        key = place.verifier, place.rule
        if key not in self._settled:
            rule = place.rule
            outcome, score = self._outcomes[place.verifier], self._scores[place.verifier]
            self._settled[key] = decide_by_stage(outcome, score, rule.outcomes, rule.least, rule.most)
        return self._settled[key]

    def _is_judged_type(self, place: CandidateStage) -> BoolArray:
        if place.types is None:
            return np.ones(len(self._types), dtype=np.bool_)
        return np.isin(self._types, sorted(place.types))

    def _by_cell(self, cell: IntArray, weights: FloatArray, width: int) -> FloatArray:
        found: FloatArray = np.bincount(cell, weights=weights, minlength=self.folds * width).astype(np.float64)
        return found.reshape(self.folds, width)


def _possible_rules(score: FloatArray | None) -> list[Rule]:
    rules = [Rule((Outcome.CORRECT,)), Rule((Outcome.INCORRECT,)), BOTH]
    if score is None or np.isnan(score).all():
        return rules
    above = [float(np.nanquantile(score, one, method="higher")) for one in QUANTILES]
    below = [float(np.nanquantile(score, 1 - one, method="lower")) for one in QUANTILES]
    rules += [Rule(least=one) for one in dict.fromkeys(above)]
    rules += [Rule(most=one) for one in dict.fromkeys(below)]
    rules += [Rule(least=one, most=other) for one, other in zip(above, below, strict=True) if other < one]
    return list(dict.fromkeys(rules))


def _patterns(pool: Pool, menus: Sequence[Sequence[Rule]]) -> tuple[IntArray, IntArray]:
    parts = [pool.gold.astype(np.int64), pool.type.astype(np.int64), *(one.astype(np.int64) for one in pool.outcomes)]
    for score, menu in zip(pool.scores, menus, strict=True):
        if score is not None:
            bounds = [bound for rule in menu for bound in (rule.least, rule.most) if bound is not None]
            # A score equal to a threshold is on both sides of it.
            parts += [(score >= bound) * 2 + (score <= bound) for bound in sorted(set(bounds))]
    code: IntArray = np.zeros(len(pool.gold), dtype=np.int64)
    for part in parts:
        code, _ = compact(code * (int(part.max(initial=0)) + 2) + part + 1)
    _, first = np.unique(code, return_index=True)
    return first, code


# -- Selection rules: they choose on some folds and are evaluated on the others.


Choose = Callable[[StackSearch, BoolArray], Candidate]
"""Chooses a stack by the results of all stacks on some folds."""


def most_accurate(cap: float = np.inf) -> Choose:
    """Return a rule that chooses the most accurate candidate whose cost for an item is at most ``cap``, the cheapest
    in a tie. If no candidate is that cheap, it chooses the cheapest.
    """

    def choose(search: StackSearch, folds: BoolArray) -> Candidate:
        typed, *worth = search.typed(folds)
        share, cost = (np.concatenate(parts) for parts in zip(search.shares(folds), worth, strict=True))
        candidates = [*search.found.candidates, *typed]
        within = cost <= cap
        if not within.any():
            return candidates[int(np.argmin(cost))]
        best = np.lexsort((cost, -np.where(within, share, -2.0)))[0]
        return search.refined(candidates[int(best)], folds, cap)

    return choose


def best_alone(search: StackSearch, folds: BoolArray) -> Candidate:
    share, _ = search.shares(folds)
    alone = [place for place, one in enumerate(search.found.candidates) if len(one) == 1]
    return search.found.candidates[max(alone, key=lambda place: (share[place], -place))]


def cheapest_not_worse(reference: int, margin: float) -> Choose:
    """Return a rule that chooses the cheapest stack that is less than ``margin`` less accurate than the verifier
    ``reference`` alone, by the lower end of the interval of the difference.
    """

    def choose(search: StackSearch, folds: BoolArray) -> Candidate:
        share, cost = search.shares(folds)
        alone = (CandidateStage(reference),)
        own = search.found.candidates.index(alone)
        inside = folds[search.pool.fold]
        question, _ = compact(search.pool.question[inside])
        base = search.right(search.pattern_verdicts(alone))[inside]
        order = [place for place in np.argsort(cost, kind="stable").tolist() if share[place] >= share[own] - margin]
        for place in order[:MOST_BOUNDED]:
            candidate: Candidate = search.found.candidates[place]
            if (
                _lower_end_of_difference(search.right(search.pattern_verdicts(candidate))[inside] - base, question)
                >= -margin
            ):
                return candidate
        return alone

    return choose


def _lower_end_of_difference(difference: FloatArray, question: IntArray) -> float:
    mean = float(difference.mean())
    sums = np.bincount(question, weights=difference - mean)
    clusters = len(sums)
    scale = clusters / max(clusters - 1, 1)
    return mean - Z95 * float(np.sqrt(scale * (sums**2).sum())) / len(difference)


class CrossFitted(NamedTuple):
    """The results of a selection rule on questions on which it did not choose.

    Attributes:
        chosen: The stack chosen on all questions.
        by_fold: The stack chosen outside each fold.
        outcome: Each item's verdict by the stack chosen without its question.
        asked: Whether that stack calls the verifier on the item, by verifier and item.
    """

    chosen: Candidate
    by_fold: list[Candidate]
    outcome: IntArray
    asked: BoolArray


def cross_fitted(search: StackSearch, choose: Choose) -> CrossFitted:
    everywhere = np.ones(search.folds, dtype=np.bool_)
    fold, pattern = search.pool.fold, search.pattern
    outcome = np.empty(len(fold), dtype=np.int8)
    asked = np.zeros((len(search.costs), len(fold)), dtype=np.bool_)
    by_fold = []
    for number in range(search.folds):
        outside = everywhere.copy()
        outside[number] = False
        by_fold.append(choose(search, outside))
        said, inside = search.pattern_verdicts(by_fold[-1]), fold == number
        outcome[inside] = said.outcome[pattern[inside]]
        asked[:, inside] = said.asked[:, pattern[inside]]
    return CrossFitted(choose(search, everywhere), by_fold, outcome, asked)


def front(search: StackSearch, most: int) -> list[float]:
    """Return the costs for an item of the stacks on the Pareto front over all items: those for which no cheaper stack
    is as accurate.

    Args:
        most: Maximum number of costs, from the cheapest to the most accurate stack, which has no limit.
    """
    share, cost = search.shares(np.ones(search.folds, dtype=np.bool_))
    leading: list[float] = []
    best = -1.0
    for place in np.lexsort((-share, cost)).tolist():
        if share[place] > best:
            best = float(share[place])
            leading.append(float(cost[place]))
    chosen = range(len(leading)) if len(leading) <= most else np.linspace(0, len(leading) - 1, most).round().astype(int)
    # Use midpoints: the cost of a stack differs slightly between parts of the questions.
    ends = [*((one + other) / 2 for one, other in pairwise(leading)), np.inf]
    return [ends[one] for one in chosen]
