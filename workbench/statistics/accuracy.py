"""The accuracy table: one verifier, all items and each group of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs

from workbench.core.selection import UNKNOWN
from workbench.core.taxonomy import UNTYPED
from workbench.core.verdict import Outcome, Protocol3
from workbench.statistics.confusion import (
    NOTHING,
    BoolArray,
    Confusion,
    FloatArray,
    IntArray,
    confusion,
    coverage,
    grade,
    only_failed,
    tally,
)
from workbench.statistics.records.report import NO_REASON, AccuracyRow, AverageRow
from workbench.statistics.scores import auroc
from workbench.statistics.subgroups import (
    Clustering,
    Clusters,
    clustered_wilson,
    clusters,
    compact,
    design_effects,
    wilson,
)

# -- Figures of one confusion table, as fractions; None where a figure is undefined.


def accuracy(counts: Confusion) -> float | None:
    """(TP + TN) / n; None without rows."""
    return _ratio(counts.tp + counts.tn, counts.n)


def balanced_accuracy(counts: Confusion) -> float | None:
    """(TPR + TNR) / 2; None when gold lacks a class.

    Source: Brodersen et al., "The balanced accuracy and its posterior distribution", ICPR 2010.
    """
    sensitivity = _ratio(counts.tp, counts.tp + counts.fn)
    specificity = _ratio(counts.tn, counts.tn + counts.fp)
    if sensitivity is None or specificity is None:
        return None
    return (sensitivity + specificity) / 2


def mcc(counts: Confusion) -> float | None:
    """(TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN)).

    None when gold lacks a class; 0 when gold holds both and every verdict is the same.

    Source: Matthews, "Comparison of the predicted and observed secondary structure of T4 phage
    lysozyme", Biochimica et Biophysica Acta 405, 1975.
    """
    tp, fp, tn, fn = counts.tp, counts.fp, counts.tn, counts.fn
    if not tp + fn or not tn + fp:
        return None
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / sqrt(product) if product else 0.0


def fpr(counts: Confusion) -> float | None:
    """FP / (FP + TN), the share of wrong completions accepted; None when there are none."""
    return _ratio(counts.fp, counts.fp + counts.tn)


def fnr(counts: Confusion) -> float | None:
    """FN / (FN + TP), the share of right completions refused; None when there are none."""
    return _ratio(counts.fn, counts.fn + counts.tp)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


_NUMBER = re.compile(r"([0-9]{1,15})")


class AccuracyColumns(Struct, frozen=True, kw_only=True, eq=False):
    """What an accuracy table is computed from: arrays with one value an item.

    Attributes:
        outcome: The verifier's `Outcome`, or -1 where no verdict is stored (int8).
        gold: 1 correct, 0 incorrect, -1 none (int8).
        question: The item's question, at least 0; questions are the clusters of the intervals (int64).
        group: Positions in ``names`` (int32), or None for all items only.
        names: The groups' names.
        parts: Of a crossing the names of each group's parts; () where a group has but its own name.
        score: The verifier's score, NaN where it gave none (float64); None for a verifier without scores.
        clusters: Of ``question`` and ``group``, where they have been found before; it saves finding them again.
    """

    outcome: IntArray
    gold: IntArray
    question: IntArray
    group: IntArray | None = None
    names: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    score: FloatArray | None = None
    clusters: Clusters | None = None

    def __post_init__(self) -> None:
        if len(self.question) != len(self.outcome):
            raise ValueError("outcome and question differ in length")
        if len(self.question) and self.question.min() < 0:
            raise ValueError("an interval needs the question of every item")


class ClusterCounts(NamedTuple):
    """Verdicts against gold in each cluster, from which a whole table follows.

    Attributes:
        clusters: Groups and questions.
        cells: Counts of shape (clusters, 2, 4): cluster, gold label, outcome.
    """

    clusters: Clusters
    cells: IntArray

    def by_group(self) -> IntArray:
        """Counts of shape (groups, 2, 4)."""
        group, groups = self.clusters.group, self.clusters.groups
        sums = [np.bincount(group, weights=cell, minlength=groups) for cell in self._flat().T]
        return np.stack(sums, axis=1).astype(np.int64).reshape(groups, *self.cells.shape[1:])

    def graded(self, protocol: Protocol3) -> tuple[IntArray, IntArray]:
        """Each cluster's counted items, and how many of them are right, under a protocol."""
        gold, outcome = np.indices(self.cells.shape[1:]).reshape(2, -1)
        counted, right = grade(outcome, gold, protocol)
        cells = self._flat()
        return cells[:, counted].sum(axis=1), cells[:, right].sum(axis=1)

    def _flat(self) -> IntArray:
        return self.cells.reshape(len(self.cells), self.cells.shape[1] * self.cells.shape[2])


def count_clusters(columns: AccuracyColumns) -> ClusterCounts:
    """Count one verifier's verdicts in one pass over the items.

    Raises:
        ValueError: The arrays differ in length or hold values outside their ranges.
    """
    found = columns.clusters or clusters(columns.question, columns.group, max(len(columns.names), 1))
    return ClusterCounts(found, tally(columns.outcome, columns.gold, found.of_item, len(found.group)))


def accuracy_rows(
    verifier: str, columns: AccuracyColumns, protocol: Protocol3, counted: ClusterCounts | None = None
) -> list[AccuracyRow]:
    """The row of all items, then one row a group in the order of `group_order`.

    A cluster is a question within its group. A group none of whose items counts is a row with n = 0; a name
    without any item in the columns has no row.

    Args:
        counted: What `count_clusters` made of the columns, where that has been done.

    Raises:
        ValueError: The arrays differ in length or hold values outside their ranges.
    """
    found = counted or count_clusters(columns)
    # Who failed on all was not measured, in no group; who failed on a group alone counts there as the protocol says,
    # so that groups add up.
    confused = _nothing if only_failed(found.cells.sum(axis=0)) else confusion
    areas = auroc(columns.score, columns.gold, np.zeros(len(columns.gold), dtype=np.int8), 1)
    rows = _rows(verifier, protocol, (None,), found.cells.sum(axis=0)[None], _of_all(found, protocol), areas, confused)
    if columns.group is None:
        return rows
    areas = auroc(columns.score, columns.gold, columns.group, len(columns.names))
    sizes, right = found.graded(protocol)
    effects = design_effects(sizes, right, found.clusters.group, len(columns.names))
    grouped = _rows(verifier, protocol, columns.names, found.by_group(), effects, areas, confused)
    present = np.bincount(found.clusters.group, weights=found.clusters.items, minlength=len(columns.names)) > 0
    parts = columns.parts or [(name,) for name in columns.names]
    kept = [
        structs.replace(row, groups=part)
        for row, part, any_item in zip(grouped, parts, present, strict=True)
        if any_item
    ]
    return rows + sorted(kept, key=lambda row: [group_order(part) for part in row.groups])


def group_order(name: str) -> tuple[bool, list[tuple[int, str]], str]:
    """Sort key of groups: numbers in names by their value (A2 before A10), "untyped", "none" and "unknown" last."""
    parts = enumerate(_NUMBER.split(name.removeprefix("<")))
    natural = [(int(part), "") if place % 2 else (0, part.casefold()) for place, part in parts]
    return name in (UNTYPED, NO_REASON, UNKNOWN), natural, name


def _of_all(found: ClusterCounts, protocol: Protocol3) -> Clustering:
    """Design effect over all items: the clusters are whole questions."""
    question, number = found.clusters.question, found.clusters.questions
    sizes, right = (np.bincount(question, weights=each, minlength=number) for each in found.graded(protocol))
    return design_effects(sizes, right, np.zeros(number, dtype=np.int64), 1)


def _rows(
    verifier: str,
    protocol: Protocol3,
    names: Sequence[str | None],
    cells: IntArray,
    effects: Clustering,
    areas: list[float | None],
    confused: Callable[[IntArray, Protocol3], Confusion],
) -> list[AccuracyRow]:
    measures = zip(names, cells, effects.clusters.tolist(), effects.deff.tolist(), areas, strict=True)
    return [_row(verifier, confused(cells, protocol), name, cells, *rest) for name, cells, *rest in measures]


def _nothing(cells: IntArray, protocol: Protocol3) -> Confusion:
    return NOTHING


def _row(
    verifier: str,
    counts: Confusion,
    group: str | None,
    cells: IntArray,
    questions: int,
    deff: float,
    area: float | None,
) -> AccuracyRow:
    right = counts.tp + counts.tn
    return AccuracyRow(
        verifier=verifier,
        group=group,
        n=counts.n,
        questions=questions,
        accuracy=accuracy(counts),
        ci=wilson(right / deff, counts.n / deff) if counts.n else None,
        balanced_accuracy=balanced_accuracy(counts),
        mcc=mcc(counts),
        fpr=fpr(counts),
        fnr=fnr(counts),
        coverage=coverage(cells),
        tp=counts.tp,
        fp=counts.fp,
        tn=counts.tn,
        fn=counts.fn,
        abstain=int(cells[:, Outcome.ABSTAIN].sum()),
        error=int(cells[:, Outcome.ERROR].sum()),
        deff=deff,
        auroc=area,
    )


# -- A verifier's accuracy as one number, in both conventions.


def average(verifier: str, micro: float | None, groups: Sequence[float | None], over: str) -> AverageRow:
    """Micro, the mean over items, and macro, the unweighted mean over groups.

    The averages of VerifyBench (arXiv 2505.15801, table 2) are micro.

    Args:
        micro: The accuracy over all items.
        groups: The groups' accuracies; those that have none don't count.
        over: What the groups are.
    """
    shares = [share for share in groups if share is not None]
    macro = sum(shares) / len(shares) if shares else None
    return AverageRow(verifier=verifier, micro=micro, macro=macro, over=over, groups=len(shares))


def shares(right: BoolArray, group: IntArray) -> list[float]:
    """The share of right items of each group that has any."""
    counts = np.bincount(2 * group + right, minlength=2 * (int(group.max(initial=0)) + 1)).reshape(-1, 2)
    sizes = counts.sum(axis=1)
    found: list[float] = (counts[sizes > 0, 1] / sizes[sizes > 0]).tolist()
    return found


# -- What verifiers that don't look at the completion would say.


class Majority(NamedTuple):
    """Verdicts by the class that is most frequent in the gold of an item's type.

    Attributes:
        outcome: One `Outcome` an item (int8).
        tied: Types, by code, in which both classes are equally frequent: they count as incorrect there.
    """

    outcome: IntArray
    tied: IntArray


def always(outcome: Outcome, items: int) -> IntArray:
    """The same verdict on every item (int8)."""
    return np.full(items, outcome, dtype=np.int8)


def majority(gold: IntArray, kind: IntArray, kinds: int) -> Majority:
    """Verdicts that follow the gold they are measured on: an upper bound for what knowing the type alone buys.

    Args:
        gold: 1 correct, 0 incorrect, -1 none; items without gold don't vote.
        kind: Each item's type, from 0 to ``kinds - 1``.
        kinds: The number of types.
    """
    _, incorrect, correct = np.bincount(kind * 3 + (gold + 1), minlength=3 * kinds).reshape(kinds, 3).T
    says = np.where(correct > incorrect, Outcome.CORRECT, Outcome.INCORRECT).astype(np.int8)
    return Majority(says[kind], np.flatnonzero((correct == incorrect) & (correct > 0)))


# -- What a verifier measured here would do where another share of completions is correct.


class Rates(NamedTuple):
    """Shares judged rightly among correct (TPR) and incorrect (TNR) completions, with 95 % intervals by question.

    Attributes:
        correlation: Of both shares' errors, from -1 to 1: questions that have completions of both classes.
    """

    tpr: float
    tnr: float
    tpr_ci: tuple[float, float]
    tnr_ci: tuple[float, float]
    correlation: float


class Best(NamedTuple):
    """Between which shares of correct completions one verifier has the highest expected accuracy.

    Attributes:
        place: The verifier's place among those compared.
    """

    place: int
    low: float
    high: float


def rates(right: BoolArray, gold: IntArray, question: IntArray) -> Rates | None:
    """Both shares; None where gold lacks a class.

    Args:
        right: Whether an item counts as judged rightly.
        gold: 1 correct, 0 incorrect.
        question: The item's question.
    """
    correct = gold == 1
    if correct.all() or not correct.any():
        return None
    labels, known = compact(question)
    errors = [_errors(right[kind], labels[kind], len(known)) for kind in (correct, ~correct)]
    spread = sqrt(float((errors[0] @ errors[0]) * (errors[1] @ errors[1])))
    return Rates(
        tpr=float(right[correct].mean()),
        tnr=float(right[~correct].mean()),
        tpr_ci=clustered_wilson(right[correct], question[correct]),
        tnr_ci=clustered_wilson(right[~correct], question[~correct]),
        correlation=float(errors[0] @ errors[1]) / spread if spread else 0.0,
    )


def accuracy_at(prevalence: float, known: Rates) -> tuple[float, tuple[float, float]]:
    """Expected accuracy where this share is correct, pi TPR + (1 - pi) TNR, with its 95 % interval.

    The interval puts both shares' intervals together: l = a - sqrt(u² + v² + 2 r u v), where u and v are the distances
    of pi TPR and (1 - pi) TNR to their lower ends and r is the correlation of their errors; the upper end alike. At a
    prevalence of 0 or 1 it is the share's own interval. Source: Zou and Donner, "Construction of confidence limits
    about effect measures: a general approach", Statistics in Medicine 27, 2008.
    """
    weights = (prevalence, 1 - prevalence)
    found = prevalence * known.tpr + (1 - prevalence) * known.tnr
    shares = ((known.tpr, known.tpr_ci), (known.tnr, known.tnr_ci))
    ends = []
    for end in (0, 1):
        u, v = (weight * (share - ci[end]) for weight, (share, ci) in zip(weights, shares, strict=True))
        ends.append(sqrt(max(u * u + v * v + 2 * known.correlation * u * v, 0.0)))
    return found, (max(found - ends[0], 0.0), min(found + ends[1], 1.0))


def true_rate(accepted: float, known: Rates) -> float | None:
    """The share of correct completions behind the share a verifier accepts, within [0, 1].

    (accepted + TNR - 1) / (TPR + TNR - 1); None where TPR + TNR <= 1: it accepts wrong completions as readily as right
    ones, and its rate says nothing. Source: Rogan and Gladen, "Estimating prevalence from the results of a screening
    test", American Journal of Epidemiology 107, 1978.
    """
    informed = known.tpr + known.tnr - 1
    if informed <= 0:
        return None
    return min(max((accepted + known.tnr - 1) / informed, 0.0), 1.0)


def best(everyone: Sequence[Rates]) -> list[Best]:
    """Who has the highest expected accuracy at which prevalence, from 0 to 1; of equals the first.

    Expected accuracy is a straight line over prevalence, from TNR to TPR: this is the upper edge of the lines.
    """
    if not everyone:
        return []
    place = max(range(len(everyone)), key=lambda one: (everyone[one].tnr, _slope(everyone[one]), -one))
    found: list[Best] = []
    at = 0.0
    while True:
        now = everyone[place]
        steeper = [one for one, other in enumerate(everyone) if _slope(other) > _slope(now)]
        meets = [(_meeting(now, everyone[one]), -_slope(everyone[one]), one) for one in steeper]
        share, _, following = min(meets, default=(1.0, 0.0, place))
        if share >= 1:
            return [*found, Best(place, at, 1.0)]
        if share > at:
            found.append(Best(place, at, share))
        at, place = share, following


def _errors(right: BoolArray, labels: IntArray, questions: int) -> FloatArray:
    """Each question's sum of differences from the share of right items."""
    sizes = np.bincount(labels, minlength=questions)
    found: FloatArray = np.bincount(labels, weights=right, minlength=questions) - sizes * right.mean()
    return found


def _slope(known: Rates) -> float:
    return known.tpr - known.tnr


def _meeting(one: Rates, steeper: Rates) -> float:
    """The prevalence at which both lines are equally high."""
    return (one.tnr - steeper.tnr) / (_slope(steeper) - _slope(one))
