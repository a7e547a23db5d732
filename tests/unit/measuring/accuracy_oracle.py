"""The figures of an accuracy report, computed with scikit-learn, statsmodels and integers, without workbench."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from math import comb, prod, sqrt
from typing import Any, NamedTuple

from tests.unit.statistics.clustered import by_hand

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
    """Return the area under the ROC curve."""
    from sklearn.metrics import roc_auc_score

    gold = [item.gold for item in scored]
    return float(roc_auc_score(gold, [item.score for item in scored])) if {0, 1} <= set(gold) else None


def design_effect(counted: Sequence[Counted]) -> float:
    """Return the factor by which clustering by question widens the interval, at least 1."""
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
    """The interval of the share of right items, by question."""
    return by_hand([item.right for item in counted], [item.question for item in counted]) if counted else None


class Permuted(NamedTuple):
    """A group against its scope; ``of`` are the groups that share this very test.

    Attributes:
        p: None where groups share questions, which is not counted out.
    """

    p: float | None
    of: frozenset[str]
    scope: str


def cell_tests(items: Sequence[Judged], protocol: str, *, within_types: bool) -> dict[str, Permuted]:
    """The permutation test of each group, by counting."""
    scopes: dict[str, list[Judged]] = defaultdict(list)
    for item in items:
        if count([item], protocol):
            scopes[item.kind if within_types else ""].append(item)
    several = Counter(group for own in scopes.values() for group in {item.group for item in own})
    found = {}
    for scope, own in scopes.items():
        groups = {item.group for item in own}
        alone = {group for group in groups if several[group] == 1}
        for group in alone if len(groups) > 1 else ():
            twins = alone if len(alone) == len(groups) == 2 else {group}
            # If there are only two groups, the test is that of the first.
            found[group] = Permuted(by_chance(own, min(twins), protocol), frozenset(twins), scope)
    return found


def by_chance(items: Sequence[Judged], group: str, protocol: str) -> float | None:
    """The share of all ways to call as many questions the group's that set it as far apart."""
    pieces: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for item in items:
        (counted,) = count([item], protocol)
        pieces[item.group, item.question].append(counted.right)
    if len({question for _, question in pieces}) < len(pieces):
        return None
    sizes, hits = [len(own) for own in pieces.values()], [sum(own) for own in pieces.values()]
    share = sum(hits) / sum(sizes)
    spread = share * (1 - share)
    pairs = sum(spread * m * (m - 1) for m in sizes)
    squares = sum((k - m * share) ** 2 for m, k in zip(sizes, hits, strict=True))
    alike = min(max((squares - spread * sum(sizes)) / pairs, 0.0), 1.0) if pairs else 0.0
    drawn = [own for (name, _), own in pieces.items() if name == group]
    kinds = Counter(zip(sizes, hits, strict=True))

    def standard_errors(hits: int, items: int, squares: int) -> float:
        variance = spread * (items + alike * (squares - items))
        return abs(hits - share * items) / sqrt(variance) if variance > 1e-9 else 0.0

    observed = standard_errors(sum(map(sum, drawn)), sum(map(len, drawn)), sum(len(own) ** 2 for own in drawn))
    *others, ((size, right), number) = sorted(kinds.items(), key=lambda kind: kind[1])
    as_far = total = 0
    for taken in product(*(range(min(often, len(drawn)) + 1) for _, often in others)):
        left = len(drawn) - sum(taken)
        if not 0 <= left <= number:
            continue
        chosen = [((size, right), left), *zip((kind for kind, _ in others), taken, strict=True)]
        ways = comb(number, left) * prod(comb(often, some) for (_, often), some in zip(others, taken, strict=True))
        totals = [sum(some * value(kind) for kind, some in chosen) for value in (_hits, _items, _squares)]
        total += ways
        as_far += ways * (standard_errors(*totals) >= observed - 1e-8)
    return as_far / total


def _hits(kind: tuple[int, int]) -> int:
    return kind[1]


def _items(kind: tuple[int, int]) -> int:
    return kind[0]


def _squares(kind: tuple[int, int]) -> int:
    return kind[0] ** 2


def adjusted(tests: dict[tuple[str, frozenset[str]], float], families: Sequence[str]) -> list[float]:
    """q-values over distinct tests: the lowest level at which a test is rejected, of those that change anything."""
    from statsmodels.stats.multitest import multipletests

    own: dict[str, dict[tuple[str, frozenset[str]], float]] = {}
    for name in families:
        inside = [key for key, one in zip(tests, families, strict=True) if one == name]
        own[name] = dict(zip(inside, multipletests([tests[key] for key in inside], method="fdr_bh")[1], strict=True))
    simes = sorted(min(values.values()) for values in own.values())
    number = len(simes)
    levels = {1.0, *(one * number / rank for one in simes for rank in range(1, number + 1))}
    levels |= {q * number / rank for values in own.values() for q in values.values() for rank in range(1, number + 1)}
    found = []
    for key, family in zip(tests, families, strict=True):
        for level in sorted(levels):
            selected = max(
                (rank for rank, one in enumerate(simes, 1) if one <= rank * level / number + 1e-12), default=0
            )
            bound = selected * level / number + 1e-12
            if min(own[family].values()) <= bound and own[family][key] <= bound:
                found.append(min(level, 1.0))
                break
        else:
            found.append(1.0)
    return found
