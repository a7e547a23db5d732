"""Equality of two expressions, decided by evaluating them in a prime field, in doubles and in many digits."""

from __future__ import annotations

import cmath
import math
import zlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from workbench.verifiers.rules.nodes import Name, Node, Number, Power, Product, Sum

PRIME = 2305843009227862079
"""A prime of 62 bits that is 7 modulo 8 and modulo which 2, 3, 5 ... 59 are squares."""

_MIXING_EXPONENT = 1_000_003


class Undefined(Exception):
    """The expression has no value at this point, or none that this arithmetic can represent."""


@lru_cache(maxsize=4096)
def seed(name: str) -> int:
    """Return a fixed number for a name, in [0, 2**32)."""
    return zlib.crc32(name.encode())


def field_value(node: Node, point: Mapping[str, int]) -> int:
    """Return an expression's value modulo PRIME; every name, also π and e, is an independent variable.

    A function is replaced by an arbitrary one: if two trees agree, they are equal for any function. Square roots of
    natural numbers are those of the real numbers, except for a common sign.

    Raises:
        Undefined: a division by zero.
    """
    if isinstance(node, Number):
        value = node.value
        return value % PRIME if isinstance(value, int) else value.numerator * _inverse(value.denominator) % PRIME
    if isinstance(node, Name):
        return point[node.text]
    if isinstance(node, Sum):
        return sum([field_value(term, point) for term in node.terms]) % PRIME
    if isinstance(node, Product):
        result = 1
        for factor in node.factors:
            result = result * field_value(factor, point) % PRIME
        return result
    if isinstance(node, Power):
        return _field_power(node, point)
    mixed = seed(node.function)
    for argument in node.arguments:
        mixed = _hash_pair(mixed, field_value(argument, point))
    return mixed


def _field_power(node: Power, point: Mapping[str, int]) -> int:
    base = field_value(node.base, point)
    exponent = node.exponent
    if not isinstance(exponent, Number):
        return _hash_pair(base, field_value(exponent, point))
    value = exponent.value
    if value == 0 and base == 0:
        raise Undefined
    if isinstance(value, int):
        return pow(base, value, PRIME) if value >= 0 else pow(_inverse(base), -value, PRIME)
    root = 0
    if value.denominator == 2 and isinstance(node.base, Number):
        root = pow(base, (PRIME + 1) // 4, PRIME)
    if root * root % PRIME != base or not root:
        root = _hash_pair(base, value.denominator)
    return pow(root if value > 0 else _inverse(root), abs(value.numerator), PRIME)


def _inverse(value: int) -> int:
    if value % PRIME == 0:
        raise Undefined
    return pow(value, -1, PRIME)


def _hash_pair(first: int, second: int) -> int:
    return pow(
        (first * 0x9E3779B97F4A7C15 + second * 0xC2B2AE3D27D4EB4F + 0x165667B19E3779F9) % PRIME, _MIXING_EXPONENT, PRIME
    )


class Arithmetic:
    """Real or complex numbers of some precision, and their functions.

    Args:
        library: A module or context with ``sin``, ``exp``, ``log`` ... (math, cmath or an mpmath context).
        convert: Makes one of its numbers from a rational one.
        constants: The values of π, e and, where there is one, i.
    """

    def __init__(self, library: Any, convert: Callable[[int | Fraction], Any], constants: Mapping[str, Any]) -> None:
        self.convert = convert
        self.constants = constants
        self._exp, self._log = library.exp, library.log
        self._functions = _functions(library, convert)

    def value(self, node: Node, point: Mapping[str, Any]) -> Any:
        """Return the value where the names have the values of the point (which includes the constants).

        Raises:
            ValueError, ArithmeticError: the value does not exist or can't be represented.
        """
        if isinstance(node, Number):
            return self.convert(node.value)
        if isinstance(node, Name):
            return point[node.text]
        if isinstance(node, Sum):
            return sum([self.value(term, point) for term in node.terms])
        if isinstance(node, Product):
            return math.prod([self.value(factor, point) for factor in node.factors])
        if isinstance(node, Power):
            return self._power(node, point)
        arguments = [self.value(argument, point) for argument in node.arguments]
        function = self._functions.get(node.function)
        return self._unknown_function(node.function, arguments) if function is None else function(*arguments)

    def _power(self, node: Power, point: Mapping[str, Any]) -> Any:
        base = self.value(node.base, point)
        exponent = node.exponent
        if not isinstance(exponent, Number):
            if isinstance(node.base, Name) and node.base.text == "e":
                return self._exp(self.value(exponent, point))
            return self._any_power(base, self.value(exponent, point))
        value = exponent.value
        if value == 0 and base == 0:
            raise ZeroDivisionError("0 to the power of 0")
        if isinstance(value, int):
            return base**value
        if _is_negative(base):
            if value.denominator % 2 == 0:
                return self._even_root(base, value)
            root = (-base) ** self.convert(value)
            return -root if value.numerator % 2 else root
        return base ** self.convert(value)

    def _any_power(self, base: Any, exponent: Any) -> Any:
        if _is_negative(base) and exponent == round(exponent.real):
            return base**exponent
        return self._exp(exponent * self._log(base))

    def _even_root(self, base: Any, exponent: Fraction) -> Any:
        if "i" not in self.constants:
            raise ValueError("an even root of a negative number")
        return base ** self.convert(exponent)

    def _unknown_function(self, function: str, arguments: list[Any]) -> Any:
        angle = self.convert(Fraction(seed(function), 2**31))
        for place, argument in enumerate(arguments, 1):
            angle += self.convert(Fraction(7 * place, 11)) * argument + self.convert(Fraction(place, 13)) * argument**2
        return self._functions["cos"](angle)


def _is_negative(value: Any) -> bool:
    return bool(value.imag == 0 and value.real < 0)


def _functions(library: Any, convert: Callable[[int | Fraction], Any]) -> dict[str, Callable[..., Any]]:
    one = convert(1)
    named = {name: getattr(library, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos")}
    named |= {name: getattr(library, name) for name in ("atan", "asinh", "acosh", "atanh")}
    gamma = getattr(library, "gamma", _no_gamma)
    return named | {
        "ln": library.log,
        "cot": lambda x: one / library.tan(x),
        "sec": lambda x: one / library.cos(x),
        "csc": lambda x: one / library.sin(x),
        "coth": lambda x: one / library.tanh(x),
        "sech": lambda x: one / library.cosh(x),
        "csch": lambda x: one / library.sinh(x),
        "acot": lambda x: library.atan(one / x),
        "asec": lambda x: library.acos(one / x),
        "acsc": lambda x: library.asin(one / x),
        "abs": abs,
        "floor": lambda x: convert(int(library.floor(x))),
        "ceil": lambda x: convert(int(library.ceil(x))),
        "max": max,
        "min": min,
        "factorial": lambda x: gamma(x + one),
        "binomial": lambda n, k: gamma(n + one) / (gamma(k + one) * gamma(n - k + one)),
    }


def _no_gamma(_: Any) -> Any:
    raise ValueError("not for complex numbers")


def _double(value: int | Fraction) -> float:
    return value / 1 if isinstance(value, int) else value.numerator / value.denominator


REAL = Arithmetic(math, _double, {"π": math.pi, "e": math.e})
COMPLEX = Arithmetic(cmath, _double, {"π": math.pi, "e": math.e, "i": 1j})


@lru_cache(maxsize=16)
def high_precision(digits: int, is_complex: bool) -> Arithmetic:
    import mpmath

    context = mpmath.MPContext()
    context.dps = digits

    def convert(value: int | Fraction) -> Any:
        return context.mpf(value.numerator) / value.denominator

    constants = {"π": +context.pi, "e": +context.e}
    return Arithmetic(context, convert, constants | ({"i": context.mpc(0, 1)} if is_complex else {}))


# -- Equality of two expressions, decided by evaluating them.


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
