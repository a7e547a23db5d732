"""Counts of verdicts against gold under a protocol.

Arrays have one value for each row. An outcome is a value of `workbench.core.verdict.OutcomeCode`, or -1 where no
verdict is stored; gold is 1 (correct), 0 (incorrect) or -1 (none). A row with either -1 is not counted.
"""

from __future__ import annotations

from math import isnan
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from workbench.core.verdict import OutcomeCode, Protocol3

# -- Array types, alignment of verdicts with items, and conversion of metrics.


IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]


def align(wanted: IntArray, keys: npt.ArrayLike, values: npt.ArrayLike, missing: np.generic) -> npt.NDArray[Any]:
    """Return the value of each requested key.

    Args:
        wanted: Requested keys in any order.
        keys: The keys of ``values``, ascending.
        values: One value for each key.
        missing: The value for requested keys that are not in ``keys``; it determines the type of the result.
    """
    known = np.asarray(keys, dtype=np.int64)
    if np.array_equal(known, wanted):
        return np.array(values, dtype=missing.dtype)
    found = np.full(len(wanted), missing)
    if len(known) and len(wanted):
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        there = known[place] == wanted
        found[there] = np.asarray(values, dtype=missing.dtype)[place[there]]
    return found


def defined(value: float) -> float | None:
    return None if isnan(value) else float(value)


_GOLDS = 2
_OUTCOMES = len(OutcomeCode)
_SMALL = 2**31 // ((_GOLDS + 1) * (_OUTCOMES + 1))
"""Number of groups below which counting uses 32 bits, which is faster."""


class Confusion(Struct, frozen=True, kw_only=True):
    """Counts of verdicts against gold, with ``correct`` as the positive class."""

    tp: int
    fp: int
    tn: int
    fn: int

    @property
    def n(self) -> int:
        return self.tp + self.fp + self.tn + self.fn


NOTHING = Confusion(tp=0, fp=0, tn=0, fn=0)
"""Counts without any row."""


class Graded(NamedTuple):
    """The rows that a protocol counts, and the rows judged correctly, a subset of the counted ones, as masks."""

    counted: BoolArray
    right: BoolArray


def tally(outcomes: IntArray, gold: IntArray, group: IntArray, groups: int) -> IntArray:
    """Count rows by group, gold and outcome in one pass; the counts of every protocol follow from these.

    Args:
        outcomes: One outcome for each row, -1 for none.
        gold: One gold label for each row, -1 for none.
        group: One group code for each row, from 0 to ``groups - 1``.
        groups: The number of groups.

    Returns:
        Counts of shape (groups, 2, 4): group, gold label, outcome.

    Raises:
        ValueError: A value is outside its range, or the arrays differ in length.
    """
    if not len(outcomes) == len(gold) == len(group):
        raise ValueError("outcomes, gold and group differ in length")
    _check_range("outcomes", outcomes, -1, _OUTCOMES - 1)
    _check_range("gold", gold, -1, _GOLDS - 1)
    _check_range("group", group, 0, groups - 1)
    # Add a column and a row for -1, so that no mask is needed.
    shape = (groups, _GOLDS + 1, _OUTCOMES + 1)
    first: IntArray = group.astype(np.int32, copy=False) if groups < _SMALL else group.astype(np.int64, copy=False)
    cell = first * (shape[1] * shape[2]) + ((gold + 1) * shape[2] + (outcomes + 1))
    counts: IntArray = np.bincount(cell, minlength=shape[0] * shape[1] * shape[2]).reshape(shape)
    return counts[:, 1:, 1:]


def confusion(cells: IntArray, protocol: Protocol3) -> Confusion:
    """Read one group's (2, 4) counts of `tally` under a protocol.

    ``forced`` counts abstentions and errors as the verdict "incorrect"; ``strict`` counts an undecided row as the
    opposite of its gold, so that TP + FP + TN + FN is the number of rows; ``decided`` leaves it out.
    """
    (tn, fp), (fn, tp) = cells[:, : OutcomeCode.ABSTAIN].tolist()
    undecided_incorrect, undecided_correct = cells[:, OutcomeCode.ABSTAIN :].sum(axis=1).tolist()
    if protocol != "decided":
        fn += undecided_correct
    if protocol == "forced":
        tn += undecided_incorrect
    elif protocol == "strict":
        fp += undecided_incorrect
    return Confusion(tp=tp, fp=fp, tn=tn, fn=fn)


def count(outcomes: IntArray, gold: IntArray, protocol: Protocol3) -> Confusion:
    """Count a verifier's verdicts against gold.

    Args:
        outcomes: One outcome a row, -1 for none.
        gold: One gold label a row, -1 for none.
        protocol: How undecided rows are counted; see `confusion`.
    """
    return confusion(tally(outcomes, gold, np.zeros(len(gold), dtype=np.int8), 1)[0], protocol)


def only_failed(cells: IntArray) -> bool:
    """Return whether a verifier failed on every row, so that its metrics would only reflect the protocol.

    Args:
        cells: One group's (2, 4) counts of `tally`.
    """
    failed = int(cells[:, OutcomeCode.ERROR].sum())
    return failed > 0 and failed == cells.sum()


def failed_throughout(outcomes: IntArray, gold: IntArray) -> bool:
    """Return whether a verifier failed on every row with gold, or on every row if no judged row has gold."""
    one = np.zeros(len(gold), dtype=np.int8)
    known = tally(outcomes, gold, one, 1)[0]
    return only_failed(known if known.any() else tally(outcomes, one, one, 1)[0])


def grade(outcomes: IntArray, gold: IntArray, protocol: Protocol3) -> Graded:
    """Mark each row as counted or not, and as right or wrong, under a protocol.

    Args:
        outcomes: One outcome a row, -1 for none.
        gold: One gold label a row, -1 for none.
        protocol: How undecided rows are counted; see `confusion`.
    """
    counted = (gold >= 0) & (outcomes >= 0)
    if protocol == "decided":
        counted &= outcomes < OutcomeCode.ABSTAIN
    right = outcomes == gold
    if protocol == "forced":
        right |= (outcomes >= OutcomeCode.ABSTAIN) & (gold == 0)
    return Graded(counted, right & counted)


def _check_range(name: str, values: IntArray, low: int, high: int) -> None:
    if len(values) and not (low <= values.min() and values.max() <= high):
        raise ValueError(f"{name}: values must be from {low} to {high}")
