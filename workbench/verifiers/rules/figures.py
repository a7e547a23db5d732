"""Numbers, with the text after them: quantities, bases, ratios, residue classes, codes."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.verifiers.rules.calendar import Moment
from workbench.verifiers.rules.conclusions import sentences
from workbench.verifiers.rules.equations import compared_as_expressions
from workbench.verifiers.rules.forms import in_form
from workbench.verifiers.rules.quantities import (
    Based,
    Quantity,
    Ratio,
    RequiredForm,
    is_reduced,
    parse_marked_base,
    quantity,
    ratio,
    same_based,
    same_quantity,
    same_ratio,
)
from workbench.verifiers.rules.records import (
    DIFFERENT,
    Alternatives,
    AnswerText,
    DigitCode,
    Doubt,
    Equality,
    Expression,
    Part,
    Text,
    Value,
    ValueType,
    by_value,
    decided,
)
from workbench.verifiers.rules.sense import words
from workbench.verifiers.rules.spelling import APPROXIMATELY, TooComplex, plain
from workbench.verifiers.rules.units import MAX_UNIT, Unit, unit_powers

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.question import TypedQuestion
    from workbench.verifiers.rules.reading import AnswerReader

_BITS = re.compile(r"(?:0b)?(?:[01]{4,}|(?:[01]{4}(?:\\?[ _]|(?=\Z)))+)(?:_\{?2\}?)?")
_LEADING_ZERO = re.compile(r"0\d+")
_ZERO_MEMBER = re.compile(r"-?\d{1,3},0\d?|-?0,0\d*(?:\s?[A-Za-z]{1,3})?|0\d+,\d+")
_MAX_CHAINED = 4


class Measure(NamedTuple):
    """A unit as an answer: the powers of its base units."""

    powers: frozenset[tuple[Unit, int]]


def _read_chain(source: AnswerText, reader: AnswerReader) -> Value | None:
    if APPROXIMATELY.search(source.text) is None:
        return None
    pieces = [piece for piece in APPROXIMATELY.split(source.text) if piece.strip()]
    if len(pieces) > _MAX_CHAINED:
        raise TooComplex("a long chain of roundings")
    parts = [reader.typed(piece, source.depth) for piece in pieces]
    known = tuple(part for part in parts if part is not None)
    return Alternatives(known) if len(known) == len(parts) else None


def _read_code(source: AnswerText, reader: AnswerReader) -> Value | None:
    if reader.question.of_bits and _BITS.fullmatch(source.text):
        return DigitCode(re.sub(r"0b|_\{?2\}?\Z|\D", "", source.text))
    return DigitCode(source.text) if reader.question.codes and _LEADING_ZERO.fullmatch(source.text) else None


def _read_decimal_comma(source: AnswerText, reader: AnswerReader) -> Value | None:
    """Read ``3,05`` as a decimal, since a list would not have the member 05."""
    text = source.text.replace("{,}", ",")
    if source.depth or "," not in text or not _ZERO_MEMBER.fullmatch(text):
        return None
    return quantity(text.replace(",", "."))


def _read_ratio(source: AnswerText, reader: AnswerReader) -> Value | None:
    head, _, text = source.text.rpartition("=")
    found = ratio(text, in_words=reader.question.required.ratio and " to " in text)
    if found is not None:
        return _reorder_ratio(found, head.casefold().split(":"), reader.question)
    one, sign, other = text.partition(":")
    if sign and other and ":" not in other and reader.question.required.ratio:
        quotient = reader.part(f"({one})/({other})", source.depth + 1).value
        return quotient if isinstance(quotient, Expression) else None
    return None


def _reorder_ratio(found: Ratio, labels: list[str], question: TypedQuestion) -> Ratio | None:
    """Return a ratio in the order in which the question names its labels: girls : boys = 3 : 2 as 2 : 3."""
    if len(labels) == 1:
        return None if labels[0].strip() else found
    asked = sentences(question.text)[-1].casefold()
    places = [asked.rfind(label.strip()) for label in labels]
    if len(places) != len(found.terms) or min(places) < 0 or len(set(places)) < len(places):
        return None
    return Ratio(tuple(term for _, term in sorted(zip(places, found.terms, strict=True))))


def _read_based(source: AnswerText, reader: AnswerReader) -> Value | None:
    return parse_marked_base(source.text)


def _read_measure(source: AnswerText, reader: AnswerReader) -> Value | None:
    if not reader.question.of_units or reader.question.options or len(source.raw) > MAX_UNIT:
        return None
    powers = unit_powers(plain(source.raw))
    return Measure(frozenset(powers.items())) if powers else None


def _compare_quantities(one: Part[Quantity], other: Part[Quantity], with_: Comparison) -> Equality | None:
    question = with_.question
    first, second = (
        _in_requested_unit(one.value, other.value, question),
        _in_requested_unit(other.value, one.value, question),
    )
    if one.name and other.name and one.name != other.name:
        return compared_as_expressions(one, other, with_)
    if (
        question.type == "D"
        and first.number.places != second.number.places
        and (question.of_code or (first.is_number and second.is_number and first.number.step and second.number.step))
    ):
        # Of strings, 1.10 is not 1.1.
        return DIFFERENT
    leniency = with_.reader.leniency
    if leniency.units == "required" and one.value.unit is not None and other.value.is_number:
        return Equality(False, "quantity.unit_missing")
    near = leniency.near(first, second)
    found = same_quantity(first, near, question.required if first.unit or near.unit else RequiredForm())
    if found is None:
        if first.word or second.word:
            return Equality(False, "quantity.differs")
        if first.doubtful or second.doubtful:
            return None
        return compared_as_expressions(one, other, with_)
    equality = Equality(*found)
    if not equality.equal and question.asks_change and _have_other_zeros(one.value.unit, other.value.unit):
        # A difference of 15 °C is one of 15 K.
        raise Doubt("alike")
    if equality.equal and not in_form(one.text, other.text, with_):
        return Equality(False, "expression.form")
    if equality.rule == "number.rounding" and question.exact:
        return Equality(False, "number.differs")
    if equality.rule == "number.rounding" and question.rounds_to and first.number.step and second.number.step:
        raise Doubt("alike")
    if equality.equal:
        equality = _check_same_thing(one, other, first, second, equality, with_)
    return equality if near is second or not equality.equal else Equality(True, "number.tolerance")


def _have_other_zeros(one: Unit | None, other: Unit | None) -> bool:
    return one is not None and other is not None and one.offset != other.offset


def _in_requested_unit(number: Quantity, other: Quantity, question: TypedQuestion) -> Quantity:
    if number.is_number and number.number.value < 0 and other.word == "bce":
        return number._replace(number=number.number.times(Fraction(-1)), word="bce")
    asked = question.requested_units(other.unit) if number.is_number and other.unit and other.unit.dimensions else []
    return number._replace(unit=asked[0]) if len(asked) == 1 else number


def _check_same_thing(
    one: Part[Any], other: Part[Any], first: Quantity, second: Quantity, equality: Equality, with_: Comparison
) -> Equality:
    """Accept two equal amounts unless they are of different things: cents for dollars, girls for boys."""
    question = with_.question
    its, wanted = (one.value.unit, other.value.unit) if with_.turned else (other.value.unit, one.value.unit)
    is_given = its is not None and its in question.given_units and its not in question.requested_units(its)
    if is_given and its != wanted and question.converts:
        raise Doubt("alike")
    if equality.rule == "quantity.unit_dropped":
        only = first if second.is_number else second
        if only.unit is not None and (question.required.percent or not question.may_be_in(only.unit)):
            return Equality(False, "quantity.differs")
        if only.word == ("our era" if question.before_christ else "bce"):
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


def _compare_based_and_bare(one: Part[Based], other: Part[Any], with_: Comparison) -> Equality | None:
    return decided(same_based(one.value, other.text, with_.question.required.base), "base")


def _compare_ratios(one: Part[Ratio], other: Part[Any], with_: Comparison) -> Equality | None:
    second = other.value if isinstance(other.value, Ratio) else ratio(other.text, in_words=True)
    if second is None:
        return DIFFERENT
    same = same_ratio(one.value, second)
    asked = with_.question.reduced and with_.reader.leniency.form == "asked"
    if same and asked and is_reduced(one.value) != is_reduced(second):
        return Equality(False, "expression.form")
    return Equality(same, "number.ratio")


def _compare_codes(one: Part[DigitCode], other: Part[Any], with_: Comparison) -> Equality | None:
    if isinstance(other.value, DigitCode):
        return Equality(one.value == other.value, "number.code")
    if with_.turned and other.text.isdigit() and int(other.text) == int(one.value.digits):
        raise Doubt("alike")
    return Equality(False, "number.code") if other.text.isdigit() else DIFFERENT


def _compare_chains(one: Part[Alternatives], other: Part[Any], with_: Comparison) -> Equality | None:
    ours = one.value.parts
    theirs = other.value.parts if isinstance(other.value, Alternatives) else (other,)
    if with_.turned and with_.question.asks_roughly and isinstance(other.value, Quantity) and other.value.number.step:
        # If a rounding is requested, the rounded value is the answer.
        ours = ours[-1:]
    verdicts = [with_.compare(mine, yours) for mine in ours for yours in theirs]
    return next((verdict for verdict in verdicts if verdict and verdict.equal), verdicts[0] if verdicts else None)


def _compare_year(one: Part[Quantity], other: Part[Moment], with_: Comparison) -> Equality | None:
    asks_year = not with_.turned and re.search(r"\b(?:which|what) year\b", with_.question.end) is not None
    return Equality(asks_year and one.text == str(other.value.year), "date.year" if asks_year else "date.other")


ALTERNATIVES = ValueType(_read_chain, {(Alternatives, object): _compare_chains}, of_a_name=True, of_a_word=False)
DIGIT_CODE = ValueType(_read_code, {(DigitCode, object): _compare_codes}, of_a_name=True, of_a_word=False)
DECIMAL_COMMA = ValueType(_read_decimal_comma, {}, of_a_name=True, of_a_word=False)
BASED = ValueType(
    _read_based,
    {
        (Based, Based): lambda one, other, with_: Equality(one.value.value == other.value.value, "base"),
        (Based, Quantity): _compare_based_and_bare,
        (Based, Expression): _compare_based_and_bare,
        (Based, Text): _compare_based_and_bare,
    },
    of_a_name=True,
    of_a_word=False,
)
QUANTITY = ValueType(
    lambda source, reader: quantity(source.raw),
    {
        (Quantity, Quantity): _compare_quantities,
        (Quantity, Expression): compared_as_expressions,
        (Quantity, Moment): _compare_year,
    },
    of_a_name=True,
)
MEASURE = ValueType(_read_measure, {(Measure, Measure): by_value("quantity.unit")})
RATIO = ValueType(
    _read_ratio,
    {(Ratio, Ratio): _compare_ratios, (Ratio, Quantity): _compare_ratios, (Ratio, Text): _compare_ratios},
    of_a_name=True,
    of_a_word=False,
)
