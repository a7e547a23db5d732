"""Whether an answer says of itself that it is about something which it is not: ``e^2 ≈ -7.389``."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from workbench.verifiers.rules.equations import constant_of
from workbench.verifiers.rules.numbers import WrittenNumber, leading
from workbench.verifiers.rules.quantities import Quantity
from workbench.verifiers.rules.records import Expression, Part
from workbench.verifiers.rules.spelling import plain
from workbench.verifiers.rules.units import unit

_ABOUT = re.compile(r"≈|\\approx(?![A-Za-z])|(?:\bor\s+)?\b(?:approximately|about|roughly)\b")
_MAY_BE_ABOUT = re.compile(r"≈|\\approx|about|rough|approximately")
_MARKS = " \t$*.,;"
_AROUND = " \t{}$*()[]\\.,;"
_PI = Fraction(3.141592653589793)
_LAST_EQUAL = re.compile(r"(?<![<>!:=])=(?!=)")
_ENDS = re.compile(r"\n|[.;](?=\s|\Z)|\\[)\]]|,(?!\d)")


def rounded_wrongly(text: str, read: Callable[[str], Part[Any]]) -> bool:
    """Whether a value stands before a sign of rounding, and behind it a decimal that the value does not round to.

    Args:
        text: An answer with what stands behind it.
        read: Reads the value before the sign.
    """
    if _MAY_BE_ABOUT.search(text) is None:
        return False
    exact, *about = _ABOUT.split(text)
    for shown in about:
        value, number = _value(read(_bare(_LAST_EQUAL.split(exact)[-1]))), _shown(shown)
        if value is not None and number is not None and not _rounds(value, number):
            return True
        exact = shown
    return False


def _bare(text: str) -> str:
    """A value without the marks round it, and without brackets that nothing opens or closes."""
    text = text.strip(_MARKS).rstrip(" ($")
    for opening, closing in ("{}", "()"):
        while text.endswith(closing) and text.count(closing) > text.count(opening):
            text = text[:-1].strip(_MARKS)
        while text.startswith(opening) and text.count(opening) > text.count(closing):
            text = text[1:].strip(_MARKS)
    return text


def _value(part: Part[Any]) -> Fraction | None:
    found = part.value
    if isinstance(found, Quantity):
        value = found.number.value * (_PI if found.pi else 1)
        return value * found.unit.factor if found.unit else value
    if isinstance(found, Expression) and found.said is not None and found.unit is None:
        constant = constant_of(found.said)
        return None if constant is None else Fraction(constant)
    return None


def _shown(text: str) -> WrittenNumber | None:
    """The decimal a text begins with, in base units; None where it goes on in a way that is no unit's."""
    said = plain(_ENDS.split(text, maxsplit=1)[0].strip(_AROUND))
    found = leading(said)
    if found is None or not found[0].value:
        return None
    number, rest = found
    known = unit(rest.strip()) if rest.strip() else None
    if known is not None and not known.offset:
        return number.times(known.factor) if not known.pi else None
    return None if rest.strip() else number


def _rounds(value: Fraction, number: WrittenNumber) -> bool:
    """Whether a value rounds to a number, or is cut off to it; of one without decimals its last digits may be zeros."""
    step = number.step or Fraction(10) ** _zeros(number.value)
    off = value - number.value
    return abs(off) * 2 <= step * Fraction(1_000_001, 1_000_000) or (0 <= off * (1 if value > 0 else -1) < step)


def _zeros(value: Fraction) -> int:
    digits = str(abs(value.numerator // value.denominator))
    return len(digits) - len(digits.rstrip("0"))
