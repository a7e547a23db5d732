"""Agreement of two verifiers and correlation of their errors, which determines whether combining them helps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np

from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.agreement.clustered import evidence, interval, jackknife
from workbench.statistics.agreement.coefficients import divide_or_nan, sum_by_position
from workbench.statistics.agreement.cohen import kappa_interval, kappa_of
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray, defined
from workbench.statistics.intervals import compact, distinct
from workbench.statistics.records.comparison import Interval, JointErrors, JudgePair

_CATEGORIES = 3
"""Number of categories: incorrect, correct and undecided."""
_UNDECIDED: dict[Protocol3, int] = {"forced": 0, "strict": 2, "decided": -1}
"""Meaning of an undecided verdict: "incorrect", a separate verdict that is always wrong, or none."""


class Verdicts(NamedTuple):
    """The verdicts of two verifiers, as arrays with one value for each item.

    Attributes:
        a: A's verdicts, coded by `verdict_codes`.
        b: B's verdicts, coded in the same way.
        gold: 1 correct, 0 incorrect, -1 none.
        question: The item's question; questions are the clusters.
    """

    a: IntArray
    b: IntArray
    gold: IntArray
    question: IntArray


def verdict_codes(outcome: IntArray, protocol: Protocol3) -> IntArray:
    """Return codes of verdicts (int8): 0 for incorrect, 1 for correct, 2 for undecided where the protocol treats it as
    a separate verdict; -1 if the item doesn't count.
    """
    found = outcome.astype(np.int8)
    found[outcome >= OutcomeCode.ABSTAIN] = _UNDECIDED[protocol]
    return found


def judge_pair(a: str, b: str, verdicts: Verdicts) -> JudgePair:
    """Return agreement and joint errors of two verifiers, with intervals by question.

    Sources: Cohen's kappa as in `statistics.agreement`; for the measures of joint errors, Kuncheva and Whitaker,
    "Measures of diversity in classifier ensembles and their relationship with the ensemble accuracy", Machine Learning
    51, 2003 (phi is their rho, the share of joint errors is their double fault); Yule, "On the association of
    attributes in
    statistics", Philosophical Transactions of the Royal Society A 194, 1900, for Q.
    """
    both = (verdicts.a >= 0) & (verdicts.b >= 0)
    said_a, said_b, gold, question = (values if both.all() else values[both] for values in verdicts)
    errors, on_incorrect, on_correct = (
        _joint_errors((said_a != gold)[there], (said_b != gold)[there], question[there])
        for there in (gold >= 0, gold == 0, gold == 1)
    )
    given = [part.expected for part in (on_correct, on_incorrect) if part.expected is not None]
    return JudgePair(
        a=a,
        b=b,
        n=len(question),
        questions=distinct(question),
        **_kappa(said_a, said_b, question),
        errors=errors,
        on_correct=on_correct,
        on_incorrect=on_incorrect,
        expected_given_gold=sum(given) if given else None,
        either_right=1 - errors.both_wrong / errors.n if errors.n else None,
    )


def _kappa(a: IntArray, b: IntArray, question: IntArray) -> dict[str, Any]:
    if not len(a):
        return dict.fromkeys(("agreement", "kappa", "kappa_ci"))
    found, errors = kappa_of(a, b, question, _CATEGORIES)
    kappa = float(found.kappa[0])
    ends = kappa_interval(kappa, errors)
    return {"agreement": defined(found.agreement[0]), "kappa": defined(kappa), "kappa_ci": ends}


def _phi(faults: FloatArray) -> FloatArray:
    """Return (n11 n00 - n10 n01) / sqrt(n1. n0. n.1 n.0) of the error table in each row; NaN if a margin is empty.

    Args:
        faults: Numbers of items on which neither, only B, only A and both err.
    """
    tables = faults.reshape(-1, 2, 2)
    product = tables[:, 0, 0] * tables[:, 1, 1] - tables[:, 0, 1] * tables[:, 1, 0]
    return divide_or_nan(product, np.sqrt(tables.sum(axis=1).prod(axis=1) * tables.sum(axis=2).prod(axis=1)))


def _joint_errors(wrong_a: BoolArray, wrong_b: BoolArray, question: IntArray) -> JointErrors:
    kind = 2 * wrong_a.astype(np.int8) + wrong_b
    counts = np.bincount(kind, minlength=4)
    (neither, only_b, only_a, both), n = counts.tolist(), len(kind)
    phi = defined(_phi(counts[None].astype(float))[0])
    alike, unlike = neither * both, only_a * only_b
    return JointErrors(
        n=n,
        wrong_a=only_a + both,
        wrong_b=only_b + both,
        both_wrong=both,
        expected=(only_a + both) * (only_b + both) / n if n else None,
        phi=phi,
        phi_ci=None if phi is None else _phi_interval(phi, kind, question),
        yules_q=(alike - unlike) / (alike + unlike) if alike + unlike else None,
    )


def _phi_interval(phi: float, kind: IntArray, question: IntArray) -> Interval | None:
    """Return the 95 % interval of phi by question, as in `agreement.clustered`; None with too few questions.

    Whether each verifier is right is treated as an annotator's label: the two "agree on a rarer label" if both err and
    errors are rarer than correct verdicts.
    """
    cluster, known = compact(question)
    questions = len(known)
    wrong = np.array([0, 1, 1, 2])[kind]
    # Equally frequent labels: both count as rarer than the most frequent, which doesn't exist.
    is_rarer = np.array([wrong.sum() >= len(kind), wrong.sum() <= len(kind)])
    alike = (wrong != 1) & is_rarer[wrong // 2]
    rarer = (2 - wrong) * is_rarer[0] + wrong * is_rarer[1]
    differs, agrees, holds = (sum_by_position(cluster, mass, questions) for mass in (wrong == 1, alike, rarer))
    carried = evidence(np.zeros(questions, dtype=np.int64), differs, agrees, holds, 1)
    if not carried.is_enough():
        return None
    return interval(phi, jackknife(kind, 4, cluster, {"phi": _phi})["phi"], carried)


# -- Objects that tests can't distinguish, as groups and as letters.


def indistinguishable_groups(differ: BoolArray) -> list[tuple[int, ...]]:
    """Return the maximal groups in which no two objects differ; an object can be in several groups.

    They are the maximal cliques of the graph of pairs that don't differ, which the insert-and-absorb algorithm also
    finds.
    Sources: Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons", Journal of
    Computational and Graphical Statistics 13, 2004; Bron and Kerbosch, "Algorithm 457: finding all cliques of an
    undirected graph", Communications of the ACM 16, 1973.

    Args:
        differ: Whether two objects differ, a symmetric square matrix.

    Returns:
        Positions in ascending order; groups with the first objects come first.
    """
    things = set(range(len(differ)))
    fits = [things - {thing} - set(np.flatnonzero(differ[thing]).tolist()) for thing in sorted(things)]
    return sorted(tuple(sorted(group)) for group in _cliques(fits, set(), things, set())) if things else []


def letters(groups: Sequence[Sequence[int]], things: int) -> list[str]:
    """Return each object's letters, one for every group that it is in. Groups after the 52nd have a number in brackets
    instead."""
    names = [ascii_letters[place] if place < len(ascii_letters) else f"({place + 1})" for place in range(len(groups))]
    return [
        "".join(name for name, group in zip(names, groups, strict=True) if thing in group) for thing in range(things)
    ]


def _cliques(fits: Sequence[set[int]], chosen: set[int], open_: set[int], done: set[int]) -> Iterator[set[int]]:
    if not open_ and not done:
        yield chosen
        return
    pivot = max(open_ | done, key=lambda thing: len(fits[thing] & open_))
    for thing in sorted(open_ - fits[pivot]):
        yield from _cliques(fits, chosen | {thing}, open_ & fits[thing], done & fits[thing])
        open_, done = open_ - {thing}, done | {thing}
