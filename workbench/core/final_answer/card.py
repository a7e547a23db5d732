"""The final-answer card: the smallest part of an item that shows an annotator both final answers.

The card finds more answers than the verifiers do: if a text does not mark its answer, it guesses one from the text's
end, labels it as a guess, and shows the lines it came from. Verifiers never use these guesses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from workbench.core.final_answer.extraction import (
    MAX_ANSWER,
    SHORT_REFERENCE,
    FinalAnswer,
    Stretch,
    boxed_spans,
    breaks_off,
    completion_answer,
    is_all_thought,
    is_closed,
    last_sentence,
    last_sentences,
    names_an_answer,
    reference_answer,
    reply_start,
    strip_answer,
    substance_end,
)

Quirk = Literal["think_unopened", "several_boxed", "repeated_line", "no_closing_punctuation"]

Absence = Literal["empty", "no_reply", "breaks_off", "goes_round", "unstated"]
"""Why a completion has no final answer. ``empty``: it has no text. ``no_reply``: nothing follows its reasoning.
``breaks_off``: it stops within a sentence. ``goes_round``: it repeats one line to its end. ``unstated``: it ends
without an answer.
"""

Shortcoming = Literal[
    "no_reference_answer",
    "reference_unseen",
    "reference_crowded",
    "no_reply",
    "ending_unseen",
    "early_answer",
    "completion_crowded",
    "fewer_boxes",
]
"""Why the card is not enough to judge the completion. Reference: no answer is found, the answer is outside the shown
lines, or its boxes don't fit on the card. Completion: nothing follows its reasoning, no answer is found and the last
line is not fully shown, an "answer is" occurs long before the end, the answer doesn't fit, or it has fewer boxes than
the reference.
"""

REPEATS = 10
"""Number of equal lines (of at least ten characters) from which a text counts as repeating itself."""

QUESTION_TAIL, COMPLETION_TAIL, REFERENCE_TAIL = 800, 600, 320
"""Characters of each text's end that the card shows; the completion's end is extended to the beginning of a line."""

AROUND = 240
"""Characters shown on each side of an answer that is before the completion's end, and of that end itself."""

SHOWN = 360
"""Most characters of an answer with other boxes on the card."""

_MAX_SNAP = 400
"""Most characters by which a window is extended back to the beginning of its line."""

_MAX_FRAGMENT_WORDS = 6
"""Most words of a line without a full stop that counts as complete."""

_WORDS = re.compile(r"(?<![A-Za-z])(?:[A-Za-z]{2,}\W{1,3}){3,}")
_LABEL = re.compile(r"\s{0,3}(?:\*\*)?\s{0,3}[:：]")


class Card(NamedTuple):
    """The part of an item that is enough to judge its correctness. All offsets are into the stored texts.

    Attributes:
        question: The question's end.
        reference: The reference's final answer.
        reference_others: The reference's other boxes with different content.
        passage: Offsets of the reference's end, which is shown if its final answer is a guess, not found, or not its
            only box; None otherwise.
        completion: The completion's final answer.
        completion_others: Other boxes of the reply with different content.
        windows: Offsets of the shown parts of the completion: its end, and if the final answer is not there, a part
            around the answer before it.
        absence: Why the completion has no final answer; None if it has one.
        closing: Offsets of the completion's last line.
        quirks: Oddities of the completion.
    """

    question: str
    reference: FinalAnswer
    reference_others: tuple[FinalAnswer, ...]
    passage: Stretch | None
    completion: FinalAnswer
    completion_others: tuple[FinalAnswer, ...]
    windows: tuple[Stretch, ...]
    absence: Absence | None
    closing: Stretch
    quirks: tuple[Quirk, ...]

    @property
    def reference_guessed(self) -> bool:
        return self.reference.found and not self.reference.marked

    @property
    def completion_guessed(self) -> bool:
        """Return whether the completion's answer is uncertain: it is not marked, or a long text follows
        an "answer is".
        """
        windy = len(self.windows) > 1 or len(self.completion.text) > SHORT_REFERENCE
        return self.completion.found and (not self.completion.marked or (self.completion.how == "cue" and windy))

    @property
    def usable(self) -> bool:
        """Return whether an annotator can judge the completion from the card alone: it has no shortcomings."""
        return not self.shortcomings

    @property
    def shortcomings(self) -> tuple[Shortcoming, ...]:
        """Return the reasons why the card is insufficient.

        The card must show the reference's answer: a marked one (a box, ``####``, "answer is", a short text), or a guess
        from its last line together with that line. Of the completion it must show a marked answer with its context; or
        a guess with the end of the text it came from; or, if there is no answer because the text breaks off, repeats
        itself, or ends without one, the whole last line.
        """
        found = [*self._reference_shortcomings(), *self._completion_shortcomings()]
        return tuple(found)

    def _reference_shortcomings(self) -> Iterator[Shortcoming]:
        begin = self.passage[0] if self.reference_guessed and self.passage is not None else 0
        if not self.reference.found:
            yield "no_reference_answer"
        elif self.reference.start < begin:
            yield "reference_unseen"
        elif not _fits_on_card(self.reference, self.reference_others):
            yield "reference_crowded"

    def _completion_shortcomings(self) -> Iterator[Shortcoming]:
        if self.absence is not None:
            if self.absence == "no_reply":
                yield "no_reply"
            elif self.absence == "unstated" and self.closing[0] < self.windows[0][0]:
                yield "ending_unseen"
            return
        parts = _count_boxes(self.reference, self.reference_others)
        if self.completion_guessed and len(self.windows) > 1:
            yield "early_answer"
        elif not _fits_on_card(self.completion, self.completion_others):
            yield "completion_crowded"
        elif _count_boxes(self.completion, self.completion_others) < parts > 1:
            yield "fewer_boxes"


def _fits_on_card(answer: FinalAnswer, others: tuple[FinalAnswer, ...]) -> bool:
    return len(answer.text) + sum(len(other.text) for other in others) <= SHOWN


def _count_boxes(answer: FinalAnswer, others: tuple[FinalAnswer, ...]) -> int:
    return max(len(boxed_spans(answer.text)), 1) + len(others)


def card(question: str, reference: str, completion: str, subtype: str | None = None) -> Card:
    right, given = card_reference(reference, subtype), card_completion(completion)
    others = _other_boxes(reference, 0, right)
    return Card(
        question=question[-QUESTION_TAIL:],
        reference=right,
        reference_others=others,
        passage=None if right.marked and not others else (max(len(reference) - REFERENCE_TAIL, 0), len(reference)),
        completion=given,
        completion_others=_other_boxes(completion, reply_start(completion), given),
        windows=windows(completion, given),
        absence=None if given.found else _absence_reason(completion),
        closing=_last_line(completion, reply_start(completion)),
        quirks=quirks(completion),
    )


def card_reference(text: str, subtype: str | None = None) -> FinalAnswer:
    """Return a reference's final answer for the card.

    This is `reference_answer` with two changes: an unmarked text that fits on the card is its own answer; and a guess
    must be in the last line, otherwise the last line is the guess, or the last sentence in it that names something.
    """
    found = reference_answer(text, subtype)
    if found.marked:
        return found
    line = _last_line(text, 0)
    if (whole := _whole_text_answer(text, 0)) is not None:
        return whole
    guess = found if found.found and found.start >= line[0] else _last_line_guess(text, line)
    return guess if guess.found else _last_sentence(text, 0) or guess


def card_completion(text: str) -> FinalAnswer:
    """Return a completion's final answer for the card.

    This is `completion_answer` of the text without closing courtesies, with three changes. A reply that fits on the
    card is its own answer if no rule finds one. A text that breaks off or repeats itself has no unmarked answer. A
    formula within a sentence and a bold label are no answers: the last line is used instead, or if it is long, its last
    sentence, if that names something.
    """
    reply = reply_start(text)
    said = text[: substance_end(text, reply)]
    found = completion_answer(said)
    if is_all_thought(said):
        return _no_answer(text)
    if found.marked:
        return found
    line = _last_line(said, reply)
    if said.startswith("####", line[0]):
        return strip_answer(said, line[0] + 4, line[1], "hashes") or _no_answer(text)
    if not found.found:
        return _whole_text_answer(said, reply) or _last_sentence(said, reply) or _no_answer(text)
    if _repeats_itself(said, line) or _breaks_off(said, line, found.start if found.how == "last_line" else found.end):
        return _no_answer(text)
    if found.how == "bold" and _LABEL.match(said, found.end):
        return _last_line_guess(said, line)
    if found.how == "math" and _WORDS.search(said, found.end, line[1]):
        whole_line = _last_line_guess(said, line)
        return whole_line if whole_line.found else _last_sentence(said, reply) or found
    return found


def _last_sentence(text: str, start: int) -> FinalAnswer | None:
    sentences = last_sentences(text, start, len(text))
    if not sentences or _repeats_itself(text, _last_line(text, start)) or breaks_off(text, text[slice(*sentences[0])]):
        return None
    named = (sentence for sentence in sentences if names_an_answer(text[slice(*sentence)]))
    found = next(named, None)
    return None if found is None else strip_answer(text, *found, "last_sentence", surround=" \t\r\n")


def windows(text: str, answer: FinalAnswer) -> tuple[Stretch, ...]:
    """Return the offsets of the parts of a completion that the card shows: the context of the answer unless it is in
    the end, then the end.
    """
    end = _line_start_near(text, max(len(text) - COMPLETION_TAIL, 0))
    if not answer.found or answer.start >= end:
        return ((end, len(text)),)
    begin, behind = _line_start_near(text, max(answer.start - AROUND, 0)), answer.end + AROUND
    end = _line_start_near(text, max(len(text) - AROUND, 0))
    return ((begin, len(text)),) if behind >= end else ((begin, behind), (end, len(text)))


def quirks(text: str) -> tuple[Quirk, ...]:
    found: list[Quirk] = []
    if "</think>" in text and "<think>" not in text:
        found.append("think_unopened")
    if len(boxed_spans(text)) > 1:
        found.append("several_boxed")
    lines = Counter(line for line in map(str.strip, text.split("\n")) if len(line) >= 10)
    if lines and max(lines.values()) >= REPEATS:
        found.append("repeated_line")
    if text.strip() and not is_closed(text):
        found.append("no_closing_punctuation")
    return tuple(found)


def _other_boxes(text: str, start: int, answer: FinalAnswer) -> tuple[FinalAnswer, ...]:
    seen, others = {_without_blanks(answer.text)}, []
    for inside, end in reversed(boxed_spans(text)):
        box = strip_answer(text, inside, end, "boxed", surround=" \t\r\n")
        if (
            box is None
            or box.start < start
            or answer.start <= box.start < answer.end
            or _without_blanks(box.text) in seen
        ):
            continue
        seen.add(_without_blanks(box.text))
        others.append(box)
    return tuple(others)


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _absence_reason(text: str) -> Absence:
    if not text.strip():
        return "empty"
    reply = reply_start(text)
    if not text[reply:].strip() or is_all_thought(text):
        return "no_reply"
    if _repeats_itself(text, _last_line(text, reply)):
        return "goes_round"
    return "unstated" if is_closed(text) else "breaks_off"


def _breaks_off(text: str, line: Stretch, start: int) -> bool:
    if len(text[start:].split()) <= _MAX_FRAGMENT_WORDS:
        return False
    sentence = last_sentence(text, *line)
    return breaks_off(text, text[slice(*(sentence or line))])


def _repeats_itself(text: str, line: Stretch) -> bool:
    last = text[slice(*line)]
    return len(last) >= 10 and text.count(last) >= REPEATS


def _last_line(text: str, start: int) -> Stretch:
    end = len(text.rstrip())
    begin = max(text.rfind("\n", start, end) + 1, start)
    return begin, max(begin, end)


def _line_start_near(text: str, at: int) -> int:
    line = text.rfind("\n", max(at - _MAX_SNAP, 0), at) + 1
    return line if line or at <= _MAX_SNAP else at


def _whole_text_answer(text: str, start: int) -> FinalAnswer | None:
    answer = strip_answer(text, start, len(text), "whole", surround=" \t\r\n")
    return answer if answer is not None and len(answer.text) <= SHOWN else None


def _last_line_guess(text: str, line: Stretch) -> FinalAnswer:
    return (strip_answer(text, *line, "last_line") if line[1] - line[0] <= MAX_ANSWER else None) or _no_answer(text)


def _no_answer(text: str) -> FinalAnswer:
    return FinalAnswer("", len(text), len(text), "none")
