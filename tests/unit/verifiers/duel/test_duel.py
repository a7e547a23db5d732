"""A duel of judges: asked blind and in both orders, read line by line, a win only in both orders."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.verifiers.judges.asking import SECRET, Script, Scripted
from workbench.core.errors import UsageError
from workbench.core.verdict import Outcome, VerifierInput
from workbench.llm.records import Reply
from workbench.verifiers.base import Judged
from workbench.verifiers.duel.verifier import JudgeDuel, Place, preferences, winner
from workbench.verifiers.registry import Registry

A, B = "I looked at {question} and at every line.", "Seems fine.\nOverall: 2"
DUEL = VerifierInput(item=1, question="Add two numbers.", reference=A, completion=B)


def dueled(script: Script, item: VerifierInput = DUEL) -> tuple[Judged, Scripted]:
    server = Scripted(script)
    verifier = JudgeDuel(base_url="http://localhost:1/v1", model="m", a="3", b="4")
    return asyncio.run(verifier.judge(item, server, SECRET)), server


def lines(thoroughness: str, logic: str, analysis: str, overall: str) -> str:
    return f"Thoroughness: {thoroughness}\nLogic: {logic}\nAnalysis: {analysis}\nOverall: {overall}"


@pytest.mark.parametrize(
    ("reply", "overall"),
    [
        (lines("1", "1", "1", "1"), "first"),
        (lines("1", "1", "1", "**2**"), "second"),
        (lines("1", "1", "1", "TIE"), "tie"),
        ("**Overall**: examination 2", "second"),
        ("- Overall: 1.", "first"),
        ("<think>Overall: 1</think>\nOverall: 2", "second"),
        ('It ends in "Overall: 2".\nOverall: 1', "first"),
        ("Overall: 1\nNo, on second thought.\nOverall: tie", "tie"),
        ("Overall: 12", None),
        ("Overall, 1 is better.", None),
        ("Overall: 1.5", None),
        ("", None),
    ],
)
def test_preferences_are_the_last_line_of_their_form(reply: str, overall: Place | None) -> None:
    assert preferences(reply)["overall"] == overall


@pytest.mark.parametrize(
    ("as_first", "as_second", "won"),
    [
        ("first", "second", "a"),
        ("second", "first", "b"),
        ("first", "first", "tie"),
        ("second", "second", "tie"),
        ("tie", "second", "tie"),
        ("first", None, None),
    ],
)
def test_a_win_counts_in_both_orders_only(as_first: Place, as_second: Place | None, won: str | None) -> None:
    assert winner(as_first, as_second) == won


def test_both_orders_hold_both_texts_word_for_word_and_no_name() -> None:
    _, server = dueled(lines("1", "2", "tie", "1"))
    assert [call.step for call in server.calls] == ["A first", "B first"]
    for call in server.calls:
        assert DUEL.question in call.text
        assert A in call.text
        assert B in call.text
    first, second = (call.text for call in server.calls)
    assert first.index(A) < first.index(B)
    assert second.index(B) < second.index(A)


def test_a_preference_for_a_place_is_a_tie() -> None:
    judged, _ = dueled(lines("1", "1", "1", "1"))
    assert judged.verdict.rule == "tie"
    assert judged.trace is not None
    assert set(judged.trace["winners"].values()) == {"tie"}


def test_a_preference_for_a_judge_is_a_win_and_no_verdict_on_the_completion() -> None:
    judged, _ = dueled([lines("1", "2", "tie", "1"), lines("2", "1", "tie", "2")])
    assert (judged.verdict.outcome, judged.verdict.reason, judged.verdict.rule) == (Outcome.ABSTAIN, "duel", "a")
    assert judged.trace is not None
    assert judged.trace["winners"] == {"thoroughness": "a", "logic": "b", "analysis": "tie", "overall": "a"}


def test_a_verdict_in_the_reasoning_that_is_compared_is_not_read() -> None:
    judged, server = dueled(lambda call: f"{call.text}\nI can't say.")
    assert judged.verdict.reason == "unparsed"
    assert "Overall: 2" in server.calls[0].text


def test_a_comparison_that_was_cut_short_is_told_apart() -> None:
    cut = Reply(text="Thoroughness: 1\nLogic:", finish_reason="length")
    assert dueled([lines("1", "1", "1", "1"), cut])[0].verdict.reason == "truncated"
    assert dueled([cut, lines("1", "1", "1", "1")])[0].verdict.reason == "truncated"
    assert dueled(["Hm.", "Hm."])[0].verdict.reason == "unparsed"


@pytest.mark.parametrize(("a", "b"), [("", B), (A, ""), ("", "")])
def test_without_the_reasoning_of_both_nobody_is_asked(a: str, b: str) -> None:
    judged, server = dueled("", VerifierInput(item=1, question="q", reference=a, completion=b))
    assert (judged.verdict.outcome, judged.verdict.reason) == (Outcome.ABSTAIN, "no_reasoning")
    assert not server.calls


def test_it_needs_two_runs() -> None:
    options = {"base_url": "http://localhost/v1", "model": "m", "a": "1"}
    with pytest.raises(UsageError, match="b: it is missing"):
        Registry().load("judge-duel", options)
    with pytest.raises(UsageError, match="b: 'mcts' is not a whole number"):
        Registry().load("judge-duel", {**options, "b": "mcts"})
