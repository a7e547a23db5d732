"""A verifier's input and output."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final, Literal

from msgspec import Struct


class Outcome(StrEnum):
    """The outcome of a verdict. It equals its word (``"correct"``), and is true only if it is "correct"."""

    INCORRECT = "incorrect"
    CORRECT = "correct"
    ABSTAIN = "abstain"
    ERROR = "error"

    def __bool__(self) -> bool:
        return self is Outcome.CORRECT

    @property
    def word(self) -> OutcomeWord:
        return self.value

    @property
    def code(self) -> OutcomeCode:
        return OutcomeCode[self.name]


class OutcomeCode(IntEnum):
    """An outcome as a small integer, as it is stored; a run's outcomes are one int8 array."""

    INCORRECT = 0
    CORRECT = 1
    ABSTAIN = 2
    ERROR = 3

    @property
    def outcome(self) -> Outcome:
        return Outcome[self.name]

    @property
    def word(self) -> OutcomeWord:
        return self.outcome.value


OutcomeWord = Literal["correct", "incorrect", "abstain", "error"]

Protocol3 = Literal["strict", "forced", "decided"]
"""How abstentions and errors are counted. ``strict``: as wrong. ``forced``: as the verdict "incorrect". ``decided``:
they are left out.
"""
PROTOCOL: Final[Protocol3] = "strict"
"""The default protocol; under it a verifier that always abstains has accuracy 0, whatever the gold is."""

GoldChoice = Literal["final", "people", "imported"]
"""Which gold is used. ``final``: adjudicated, else agreed, else imported. ``people``: only that of annotators.
``imported``: only imported gold."""


class Rival(Struct, frozen=True, kw_only=True):
    """Another completion of the same question, with its row id."""

    item: int
    completion: str


class VerifierInput(Struct, frozen=True, kw_only=True):
    """One question, its reference answer and one completion, the input of a verifier.

    Attributes:
        item: Row id of the completion, to which the verdict belongs.
        subtype: The answer subtype's code (``"A1"``) or None.
        example: Public examples of the question, for judges of code; None if its rows have no such field.
        is_code: Whether the completion is a program, a solution of a problem with tests.
        rivals: Other completions of the question, for verifiers that compare completions.
        language: The required programming language; None if neither row nor problem states it.
        difficulty: The problem's difficulty, as its benchmark names it.
        function_name: The name of the required function.
        reward: The reward of a search over this item, as in the row's field.
    """

    item: int
    question: str
    reference: str
    completion: str
    subtype: str | None = None
    example: str | None = None
    is_code: bool = False
    rivals: tuple[Rival, ...] = ()
    language: str | None = None
    difficulty: str | None = None
    function_name: str | None = None
    reward: str | None = None

    @property
    def characters(self) -> int:
        return len(self.question) + len(self.reference) + len(self.completion)


class Verdict(Struct, frozen=True, kw_only=True):
    """A verifier's answer for one item.

    Attributes:
        outcome: Correct, incorrect, abstain or error.
        score: The verifier's score; None if it gives none.
        reason: A reason code: why the verifier abstained or failed, or what decided the verdict.
        rule: The rule that fired, such as ``"number.rounding"``.
        reference_final: The reference's final answer as extracted by the verifier.
        candidate_final: The completion's final answer as extracted by the verifier.
        reference_span: Offsets of ``reference_final`` into the stored reference, if known.
        candidate_span: Offsets of ``candidate_final`` into the stored completion, if known; if there is no final
            answer, those of the text that decided, such as the line that raised an exception.
        detail: Details for the reader, such as an error's text.
        ms: Wall time spent on this item, in milliseconds.
    """

    outcome: Outcome
    score: float | None = None
    reason: str | None = None
    rule: str | None = None
    reference_final: str | None = None
    candidate_final: str | None = None
    reference_span: tuple[int, int] | None = None
    candidate_span: tuple[int, int] | None = None
    detail: str | None = None
    ms: float = 0.0

    @property
    def is_correct(self) -> bool:
        """Return whether the outcome is "correct"; False for an abstention and an error."""
        return self.outcome is Outcome.CORRECT
