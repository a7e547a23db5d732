"""Answers to be computed: equality of expressions, equations and inequalities."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from workbench.verifiers.rules.evaluate import (
    COMPLEX,
    CONSTANTS,
    PRIME,
    REAL,
    SPARE_DIGITS,
    Arithmetic,
    Features,
    Undefined,
    constant,
    digits_for,
    features,
    field_point,
    field_value,
    high_precision,
    numeric_point,
    same_value,
)
from workbench.verifiers.rules.expression import Statement, statements
from workbench.verifiers.rules.forms import in_form
from workbench.verifiers.rules.nodes import (
    MINUS_ONE,
    ONE,
    Call,
    Name,
    Node,
    Number,
    negative,
    product,
    substituted,
    total,
)
from workbench.verifiers.rules.numbers import is_printed
from workbench.verifiers.rules.quantities import Quantity
from workbench.verifiers.rules.records import (
    AnswerText,
    Doubt,
    Equality,
    Expression,
    Part,
    Value,
    ValueType,
    all_of,
    any_of,
    decided,
)
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.units import Unit, split_letter, split_unit

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

# -- Whether one expression is a constant multiple of another.


_POINTS = range(5)
_ENOUGH = 2
_CLOSE = 1e-6
_CONFIRMING = 3


def proportional(first: Node, second: Node, *, positive: bool) -> bool | None:
    """Return whether the first is the second times a nonzero constant; None if undecided.

    Args:
        first: An expression.
        second: Another expression.
        positive: Whether the constant must be positive.
    """
    about = features(first, second)
    if not about.names - CONSTANTS:
        return None
    same = (
        _is_proportional_in_field(first, second, about.names)
        if about.rational
        else _is_proportional_in_numbers(first, second, about)
    )
    return _same_sign(first, second, about) if same and positive else same


def _is_proportional_in_field(first: Node, second: Node, names: frozenset[str]) -> bool | None:
    found: list[tuple[int, int]] = []
    for index in _POINTS:
        point = field_point(names, index)
        try:
            one, other = field_value(first, point), field_value(second, point)
        except Undefined:
            continue
        if (one == 0) != (other == 0) or (found and (found[0][0] * other - one * found[0][1]) % PRIME):
            return False
        found.append((one, other))
        if len(found) > _ENOUGH:
            return True
    return None


def _is_proportional_in_numbers(first: Node, second: Node, about: Features) -> bool | None:
    arithmetic = COMPLEX if "i" in about.names else REAL
    values = {index: found for index in _POINTS if (found := _values_at(first, second, arithmetic, about, index))}
    if len(values) < _ENOUGH:
        return None
    if not _have_one_ratio(list(values.values()), _CLOSE):
        return False
    digits = digits_for(about)
    exact = high_precision(digits, "i" in about.names)
    confirming = [_values_at(first, second, exact, about, index) for index in list(values)[:_CONFIRMING]]
    return _have_one_ratio(
        [found for found in confirming if found], exact.convert(Fraction(10) ** (SPARE_DIGITS - digits))
    )


def _values_at(
    first: Node, second: Node, arithmetic: Arithmetic, about: Features, index: int
) -> tuple[Any, Any] | None:
    """Return the values of both expressions at a point; None if one is undefined or 0."""
    point = numeric_point(arithmetic, about.names - CONSTANTS, index)
    try:
        one, other = arithmetic.value(first, point), arithmetic.value(second, point)
        return (one, other) if 0 < abs(one) < float("inf") and 0 < abs(other) < float("inf") else None
    except (ValueError, ArithmeticError, TypeError):
        return None


def _have_one_ratio(values: list[tuple[Any, Any]], tolerance: Any) -> bool:
    (one, other), *rest = values
    return all(abs(one * below - above * other) <= tolerance * abs(one * below) for above, below in rest)


def _same_sign(first: Node, second: Node, about: Features) -> bool | None:
    if "i" in about.names:
        return None
    found = next(filter(None, (_values_at(first, second, REAL, about, index) for index in _POINTS)), None)
    return None if found is None else bool((found[0] > 0) == (found[1] > 0))


# -- Expressions with constants of integration: equal up to the constants' names, order and, where added, value.


_CONSTANT = re.compile(r'[CcKk](?:_\w+)?|"const|[ABD]')
_SURE = re.compile(r'C(?:_\w+)?|[cK](?:_[0-9])?|"const')
_NUMBERED = re.compile(r"[Cc]_[0-9]")
_PARAMETERS_TOO = frozenset("ABD")
_PARAMETERS = frozenset("abd")
_WHOLE = frozenset("klmn")
_TURNS = (0, 1, -1, 2, -2)
_MOST = 3


class _Combination(NamedTuple):
    """``rest`` plus each constant times its part."""

    rest: Node
    parts: tuple[Node, ...]


def same_family(first: Node, second: Node, names: tuple[frozenset[str], frozenset[str]]) -> bool | None:
    r"""Return whether two expressions differ only in their free constants; None if they have none to match.

    Free constants are the constants of integration (``C``, ``C_1``, ``K`` ...) and the whole number of a period
    (``k\pi``).

    Args:
        first: An expression.
        second: Another expression.
        names: The names in each expression.
    """
    ours, theirs = _free_constants(names[0]), _free_constants(names[1])
    if not ours or len(ours) != len(theirs) or len(ours) > _MOST:
        return _same_period(first, second, names)
    if not any(_SURE.fullmatch(name) for name in ours + theirs):
        return None
    one_variable = all(len(found - CONSTANTS) == len(ours) + 1 for found in names)
    if len(ours) == 1 and _PARAMETERS_TOO & {*ours, *theirs} and not one_variable:
        return None
    one, other = _split_by_constants(first, ours), _split_by_constants(second, theirs)
    if one is None or other is None:
        return same_value(first, substituted(second, dict(zip(theirs, map(Name, ours), strict=True))))
    if len(ours) == 1 and _is_unit(one.parts[0]) and _is_unit(other.parts[0]):
        return _is_constant_difference(total([one.rest, negative(other.rest)]))
    scalable = one_variable and (len(ours) == 1 or all(_NUMBERED.fullmatch(name) for name in ours + theirs))
    return same_value(one.rest, other.rest) and any(
        all(_same_part(mine, yours, scalable) for mine, yours in zip(one.parts, order, strict=True))
        for order in permutations(other.parts)
    )


def _free_constants(names: frozenset[str]) -> list[str]:
    found = sorted(name for name in names if _CONSTANT.fullmatch(name))
    return found if any(name.islower() for name in names - CONSTANTS - {*found}) else []


def _split_by_constants(node: Node, names: list[str]) -> _Combination | None:
    zeros = dict.fromkeys(names, Number(0))
    rest = substituted(node, zeros)
    parts = [total([substituted(node, {**zeros, name: ONE}), negative(rest)]) for name in names]
    terms = [product([Name(name), part]) for name, part in zip(names, parts, strict=True)]
    return _Combination(rest, tuple(parts)) if same_value(node, total([rest, *terms])) else None


def _is_unit(node: Node) -> bool:
    return bool(same_value(node, ONE) or same_value(node, MINUS_ONE))


def _is_constant_difference(node: Node) -> bool:
    """Return whether a difference doesn't depend on its variables; if they may be parameters, whether the difference
    is 0."""
    names = features(node).names - CONSTANTS
    if _PARAMETERS & names:
        return bool(same_value(node, Number(0)))
    return bool(same_value(node, substituted(node, {name: Name(name + "′") for name in names})))


def _same_part(first: Node, second: Node, scalable: bool) -> bool:
    return bool(same_value(first, second) or (scalable and proportional(first, second, positive=False)))


def _same_period(first: Node, second: Node, names: tuple[frozenset[str], frozenset[str]]) -> bool | None:
    ours, theirs = (found - CONSTANTS for found in names)
    if len(ours) != 1 or len(theirs) != 1 or not ours | theirs <= _WHOLE or "π" not in names[0]:
        return None
    name, start = min(ours), constant(substituted(first, {min(ours): Number(0)})) or 0.0
    # For numbers that k counts, (k - 2)π is not kπ; as a set of solutions, π/4 + kπ is also kπ - 3π/4.
    turns = _TURNS if name == "k" and not math.isclose(start / math.pi, round(start / math.pi), abs_tol=1e-9) else (0,)
    shifted = (total([Name(name), Number(turn)]) for turn in turns)
    return any_of([same_value(first, substituted(second, {min(theirs): one})) for one in shifted])


Trees: TypeAlias = tuple[Node, ...]
_TURNED = {"<": ">", "≤": "≥"}


class _Relation(NamedTuple):
    sign: str
    difference: Node


def same_statements(ours: tuple[Statement, ...], theirs: tuple[Statement, ...]) -> bool | None:
    """Return whether two expressions, equations or inequalities are equal; None if undecided."""
    if ours == theirs:
        return True
    if len(ours) == len(theirs) == 1:
        return _same_statement(ours[0], theirs[0])
    found = [[_same_statement(one, other) for other in theirs] for one in ours]
    matched = [any(row) for row in found] + [any(column) for column in zip(*found, strict=True)]
    if all(matched):
        return True
    unsure = any(same is None for row in found for same in row)
    implicit = any(statement.signs and not statement.assigned for statement in ours + theirs)
    return None if unsure or implicit else False


def same_expression(first: str, second: str) -> bool | None:
    """Return whether two texts are equal; None if they can't be parsed.

    Raises:
        TooComplex: one of them is too long or too deep, or its numbers are too large.
    """
    ours, theirs = statements(first), statements(second)
    return None if ours is None or theirs is None else same_statements(ours, theirs)


def reorders_matrices(first: str, second: str) -> bool:
    """Return whether products of inverted or transposed matrices differ in their order: ``bA^{-1}``, ``A^{-1}b``."""
    ours, theirs = (_INVERTED.sub(r"\1~", text.rpartition("=")[2]) for text in (first, second))
    one, other = (sorted(_NO_LETTER.sub("", term) for term in re.split("[+−-]", text)) for text in (ours, theirs))
    return "~" in ours and "~" in theirs and one != other


_INVERTED = re.compile(r"([A-Z])\s*\^\s*\{?\s*(?:[-−]\s*1|T|H|\\top|\\intercal|\\dagger)(?![A-Za-z])\s*\}?")
_NO_LETTER = re.compile(r"\\[A-Za-z]+|[^A-Za-z~]")


def constant_of(found: tuple[Statement, ...]) -> float | None:
    """Return the value of one expression without variables, as a double."""
    if len(found) != 1 or found[0].signs or not found[0].parts[0]:
        return None
    return constant(found[0].parts[0][0])


def _same_statement(first: Statement, second: Statement) -> bool | None:
    if not first.signs and not second.signs:
        return _same_trees(first.parts[0], second.parts[0])
    if not first.signs:
        return _states_value(second, first.parts[0])
    if not second.signs:
        return _states_value(first, second.parts[0])
    if first.assigned and second.assigned and _same_quantity(first.parts[0], second.parts[0]):
        return any_of([_same_trees(one, other) for one in _stated_values(first) for other in _stated_values(second)])
    return _same_relations(first, second)


def _same_trees(first: Trees, second: Trees) -> bool | None:
    if not (first and second):
        return None
    equal = any_of(same_value(one, other) for one in first for other in second)
    if equal or (isinstance(first[0], Number) and isinstance(second[0], Number)):
        return equal
    names = features(first[0]).names, features(second[0]).names
    if same_family(first[0], second[0], names):
        return True
    return None if _word_names(names[0]) != _word_names(names[1]) else equal


def _word_names(names: Iterable[str]) -> set[str]:
    return {name for name in names if name[0] == '"'}


def _states_value(statement: Statement, value: Trees) -> bool | None:
    if not statement.equates:
        return False
    if not statement.assigned and not _same_trees(statement.parts[0], statement.parts[-1]):
        return False
    return any_of(_same_trees(part, value) for part in _stated_values(statement))


def _stated_values(statement: Statement) -> list[Trees]:
    approximated = statement.signs[-1] == "≈" and len(statement.parts) > 2
    return [statement.parts[-1], statement.parts[-2]] if approximated else [statement.parts[-1]]


def _same_quantity(first: Trees, second: Trees) -> bool:
    if not first or not second or first[0] == second[0]:
        return True
    return {type(first[0]), type(second[0])} == {Call, Name}


def _same_relations(first: Statement, second: Statement) -> bool | None:
    if not all(first.parts + second.parts):
        return None
    ours, theirs = _relations(first), _relations(second)
    found = [[_same_relation(one, other) for other in theirs] for one in ours]
    return any_of(
        all_of(row[at] for row, at in zip(found, order, strict=True)) for order in permutations(range(len(ours)))
    )


def _relations(statement: Statement) -> list[_Relation]:
    trees = [part[0] for part in statement.parts]
    if statement.equates:
        return [_Relation("=", total([trees[0], negative(trees[-1])]))]
    relations = []
    for left, sign, right in zip(trees, statement.signs, trees[1:], strict=False):
        if sign in _TURNED:
            sign, left, right = _TURNED[sign], right, left
        relations.append(_Relation(sign, total([left, negative(right)])))
    return relations


def _same_relation(first: _Relation, second: _Relation) -> bool | None:
    if first.sign != second.sign:
        return False
    ordered = first.sign in ">≥"
    multiple = proportional(first.difference, second.difference, positive=ordered)
    if multiple is not False:
        return multiple
    about = [features(relation.difference) for relation in (first, second)]
    surely = all(feature.polynomial for feature in about) and not (ordered and len(about[0].names) > 1)
    return False if surely else None


# -- Answers to be computed: expressions and equations.


_UNEVALUATED = re.compile(r"\\(?:int|iint|iiint|oint|sum|prod|lim|limsup|liminf)(?![A-Za-z])|[∫∑∏]|\blim\b")
_WORDS = re.compile(r"(?<![^\W\d_])[^\W\d_]{4,}\s+[^\W\d_]{2}")
_A_WORD = re.compile(r"[A-Za-z][A-Za-z' -]*[A-Za-z]")
_LONG_WORD = re.compile(r"(?<![\\A-Za-z])(?!(?:arc)?(?:sinh?|cosh?|tanh?|sqrt)(?![A-Za-z]))[A-Za-z]{4,}")
_OPERATOR = re.compile(r"[\\^_+*/=()!-]")
_TIMES = re.compile(r"\\cdot|\\times|[*·×{}\s]")
_CAPITALS = re.compile("[A-Z]")


def _read_expression(source: AnswerText, reader: AnswerReader) -> Value | None:
    text, question = source.text, reader.question
    if question.type == "D" and "\\" not in text:
        return None
    if question.type not in ("A", "B") and (_A_WORD.fullmatch(text) or _LONG_WORD.search(text)):
        return None
    measured = split_unit(source.raw)
    if measured is None and (lettered := split_letter(text)) and question.measures_in(lettered[1]):
        measured = lettered
    if measured is not None and measured[1].dropped:
        return _parse_expression(tidy(measured[0]), measured[1])
    return _parse_expression(text)


def _parse_expression(text: str, its: Unit | None = None) -> Expression | None:
    said = statements(text)
    if said is None and (_WORDS.search(text) or not _OPERATOR.search(text)):
        return None
    return Expression(said, its, text if its else "")


_ORDER = re.compile(r"\^\s*\{?\(\d+\)")
_SPAN = re.compile(r"\d+\s?[-–—]\s?\d+")
"""A range such as 1861–1865."""
_CROSS = re.compile(r"(?:×|\\times(?![A-Za-z]))\s*[\\A-Za-z(]")
_VECTOR = re.compile(r"\\(?:vec|mathbf)(?![A-Za-z])|[u-w]\s*(?:×|\\times)\s*[u-w](?![A-Za-z])")


def compared_as_expressions(one: Part[Any], other: Part[Any], with_: Comparison) -> Equality | None:
    scale = _conversion_factor(_unit_of(one), _unit_of(other), with_)
    if scale is None:
        return Equality(False, "quantity.differs")
    if ("\\vec" in one.text) != ("\\vec" in other.text):
        one, other = map(_without_arrows, (one, other))
    ours, theirs = _scaled_statements(one, Number(1)), _scaled_statements(other, scale)
    if ours is None or theirs is None:
        return _compare_by_sympy(one, other, with_)
    equal = same_statements(ours, theirs)
    if equal is False and (_is_printed(one, theirs) or _is_printed(other, ours)):
        exact = with_.question.exact
        return Equality(not exact, "number.differs" if exact else "number.rounding")
    if equal and not in_form(one.text, other.text, with_):
        return Equality(False, "expression.form")
    if equal and (
        (with_.question.matrices and not _is_same_order(one.text, other.text))
        or _marks_of(one.text, with_) != _marks_of(other.text, with_)
        or (_marks_of(one.text, with_)[1] and _letters(one.text) != _letters(other.text))
        or (one.text != other.text and all(map(_SPAN.fullmatch, (one.text, other.text))))
    ):
        raise Doubt("alike")
    if equal is None:
        return _compare_by_sympy(one, other, with_)
    if equal is not None and (measured := [unit for unit in (_unit_of(one), _unit_of(other)) if unit is not None]):
        return Equality(equal, "quantity.unit_dropped" if len(measured) == 1 else "quantity.convert")
    related = bool(ours[0].signs) and bool(theirs[0].signs)
    return Equality(equal, "equation" if related else "expression")


def _is_same_order(one: str, other: str) -> bool:
    several = len(set(_CAPITALS.findall(f"{one} {other}"))) > 1
    return not several or _TIMES.sub("", one.rpartition("=")[2]) == _TIMES.sub("", other.rpartition("=")[2])


def _letters(formula: str) -> str:
    """Return the letters of a formula's right side in their order."""
    return _NO_LETTER.sub("", formula.rpartition("=")[2])


def _without_arrows(part: Part[Any]) -> Part[Any]:
    text = part.text.replace("\\vec", "")
    return part if text == part.text else part._replace(text=text, value=Expression(statements(text)))


def _marks_of(text: str, with_: Comparison) -> tuple[bool, bool]:
    """Return whether a formula has a derivative of a numbered order, and a cross product of vectors."""
    of_vectors = with_.question.vectors or with_.question.of_vectors or _VECTOR.search(text) is not None
    return _ORDER.search(text) is not None, of_vectors and _CROSS.search(text) is not None


def _unit_of(part: Part[Any]) -> Unit | None:
    value = part.value
    if isinstance(value, Quantity):
        return value.unit if value.unit and value.unit.dropped else None
    return value.unit if isinstance(value, Expression) else None


def is_bare(part: Part[Any]) -> bool:
    return part.value.is_number if isinstance(part.value, Quantity) else _unit_of(part) is None


def _conversion_factor(one: Unit | None, other: Unit | None, with_: Comparison) -> Node | None:
    if one is None or other is None:
        only = one or other
        return None if only is not None and not with_.question.may_be_in(only) else Number(1)
    if one.dimensions != other.dimensions or ((one.offset or other.offset) and one != other):
        return None
    factor = other.factor / one.factor
    pi = [Name("π")] * (other.pi - one.pi) if other.pi > one.pi else []
    return product([Number(int(factor) if factor.denominator == 1 else factor), *pi])


def _scaled_statements(part: Part[Any], scale: Node) -> tuple[Statement, ...] | None:
    value = part.value
    if isinstance(value, Quantity) and not part.name and (value.is_number or (value.unit and value.unit.dropped)):
        number = value.number.value
        tree = product([Number(int(number) if number.denominator == 1 else number), *[Name("π")] * value.pi])
        return (Statement(((product([scale, tree]),),), (), False),)
    said = value.said if isinstance(value, Expression) else statements(part.text)
    if said is None or scale == Number(1):
        return said
    if any(statement.signs and not statement.assigned for statement in said):
        return None
    return tuple(
        statement._replace(parts=(*statement.parts[:-1], tuple(product([scale, tree]) for tree in statement.parts[-1])))
        for statement in said
    )


def _is_printed(part: Part[Any], theirs: tuple[Statement, ...]) -> bool:
    if not isinstance(part.value, Quantity) or not part.value.number.step or len(part.text) <= 14:
        return False
    value = constant_of(theirs)
    return value is not None and is_printed(part.value.number, value)


def _compare_by_sympy(one: Part[Any], other: Part[Any], with_: Comparison) -> Equality | None:
    if (_UNEVALUATED.search(one.text) is None) != (_UNEVALUATED.search(other.text) is None):
        return Equality(False, "expression.unevaluated")
    equal = with_.symbolic(one.text, other.text)
    if equal and not in_form(one.text, other.text, with_):
        return Equality(False, "expression.form")
    return decided(equal, "symbolic")


EXPRESSION = ValueType(_read_expression, {(Expression, Expression): compared_as_expressions})
