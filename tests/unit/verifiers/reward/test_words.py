"""The probability of a word as the next token, by OpenAI's older call, as servers of that form tell it."""

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


def told(**top: float) -> dict[str, Any]:
    """A body with these tokens and their probabilities; the first is what came. Underscores stand for blanks."""
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


def test_the_text_goes_out_as_a_prompt_and_one_token_is_asked_for() -> None:
    found, (received,) = judged(told(_Yes=0.6, _No=0.2), reference="true")
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


def test_a_prompt_and_words_of_ones_own() -> None:
    form = "<|user|>{question}<|assistant|>{completion}<|grade|>"
    body = told(**{"+": 0.3, "-": 0.1, "_": 0.2})
    found, (received,) = judged(body, words="+,-", format=form, logprobs="20", neutralise="off")
    assert received.body["prompt"] == "<|user|>What is 3 + 4? </s><|assistant|>It is {question} 7<|grade|>"
    assert received.body["logprobs"] == 20
    assert isinstance(found, Judged)
    assert found.verdict.score == pytest.approx(0.75, abs=1e-12)


@pytest.mark.parametrize(
    ("body", "words", "expected"),
    [
        (told(_Yes=0.5, yes=0.1, YES=0.1, _No=0.2, _Maybe=0.1), "Yes,No", 0.7 / 0.9),
        (told(_Maybe=0.5, _Yes=0.3), "Yes,No", 1.0),
        (told(_No=0.9, _Nothing=0.05, _Yes=0.05), "Yes,No", 0.05 / 0.95),
        (told(_No=0.9, _Yes=0.05), "Yes", 0.05),
        (told(_Yes=0.9), "No,Yes", 0.0),
    ],
)
def test_the_probability_is_summed_over_spellings(body: Any, words: str, expected: float) -> None:
    assert score(body, words=words) == (pytest.approx(expected, abs=1e-12), "no_threshold")


def test_a_threshold_makes_a_verdict() -> None:
    for body, outcome in ((told(_Yes=0.6, _No=0.2), Outcome.CORRECT), (told(_Yes=0.2, _No=0.6), Outcome.INCORRECT)):
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


def test_the_form_of_a_chat_is_read_too() -> None:
    assert score(completion(CHAT_FORM)) == (pytest.approx(0.75, abs=1e-12), "no_threshold")


def test_a_server_that_tells_no_alternatives_tells_of_what_came_alone() -> None:
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
def test_where_no_word_is_told_there_is_no_score(logprobs: Any) -> None:
    assert score(completion(logprobs), threshold="0.5") == (None, "no_logprobs")


def test_what_is_no_completion_is_an_error() -> None:
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
def test_wrong_options_are_refused_in_words(options: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        RewardModel(**{"base_url": "http://localhost:1/v1", **PLACE, **options})


def test_words_and_how_many_are_told_belong_to_its_identity() -> None:
    made = [
        RewardModel(base_url="http://localhost:1/v1", **PLACE, **options)
        for options in ({}, {"words": "No,Yes"}, {"words": "Yes"}, {"logprobs": "20"})
    ]
    assert len({identity(one) for one in made}) == len(made)
    other = RewardModel(base_url="http://localhost:1/v1", model="rm", dialect="classify")
    assert not {"words", "logprobs"} & other.config().keys()


def test_who_has_the_call() -> None:
    having = {name for name, profile in PROFILES.items() if "completions" in profile.scores}
    assert having == {
        *("openai-compatible", "openai", "vllm", "sglang", "llama-cpp", "together", "fireworks", "litellm"),
    }
    assert isinstance(RewardModel(base_url="http://localhost:1/v1", **PLACE).request(ITEM), Scoring)
