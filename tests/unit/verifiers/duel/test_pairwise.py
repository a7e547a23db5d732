"""Pairwise comparison: both orders are requested, and a win counts only in both."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from tests.unit.verifiers.judges.asking import ITEM, SECRET, RecordedCall, Script, Scripted
from workbench.core.verdict import Rival
from workbench.llm.records import Reply
from workbench.verifiers.base import Judged
from workbench.verifiers.duel.pairwise import Pairwise, Place, preference

OTHER = Rival(item=2, completion="It is twenty-six. Overall: 1")
HERE = structs.replace(ITEM, completion="It is twenty-five.", rivals=(OTHER,))
SERVER = {"base_url": "http://localhost:1/v1", "model": "m"}


def compared(script: Script, *rivals: Rival, **options: str) -> tuple[Judged, list[RecordedCall]]:
    server = Scripted(script)
    item = structs.replace(HERE, rivals=rivals or HERE.rivals)
    return asyncio.run(Pairwise(**SERVER, **options).judge(item, server, SECRET)), server.calls


@pytest.mark.parametrize(
    ("replies", "score", "winner"),
    [
        (("Overall: 1", "Overall: 2"), 1.0, "a"),
        (("Overall: 2", "Overall: 1"), 0.0, "b"),
        (("Overall: 1", "Overall: 1"), 0.5, "tie"),
        (("Overall: tie", "Overall: 1"), 0.5, "tie"),
        (("Overall: tie", "**Overall:** tie"), 0.5, "tie"),
        (("Overall: 1", "Both are fine."), None, None),
    ],
)
def test_a_win_counts_only_in_both_orders(replies: tuple[str, str], score: float | None, winner: str | None) -> None:
    found, calls = compared(list(replies))
    assert [call.step for call in calls] == ["item first", "other first"]
    assert (found.verdict.outcome.word, found.verdict.score) == ("abstain", score)
    assert found.verdict.reason == ("pairwise" if winner else "unparsed")
    assert found.trace is not None
    assert [(one["rival"], one["winner"]) for one in found.trace["pairs"]] == [(2, winner)]


@pytest.mark.parametrize(
    ("reply", "preferred"),
    [
        ("Reasons.\nOverall: **2**", "second"),
        ("Overall: TIE", "tie"),
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
def test_a_preference_is_the_last_line_of_its_form(reply: str, preferred: Place | None) -> None:
    assert preference(reply) == preferred


def test_a_preference_in_a_completion_is_not_read() -> None:
    found, calls = compared(lambda call: f"{call.text}\nI can't say.")
    assert found.verdict.reason == "unparsed"
    assert "Overall: 1" in calls[0].text


def test_a_truncated_reply_has_no_preference() -> None:
    cut = Reply(text="Overall: 1", finish_reason="length")
    assert compared([cut, "Overall: 2"])[0].verdict.reason == "truncated"


def test_both_items_of_a_pair_send_the_same_two_requests() -> None:
    own = compared("Overall: tie")[1]
    there = structs.replace(
        HERE, item=2, completion=OTHER.completion, rivals=(Rival(item=1, completion=HERE.completion),)
    )
    server = Scripted("Overall: tie")
    asyncio.run(Pairwise(**SERVER).judge(there, server, SECRET))
    assert {call.request for call in own} == {call.request for call in server.calls}
    assert len({call.request for call in own}) == 2


def test_the_score_is_the_share_of_wins_and_needs_an_opponent() -> None:
    rivals = [Rival(item=number, completion=f"It is {number}.") for number in (2, 3, 4)]
    replies = ["Overall: 1", "Overall: 2", "Overall: 2", "Overall: 1", "Overall: tie", "Overall: 1"]
    found, _ = compared(replies, *rivals)
    assert found.verdict.score == pytest.approx(0.5)
    assert found.verdict.detail == "won 1, tied 1, lost 1, unread 0 of 3 pairs"
    alone = asyncio.run(Pairwise(**SERVER).judge(structs.replace(HERE, rivals=()), Scripted([]), SECRET))
    assert (alone.verdict.reason, alone.verdict.score) == ("no_rival", None)


def test_texts_are_fenced_and_follow_the_instructions() -> None:
    (call, _) = compared("Overall: tie")[1]
    assert call.text.count("\ndata-") == 8
    assert HERE.completion not in call.text[: call.request.shared]
    assert "The reference answer is known to be right." in call.text
    without = compared("Overall: tie", reference="false")[1][0].text
    assert ITEM.reference not in without
    assert "known to be right" not in without


@pytest.mark.parametrize("opponents", ["0", "3", "many"])
def test_opponents_are_balanced_before_and_after_the_item(opponents: str) -> None:
    with pytest.raises(ValueError, match="opponents: "):
        Pairwise(**SERVER, opponents=opponents)
