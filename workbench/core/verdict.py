"""A verifier's input and output."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final, Literal

from msgspec import Struct


class Outcome(StrEnum):
    """A verdict's outcome; it equals its word, and only "correct" is true."""

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
    """An outcome as stored: small integers, so that a run is one dense int8 vector."""

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
"""How undecided rows are counted: as wrong, as "incorrect", or not at all."""
PROTOCOL: Final[Protocol3] = "strict"
"""The default: a verifier that always abstains is never right, for any distribution of gold."""

GoldChoice = Literal["final", "people", "imported"]
"""The gold to use: adjudicated, else agreed, else imported; only annotators' gold; only imported gold."""


class Rival(Struct, frozen=True, kw_only=True):
    """Another completion of the same question, by its row id."""

    item: int
    completion: str


class VerifierInput(Struct, frozen=True, kw_only=True):
    """One question, its reference answer and one completion, the input of a verifier.

    Attributes:
        item: The completion's row id; it links the verdict to the row.
        subtype: The answer subtype's code (``"A1"``) or None.
        example: Public examples of the question, if its rows have such a field; for judges of code.
        is_code: Whether the completion is a program, a solution of a problem with tests.
        rivals: The completions it is compared with, for verifiers that compare.
        language: The required programming language, if its rows or its problem give it.
        difficulty: The difficulty of the problem, in its benchmark's terms.
        function_name: The required function.
        reward: The reward of a search over this item, in the row's own field.
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
        score: The verifier's score, if it has one.
        reason: A bare code: why it abstained or failed, or what decided it.
        rule: The rule that fired, such as ``"number.rounding"``.
        reference_final: The reference's final answer as extracted by the verifier.
        candidate_final: The completion's final answer as extracted by the verifier.
        reference_span: Offsets of ``reference_final`` into the stored reference, if known.
        candidate_span: Offsets of ``candidate_final`` into the stored completion, if known; without a final answer,
            of the deciding text, such as the line that raised.
        detail: Details for a person, such as an error's text.
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
