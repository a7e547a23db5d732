"""The accuracy table of one verifier: all items and each group of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct, structs

from workbench.core.selection import UNKNOWN
from workbench.core.taxonomy import UNTYPED
from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.confusion import (
    NOTHING,
    BoolArray,
    Confusion,
    FloatArray,
    IntArray,
    confusion,
    grade,
    only_failed,
    tally,
)
from workbench.statistics.intervals import Clustering, Clusters, Ends, clusters, design_effects, intervals
from workbench.statistics.metrics.auroc import auroc
from workbench.statistics.metrics.coverage import coverage
from workbench.statistics.rates import balanced_intervals, class_rates, mcc_intervals
from workbench.statistics.records.report import METRICS, NO_REASON, AccuracyRow, AverageRow

_NUMBER = re.compile(r"([0-9]{1,15})")


class AccuracyColumns(Struct, frozen=True, kw_only=True, eq=False):
    """The input of an accuracy table: arrays with one value an item.

    Attributes:
        outcome: The verifier's `OutcomeCode`, or -1 where no verdict is stored (int8).
        gold: 1 correct, 0 incorrect, -1 none (int8).
        question: The item's question, at least 0; questions are the clusters of the intervals (int64).
        group: Each item's group, as a position in ``names`` (int32); None for a table of all items only.
        names: The groups' names.
        parts: For groups by several properties, the names of each group's parts; () if groups have one property.
        score: The verifier's score, NaN without one (float64); None for a verifier without scores.
        clusters: The clusters by ``question`` and ``group``, if already computed; None to compute them.
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
        # If clusters are given, questions have already been checked.
        if self.clusters is None and len(self.question) and self.question.min() < 0:
            raise ValueError("an interval needs the question of every item")


class ClusterCounts(NamedTuple):
    """Counts of verdicts against gold in each cluster, from which a table is computed.

    Attributes:
        clusters: The clusters, each a question within a group.
        cells: Counts of shape (clusters, 2, 4): cluster, gold label, outcome.
    """

    clusters: Clusters
    cells: IntArray

    def by_group(self) -> IntArray:
        group, groups = self.clusters.group, self.clusters.groups
        sums = [np.bincount(group, weights=cell, minlength=groups) for cell in self._flat().T]
        return np.stack(sums, axis=1).astype(np.int64).reshape(groups, *self.cells.shape[1:])

    def graded(self, protocol: Protocol3) -> tuple[IntArray, IntArray]:
        kinds = self.judged(protocol)
        return kinds.sum(axis=(1, 2)), kinds[:, :, 1].sum(axis=1)

    def judged(self, protocol: Protocol3) -> IntArray:
        """Return counts of shape (clusters, 2, 2): cluster, gold, whether judged correctly under a protocol."""
        gold, outcome = np.indices(self.cells.shape[1:]).reshape(2, -1)
        counted, right = grade(outcome, gold, protocol)
        cells = self._flat()
        kinds = [cells[:, counted & (gold == label) & (right == yes)].sum(axis=1) for label in (0, 1) for yes in (0, 1)]
        return np.stack(kinds, axis=1).reshape(-1, 2, 2)

    def paired_counts(self, said: OutcomeCode, protocol: Protocol3) -> IntArray:
        """Count each cluster's items by whether the verifier and the constant verdict ``said`` are right: clusters x 4.

        The columns are the items that neither, only the constant, only the verifier and both judge correctly, as in
        `compare.compare_counted`.
        """
        gold, outcome = np.indices(self.cells.shape[1:]).reshape(2, -1)
        counted, right = grade(outcome, gold, protocol)
        kind = 2 * right + (gold == said)
        cells = self._flat()
        return np.stack([cells[:, counted & (kind == one)].sum(axis=1) for one in range(4)], axis=1)

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
    """Return the row of all items, then one row for each group in the order of `group_order`.

    A cluster is a question within its group. A group without counted items has a row with n = 0; a name without items
    in the columns has no row.

    Args:
        counted: The result of `count_clusters` for the columns, if already computed.

    Raises:
        ValueError: The arrays differ in length or hold values outside their ranges.
    """
    found = counted or count_clusters(columns)
    # A verifier that failed on all items is not measured in any group. One that failed only on a group is counted
    # there under the protocol, so that groups add up.
    confused = (lambda *_: NOTHING) if only_failed(found.cells.sum(axis=0)) else confusion
    areas = auroc(columns.score, columns.gold, np.zeros(len(columns.gold), dtype=np.int8), 1)
    judged = found.judged(protocol)
    question, number = found.clusters.question, found.clusters.questions
    kinds = judged.reshape(-1, 4).T
    whole = np.stack([np.bincount(question, weights=each, minlength=number) for each in kinds], axis=1)
    certainty = _row_intervals(whole.reshape(-1, 2, 2), np.zeros(number, dtype=np.int64), 1)
    rows = _rows(verifier, protocol, (None,), found.cells.sum(axis=0)[None], certainty, areas, confused)
    if columns.group is None:
        return rows
    areas = auroc(columns.score, columns.gold, columns.group, len(columns.names))
    certainty = _row_intervals(judged, found.clusters.group, len(columns.names))
    grouped = _rows(verifier, protocol, columns.names, found.by_group(), certainty, areas, confused)
    present = np.bincount(found.clusters.group, weights=found.clusters.items, minlength=len(columns.names)) > 0
    parts = columns.parts or [(name,) for name in columns.names]
    kept = [
        structs.replace(row, groups=part)
        for row, part, any_item in zip(grouped, parts, present, strict=True)
        if any_item
    ]
    return rows + sorted(kept, key=lambda row: [group_order(part) for part in row.groups])


def group_order(name: str) -> tuple[bool, list[tuple[int, str]], str]:
    """Return the sort key of a group's name: numbers sort by value (A2 before A10), "untyped", "none" and "unknown"
    last.
    """
    parts = enumerate(_NUMBER.split(name.removeprefix("<")))
    natural = [(int(part), "") if place % 2 else (0, part.casefold()) for place, part in parts]
    return name in (UNTYPED, NO_REASON, UNKNOWN), natural, name


class _RowIntervals(NamedTuple):
    known: Clustering
    accuracy: list[Ends | None]
    balanced_accuracy: list[Ends | None]
    mcc: list[Ends | None]


def _row_intervals(judged: IntArray, group: IntArray, groups: int) -> _RowIntervals:
    sizes, right = judged.sum(axis=(1, 2)), judged[:, :, 1].sum(axis=1)
    known = design_effects(sizes, right, group, groups)
    n, k = (np.bincount(group, weights=each, minlength=groups) for each in (sizes, right))
    classes = class_rates(judged, group, groups)
    return _RowIntervals(known, intervals(k, n, known), balanced_intervals(classes), mcc_intervals(classes))


def _rows(
    verifier: str,
    protocol: Protocol3,
    names: Sequence[str | None],
    cells: IntArray,
    certainty: _RowIntervals,
    areas: list[float | None],
    confused: Callable[[IntArray, Protocol3], Confusion],
) -> list[AccuracyRow]:
    rows, known = [], certainty.known
    for place, (name, outcomes) in enumerate(zip(names, cells, strict=True)):
        counts = confused(outcomes, protocol)
        values: dict[str, Any] = {key: metric.of(counts) for key, metric in METRICS.items() if metric.of is not None}
        both = values["balanced_accuracy"] is not None
        rows.append(
            AccuracyRow(
                verifier=verifier,
                group=name,
                n=counts.n,
                questions=int(known.clusters[place]),
                effective_questions=float(known.effective[place]),
                ci=certainty.accuracy[place] if counts.n else None,
                **values,
                coverage=coverage(outcomes),
                **structs.asdict(counts),
                abstain=int(outcomes[:, OutcomeCode.ABSTAIN].sum()),
                error=int(outcomes[:, OutcomeCode.ERROR].sum()),
                deff=float(known.deff[place]),
                auroc=areas[place],
                balanced_accuracy_ci=certainty.balanced_accuracy[place] if both else None,
                mcc_ci=certainty.mcc[place] if both else None,
            )
        )
    return rows


# -- A verifier's accuracy as one number, by both conventions.


def average(verifier: str, micro: float | None, groups: Sequence[float | None], over: str) -> AverageRow:
    """Return the micro average, the mean over items, and the macro average, the unweighted mean over groups.

    The averages of VerifyBench (arXiv 2505.15801, table 2) are micro.

    Args:
        micro: The accuracy over all items.
        groups: The groups' accuracies; None for a group without counted items, which is left out.
        over: The property that forms the groups, such as "type".
    """
    shares = [share for share in groups if share is not None]
    macro = sum(shares) / len(shares) if shares else None
    return AverageRow(verifier=verifier, micro=micro, macro=macro, over=over, groups=len(shares))


def shares(right: BoolArray, group: IntArray) -> list[float]:
    counts = np.bincount(2 * group + right, minlength=2 * (int(group.max(initial=0)) + 1)).reshape(-1, 2)
    sizes = counts.sum(axis=1)
    found: list[float] = (counts[sizes > 0, 1] / sizes[sizes > 0]).tolist()
    return found


# -- Baselines, which ignore the completion.


class Majority(NamedTuple):
    """Verdicts that are, for each item, the majority class of gold among items of its type.

    Attributes:
        outcome: One `OutcomeCode` an item (int8).
        tied: Codes of the types in which both classes are equally frequent; their verdict is "incorrect".
    """

    outcome: IntArray
    tied: IntArray


def always(outcome: OutcomeCode, items: int) -> IntArray:
    return np.full(items, outcome, dtype=np.int8)


def majority(gold: IntArray, kind: IntArray, kinds: int) -> Majority:
    """Return the majority class of gold by type: an upper bound on the accuracy of predictions from the type alone.

    Args:
        gold: 1 correct, 0 incorrect, -1 none; items without gold don't count.
        kind: Each item's type, from 0 to ``kinds - 1``.
        kinds: The number of types.
    """
    _, incorrect, correct = np.bincount(kind * 3 + (gold + 1), minlength=3 * kinds).reshape(kinds, 3).T
    says = np.where(correct > incorrect, OutcomeCode.CORRECT, OutcomeCode.INCORRECT).astype(np.int8)
    return Majority(says[kind], np.flatnonzero((correct == incorrect) & (correct > 0)))
