"""Pairwise accuracy as defined by VerifyBench, computed by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest

from workbench.statistics.records.probe import Unpaired
from workbench.statistics.scores import Pairs, pair_row, pair_up

NAN = float("nan")

# Table 4 of arXiv 2505.15801: Num, Exp, MC and Str, then AVG, for 250 pairs a type.
TABLE_4 = {
    "Skywork-Reward-Llama-3.1-8B": ((60.80, 64.80, 59.60, 68.80), 63.48),
    "internlm2-20b-reward": ((65.60, 64.80, 61.20, 70.00), 65.40),
    "GRM-llama3-8B-sftreg": ((64.80, 58.40, 58.80, 67.60), 62.40),
    "internlm2-7b-reward": ((73.20, 68.00, 66.80, 70.40), 69.60),
    "Qwen2.5-Math-RM-72B": ((83.60, 79.20, 73.60, 75.60), 78.00),
    "Qwen2-Math-RM-72B": ((79.20, 78.40, 73.20, 72.80), 75.90),
}
A_TYPE = 250


def paired(rows: list[tuple[int, int, float]]) -> Pairs:
    question, gold, score = zip(*rows, strict=True)
    return pair_up(np.array(score), np.array(gold, dtype=np.int8), np.array(question, dtype=np.int64))


def test_a_tie_is_wrong() -> None:
    found = pair_row(None, paired([(1, 1, 0.9), (1, 0, 0.1), (2, 0, 0.5), (2, 1, 0.5), (3, 0, 0.7), (3, 1, -0.7)]))
    assert (found.n, found.right, found.ties) == (3, 1, 1)
    assert found.accuracy == pytest.approx(1 / 3)
    assert found.ci == pytest.approx((0.0084038, 0.9057007), abs=1e-6)  # Clopper and Pearson's: one pair is right


def test_everything_else_is_counted_and_left_out() -> None:
    rows = [
        *[(1, 1, 0.9), (1, 0, 0.1)],
        *[(2, 1, 0.9)],
        *[(3, 0, 0.9), (3, 0, 0.8)],
        *[(4, 1, 0.9), (4, 0, 0.8), (4, 0, 0.1)],
        *[(5, 1, 0.9), (5, 1, 0.8), (5, 0, 0.1)],
        *[(6, 1, 0.9), (6, 0, NAN)],
        *[(7, 1, NAN), (7, 0, NAN)],
        *[(8, -1, 0.9), (8, -1, 0.1)],
        *[(9, 1, 0.2), (9, -1, 0.9), (9, 0, 0.1)],
    ]
    random.Random(3).shuffle(rows)
    found = paired(rows)
    assert sorted(zip(found.correct, found.incorrect, strict=True)) == [(0.2, 0.1), (0.9, 0.1)]
    assert found.unpaired == Unpaired(one_class=2, several=2, unscored=2)


def test_no_rows_give_no_pairs() -> None:
    nothing = np.array([], dtype=np.int64)
    found = pair_row(None, pair_up(np.array([], dtype=np.float64), nothing, nothing))
    assert (found.n, found.accuracy, found.ci) == (0, None, None)


@pytest.mark.parametrize(("cells", "average"), TABLE_4.values(), ids=TABLE_4)
def test_table_4_is_made_of_whole_pairs(cells: tuple[float, ...], average: float) -> None:
    """Each cell is a multiple of 0.4, and the pairs behind them give its average."""
    rows: list[tuple[int, int, float]] = []
    for place, cell in enumerate(cells):
        right = round(cell / 100 * A_TYPE)
        assert right * 0.4 == pytest.approx(cell, abs=1e-9)
        for number in range(A_TYPE):
            question = place * A_TYPE + number
            rows += [(question, 1, 1.0 if number < right else -1.0), (question, 0, 0.0)]
    found = pair_row(None, paired(rows))
    assert found.n == 4 * A_TYPE
    assert found.accuracy is not None
    assert 100 * found.accuracy == pytest.approx(average, abs=0.05)
