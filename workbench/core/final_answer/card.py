"""The final-answer card: the smallest part of an item that shows an annotator both final answers.

The card goes further than the verifiers: if no rule marks an answer it guesses from a text's end, labels the guess as
such, and shows the lines it came from. No verifier reads these guesses.
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
    is_closed,
    last_sentence,
    last_sentences,
    names_an_answer,
    reference_answer,
    reply_start,
    stripped,
    substance_end,
)

Quirk = Literal["think_unopened", "several_boxed", "repeated_line", "no_closing_punctuation"]

Absence = Literal["empty", "no_reply", "breaks_off", "goes_round", "unstated"]
"""Why a completion has no final answer: there is no text, nothing after its reasoning, it stops within a sentence, it
repeats one line to its end, or it ends without stating one.
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
"""Why the card is insufficient. For the reference: no answer is found, it is outside the lines shown, or there is no
room for its boxes. For the completion: nothing follows its reasoning, no answer is found and the last line is not fully
shown, an "answer is" occurs long before the end, there is no room, or it has fewer boxes than the reference.
"""

REPEATS = 10
"""Number of equal lines (of at least ten characters) that is a quirk."""

QUESTION_TAIL, COMPLETION_TAIL, REFERENCE_TAIL = 800, 600, 320
"""Characters of each text's end on the card; the completion's goes back to the beginning of its line."""

AROUND = 240
"""Characters shown on each side of an answer that is before the completion's end, and of that end itself."""

SHOWN = 360
"""Most characters of an answer with other boxes on the card."""

_SNAP = 400
"""Most characters by which a window is extended back to the beginning of its line."""

_FEW_WORDS = 6
"""Most words of a line without a full stop that counts as complete."""

_WORDS = re.compile(r"(?<![A-Za-z])(?:[A-Za-z]{2,}\W{1,3}){3,}")
_LABEL = re.compile(r"\s{0,3}(?:\*\*)?\s{0,3}[:：]")


class Card(NamedTuple):
    """The part of an item that suffices to judge its correctness; all offsets are those of the stored texts.

    Attributes:
        question: The question's end.
        reference: The reference's final answer.
        reference_others: Its other boxes with different content.
        passage: The reference's end, if its final answer is a guess, not found or not its only box.
        completion: The completion's final answer.
        completion_others: Other boxes of the reply with different content.
        windows: The parts of the completion that are shown: its end, after a part around the final answer if that is
            elsewhere.
        absence: Why the completion has no final answer, if it has none.
        closing: The completion's last line.
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
        """Return whether nothing marks this as the answer, or a long text follows an "answer is"."""
        windy = len(self.windows) > 1 or len(self.completion.text) > SHORT_REFERENCE
        return self.completion.found and (not self.completion.marked or (self.completion.how == "cue" and windy))

    @property
    def usable(self) -> bool:
        """Return whether an annotator can judge the completion from the card alone: it has no shortcomings."""
        return not self.shortcomings

    @property
    def shortcomings(self) -> tuple[Shortcoming, ...]:
        """Return the reasons why the card is insufficient.

        The reference's answer must be shown: marked (a box, ``####``, "answer is", a short text), or a guess from its
        last line with that line. For the completion, the card must show a marked answer with its surroundings, wherever
        that is; or a guess with the end it came from; or that there is no answer, because the text breaks off, repeats
        itself, or ends without one, then with its whole last line.
        """
        found = [*self._of_reference(), *self._of_completion()]
        return tuple(found)

    def _of_reference(self) -> Iterator[Shortcoming]:
        begin = self.passage[0] if self.reference_guessed and self.passage is not None else 0
        if not self.reference.found:
            yield "no_reference_answer"
        elif self.reference.start < begin:
            yield "reference_unseen"
        elif not _room(self.reference, self.reference_others):
            yield "reference_crowded"

    def _of_completion(self) -> Iterator[Shortcoming]:
        if self.absence is not None:
            if self.absence == "no_reply":
                yield "no_reply"
            elif self.absence == "unstated" and self.closing[0] < self.windows[0][0]:
                yield "ending_unseen"
            return
        parts = _parts(self.reference, self.reference_others)
        if self.completion_guessed and len(self.windows) > 1:
            yield "early_answer"
        elif not _room(self.completion, self.completion_others):
            yield "completion_crowded"
        elif _parts(self.completion, self.completion_others) < parts > 1:
            yield "fewer_boxes"


def _room(answer: FinalAnswer, others: tuple[FinalAnswer, ...]) -> bool:
    return len(answer.text) + sum(len(other.text) for other in others) <= SHOWN


def _parts(answer: FinalAnswer, others: tuple[FinalAnswer, ...]) -> int:
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
        absence=None if given.found else _absence(completion),
        closing=_last_line(completion, reply_start(completion)),
        quirks=quirks(completion),
    )


def card_reference(text: str, subtype: str | None = None) -> FinalAnswer:
    """Return a reference's final answer for the card.

    This is `reference_answer`, except that a text that fits on the card is its own answer before any guess, and a guess
    counts only in the last line; otherwise the last line itself is the guess, or its last sentence that names
    something.
    """
    found = reference_answer(text, subtype)
    if found.marked:
        return found
    line = _last_line(text, 0)
    if (whole := _whole(text, 0)) is not None:
        return whole
    guess = found if found.found and found.start >= line[0] else _guess(text, line)
    return guess if guess.found else _last_sentence(text, 0) or guess


def card_completion(text: str) -> FinalAnswer:
    """Return a completion's final answer for the card.

    This is `completion_answer` of the text before closing courtesies, except that a reply which fits on the card is its
    own answer if no rule finds one; a text that breaks off or repeats itself has no answer without a mark; and a
    formula in the middle of a sentence or a bold label is not an answer: the last line is, or if that is long its last
    sentence, if it names something.
    """
    reply = reply_start(text)
    said = text[: substance_end(text, reply)]
    found = completion_answer(said)
    if found.marked:
        return found
    line = _last_line(said, reply)
    if said.startswith("####", line[0]):
        return stripped(said, line[0] + 4, line[1], "hashes") or _none(text)
    if not found.found:
        return _whole(said, reply) or _last_sentence(said, reply) or _none(text)
    if _goes_round(said, line) or _breaks_off(said, line, found.start if found.how == "last_line" else found.end):
        return _none(text)
    if found.how == "bold" and _LABEL.match(said, found.end):
        return _guess(said, line)
    if found.how == "math" and _WORDS.search(said, found.end, line[1]):
        whole_line = _guess(said, line)
        return whole_line if whole_line.found else _last_sentence(said, reply) or found
    return found


def _last_sentence(text: str, start: int) -> FinalAnswer | None:
    sentences = last_sentences(text, start, len(text))
    if not sentences or _goes_round(text, _last_line(text, start)) or breaks_off(text, text[slice(*sentences[0])]):
        return None
    named = (sentence for sentence in sentences if names_an_answer(text[slice(*sentence)]))
    found = next(named, None)
    return None if found is None else stripped(text, *found, "last_sentence", surround=" \t\r\n")


def windows(text: str, answer: FinalAnswer) -> tuple[Stretch, ...]:
    """Return the parts of a completion that the card shows: its end, after the surroundings of an answer that is
    elsewhere.
    """
    end = _from_line(text, max(len(text) - COMPLETION_TAIL, 0))
    if not answer.found or answer.start >= end:
        return ((end, len(text)),)
    begin, behind = _from_line(text, max(answer.start - AROUND, 0)), answer.end + AROUND
    end = _from_line(text, max(len(text) - AROUND, 0))
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
    seen, others = {_bare(answer.text)}, []
    for inside, end in reversed(boxed_spans(text)):
        box = stripped(text, inside, end, "boxed", surround=" \t\r\n")
        if box is None or box.start < start or answer.start <= box.start < answer.end or _bare(box.text) in seen:
            continue
        seen.add(_bare(box.text))
        others.append(box)
    return tuple(others)


def _bare(text: str) -> str:
    return "".join(text.split())


def _absence(text: str) -> Absence:
    if not text.strip():
        return "empty"
    reply = reply_start(text)
    if not text[reply:].strip():
        return "no_reply"
    if _goes_round(text, _last_line(text, reply)):
        return "goes_round"
    return "unstated" if is_closed(text) else "breaks_off"


def _breaks_off(text: str, line: Stretch, start: int) -> bool:
    if len(text[start:].split()) <= _FEW_WORDS:
        return False
    sentence = last_sentence(text, *line)
    return breaks_off(text, text[slice(*(sentence or line))])


def _goes_round(text: str, line: Stretch) -> bool:
    last = text[slice(*line)]
    return len(last) >= 10 and text.count(last) >= REPEATS


def _last_line(text: str, start: int) -> Stretch:
    end = len(text.rstrip())
    begin = max(text.rfind("\n", start, end) + 1, start)
    return begin, max(begin, end)


def _from_line(text: str, at: int) -> int:
    line = text.rfind("\n", max(at - _SNAP, 0), at) + 1
    return line if line or at <= _SNAP else at


def _whole(text: str, start: int) -> FinalAnswer | None:
    answer = stripped(text, start, len(text), "whole", surround=" \t\r\n")
    return answer if answer is not None and len(answer.text) <= SHOWN else None


def _guess(text: str, line: Stretch) -> FinalAnswer:
    return (stripped(text, *line, "last_line") if line[1] - line[0] <= MAX_ANSWER else None) or _none(text)


def _none(text: str) -> FinalAnswer:
    return FinalAnswer("", len(text), len(text), "none")
