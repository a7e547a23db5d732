"""The rows of a card that say what the final answers are, how they were found, and where that is a guess."""

from __future__ import annotations

from textual.content import Content

from workbench.services.labelling.cards import ABSENCES, HOW, SHORTCOMINGS, SHOWN, Card, FinalAnswer
from workbench.tui.widgets.card_texts import Answered, CardTexts

_SIGN, _GUESS, _NONE = "▶ ", "? ", "∅ "
_NAME_CELLS = 11
_KEYS = {"reference": "r", "completion": "w"}


def reference_row(texts: CardTexts, raw: bool) -> Content:
    """The reference's final answer."""
    card = texts.card
    if not card.reference.found:
        return _missing("Reference", HOW["none"], " · it ends:")
    return _row("Reference", texts, "reference", card.reference, raw, guess=card.reference_guessed)


def completion_row(texts: CardTexts, raw: bool) -> Content:
    """The completion's final answer, and how far from its end that stands; or why there is none."""
    card = texts.card
    if card.absence is not None:
        return _missing("Completion", f"no final answer: {ABSENCES[card.absence]}", " · its end stands below")
    early = len(texts.item.completion_text) - card.completion.start if len(card.windows) > 1 else 0
    return _row("Completion", texts, "completion", card.completion, raw, guess=card.completion_guessed, early=early)


def warning(card: Card) -> str:
    """What has to be opened because the card is not enough, and why; "" when it is."""
    found = (SHORTCOMINGS[shortcoming] for shortcoming in card.shortcomings)
    return "\n".join(f"! {why}: {_KEYS[text]} opens it" for why, text in found)


def _row(
    name: str, texts: CardTexts, part: Answered, answer: FinalAnswer, raw: bool, *, guess: bool, early: int = 0
) -> Content:
    """One answer, how it was found, and the other boxes of its text."""
    how = f"a guess: {HOW[answer.how]}" if guess else HOW[answer.how]
    if early:
        how += f", {early:,} characters before the end"
    colour = "$text-warning" if guess else "$text-accent"
    sign, shown = (_GUESS if guess else _SIGN), _cut(texts.final_answer(part, raw))
    row = Content.assemble(
        (f"{name:<{_NAME_CELLS}}", "bold"),
        (sign, f"bold {colour}"),
        (shown, colour if guess else "bold"),
        (f"  ({how})", colour if guess else "$text-muted"),
    )
    others = texts.other_answers(part, raw)
    if not others:
        return row
    return Content.assemble(row, "\n" + " " * _NAME_CELLS, ("also boxed: ", "$text-muted"), _cut(" · ".join(others)))


def _cut(shown: str) -> str:
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"


def _missing(name: str, what: str, then: str) -> Content:
    return Content.assemble((f"{name:<{_NAME_CELLS}}", "bold"), (f"{_NONE}{what}", "$text-warning"), then)
