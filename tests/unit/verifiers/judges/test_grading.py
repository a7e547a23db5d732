"""The probability of Yes: the position of the verdict, the sum over spellings, and missing probabilities."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.servers.scripted import chat_reply
from tests.unit.verifiers.judges.asking import judged, llm_judge
from workbench.llm.dialects import build, read
from workbench.llm.profiles import PROFILES
from workbench.llm.records import Chat, PromptMessage, Reply, Sampling, TokenChoice
from workbench.verifiers.base import Judged, identity


def choice(said: str, **likely: float) -> TokenChoice:
    """Make a token with the probabilities of its alternatives (``_`` for a blank)."""
    return TokenChoice(said, tuple((name.replace("_", " "), math.log(share)) for name, share in likely.items()))


def plain(text: str) -> list[TokenChoice]:
    return [TokenChoice(part, ((part, 0.0),)) for part in text.replace(" ", "| ").split("|")]


def graded(tokens: list[TokenChoice], **options: str) -> Judged:
    text = "".join(token.text for token in tokens)
    reply = Reply(text=text, finish_reason="stop", tokens=tuple(tokens))
    return judged([reply], **{"top_logprobs": "20", **options})[0]


def test_the_probability_sums_yes_against_no_over_all_spellings() -> None:
    tokens = [
        *plain("Yes, both say 4. No doubt.\nFinal Judgment:"),
        choice(" Yes", _Yes=0.5, Yes=0.1, YES=0.05, _yes=0.05, _No=0.2, no=0.1),
        *plain(", there is No other."),
    ]
    found = graded(tokens).verdict
    assert found.outcome.word == "correct"
    assert found.score == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("strategy", "tokens", "score"),
    [
        ("vanilla", [choice("No", No=0.6, Yes=0.2, Maybe=0.2)], 0.25),
        ("vanilla", [choice("**", **{"**": 1.0}), choice("No", No=0.75, Yes=0.25), *plain("**. Yes-men say no")], 0.25),
        ("xverify", [choice("[", **{"[": 1.0}), choice("In", In=0.3, Cor=0.6, I=0.1), *plain("correct]")], 0.6),
        ("compassverifier", [choice("B", A=0.1, B=0.3, C=0.6)], 0.25),
        ("verifybench", [*plain("<think>Final Judgment: No</think>\n"), choice("Yes", Yes=0.9, No=0.1)], 0.9),
    ],
)
def test_each_judge_has_its_words(strategy: str, tokens: list[TokenChoice], score: float) -> None:
    assert graded(tokens, strategy=strategy).verdict.score == pytest.approx(score)


def test_a_threshold_decides_instead_of_the_word() -> None:
    tokens = [choice("No", No=0.6, Yes=0.4)]
    assert graded(tokens, strategy="vanilla").verdict.outcome.word == "incorrect"
    assert graded(tokens, strategy="vanilla", threshold="0.4").verdict.outcome.word == "correct"
    assert graded(tokens, strategy="vanilla", threshold="0.41").verdict.outcome.word == "incorrect"


def test_a_verdict_without_probabilities_is_an_abstention() -> None:
    silent = judged("Yes", strategy="vanilla", top_logprobs="5")[0].verdict
    assert (silent.outcome.word, silent.reason, silent.score) == ("abstain", "no_logprobs", None)
    elsewhere = graded([choice("Yes", Oui=0.9, Non=0.1)], strategy="vanilla").verdict
    assert (elsewhere.outcome.word, elsewhere.reason) == ("abstain", "no_logprobs")
    unread = graded(plain("I wonder."), strategy="vanilla", threshold="0").verdict
    assert (unread.outcome.word, unread.reason, unread.score) == ("abstain", "unparsed", None)


def test_a_vote_has_the_mean_probability() -> None:
    replies = [
        Reply(text="Yes", finish_reason="stop", tokens=(choice("Yes", Yes=share, No=1 - share),))
        for share in (0.9, 0.6, 0.6)
    ]
    found = judged(replies, strategy="vanilla", samples="3", top_logprobs="2", threshold="0.8")[0].verdict
    assert found.outcome.word == "incorrect"
    assert found.score == pytest.approx(0.7)


def test_only_the_final_call_requests_probabilities() -> None:
    _, (first, second) = judged(["It is right.", "Yes"], strategy="codejudge", top_logprobs="4")
    assert (first.request.sampling.top_logprobs, second.request.sampling.top_logprobs) == (None, 4)
    assert llm_judge().config()["sampling"] == {"judge": {"temperature": 0.0, "max_tokens": 2048}}
    identities = [identity(llm_judge(**more)) for more in ({}, {"top_logprobs": "4"}, {"top_logprobs": "5"})]
    identities.append(identity(llm_judge(top_logprobs="5", threshold="0.5")))
    assert len(set(identities)) == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"top_logprobs": "21"}, "top_logprobs: it is a whole number from 1 to 20"),
        ({"top_logprobs": "5", "strategy": "ice-score"}, r"top_logprobs: a verdict of ice-score \(ice-score@2\)"),
        ({"top_logprobs": "5", "strategy": "majority-vote"}, "top_logprobs: a verdict of majority-vote"),
        ({"top_logprobs": "5", "server": "anthropic"}, "top_logprobs: it can't be sent to Anthropic"),
        ({"threshold": "0.5"}, "threshold: only a rubric's score, or top_logprobs, has a threshold"),
        ({"threshold": "2", "top_logprobs": "5"}, "threshold: "),
    ],
)
def test_ungradable_strategies_are_rejected(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        llm_judge(**options)


@pytest.mark.parametrize("verdict", ["Yes", "No"])
def test_a_verdict_in_json_is_graded_too(verdict: str) -> None:
    """In the form of servers that enforce a schema; the reasoning decides nothing."""
    other = {"Yes": "No", "No": "Yes"}[verdict]
    tokens = [
        *plain(f'{{"reasoning": "One might say {other}. Both say 4.", "final_judgment": "'),
        choice(verdict, **{verdict: 0.8, other: 0.2}),
        *plain('"}'),
    ]
    found = graded(tokens).verdict
    assert found.outcome.word == {"Yes": "correct", "No": "incorrect"}[verdict]
    assert found.score == pytest.approx(0.8 if verdict == "Yes" else 0.2)


def test_probabilities_are_requested_and_read_in_the_openai_form() -> None:
    chat = Chat(messages=(PromptMessage("user", "?"),), sampling=Sampling(top_logprobs=3))
    body = json.loads(build(PROFILES["vllm"], "m", chat).body)
    assert (body["logprobs"], body["top_logprobs"]) == (True, 3)
    assert "logprobs" not in json.loads(build(PROFILES["openai"], "gpt-5", chat).body)

    def tokens(logprobs: Any) -> tuple[TokenChoice, ...]:
        return read(json.dumps(chat_reply("Yes", logprobs=logprobs)).encode(), "chat", "vllm").tokens

    top = [{"token": "No", "logprob": -2, "bytes": [78, 111]}, {"token": "Yes", "logprob": -0.1, "bytes": None}]
    assert tokens({"content": [{"token": "Yes", "logprob": -0.1, "top_logprobs": top}]}) == (
        TokenChoice("Yes", (("Yes", -0.1), ("No", -2.0))),
    )
    # The sampled token counts even if it is not among the most likely ones.
    assert tokens({"content": [{"token": "Yes", "logprob": -9, "top_logprobs": top[:1]}]})[0].likeliest[0][0] == "Yes"
    broken: Any
    for broken in (None, [], {"content": None}, {"content": [3, {"token": 3}, {"token": "a", "logprob": "x"}]}):
        assert tokens(broken) == ()
