"""Every row falls into exactly one cell, depending on the protocol."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics import confusion as confusion_module
from workbench.statistics.confusion import Confusion, confusion, count, grade, tally
from workbench.statistics.metrics.coverage import coverage

PROTOCOLS: tuple[Protocol3, ...] = get_args(Protocol3)
ROWS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 1)), max_size=60)

# One row of each outcome with each gold, then rows without gold or without a verdict.
OUTCOMES = np.array([0, 1, 2, 3, 0, 1, 2, 3, 1, -1, -1], dtype=np.int8)
GOLD = np.array([0, 0, 0, 0, 1, 1, 1, 1, -1, 1, -1], dtype=np.int8)


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("forced", Confusion(tp=1, fp=1, tn=3, fn=3)),
        ("strict", Confusion(tp=1, fp=3, tn=1, fn=3)),
        ("decided", Confusion(tp=1, fp=1, tn=1, fn=1)),
    ],
)
def test_an_undecided_row_counts_by_the_protocol(protocol: Protocol3, expected: Confusion) -> None:
    assert count(OUTCOMES, GOLD, protocol) == expected


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_coverage_is_the_same_in_every_protocol(protocol: Protocol3) -> None:
    cells = tally(OUTCOMES, GOLD, np.zeros(len(GOLD), dtype=np.int32), 1)[0]
    assert coverage(cells) == 0.5
    assert confusion(cells, protocol).n == (4 if protocol == "decided" else 8)


def test_no_rows_give_no_coverage() -> None:
    assert coverage(tally(OUTCOMES[:0], GOLD[:0], GOLD[:0], 1)[0]) is None


@settings(deadline=None)
@given(ROWS)
def test_every_protocol_counts_every_row_once(rows: list[tuple[int, int]]) -> None:
    outcomes, gold = _arrays(rows)
    counted = [(outcome, label) for outcome, label in rows if outcome >= 0 and label >= 0]
    decided = [row for row in counted if row[0] < OutcomeCode.ABSTAIN]
    assert count(outcomes, gold, "forced").n == len(counted)
    assert count(outcomes, gold, "strict").n == len(counted)
    assert count(outcomes, gold, "decided").n == len(decided)


@settings(deadline=None)
@given(ROWS, st.sampled_from(PROTOCOLS))
def test_rows_marked_right_are_the_true_positives_and_negatives(
    rows: list[tuple[int, int]], protocol: Protocol3
) -> None:
    outcomes, gold = _arrays(rows)
    counts = count(outcomes, gold, protocol)
    counted, right = grade(outcomes, gold, protocol)
    assert int(counted.sum()) == counts.n
    assert int(right.sum()) == counts.tp + counts.tn
    assert not (right & ~counted).any()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 1), st.integers(0, 4)), max_size=60))
def test_groups_counted_together_equal_single_groups(rows: list[tuple[int, int, int]]) -> None:
    outcomes, gold = _arrays([row[:2] for row in rows])
    group = np.array([row[2] for row in rows], dtype=np.int32)
    together = tally(outcomes, gold, group, 5)
    for code in range(5):
        of_group = group == code
        for protocol in PROTOCOLS:
            alone = count(outcomes[of_group], gold[of_group], protocol)
            assert confusion(together[code], protocol) == alone


@pytest.mark.parametrize(
    ("outcome", "gold", "group", "named"),
    [(4, 0, 0, "outcomes"), (0, 2, 0, "gold"), (0, -2, 0, "gold"), (0, 0, 1, "group"), (0, 0, -1, "group")],
)
def test_values_outside_their_range_are_rejected(outcome: int, gold: int, group: int, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        tally(np.array([outcome]), np.array([gold]), np.array([group]), 1)


def test_arrays_of_different_length_are_rejected() -> None:
    with pytest.raises(ValueError, match="length"):
        count(OUTCOMES, GOLD[:-1], "forced")


def _arrays(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    outcomes = np.array([row[0] for row in rows], dtype=np.int8)
    return outcomes, np.array([row[1] for row in rows], dtype=np.int8)


def test_many_groups_are_counted_like_few(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    outcomes, gold = draw.integers(-1, 4, 200).astype(np.int8), draw.integers(-1, 2, 200).astype(np.int8)
    group = draw.integers(0, 30, 200).astype(np.int32)
    few = tally(outcomes, gold, group, 30)
    monkeypatch.setattr(confusion_module, "_SMALL", 10)
    assert (tally(outcomes, gold, group, 30) == few).all()
