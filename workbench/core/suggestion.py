"""Answer types that a model suggests, beside those that are in force."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

ANSWER_TYPE: Final = "answer-type"
"""The kind of verifier that judges no completion but suggests an answer type for its question."""


class TypeSuggestion(Struct, frozen=True, kw_only=True):
    """What a model says of one question.

    Attributes:
        subtype: The subtype in force (``"B5"``), if there is one.
        suggested: A subtype's code, or ``"proof"`` or ``"open_ended"`` for a question outside the taxonomy; None where
            there is no suggestion.
        reason: Why there is none; None with a suggestion.
    """

    dataset: str
    question_id: str
    subtype: str | None
    suggested: str | None
    reason: str | None


class TypeCell(Struct, frozen=True, kw_only=True):
    """Questions with one subtype in force and one suggested."""

    subtype: str
    suggested: str
    n: int


class TypeReport(Struct, frozen=True, kw_only=True):
    """How a model's suggestions agree with the subtypes in force.

    Attributes:
        run: The run they come from.
        questions: Questions the run has asked about.
        suggested: Those with a suggestion.
        untyped: Those with a suggestion and no subtype in force.
        none: Those without a suggestion, by why.
        compared: Those with both.
        agree: Those where both are the same.
        accuracy: ``agree`` over ``compared``; None where nothing was compared.
        ci: Its 95 % interval.
        type_accuracy: The same for the types (A to D) alone.
        confusion: Questions by both, those in agreement included.
    """

    verifier: str
    run: int
    questions: int
    suggested: int
    untyped: int
    none: dict[str, int]
    compared: int
    agree: int
    accuracy: float | None
    ci: tuple[float, float] | None
    type_accuracy: float | None
    confusion: list[TypeCell]
