"""Whether one expression is a constant multiple of another."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from workbench.verifiers.rules.arithmetic import COMPLEX, PRIME, REAL, Arithmetic, Undefined, in_field, precise
from workbench.verifiers.rules.evaluate import (
    CONSTANTS,
    SPARE_DIGITS,
    Features,
    digits_for,
    features,
    field_point,
    numeric_point,
)
from workbench.verifiers.rules.nodes import Node

_POINTS = range(5)
_ENOUGH = 2
_CLOSE = 1e-6
_CONFIRMING = 3


def proportional(first: Node, second: Node, *, positive: bool) -> bool | None:
    """Whether the first is the second times a constant that isn't 0; None when that can't be told.

    Args:
        first: An expression.
        second: Another.
        positive: Whether the constant must be positive.
    """
    about = features(first, second)
    if not about.names - CONSTANTS:
        return None
    same = _in_field(first, second, about.names) if about.rational else _in_numbers(first, second, about)
    return _same_sign(first, second, about) if same and positive else same


def _in_field(first: Node, second: Node, names: frozenset[str]) -> bool | None:
    """Compare the ratios at fixed points of the prime field."""
    found: list[tuple[int, int]] = []
    for index in _POINTS:
        point = field_point(names, index)
        try:
            one, other = in_field(first, point), in_field(second, point)
        except Undefined:
            continue
        if (one == 0) != (other == 0) or (found and (found[0][0] * other - one * found[0][1]) % PRIME):
            return False
        found.append((one, other))
        if len(found) > _ENOUGH:
            return True
    return None


def _in_numbers(first: Node, second: Node, about: Features) -> bool | None:
    """Compare the ratios in doubles, then with many digits at the points where they are defined."""
    arithmetic = COMPLEX if "i" in about.names else REAL
    values = {index: found for index in _POINTS if (found := _values(first, second, arithmetic, about, index))}
    if len(values) < _ENOUGH:
        return None
    if not _one_ratio(list(values.values()), _CLOSE):
        return False
    digits = digits_for(about)
    exact = precise(digits, "i" in about.names)
    confirming = [_values(first, second, exact, about, index) for index in list(values)[:_CONFIRMING]]
    return _one_ratio([found for found in confirming if found], exact.convert(Fraction(10) ** (SPARE_DIGITS - digits)))


def _values(first: Node, second: Node, arithmetic: Arithmetic, about: Features, index: int) -> tuple[Any, Any] | None:
    """Both values at a point; None where one is undefined or 0."""
    point = numeric_point(arithmetic, about.names - CONSTANTS, index)
    try:
        one, other = arithmetic.value(first, point), arithmetic.value(second, point)
        return (one, other) if 0 < abs(one) < float("inf") and 0 < abs(other) < float("inf") else None
    except (ValueError, ArithmeticError, TypeError):
        return None


def _one_ratio(values: list[tuple[Any, Any]], tolerance: Any) -> bool:
    """Whether all pairs have nearly the same ratio."""
    (one, other), *rest = values
    return all(abs(one * below - above * other) <= tolerance * abs(one * below) for above, below in rest)


def _same_sign(first: Node, second: Node, about: Features) -> bool | None:
    """Whether two multiples of each other have the same sign where they are defined; beside i there are no signs."""
    if "i" in about.names:
        return None
    found = next(filter(None, (_values(first, second, REAL, about, index) for index in _POINTS)), None)
    return None if found is None else bool((found[0] > 0) == (found[1] > 0))
