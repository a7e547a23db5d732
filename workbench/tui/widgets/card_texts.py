"""An item's texts made ready for its card; all of it may run in a thread."""

from __future__ import annotations

from typing import Literal, NamedTuple

from workbench.render.document import RenderedText
from workbench.render.inert import inert
from workbench.render.text import render, render_raw
from workbench.services.annotating import AnnotationItem
from workbench.services.cards import COMPLETION_TAIL, QUESTION_TAIL, Card, FinalAnswer, card_of

Part = Literal["question", "reference", "completion"]


class Views(NamedTuple):
    """One text in both forms."""

    rendered: RenderedText
    raw: RenderedText

    def of(self, raw: bool) -> RenderedText:
        """The form asked for."""
        return self.raw if raw else self.rendered


class CardTexts(NamedTuple):
    """What a card shows of an item.

    Attributes:
        question: The whole question; so for reference and completion.
        question_end: The lines of its last 800 characters.
        completion_end: The lines of the completion's last 600 characters.
    """

    item: AnnotationItem
    card: Card
    question: Views
    reference: Views
    completion: Views
    question_end: Views
    completion_end: Views

    def whole(self, part: Part) -> Views:
        """One of the three texts in full."""
        return {"question": self.question, "reference": self.reference, "completion": self.completion}[part]

    def final_answer(self, part: Literal["reference", "completion"], raw: bool) -> str:
        """A final answer as its text shows it."""
        answer = self.card.reference if part == "reference" else self.card.completion
        if raw:
            return inert(answer.text)
        lines = (
            "".join(span.text for span in line.spans if span.style == "answer")
            for line in self.whole(part).rendered.lines
        )
        return "\n".join(line for line in lines if line).removeprefix("▶").strip() or inert(answer.text)


def card_texts(item: AnnotationItem) -> CardTexts:
    """Render an item's texts and cut them to a card."""
    card = card_of(item)
    question = _views(item.question_text)
    completion = _views(item.completion_text, card.completion)
    return CardTexts(
        item=item,
        card=card,
        question=question,
        reference=_views(item.reference, card.reference),
        completion=completion,
        question_end=_ends(question, len(item.question_text) - QUESTION_TAIL),
        completion_end=_ends(completion, len(item.completion_text) - COMPLETION_TAIL),
    )


def _views(text: str, answer: FinalAnswer | None = None) -> Views:
    span = (answer.start, answer.end) if answer is not None and answer.found else None
    return Views(render(text, answer_span=span), render_raw(text, answer_span=span))


def _ends(views: Views, start: int) -> Views:
    return Views(_end(views.rendered, start), _end(views.raw, start))


def _end(document: RenderedText, start: int) -> RenderedText:
    """The lines that reach beyond an offset, with their marks."""
    first = next((number for number, line in enumerate(document.lines) if line.source[1] > start), 0)
    marks = {name: [at - first for at in places if at >= first] for name, places in document.marks.items()}
    return RenderedText(document.lines[first:], marks)
