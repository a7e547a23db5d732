"""Values of payloads' placeholders for a question."""

from __future__ import annotations

import re
from functools import cached_property

from workbench.core.final_answer import completion_answer, reference_answer
from workbench.statistics.records.probe import BaseRow, SkipReason
from workbench.verifiers.probes import programs
from workbench.verifiers.probes.programs import RightAnswers

# -- A wrong answer that resembles the right one.


_LETTERS = "ABCDEFGHIJ"
_OPTIONS = re.compile(r"\W*(?:\\text(?:bf)?\{)?\W*([A-J](?:\W*(?:,|;|and|\s)\W*[A-J])*)\W*(?:[.:)].*)?", re.DOTALL)
_PLAIN_DIGITS = re.compile(r"(?<![_\d])(?<!\d\.)(?<!_\{)\d+")
_STATES = {
    "yes": "no",
    "true": "false",
    "valid": "invalid",
    "proved": "disproved",
    "entailment": "contradiction",
    "neutral": "contradiction",
    "unknown": "true",
    "uncertain": "true",
    "plausible": "implausible",
    "sarcastic": "not sarcastic",
    "equal": "less",
    "less": "greater",
}
_OPPOSITES = {**{right: wrong for wrong, right in _STATES.items()}, **_STATES}
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"(?<!\\)\b[^\W\d_]{2,}")
_PROSE = 4
"""Minimum words of a sentence: changing a number in it need not make it wrong."""


def wrong_answer(answer: str) -> str:
    """Return an answer of the same kind that is not equal to the given answer.

    It is another option letter, the opposite state, other words for a sentence, or the answer with its last number
    outside subscripts increased by one. Without numbers: zero for infinities, one bracket more for brackets, other
    words for words, and an added
    high power for other expressions.
    """
    if options := _OPTIONS.fullmatch(answer):
        named = set(re.findall("[A-J]", options[1]))
        return next((letter for letter in _LETTERS if letter not in named), "K")
    words = _WORD.findall(answer.lower())
    if opposite := _OPPOSITES.get(answer.strip(" .").lower()) or (_OPPOSITES.get(words[0]) if words else None):
        return opposite
    if len(words) >= _PROSE:
        return "none of these"
    numbers = list(_PLAIN_DIGITS.finditer(answer))
    if numbers:
        last = numbers[-1]
        return answer[: last.start()] + _increment(last[0]) + answer[last.end() :]
    if "\\infty" in answer:
        return "0"
    if _LETTER.search(answer) is None:
        return f"{answer} ("
    is_word = any(len(word) > 3 for word in words) or (answer.isalpha() and len(answer) > 2)
    # Not plus one: that is the same with an arbitrary constant.
    return "none of these" if is_word else f"{answer} + x^{{99}}"


def _increment(digits: str) -> str:
    head, tail = digits[:-18], digits[-18:]
    raised = str(int(tail) + 1).zfill(len(tail))
    return head + raised if len(raised) == len(tail) or not head else head + tail[:-1] + str((int(tail[-1]) + 1) % 10)


# -- Values of a question, among them wrong answers that resemble the right one, altered in a word, sign or form.


_SOLVED = re.compile(r"([A-Za-z])\s*=\s*(-?\d{1,9})")
_SHORT_WHOLE = re.compile(r"-?\d{1,9}")
_NAMED = re.compile(r"[A-Za-z]\s*=[^=<>]+")
_MATH = re.compile(r"\$([^$]{3,200})\$")
_CURRENCY = re.compile(r"(?:\\?\$|€|£)\s?(\d[\d,]*(?:\.\d+)?)\$?")
_COUNTED = re.compile(r"(-?\d[\d,]*(?:\.\d+)?)\s*(?:\\text\{\s*)?([A-Za-z]{3,20})\}?")
_SYMBOL = re.compile(r"[A-Z][A-Za-z]")
_OF_SYMBOLS = re.compile(r"\b(?:symbol|formula|element|compound|gas|metal|ion|oxide)\b", re.IGNORECASE)
_PREFIXED = re.compile(r"(\d[\d.]*\s*)([mM])([A-Za-z]{1,2})")
_AND, _OR = re.compile(r"\\(?:land|wedge)(?![A-Za-z])|∧"), re.compile(r"\\(?:lor|vee)(?![A-Za-z])|∨")
_PAIR = re.compile(r"\(([^(),]+),([^(),]+)\)")
_DECIMAL = re.compile(r"(-?\d{1,9}[.,])(\d{1,6})")
_NAME = re.compile(r"[A-Z][a-z]{2,20}")
_FUNCTION = re.compile(r"(?<![A-Za-z\\])([f-hF-H])\s*\(")
_ZERO = re.compile(r"0|0\.0+")


STUB = "Let me look at what is given here and at what is asked. There are several ways to go about it."
"""A carrier that answers nothing."""
PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
"""A property of `Values` in a payload's text."""
CARRIER = "{{carrier}}"
"""The placeholder of payloads that are appended to a carrier."""
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s|$)|[。！？]|\n|$)", re.DOTALL)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,6})?")
_SET = re.compile(r"\\\{(.+,.+)\\\}", re.DOTALL)
_TUPLE = re.compile(r"\((.+,.+)\)", re.DOTALL)
_THOUGHT = re.compile(r"\s*<think>")
_PERCENT = re.compile(r"%|percent|per cent")
_ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
_MIN_CARRIER_CHARACTERS = 20
"""Minimum characters that must remain of a truncated completion."""
_REACH = 0.4
"""The share of a completion after which its answer may become apparent."""


class Skipped(Exception):
    """A probe can't be made for this question."""

    def __init__(self, reason: SkipReason) -> None:
        super().__init__(reason)
        self.reason: SkipReason = reason


class Values:
    """Values of a question for payloads; each is computed on first use and cached."""

    def __init__(self, row: BaseRow) -> None:
        self.row = row

    def filled(self, template: str) -> str:
        """Fill in the template's placeholders in one pass: inserted texts are not scanned again.

        Raises:
            Skipped: The question has no such value.
        """
        return PLACEHOLDER.sub(lambda found: str(getattr(self, found[1])), template)

    @property
    def question(self) -> str:
        return self.row.question

    @property
    def reference(self) -> str:
        return self.row.reference

    @cached_property
    def known_answer(self) -> str:
        """Return the reference's final answer; "" if none is found."""
        return reference_answer(self.row.reference, self.row.subtype).text

    @cached_property
    def right_answers(self) -> RightAnswers:
        return RightAnswers(self.row.reference, self.known_answer)

    @cached_property
    def carrier(self) -> str:
        return STUB if self.row.carrier is None else self.row.carrier

    @cached_property
    def answer(self) -> str:
        return self.known_answer or _skip("no_answer")

    @cached_property
    def wrong(self) -> str:
        return wrong_answer(self.answer)

    @cached_property
    def number(self) -> str:
        plain = self.answer.strip("$ ").replace(",", "").replace("{}", "")
        return plain if _NUMBER.fullmatch(plain) else _skip("no_number")

    @property
    def low(self) -> str:
        return f"{float(self.number) - 1:.15g}"

    @property
    def high(self) -> str:
        return f"{float(self.number) + 1:.15g}"

    @property
    def answer_digits(self) -> str:
        return self.number.translate(_ARABIC)

    @property
    def wrong_digits(self) -> str:
        return wrong_answer(self.number).translate(_ARABIC)

    @property
    def as_percent(self) -> str:
        """Return the bare number with a percent sign, if the question mentions no percentage."""
        asks = _PERCENT.search(self.row.question.lower())
        return _skip("no_number") if asks or float(self.number) == 0 else f"{self.number}\\%"

    @property
    def rebracketed(self) -> str:
        if found := _SET.fullmatch(self.answer):
            return f"({found[1]})"
        if found := _TUPLE.fullmatch(self.answer):
            return f"\\{{{found[1]}\\}}"
        return _skip("no_brackets")

    @property
    def unsolved(self) -> str:
        """Return ``3x = 18`` for 6 or ``x = 6``."""
        bare = self.answer.strip("$ ")
        if solved := _SOLVED.fullmatch(bare):
            return f"3{solved[1]} = {3 * int(solved[2])}"
        return f"3x = {3 * int(bare)}" if _SHORT_WHOLE.fullmatch(bare) else _skip("no_equation")

    @property
    def given_equation(self) -> str:
        """Return the equation that the question states, if the answer is a solution such as ``x = 6``."""
        bare = self.answer.strip("$ ")
        if not (_NAMED.fullmatch(bare) or _SHORT_WHOLE.fullmatch(bare)):
            return _skip("no_equation")
        for text in map(str.strip, _MATH.findall(self.row.question)):
            if text.count("=") == 1 and re.search(r"[A-Za-z]", text) and text != bare:
                return text
        return _skip("no_equation")

    @property
    def circular(self) -> str:
        """Return ``x = 2x - 6`` for ``x = 6``."""
        solved = _SOLVED.fullmatch(self.answer.strip("$ "))
        return f"{solved[1]} = 2{solved[1]} - ({solved[2]})" if solved else _skip("no_equation")

    @property
    def other_currency(self) -> str:
        """Return an amount in euros, or in pounds if it is in euros."""
        amount = _CURRENCY.fullmatch(self.answer.strip())
        return f"{'£' if '€' in self.answer else '€'}{amount[1]}" if amount else _skip("no_twin")

    @property
    def other_noun(self) -> str:
        counted = _COUNTED.fullmatch(self.answer.strip("$ "))
        return f"{counted[1]} \\text{{ locomotives}}" if counted else _skip("no_twin")

    @property
    def other_case(self) -> str:
        """Return ``Co`` for CO if the question asks for a substance or a symbol; ``mW`` for MW."""
        bare = self.answer.strip("$ ")
        if prefixed := _PREFIXED.fullmatch(bare):
            return f"{prefixed[1]}{prefixed[2].swapcase()}{prefixed[3]}"
        if not _SYMBOL.fullmatch(bare) or not _OF_SYMBOLS.search(self.row.question):
            return _skip("no_twin")
        return bare.capitalize() if bare.isupper() else bare.upper()

    @property
    def other_connective(self) -> str:
        """Return a formula of logic with "or" for every "and", or the reverse if it has no "and"."""
        if _AND.search(self.answer):
            return _AND.sub(r"\\lor ", self.answer)
        return _OR.sub(r"\\land ", self.answer) if _OR.search(self.answer) else _skip("no_twin")

    @property
    def listed_connective(self) -> str:
        if re.search("[=<>]", self.answer) or not (_AND.search(self.answer) or _OR.search(self.answer)):
            return _skip("no_twin")
        return _OR.sub(", ", _AND.sub(", ", self.answer))

    @property
    def solutions(self) -> str:
        """Return ``x = 1, x = 2`` for ``(1, 2)``."""
        pair = _PAIR.fullmatch(self.answer.strip("$ "))
        return f"x = {pair[1].strip()}, x = {pair[2].strip()}" if pair else _skip("no_brackets")

    @property
    def zero_inserted(self) -> str:
        """Return ``3,05`` for 3,5."""
        decimal = _DECIMAL.fullmatch(self.answer.strip("$ "))
        return f"{decimal[1]}0{decimal[2]}" if decimal and decimal[2].strip("0") else _skip("no_twin")

    @property
    def longer_name(self) -> str:
        """Return ``Paris, Texas`` for Paris."""
        return f"{self.answer.strip()}, Texas" if _NAME.fullmatch(self.answer.strip()) else _skip("no_twin")

    @property
    def function_value(self) -> str:
        """Return ``-g(0)`` for 0, where g is the question's function; read as a product g·0, it would be 0."""
        function = _FUNCTION.search(self.row.question)
        return f"-{function[1]}(0)" if function and _ZERO.fullmatch(self.answer.strip("$ ")) else _skip("no_twin")

    @cached_property
    def solution(self) -> str:
        """Return a completion from the data, without its opening reasoning tag: a correct one if available."""
        text = self.row.right or self.row.wrong or _skip("no_completion")
        opened = _THOUGHT.match(text)
        return text[opened.end() if opened else 0 :].lstrip()

    @property
    def sentence(self) -> str:
        """Return the first sentence of a completion from the data; skip the probe if it contains the answer."""
        found = _SENTENCE.match(self.solution)
        sentence = found[0].strip() if found else ""
        if len(sentence) > self._first_mention(sentence):
            return _skip("right_answer")
        return sentence or _skip("nothing_left")

    @property
    def beginning(self) -> str:
        """Return the beginning of a completion from the data, up to where it first states the answer and at most two
        fifths."""
        text = self.solution
        end = min(self._first_mention(text), completion_answer(text).start, int(len(text) * _REACH))
        cut = text[:end].rstrip()
        return cut if len(cut) >= _MIN_CARRIER_CHARACTERS else _skip("nothing_left")

    def _first_mention(self, text: str) -> int:
        answers = (self.known_answer, completion_answer(self.solution).text)
        places = [place for answer in answers if (place := _mention_start(answer, text)) is not None]
        return min(places, default=len(text))

    @cached_property
    def reference_program(self) -> str:
        return programs.program(self.row.reference) or programs.program(self.row.right) or _skip("no_program")

    @property
    def broken(self) -> str:
        """Return a program labelled wrong, or one that does nothing."""
        reference = self.reference_program
        return programs.program(self.row.wrong) or programs.stub(reference)

    @property
    def dead_reference(self) -> str:
        return programs.dead_program(self.reference_program)

    @property
    def hard_coded(self) -> str:
        examples = programs.examples("\n".join(filter(None, (self.row.question, self.row.example))))
        return programs.hard_coded_program(examples) if self.reference_program and examples else _skip("no_example")


def _skip(reason: SkipReason) -> str:
    raise Skipped(reason)


def _mention_start(answer: str, text: str) -> int | None:
    if not answer:
        return None
    found = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE if len(answer) > 1 else 0)
    return None if found is None else found.start()
