"""Ranking metrics against the released values, scipy, and scikit-learn's definitions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata, spearmanr

from workbench.statistics.ranking import (
    MetricFigures,
    ProblemRanking,
    ProblemScores,
    normalised,
    of_problem,
    of_problems,
)

NAMES = {
    "top1": "top1_accuracy",
    "bottom1": "bottom1_accuracy",
    "spearman": "mean_spearman",
    "kendall": "mean_Kendall_tau",
    "mae": "total_MAE",
    "r2": "total_R2",
}


def scored(rank: Sequence[float], truth: Sequence[float], score: Sequence[float]) -> ProblemScores:
    return ProblemScores(*(np.array(values, dtype=np.float64) for values in (rank, truth, score)))


def figures(problem: ProblemScores, *, shared: bool = False, normalise: bool = False) -> ProblemRanking:
    return of_problem(problem, shared=shared, normalise=normalise)


def together(*problems: ProblemScores, samples: int = 200, **how: bool) -> MetricFigures:
    return of_problems([figures(problem, **how) for problem in problems], samples=samples, seed=0)


def released(row: dict[str, Any], verifier: str) -> float:
    return float(row["average_test_score"] if verifier == "utg" else row["reward"]["reward_score"])


@pytest.mark.parametrize("verifier", ["utg", "reward"])
def test_the_golden_file_within_1e_12(shared_data: Path, verifier: str) -> None:
    folder = shared_data / "code"
    rows = [json.loads(line) for line in (folder / "evaluate_case.jsonl").read_text(encoding="utf-8").splitlines()]
    golden = json.loads((folder / "evaluate_case.expected.json").read_text(encoding="utf-8"))[verifier]
    for dataset, expected in golden.items():
        tasks: dict[Any, list[dict[str, Any]]] = {}
        for row in rows:
            if row["dataset"] == dataset:
                tasks.setdefault(row["task_id"], []).append(row)
        problems = [
            scored(
                [row["rank"] for row in task],
                [row["ground_average_test_score"] for row in task],
                [released(row, verifier) for row in task],
            )
            for task in tasks.values()
        ]
        found = together(*problems, normalise=verifier == "reward")
        for ours, theirs in NAMES.items():
            value = found.values[ours]
            assert value == (None if expected[theirs] is None else pytest.approx(expected[theirs], abs=1e-12)), ours


def test_by_hand() -> None:
    found = figures(scored([1, 2, 3], [1, 0.5, 0], [0.5, 0.5, 0.5]))
    assert (found.top1, found.bottom1) == (1 / 3, 1 / 3)
    assert np.isnan(found.spearman)
    assert np.isnan(found.kendall)
    wrong = figures(scored([1, 2], [1, 0], [0.2, 0.9]))
    assert (wrong.top1, wrong.bottom1, wrong.spearman) == (0, 0, -1)
    assert wrong.absolute == pytest.approx(1.7)


def test_one_solution_is_both_the_best_and_the_worst_and_has_no_coefficient() -> None:
    found = together(scored([1], [1], [0.5]))
    assert (found.values["top1"], found.values["bottom1"], found.values["spearman"]) == (1, 1, 0)
    assert (found.spearman_undefined, found.kendall_undefined) == (1, 1)


def test_undefined_coefficients_count_as_0_and_are_counted() -> None:
    found = together(scored([1, 2], [1, 0], [0.9, 0.1]), scored([1, 2], [1, 0], [0.5, 0.5]))
    assert found.values["spearman"] == 0.5
    assert found.spearman_undefined == 1


def test_several_best_solutions_share_where_truths_may_tie_and_not_as_released() -> None:
    tied = scored([1.5, 1.5, 3], [1, 1, 0], [0.9, 0.9, 0.1])
    assert figures(tied, shared=True).top1 == 1
    assert figures(scored([1, 1, 3], [1, 1, 0], [0.9, 0.9, 0.1])).top1 == 0.5
    assert figures(scored([1, 2, 2], [1, 0, 0], [0.9, 0.1, 0.1])).bottom1 == 0.5


def test_rewards_are_stretched_in_each_problem_and_equal_ones_are_0() -> None:
    assert normalised(np.array([-3.0, 1.0, 5.0])).tolist() == [0, 0.5, 1]
    assert normalised(np.array([7.0, 7.0])).tolist() == [0, 0]
    stretched = together(scored([1, 2], [1, 0], [40, -2]), normalise=True)
    assert (stretched.values["mae"], stretched.values["r2"]) == (0, 1)


def test_a_truth_without_spread_has_an_r2_of_1() -> None:
    found = together(scored([1, 2], [0.1, 0.1], [0.1, 0.9]), scored([1], [0.1], [0.3]))
    assert found.values["r2"] == 1


def test_no_problems_give_no_metrics() -> None:
    found = together()
    assert set(found.values.values()) == {None}
    assert set(found.intervals.values()) == {None}
    assert (found.problems, found.solutions) == (0, 0)


VALUES = st.integers(0, 4).map(lambda value: value / 4)
PROBLEMS = st.lists(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=7), min_size=1, max_size=6)


@given(PROBLEMS)
def test_coefficients_are_scipys_and_the_sums_are_those_over_all_solutions(
    problems: list[list[tuple[float, float]]],
) -> None:
    arrays = []
    for problem in problems:
        truth, score = np.array(problem).T
        arrays.append(scored(rankdata(-truth).tolist(), truth.tolist(), score.tolist()))
    found = together(*arrays, samples=10, shared=True)
    rho, tau = [], []
    for one in arrays:
        varies = len(one.score) > 1 and np.ptp(one.score) > 0 and np.ptp(one.rank) > 0
        rho.append(float(spearmanr(one.rank, -one.score).statistic) if varies else 0.0)
        tau.append(float(kendalltau(one.rank, -one.score).statistic) if varies else 0.0)
    truth, score = np.concatenate([one.truth for one in arrays]), np.concatenate([one.score for one in arrays])
    total = ((truth - truth.mean()) ** 2).sum()
    assert found.values["spearman"] == pytest.approx(mean(rho), abs=1e-12)
    assert found.values["kendall"] == pytest.approx(mean(tau), abs=1e-12)
    assert found.values["mae"] == pytest.approx(np.abs(truth - score).mean(), abs=1e-12)
    expected = 1 - ((truth - score) ** 2).sum() / total if np.ptp(truth) > 0 else 1
    assert found.values["r2"] == pytest.approx(expected, abs=1e-10)


@given(PROBLEMS)
def test_a_perfect_verifier_has_no_errors(problems: list[list[tuple[float, float]]]) -> None:
    arrays = []
    for problem in problems:
        truth = [first for first, _ in problem]
        arrays.append(scored(rankdata([-value for value in truth]).tolist(), truth, truth))
    found = together(*arrays, samples=10, shared=True)
    assert [found.values["top1"], found.values["bottom1"]] == pytest.approx([1, 1])
    assert (found.values["mae"], found.values["r2"]) == (0, 1)


def test_intervals_are_the_bootstrap_over_problems_and_repeat() -> None:
    generator = np.random.default_rng(3)
    problems = [scored([1, 2, 3], [1, 0.5, 0], generator.random(3).tolist()) for _ in range(40)]
    found, again = together(*problems, samples=2000), together(*problems, samples=2000)
    assert found.intervals == again.intervals
    values = np.array([figures(problem).top1 for problem in problems])
    spread = values.std() / np.sqrt(len(values))
    low, high = found.intervals["top1"] or (0, 0)
    assert low == pytest.approx(values.mean() - 1.96 * spread, abs=0.03)
    assert high == pytest.approx(values.mean() + 1.96 * spread, abs=0.03)
    low, high = found.intervals["r2"] or (0, 0)
    assert low < (found.values["r2"] or 0) < high


def test_metrics_do_not_depend_on_the_order_of_problems() -> None:
    problems = [scored([1, 2], [1, 0.1 * place], [0.9, 0.2 * place]) for place in range(6)]
    one, other = together(*problems), together(*reversed(problems))
    assert {name: round(value or 0, 12) for name, value in one.values.items()} == {
        name: round(value or 0, 12) for name, value in other.values.items()
    }
