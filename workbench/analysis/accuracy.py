"""The accuracy table: one verifier, all items and each group of them."""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct

from workbench.analysis import metrics
from workbench.analysis.arrays import FloatArray, IntArray
from workbench.analysis.auroc import auroc
from workbench.analysis.confusion import confusion, coverage, grade, tally
from workbench.analysis.intervals import clustering, wilson
from workbench.model.report import NO_REASON, AccuracyRow
from workbench.model.taxonomy import UNTYPED
from workbench.model.verdict import Outcome, Protocol3

_NUMBER = re.compile(r"([0-9]{1,15})")


class AccuracyColumns(Struct, frozen=True, kw_only=True, eq=False):
    """What an accuracy table is computed from: arrays with one value an item.

    Attributes:
        outcome: The verifier's `Outcome`, or -1 where no verdict is stored (int8).
        gold: 1 correct, 0 incorrect, -1 none (int8).
        question: The item's question, at least 0; questions are the clusters of the intervals (int64).
        group: Positions in ``names`` (int32), or None for all items only.
        names: The groups' names.
        score: The verifier's score, NaN where it gave none (float64); None for a verifier without scores.
    """

    outcome: IntArray
    gold: IntArray
    question: IntArray
    group: IntArray | None = None
    names: tuple[str, ...] = ()
    score: FloatArray | None = None

    def __post_init__(self) -> None:
        if len(self.question) != len(self.outcome):
            raise ValueError("outcome and question differ in length")
        if len(self.question) and self.question.min() < 0:
            raise ValueError("an interval needs the question of every item")


def accuracy_rows(verifier: str, columns: AccuracyColumns, protocol: Protocol3) -> list[AccuracyRow]:
    """The row of all items, then one row a group in the order of `group_order`.

    A cluster is a question within its group. A group none of whose items counts is a row with n = 0; a name
    without any item in the columns has no row.

    Raises:
        ValueError: The arrays differ in length or hold values outside their ranges.
    """
    everything = np.zeros(len(columns.gold), dtype=np.int8)
    rows = _rows(verifier, columns, everything, (None,), protocol)
    if columns.group is None:
        return rows
    grouped = _rows(verifier, columns, columns.group, columns.names, protocol)
    present = np.bincount(columns.group, minlength=len(columns.names)) > 0
    kept = [row for row, any_item in zip(grouped, present, strict=True) if any_item]
    return rows + sorted(kept, key=lambda row: group_order(row.group or ""))


def group_order(name: str) -> tuple[bool, list[tuple[int, str]], str]:
    """Sort key of groups: numbers in names by their value (A2 before A10), "untyped" and "none" last."""
    parts = enumerate(_NUMBER.split(name))
    natural = [(int(part), "") if place % 2 else (0, part.casefold()) for place, part in parts]
    return name in (UNTYPED, NO_REASON), natural, name


def _rows(
    verifier: str,
    columns: AccuracyColumns,
    group: IntArray,
    names: tuple[str | None, ...],
    protocol: Protocol3,
) -> list[AccuracyRow]:
    tallies = tally(columns.outcome, columns.gold, group, len(names))
    counted, right = grade(columns.outcome, columns.gold, protocol)
    clusters, deff = clustering(right[counted], columns.question[counted], group[counted], len(names))
    areas = auroc(columns.score, columns.gold, group, len(names))
    measures = zip(names, tallies, clusters.tolist(), deff.tolist(), areas, strict=True)
    return [_row(verifier, protocol, *measured) for measured in measures]


def _row(
    verifier: str,
    protocol: Protocol3,
    group: str | None,
    cells: IntArray,
    questions: int,
    deff: float,
    area: float | None,
) -> AccuracyRow:
    counts = confusion(cells, protocol)
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
