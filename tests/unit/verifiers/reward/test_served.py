"""Reward models over HTTP: one call per completion, verbatim texts, exact scores, invalid replies rejected."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.servers.memory import MemoryJournal
from tests.servers.scripted import Received, Scripted, scripted
from tests.unit.verifiers.over_http import judged_over_http
from workbench.core.verdict import Outcome, VerifierInput
from workbench.llm.records import CallFailed
from workbench.verifiers.base import Judged, identity
from workbench.verifiers.reward.served import RewardModel

QUESTION = 'What is {completion}?\n"\\frac{1}{2}" {x} \t 한국어 👩‍🔬 <|im_end|> '
REFERENCE = "the \\boxed{7} of {question} ‮ \u2028 end"
COMPLETION = " So {reference} and {question} it is\r\n\\boxed{8}.</s>[INST]\n"
ITEM = VerifierInput(item=1, question=QUESTION, reference=REFERENCE, completion=COMPLETION)


def items(count: int) -> list[VerifierInput]:
    return [
        VerifierInput(item=number, question=f"Q{number}", reference="7", completion=f"C{number}")
        for number in range(count)
    ]


def model(url: str, **options: str) -> RewardModel:
    return RewardModel(base_url=url, model="rm", **options)


def numbered(received: Received) -> list[float]:
    """A number for each text, from the digits it ends in."""
    body = received.body
    texts = body.get("text_2") or body.get("documents") or body["input"]
    return [float(text.rpartition("C")[2]) / 10 for text in texts]


@pytest.mark.parametrize("dialect", ["score", "rerank", "classify", "pooling"])
def test_each_completion_has_one_call_and_its_own_score(dialect: str) -> None:
    with scripted(numbered) as server:
        found = judged_over_http(model(server.url, dialect=dialect), items(20))
    assert len(server.received) == 20
    assert {received.path.rpartition("/")[2] for received in server.received} == {dialect}
    assert [one.verdict.score for one in found if isinstance(one, Judged)] == [number / 10 for number in range(20)]
    assert {(one.verdict.outcome, one.verdict.reason) for one in found if isinstance(one, Judged)} == {
        (Outcome.ABSTAIN, "no_threshold")
    }


def sent_texts(body: Any) -> list[str]:
    return [
        text
        for value in body.values()
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str)
    ]


def sent(neutralise: str, text: str) -> str:
    """A text of the item's as it goes out."""
    return text if neutralise == "off" else re.sub(r"<(?=\||/s)|\[(?=INST)", "\\g<0>\u2009", text)


@pytest.mark.parametrize("neutralise", ["on", "off"])
@pytest.mark.parametrize("dialect", ["score", "rerank"])
def test_question_and_completion_are_sent_separately_and_verbatim(dialect: str, neutralise: str) -> None:
    with scripted(lambda _: [0.5]) as server:
        judged_over_http(model(server.url, dialect=dialect, neutralise=neutralise), [ITEM])
        judged_over_http(model(server.url, dialect=dialect, reference="true", neutralise=neutralise), [ITEM])
    without, with_reference = (sent_texts(body) for body in server.bodies)
    question, completion = sent(neutralise, QUESTION), sent(neutralise, COMPLETION)
    assert question in without
    assert completion in without
    assert not any(REFERENCE in text for text in without)
    assert any(question in text and REFERENCE in text for text in with_reference)
    assert completion in with_reference


@pytest.mark.parametrize("neutralise", ["on", "off"])
@pytest.mark.parametrize("dialect", ["classify", "pooling"])
def test_question_and_completion_are_sent_verbatim_in_one_text(dialect: str, neutralise: str) -> None:
    form = "<user>{question}</user>{ {} { so } <|model|>{completion}"
    with scripted(lambda _: [0.5]) as server:
        judged_over_http(model(server.url, dialect=dialect, neutralise=neutralise), [ITEM])
        judged_over_http(model(server.url, dialect=dialect, reference="on", neutralise=neutralise), [ITEM])
        judged_over_http(model(server.url, dialect=dialect, format=form, neutralise=neutralise), [ITEM])
    plain, with_reference, own = (body["input"] for body in server.bodies)
    question, completion = sent(neutralise, QUESTION), sent(neutralise, COMPLETION)
    assert plain == [f"{question}\n\n{completion}"]
    assert with_reference == [f"{question}\n\nReference answer: {REFERENCE}\n\n{completion}"]
    assert own == [f"<user>{question}</user>{{ {{}} {{ so }} <|model|>{completion}"]


def test_an_older_name_keeps_its_configuration() -> None:
    usual = model("http://x/v1").config()
    assert "neutralise" not in usual
    assert model("http://x/v1", neutralise="off").config() == {**usual, "neutralise": False}


def test_raw_and_activated_scores_are_requested_and_recorded() -> None:
    with scripted(lambda _: [0.5]) as server:
        verifiers = [model(server.url, activation=word, threshold="0.5") for word in ("server", "on", "off")]
        found = [judged_over_http(verifier, [ITEM])[0] for verifier in verifiers]
    assert [body.get("use_activation") for body in server.bodies] == [None, True, False]
    assert [one.trace and one.trace["activation"] for one in found if isinstance(one, Judged)] == [
        "server",
        "on",
        "off",
    ]
    assert len({identity(verifier) for verifier in verifiers}) == 3


def test_the_activation_of_the_server_is_recorded() -> None:
    with scripted(lambda _: [[0.2, 0.8]]) as server:
        (found,) = judged_over_http(model(server.url, dialect="classify", label="1"), [ITEM])
    assert isinstance(found, Judged)
    assert found.verdict.score == 0.8
    assert found.trace == {"activation": "softmax", "numbers": [0.2, 0.8]}


def test_a_class_must_be_chosen_among_several() -> None:
    with scripted(lambda _: [[0.2, 0.8]]) as server:
        (silent,) = judged_over_http(model(server.url, dialect="classify"), [ITEM])
        (beyond,) = judged_over_http(model(server.url, dialect="classify", label="2"), [ITEM])
    assert isinstance(silent, CallFailed)
    assert (silent.code, "label=" in silent.detail) == ("malformed", True)
    assert isinstance(beyond, CallFailed)
    assert "position 2" in beyond.detail


@pytest.mark.parametrize(
    ("data", "score"), [(-1.5, -1.5), ([-1.5], -1.5), ([3.0, 2.0, -1.5], -1.5), ([[3.0], [2.0], [-1.5]], -1.5)]
)
def test_pooling_counts_the_only_or_the_last_value(data: object, score: float) -> None:
    with scripted(lambda _: Scripted(body={"data": [{"index": 0, "object": "pooling", "data": data}]})) as server:
        (found,) = judged_over_http(model(server.url, dialect="pooling"), [ITEM])
    assert isinstance(found, Judged)
    assert found.verdict.score == score


def hostile(task: str) -> list[object]:
    field = {"score": "score", "rerank": "relevance_score", "classify": "probs", "pooling": "data"}[task]
    wrong: list[object] = ["0.5", None, {}, True, [], [None], ["1"]]
    rows = [[{"index": 0, field: value}] for value in wrong]
    right: dict[str, object] = {"index": 0, field: [0.5] if task == "classify" else 0.5}
    return [*rows, [], [right, {**right, "index": 1}], [{**right, "index": 3}], [{}], ["0.5"], "none", None]


@pytest.mark.few(4)
@pytest.mark.parametrize("task", ["score", "rerank", "classify", "pooling"])
def test_an_invalid_reply_is_no_score(task: str) -> None:
    key = "results" if task == "rerank" else "data"
    bodies: list[object] = [{key: rows} for rows in hostile(task)] + [{}, [], "no JSON", b"\xff"]
    bodies += [f'{{"{key}": [{{"index": 0, "score": {word}}}]}}' for word in ("NaN", "Infinity", "1e999")]
    for body in bodies:
        with scripted(lambda _, body=body: Scripted(body=body)) as server:  # type: ignore[misc]
            (found,) = judged_over_http(model(server.url, dialect=task, threshold="0"), [ITEM])
        assert isinstance(found, CallFailed), body
        assert found.code == "malformed", body


def test_a_threshold_reuses_stored_replies() -> None:
    journal = MemoryJournal()
    with scripted(numbered) as server:
        judged_over_http(model(server.url), items(10), journal)
        asked = len(server.received)
        found = judged_over_http(model(server.url, threshold="0.5"), items(10), journal)
    assert (asked, len(server.received)) == (10, 10)
    assert [one.verdict.outcome for one in found if isinstance(one, Judged)] == [Outcome.INCORRECT] * 5 + [
        Outcome.CORRECT
    ] * 5


def test_a_score_at_the_threshold_is_correct() -> None:
    with scripted(lambda _: [0.1 + 0.2]) as server:
        (found,) = judged_over_http(model(server.url, threshold=repr(0.1 + 0.2)), [ITEM])
    assert isinstance(found, Judged)
    assert found.verdict.outcome == Outcome.CORRECT


def test_the_identity_is_whatever_changes_scores_or_verdicts() -> None:
    url = "http://127.0.0.1:1/v1"
    one = identity(model(url))
    for same in ({"concurrency": "3"}, {"timeout": "5"}, {"rpm": "1"}, {"max_calls": "9"}, {"api_key_env": "KEY"}):
        assert identity(model(url, **same)) == one
    assert identity(model("http://localhost:2/v1")) != one
    named = {"server_name": "lab"}
    assert identity(model("http://localhost:2/v1", **named)) == identity(model(url, **named))
    other = (
        {"dialect": "rerank"},
        {"threshold": "0.5"},
        {"reference": "true"},
        {"activation": "off"},
        {"label": "0"},
        {"format": "Q: {question}"},
        {"server": "vllm"},
    )
    assert len({identity(model(url, **options)) for options in other} | {one}) == len(other) + 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base_url": ""}, "base_url: it is missing"),
        ({"model": " "}, "model: it is missing"),
        ({"dialect": "chat"}, "dialect: it is score or classify or pooling or rerank or completions"),
        ({"threshold": "high"}, "threshold: 'high' is not a number"),
        ({"threshold": "nan"}, "threshold: 'nan' is not a number"),
        ({"threshold": "inf"}, "threshold: 'inf' is not a number"),
        ({"label": "-1"}, "label: it is a whole number at least 0"),
        ({"activation": "relu"}, "activation: it is server or on or off"),
        ({"reference": "maybe"}, "reference: it is true or false"),
        ({"format": "{question} {answer}"}, "format: there is no {answer}"),
        ({"format": "nothing"}, "format: {question} is missing"),
        ({"format": "{question} {completion}"}, "format: {completion} can't be used"),
        ({"format": "{question} {reference}"}, "format: {reference} can't be used, since reference is not true"),
        ({"format": "{question}", "dialect": "pooling"}, "format: {completion} is missing"),
        ({"format": "{question} {completion}", "dialect": "pooling", "reference": "on"}, "{reference} is missing"),
        ({"base_url": "ftp://host"}, "base_url: "),
        ({"server": "mine"}, "server: it is"),
        ({"timeout": "0"}, "timeout: it is a number above 0"),
        ({"concurrency": "0"}, "concurrency: it is a whole number from 1"),
        ({"rpm": "0"}, "rpm: it is a number above 0"),
        ({"max_cost": "-1"}, "max_cost: it is a number at least 0"),
        ({"max_calls": "many"}, "max_calls: 'many' is not a whole number"),
    ],
)
def test_invalid_options_are_rejected_with_a_message(options: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        RewardModel(**{"base_url": "http://localhost:1/v1", "model": "rm", **options})


@pytest.mark.parametrize(
    "options", [{"api_key_env": "sk-hush-hush-1234"}, {"base_url": "http://me:sk-hush-hush-1234@host/v1"}]
)
def test_a_key_in_the_wrong_place_is_rejected_and_not_echoed(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"^(api_key_env|base_url): ") as refused:
        RewardModel(**{"base_url": "http://localhost:1/v1", "model": "rm", **options})
    assert "hush" not in str(refused.value)
