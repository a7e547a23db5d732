"""Two heuristics of evaluation scripts, kept as simple as they are used, to compare real verifiers with."""

from __future__ import annotations

import re
from collections import deque
from decimal import Decimal
from typing import ClassVar

from workbench.core.final_answer import reference_answer, reply_start
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation
from workbench.verifiers.canonical import canonical_text

_NUMBER = re.compile(r"(?:(?<![\w)\]}])[-−])?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?")
_LETTER = re.compile(r"(?<![^\W_])(?<!\\)[A-H](?![^\W_])")
_LETTER_ANSWER = re.compile(r"\(?([A-H])(?:[).:].*)?", re.DOTALL)


class LastNumber:
    """Correct when the reply's last number is the reference's last number, as GSM8K is often scored.

    A number is digits with thousands commas, a decimal part and a sign; it is compared by value. Fractions,
    units, powers of ten and what the number stands for are not looked at.
    """

    description: ClassVar[str] = "Heuristic: the last number of the reply is the last number of the reference"
    options: ClassVar[dict[str, str]] = {}
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "last-number"
    version: str = "1"
    isolation: Isolation = "inline"

    def config(self) -> dict[str, object]:
        """It has no options."""
        return {}

    def verify(self, item: VerifierInput) -> Verdict:
        """Compare the last numbers; abstain where one side has none."""
        expected = _last(_NUMBER, item.reference)
        if expected is None:
            return Verdict(outcome=Outcome.ABSTAIN, reason="no_reference_answer")
        given = _last(_NUMBER, item.completion, reply_start(item.completion))
        if given is None:
            return Verdict(outcome=Outcome.ABSTAIN, reason="no_answer_found", reference_final=expected[0])
        return Verdict(
            outcome=Outcome.CORRECT if _value(given[0]) == _value(expected[0]) else Outcome.INCORRECT,
            reason="number",
            reference_final=expected[0],
            candidate_final=given[0],
            reference_span=expected.span(),
            candidate_span=given.span(),
        )


class ChoiceLetter:
    """Correct when the reply's last stand-alone letter A to H is the reference's option letter.

    The reference's final answer must be one letter, alone or before its option: ``C``, ``(C)``, ``C. 12 cm``. In
    the reply any capital A to H between other signs counts, the article "A" too.
    """

    description: ClassVar[str] = "Heuristic: the last stand-alone letter A–H of the reply is the reference's letter"
    options: ClassVar[dict[str, str]] = {}
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "choice-letter"
    version: str = "1"
    isolation: Isolation = "inline"

    def config(self) -> dict[str, object]:
        """It has no options."""
        return {}

    def verify(self, item: VerifierInput) -> Verdict:
        """Compare the letters; abstain where one side has none."""
        reference = reference_answer(item.reference, item.subtype)
        expected = _LETTER_ANSWER.fullmatch(canonical_text(reference.text))
        if expected is None:
            return Verdict(outcome=Outcome.ABSTAIN, reason="no_reference_answer")
        given = _last(_LETTER, item.completion, reply_start(item.completion))
        if given is None:
            return Verdict(outcome=Outcome.ABSTAIN, reason="no_answer_found", reference_final=expected[1])
        return Verdict(
            outcome=Outcome.CORRECT if given[0] == expected[1] else Outcome.INCORRECT,
            reason="letter",
            reference_final=expected[1],
            candidate_final=given[0],
            reference_span=(reference.start, reference.end),
            candidate_span=given.span(),
        )


def _last(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    last = deque(pattern.finditer(text, start), maxlen=1)
    return last[0] if last else None


def _value(number: str) -> Decimal:
    return Decimal(number.replace(",", "").replace("−", "-"))
