"""The cells of an accuracy table against what their groups belong to: deltas, p-values, q-values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec import structs

from workbench.statistics.records.report import AccuracyRow, CellTests

if TYPE_CHECKING:
    from workbench.statistics.accuracy import AccuracyColumns
    from workbench.statistics.arrays import IntArray
    from workbench.statistics.subgroups import CellTest

Parts: TypeAlias = tuple[str, ...]
"""What names a group among the rows of one entry."""


class Pieces(NamedTuple):
    """Questions by group: arrays with one value a question that has counted items in a group.

    Attributes:
        size: Its counted items there.
        right: How many of them are judged rightly.
        group: The group's position in the names.
        scope: What the group is set against: the type where groups are subtypes, else one for all items.
    """

    size: IntArray
    right: IntArray
    group: IntArray
    scope: IntArray


class CellKey(NamedTuple):
    """A cell of the table: whose row of which group."""

    verifier: str
    parts: Parts


def with_deltas(rows: Sequence[AccuracyRow], columns: AccuracyColumns, pieces: Pieces) -> list[AccuracyRow]:
    """The rows of one entry, each with its difference from what its group belongs to."""
    import numpy as np

    from workbench.statistics.subgroups import scope_of

    shares = np.bincount(pieces.scope, weights=pieces.right) / np.maximum(
        np.bincount(pieces.scope, weights=pieces.size), 1
    )
    only = scope_of(pieces.group, pieces.scope, len(columns.names))
    against = {part: float(shares[place]) for part, place in zip(columns.parts, only, strict=True) if place >= 0}
    return [
        row
        if row.accuracy is None or row.groups not in against
        else structs.replace(row, delta=row.accuracy - against[row.groups])
        for row in rows
    ]


def tests_of(columns: AccuracyColumns, pieces: Pieces) -> dict[Parts, CellTest]:
    """The permutation test of each group that is a part of something."""
    from workbench.statistics.subgroups import cell_tests

    found = cell_tests(pieces.size, pieces.right, pieces.group, pieces.scope)
    return {columns.parts[place]: test for place, test in found.items()}


def with_tests(
    rows: Sequence[AccuracyRow], tests: Mapping[str, Mapping[Parts, CellTest]]
) -> tuple[list[AccuracyRow], CellTests | None]:
    """The rows of a table with p- and q-values, and how those came about.

    The two groups of a type that has no others are set against each other: one test, however many cells show it.

    Args:
        tests: By verifier, those of `tests_of`.
    """
    from workbench.statistics.multiplicity import benjamini_hochberg

    of = {CellKey(name, parts): (name, test.of) for name, found in tests.items() for parts, test in found.items()}
    distinct = {(name, test.of): test for name, found in tests.items() for test in found.values()}
    if not distinct:
        return list(rows), None
    q = dict(zip(distinct, benjamini_hochberg([test.p for test in distinct.values()]), strict=True))
    shown = []
    for row in rows:
        hypothesis = of.get(CellKey(row.verifier, row.groups))
        if hypothesis is None:
            shown.append(row)
        else:
            shown.append(structs.replace(row, p=distinct[hypothesis].p, q=q[hypothesis]))
    return shown, CellTests(hypotheses=len(distinct), exact=sum(test.exact for test in distinct.values()))
