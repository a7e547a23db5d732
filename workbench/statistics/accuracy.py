"""The accuracy table: one verifier, all items and each group of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs

from workbench.core.breakdown import UNKNOWN
from workbench.core.taxonomy import UNTYPED
from workbench.core.verdict import Outcome, Protocol3
from workbench.statistics import metrics
from workbench.statistics.arrays import FloatArray, IntArray
from workbench.statistics.confusion import NOTHING, Confusion, confusion, coverage, grade, only_failed, tally
from workbench.statistics.intervals import Clustering, Clusters, clusters, design_effects, wilson
from workbench.statistics.records.report import NO_REASON, AccuracyRow
from workbench.statistics.scores import auroc

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
        accuracy=metrics.accuracy(counts),
        ci=wilson(right / deff, counts.n / deff) if counts.n else None,
        balanced_accuracy=metrics.balanced_accuracy(counts),
        mcc=metrics.mcc(counts),
        fpr=metrics.fpr(counts),
        fnr=metrics.fnr(counts),
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
