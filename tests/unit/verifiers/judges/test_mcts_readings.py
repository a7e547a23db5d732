"""Each reading of ambiguous parts of MCTS-Judge, with every search recomputed independently."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.verifiers.judges.coin import PROBLEM, Coin, judged, numbered, trace
from tests.unit.verifiers.judges.retraced import differences
from tests.unit.verifiers.judges.test_mcts_counts import searched
from workbench.core.verdict import Outcome

READINGS: list[dict[str, str]] = [
    {},
    {"traj_weight": "states"},
    {"traj_weight": "node_q"},
    {"reward_tests": "per_rollout"},
    {"reward_tests": "per_rollout", "traj_weight": "node_q"},
    {"simulation": "nodes"},
    {"simulation": "nodes", "traj_weight": "node_q", "reward_tests": "per_rollout"},
    {"global_mode": "tiebreak"},
    {"reward": "discussion"},
    {"reward": "self_consistency"},
    {"reward": "self_evaluation", "simulation": "nodes"},
    {"selection": "uct"},
    {"order": "permuted", "reuse": "history", "history": "assessments"},
    {"rollouts": "20", "depth": "4", "alpha": "0.5", "w_l": "0.6", "epsilon": "2", "early_stop": "true"},
]


@pytest.mark.few(5)
@pytest.mark.parametrize("seeds", [3, pytest.param(500, marks=pytest.mark.soak)])
@pytest.mark.parametrize("options", READINGS)
def test_an_independent_recomputation_agrees(options: dict[str, str], seeds: int) -> None:
    for seed, (_, found) in enumerate(searched(seeds, **options)):
        assert differences(found, PROBLEM.question, numbered(seed).completion) == []


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("rollouts", 3, "f"), "other"),
        (("rollouts", 2, "reward"), 0.7),
        (("rollouts", 5, "weight"), 9.0),
        (("nodes", 1, "n"), 7),
        (("nodes", 1, "q"), 55.0),
        (("answer", "correct"), "other"),
        (("answer", "score"), 0.123),
        (("g",), "other"),
    ],
)
def test_the_recomputation_detects_changes(place: tuple[Any, ...], value: object) -> None:
    changed = 0
    for seed in range(4):
        found = trace(Coin(seed), numbered(seed), traj_weight="node_q")
        where = found
        for key in place[:-1]:
            where = where[key]
        where[place[-1]] = not where[place[-1]] if value == "other" else value
        changed += bool(differences(found, PROBLEM.question, numbered(seed).completion))
    assert changed >= (1 if place == ("g",) else 4), "the answer of another g may be the same"


# The defaults follow the symbols of the paper.


def test_defaults_are_h_of_the_item_and_the_terminal_reward() -> None:
    coin = Coin()
    found = trace(coin)
    assert (found["options"]["reward_tests"], found["options"]["traj_weight"]) == ("per_item", "terminal")
    assert coin.counts["execute"] == 3 * 7, "h(x) is worked out once"
    assert all(rollout["weight"] == rollout["reward"] for rollout in found["rollouts"])


def test_a_rewarded_trajectory_may_weigh_all_its_states() -> None:
    rollouts = trace(Coin(), traj_weight="states", reward="self_consistency")["rollouts"]
    assert len({rollout["weight"] for rollout in rollouts if rollout["reward"]}) > 1, "null actions are no states"
    assert all(one["weight"] == pytest.approx(one["reward"] * len(one["steps"])) for one in rollouts)


def test_simulated_steps_may_be_nodes() -> None:
    coin = Coin()
    found = trace(coin, simulation="nodes")
    for rollout in found["rollouts"]:
        assert [found["nodes"][node]["level"] for node in rollout["path"]] == list(range(10))
        assert all(step["node"] is not None for step in rollout["steps"])
    for node in found["nodes"]:
        below = [found["nodes"][child]["n"] for child in node["children"]]
        assert node["n"] == sum(below) or not below
    assert coin.counts["analyse"] < 60, "what was simulated once is not asked again on the way through it"


# The reference for the reward of a trajectory.


def test_execution_is_the_former_name_simulated() -> None:
    assert trace(Coin(), reward="execution") == trace(Coin(), reward="simulated") == trace(Coin())


def test_discussion_needs_no_tests_and_rewards_all_positive_paths() -> None:
    coin = Coin()
    found = trace(coin, reward="discussion")
    assert found["tests"] is None
    assert not {"generate", "validate", "execute"} & {step.rpartition(" ")[2] for step, *_ in coin.calls}
    for rollout in found["rollouts"]:
        assert (rollout["reward"] > 0) == all(step["outcome"] is True for step in rollout["steps"])
    positive = trace(Coin(fixed={"summarise": "Yes"}), reward="discussion")
    assert all(rollout["reward"] == 1.1 for rollout in positive["rollouts"])


@pytest.mark.parametrize(
    ("said", "used"), [(None, "simulated"), ("execution", "simulated"), ("discussion", "discussion")]
)
def test_a_field_of_the_item_can_be_its_reward(said: str | None, used: str) -> None:
    from msgspec import structs

    coin, item = Coin(), structs.replace(PROBLEM, reward=said)
    found = trace(coin, item, reward="item")
    assert found["reward"] == used
    assert bool(coin.counts["execute"]) == (used == "simulated")
    assert trace(Coin(), item)["reward"] == "simulated", "unless the field is asked for it says nothing"


def test_an_invalid_reward_field_is_an_error_without_calls() -> None:
    from msgspec import structs

    coin = Coin()
    found = judged(coin, structs.replace(PROBLEM, reward="disscussion"), reward="item")
    assert (found.verdict.outcome, found.verdict.reason, found.verdict.detail) == (
        Outcome.ERROR,
        "unknown_reward",
        "disscussion",
    )
    assert not coin.calls


# The earlier assessments that an analysis is shown.


def test_assessments_are_shown_in_full_and_fenced() -> None:
    coin = Coin()
    trace(coin, history="assessments", rollouts="1")
    asked = [call[3].messages[1].content for call in coin.calls if call[0].endswith("analyse")]
    # Each analysis is one more that later ones are shown, between the lines that its author can't guess.
    assert [text.count("Thought ") for text in asked] == list(range(len(asked)))
    last = asked[-1]
    fence = last[: last.index("Thought ")].rsplit("data-", 1)[1].split("\n", 1)[0]
    assert last.rstrip().endswith(fence)


def test_only_outcomes_are_shown_unless_assessments_are_enabled() -> None:
    coin = Coin()
    trace(coin, history="outcomes", rollouts="2")
    asked = [call[3].messages[1].content for call in coin.calls if call[0].endswith("analyse")]
    assert any("- Logic: " in text for text in asked)
    assert not any("Thought " in text for text in asked)
    assert {sample for step, _, sample, _ in coin.calls if step.endswith("analyse")} == {0, 1}, "and nothing is shared"


@pytest.mark.parametrize(
    ("reuse", "history"), [("history", "none"), ("subtask", "outcomes"), ("subtask", "assessments")]
)
def test_a_history_incompatible_with_sharing_is_rejected(reuse: str, history: str) -> None:
    with pytest.raises(ValueError, match=f"history: {history} can't be combined with reuse={reuse}"):
        trace(Coin(), reuse=reuse, history=history)


def test_the_self_evaluation_sees_assessments_of_the_history() -> None:
    coin = Coin()
    trace(coin, history="assessments", reward="self_evaluation", rollouts="1")
    (text,) = [call[3].messages[1].content for call in coin.calls if call[0] == "self-evaluate"]
    assert text.count("Thought ") >= 8


def test_a_trace_older_than_these_options_is_still_read() -> None:
    import msgspec

    from workbench.verifiers.judges.mcts.tree import SearchTrace

    found = trace(Coin(), reward_tests="per_rollout", traj_weight="node_q")
    del found["reward"], found["options"]["simulation"], found["options"]["history"]
    for rollout in found["rollouts"]:
        del rollout["sound"]
    read = msgspec.convert(found, SearchTrace)
    assert (read.reward, read.options.traj_weight, read.options.simulation) == (None, "node_q", "steps")
    assert [rollout.f for rollout in read.rollouts] == [rollout["f"] for rollout in found["rollouts"]]
