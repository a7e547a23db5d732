"""The beginnings of an item's texts in one narrow column, beside a table."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.model.browse import ItemDetail
from workbench.render.answers import render_answer
from workbench.render.document import RenderedLine, RenderedText, Span
from workbench.render.text import render
from workbench.services.items.browsing import final_answers, origin
from workbench.services.labelling.cards import FinalAnswer
from workbench.tui.widgets.evidence import evidence

_CHARACTERS, _TAIL = 500, 400
_QUESTION_LINES, _REFERENCE_LINES = 12, 8


def preview(item: ItemDetail, width: int = 0) -> RenderedText:
    """Question, reference and completion, a dozen lines of each, then labels and verdicts.

    Args:
        item: The item.
        width: Cells to lay verdicts out for; 0 leaves that to who shows them.
    """
    reference, completion = final_answers(item)
    lines = [
        *_part("Question", item.question[:_CHARACTERS], _QUESTION_LINES),
        *_answer("Reference answer", reference),
        *_part("Reference", item.reference[:_CHARACTERS], _REFERENCE_LINES),
        *_answer("Completion's answer", completion),
        *_part("Completion's end", item.completion[-_TAIL:], _QUESTION_LINES),
        *evidence(item, width, beside=True).lines,
    ]
    return RenderedText(tuple(lines), {})


def _part(title: str, text: str, limit: int) -> Iterator[RenderedLine]:
    yield _line(Span(title, "heading"))
    yield from render(text).lines[:limit]
    yield _line()


def _answer(title: str, answer: FinalAnswer) -> Iterator[RenderedLine]:
    if answer.found:
        shown = render_answer(answer.text)[:_TAIL].replace("\n", " ")
        if answer.marked:
            yield _line(Span(f"{title}: ", "heading"), Span(shown, "answer"))
        else:
            yield _line(Span(f"{title} ({origin(answer)}): ", "heading"), Span(shown, "guess"))


def _line(*spans: Span) -> RenderedLine:
    return RenderedLine(spans, (0, 0))
