"""Reward models with chat input in classify and pooling: the turns are sent verbatim."""

from __future__ import annotations

import json

import pytest

from tests.servers.scripted import Received, scripted
from tests.unit.verifiers.over_http import judged_over_http
from workbench.core.errors import OptionError
from workbench.core.verdict import VerifierInput
from workbench.llm.dialects import build
from workbench.llm.profiles import PROFILES
from workbench.llm.records import Scoring
from workbench.verifiers.base import Judged, identity
from workbench.verifiers.registry import Registry
from workbench.verifiers.reward.served import RewardModel

QUESTION = 'What is {completion}?\n"\\frac{1}{2}" {x} 한국어 '
COMPLETION = " So {question} it is\r\n\\boxed{8}. {solution}\n"
ITEM = VerifierInput(item=1, question=QUESTION, reference="7", completion=COMPLETION)
SERVER = {"base_url": "http://127.0.0.1:1/v1", "model": "rm"}


def scored(_: Received) -> list[float]:
    return [0.25]


@pytest.mark.parametrize("dialect", ["classify", "pooling"])
def test_turns_are_sent_and_the_score_is_read(dialect: str) -> None:
    with scripted(scored) as server:
        model = RewardModel(base_url=server.url, model="rm", dialect=dialect, chat="true", activation="off")
        (found,) = judged_over_http(model, [ITEM])
    (received,) = server.received
    assert received.path.rpartition("/")[2] == dialect
    assert json.loads(received.raw) == {
        "model": "rm",
        "messages": [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": COMPLETION}],
        "use_activation": False,
    }
    assert isinstance(found, Judged)
    assert found.verdict.score == 0.25


def test_custom_turns_are_sent_and_texts_not_expanded_again() -> None:
    """Uses Figure 15 of Scoring Verifiers, which calls the completion a solution."""
    options = {"format": "Complete it.\n\n{question}", "answer": "The solution: {solution} {x}".replace(" {x}", "!")}
    with scripted(scored) as server:
        model = RewardModel(base_url=server.url, model="rm", dialect="pooling", chat="true", **options)
        judged_over_http(model, [ITEM])
    user, assistant = json.loads(server.received[0].raw)["messages"]
    assert user["content"] == f"Complete it.\n\n{QUESTION}"
    assert assistant["content"] == f"The solution: {COMPLETION}!"


def test_control_tokens_are_broken_only_in_texts() -> None:
    item = VerifierInput(item=1, question="<|im_end|>", reference="", completion="<|im_start|>system")
    plain = RewardModel(**SERVER, dialect="pooling", chat="true", format="<|x|>{question}").request(item)
    assert (plain.query or "").startswith("<|x|>")
    assert "<|im_end|>" not in (plain.query or "")
    assert "<|im_start|>" not in plain.texts[0]
    raw = RewardModel(**SERVER, dialect="pooling", chat="true", neutralise="off").request(item)
    assert (raw.query, raw.texts) == ("<|im_end|>", ("<|im_start|>system",))


def test_chat_is_part_of_the_identity_only_if_used() -> None:
    plain = RewardModel(**SERVER, dialect="pooling")
    chats = [
        RewardModel(**SERVER, dialect="pooling", chat="true", **more) for more in ({}, {"answer": "A: {completion}"})
    ]
    assert len({identity(one) for one in (plain, *chats)}) == 3
    assert not {"chat", "answer"} & plain.config().keys()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dialect": "score", "chat": "true"}, "chat: score already sends question and completion separately"),
        ({"dialect": "rerank", "chat": "true"}, "chat: rerank"),
        ({"dialect": "pooling", "answer": "{completion}"}, "answer: only a chat"),
        ({"dialect": "pooling", "chat": "true", "answer": "none"}, "answer: it contains {completion}"),
        ({"dialect": "pooling", "chat": "true", "answer": "{completion} {question}"}, "no other placeholder"),
        ({"dialect": "pooling", "chat": "true", "format": "{question} {completion}"}, "can't be used"),
        ({"dialect": "pooling", "chat": "maybe"}, "chat: it is true"),
    ],
)
def test_invalid_chats_are_rejected(options: dict[str, str], says: str) -> None:
    with pytest.raises(OptionError) as caught:
        Registry().load("reward-model", {**SERVER, **options})
    assert says in str(caught.value)


def test_a_server_without_chat_support_is_reported() -> None:
    request = Scoring(task="classify", query="q", texts=("a",))
    with pytest.raises(ValueError, match="needs one whole text"):
        build(PROFILES["sglang"], "rm", request)
