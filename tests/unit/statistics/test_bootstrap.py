"""The cluster bootstrap against a plain one: draw questions, concatenate their items, compute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from workbench.statistics import bootstrap
from workbench.statistics.bootstrap import intervals, resampled
from workbench.statistics.confusion import Confusion, FloatArray, IntArray
from workbench.statistics.metrics.mcc import mcc

Figure = Callable[[FloatArray], FloatArray]


def simulated(questions: int, size: int, seed: int, *, rho: float = 0.5) -> tuple[IntArray, IntArray]:
    """Kinds (2 * gold + right) and questions; whether a verifier is right goes by question in part."""
    draw = np.random.default_rng(seed)
    question = np.repeat(np.arange(questions), size)
    gold = draw.random(questions * size) < 0.3
    chance = np.repeat(draw.beta(0.8 / rho - 0.8, 0.2 / rho - 0.2, questions), size)
    right = draw.random(questions * size) < chance
    return 2 * gold.astype(np.int64) + right, question


def share(counts: FloatArray) -> FloatArray:
    """Accuracy from the counts of kinds."""
    right: FloatArray = (counts[:, 1] + counts[:, 3]) / counts.sum(axis=1)
    return right


def matthews(counts: FloatArray) -> FloatArray:
    """MCC by the definition the tables use."""
    cells = [Confusion(tp=int(tp), fp=int(fp), tn=int(tn), fn=int(fn)) for fp, tn, fn, tp in counts.tolist()]
    return np.array([mcc(cell) for cell in cells])


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("figure", [share, matthews])
def test_it_is_the_interval_of_drawing_questions_one_by_one(figure: Figure, size: int) -> None:
    kind, question = simulated(60, size, seed=3)
    draw, values = np.random.default_rng(1), []
    of_question = [np.bincount(kind[question == number], minlength=4) for number in range(60)]
    for _ in range(1_500):
        counts = sum(of_question[number] for number in draw.integers(60, size=60).tolist())
        values.append(float(figure(np.asarray(counts, dtype=float)[None])[0]))
    found = intervals(kind, 4, question, {"it": figure}, samples=3_000, seed=0)["it"]
    assert found.ends == pytest.approx(tuple(np.quantile(values, (0.025, 0.975))), abs=0.03)


@pytest.mark.parametrize("table", [0, 1 << 23])
def test_large_clusters_are_drawn_whole(monkeypatch: pytest.MonkeyPatch, table: int) -> None:
    """Each question has a single kind, repeated by its number: every sum must consist of such pieces."""
    monkeypatch.setattr(bootstrap, "_MAX_TABLE_CELLS", table)
    sizes = np.array([1, 3, 9, 27])
    kind = question = np.repeat(np.arange(4), sizes)
    (drawn,) = resampled(kind, 4, question, 400, seed=0)
    assert (drawn % sizes == 0).all()
    assert ((drawn / sizes).sum(axis=1) == 4).all()
    assert drawn.mean(axis=0) == pytest.approx(sizes, rel=0.2)


@pytest.mark.parametrize("table", [0, 1 << 23])
def test_the_names_and_the_order_of_questions_change_nothing(monkeypatch: pytest.MonkeyPatch, table: int) -> None:
    monkeypatch.setattr(bootstrap, "_MAX_TABLE_CELLS", table)
    kind, question = simulated(50, 3, seed=5)
    draw = np.random.default_rng(0)
    names, rows = draw.permutation(50) * 10**12 - 7, draw.permutation(len(kind))
    once = intervals(kind, 4, question, {"it": share}, samples=200, seed=4)
    assert intervals(kind[rows], 4, names[question][rows], {"it": share}, samples=200, seed=4) == once
    assert intervals(kind, 4, question, {"it": share}, samples=200, seed=5) != once


def test_items_left_out_are_as_if_they_were_not_there() -> None:
    kind, question = simulated(40, 3, seed=6)
    kept = question % 4 > 0
    without = intervals(kind[kept], 4, question[kept], {"it": share}, samples=100, seed=0)
    assert intervals(np.where(kept, kind, -1), 4, question, {"it": share}, samples=100, seed=0) == without


@pytest.mark.parametrize("questions", [300, 70_000])
def test_every_question_is_as_likely_as_every_other(questions: int) -> None:
    """Below and above the largest number of sixteen bits."""
    often = np.ones(questions, dtype=np.int64)
    drawn = bootstrap._draw_multiplicities(often, 40, np.random.default_rng(0))
    assert (drawn.sum(axis=1) == questions).all()
    by_third = np.array([part.sum() for part in np.array_split(drawn, 3, axis=1)])
    assert by_third / by_third.sum() == pytest.approx(np.full(3, 1 / 3), abs=0.02)
    assert drawn.var() == pytest.approx(1, abs=0.05)


def test_the_largest_share_draws_the_last_question() -> None:
    largest, numbers = np.float32(1 - 2**-24), np.arange(1, bootstrap._MAX_COARSE_CLUSTERS + 1, dtype=np.float32)
    assert (np.multiply(largest, numbers).astype(np.intp) == numbers - 1).all()


def test_coverage_of_a_clustered_metric_is_near_nominal() -> None:
    """120 data sets of 100 questions, five completions each: within what so many simulations leave open."""
    truth = matthews(np.bincount(simulated(40_000, 5, seed=999)[0], minlength=4).astype(float)[None])[0]
    inside = plain = 0
    for seed in range(120):
        kind, question = simulated(100, 5, seed=seed)
        for cluster, clustered in ((question, True), (np.arange(len(kind)), False)):
            ends = intervals(kind, 4, cluster, {"it": matthews}, samples=150, seed=seed)["it"].ends
            assert ends is not None
            inside += clustered and ends[0] <= truth <= ends[1]
            plain += not clustered and ends[0] <= truth <= ends[1]
    assert 0.89 <= inside / 120 <= 0.99
    assert plain < inside
