r"""Units after a value that is no plain number, such as ``5\sqrt{2}\text{ cm}``, and the value without them."""

from __future__ import annotations

import re

from workbench.verifiers.rules.numbers import MAX_NUMBER
from workbench.verifiers.rules.spelling import plain
from workbench.verifiers.rules.units import Unit, unit

_BEFORE_UNIT = re.compile(
    r"(?:\\[,;:! ]|~|\s)*(?=\\(?:text|textrm|mathrm|mbox|operatorname|rm)\b\s*\{)"  # set upright
    r"|(?<=[0-9)}\]])(?:\\[,;:! ]|~|\s)+(?=[A-Za-z]{2})|(?<=[0-9)}\]])\s*(?=°)"  # or words after a space
)
_MAX_TRIES = 8


def without_units(a: str, b: str) -> tuple[str, str] | bool | None:
    """The values of two texts in one unit, for a comparer of expressions.

    Returns:
        The two values, the second scaled into the unit of the first, when both units are known or only one side has
        one; False for units of different dimensions; None when there is no unit to take away, or one that may not be.
    """
    first, second = split(a), split(b)
    if first is None and second is None:
        return None
    if first and second:
        return _in_one_unit(first, second)
    value, its = first or second or ("", None)
    if its is None or not its.dropped:
        return None
    return (value, b) if first else (a, value)


def split(text: str) -> tuple[str, Unit] | None:
    """The value a text begins with and the known unit that is the rest of it, or None."""
    if len(text) > MAX_NUMBER:
        return None
    for tries, before in enumerate(_BEFORE_UNIT.finditer(text)):
        if tries == _MAX_TRIES:
            break
        if before.start() and (known := unit(plain(text[before.end() :]))):
            return text[: before.start()], known
    return None


def _in_one_unit(first: tuple[str, Unit], second: tuple[str, Unit]) -> tuple[str, str] | bool | None:
    (one, its), (other, theirs) = first, second
    if its.dimensions != theirs.dimensions:
        return False
    if its == theirs:
        return one, other
    if its.offset or theirs.offset or its.pi != theirs.pi:
        return None
    factor = theirs.factor / its.factor
    return one, rf"({other})\cdot\frac{{{factor.numerator}}}{{{factor.denominator}}}"
