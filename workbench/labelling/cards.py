"""The final-answer card of an item, for the people who judge it."""

from __future__ import annotations

from typing import Literal

from workbench.core.final_answer import HOW, FinalAnswer, How
from workbench.core.final_answer.card import QUESTION_TAIL, SHOWN, Absence, Card, Quirk, Shortcoming, card
from workbench.core.final_answer.ending import Stretch
from workbench.labelling.annotating import AnnotationItem

__all__ = [
    "ABSENCES",
    "HOW",
    "QUESTION_TAIL",
    "QUIRKS",
    "SHORTCOMINGS",
    "SHOWN",
    "Absence",
    "Card",
    "FinalAnswer",
    "How",
    "Quirk",
    "Shortcoming",
    "Stretch",
    "card_of",
]

QUIRKS: dict[Quirk, str] = {
    "think_unopened": "</think> without <think>",
    "several_boxed": "several \\boxed",
    "repeated_line": "a line is repeated",
    "no_closing_punctuation": "no closing punctuation",
}
"""What is said, quietly, of an odd completion."""

SHORTCOMINGS: dict[Shortcoming, tuple[str, Literal["reference", "completion"]]] = {
    "no_reference_answer": ("the answer has to be looked for in the reference", "reference"),
    "reference_unseen": ("the reference's answer is a guess from lines that are not shown", "reference"),
    "reference_crowded": ("the reference's answer is cut here", "reference"),
    "no_reply": ("the completion is only thoughts", "completion"),
    "ending_unseen": ("the completion names no answer, and its last lines are not all shown", "completion"),
    "early_answer": ("the answer stands long before the completion's end", "completion"),
    "completion_crowded": ("the completion's answer is cut here", "completion"),
    "fewer_boxes": ("the reference has more boxes than the completion", "completion"),
}
"""Why a card is not enough, and which text has to be opened."""

ABSENCES: dict[Absence, str] = {
    "no_reply": "nothing behind its thoughts",
    "breaks_off": "it breaks off",
    "goes_round": "it goes round in circles",
    "unstated": "it states none",
}
"""What a card says of a completion without a final answer."""


def card_of(item: AnnotationItem) -> Card:
    """Cut an item down to what its correctness is judged by; of types it knows only the person's own."""
    return card(item.question_text, item.reference, item.completion_text, item.subtype)
