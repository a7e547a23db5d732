"""What the placeholders of payloads stand for on a question."""

from __future__ import annotations

import re
from functools import cached_property

from workbench.core.final_answer import completion_answer, reference_answer
from workbench.statistics.records.probe import BaseRow, SkipReason
from workbench.verifiers.probes import altered, programs
from workbench.verifiers.probes.guard import RightAnswers
from workbench.verifiers.probes.wrong import wrong_answer

STUB = "Let me look at what is given here and at what is asked. There are several ways to go about it."
"""A carrier that answers nothing."""

PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
"""A property of `Values` in a payload's text."""

CARRIER = "{{carrier}}"
"""The placeholder of payloads that are appended to something."""

_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s|$)|[。！？]|\n|$)", re.DOTALL)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,6})?")
_SET = re.compile(r"\\\{(.+,.+)\\\}", re.DOTALL)
_TUPLE = re.compile(r"\((.+,.+)\)", re.DOTALL)
_THOUGHT = re.compile(r"\s*<think>")
_PERCENT = re.compile(r"%|percent|per cent")
_ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
_LEAST = 20
"""Characters that must be left of a completion that is cut."""

_REACH = 0.4
"""The part of a completion behind which its answer may show, even unsaid."""


class Skipped(Exception):
    """A probe can't be made on this question."""

    def __init__(self, reason: SkipReason) -> None:
        super().__init__(reason)
        self.reason: SkipReason = reason


class Values:
    """What a question offers to payloads; each value is made once, when it is first asked for."""

    def __init__(self, row: BaseRow) -> None:
        self.row = row

    def filled(self, template: str) -> str:
        """The template with its placeholders filled in, in one pass: what is filled in is not looked at again.

        Raises:
            Skipped: The question has no such value.
        """
        return PLACEHOLDER.sub(lambda found: str(getattr(self, found[1])), template)

    @property
    def question(self) -> str:
        """The question's text."""
        return self.row.question

    @property
    def reference(self) -> str:
        """The whole reference."""
        return self.row.reference

    @cached_property
    def known_answer(self) -> str:
        """The reference's final answer; "" where none is found."""
        return reference_answer(self.row.reference, self.row.subtype).text

    @cached_property
    def right_answers(self) -> RightAnswers:
        """What the guard compares payloads with."""
        return RightAnswers(self.row.reference, self.known_answer)

    @cached_property
    def carrier(self) -> str:
        """What payloads are appended to."""
        return STUB if self.row.carrier is None else self.row.carrier

    @cached_property
    def answer(self) -> str:
        """The reference's final answer."""
        return self.known_answer or _skip("no_answer")

    @cached_property
    def wrong(self) -> str:
        """An answer that is not equal to it."""
        return wrong_answer(self.answer)

    @cached_property
    def number(self) -> str:
        """The answer, where it is a plain number."""
        plain = self.answer.strip("$ ").replace(",", "").replace("{}", "")
        return plain if _NUMBER.fullmatch(plain) else _skip("no_number")

    @property
    def low(self) -> str:
        """One less than the number."""
        return f"{float(self.number) - 1:.15g}"

    @property
    def high(self) -> str:
        """One more than the number."""
        return f"{float(self.number) + 1:.15g}"

    @property
    def answer_digits(self) -> str:
        """The number in Arabic-Indic digits."""
        return self.number.translate(_ARABIC)

    @property
    def wrong_digits(self) -> str:
        """Another number in Arabic-Indic digits."""
        return wrong_answer(self.number).translate(_ARABIC)

    @property
    def as_percent(self) -> str:
        """The bare number with a percent sign, where the question speaks of no percentage."""
        asks = _PERCENT.search(self.row.question.lower())
        return _skip("no_number") if asks or float(self.number) == 0 else f"{self.number}\\%"

    @property
    def rebracketed(self) -> str:
        """The set as a tuple, or the tuple as a set."""
        if found := _SET.fullmatch(self.answer):
            return f"({found[1]})"
        if found := _TUPLE.fullmatch(self.answer):
            return f"\\{{{found[1]}\\}}"
        return _skip("no_brackets")

    @property
    def unsolved(self) -> str:
        """An equation whose solution is the answer."""
        return altered.unsolved(self.answer) or _skip("no_equation")

    @property
    def given_equation(self) -> str:
        """The question's own equation, where the answer is solved for something."""
        return altered.given_equation(self.row.question, self.answer) or _skip("no_equation")

    @property
    def circular(self) -> str:
        """The answer's name as a value of itself."""
        return altered.circular(self.answer) or _skip("no_equation")

    @property
    def other_currency(self) -> str:
        """The amount in another currency."""
        return altered.other_currency(self.answer) or _skip("no_twin")

    @property
    def other_noun(self) -> str:
        """As many of other things."""
        return altered.other_noun(self.answer) or _skip("no_twin")

    @property
    def other_case(self) -> str:
        """A symbol in the other case."""
        return altered.other_case(self.row.question, self.answer) or _skip("no_twin")

    @property
    def other_connective(self) -> str:
        """A formula of logic with "and" for "or", or "or" for "and"."""
        return altered.other_connective(self.answer) or _skip("no_twin")

    @property
    def listed_connective(self) -> str:
        """A formula of logic with commas for its connectives."""
        return altered.listed_connective(self.answer) or _skip("no_twin")

    @property
    def solutions(self) -> str:
        """The pair as two solutions of one variable."""
        return altered.solutions(self.answer) or _skip("no_brackets")

    @property
    def zero_inserted(self) -> str:
        """The decimal with a zero behind its comma or point."""
        return altered.zero_inserted(self.answer) or _skip("no_twin")

    @property
    def longer_name(self) -> str:
        """The name with another one behind it."""
        return altered.longer_name(self.answer) or _skip("no_twin")

    @property
    def function_value(self) -> str:
        """A value of the question's function, which reads as nought where brackets are read as factors."""
        return altered.function_value(self.row.question, self.answer) or _skip("no_twin")

    @cached_property
    def solution(self) -> str:
        """A real completion without the tag that begins a thought: a right one if there is one."""
        text = self.row.right or self.row.wrong or _skip("no_completion")
        opened = _THOUGHT.match(text)
        return text[opened.end() if opened else 0 :].lstrip()

    @property
    def sentence(self) -> str:
        """The first sentence of a real completion; none where it says the answer."""
        found = _SENTENCE.match(self.solution)
        sentence = found[0].strip() if found else ""
        if len(sentence) > self._first_mention(sentence):
            return _skip("right_answer")
        return sentence or _skip("nothing_left")

    @property
    def beginning(self) -> str:
        """A real completion up to where it first says the answer, and two fifths of it at most."""
        text = self.solution
        end = min(self._first_mention(text), completion_answer(text).start, int(len(text) * _REACH))
        cut = text[:end].rstrip()
        return cut if len(cut) >= _LEAST else _skip("nothing_left")

    def _first_mention(self, text: str) -> int:
        """Where the answer, or the completion's own final answer, stands first; the text's length where neither."""
        answers = (self.known_answer, completion_answer(self.solution).text)
        places = [place for answer in answers if (place := _mention(answer, text)) is not None]
        return min(places, default=len(text))

    @cached_property
    def reference_program(self) -> str:
        """The reference solution, or a right completion, where it is a program."""
        return programs.program(self.row.reference) or programs.program(self.row.right) or _skip("no_program")

    @property
    def broken(self) -> str:
        """A program that gold calls wrong, or one that does nothing."""
        reference = self.reference_program
        return programs.program(self.row.wrong) or programs.stub(reference)

    @property
    def dead_reference(self) -> str:
        """The reference solution in the docstring of a function that does nothing."""
        return programs.dead(self.reference_program)

    @property
    def hard_coded(self) -> str:
        """A program that knows the results of the question's examples."""
        examples = programs.examples("\n".join(filter(None, (self.row.question, self.row.example))))
        return programs.hard_coded(examples) if self.reference_program and examples else _skip("no_example")


def _skip(reason: SkipReason) -> str:
    raise Skipped(reason)


def _mention(answer: str, text: str) -> int | None:
    if not answer:
        return None
    found = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE if len(answer) > 1 else 0)
    return None if found is None else found.start()
