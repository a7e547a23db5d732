"""Reasoning effort and provider fields: sent with every request of every server verifier, or rejected."""

from __future__ import annotations

import pytest

from tests.unit.verifiers.judges.asking import llm_judge
from workbench.core.errors import OptionError
from workbench.verifiers.duel.pairwise import Pairwise
from workbench.verifiers.judges.strategies import RUBRIC, STRATEGIES, TEMPLATE
from workbench.verifiers.registry import Registry
from workbench.verifiers.reward.served import RewardModel

SERVER = {"base_url": "http://localhost:1/v1", "model": "m"}
ASKED = {"reasoning_effort": "low", "extra_body": '{"min_p": 0.1}'}


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name not in (RUBRIC, TEMPLATE)])
def test_every_strategy_sends_them_to_each_of_its_servers(strategy: str) -> None:
    judge = llm_judge(strategy=strategy, **ASKED)
    for server in judge.servers().values():
        assert (server.extras.reasoning_effort, server.extras.body) == ("low", {"min_p": 0.1})
    assert judge.config() != llm_judge(strategy=strategy).config()


def test_pairwise_and_reward_models_take_the_fields() -> None:
    (server,) = Pairwise(**SERVER, **ASKED).servers().values()
    assert (server.extras.reasoning_effort, server.extras.body) == ("low", {"min_p": 0.1})
    (server,) = RewardModel(**SERVER, extra_body=ASKED["extra_body"]).servers().values()
    assert server.extras.body == {"min_p": 0.1}


@pytest.mark.parametrize("dialect", ["score", "classify", "pooling", "rerank"])
@pytest.mark.parametrize("option", [{"reasoning_effort": "low"}, {"max_tokens_field": "max_completion_tokens"}])
def test_effort_is_rejected_where_no_call_supports_it(dialect: str, option: dict[str, str]) -> None:
    with pytest.raises(OptionError, match=f"{next(iter(option))}: it is an option for chat"):
        Registry().load("reward-model", {**SERVER, "dialect": dialect, **option})


@pytest.mark.parametrize("strategy", ["mcts", "test-cases", "test-verification"])
def test_the_test_writer_has_its_own_effort_and_fields(strategy: str) -> None:
    own = {"test_model": "w", "test_reasoning_effort": "high"}
    judge = llm_judge(strategy=strategy, **ASKED, **own)
    servers = judge.servers()
    assert (servers["tests"].extras.reasoning_effort, servers["tests"].extras.body) == ("high", {"min_p": 0.1})
    assert servers["judge"].extras.reasoning_effort == "low"
    assert judge.config()["test_extras"] == {"reasoning_effort": "high"}
    elsewhere = llm_judge(
        strategy=strategy, **ASKED, **own, test_base_url="http://other:1/v1", test_extra_body='{"top_a": 1}'
    ).servers()["tests"]
    assert (elsewhere.extras.reasoning_effort, elsewhere.extras.body) == ("high", {"top_a": 1})
    alone = llm_judge(strategy=strategy, test_model="w", **ASKED)
    assert alone.servers()["tests"].extras.reasoning_effort == "low", "unless said it is asked as the judge is"
    assert "test_extras" not in alone.config(), "who said nothing is who it was"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"test_reasoning_effort": "low"}, "test_reasoning_effort: it requires test_model"),
        ({"test_extra_body": "{}"}, "test_extra_body: it requires test_model"),
        ({"test_model": "w", "test_extra_body": "[1]"}, "test_extra_body: must be a JSON object"),
        (
            {"test_model": "w", "test_extra_body": '{"messages": []}'},
            "test_extra_body: 'messages' is a field that the judge sets itself",
        ),
        ({"test_model": "w", "test_reasoning_effort": "very high"}, "test_reasoning_effort: must be one word"),
    ],
)
def test_invalid_fields_of_the_test_writer_are_rejected(options: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        llm_judge(strategy="mcts", **options)
