"""The probability of a word as the next token, from OpenAI-style completions."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from tests.servers.scripted import Received, Scripted, scripted
from tests.unit.verifiers.over_http import judged_over_http
from workbench.core.verdict import Outcome, VerifierInput
from workbench.llm.profiles import PROFILES
from workbench.llm.records import CallFailed, Scoring
from workbench.verifiers.base import Judged, identity
from workbench.verifiers.reward.served import RewardModel

ITEM = VerifierInput(item=1, question="What is 3 + 4? </s>", reference="7", completion="It is {question} 7")
PLACE = {"model": "rm", "dialect": "completions"}


def completion_with(**top: float) -> dict[str, Any]:
    """Make a response body with these token probabilities; the first token is the sampled one, `_` is a blank."""
    logprobs = {name.replace("_", " "): math.log(value) for name, value in top.items()}
    first = next(iter(logprobs))
    return completion(
        {"text_offset": [0], "tokens": [first], "token_logprobs": [logprobs[first]], "top_logprobs": [logprobs]}
    )


def completion(logprobs: Any, **choice: Any) -> dict[str, Any]:
    return {
        "id": "cmpl-scripted",
        "object": "text_completion",
        "model": "scripted-model",
        "choices": [{"index": 0, "text": " Yes", "finish_reason": "length", "logprobs": logprobs, **choice}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
    }


def judged(body: Any, **options: str) -> tuple[Judged | CallFailed, list[Received]]:
    with scripted(lambda _: Scripted(body=body)) as server:
        (found,) = judged_over_http(RewardModel(base_url=server.url, **PLACE, **options), [ITEM])
        return found, list(server.received)


def score(body: Any, **options: str) -> tuple[Any, str | None]:
    found, _ = judged(body, **options)
    assert isinstance(found, Judged), found
    return found.verdict.score, found.verdict.reason


def test_the_text_is_the_prompt_and_one_token_is_requested() -> None:
    found, (received,) = judged(completion_with(_Yes=0.6, _No=0.2), reference="true")
    assert received.path == "/v1/completions"
    assert received.body == {
        "model": "rm",
        "prompt": "What is 3 + 4? <\u2009/s>\n\nReference answer: 7\n\nIt is {question} 7\n\n"
        "Is this answer correct? Yes or No:",
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": 5,
    }
    assert isinstance(found, Judged)
    assert (found.verdict.outcome, found.verdict.reason) == (Outcome.ABSTAIN, "no_threshold")
    assert found.verdict.score == pytest.approx(0.75, abs=1e-12)
    assert found.trace is not None
    assert [text for text, _ in found.trace["tokens"][0]["likeliest"]] == [" Yes", " No"]


def test_prompt_and_words_can_be_customised() -> None:
    form = "<|user|>{question}<|assistant|>{completion}<|grade|>"
    body = completion_with(**{"+": 0.3, "-": 0.1, "_": 0.2})
    found, (received,) = judged(body, words="+,-", format=form, logprobs="20", neutralise="off")
    assert received.body["prompt"] == "<|user|>What is 3 + 4? </s><|assistant|>It is {question} 7<|grade|>"
    assert received.body["logprobs"] == 20
    assert isinstance(found, Judged)
    assert found.verdict.score == pytest.approx(0.75, abs=1e-12)


@pytest.mark.parametrize(
    ("body", "words", "expected"),
    [
        (completion_with(_Yes=0.5, yes=0.1, YES=0.1, _No=0.2, _Maybe=0.1), "Yes,No", 0.7 / 0.9),
        (completion_with(_Maybe=0.5, _Yes=0.3), "Yes,No", 1.0),
        (completion_with(_No=0.9, _Nothing=0.05, _Yes=0.05), "Yes,No", 0.05 / 0.95),
        (completion_with(_No=0.9, _Yes=0.05), "Yes", 0.05),
        (completion_with(_Yes=0.9), "No,Yes", 0.0),
    ],
)
def test_the_probability_is_summed_over_spellings(body: Any, words: str, expected: float) -> None:
    assert score(body, words=words) == (pytest.approx(expected, abs=1e-12), "no_threshold")


def test_a_threshold_gives_a_verdict() -> None:
    for body, outcome in (
        (completion_with(_Yes=0.6, _No=0.2), Outcome.CORRECT),
        (completion_with(_Yes=0.2, _No=0.6), Outcome.INCORRECT),
    ):
        found, _ = judged(body, threshold="0.5")
        assert isinstance(found, Judged)
        assert (found.verdict.outcome, found.verdict.reason) == (outcome, "score")


CHAT_FORM = {
    "content": [
        {
            "token": " Yes",
            "logprob": math.log(0.6),
            "top_logprobs": [{"token": " No", "logprob": math.log(0.2)}],
        }
    ]
}


def test_chat_replies_are_read_too() -> None:
    assert score(completion(CHAT_FORM)) == (pytest.approx(0.75, abs=1e-12), "no_threshold")


def test_without_alternatives_only_the_sampled_token_counts() -> None:
    body = completion({"tokens": [" Yes"], "token_logprobs": [math.log(0.4)], "top_logprobs": None})
    assert score(body, words="Yes") == (pytest.approx(0.4, abs=1e-12), "no_threshold")


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        [],
        "Yes",
        {"tokens": [], "token_logprobs": [], "top_logprobs": []},
        {"tokens": [" Maybe"], "token_logprobs": [-0.1], "top_logprobs": [{" Perhaps": -2.0}]},
        {"tokens": [7], "token_logprobs": ["x"], "top_logprobs": [[]]},
        {"tokens": [" Yes"], "token_logprobs": [None], "top_logprobs": [{" Yes": None}]},
        {"tokens": ["token_id:9891"], "token_logprobs": [-0.1], "top_logprobs": [{"token_id:9891": -0.1}]},
    ],
)
def test_missing_logprobs_give_no_score(logprobs: Any) -> None:
    assert score(completion(logprobs), threshold="0.5") == (None, "no_logprobs")


def test_an_invalid_completion_is_an_error() -> None:
    bodies: tuple[dict[str, Any], ...] = (
        {"choices": []},
        {"data": []},
        {"error": {"message": "logprobs is at most 5", "code": 400}},
    )
    for body in bodies:
        found, _ = judged(body)
        assert isinstance(found, CallFailed), found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"words": ""}, "words: name one or two"),
        ({"words": "a,b,c"}, "words: name one or two"),
        ({"words": "Yes,"}, "words: name one or two"),
        ({"words": "No,Not", "format": "{question}{completion}"}, "words: one is the beginning of the other"),
        ({"words": "right,wrong"}, "format: say in the format how to answer"),
        ({"logprobs": "0"}, "logprobs: it is a whole number from 1"),
        ({"logprobs": "many"}, "logprobs: 'many' is not a whole number"),
        ({"chat": "true"}, "chat: dialect completions sends a plain text"),
        ({"label": "0"}, "label: the probability of a word has no such option"),
        ({"activation": "off"}, "activation: the probability of a word has no such option"),
        ({"format": "{question}"}, "format: {completion} is missing"),
        ({"dialect": "classify", "words": "Yes,No"}, "words: it requires dialect=completions"),
        ({"dialect": "score", "logprobs": "5"}, "logprobs: it requires dialect=completions"),
    ],
)
def test_invalid_options_are_rejected_with_a_message(options: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        RewardModel(**{"base_url": "http://localhost:1/v1", **PLACE, **options})


def test_words_and_logprobs_are_part_of_the_identity() -> None:
    made = [
        RewardModel(base_url="http://localhost:1/v1", **PLACE, **options)
        for options in ({}, {"words": "No,Yes"}, {"words": "Yes"}, {"logprobs": "20"})
    ]
    assert len({identity(one) for one in made}) == len(made)
    other = RewardModel(base_url="http://localhost:1/v1", model="rm", dialect="classify")
    assert not {"words", "logprobs"} & other.config().keys()


def test_servers_that_support_the_call() -> None:
    having = {name for name, profile in PROFILES.items() if "completions" in profile.scores}
    assert having == {
        *("openai-compatible", "openai", "vllm", "sglang", "llama-cpp", "together", "fireworks", "litellm"),
    }
    assert isinstance(RewardModel(base_url="http://localhost:1/v1", **PLACE).request(ITEM), Scoring)
