"""Preparation of an item's texts for its card; all of it may run in a thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from msgspec import structs
from textual.content import Content

from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu
from workbench.app.tui.kit.title_bar import verdict_words
from workbench.core.label import LabelVerdict
from workbench.core.taxonomy import type_display
from workbench.core.text.document import ANSWER_SIGN, RenderedLine, RenderedText, Span
from workbench.core.text.figures import counted
from workbench.core.text.inert import inert
from workbench.core.text.markdown import render, render_raw
from workbench.core.text.math import render_math
from workbench.labelling.annotating import QUESTION_TAIL, AnnotationItem, Card, FinalAnswer, Stretch, card_of
from workbench.labelling.answers import Answer, contradictions, without_contradictions
from workbench.labelling.conflict_classes import ConflictClass

Part = Literal["question", "reference", "completion"]
Answered = Literal["reference", "completion"]
_ANSWER = Span(ANSWER_SIGN, "success")
_GUESS = Span("? ", "guess")
"""Marks the line of a guessed answer, so that colour is not the only sign."""
_ANSWER_STYLES = ("answer", "guess")


class Views:
    """One text, rendered and raw; the raw form is made on demand.

    Attributes:
        windows: Offsets of the parts that a card shows.
        rendered: The text for reading, its final answer marked; an uncertain answer is marked as a guess.
    """

    def __init__(
        self,
        text: str,
        windows: Sequence[Stretch],
        answer: FinalAnswer | None = None,
        *,
        guess: bool = False,
        fold: bool = True,
    ) -> None:
        self._text = text
        self._span = (answer.start, answer.end) if answer is not None and answer.found else None
        self._guess = guess
        self.windows = windows
        self.rendered = self._mark_guess(render(text, fold_think=fold, answer_span=self._span))

    def _mark_guess(self, document: RenderedText) -> RenderedText:
        return as_guess(document) if self._guess else document

    @cached_property
    def raw(self) -> RenderedText:
        return self._mark_guess(render_raw(self._text, answer_span=self._span))

    def of(self, raw: bool) -> RenderedText:
        return self.raw if raw else self.rendered

    def excerpt(self, raw: bool) -> RenderedText:
        """Return the lines within the windows, with their marks; a line between two windows says how
        much is omitted.
        """
        document = self.of(raw)
        lines: list[RenderedLine] = []
        marks: dict[str, list[int]] = {name: [] for name in document.marks}
        shown_to = None
        for start, end in self.windows:
            first, last = _lines_within(document.lines, start, end)
            if shown_to is not None and first > shown_to:
                between = document.lines[shown_to].source[0], document.lines[first - 1].source[1]
                omitted = f"⋯ {between[1] - between[0]:,} characters omitted ⋯"
                lines.append(RenderedLine((Span(omitted, "dim"),), between))
            first = first if shown_to is None else max(first, shown_to)
            for name, places in document.marks.items():
                marks[name].extend(at - first + len(lines) for at in places if first <= at < last)
            lines.extend(document.lines[first:last])
            shown_to = last
        return RenderedText(tuple(lines), marks)


class CardTexts(NamedTuple):
    """The texts of an item in full, and the parts of them that its card shows."""

    item: AnnotationItem
    card: Card
    question: Views
    reference: Views
    completion: Views

    def whole(self, part: Part) -> Views:
        return {"question": self.question, "reference": self.reference, "completion": self.completion}[part]

    def final_answer(self, part: Answered, raw: bool) -> str:
        answer = self.card.reference if part == "reference" else self.card.completion
        if raw:
            return inert(answer.text)
        lines = (
            "".join(span.text for span in line.spans if span.style in _ANSWER_STYLES and span != _GUESS)
            for line in self.whole(part).rendered.lines
        )
        shown = "\n".join(line for line in lines if line).strip() or inert(answer.text)
        # References often are bare LaTeX, without the delimiters by which a text's math is found.
        return render_math(shown) if "\\" in shown else shown

    def other_answers(self, part: Answered, raw: bool) -> list[str]:
        others = self.card.reference_others if part == "reference" else self.card.completion_others
        return [inert(box.text) if raw else render_math(inert(box.text)) for box in reversed(others)]


def card_texts(item: AnnotationItem) -> CardTexts:
    card = card_of(item)
    question, completion = item.question_text, item.completion_text
    return CardTexts(
        item=item,
        card=card,
        question=Views(question, [(max(len(question) - QUESTION_TAIL, 0), len(question))]),
        reference=Views(
            item.reference, [card.passage or (0, len(item.reference))], card.reference, guess=card.reference_guessed
        ),
        completion=Views(
            completion, card.windows, card.completion, guess=card.completion_guessed, fold=card.absence != "no_reply"
        ),
    )


def _lines_within(lines: Sequence[RenderedLine], start: int, end: int) -> tuple[int, int]:
    first = next((number for number, line in enumerate(lines) if line.source[1] > start), 0)
    last = next((number for number in range(first, len(lines)) if lines[number].source[0] >= end), len(lines))
    return first, max(last, first)


def as_guess(document: RenderedText) -> RenderedText:
    return document._replace(lines=tuple(_guess_line(line) for line in document.lines))


def _guess_line(line: RenderedLine) -> RenderedLine:
    if all(span.style != "answer" for span in line.spans):
        return line
    return line._replace(spans=tuple(_guess_spans(line.spans)))


def _guess_spans(spans: Sequence[Span]) -> Iterator[Span]:
    for number, span in enumerate(spans):
        if span.style == "answer":
            yield span._replace(style="guess")
        elif number == 0 and span == _ANSWER:
            yield _GUESS
        else:
            yield span


# -- Conflicts in words.


def value_words(value: str, reason: str = "") -> Content:
    """Return a verdict with its reason, or an answer type."""
    if value in ("correct", "incorrect", "unsuitable"):
        return verdict_words(value, reason)
    return Content(printable(type_display(value)))


def side_words(value: str) -> Content:
    """Return one of a kind's two conflicting values in words, such as that of ``unsuitable:proof``."""
    return value_words(*value.split(":", 1))


def kind_words(kind: ConflictClass) -> str:
    """Return a kind of conflict in words: "✓ correct against ✗ incorrect"."""
    return " against ".join(side_words(value).plain for value in kind.values)


def conflict_subject(kind: ConflictClass) -> str:
    """Return what a kind of conflict is about: correctness, the subtypes of one answer type, or several types."""
    if kind.task == "correctness":
        return "correctness"
    letters = sorted({printable(value[:1]) for value in kind.values})
    return f"type, within {letters[0]}" if len(letters) == 1 else f"type, {' or '.join(letters)}"


def retraction_message(count: int) -> str:
    return f"{counted(count, 'decision')} retracted." if count else "You have no decision to retract."


# -- A verdict and marks that contradict each other: the annotator chooses one before anything is stored.


_VERDICT, _MARKS, _BOTH = "verdict", "marks", "both"
_OPPOSITE: dict[LabelVerdict, LabelVerdict] = {"correct": "incorrect", "incorrect": "correct"}


def contradiction_menu(found: Sequence[str], answer: Answer) -> ChoiceMenu[str]:
    """Return a menu for a label whose verdict contradicts its marks: ways to fix it, or to store it as it is."""
    choices = [Choice(_VERDICT, f"{answer.verdict}, without the contradicting mark")]
    other = None if answer.verdict is None else _OPPOSITE.get(answer.verdict)
    if other is not None and not contradictions(other, answer.tags, answer.partial):
        choices.append(Choice(_MARKS, f"{other}, with the mark"))
    choices.append(Choice(_BOTH, "both: store it as it is"))
    return ChoiceMenu("Which one do you mean?", choices, about=" ".join(found))


def resolve_contradiction(meant: str, answer: Answer) -> Answer:
    if meant == _BOTH or answer.verdict is None:
        return answer
    if meant == _MARKS:
        return structs.replace(answer, verdict=_OPPOSITE[answer.verdict])
    kept, share = without_contradictions(answer.verdict, answer.tags, answer.partial)
    # Two marks that exclude each other: neither is left.
    return structs.replace(answer, tags=() if contradictions(None, kept, None) else kept, partial=share)
