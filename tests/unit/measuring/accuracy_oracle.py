"""Every figure of an accuracy report, written down plainly: scikit-learn, statsmodels, whole numbers; no workbench."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb
from typing import Any, NamedTuple

CORRECT, INCORRECT, UNDECIDED = 1, 0, (2, 3)


class Judged(NamedTuple):
    """An item with gold and a verdict (1 correct, 0 incorrect, 2 abstain, 3 error)."""

    question: int
    kind: str
    group: str
    gold: int
    outcome: int
    score: float | None


class Counted(NamedTuple):
    """An item as a protocol counts it."""

    question: int
    gold: int
    said: int

    @property
    def right(self) -> bool:
        return self.gold == self.said


def count(items: Iterable[Judged], protocol: str) -> list[Counted]:
    """The items a protocol counts, each with the verdict it makes of it."""
    found = []
    for item in items:
        said = item.outcome
        if said in UNDECIDED:
            if protocol == "decided":
                continue
            said = INCORRECT if protocol == "forced" else 1 - item.gold
        found.append(Counted(item.question, item.gold, said))
    return found


def figures(items: Sequence[Judged], protocol: str) -> dict[str, Any]:
    """Figures of one row, as the report names them."""
    counted = count(items, protocol)
    decided = sum(item.outcome not in UNDECIDED for item in items)
    return {
        "n": len(counted),
        "questions": len({item.question for item in counted}),
        "coverage": decided / len(items) if items else None,
        "abstain": sum(item.outcome == 2 for item in items),
        "error": sum(item.outcome == 3 for item in items),
        "auroc": area([item for item in items if item.score is not None]),
        "deff": design_effect(counted),
        "ci": interval(counted),
        **dict(metrics(tuple(item.gold for item in counted), tuple(item.said for item in counted))),
    }


@cache
def metrics(gold: tuple[int, ...], said: tuple[int, ...]) -> tuple[tuple[str, Any], ...]:
    """Figures of gold and verdicts alone."""
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, confusion_matrix, matthews_corrcoef

    (tn, fp), (fn, tp) = confusion_matrix(gold, said, labels=[0, 1]).tolist() if gold else ((0, 0), (0, 0))
    found = {
        "accuracy": accuracy_score(gold, said) if gold else None,
        "balanced_accuracy": balanced_accuracy_score(gold, said) if {0, 1} <= set(gold) else None,
        "mcc": matthews_corrcoef(gold, said) if {0, 1} <= set(gold) else None,
        "fpr": fp / (fp + tn) if fp + tn else None,
        "fnr": fn / (fn + tp) if fn + tp else None,
        "tp": tp,
        "fp": fp,
        "tn": tn,
        "fn": fn,
    }
    return tuple(found.items())


def area(scored: Sequence[Judged]) -> float | None:
    """The area under the ROC curve, whatever the protocol."""
    from sklearn.metrics import roc_auc_score

    gold = [item.gold for item in scored]
    return float(roc_auc_score(gold, [item.score for item in scored])) if {0, 1} <= set(gold) else None


def design_effect(counted: Sequence[Counted]) -> float:
    """How much questions widen the interval, at least 1."""
    n, right = len(counted), sum(item.right for item in counted)
    by_question = defaultdict(list)
    for item in counted:
        by_question[item.question].append(item.right)
    clusters = len(by_question)
    if clusters < 2 or right in (0, n):
        return 1.0
    p = right / n
    squares = sum((sum(own) - len(own) * p) ** 2 for own in by_question.values())
    return max(1.0, (clusters / (clusters - 1) * squares / n**2) / (p * (1 - p) / n))


def interval(counted: Sequence[Counted]) -> tuple[float, float] | None:
    """Wilson's interval on items and right items divided by the design effect."""
    from statsmodels.stats.proportion import proportion_confint

    if not counted:
        return None
    deff = design_effect(counted)
    low, high = proportion_confint(sum(item.right for item in counted) / deff, len(counted) / deff, method="wilson")
    return float(low), float(high)


class Permuted(NamedTuple):
    """A group against the rest of its scope; ``of`` are the groups that share this very test."""

    p: float
    of: frozenset[str]


def cell_tests(items: Sequence[Judged], protocol: str, *, within_types: bool) -> dict[str, Permuted]:
    """The permutation test of each group, by counting."""
    scopes: dict[str, list[Judged]] = defaultdict(list)
    for item in items:
        if count([item], protocol):
            scopes[item.kind if within_types else ""].append(item)
    several = Counter(group for own in scopes.values() for group in {item.group for item in own})
    found = {}
    for own in scopes.values():
        groups = {item.group for item in own}
        alone = {group for group in groups if several[group] == 1}
        for group in alone if len(groups) > 1 else ():
            twins = alone if len(alone) == len(groups) == 2 else {group}
            found[group] = Permuted(by_chance(own, group, protocol), frozenset(twins))
    return found


def by_chance(items: Sequence[Judged], group: str, protocol: str) -> float:
    """The share of all ways to call as many pieces the group's that set it as far apart."""
    pieces: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for item in items:
        (counted,) = count([item], protocol)
        pieces[item.group, item.question].append(counted.right)
    n, right = len(items), sum(map(sum, pieces.values()))
    drawn = [own for (name, _), own in pieces.items() if name == group]
    observed = abs(sum(map(sum, drawn)) - Fraction(right, n) * sum(map(len, drawn)))
    kinds = Counter((len(own), sum(own)) for own in pieces.values())
    return _share(tuple(sorted(kinds.items())), len(drawn), Fraction(right, n), observed)


@cache
def _share(kinds: tuple[tuple[tuple[int, int], int], ...], drawn: int, share: Fraction, observed: Fraction) -> float:
    *others, ((size, right), number) = sorted(kinds, key=lambda kind: kind[1])
    as_far = total = 0
    for taken in product(*(range(min(often, drawn) + 1) for _, often in others)):
        left = drawn - sum(taken)
        if not 0 <= left <= number:
            continue
        ways = comb(number, left)
        apart = left * (right - share * size)
        for ((m, k), often), some in zip(others, taken, strict=True):
            ways *= comb(often, some)
            apart += some * (k - share * m)
        total += ways
        as_far += ways * (abs(apart) >= observed)
    return as_far / total


def adjusted(tests: dict[tuple[str, frozenset[str]], float]) -> dict[tuple[str, frozenset[str]], float]:
    """q-values over distinct tests."""
    from statsmodels.stats.multitest import multipletests

    return dict(zip(tests, multipletests(list(tests.values()), method="fdr_bh")[1].tolist(), strict=True))
