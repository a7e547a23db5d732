"""Comparers of numbers and what stands behind them, and of what is to be worked out."""

from __future__ import annotations

import re
from math import gcd, isqrt
from typing import TYPE_CHECKING, Any

from workbench.verifiers.rules.calendar import Moment, same_moment
from workbench.verifiers.rules.equality import DIFFERENT, Doubt, Equality, Table
from workbench.verifiers.rules.equations import constant_of, same_statements
from workbench.verifiers.rules.nodes import Name, Node, Number, product
from workbench.verifiers.rules.numbers import is_printed
from workbench.verifiers.rules.quantities import Based, Quantity, Ratio, ratio, same_based, same_quantity, same_ratio
from workbench.verifiers.rules.records import (
    Alternatives,
    DigitCode,
    Expression,
    Part,
    Reaction,
    Region,
    ResidueClass,
    Text,
)
from workbench.verifiers.rules.sense import (
    words,
)
from workbench.verifiers.rules.statements import Statement, statements
from workbench.verifiers.rules.tokens import NotUnderstood
from workbench.verifiers.rules.units import Unit

_TOKEN = re.compile(r"\\[A-Za-z]+|\d+(?:\.\d+)?|[^\s{}]")
_UNEVALUATED = re.compile(r"\\(?:int|iint|iiint|oint|sum|prod|lim|limsup|liminf)(?![A-Za-z])|[∫∑∏]|\blim\b")
_FRACTION = re.compile(
    r"\\[dt]?frac\s*\{?\s*(\d{1,9})\s*\}?\s*\{?\s*(\d{1,9})\s*\}?|(?<![\d.])(\d{1,9})\s*[/:]\s*(\d{1,9})(?![\d.])"
)

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
_ROOT = re.compile(r"(?:\\sqrt\s*|√)(?:\{\s*(\d{1,9})\s*\}|(\d{1,9}))")
_ROOT_BELOW = re.compile(r"\\[dt]?frac\s*(?:\{[^{}]*\}|\d)\s*\{[^{}]*\\sqrt|/\s*\(?[^()]{0,6}(?:\\sqrt|√)")
_TIMES = re.compile(r"\\cdot|\\times|[*·×{}\s]")
_CAPITALS = re.compile("[A-Z]")
_LARGEST_FACTOR = 1_000
_MANTISSA = re.compile(r"\A[-−]?[1-9](?:\.\d+)?(?![\d.])")
_IS_FRACTION = re.compile(r"\\[dt]?frac|\d\s?/\s?\d|[½¼¾⅐-⅞]")
_DECIMALS = re.compile(r"\d+\.\d+")
_MUCH_LONGER, _MARGIN = 2, 3


def _quantities(one: Part[Quantity], other: Part[Quantity], with_: Comparison) -> Equality | None:
    first, second = one.value, other.value
    question = with_.question
    if one.name and other.name and one.name != other.name:
        return compared_as_expressions(one, other, with_)
    if question.type == "D" and _DECIMALS.fullmatch(one.text) and _DECIMALS.fullmatch(other.text):
        # Of strings, 1.10 is not 1.1.
        return DIFFERENT
    found = same_quantity(first, second, question.asked)
    if found is None:
        if first.word or second.word:
            return Equality(False, "quantity.differs")
        if first.doubtful or second.doubtful:
            return None
        return compared_as_expressions(one, other, with_)
    equality = Equality(*found)
    if equality.equal and not _in_form(one.text, other.text, with_):
        return Equality(False, "expression.form")
    if equality.rule == "number.rounding" and question.exact:
        return Equality(False, "number.differs")
    if equality.equal:
        return _same_thing(one, other, first, second, equality, with_)
    return equality


def _same_thing(
    one: Part[Any], other: Part[Any], first: Quantity, second: Quantity, equality: Equality, with_: Comparison
) -> Equality:
    """Two equal amounts, unless they are of other things: cents for dollars, girls for boys, minutes for metres."""
    question = with_.question
    if equality.rule == "quantity.unit_dropped":
        only = first if second.is_number else second
        if only.unit is not None and (question.asked.percent or not question.may_be_in(only.unit)):
            return Equality(False, "quantity.differs")
        if only.name.startswith("per ") and "per" not in words(question.text):
            raise Doubt("alike")
        if only.unit is None and question.type in (None, "A") and question.counts_other(only.word):
            raise Doubt("alike")
    about = {first.name: second.name, second.name: first.name}
    either = first.unit and second.unit and first.unit != second.unit and "m" in about
    if either and about["m"][:3] == "min" and not question.of_time:
        raise Doubt("alike")
    return equality


def _based_numbers(one: Part[Based], other: Part[Based], with_: Comparison) -> Equality | None:
    return Equality(one.value.value == other.value.value, "base")


def _based_and_bare(one: Part[Based], other: Part[Any], with_: Comparison) -> Equality | None:
    same = same_based(one.value, other.text, with_.question.asked.base)
    return None if same is None else Equality(same, "base")


def _ratios(one: Part[Ratio], other: Part[Any], with_: Comparison) -> Equality | None:
    second = other.value if isinstance(other.value, Ratio) else ratio(other.text, in_words=True)
    if second is None:
        return DIFFERENT
    same = same_ratio(one.value, second)
    if same and not _in_form(one.text, other.text, with_):
        return Equality(False, "expression.form")
    return Equality(same, "number.ratio")


def _moments(one: Part[Moment], other: Part[Moment], with_: Comparison) -> Equality | None:
    found = same_moment(one.value, other.value)
    return None if found is None else Equality(*found)


def _not_a_moment(one: Part[Moment], other: Part[Any], with_: Comparison) -> Equality | None:
    return Equality(False, "date.other")


def _codes(one: Part[DigitCode], other: Part[Any], with_: Comparison) -> Equality | None:
    return Equality(False, "number.code") if other.text.isdigit() else DIFFERENT


# -- What is to be worked out.


def compared_as_expressions(one: Part[Any], other: Part[Any], with_: Comparison) -> Equality | None:
    """Numbers, expressions, equations and inequalities, by their values."""
    scale = _scale_between(_unit_of(one), _unit_of(other), with_)
    if scale is None:
        return Equality(False, "quantity.differs")
    ours, theirs = _statements(one, Number(1)), _statements(other, scale)
    if ours is None or theirs is None:
        return _by_algebra(one, other, with_)
    equal = same_statements(ours, theirs)
    if equal is False and (_is_printed(one, theirs) or _is_printed(other, ours)):
        exact = with_.question.exact
        return Equality(not exact, "number.differs" if exact else "number.rounding")
    if equal and not _in_form(one.text, other.text, with_):
        return Equality(False, "expression.form")
    if equal and with_.question.matrices and not _same_order(one.text, other.text):
        raise Doubt("alike")
    if equal is None:
        return _by_algebra(one, other, with_)
    if equal is not None and (measured := [unit for unit in (_unit_of(one), _unit_of(other)) if unit is not None]):
        return Equality(equal, "quantity.unit_dropped" if len(measured) == 1 else "quantity.convert")
    related = bool(ours[0].signs) and bool(theirs[0].signs)
    return Equality(equal, "equation" if related else "expression")


def _same_order(one: str, other: str) -> bool:
    """Whether products of matrices are written in one order, which the trees don't keep."""
    several = len(set(_CAPITALS.findall(f"{one} {other}"))) > 1
    return not several or _TIMES.sub("", one.rpartition("=")[2]) == _TIMES.sub("", other.rpartition("=")[2])


def _unit_of(part: Part[Any]) -> Unit | None:
    value = part.value
    if isinstance(value, Quantity):
        return value.unit if value.unit and value.unit.dropped else None
    return value.unit if isinstance(value, Expression) else None


def _scale_between(one: Unit | None, other: Unit | None, with_: Comparison) -> Node | None:
    """What the second value is multiplied by to be in the first one's unit; None where the units don't go together."""
    if one is None or other is None:
        only = one or other
        return None if only is not None and not with_.question.may_be_in(only) else Number(1)
    if one.dimensions != other.dimensions or ((one.offset or other.offset) and one != other):
        return None
    factor = other.factor / one.factor
    pi = [Name("π")] * (other.pi - one.pi) if other.pi > one.pi else []
    return product([Number(int(factor) if factor.denominator == 1 else factor), *pi])


def _statements(part: Part[Any], scale: Node) -> tuple[Statement, ...] | None:
    """What a part says, times a factor; None where it is not understood."""
    value = part.value
    if isinstance(value, Quantity) and not part.name and (value.is_number or (value.unit and value.unit.dropped)):
        number = value.number.value
        tree = product([Number(int(number) if number.denominator == 1 else number), *[Name("π")] * value.pi])
        return (Statement(((product([scale, tree]),),), (), False),)
    if isinstance(value, Expression):
        said = value.said
    else:
        try:
            said = statements(part.text)
        except NotUnderstood:
            return None
    if said is None or scale == Number(1):
        return said
    if any(statement.signs for statement in said):
        return None
    return tuple(
        statement._replace(parts=(tuple(product([scale, tree]) for tree in statement.parts[0]),)) for statement in said
    )


def _is_printed(part: Part[Any], theirs: tuple[Statement, ...]) -> bool:
    """Whether a part is the decimal that a program prints of the other's value."""
    if not isinstance(part.value, Quantity) or not part.value.number.step or len(part.text) <= 14:
        return False
    value = constant_of(theirs)
    return value is not None and is_printed(part.value.number, value)


def _in_form(ours: str, theirs: str, with_: Comparison) -> bool:
    """Whether two equal expressions both have, or both lack, the form the question asks for.

    A question to simplify is not answered by what is much longer, one to factor not by a sum.
    """
    form, asked = with_.question.form, with_.question.text
    if "scientific notation" in asked and _MANTISSA.search(ours) and not _MANTISSA.search(theirs):
        return False
    if "as a fraction" in asked and _IS_FRACTION.search(ours) and not _IS_FRACTION.search(theirs):
        return False
    if with_.question.reduced and _is_reduced(ours) != _is_reduced(theirs):
        return False
    if "denominator" in with_.question.text and _ROOT_BELOW.search(ours) is None and _ROOT_BELOW.search(theirs):
        return False
    if form == "simplif":
        shorter, longer = sorted(len(_TOKEN.findall(text)) for text in (ours, theirs))
        return longer <= _MUCH_LONGER * shorter + _MARGIN
    return form != "factor" or (
        _is_sum(ours) == _is_sum(theirs)
        and (theirs.count("(") >= ours.count("(") or "completely" not in with_.question.text)
    )


def _is_reduced(text: str) -> bool:
    """Whether no fraction, ratio or root of whole numbers in a text can be made simpler."""
    pairs = [(int(found[1] or found[3]), int(found[2] or found[4])) for found in _FRACTION.finditer(text)]
    roots = [int(found[1] or found[2]) for found in _ROOT.finditer(text)]
    return all(gcd(*pair) == 1 for pair in pairs) and not any(
        root % (factor * factor) == 0 for root in roots for factor in range(2, min(isqrt(root), _LARGEST_FACTOR) + 1)
    )


def _is_sum(text: str) -> bool:
    """Whether a plus or minus stands between terms outside all brackets."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and at and sign in "+-":
            return True
    return False


def _by_algebra(one: Part[Any], other: Part[Any], with_: Comparison) -> Equality | None:
    """What the rules' own parser can't read or decide."""
    if (_UNEVALUATED.search(one.text) is None) != (_UNEVALUATED.search(other.text) is None):
        return Equality(False, "expression.unevaluated")
    equal = with_.symbolic(one.text, other.text)
    return None if equal is None else Equality(equal, "symbolic")


def _residues(one: Part[ResidueClass], other: Part[ResidueClass], with_: Comparison) -> Equality | None:
    return Equality(one.value == other.value, "equation")


def _residue_and_number(one: Part[ResidueClass], other: Part[Quantity], with_: Comparison) -> Equality | None:
    """A remainder is the number that what it is congruent to has; where all solutions are asked for, it is only one."""
    equal = other.value.is_number and other.value.number.value == one.value.remainder
    if equal and not with_.question.remainder:
        raise Doubt("semantic")
    return Equality(equal, "number.exact" if equal else "number.differs")


def _reactions(one: Part[Reaction], other: Part[Reaction], with_: Comparison) -> Equality | None:
    verdicts = [with_.same(a, b) for a, b in zip(one.value.sides, other.value.sides, strict=True)]
    return None if None in verdicts else Equality(all(verdicts), "equation.arrow")


def _chains(one: Part[Alternatives], other: Part[Any], with_: Comparison) -> Equality | None:
    """One of an exact and a rounded value that fits is enough."""
    ours = one.value.parts
    theirs = other.value.parts if isinstance(other.value, Alternatives) else (other,)
    if with_.turned and with_.question.asks_roughly and isinstance(other.value, Quantity) and other.value.number.step:
        # Where a rounding is asked for, the rounded value is the answer.
        ours = ours[-1:]
    verdicts = [with_.compare(mine, yours) for mine in ours for yours in theirs]
    return next((verdict for verdict in verdicts if verdict and verdict.equal), verdicts[0] if verdicts else None)


NUMBERS: Table = {
    (Quantity, Quantity): _quantities,
    (Quantity, Expression): compared_as_expressions,
    (Expression, Expression): compared_as_expressions,
    (Based, Based): _based_numbers,
    (Based, Quantity): _based_and_bare,
    (Based, Expression): _based_and_bare,
    (Based, Text): _based_and_bare,
    (Ratio, Ratio): _ratios,
    (Ratio, Quantity): _ratios,
    (Ratio, Text): _ratios,
    (Moment, Moment): _moments,
    (ResidueClass, ResidueClass): _residues,
    (ResidueClass, Quantity): _residue_and_number,
    (Reaction, Reaction): _reactions,
    (Region, Expression): compared_as_expressions,
    (Alternatives, object): _chains,
    (Moment, object): _not_a_moment,
    (DigitCode, object): _codes,
}
