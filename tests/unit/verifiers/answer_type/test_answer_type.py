"""Answer types by a model: one call per question, verbatim texts, and a suggestion only in the requested form."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.memory import MemoryJournal
from tests.servers.scripted import Scripted, chat_reply, scripted
from tests.unit.verifiers.over_http import judged_over_http
from workbench.core.taxonomy import SUBTYPES, TYPES, type_display
from workbench.core.verdict import Outcome, VerifierInput
from workbench.verifiers.answer_type.verifier import OUTSIDE, AnswerType, suggestion
from workbench.verifiers.base import Judged, identity

QUESTION = 'Find \\{x\\}: {reference} {types} "한국어" 👩‍🔬\n\nAnswer type: B5\n'
REFERENCE = "\\boxed{\\{1, 2\\}} {question} \t‮ \u2028 end "


def asking(url: str, **options: str) -> AnswerType:
    return AnswerType(base_url=url, model="m", **options)


def completions(count: int, question: str = QUESTION, reference: str = REFERENCE) -> list[VerifierInput]:
    return [
        VerifierInput(item=number, question=question, reference=reference, completion=f"marker {number}")
        for number in range(count)
    ]


def content(body: Any) -> str:
    return "".join(message["content"] for message in body["messages"])


def test_a_question_is_requested_once_for_all_completions() -> None:
    journal = MemoryJournal()
    with scripted(lambda _: "It is a set.\nAnswer type: B4") as server:
        found = judged_over_http(asking(server.url), [*completions(4), *completions(3, "Other?")], journal)
        again = judged_over_http(asking(server.url), completions(2), journal)
    assert len(server.received) == 2
    assert {one.verdict.rule for one in [*found, *again] if isinstance(one, Judged)} == {"B4"}
    assert {one.verdict.outcome for one in found if isinstance(one, Judged)} == {Outcome.ABSTAIN}


@pytest.mark.parametrize("fence", ["on", "off"])
def test_requests_have_question_and_reference_but_no_completion(fence: str) -> None:
    with scripted(lambda _: "Answer type: B4") as server:
        judged_over_http(asking(server.url, fence=fence), completions(1))
    (body,) = server.bodies
    assert QUESTION in content(body)
    assert REFERENCE in content(body)
    assert "marker" not in content(body)
    assert body["temperature"] == 0


def test_the_whole_taxonomy_is_in_the_prompt() -> None:
    with scripted(lambda _: "Answer type: B4") as server:
        judged_over_http(asking(server.url), completions(1))
    prompt = content(server.bodies[0])
    assert all(type_display(code) in prompt for code in (*TYPES, *SUBTYPES))
    assert all(word in prompt for word in OUTSIDE)


def test_the_texts_of_an_item_are_not_read_as_a_suggestion() -> None:
    with scripted(lambda received: content(received.body)) as server:
        (echo,) = judged_over_http(asking(server.url), completions(1))
    assert isinstance(echo, Judged)
    assert (echo.verdict.rule, echo.verdict.reason) == (None, "unparsed")


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"finish_reason": "length"}, "truncated"),
        ({"finish_reason": "stop"}, "unparsed"),
    ],
)
def test_a_missing_suggestion_has_a_reason(choice: dict[str, str], reason: str) -> None:
    with scripted(lambda _: Scripted(body=chat_reply("The answer is a number", **choice))) as server:
        (found,) = judged_over_http(asking(server.url), completions(1))
    assert isinstance(found, Judged)
    assert (found.verdict.outcome, found.verdict.rule, found.verdict.reason) == (Outcome.ABSTAIN, None, reason)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("Answer type: B5", "B5"),
        ("so\n**Answer Type:** B5 - Matrix.", "B5"),
        ("Answer type: `C4`", "C4"),
        ("Answer type: \\boxed{A1}", "A1"),
        ("Answer type: Finite state selection", "C4"),
        ("<think>Answer type: A1</think>\nAnswer type: D2", "D2"),
        ("Answer type: A1\nOn second thought:\nAnswer type: A3", "A3"),
        ("Answer type: PROOF", "proof"),
        ("Answer type: OPEN", "open_ended"),
        ("Answer type: A1\nAnswer type: unclear", None),
        ("Answer type: A1 or A3", None),
        ("Answer type: CODE", None),
        ("Answer type: A9", None),
        ("Answer type: A", None),
        ("Answer type: Numeric Values", None),
        ("Answer type:", None),
        ("B5", None),
        ("It is B5, the answer type.", None),
        ("<think>Answer type: A1", None),
        ("", None),
    ],
)
def test_only_the_requested_form_is_parsed(reply: str, code: str | None) -> None:
    assert suggestion(reply) == code


@given(st.text(), st.sampled_from(sorted(SUBTYPES)))
def test_the_last_line_decides(before: str, code: str) -> None:
    reply = before.replace("<", "") + f"\nReason.\nAnswer type: {code}"
    assert suggestion(reply) == code


@given(st.text())
def test_any_text_is_parsed(text: str) -> None:
    assert suggestion(text, "data-0123456789abcdef") in {*SUBTYPES, *OUTSIDE.values(), None}


def test_the_identity_includes_model_wording_and_server() -> None:
    one = identity(asking("http://localhost:1/v1"))
    assert identity(asking("http://localhost:1/v1", rpm="3")) == one
    assert identity(asking("http://localhost:2/v1")) != one
    named = {"server_name": "lab"}
    assert identity(asking("http://localhost:2/v1", **named)) == identity(asking("http://localhost:1/v1", **named))
    assert identity(asking("http://localhost:1/v1", fence="off")) != one
    assert identity(AnswerType(base_url="http://localhost:1/v1", model="other")) != one
