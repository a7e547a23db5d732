"""Answers that contradict their own rounding: ``e^2 ≈ -7.389``."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

from workbench.verifiers.rules.equations import constant_of
from workbench.verifiers.rules.numbers import WrittenNumber, leading_numeral
from workbench.verifiers.rules.quantities import Quantity
from workbench.verifiers.rules.records import Expression, Part
from workbench.verifiers.rules.spelling import APPROXIMATELY, plain
from workbench.verifiers.rules.units import unit

_ABOUT = re.compile(rf"{APPROXIMATELY.pattern}|(?:\bor\s+)?\b(?:approximately|about|roughly)\b")
_NAME = re.compile(r"[\s${(]*\\?[^\W\d_](?:_\{?\w+\}?)?(?:\([^()]{0,20}\))?[\s$})]*")
"""A quantity whose value a chain gives: ``x``, ``\\theta``, ``f(2)``."""
_Member = tuple[Fraction | None, WrittenNumber | None]
_MARKS = " \t$*.,;"
_AROUND = " \t{}$*()[]\\.,;"
_PI = Fraction(3.141592653589793)
EQUALS = re.compile(r"(?<![<>!:=])=(?!=)")
_ENDS = re.compile(r"\n|[.;](?=\s|\Z)|\\[)\]]|,(?!\d)")


def rounded_wrongly(text: str, read: Callable[[str], Part[Any]]) -> bool:
    """Return whether a value is followed by a sign of rounding and a decimal that the value does not round to.

    Args:
        text: An answer with the text after it.
        read: Parses the value before the sign.
    """
    exact, *about = _ABOUT.split(text)
    for shown in about:
        value, number = _exact_value(read(_strip_marks(EQUALS.split(exact)[-1]))), _shown_number(shown)
        if value is not None and number is not None and not _is_rounding(value, number):
            return True
        exact = shown
    return False


def is_unsound_chain(text: str, read: Callable[[str], Part[Any]]) -> bool:
    """Return whether an answer joins values by signs of rounding although none rounds to the next: ``7 ≈ 18 ≈ 50``.

    Only numbers can be checked, so a chain of anything else is unsound too.
    """
    first, *others = APPROXIMATELY.split(text)
    if not others:
        return False
    members = others if not first.strip(_MARKS) or _NAME.fullmatch(first) else [first, *others]
    bare = [plain(_strip_marks(EQUALS.split(member)[-1])) for member in members]
    read_members = [(_exact_value(read(member)), _shown_number(member)) for member in bare]
    return any(not (_rounds_to(one, other) or _rounds_to(other, one)) for one, other in pairwise(read_members))


def _rounds_to(one: _Member, other: _Member) -> bool:
    (value, shown), number = one, other[1]
    if value is None or number is None:
        return False
    if value == number.value or number.step:
        return value == number.value or _is_rounding(value, number)
    # A whole number rounds one with decimals or an irrational one; of two whole numbers either may be the answer.
    unit = shown.step * 10**shown.places if shown else Fraction(1)
    return abs(value - number.value) * 2 <= unit


def _strip_marks(text: str) -> str:
    text = text.strip(_MARKS).rstrip(" ($")
    for opening, closing in ("{}", "()"):
        while text.endswith(closing) and text.count(closing) > text.count(opening):
            text = text[:-1].strip(_MARKS)
        while text.startswith(opening) and text.count(opening) > text.count(closing):
            text = text[1:].strip(_MARKS)
    return text


def _exact_value(part: Part[Any]) -> Fraction | None:
    found = part.value
    if isinstance(found, Quantity):
        value = found.number.value * (_PI if found.pi else 1)
        return value * found.unit.factor if found.unit else value
    if isinstance(found, Expression) and found.said is not None and found.unit is None:
        constant = constant_of(found.said)
        return None if constant is None else Fraction(constant)
    return None


def _shown_number(text: str) -> WrittenNumber | None:
    said = plain(_ENDS.split(text, maxsplit=1)[0].strip(_AROUND))
    found = leading_numeral(said)
    if found is None or not found[0].value:
        return None
    number, rest = found
    known = unit(rest.strip()) if rest.strip() else None
    if known is not None and not known.offset:
        return number.times(known.factor) if not known.pi else None
    return None if rest.strip() else number


def _is_rounding(value: Fraction, number: WrittenNumber) -> bool:
    step = number.step or Fraction(10) ** _count_trailing_zeros(number.value)
    off = value - number.value
    return abs(off) * 2 <= step * Fraction(1_000_001, 1_000_000) or (0 <= off * (1 if value > 0 else -1) < step)


def _count_trailing_zeros(value: Fraction) -> int:
    digits = str(abs(value.numerator // value.denominator))
    return len(digits) - len(digits.rstrip("0"))
