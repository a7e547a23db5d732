"""An item's texts made ready for its card; all of it may run in a thread."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, NamedTuple

from workbench.render.document import RenderedText
from workbench.render.inert import inert
from workbench.render.math import render_math
from workbench.render.text import render, render_raw
from workbench.services.labelling.annotating import AnnotationItem
from workbench.services.labelling.cards import COMPLETION_TAIL, QUESTION_TAIL, Card, FinalAnswer, card_of

Part = Literal["question", "reference", "completion"]


class Views:
    """One text in both forms; the exact one is made when it is asked for.

    Attributes:
        rendered: The text for reading, the final answer marked.
        start: Offset of the last characters that a card shows.
    """

    def __init__(self, text: str, answer: FinalAnswer | None = None, last: int = 0) -> None:
        self._text = text
        self._span = (answer.start, answer.end) if answer is not None and answer.found else None
        self.start = max(len(text) - last, 0)
        self.rendered = render(text, answer_span=self._span)

    @cached_property
    def raw(self) -> RenderedText:
        """The exact text."""
        return render_raw(self._text, answer_span=self._span)

    def of(self, raw: bool) -> RenderedText:
        """The form asked for."""
        return self.raw if raw else self.rendered

    def end(self, raw: bool) -> RenderedText:
        """The lines that reach beyond ``start``, with their marks."""
        document = self.of(raw)
        first = next((number for number, line in enumerate(document.lines) if line.source[1] > self.start), 0)
        marks = {name: [at - first for at in places if at >= first] for name, places in document.marks.items()}
        return RenderedText(document.lines[first:], marks)


class CardTexts(NamedTuple):
    """What a card shows of an item: its texts in full, and where their ends begin."""

    item: AnnotationItem
    card: Card
    question: Views
    reference: Views
    completion: Views

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
        shown = "\n".join(line for line in lines if line).removeprefix("▶").strip() or inert(answer.text)
        # References often are bare LaTeX, without the delimiters by which a text's math is found.
        return render_math(shown) if "\\" in shown else shown


def card_texts(item: AnnotationItem) -> CardTexts:
    """Render an item's texts and cut them to a card."""
    card = card_of(item)
    return CardTexts(
        item=item,
        card=card,
        question=Views(item.question_text, last=QUESTION_TAIL),
        reference=Views(item.reference, card.reference),
        completion=Views(item.completion_text, card.completion, last=COMPLETION_TAIL),
    )
