"""Which solutions of a problem make a set for ranking: k of them, spread over the scores.

Two rules: that of the released code (aleksficek/Scoring-Verifiers, ``filter_solutions.py``) and that of the paper read
literally (Scoring Verifiers, section 2.2). They differ; docs/code-ranking.md says how.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from workbench.core.errors import FormatError
from workbench.statistics.records.candidates import Candidate, Dropped, Id, Picked, Ranked, Rules, Shortfall

LOW: Final = Fraction(1, 10)
"""A positive score below it takes the place of the lowest one."""

Number = float | Fraction


def select(candidates: Sequence[Candidate], k: int, *, rules: Rules, exact: bool, place: str) -> Picked:
    """Select from the candidates of one problem: out with errors, one of each score, k of those, ranked.

    Args:
        candidates: In the order of the input; scores as the rules want them (see `scoring.as_scored`).
        k: How many, the ground truth included.
        exact: Compare distances as decimal fractions. As floats, which is what the released code does, 0.25 - 0.1 is
            less than 0.4 - 0.25, and of what should be a tie the lower score is taken.
        place: The problem's name, for messages.

    Raises:
        FormatError: Two candidates are the ground truth.
    """
    if sum(one.ground_truth for one in candidates) > 1:
        raise FormatError(f"{place}: two solutions are the ground truth.", "Leave rank 1 to one of them.")
    kept = [one for one in candidates if one.ground_truth or not one.only_errors]
    distinct = one_of_each_score(kept)
    chosen = (_released if rules == "released" else _paper)(distinct, k, exact=exact)
    ordered = sorted(chosen, key=lambda one: -one.score)
    return Picked(
        ranked=tuple(_ranked(one, rank) for rank, one in enumerate(ordered, 1)),
        dropped=_dropped(candidates, kept, distinct, chosen),
        shortfall=None if len(chosen) >= k else _shortfall(candidates, distinct, chosen),
    )


def one_of_each_score(candidates: Sequence[Candidate]) -> list[Candidate]:
    """One candidate a score, best first: the ground truth even if it is slower, else the fastest, the first of ties."""
    best: dict[float, Candidate] = {}
    for one in candidates:
        held = best.get(one.score)
        if held is None or _preferred(one) < _preferred(held):
            best[one.score] = one
    return sorted(best.values(), key=lambda one: -one.score)


def _preferred(one: Candidate) -> tuple[bool, float]:
    return not one.ground_truth, one.seconds


def _released(distinct: Sequence[Candidate], k: int, *, exact: bool) -> list[Candidate]:
    """The ground truth, and k - 1 of the others: the lowest, then the nearest to each target.

    With m the least score in (0, 0.1), else the least: T_i = 1 - i / (k - 1) (1 - m), i = 1 ... k - 2. A tie takes the
    higher score. All others stay where there are no more than k - 1.
    """
    truth = [one for one in distinct if one.ground_truth]
    others = [one for one in distinct if not one.ground_truth]
    wanted = k - len(truth)
    if wanted >= len(others):
        return [*truth, *others]
    if wanted < 1:
        return truth
    scores = [_number(one.score, exact=exact) for one in others]
    low = _lowest(scores)
    taken = [low]
    for target in _targets(scores[low], wanted, exact=exact):
        taken.append(_nearest(scores, target, taken))
    return [*truth, *(others[place] for place in taken)]


def _paper(distinct: Sequence[Candidate], k: int, *, exact: bool) -> list[Candidate]:
    """The nearest to each target of all, the ground truth among them, then the lowest, which may be there already.

    k' = min(n, k); T_i = 1 - i / k' (1 - m), i = 1 ... k' - 1. Nothing keeps the ground truth.
    """
    if not distinct:
        return []
    scores = [_number(one.score, exact=exact) for one in distinct]
    low = _lowest(scores)
    taken: list[int] = []
    for target in _targets(scores[low], min(len(scores), k), exact=exact):
        taken.append(_nearest(scores, target, taken))
    return [distinct[place] for place in dict.fromkeys([*taken, low])]


def _number(score: float, *, exact: bool) -> Number:
    """The score as it is reckoned with: its shortest decimal spelling as a fraction, or the float."""
    return Fraction(repr(score)) if exact else score


def _lowest(scores: Sequence[Number]) -> int:
    """Place of the least score in (0, 0.1), else of the least; scores descend."""
    low = [place for place, score in enumerate(scores) if 0 < score < LOW]
    return low[-1] if low else len(scores) - 1


def _targets(low: Number, count: int, *, exact: bool) -> list[Number]:
    """``count - 1`` targets between 1 and the lowest score; floats in the order the released code reckons them."""
    if exact:
        return [1 - Fraction(step, count) * (1 - Fraction(low)) for step in range(1, count)]
    return [1.0 - step / count * (1.0 - float(low)) for step in range(1, count)]


def _nearest(scores: Sequence[Number], target: Number, taken: Sequence[int]) -> int:
    """Place of the nearest score that isn't taken; of ties the higher score."""
    free = (place for place in range(len(scores)) if place not in taken)
    return min(free, key=lambda place: _distance(scores[place], target))


def _distance(score: Number, target: Number) -> Number:
    return score - target if score > target else target - score


def _ranked(one: Candidate, rank: int) -> Ranked:
    return Ranked(id=one.id, score=one.score, rank=rank, seconds=one.seconds, ground_truth=one.ground_truth)


def _dropped(
    candidates: Sequence[Candidate],
    kept: Sequence[Candidate],
    distinct: Sequence[Candidate],
    chosen: Sequence[Candidate],
) -> dict[Dropped, list[Id]]:
    """Ids of those not chosen, by the step that took them out."""
    steps: list[tuple[Dropped, Sequence[Candidate], Sequence[Candidate]]] = [
        ("only_errors", candidates, kept),
        ("same_score", kept, distinct),
        ("not_chosen", distinct, chosen),
    ]
    found: dict[Dropped, list[Id]] = {}
    for why, before, after in steps:
        left = {id(one) for one in after}
        if out := [one.id for one in before if id(one) not in left]:
            found[why] = out
    return found


def _shortfall(
    candidates: Sequence[Candidate], distinct: Sequence[Candidate], chosen: Sequence[Candidate]
) -> Shortfall:
    if not candidates:
        return "no_solutions"
    return "few_scores" if len(chosen) == len(distinct) else "one_twice"
