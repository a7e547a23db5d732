"""What `rules` accepts it accepts no more once a digit, a sign, a letter of the answer or the reference is another one.

Right answers come from the rows and families beside this; which digit, letter or reference is changed, a seed says.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec import structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.rules.verifier import Rules

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_WORD = re.compile(r"[A-Za-z]{4,}")
_SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 60))]


class Accepted(NamedTuple):
    """A right answer that is accepted at once: what it is the answer to, and where its final answer stands."""

    item: VerifierInput
    final: str
    span: tuple[int, int]
    rule: str

    def with_final(self, text: str) -> VerifierInput:
        """The same with another final answer in its place."""
        start, end = self.span
        completion = self.item.completion
        return structs.replace(self.item, completion=completion[:start] + text + completion[end:])


def said(item: VerifierInput) -> Verdict | None:
    first = Rules().quick(item)
    return first if isinstance(first, Verdict) else None


def is_accepted(item: VerifierInput) -> bool:
    verdict = said(item)
    return verdict is not None and verdict.outcome is Outcome.CORRECT


@cache
def accepted() -> list[Accepted]:
    found = []
    for name in ("rows.jsonl", "families.jsonl"):
        for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            texts = {key: row[key] for key in ("question", "reference", "completion")}
            item = VerifierInput(item=0, subtype=row.get("subtype"), **texts)
            verdict = said(item) if row["gold"] else None
            if verdict and verdict.outcome is Outcome.CORRECT and verdict.candidate_span and verdict.candidate_final:
                rule = verdict.rule or ""
                found.append(Accepted(item, verdict.candidate_final, verdict.candidate_span, rule))
    return found


def numbers() -> Iterator[Accepted]:
    """Answers that are a number and nothing else, and equal to the reference digit by digit."""
    for one in accepted():
        if _NUMBER.fullmatch(one.final) and one.rule in ("text.exact", "text.canonical", "number.exact"):
            yield one


def other_digit(text: str, chance: random.Random) -> str:
    at = chance.choice([at for at, sign in enumerate(text) if sign.isdigit()])
    digit = chance.choice([digit for digit in "123456789" if digit != text[at]])
    return text[:at] + digit + text[at + 1 :]


@pytest.mark.soak
def test_there_are_many_answers_to_change() -> None:
    assert len(accepted()) > 300
    assert len(list(numbers())) > 20


@pytest.mark.parametrize("seed", _SEEDS)
def test_another_digit_is_another_number(seed: int) -> None:
    chance = random.Random(seed)
    changed = [one.with_final(other_digit(one.final, chance)) for one in numbers()]
    assert [item.completion[-120:] for item in changed if is_accepted(item)] == []


def test_the_other_sign_is_another_number() -> None:
    changed = [
        one.with_final(one.final.removeprefix("-") if one.final[0] == "-" else f"-{one.final}")
        for one in numbers()
        if float(one.final)
    ]
    assert [item.completion[-120:] for item in changed if is_accepted(item)] == []


@pytest.mark.parametrize("seed", _SEEDS)
def test_another_letter_is_another_word(seed: int) -> None:
    chance = random.Random(seed)
    changed = []
    for one in accepted():
        if _WORD.fullmatch(one.final) and one.final.casefold() in one.item.reference.casefold():
            at = chance.randrange(len(one.final) - 1)
            letter = chance.choice([sign for sign in "bdfgklmpv" if sign != one.final[at].casefold()])
            changed.append(one.with_final(one.final[:at] + letter + one.final[at + 1 :]))
    assert len(changed) > 5
    verdicts = [(item, verdict) for item in changed if (verdict := said(item)) and verdict.outcome is Outcome.CORRECT]
    # What a reply says beside it may tell a state: "the conclusion does not follow" is invalid, too.
    assert [item.completion[-120:] for item, verdict in verdicts if not (verdict.rule or "").startswith("state")] == []


@pytest.mark.parametrize("seed", _SEEDS)
def test_the_reference_of_another_question_accepts_no_other_number(seed: int) -> None:
    chance = random.Random(seed)
    known = list(numbers())
    for one in known:
        other = chance.choice(known)
        if float(other.final) != float(one.final):
            assert not is_accepted(structs.replace(one.item, reference=other.item.reference)), (one, other)
