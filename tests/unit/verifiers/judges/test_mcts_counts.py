"""The number of calls of MCTS-Judge: exact for a stored tree, and as documented on average."""

from __future__ import annotations

import asyncio
from collections import Counter
from statistics import mean
from typing import Any

import pytest

from tests.unit.verifiers.judges.asking import SECRET, llm_judge
from tests.unit.verifiers.judges.coin import Coin, numbered
from tests.unit.verifiers.judges.recount import check_visits, recounted
from workbench.verifiers.judges.mcts.judge import expected_calls
from workbench.verifiers.judges.mcts.subtasks import mcts_options

WRITING = ("generate", "reformat", "validate")
CHEAP = {"reward_tests": "per_item", "reuse": "subtask"}
TABLE: list[tuple[dict[str, str], dict[str, str], int, int, float]] = [
    # Options, fixed replies, all seeds, some, calls an item beside the tests': g takes one, so all are 1 less than with
    # two.
    ({"reward_tests": "per_rollout"}, {}, 20, 5, 465),
    ({"beta": "1"}, {}, 500, 40, 171),
    ({**CHEAP, "beta": "1"}, {}, 100, 40, 63.8),
    ({**CHEAP, "early_stop": "true", "beta": "1"}, {"compare": "NOT MATCH"}, 100, 40, 29.8),
    ({**CHEAP, "early_stop": "true", "beta": "1"}, {"compare": "MATCH"}, 100, 40, 45.8),
]
SWITCHES: list[dict[str, str]] = [
    {},
    {"depth": "3", "rollouts": "20"},
    {"depth": "1", "rollouts": "4"},
    {"rollouts": "1"},
    {"reference": "false"},
    {"selection": "uct"},
    {"order": "permuted"},
    {"reuse": "history"},
    {"reuse": "subtask"},
    {"reward": "self_consistency"},
    {"reward": "self_evaluation"},
    {"reward_tests": "per_rollout", "traj_weight": "node_q", "global_mode": "tiebreak"},
    {"reward": "discussion", "traj_weight": "states"},
    {"history": "assessments"},
    {"history": "assessments", "reuse": "history", "reward": "discussion"},
    {"early_stop": "true"},
    {"gamma": "2", "delta": "4", "beta": "2"},
    {"early_stop": "true", "delta": "4", "reward_tests": "per_item"},
]


def searched(seeds: int, fixed: dict[str, str] | None = None, /, **options: str) -> list[tuple[Coin, dict[str, Any]]]:
    """Searches by their coins and traces, an item each; without fences, which cost time and no call."""
    judge = llm_judge(strategy="mcts", fence="off", neutralise="off", **options)

    async def all_of_them() -> list[tuple[Coin, dict[str, Any]]]:
        found = []
        for seed in range(seeds):
            coin = Coin(seed, fixed)
            judged = await judge.judge(numbered(seed), coin, SECRET)
            found.append((coin, judged.trace or {}))
        return found

    return asyncio.run(all_of_them())


@pytest.mark.soak
@pytest.mark.parametrize(("options", "fixed", "seeds", "_some", "calls"), TABLE)
def test_mean_calls_per_item_are_as_documented(
    options: dict[str, str], fixed: dict[str, str], seeds: int, _some: int, calls: float
) -> None:
    check_average(options, fixed, seeds, calls, 0.02)


@pytest.mark.few(3)
@pytest.mark.parametrize(("options", "fixed", "_all", "seeds", "calls"), TABLE)
def test_calls_of_a_few_items_are_close_to_the_documented_mean(
    options: dict[str, str], fixed: dict[str, str], _all: int, seeds: int, calls: float
) -> None:
    check_average(options, fixed, seeds, calls, 0.05)


def check_average(options: dict[str, str], fixed: dict[str, str], seeds: int, calls: float, rel: float) -> None:
    total = Counter[str]()
    for coin, trace in searched(seeds, fixed, **options):
        counts = coin.counts
        assert counts == recounted(trace)
        total += counts
    assert sum(total[step] for step in total if step not in WRITING) / seeds == pytest.approx(calls, rel=rel)
    if "reuse" not in options:
        assert (total["analyse"] + total["summarise"]) / seeds == pytest.approx(120, rel=rel)
        assert total["self-assess"] / seeds == pytest.approx(8, rel=0.05)


@pytest.mark.soak
@pytest.mark.parametrize(("seeds", "rel"), [(30, 0.05), pytest.param(100, 0.02, marks=pytest.mark.soak)])
def test_calls_with_history_are_as_documented(seeds: int, rel: float) -> None:
    pairs = [coin.counts["analyse"] for coin, _ in searched(seeds, reuse="history", reward="self_consistency")]
    assert 2 * mean(pairs) == pytest.approx(74.1, rel=rel)


@pytest.mark.few(5)
@pytest.mark.parametrize("seeds", [1, pytest.param(4, marks=pytest.mark.soak)])
@pytest.mark.parametrize("options", SWITCHES)
def test_calls_equal_the_stored_tree(options: dict[str, str], seeds: int) -> None:
    for coin, trace in searched(seeds, **options):
        assert coin.counts == recounted(trace)
        check_visits(trace)
        if trace["options"]["reuse"] == "none":
            assert len(coin.calls) == sum(coin.counts.values()), "nothing is asked twice"


def test_tests_take_27_calls_per_level() -> None:
    ((coin, _),) = searched(1)
    levels = Counter(step.partition(" ")[0] for step, *_ in coin.calls if step.rpartition(" ")[2] in WRITING)
    assert levels == {"easy": 27, "medium": 27, "hard": 27}


def test_each_execution_takes_two_calls() -> None:
    for coin, _ in searched(3, reward_tests="per_rollout", rollouts="5", gamma="2", delta="3"):
        assert coin.counts["execute"] + coin.counts["compare"] == 5 * 2 * 3 * 2


def test_a_null_action_makes_no_call() -> None:
    for coin, trace in searched(10, reward="self_consistency", selection="uct", rollouts="2"):
        # Two rollouts try both actions of the root: one does all nine subtasks, the other leaves out the first.
        assert sorted(len(rollout["steps"]) for rollout in trace["rollouts"]) == [8, 9]
        assert coin.counts["analyse"] == 17


@pytest.mark.few(3)
@pytest.mark.parametrize(("seeds", "rel"), [(10, 0.05), pytest.param(30, 0.03, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    "options",
    [{}, {"reward_tests": "per_rollout"}, {"depth": "4", "rollouts": "6"}, {"selection": "uct"}, {"rollouts": "1"}],
)
def test_the_estimate_is_the_mean(options: dict[str, str], seeds: int, rel: float) -> None:
    calls = mean(len(coin.calls) for coin, _ in searched(seeds, reward="self_evaluation", **options))
    estimate = expected_calls(mcts_options({"reward": "self_evaluation", **options}))
    assert estimate == pytest.approx(calls, rel=rel)
