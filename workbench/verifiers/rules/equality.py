"""Whether two final answers say the same: from equal text to what only sympy can tell, cheapest first."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from workbench.verifiers.rules.calendar import compare_moments, moment
from workbench.verifiers.rules.danger import MAX_CHARACTERS, TooComplex
from workbench.verifiers.rules.equations import constant_in, same_expression
from workbench.verifiers.rules.numbers import exact, is_printed
from workbench.verifiers.rules.quantities import WantedForm, same_measure
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.shapes import same_shape
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.states import same_term
from workbench.verifiers.rules.structure import names_and_value
from workbench.verifiers.rules.units import split, without_units
from workbench.verifiers.rules.words import same_text

Symbolic = Callable[[str, str], bool | None]
"""Compares what the rules can't read; may raise `Unread` where no worker is at hand."""

_REASONS = {
    "list": "list",
    "set": "set",
    "tuple": "list",
    "interval": "interval",
    "union": "interval",
    "builder": "set",
    "matrix": "matrix",
    "number": "number",
    "quantity": "quantity",
    "percent": "quantity",
    "degrees": "quantity",
    "base": "number",
    "date": "date_time",
    "time": "date_time",
    "expression": "expression",
    "equation": "equation",
    "symbolic": "symbolic",
    "state": "state",
}
"""The reason code of a rule, by the first part of its name."""

_APPROXIMATELY = re.compile(r"\s*(?:\\approx|≈|\\simeq|≃|\\doteq)\s*")
_LEADING_ZERO = re.compile(r"0\d+")
_UNEVALUATED = re.compile(r"\\(?:int|iint|iiint|oint|sum|prod|lim|limsup|liminf)(?![A-Za-z])|[∫∑∏]|\blim\b")
_WORDS = re.compile(r"(?<![^\W\d_])[^\W\d_]{4,}\s+[^\W\d_]{2}")
_A_WORD = re.compile(r"[A-Za-z][A-Za-z' -]*[A-Za-z]")
_LONG_WORD = re.compile(r"(?<![\\A-Za-z])(?!(?:arc)?(?:sinh?|cosh?|tanh?|sqrt)(?![A-Za-z]))[A-Za-z]{4,}")
_TOKEN = re.compile(r"\\[A-Za-z]+|\d+(?:\.\d+)?|[^\s{}]")
_MUCH_LONGER, _MARGIN = 2, 3
_LETTERS = re.compile(r"[^\W\d_]{2}")
_OPERATOR = re.compile(r"[\\^_+*/=()!-]")
_IMAGINARY = re.compile(r"(?<![A-Za-z\\])[ij](?![A-Za-z])(?:\s?(\d+(?:\.\d+)?|\\sqrt\{\d+\}))?")
_CONDITION = re.compile(
    r"""(?<!\s)(?:\s*[,;(]\s*|\s+)
    (?:where\s+|with\s+|for\s+(?:(?:all|any|some|every)\s+)?)?
    [A-Za-z](?:_\{?\w\}?)?(?:\s*,\s*[A-Za-z](?:_\{?\w\}?)?){0,5}\s*
    (?: ∈\s*(?:\\mathbb\s*\{?\s*)?[A-Zℝℤℕℚℂ]\s*\}?[+*^_0]{0,3}\s?\)?\.?
      | (?:is\s+)?(?:an?\s+)?(?:arbitrary|any|some|integer|real|constant)\b.{0,42})\Z""",
    re.VERBOSE,
)
"""What an answer says of its parameters at its end: ``, k ∈ ℤ``, ``for any integer n``, ``(C is a constant)``."""
_MAY_BE_CONDITION = re.compile("∈|arbitrary|any|some|integer|real|constant")
_SHAPE_BEHIND = re.compile(r"[^=(\[{,]{1,40}=\s*((?:\\\{|[{(\[]|\\begin).*)", re.DOTALL)
_NO_SIGNS = re.compile(r"\\mathbb|[^A-Za-z0-9ℝℤℕℚℂ]")
_ARROW = re.compile(r"\\(?:[lL]ong)?rightarrow(?![A-Za-z])|\\to(?![A-Za-z])|\\rightleftharpoons|→|⟶|⇌|->")
_COMMA_DECIMAL = re.compile(r"[-−]?\d+,\d+")
_PLAIN_DECIMAL = re.compile(r"[-−]?\d+(?:\.\d+)?|[-−]?\\[dt]?frac\s*\{?\d+\}?\s*\{?\d+\}?|[-−]?\d+/\d+")
_ZERO_MEMBER = re.compile(r"(?<![\d.,])-?\d{1,3}[,;]\s?0\d{0,1}(?!\d)(?=\d?(?:\D|\Z))(?<=0\d)|(?<![\d.,])0\d+[,;]\s?\d")
_PLAIN = WantedForm()
_LONG_DECIMAL = re.compile(r"\d[\d.]{14}")
_LONE_DOLLAR = re.compile(r"(?<!\\)\$\s?-?[\d.]|\d\s?\$\s*\Z")
_DEEPEST = 3
_MOST_ROUNDINGS = 4


def undecided(reference: str, candidate: str) -> bool | None:
    """What stands in for sympy where it is not to be asked: it can't tell."""
    return None


class Unread(Exception):
    """Only sympy may be able to compare these two."""


class Equality(NamedTuple):
    """How two answers compare.

    Attributes:
        equal: Whether they are equal.
        rule: Which rule said so, such as ``"number.rounding"``.
    """

    equal: bool
    rule: str

    @property
    def reason(self) -> str:
        """The reason code that goes with the rule."""
        return _REASONS[self.rule.partition(".")[0]]


class _SpecialReading(NamedTuple):
    """What a special way to read two answers gave."""

    equality: Equality | None


class Comparison:
    """Compares values within one question.

    Args:
        question: Gives the context: what is asked for, and in which form.
        symbolic: Asked about what the rules can't read.
    """

    def __init__(self, question: TypedQuestion, symbolic: Symbolic) -> None:
        self._question = question
        self._symbolic = symbolic

    def same(self, reference: str, candidate: str, depth: int = 0) -> bool | None:
        """Whether two values are equal; None when they are no values or can't be compared.

        Args:
            reference: The reference's value.
            candidate: The completion's.
            depth: How many lists, sets and the like they stand in.

        Raises:
            TooComplex: To compare them would take more work than a rule may spend.
        """
        if same_text(reference, candidate) is not None:
            return True
        found = self.compare(reference, candidate, depth)
        return None if found is None else found.equal

    def compare(self, reference: str, candidate: str, depth: int = 0) -> Equality | None:
        """Compare two values and say by which rule; None when they can't be compared.

        Raises:
            TooComplex: To compare them would take more work than a rule may spend.
        """
        if max(len(reference), len(candidate)) > MAX_CHARACTERS:
            raise TooComplex
        ours, theirs = tidy(reference), tidy(candidate)
        if self._question.imaginary and not depth:
            ours, theirs = (_IMAGINARY.sub(_turned, text) for text in (ours, theirs))
            reference, candidate = ours, theirs
        ours, theirs = _same_conditions(ours, theirs)
        if not ours or not theirs:
            return None
        if "\\approx" in ours + theirs or "≈" in ours + theirs:
            return self._either(ours, theirs, depth)
        ours, theirs = _without_heads(ours, theirs)
        if not depth and "," in ours + theirs and (read := self._decimal_commas(ours, theirs)) is not None:
            return read.equality
        if (ruled := self._written_out(ours, theirs)) is not None:
            return ruled
        if depth < _DEEPEST:
            found = same_shape(ours, theirs, self._question, partial(self.same, depth=depth + 1), depth == 0)
            if found is not None:
                return None if found.equal is None else Equality(found.equal, found.rule)
        return self._one_value(_unmathed(reference), _unmathed(candidate), ours, theirs)

    def _decimal_commas(self, ours: str, theirs: str) -> _SpecialReading | None:
        """``3,5`` is a list of digits or three and a half: both readings of both answers must agree."""
        ours, theirs = ours.replace("{,}", ","), theirs.replace("{,}", ",")
        one, other = _COMMA_DECIMAL.fullmatch(ours), _COMMA_DECIMAL.fullmatch(theirs)
        if (
            _ZERO_MEMBER.search(ours)
            or _ZERO_MEMBER.search(theirs)
            or (self._question.decimal_commas and (one or other))
        ):
            if not (one or _PLAIN_DECIMAL.fullmatch(ours)) or not (other or _PLAIN_DECIMAL.fullmatch(theirs)):
                parted = _ZERO_MEMBER.search(ours + " " + theirs) or not ("\\" in ours or "\\" in theirs)
                return _SpecialReading(None) if parted else None
            found = same_measure(ours.replace(",", "."), theirs.replace(",", "."), _PLAIN)
            return _SpecialReading(Equality(*found) if found else None)
        return None

    def _written_out(self, ours: str, theirs: str) -> Equality | None:
        """Dates, times, and values such as infinity or the empty set: their commas and braces separate nothing."""
        same = same_term(ours, theirs)
        if same is not None:
            return Equality(same, "state.term")
        if not ("-" in ours or "/" in ours or ":" in ours or "," in ours or "月" in ours):
            ours, theirs = theirs, ours
        if moment(ours) is None:
            return None
        compared = compare_moments(ours, theirs)
        if compared is None and _LETTERS.search(theirs) is None:
            # 2024-01-05 is no difference that could be 2018.
            return Equality(False, "date.other")
        return Equality(*compared) if compared else None

    def _either(self, ours: str, theirs: str, depth: int) -> Equality | None:
        """``a ≈ b`` gives an exact and a rounded value; one that fits is enough."""
        these, those = _APPROXIMATELY.split(ours), _APPROXIMATELY.split(theirs)
        if max(len(these), len(those)) > _MOST_ROUNDINGS:
            raise TooComplex("a long chain of roundings")
        verdicts = [self.compare(one, other, depth) for one in these for other in those if one and other]
        return next((verdict for verdict in verdicts if verdict and verdict.equal), verdicts[0] if verdicts else None)

    def _one_value(self, reference: str, candidate: str, ours: str, theirs: str) -> Equality | None:
        """Compare two answers without parts, as written (where a unit may be marked as one) and tidy."""
        if self._question.codes and (_LEADING_ZERO.fullmatch(ours) or _LEADING_ZERO.fullmatch(theirs)):
            # A code such as 007 is no number.
            return Equality(False, "number.code") if ours.isdigit() and theirs.isdigit() else None
        if "=" in ours and "=" not in theirs:
            ours = _worked_out(ours)
        elif "=" in theirs and "=" not in ours:
            theirs = _worked_out(theirs)
        one, other = _values(reference, candidate)
        if (measured := self._measured(one, other)) is not None:
            return measured
        values = without_units(one, other)
        if values is False or not self._fits(one, other):
            return Equality(False, "quantity.differs")
        if isinstance(values, tuple):
            ours, theirs = (tidy(value) for value in values)
        if (sides := _sides(ours, theirs)) is not None:
            return self._reaction(*sides)
        if not self._calculates(ours, theirs):
            return None
        equal = same_expression(ours, theirs)
        if (
            equal is False
            and (_LONG_DECIMAL.search(ours) or _LONG_DECIMAL.search(theirs))
            and _is_printed(ours, theirs)
        ):
            return Equality(not self._question.exact, "number.differs" if self._question.exact else "number.rounding")
        if equal and not self._in_form(ours, theirs):
            return Equality(False, "expression.form")
        if equal is not None:
            return Equality(equal, "equation" if "=" in ours and "=" in theirs else "expression")
        return self._unread(ours, theirs)

    def _calculates(self, ours: str, theirs: str) -> bool:
        """Whether two answers may be worked out: not the letters of a word, nor the numbers of a string."""
        if self._question.type == "D":
            return "\\" in ours and "\\" in theirs
        return self._question.type in ("A", "B") or not (_is_word(ours) or _is_word(theirs))

    def _reaction(self, ours: list[str], theirs: list[str]) -> Equality | None:
        """Both sides of a reaction's arrow, as sums."""
        verdicts = [same_expression(one, other) for one, other in zip(ours, theirs, strict=True)]
        return None if None in verdicts else Equality(all(verdicts), "equation.arrow")

    def _measured(self, one: str, other: str) -> Equality | None:
        if one.isdigit() and other.isdigit():
            return Equality(*(same_measure(one, other, _PLAIN) or (False, "number.differs")))
        found = same_measure(one, other, self._question.asked)
        if found == (True, "quantity.unit_dropped") and not self._fits(one, other):
            return Equality(False, "quantity.differs")
        if found == (True, "number.rounding") and self._question.exact:
            return Equality(False, "number.differs")
        return None if found is None else Equality(*found)

    def _fits(self, one: str, other: str) -> bool:
        """Whether the unit that only one side has may be dropped: it is none that the question rules out."""
        ours, theirs = split(one), split(other)
        only = (ours or theirs) if (ours is None) != (theirs is None) else None
        return only is None or self._question.may_be_in(only[1])

    def _in_form(self, ours: str, theirs: str) -> bool:
        """Whether two equal expressions both have, or both lack, the form the question asks for.

        A question to simplify is not answered by what is much longer, one to factor not by a sum.
        """
        form = self._question.form
        if form == "simplif":
            shorter, longer = sorted(len(_TOKEN.findall(text)) for text in (ours, theirs))
            return longer <= _MUCH_LONGER * shorter + _MARGIN
        return form != "factor" or _is_sum(ours) == _is_sum(theirs)

    def _unread(self, ours: str, theirs: str) -> Equality | None:
        """What the rules' own parser can't read."""
        if (_UNEVALUATED.search(ours) is None) != (_UNEVALUATED.search(theirs) is None):
            return Equality(False, "expression.unevaluated")
        if _WORDS.search(ours) or _WORDS.search(theirs) or not (_OPERATOR.search(ours) or _OPERATOR.search(theirs)):
            return None
        equal = self._symbolic(ours, theirs)
        return None if equal is None else Equality(equal, "symbolic")


def _turned(found: re.Match[str]) -> str:
    """``j4`` and ``4j`` as ``4i``."""
    return f"{found[1] or ''}i"


def _is_printed(ours: str, theirs: str) -> bool:
    """Whether one of two texts is the decimal that a program prints of the other's value."""
    for shown, other in ((exact(ours), theirs), (exact(theirs), ours)):
        if shown is not None and shown.step and (value := constant_in(other)) is not None:
            return is_printed(shown, value)
    return False


def _unmathed(text: str) -> str:
    """The text without math delimiters; a lone dollar sign before a number is a currency."""
    if text.count("$") == 1 and _LONE_DOLLAR.search(text):
        return text.replace("$", "\\$")
    return text.strip(" $")


def _same_conditions(ours: str, theirs: str) -> tuple[str, str]:
    """Both without the condition on a parameter, unless their conditions differ: ``x = kπ, k ∈ ℤ``."""
    if not (_MAY_BE_CONDITION.search(ours) or _MAY_BE_CONDITION.search(theirs)):
        return ours, theirs
    one, two = _CONDITION.search(ours), _CONDITION.search(theirs)
    if one and two and _NO_SIGNS.sub("", one[0]) != _NO_SIGNS.sub("", two[0]):
        return ours, theirs
    return _CONDITION.sub("", ours), _CONDITION.sub("", theirs)


def _without_heads(ours: str, theirs: str) -> tuple[str, str]:
    """Both without what only one of them is said to equal: ``A ∪ B = {1, 2}``."""
    if ("=" in ours) == ("=" in theirs):
        return ours, theirs
    return _without_head(ours), _without_head(theirs)


def _without_head(text: str) -> str:
    found = _SHAPE_BEHIND.fullmatch(text)
    return found[1].rstrip(" .") if found else text


def _worked_out(text: str) -> str:
    """The result of an equation whose left side is only something to work out, such as an integral."""
    head, _, result = text.rpartition("=")
    outermost = result.count("{") == result.count("}")
    return result.strip() if result.strip() and outermost and _UNEVALUATED.search(head) else text


def _values(ours: str, theirs: str) -> tuple[str, str]:
    """Both without the name they are assigned to, unless the names differ."""
    named, other = names_and_value(ours), names_and_value(theirs)
    if named and other:
        return (named[1], other[1]) if named[0].replace(" ", "") == other[0].replace(" ", "") else (ours, theirs)
    if named and "=" not in theirs:
        return named[1], theirs
    return (ours, other[1]) if other and "=" not in ours else (ours, theirs)


def _sides(ours: str, theirs: str) -> tuple[list[str], list[str]] | None:
    """What stands on both sides of one arrow, where both have one."""
    if not ("\\" in ours or "→" in ours or "->" in ours):
        return None
    sides = _ARROW.split(ours), _ARROW.split(theirs)
    return sides if len(sides[0]) == len(sides[1]) == 2 else None


def _is_sum(text: str) -> bool:
    """Whether a plus or minus stands between terms outside all brackets."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and at and sign in "+-":
            return True
    return False


def _is_word(text: str) -> bool:
    return _A_WORD.fullmatch(text) is not None or _LONG_WORD.search(text) is not None
