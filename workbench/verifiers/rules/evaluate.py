"""Equality of two expressions, decided by evaluating them.

Rational functions are compared in a prime field, where agreement at two fixed points is practically a proof (Schwartz
1980, Zippel 1979). Others are distinguished in doubles and, if those agree, confirmed in the field (if they are equal
for any functions) or with many digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from workbench.verifiers.rules.arithmetic import (
    COMPLEX,
    PRIME,
    REAL,
    Arithmetic,
    Undefined,
    field_value,
    high_precision,
    seed,
)
from workbench.verifiers.rules.nodes import Name, Node, Number, Power, Product, Sum

CONSTANTS = frozenset("πei")

_FIELD_POINTS = 3
_RANGES = ((0, 1), (1, 3), (-1, 0), (-3, -1), (-2, 2), (20, 40), (2, 9), (2, 9))
"""Lower and upper ends of each point's coordinates."""
_USUAL_POINTS = 5
"""Number of points that are tried first; further points are used only if too few of these are defined."""
_WHOLE_POINTS = {6: 0, 7: 1}
"""Indices of points with natural coordinates -> the number added to them: both parities occur."""
_TRUSTED_POINTS = 2
_MIN_POINTS = 2
_TOLERANCE = 1e-6
_MODEST_BITS = 30
_DIGITS = 50
SPARE_DIGITS = 20
"""Number of digits that may be lost in computing."""
_MAX_WHOLE_DIGITS = 1_000
_DIGITS_PER_BIT = 0.302


class Features(NamedTuple):
    """Properties that determine how a tree is evaluated.

    Attributes:
        names: Its variables and constants.
        rational: Whether it is a rational function of them.
        polynomial: Whether it is a rational function without denominators.
        bits: Size of its largest number.
    """

    names: frozenset[str]
    rational: bool
    polynomial: bool
    bits: int


def features(*nodes: Node) -> Features:
    names: set[str] = set()
    rational, polynomial, bits = True, True, 0
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Number):
            bits += max(node.value.numerator.bit_length(), node.value.denominator.bit_length())
        elif isinstance(node, Name):
            names.add(node.text)
        elif isinstance(node, Sum):
            waiting += node.terms
        elif isinstance(node, Product):
            waiting += node.factors
        elif isinstance(node, Power):
            waiting += (node.base, node.exponent)
            if not isinstance(node.exponent, Number) or not isinstance(node.exponent.value, int):
                rational = False
            elif node.exponent.value < 0:
                polynomial = False
        else:
            rational = False
            waiting += node.arguments
    rational &= "i" not in names
    return Features(frozenset(names), rational, rational and polynomial, bits)


def same_value(first: Node, second: Node) -> bool | None:
    """Return whether two expressions have the same value wherever both are defined; None if undecided."""
    if first == second:
        return True
    if isinstance(first, Number) and isinstance(second, Number):
        return False
    about = features(first, second)
    if about.rational:
        return _same_in_field(first, second, about.names)
    return _same_in_numbers(first, second, about)


def constant(node: Node) -> float | None:
    """Return the value of an expression without variables, as a double; None if it has variables or is not real."""
    if features(node).names - CONSTANTS - {"i"} or "i" in features(node).names:
        return None
    return finite_value(node, numeric_point(REAL, frozenset(), 0))


def finite_value(node: Node, point: Mapping[str, Any]) -> float | None:
    """Return the value of a real expression at a point; None if it is undefined there."""
    try:
        value = float(REAL.value(node, point))
    except (ValueError, ArithmeticError, TypeError, KeyError):
        return None
    return value if abs(value) < float("inf") else None


@lru_cache(maxsize=4096)
def _field_coordinate(name: str, index: int) -> int:
    return pow(seed(name) + 2, 5 + 4 * index, PRIME) * 0x9E3779B97F4A7C15 % PRIME


def field_point(names: frozenset[str], index: int) -> dict[str, int]:
    return {name: _field_coordinate(name, index) for name in names}


def _same_in_field(first: Node, second: Node, names: frozenset[str]) -> bool | None:
    for index in range(_FIELD_POINTS):
        point = field_point(names, index)
        try:
            if field_value(first, point) != field_value(second, point):
                return False
        except Undefined:
            continue
        if index:
            return True
    return None


@lru_cache(maxsize=4096)
def _coordinate(name: str, index: int) -> int | Fraction:
    low, high = _RANGES[index]
    if index in _WHOLE_POINTS:
        return low + seed(name) % (high - low) + _WHOLE_POINTS[index]
    return low + (high - low) * Fraction(2 * seed(f"{name}{index}") + 1, 2**33)


def _same_in_numbers(first: Node, second: Node, about: Features) -> bool | None:
    arithmetic = COMPLEX if "i" in about.names else REAL
    variables = about.names - CONSTANTS
    enough = _MIN_POINTS if variables else 1
    close: list[int] = []
    for index in range(len(_RANGES) if variables else 1):
        if index >= _USUAL_POINTS and len(close) >= enough:
            break
        agree = _agree_in_doubles(first, second, arithmetic, variables, index)
        if agree is None:
            continue
        trusted = index < _TRUSTED_POINTS and about.bits <= _MODEST_BITS
        if not agree and (trusted or not _agree_in_many_digits(first, second, about, index)):
            return False
        close.append(index)
    if len(close) < enough:
        return None
    if _agree_formally(first, second, about.names):
        return True
    confirmed = [_agree_in_many_digits(first, second, about, index) for index in close[:enough]]
    return None if None in confirmed else all(confirmed)


def _agree_in_doubles(
    first: Node, second: Node, arithmetic: Arithmetic, variables: frozenset[str], index: int
) -> bool | None:
    point = numeric_point(arithmetic, variables, index)
    try:
        one, other = arithmetic.value(first, point), arithmetic.value(second, point)
        difference = abs(one - other)
        scale = max(1.0, abs(one), abs(other))
    except (ValueError, ArithmeticError, TypeError):
        return None
    if not scale < float("inf"):
        return None
    return bool(difference <= _TOLERANCE * scale)


def numeric_point(arithmetic: Arithmetic, variables: frozenset[str], index: int) -> Mapping[str, Any]:
    return {**arithmetic.constants, **{name: arithmetic.convert(_coordinate(name, index)) for name in variables}}


def _agree_formally(first: Node, second: Node, names: frozenset[str]) -> bool:
    point = field_point(names, 0)
    try:
        return field_value(first, point) == field_value(second, point)
    except Undefined:
        return False


def digits_for(about: Features) -> int:
    return _DIGITS + int(about.bits * _DIGITS_PER_BIT)


def _agree_in_many_digits(first: Node, second: Node, about: Features, index: int, whole_digits: int = 0) -> bool | None:
    """Return whether the values agree in many digits at a point; None if they are infinite or undefined.

    A value that grows with the precision, such as 1/sin π, counts as infinite: it is not computed with more digits.

    Args:
        whole_digits: Number of expected digits before the point.
    """
    from mpmath import frexp, isfinite

    digits = digits_for(about) + whole_digits
    arithmetic = high_precision(digits, "i" in about.names)
    point = numeric_point(arithmetic, about.names - CONSTANTS, index)
    try:
        one, other = arithmetic.value(first, point), arithmetic.value(second, point)
    except (ValueError, ArithmeticError, TypeError):
        return False
    scale = max(1, abs(one), abs(other))
    if not isfinite(scale):
        return None
    size = int(frexp(scale)[1] * _DIGITS_PER_BIT)
    if size > whole_digits + SPARE_DIGITS:
        return (
            None
            if whole_digits or size > _MAX_WHOLE_DIGITS
            else _agree_in_many_digits(first, second, about, index, size)
        )
    return bool(abs(one - other) <= scale * arithmetic.convert(Fraction(1, 10 ** (digits - SPARE_DIGITS))))
