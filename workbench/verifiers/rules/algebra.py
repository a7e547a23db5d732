"""Answers to be computed: expressions and equations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from workbench.verifiers.rules.equality import Doubt, Equality, decided
from workbench.verifiers.rules.equations import constant_of, same_statements
from workbench.verifiers.rules.forms import in_form
from workbench.verifiers.rules.nodes import Name, Node, Number, product
from workbench.verifiers.rules.numbers import is_printed
from workbench.verifiers.rules.quantities import Quantity
from workbench.verifiers.rules.records import AnswerText, Expression, Part, Value, ValueType
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.statements import Statement, statements
from workbench.verifiers.rules.units import Unit, split_letter, split_unit

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

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


def compared_as_expressions(one: Part[Any], other: Part[Any], with_: Comparison) -> Equality | None:
    scale = _conversion_factor(_unit_of(one), _unit_of(other), with_)
    if scale is None:
        return Equality(False, "quantity.differs")
    ours, theirs = _scaled_statements(one, Number(1)), _scaled_statements(other, scale)
    if ours is None or theirs is None:
        return _compare_by_sympy(one, other, with_)
    equal = same_statements(ours, theirs)
    if equal is False and (_is_printed(one, theirs) or _is_printed(other, ours)):
        exact = with_.question.exact
        return Equality(not exact, "number.differs" if exact else "number.rounding")
    if equal and not in_form(one.text, other.text, with_):
        return Equality(False, "expression.form")
    if equal and with_.question.matrices and not _is_same_order(one.text, other.text):
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
