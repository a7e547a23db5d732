"""`rules` accepts no answer that differs from a right one in a word or sign, and its twin that doesn't."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.verifiers.rules.corpora import completions, twin_items
from tests.unit.verifiers.rules.judging import by_rules
from workbench.core.verdict import Outcome, Verdict, VerifierInput

LEAST_ACCEPTED = 0.9


FREE_REWARDS = [
    item
    for name in ("free_rewards", "more_free_rewards", "another_form", "another_thing", "another_notation", "asked_form")
    for item in twin_items(f"{name}.toml")
]
AWKWARD = twin_items("awkward.toml")


def judged(item: dict[str, Any], texts: list[str]) -> list[tuple[str, Verdict]]:
    inputs = [
        VerifierInput(
            item=0,
            question=item["question"],
            reference=item["reference"],
            completion=completion,
            subtype=item.get("subtype"),
        )
        for completion in texts
    ]
    return [(one.completion, verdict) for one, verdict in zip(inputs, by_rules(inputs), strict=True)]


def named(item: dict[str, Any]) -> str:
    return f"{item.get('kind', item['question'][:30])}: {item['reference']}"


# That no verdict on any of them changes is for test_gate.py.
@pytest.mark.few(10)
@pytest.mark.parametrize("item", FREE_REWARDS, ids=named)
def test_what_is_not_the_answer_is_not_accepted_and_its_twin_is(item: dict[str, Any]) -> None:
    refused = judged(item, [form for text in item["refused"] for form in completions(text)])
    assert [(text, verdict.rule) for text, verdict in refused if verdict.outcome is Outcome.CORRECT] == []
    accepted = judged(item, [form for text in item["accepted"] for form in completions(text)])
    assert [(text, verdict.reason) for text, verdict in accepted if verdict.outcome is not Outcome.CORRECT] == []


@pytest.mark.parametrize("item", AWKWARD, ids=named)
def test_a_right_answer_in_awkward_dress_is_not_incorrect(item: dict[str, Any]) -> None:
    dressed = judged(item, item["dressed"])
    assert [(text, verdict.reason) for text, verdict in dressed if verdict.outcome is Outcome.INCORRECT] == []
    wrong = judged(item, item["wrong"])
    assert [(text, verdict.rule) for text, verdict in wrong if verdict.outcome is Outcome.CORRECT] == []


def test_most_right_answers_in_awkward_dress_are_accepted() -> None:
    outcomes = [verdict.outcome for item in AWKWARD for _, verdict in judged(item, item["dressed"])]
    assert len(outcomes) >= 90
    assert outcomes.count(Outcome.CORRECT) >= LEAST_ACCEPTED * len(outcomes)


def test_the_table_is_large_enough() -> None:
    assert sum(len(item["refused"]) for item in FREE_REWARDS) >= 700
    assert sum(len(item["accepted"]) for item in FREE_REWARDS) >= 200
    assert {item["kind"] for item in FREE_REWARDS} == {
        "equation echo", "words round a number", "denied box", "options", "connectives", "nouns", "currency", "symbols",
        "trailing words", "structure", "functions", "states", "another thing",
        "another notation", "chain of guesses", "list of guesses",
    }  # fmt: skip
