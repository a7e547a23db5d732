"""The final-answer card of an item, for the people who judge it."""

from __future__ import annotations

from workbench.final_answer import HOW, FinalAnswer, How
from workbench.final_answer.card import QUESTION_TAIL, SHOWN, Absence, Card, Quirk, Stretch, card
from workbench.services.labelling.annotating import AnnotationItem

__all__ = [
    "ABSENCES",
    "HOW",
    "QUESTION_TAIL",
    "QUIRKS",
    "SHOWN",
    "Absence",
    "Card",
    "FinalAnswer",
    "How",
    "Quirk",
    "Stretch",
    "card_of",
]

QUIRKS: dict[Quirk, str] = {
    "think_unopened": "</think> without <think>",
    "several_boxed": "several \\boxed",
    "repeated_line": "a line is repeated",
    "no_closing_punctuation": "no closing punctuation",
}
"""What a card says of an odd completion."""

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
