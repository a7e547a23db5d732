"""The final-answer card of an item, for the people who judge it."""

from __future__ import annotations

from workbench.final_answer import COMPLETION_TAIL, HOW, QUESTION_TAIL, Card, FinalAnswer, How, Quirk, card
from workbench.services.labelling.annotating import AnnotationItem

__all__ = ["COMPLETION_TAIL", "HOW", "QUESTION_TAIL", "QUIRKS", "Card", "FinalAnswer", "How", "Quirk", "card_of"]

QUIRKS: dict[Quirk, str] = {
    "think_unopened": "</think> without <think>",
    "several_boxed": "several \\boxed",
    "repeated_line": "a line is repeated",
    "no_closing_punctuation": "no closing punctuation",
}
"""What a card says of an odd completion."""


def card_of(item: AnnotationItem) -> Card:
    """Cut an item down to what its correctness is judged by; of types it knows only the person's own."""
    return card(item.question_text, item.reference, item.completion_text, item.subtype)
