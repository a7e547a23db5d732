"""How far two verifiers say the same, and how far their errors fall together: which of them are worth combining."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np

from workbench.core.verdict import Outcome, Protocol3
from workbench.statistics.agreement.coefficients import divided
from workbench.statistics.agreement.cohen import kappa_interval, kappa_of
from workbench.statistics.bootstrap import intervals
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray, defined
from workbench.statistics.intervals import compact, distinct
from workbench.statistics.records.comparison import Bootstrap, Interval, JointErrors, JudgePair

_SAID = 3
_SHAPE = (3, _SAID, _SAID)
"""Gold (none, incorrect, correct), what A says and what B says (incorrect, correct, undecided)."""
_CELLS = 27
_UNDECIDED: dict[Protocol3, int] = {"forced": 0, "strict": 2, "decided": -1}
"""What an undecided verdict says: "incorrect", something else that is always wrong, nothing."""


class Verdicts(NamedTuple):
    """What two verifiers say, arrays with one value an item.

    Attributes:
        a: What A says as `said` gives it.
        b: What B says.
        gold: 1 correct, 0 incorrect, -1 none.
        question: The item's question; questions are the clusters.
    """

    a: IntArray
    b: IntArray
    gold: IntArray
    question: IntArray


def said(outcome: IntArray, protocol: Protocol3) -> IntArray:
    """0 incorrect, 1 correct, 2 undecided where that is a verdict of its own; -1 where nothing counts (int8)."""
    found = outcome.astype(np.int8)
    found[outcome >= Outcome.ABSTAIN] = _UNDECIDED[protocol]
    return found


def judge_pair(a: str, b: str, verdicts: Verdicts, draws: Bootstrap | None = None) -> JudgePair:
    """Agreement and joint errors of two verifiers, with intervals where draws are asked for.

    Everything follows from 27 counts of gold, A's and B's verdict. Sources: Cohen's kappa as in
    `statistics.agreement`; for the measures of joint errors Kuncheva and Whitaker, "Measures of diversity
    in classifier ensembles and their relationship with the ensemble accuracy", Machine Learning 51, 2003 (phi is their
    rho, joint errors are their double fault); Yule, "On the association of attributes in statistics", Philosophical
    Transactions of the Royal Society A 194, 1900, for Q.
    """
    both = (verdicts.a >= 0) & (verdicts.b >= 0)
    cell, question = (((verdicts.gold + 1) * _SAID + verdicts.a) * _SAID + verdicts.b), verdicts.question
    if not both.all():
        cell, question = cell[both], question[both]
    counts = np.bincount(cell, minlength=_CELLS).astype(float)[None, :]
    ends = dict.fromkeys(_DRAWN) if draws is None else _intervals(cell, question, draws)
    faults = _faults(counts)
    errors, on_incorrect, on_correct = (
        _joint(faults[key], ends[key]) for key in ("errors", "on_incorrect", "on_correct")
    )
    given = [part.expected for part in (on_correct, on_incorrect) if part.expected is not None]
    return JudgePair(
        a=a,
        b=b,
        n=len(cell),
        questions=distinct(question),
        **_kappa(verdicts.a[both], verdicts.b[both], question),
        errors=errors,
        on_correct=on_correct,
        on_incorrect=on_incorrect,
        expected_given_gold=sum(given) if given else None,
        either_right=1 - errors.both_wrong / errors.n if errors.n else None,
    )


def _intervals(cell: IntArray, question: IntArray, draws: Bootstrap) -> dict[str, Interval | None]:
    """Drawn over the cells that occur, which are few of the 27."""
    place, occur = compact(cell)

    def of_all(figure: Callable[[FloatArray], FloatArray], totals: FloatArray) -> FloatArray:
        everything = np.zeros((len(totals), _CELLS))
        everything[:, occur] = totals
        return figure(everything)

    figures = {key: partial(of_all, figure) for key, figure in _DRAWN.items()}
    drawn = intervals(place, len(occur), question, figures, samples=draws.samples, seed=draws.seed)
    return {key: found.ends for key, found in drawn.items()}


def _phi_of(part: str, totals: FloatArray) -> FloatArray:
    return _phi(_faults(totals)[part])


_DRAWN: dict[str, Callable[[FloatArray], FloatArray]] = {
    part: partial(_phi_of, part) for part in ("errors", "on_correct", "on_incorrect")
}
"""What the bootstrap gives an interval to."""


def _kappa(a: IntArray, b: IntArray, question: IntArray) -> dict[str, Any]:
    """Agreement, kappa and its interval, whatever is true."""
    if not len(a):
        return dict.fromkeys(("agreement", "kappa", "kappa_ci"))
    found, errors = kappa_of(a, b, question, _SAID)
    kappa = float(found.kappa[0])
    ends = kappa_interval(kappa, errors)
    return {"agreement": defined(found.agreement[0]), "kappa": defined(kappa), "kappa_ci": ends}


def _faults(totals: FloatArray) -> dict[str, FloatArray]:
    """Tables of errors, samples x A right or wrong x B right or wrong, of all items with gold and of each class."""
    counts = totals.reshape(-1, *_SHAPE)
    of_class = []
    for truth in (0, 1):
        table = counts[:, truth + 1]
        right_a, right_b, both = table[:, truth].sum(axis=1), table[:, :, truth].sum(axis=1), table[:, truth, truth]
        wrong = table.sum(axis=(1, 2)) - right_a - right_b + both
        of_class.append(np.stack([both, right_a - both, right_b - both, wrong], axis=1).reshape(-1, 2, 2))
    return {"errors": of_class[0] + of_class[1], "on_incorrect": of_class[0], "on_correct": of_class[1]}


def _phi(faults: FloatArray) -> FloatArray:
    """(n11 n00 - n10 n01) / sqrt(n1. n0. n.1 n.0); NaN where a margin is empty."""
    product = faults[:, 0, 0] * faults[:, 1, 1] - faults[:, 0, 1] * faults[:, 1, 0]
    return divided(product, np.sqrt(faults.sum(axis=1).prod(axis=1) * faults.sum(axis=2).prod(axis=1)))


def _joint(faults: FloatArray, phi_ci: Interval | None) -> JointErrors:
    """The figures of the data as they are, which is one sample."""
    (both_right, only_a), (only_b, both_wrong) = faults[0].tolist()
    n, wrong_a, wrong_b = both_right + only_a + only_b + both_wrong, only_b + both_wrong, only_a + both_wrong
    alike, unlike = both_right * both_wrong, only_a * only_b
    return JointErrors(
        n=int(n),
        wrong_a=int(wrong_a),
        wrong_b=int(wrong_b),
        both_wrong=int(both_wrong),
        expected=wrong_a * wrong_b / n if n else None,
        phi=defined(_phi(faults)[0]),
        phi_ci=phi_ci,
        yules_q=(alike - unlike) / (alike + unlike) if alike + unlike else None,
    )


# -- Which of several things tests can't tell apart, as groups and as letters.


def alike_groups(differ: BoolArray) -> list[tuple[int, ...]]:
    """The largest groups no two of which differ; a thing is in every group it fits into.

    They are the maximal cliques of the graph of pairs that don't differ, which is what inserting and absorbing gives.
    Sources: Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons", Journal of
    Computational and Graphical Statistics 13, 2004; Bron and Kerbosch, "Algorithm 457: finding all cliques of an
    undirected graph", Communications of the ACM 16, 1973.

    Args:
        differ: Whether two things differ, symmetric, things x things.

    Returns:
        Positions in ascending order; groups with the first things first.
    """
    things = set(range(len(differ)))
    fits = [things - {thing} - set(np.flatnonzero(differ[thing]).tolist()) for thing in sorted(things)]
    return sorted(tuple(sorted(group)) for group in _cliques(fits, set(), things, set())) if things else []


def letters(groups: Sequence[Sequence[int]], things: int) -> list[str]:
    """Each thing's letters, one for every group it is in; past the 52nd group a number in brackets."""
    names = [ascii_letters[place] if place < len(ascii_letters) else f"({place + 1})" for place in range(len(groups))]
    return [
        "".join(name for name, group in zip(names, groups, strict=True) if thing in group) for thing in range(things)
    ]


def _cliques(fits: Sequence[set[int]], chosen: set[int], open_: set[int], done: set[int]) -> Iterator[set[int]]:
    """Groups that hold the chosen, more of the open and none of the done; the pivot is Tomita's."""
    if not open_ and not done:
        yield chosen
        return
    pivot = max(open_ | done, key=lambda thing: len(fits[thing] & open_))
    for thing in sorted(open_ - fits[pivot]):
        yield from _cliques(fits, chosen | {thing}, open_ & fits[thing], done & fits[thing])
        open_, done = open_ - {thing}, done | {thing}
