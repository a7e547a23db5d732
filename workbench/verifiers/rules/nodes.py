"""Expression trees and the constructors that build them.

Sums and products are flat, a quotient is a product with a power -1, and rational subexpressions are computed at once
and exactly, so two rational constants are equal exactly if their nodes are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias

from msgspec import Struct

from workbench.verifiers.rules.spelling import NotUnderstood, TooComplex

MAX_SIZE = 10_000
"""Maximum bits of a numerator or denominator."""
MAX_POWER = 10**6
"""Maximum exponent of a base that isn't a number."""
MAX_FACTORIAL = 999
MAX_BINOMIAL_DIGITS = 4
_SMALL_ROOT = 2**53


class Number(Struct, frozen=True, gc=False):
    """A rational number: an int, or a Fraction whose denominator isn't 1."""

    value: int | Fraction


class Name(Struct, frozen=True, gc=False):
    """A variable, or one of the constants π, e and i."""

    text: str


class Sum(Struct, frozen=True):
    terms: tuple[Node, ...]


class Product(Struct, frozen=True):
    factors: tuple[Node, ...]


class Power(Struct, frozen=True):
    """A base raised to an exponent; a root is an exponent 1/n."""

    base: Node
    exponent: Node


class Call(Struct, frozen=True):
    """A function of its arguments; an unknown name is an arbitrary function."""

    function: str
    arguments: tuple[Node, ...]


Node: TypeAlias = Number | Name | Sum | Product | Power | Call

ONE = Number(1)
MINUS_ONE = Number(-1)
IMAGINARY = Name("i")


def number(value: int | Fraction) -> Number:
    """Return a rational number in its canonical form.

    Raises:
        TooComplex: The number is too large to be written by hand.
    """
    if isinstance(value, Fraction):
        if value.denominator == 1:
            value = value.numerator
        elif value.denominator.bit_length() > MAX_SIZE:
            raise TooComplex("a very large denominator")
    if value.numerator.bit_length() > MAX_SIZE:
        raise TooComplex("a very large number")
    return Number(value)


def total(terms: list[Node]) -> Node:
    if len(terms) == 1:
        return terms[0]
    constant: int | Fraction = 0
    others: list[Node] = []
    for term in terms:
        if isinstance(term, Number):
            constant = number(constant + term.value).value
        else:
            others.append(term)
    if constant or not others:
        others.append(number(constant))
    return others[0] if len(others) == 1 else Sum(tuple(others))


def product(factors: list[Node]) -> Node:
    if len(factors) == 1:
        return factors[0]
    constant: int | Fraction = 1
    others: list[Node] = []
    for factor in factors:
        if isinstance(factor, Number):
            constant = number(constant * factor.value).value
        else:
            others.append(factor)
    if constant != 1 or not others:
        others.insert(0, number(constant))
    return others[0] if len(others) == 1 else Product(tuple(others))


def negative(node: Node) -> Node:
    return product([MINUS_ONE, node])


def quotient(numerator: Node, denominator: Node) -> Node:
    return product([numerator, power(denominator, MINUS_ONE)])


def negative_if(condition: bool, node: Node) -> Node:
    return negative(node) if condition else node


def power(base: Node, exponent: Node) -> Node:
    """Return a base raised to an exponent; exact if both are rational and so is the result.

    Raises:
        TooComplex: The result would be too large to write out.
    """
    if not isinstance(exponent, Number):
        return Power(base, exponent)
    value = exponent.value
    if value == 1:
        return base
    if isinstance(base, Number):
        return _rational_power(base, value)
    if not -MAX_POWER <= value <= MAX_POWER:
        raise TooComplex("a very large exponent")
    return Power(base, exponent)


def _rational_power(base: Number, exponent: int | Fraction) -> Node:
    value = base.value
    if value == 0:
        return base if exponent > 0 else Power(base, Number(exponent))
    size = max(value.numerator.bit_length(), value.denominator.bit_length())
    if value != -1 and size * abs(exponent.numerator) > 2 * MAX_SIZE * exponent.denominator:
        raise TooComplex("a very large power")
    if isinstance(exponent, int):
        return number(value**exponent if exponent >= 0 else Fraction(1) / value**-exponent)
    degree = exponent.denominator
    if value < 0:
        return _negative_root(number(-value), exponent)
    top, bottom = _exact_root(value.numerator, degree), _exact_root(value.denominator, degree)
    if top is None or bottom is None:
        return Power(base, Number(exponent))
    return power(number(Fraction(top, bottom)), Number(exponent.numerator))


def _negative_root(magnitude: Number, exponent: Fraction) -> Node:
    if exponent.denominator % 2:
        return negative_if(exponent.numerator % 2 == 1, power(magnitude, Number(exponent)))
    if exponent.denominator > 2:
        raise NotUnderstood("an even root of a negative number")
    return product([power(IMAGINARY, Number(exponent.numerator)), power(magnitude, Number(exponent))])


def _exact_root(value: int, degree: int) -> int | None:
    if degree == 2:
        root = math.isqrt(value)
    elif value < _SMALL_ROOT:
        root = round(value ** (1 / degree))
    else:
        return None
    return root if root**degree == value else None


def call(function: str, arguments: list[Node]) -> Node:
    """Apply a function; exact if that is easy.

    Raises:
        NotUnderstood: A factorial or binomial coefficient is undefined for its arguments.
        TooComplex: A factorial or binomial coefficient has too large numbers.
    """
    first = arguments[0]
    if function == "exp":
        return power(Name("e"), first)
    if function == "cis":
        return power(Name("e"), product([IMAGINARY, first]))
    if function == "sqrt":
        return power(first, Number(Fraction(1, 2)))
    if function in ("max", "min") and len(arguments) == 1:
        return first
    if all(isinstance(argument, Number) for argument in arguments):
        values = [argument.value for argument in arguments if isinstance(argument, Number)]
        if function in _EXACT:
            return number(_EXACT[function](*values))
    return Call(function, tuple(arguments))


def _factorial(value: int | Fraction) -> int:
    if not isinstance(value, int) or value < 0:
        raise NotUnderstood("the factorial of something other than a natural number")
    if value > MAX_FACTORIAL:
        raise TooComplex("the factorial of a large number")
    return math.factorial(value)


def _binomial(upper: int | Fraction, lower: int | Fraction) -> int:
    if not isinstance(upper, int) or not isinstance(lower, int) or upper < 0 or lower < 0:
        raise NotUnderstood("a binomial coefficient of something other than natural numbers")
    if max(upper, lower) >= 10**MAX_BINOMIAL_DIGITS:
        raise TooComplex("a binomial coefficient of large numbers")
    return math.comb(upper, lower)


_EXACT: dict[str, Callable[..., int | Fraction]] = {
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "max": max,
    "min": min,
    "factorial": _factorial,
    "binomial": _binomial,
}


def substituted(node: Node, values: Mapping[str, Node]) -> Node:
    if isinstance(node, Number):
        return node
    if isinstance(node, Name):
        return values.get(node.text, node)
    if isinstance(node, Sum):
        return total([substituted(term, values) for term in node.terms])
    if isinstance(node, Product):
        return product([substituted(factor, values) for factor in node.factors])
    if isinstance(node, Power):
        return power(substituted(node.base, values), substituted(node.exponent, values))
    return call(node.function, [substituted(argument, values) for argument in node.arguments])
