"""MCTS-Judge with a scripted model: independent of the order of replies; each option changes only its part."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec import structs

from tests.unit.verifiers.judges.asking import SECRET, llm_judge
from tests.unit.verifiers.judges.coin import PROBLEM, Coin, judged, numbered, trace
from workbench.core.errors import UsageError
from workbench.core.verdict import Outcome
from workbench.llm.records import CallFailed, Halt, Reply, Request
from workbench.verifiers.registry import Registry

NO_TESTS = {"reformat": "There are none."}


def texts(coin: Coin, *words: str) -> set[str]:
    """The requests of steps that end in these words."""
    return {str(request.messages) for step, _, _, request in coin.calls if step.rpartition(" ")[2] in words}


def without(found: Any, *keys: str) -> Any:
    """A trace, or a part of one, without its entries of these names."""
    if isinstance(found, dict):
        return {key: without(value, *keys) for key, value in found.items() if key not in keys}
    return [without(one, *keys) for one in found] if isinstance(found, list) else found


def test_the_same_seed_and_model_give_the_same_tree_calls_and_answer() -> None:
    first, second = Coin(), Coin()
    assert judged(first) == judged(second)
    assert first.calls == second.calls


OTHERS = [("none", "true"), ("history", "false"), ("subtask", "true")]


@pytest.mark.parametrize(
    ("reuse", "early_stop"),
    [
        *(("none", "false"), ("history", "true"), ("subtask", "false")),
        *(pytest.param(*one, marks=pytest.mark.soak) for one in OTHERS),
    ],
)
def test_the_order_of_replies_changes_nothing(reuse: str, early_stop: str) -> None:
    options = {"reuse": reuse, "early_stop": early_stop, "rollouts": "4"}
    prompt = Coin()
    expected = judged(prompt, **options)
    for shuffle in range(3):
        slow = Coin(slow=shuffle)
        assert judged(slow, **options) == expected
        assert slow.calls == prompt.calls, "calls are made in the same order, however replies come"


def test_the_search_depends_on_seed_and_content_but_not_the_row() -> None:
    found = trace(Coin())
    assert trace(Coin(), structs.replace(PROBLEM, item=99)) == found
    paths = [[rollout["path"] for rollout in one["rollouts"]] for one in (found, trace(Coin(), seed="1"))]
    assert paths[0] != paths[1]
    others = [trace(Coin(), numbered(number)) for number in range(4)]
    assert len({str([rollout["path"] for rollout in one["rollouts"]]) for one in others}) > 1


def test_a_revisited_node_keeps_its_outcome() -> None:
    for rollout in (found := trace(Coin()))["rollouts"]:
        for step in rollout["steps"]:
            if step["node"] is not None:
                assert step["outcome"] == found["nodes"][step["node"]]["outcome"]


@pytest.mark.parametrize("reuse", ["none", "history"])
def test_each_step_names_the_call_of_its_analysis(reuse: str) -> None:
    coin = Coin(slow=1)
    for rollout in trace(coin, reuse=reuse)["rollouts"]:
        for step in rollout["steps"]:
            assert coin.calls[step["call"]][0] == f"{step['subtask']}: analyse"


def test_the_reward_is_agreement_with_the_execution() -> None:
    found = trace(Coin(), rollouts="20", reward_tests="per_rollout")
    for rollout in found["rollouts"]:
        runs = rollout["execution"]["runs"]
        assert [run["passed"] for run in runs] == [run["matches"] >= 4 for run in runs]
        assert rollout["execution"]["h"] == all(run["passed"] for run in runs)
        assert rollout["reward"] == (1.1 if rollout["f"] == rollout["execution"]["h"] else 0.0)


def test_f_is_the_majority_of_outcomes_and_g() -> None:
    for seed in range(5):
        found = trace(Coin(seed))
        for rollout in found["rollouts"]:
            votes = [step["outcome"] for step in rollout["steps"]] + [found["g"]]
            assert rollout["f"] == (sum(votes) * 2 > len(votes))


# Each switch and what it may change.


def test_selection_by_uct_only_needs_no_self_assessment() -> None:
    assessed, plain, silent = Coin(), Coin(), Coin(fixed={"self-assess": "Hm."})
    found = trace(plain, selection="uct")
    assert without(trace(silent), "options", "call") == without(found, "options", "call"), "no vote leaves UCT's choice"
    assert not texts(plain, "self-assess")
    trace(assessed)
    first = [call for call in assessed.calls if call[2] < 2]
    assert [call for call in plain.calls if call[2] < 2] == first, "up to the first choice nothing differs"


@pytest.mark.soak
def test_a_self_assessment_decides_one_choice_in_ten() -> None:
    choices = [
        choice
        for seed in range(40)
        for rollout in trace(Coin(seed), numbered(seed), rollouts="12", reward="self_consistency")["rollouts"]
        for choice in rollout["choices"]
    ]
    differing = [choice for choice in choices if choice["assessed"] != choice["favourite"]]
    overruled = sum(choice["chosen"] == choice["assessed"] for choice in differing)
    assert 0.05 < overruled / len(differing) < 0.16
    assert all(choice["chosen"] in (choice["favourite"], choice["assessed"]) for choice in choices)


@pytest.mark.parametrize(("w_u", "w_l", "followed"), [("1", "0", "favourite"), ("0", "1", "assessed")])
def test_the_weights_choose_between_uct_and_self_assessment(w_u: str, w_l: str, followed: str) -> None:
    choices = [
        choice
        for seed in range(6)
        for rollout in trace(Coin(seed), w_u=w_u, w_l=w_l, rollouts="12", reward="self_consistency")["rollouts"]
        for choice in rollout["choices"]
    ]
    assert any(choice["assessed"] != choice["favourite"] for choice in choices)
    assert all(choice["chosen"] == choice[followed] for choice in choices)


def test_the_uct_constant_controls_exploration() -> None:
    def deepest_share(alpha: str) -> float:
        found = trace(Coin(), alpha=alpha, selection="uct", rollouts="40", reward="self_consistency")
        visits: list[int] = [found["nodes"][child]["n"] for child in found["nodes"][0]["children"]]
        return max(visits) / sum(visits)

    assert deepest_share("0") > deepest_share("3") >= deepest_share("100") >= 0.5


def test_the_reward_is_epsilon() -> None:
    rewards = {rollout["reward"] for rollout in trace(Coin(), epsilon="2.5", rollouts="20")["rollouts"]}
    assert rewards == {0.0, 2.5}


def test_the_constants_of_the_paper_are_the_defaults() -> None:
    usual = llm_judge(strategy="mcts")
    same = llm_judge(strategy="mcts", alpha="3", w_u="0.9", w_l="0.1", epsilon="1.1")
    assert same.config() == usual.config()
    assert not {"alpha", "w_u", "w_l", "epsilon"} & usual.config().keys()
    for option in ("alpha", "w_u", "w_l", "epsilon"):
        assert llm_judge(strategy="mcts", **{option: "0.5"}).config() == {**usual.config(), option: 0.5}
    with pytest.raises(ValueError, match="nothing would decide"):
        llm_judge(strategy="mcts", w_u="0", w_l="0")


def test_another_reward_needs_no_tests_and_keeps_the_first_path() -> None:
    simulated = Coin()
    first = without(trace(simulated)["rollouts"][0], "call")
    for reward in ("self_consistency", "self_evaluation"):
        coin = Coin()
        found = trace(coin, reward=reward)
        assert not texts(coin, "generate", "reformat", "validate", "execute", "compare")
        assert bool(texts(coin, "self-evaluate")) == (reward == "self_evaluation")
        assert without(found["rollouts"][0], "call")["steps"] == first["steps"]
        assert found["tests"] is None


def test_self_consistency_rewards_the_majority_so_far() -> None:
    ties = set()
    for seed in range(12):
        rollouts = trace(Coin(seed), numbered(seed), reward="self_consistency")["rollouts"]
        for place, rollout in enumerate(rollouts):
            so_far = [one["f"] for one in rollouts[: place + 1]]
            alike = so_far.count(rollout["f"])
            assert (rollout["reward"] > 0) == (2 * alike > len(so_far)), so_far
            if 2 * alike == len(so_far):
                ties.add(rollout["f"])
    assert ties == {True, False}, "a tie rewards neither side"


def test_self_evaluation_rewards_reasoning_without_errors() -> None:
    sound = trace(Coin(fixed={"self-evaluate": "No"}), reward="self_evaluation")
    assert all(rollout["reward"] == 1.1 for rollout in sound["rollouts"])
    for doubt in ("Yes", "Hm."):
        doubted = trace(Coin(fixed={"self-evaluate": doubt}), reward="self_evaluation")
        assert doubted["answer"]["no_reward"]


def test_the_trajectory_weight_changes_only_weights_and_answer() -> None:
    node_q, terminal = Coin(), Coin()
    differ = ("options", "answer", "weight")
    assert without(trace(node_q, traj_weight="node_q"), *differ) == without(
        trace(terminal, traj_weight="terminal"), *differ
    )
    assert node_q.calls == terminal.calls
    for rollout in trace(Coin(), traj_weight="terminal")["rollouts"]:
        assert rollout["weight"] == rollout["reward"]


def test_the_global_mode_changes_predictions_but_not_first_requests() -> None:
    votes, breaks = Coin(), Coin()
    one, other = (trace(coin, global_mode=mode) for coin, mode in ((votes, "vote"), (breaks, "tiebreak")))
    assert one["rollouts"][0]["steps"] == other["rollouts"][0]["steps"]
    assert texts(votes, "global") == texts(breaks, "global")


def test_order_permutes_the_subtasks_of_an_item() -> None:
    fixed, permuted = trace(Coin()), trace(Coin(), order="permuted")
    assert sorted(fixed["order"]) == sorted(permuted["order"])
    assert len({str(trace(Coin(), numbered(number), order="permuted")["order"]) for number in range(5)}) == 5
    shapes = [[rollout["path"] for rollout in found["rollouts"][:2]] for found in (fixed, permuted)]
    assert shapes[0] == shapes[1]


def test_tests_per_item_are_executed_once() -> None:
    anew, once = trace(Coin(), reward_tests="per_rollout"), trace(Coin())
    assert once["execution"] == anew["rollouts"][0]["execution"]
    assert all(rollout["execution"] is None for rollout in once["rollouts"])
    drawn = [[run["test"] for run in rollout["execution"]["runs"]] for rollout in anew["rollouts"]]
    assert len({str(tests) for tests in drawn}) > 1, "each rollout draws its own"


def test_reuse_by_subtask_sends_fewer_requests() -> None:
    anew, reused = Coin(), Coin()
    trace(anew)
    trace(reused, reuse="subtask")
    assert texts(anew, "analyse") == texts(reused, "analyse")
    assert {sample for step, _, sample, _ in reused.calls if step.endswith("analyse")} == {0}
    assert {sample for step, _, sample, _ in anew.calls if step.endswith("analyse")} == set(range(8))


def test_only_reuse_by_history_shows_earlier_findings() -> None:
    told, alone = Coin(), Coin()
    trace(told, reuse="history")
    trace(alone)
    assert any("- Requirement coverage: " in text for text in texts(told, "analyse"))
    assert all("What was found" not in text for text in texts(alone, "analyse"))


@pytest.mark.parametrize("delta", ["4", *(pytest.param(delta, marks=pytest.mark.soak) for delta in "71")])
def test_stopping_early_keeps_tree_and_answer(delta: str) -> None:
    for seed in range(5):
        whole, early = Coin(seed), Coin(seed)
        expected = judged(whole, delta=delta, rollouts="6")
        found = judged(early, delta=delta, rollouts="6", early_stop="true")
        assert found.verdict == expected.verdict
        one, other = (without(judged.trace, "call") for judged in (found, expected))
        assert one["nodes"] == other["nodes"]
        assert {str(call) for call in early.calls} <= {str(call) for call in whole.calls}
        if delta != "1":
            assert len(early.calls) < len(whole.calls)


@pytest.mark.parametrize("more", [{"rollouts": "8"}, {"gamma": "5"}, {"delta": "9"}, {"beta": "7"}])
def test_more_rollouts_reuse_the_calls_of_fewer(more: dict[str, str]) -> None:
    less = {"rollouts": "4", "gamma": "3", "delta": "5", "beta": "5"}
    few, many = Coin(), Coin()
    trace(few, **less)
    trace(many, **{**less, **more})
    step = {"rollouts": "analyse", "beta": "validate"}.get(next(iter(more)), "execute")
    sent = [{str(call) for call in coin.calls if call[0].endswith(step)} for coin in (few, many)]
    assert sent[0] <= sent[1], "a sweep pays only for what is new"


# Unparsed and missing replies.


def test_without_tests_only_positive_reasoning_is_rewarded() -> None:
    positive = trace(Coin(fixed={**NO_TESTS, "summarise": "Yes"}))
    assert positive["tests"] == {"written": 0, "kept": []}
    assert all(rollout["reward"] == 1.1 and rollout["execution"] is None for rollout in positive["rollouts"])
    mixed = trace(Coin(fixed=NO_TESTS))
    for rollout in mixed["rollouts"]:
        assert (rollout["reward"] > 0) == all(step["outcome"] for step in rollout["steps"])


def test_too_few_tests_are_all_executed() -> None:
    found = trace(Coin(fixed={"validate": "FAIL", "reformat": "[]"}), rollouts="1")
    assert found["tests"]["kept"] == []
    few = '[{"input": "1 2", "expected_output": "3"}, {"input": "0 0", "expected_output": "0"}]'
    found = trace(Coin(fixed={"reformat": few}), rollouts="1", reward_tests="per_rollout")
    assert [test["input"] for test in found["tests"]["kept"]] == ["1 2", "0 0"], "tests of several levels stand once"
    assert sorted(run["test"] for run in found["rollouts"][0]["execution"]["runs"]) == [0, 1]


def test_without_a_reward_the_majority_decides_with_a_reason() -> None:
    found = judged(Coin(fixed={"summarise": "Yes", "compare": "NOT MATCH", "global": "Yes"}))
    assert (found.verdict.outcome, found.verdict.reason, found.verdict.score) == (Outcome.CORRECT, "no_reward", 1.0)


@pytest.mark.parametrize(
    ("fixed", "reason"), [({"validate": "FAIL"}, "no_valid_tests"), ({"reformat": "[]"}, "no_valid_tests"), ({}, None)]
)
def test_a_search_without_valid_tests_has_a_reason(fixed: dict[str, str], reason: str | None) -> None:
    replies = {"summarise": "Yes", "compare": "MATCH", "global": "Yes", **fixed}
    found = judged(Coin(fixed=replies)).verdict
    assert (found.outcome, found.reason) == (Outcome.CORRECT, reason)
    assert judged(Coin(fixed=replies), reward="discussion").verdict.reason is None


def test_a_judge_with_empty_replies_has_no_verdict() -> None:
    found = judged(Coin(fixed={"summarise": "Maybe.", "global": "Maybe."}))
    assert (found.verdict.outcome, found.verdict.reason) == (Outcome.ABSTAIN, "unparsed")
    assert found.trace is not None
    assert all(rollout["flagged"] for rollout in found.trace["rollouts"])


def test_unparsed_comparisons_are_no_mismatches() -> None:
    found = trace(Coin(fixed={"compare": "I can't tell."}), reward_tests="per_rollout")
    for rollout in found["rollouts"]:
        assert rollout["execution"]["h"] is None
        assert rollout["reward"] == 0.0


def test_an_unparsed_subtask_abstains_and_is_flagged() -> None:
    class Silent(Coin):
        def _reply(self, step: str, mark: int) -> str:
            return "Hm." if step == "logic: summarise" else super()._reply(step, mark)

    for rollout in trace(Silent())["rollouts"]:
        logic = [step["outcome"] for step in rollout["steps"] if step["subtask"] == "logic"]
        assert logic in ([], [None])
        assert rollout["flagged"] == (logic == [None])


ERRORS = (CallFailed("timeout", "too slow"), Halt("budget", "spent"))
STEPS = ("generate", "validate", "analyse", "self-assess", "execute", "compare")


@pytest.mark.parametrize(
    ("step", "error"),
    [
        pytest.param(step, error, marks=() if place % 2 == other else pytest.mark.soak)
        for place, step in enumerate(STEPS)
        for other, error in enumerate(ERRORS)
    ],
)
def test_a_failed_call_fails_the_item(error: Exception, step: str) -> None:
    coin = Coin()

    async def failing(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        if step.rpartition(" ")[2] == wanted:
            raise error
        return await coin(request, step=step, role=role, sample=sample)

    wanted = step
    with pytest.raises(type(error)) as caught:
        asyncio.run(llm_judge(strategy="mcts").judge(PROBLEM, failing, SECRET))
    assert caught.value is error


# Options.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": "10"}, "depth: it is a whole number from 1 to 9"),
        ({"rollouts": "0"}, "rollouts: it is a whole number from 1"),
        (
            {"reward": "oracle"},
            "reward: it is execution or simulated or discussion or self_consistency or self_eval",
        ),
        ({"selection": "llm"}, "selection: it is uct or uct[+]llm"),
        ({"gamma": "x"}, "gamma: 'x' is not a whole number"),
        ({"test_api_key_env": "KEY"}, "test_api_key_env: only test_base_url needs it"),
        ({"test_base_url": "http://other/v1"}, "test_model: it is missing"),
        ({"test_model": ""}, "test_model: it is missing"),
        ({"test_base_url": "other", "test_model": "m"}, "test_base_url: use an address"),
        ({"tie": "incorrect"}, "tie: the strategy mcts has no such option"),
        ({"template": "own.toml"}, "template: the strategy mcts uses its own template"),
    ],
)
def test_invalid_options_are_rejected_with_a_message(options: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Registry().load("llm-judge", {"base_url": "http://localhost/v1", "model": "m", "strategy": "mcts", **options})


def test_options_are_part_of_the_identity() -> None:
    plain = llm_judge(strategy="mcts").config()
    changes = {
        "depth": "5", "rollouts": "9", "beta": "4", "gamma": "2", "delta": "5", "reward": "self_evaluation",
        "selection": "uct", "order": "permuted", "global_mode": "tiebreak", "reward_tests": "per_rollout",
        "traj_weight": "node_q", "reuse": "history", "seed": "5", "early_stop": "true", "test_model": "other",
        "simulation": "nodes", "history": "assessments",
    }  # fmt: skip
    assert all(llm_judge(strategy="mcts", **{name: value}).config() != plain for name, value in changes.items())


def test_tests_are_written_by_their_own_server() -> None:
    assert set(llm_judge(strategy="mcts").servers()) == {"judge"}
    named = llm_judge(strategy="mcts", test_model="writer", api_key_env="JUDGE_KEY").servers()
    assert (named["tests"].model, named["tests"].base_url) == ("writer", named["judge"].base_url)
    assert named["tests"].key_variable == "JUDGE_KEY"
    other = llm_judge(
        strategy="mcts", test_model="writer", test_base_url="https://other.example/v1", api_key_env="JUDGE_KEY"
    ).servers()["tests"]
    assert other.base_url == "https://other.example/v1"
    assert other.key_variable is None, "another host never gets the judge's key"
    coin = Coin()
    trace(coin, test_model="writer")
    roles = {(step.rpartition(" ")[2], role) for step, role, *_ in coin.calls}
    assert {step for step, role in roles if role == "tests"} == {"generate", "reformat", "validate"}
    assert ("execute", "judge") in roles
