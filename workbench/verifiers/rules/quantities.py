"""Numbers with something around them: units, currencies, ``%``, degrees, counted things ("5 apples").

A known unit is converted exactly; a unit only one side has is dropped; an unknown word must be the same on both
sides. Multiples of pi (``\\pi/6``, ``36\\pi\\text{ cm}^2``) are understood where a unit makes them a quantity.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import NamedTuple

from workbench.verifiers.rules.calendar import NAMES_OF_TIME
from workbench.verifiers.rules.numbers import (
    MAX_NUMBER,
    NUMBER_WORDS,
    PARTS,
    WrittenNumber,
    close_to,
    equal,
    leading_numeral,
    parse_number,
    spoken_elsewhere,
)
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.sense import words
from workbench.verifiers.rules.spelling import MAX_DIGITS, TooComplex, plain
from workbench.verifiers.rules.units import Unit, unit

# -- Numbers written in a base: ``1010_2``, ``1F_{16}``, ``0x1F``, "1010 (base 2)".


_DATA = Lexicon("quantities")
_WORDS = "two three four five six seven eight nine ten eleven twelve"
_BASES = {word: base for base, word in enumerate(_WORDS.split(), start=2)}
_BASES |= {"sixteen": 16, "binary": 2, "bin": 2, "ternary": 3, "octal": 8, "oct": 8}
_BASES |= {"decimal": 10, "dec": 10, "hexadecimal": 16, "hex": 16}
_MARK = re.compile(r"_|[₀-₉]|0[xXbBoO][0-9A-Fa-f]|base|binary|octal|hex|decimal", re.IGNORECASE)
_BASE_WORDS = ("base", "binary", "octal", "hexadecimal")
_PREFIXED = re.compile(r"(-?)0([xXbBoO])([0-9A-Fa-f]+)")
_PREFIXES = {"x": 16, "b": 2, "o": 8}
_BARE = re.compile(r"(-?)([0-9A-Za-z]+(?:[ ,][0-9A-Za-z]{3,4})*(?:\.[0-9A-Za-z]+)?)")


class Based(NamedTuple):
    """A number in a marked base: its digits with their sign, the base, and its value."""

    digits: str
    base: int
    value: Fraction


def parse_marked_base(text: str) -> Based | None:
    """Parse a text that is a number with a marked base as a whole; else return None.

    Raises:
        TooComplex: The number has more digits than the rules compute.
    """
    if len(text) > MAX_NUMBER or not _MARK.search(text):
        return None
    text = plain(text)
    if prefixed := _PREFIXED.fullmatch(text):
        return _make_based(prefixed[1] + prefixed[3], _PREFIXES[prefixed[2].lower()])
    if (found := _DATA.marked_base.fullmatch(text)) is None:
        return None
    name = found["group"] or found["round"] or found["number"] or found["word"] or found["name"]
    number = _make_based(found["sign"] + found["digits"], int(name) if name.isdigit() else _BASES[name])
    if number is None or any(digit.isdigit() for digit in number.digits):
        return number
    # A letter with an index is a variable; two letters are a hexadecimal number.
    return number if number.base == 16 and len(number.digits) > 1 else None


def same_based(number: Based, text: str, asks_base: int | None) -> bool | None:
    """Return whether a text without a marked base is the same number: in the requested base, else in 10 or 16.

    Args:
        number: The number.
        text: A text that may consist of the number's digits.
        asks_base: The base the question asks for, if any.
    """
    bare = _BARE.fullmatch(plain(text))
    if bare is None:
        return None
    written = bare[1] + bare[2]
    lettered = any(digit.isalpha() for digit in written)
    if lettered and not any(digit.isalpha() for digit in number.digits):
        return None
    base = asks_base or (16 if lettered else 10)
    other = _make_based(written, base)
    return None if other is None and lettered else other is not None and other.value == number.value


def _make_based(written: str, base: int) -> Based | None:
    digits = written.replace(" ", "").replace(",", "")
    whole, _, places = digits.removeprefix("-").partition(".")
    if len(whole + places) > MAX_DIGITS * 4:
        raise TooComplex(f"{len(digits)} digits")
    if not 2 <= base <= 36 or (base != 16 and written != written.upper()):
        return None
    try:
        value = Fraction(int(whole + places, base), base ** len(places))
    except ValueError:
        return None
    return Based(digits, base, -value if written.startswith("-") else value)


def requested_base(question: str) -> int | None:
    lower = question.lower()
    found = list(_DATA.asks_base.finditer(question)) if any(word in lower for word in _BASE_WORDS) else []
    if not found:
        return None
    name = str(found[-1][1] or found[-1][2]).lower()
    return int(name) if name.isdigit() else _BASES[name]


# -- Ratios: ``3:4``, ``1:2:3``, and "3 to 4" where the other side has a colon (else it may be a range).


_BETWEEN = re.compile(r" ?: ?| to ")
_MAX_TERMS = 6


class Ratio(NamedTuple):
    """The terms of a ratio, the last one not zero."""

    terms: tuple[Fraction, ...]


def ratio(text: str, in_words: bool = False) -> Ratio | None:
    """Parse a text that is a ratio as a whole; None if it is not one.

    Args:
        text: An answer.
        in_words: Whether "3 to 4" or a plain number is a ratio.

    Raises:
        TooComplex: The digits or exponents exceed the limits of the rules.
    """
    if len(text) > MAX_NUMBER or not (in_words or ":" in text or "\\colon" in text or "：" in text):
        return None
    terms = [parse_number(term) for term in _BETWEEN.split(plain(text), maxsplit=_MAX_TERMS)]
    values = tuple(term.value for term in terms if term is not None)
    if len(values) != len(terms) or not (in_words or len(values) > 1) or (len(values) > 1 and not values[-1]):
        return None
    return Ratio(values)


def same_ratio(one: Ratio, other: Ratio) -> bool:
    """Return whether two ratios are the same; ``3:4`` is also the number 3/4."""
    first, second = one.terms, other.terms
    if max(len(first), len(second)) == 2:
        first, second = _as_pair(first), _as_pair(second)
    return len(first) == len(second) and all(
        x * second[-1] == y * first[-1] for x, y in zip(first, second, strict=True)
    )


def is_reduced(found: Ratio) -> bool:
    terms = found.terms
    return all(term.denominator == 1 for term in terms) and math.gcd(*(int(term) for term in terms)) == 1


def _as_pair(terms: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return terms if len(terms) == 2 else (terms[0], Fraction(1))


Ruling = tuple[bool, str]
"""Whether two answers are equal, and the deciding rule."""
_TAIL = 800
_DEGREES = re.compile(r"\bdegrees?\b|\\circ|°")
_CURRENCY = re.compile(r"([-+]?) ?(US\$|\$|€|£|¥|₹|(?:USD|EUR|GBP|Rs\.?)(?= ?[0-9])) ?(?=[-+]?[0-9.\\])")
_SEXAGESIMAL = re.compile(
    r"(-?)([0-9]+)° ?(?:([0-9]+(?:\.[0-9]+)?) ?[′'](?![′']) ?)?(?:([0-9]+(?:\.[0-9]+)?) ?(?:''|′′|\"))?"
)
_PI = re.compile(
    r"([-+]?) ?(?:\\frac ?\{ ?([0-9]*) ?\*? ?π ?\} ?\{ ?([1-9][0-9]*) ?\}|π ?(?:/ ?([1-9][0-9]*))?)(?![\^(0-9])"
)
_GROUPED = re.compile(r"(?<!\d)\d{1,3}(?:[_'’]\d{3})+(?!\d)")
_ERA = re.compile(r"\AAD ?(\d{1,4})\Z|(\d{1,4}) ?(B\.?C\.?(?:E\.?)?|C\.?E\.?|AD)\Z")
_ERAS = {"BC": "bce", "BCE": "bce", "CE": "our era", "AD": "our era"}
_NEXT = re.compile(r",? (?:and )?(?=[0-9])")
_COUNTED = re.compile(r"[^\W\d_]{2,}(?:[ -][^\W\d_]{2,}){0,3}|[一-鿿]{1,4}")
_SHARE = re.compile(r"(?:in|out of) (?:every )?(.+)")
_UNIT_WORD = re.compile(
    r"(?:(?:square|sq\.?|cubic|cu\.?) )?units?(?:\^[23]| squared| cubed)?|(?:chance|probability)(?: (?:of|that)\b.*)?",
    re.IGNORECASE,
)
_ANY_OF_THEM = re.compile(r"\A(?:different|distinct|possible|such|unique|whole) (?=[^\W\d_])")
"""An adjective that doesn't restrict what is counted."""
_NOT_COUNTED = _DATA.words("uncountable") | PARTS.keys() | NAMES_OF_TIME
_MAYBE_VARIABLES = frozenset({"mg", "cd", "pt", "ms", "ha", "hr", "da"})
_NEVER_ASSUMED = frozenset({"t", "d", "b", "B", "u", "T", "M", "S", "H"})
_ONE_LETTER_COMPOUNDS = frozenset({"m/s", "m/s^2", "m/s²", "g/L", "m^3/s"})
_NAMED_TWICE = (("°", "°C"), ("°", "°F"), ("C", "°C"), ("F", "°F"), ("lb", "£"), ("m", "min"))
"""Units that one word or letter may mean: "degrees" of temperature, "pounds" of money."""
_MAX_PARTS = 3
_FIGURES = re.compile(r"\d(?:[\d.,{} ]*\d)?")
_LETTERS = 3
"""Letters of a word that may be a symbol, in which upper and lower case differ: мВт and МВт."""
_DEGREE, _RADIAN = Unit(Fraction(1, 180), pi=1, dropped=False), Unit(Fraction(1), dropped=False)
_FULL_TURN = 7
"""No angle in radians that is less than a full turn is larger."""


class RequiredForm(NamedTuple):
    """The form that the question requires of its answer."""

    percent: bool = False
    """As a percentage, so a bare ``9`` means ``9%``."""
    degrees: bool = False
    """In degrees, so a bare ``30`` means ``30°``."""
    angle: bool = False
    """As an angle, so a bare number of more than a full turn in radians means degrees."""
    base: int | None = None
    """In another base, so bare digits are digits of it."""
    ratio: bool = False
    """As a ratio, so ``10:15`` is no time of day."""


class Quantity(NamedTuple):
    """A number, the unit or counted noun after it, and doubts about either."""

    number: WrittenNumber
    pi: int = 0
    """The power of pi the number is multiplied by."""
    unit: Unit | None = None
    word: str = ""
    """The counted noun in the singular, if no unit has that name."""
    name: str = ""
    """The unit as it was written."""
    doubtful: bool = False
    """The unit may be a variable: a letter straight after the digits (``5m``)."""
    spelled: bool = False
    """Whether the unit is written in words."""

    @property
    def is_number(self) -> bool:
        return self.unit is None and not self.word


def required_form(question: str) -> RequiredForm:
    end = question[-_TAIL:].lower()
    percent = ("cent" in end or "%" in end or "interest" in end) and _DATA.percent.search(end) is not None
    degrees = _DEGREES.search(end) is not None and "radian" not in end
    angle = "radian" not in end and _DATA.holds("asks_angle", end)
    return RequiredForm(percent, degrees, angle, requested_base(end), "ratio " in end or "proportion" in end)


def same_quantity(first: Quantity, second: Quantity, question: RequiredForm) -> Ruling | None:
    """Return whether two quantities are the same, and the deciding rule; None if their words can't be compared."""
    if first.is_number and second.is_number:
        return None if first.pi or second.pi else _compare_numbers(first, second)
    if first.is_number or second.is_number:
        bare, other = (first, second) if first.is_number else (second, first)
        return _compare_bare_number(bare, other, question)
    if first.unit is None or second.unit is None:
        alike = first.word == second.word and first.unit is second.unit
        return (_is_equal(first, second), "quantity.same_unit") if alike else None
    return _compare_converted(first, first.unit, second, second.unit)


def _compare_numbers(first: Quantity, second: Quantity) -> Ruling:
    if first.number.value == second.number.value:
        return True, "number.words" if first.spelled or second.spelled else "number.exact"
    return (True, "number.rounding") if equal(first.number, second.number) else (False, "number.differs")


def _compare_bare_number(bare: Quantity, other: Quantity, question: RequiredForm) -> Ruling | None:
    if other.unit is None or other.unit.dropped:
        return None if other.doubtful else (_is_equal(bare, other), "quantity.unit_dropped")
    rule = "degrees" if other.unit.pi or other.unit == _RADIAN else "percent"
    in_degrees = question.degrees or (question.angle and bare.number.value > _FULL_TURN)
    if in_degrees and not other.unit.pi and rule == "degrees":
        return _is_equal(_in_base_unit(bare, _DEGREE), other), rule
    means_unit = in_degrees if other.unit.pi else question.percent
    return (_is_equal(bare, _in_base_unit(other, other.unit)) or (means_unit and _is_equal(bare, other))), rule


def _compare_converted(first: Quantity, one: Unit, second: Quantity, two: Unit) -> Ruling | None:
    if one == two:
        return _is_equal(first, second), "quantity.same_unit"
    if one.dimensions == two.dimensions:
        return _is_equal(_in_base_unit(first, one), _in_base_unit(second, two)), "quantity.convert"
    if any({one, two} == {unit(this), unit(that)} for this, that in _NAMED_TWICE):
        return (True, "quantity.same_unit") if _is_equal(first, second) else None
    bases = {base for dimensions in (one.dimensions, two.dimensions) for base, _ in dimensions}
    return None if {"month", "s"} <= bases or {"ton", "kg"} <= bases else (False, "quantity.differs")


def _in_base_unit(side: Quantity, its: Unit) -> Quantity:
    number = side.number.times(its.factor)
    if its.offset:
        number = number._replace(value=number.value + its.offset)
    return side._replace(number=number, pi=side.pi + its.pi)


def _is_equal(first: Quantity, second: Quantity) -> bool:
    if first.pi == second.pi:
        return equal(first.number, second.number)
    if first.pi < second.pi:
        first, second = second, first
    factor = Fraction(math.pi) ** (first.pi - second.pi)
    return not first.number.step and close_to(first.number.value * factor, second.number)


def quantity(text: str) -> Quantity | None:
    if not text or len(text) > MAX_NUMBER or (text[-1] in "′″" and "°" not in text):
        return None
    if len(text) <= MAX_DIGITS and text.isascii() and text.isdigit():
        return Quantity(WrittenNumber(Fraction(int(text))))
    found = _parse(plain(text[2:] if text[:2] == "a " and text[2:3].isdigit() else text), _MAX_PARTS)
    return found._replace(spelled=True) if found and text[0].isalpha() else found


def names_same_quantity(text: str, other: str) -> bool:
    """Return whether two texts name a quantity in two forms: "420 m" and "0.42 km", "0.42" and "42 %"."""
    one, two = quantity(text.rpartition("=")[2].strip(" $")), quantity(other.strip(" $"))
    if one is None or two is None or not two.unit:
        return False
    found = same_quantity(one, two, RequiredForm())
    return found is not None and found[0]


def restates_number(value: str, remark: str) -> bool | None:
    """Return whether a remark in words states a value again: "1.500 (fifteen hundred)"; None if it states no number."""
    said = set(words(remark)) - {"one"}
    if said.isdisjoint(NUMBER_WORDS) and not any(map(spoken_elsewhere, said)):
        return None
    told, figures = quantity(remark), _FIGURES.findall(value)
    return (
        told is not None and bool(figures) and str(told.number.value) in (figures[-1], re.sub(r"\D", "", figures[-1]))
    )


def _parse(text: str, parts: int) -> Quantity | None:
    if "_" in text or "'" in text:
        text = _GROUPED.sub(lambda digits: re.sub(r"\D", "", digits[0]), text)
    if text.endswith(("C", "CE", "C.", "AD")) or text.startswith("AD"):
        text = _ERA.sub(lambda era: f"{era[1] or era[2]} {_ERAS[(era[3] or 'AD').replace('.', '')]}", text)
    currency = _CURRENCY.match(text)
    if currency:
        text = currency[1] + text[currency.end() :]
    elif "°" in text and (angle := _SEXAGESIMAL.fullmatch(text)):
        return _parse_angle(angle)
    found = leading_numeral(text)
    number, rest = found or (WrittenNumber(Fraction(1)), text)
    pi = 0
    if "π" in rest and (multiple := _PI.match(rest.lstrip(" *") if found else rest)) and not (found and multiple[1]):
        number, rest, pi = _times_pi(number, multiple, rest)
    elif found is None:
        return None
    if currency:
        return _with_currency(Quantity(number, pi), currency[2].removeprefix("US").rstrip("."), rest)
    if not rest:
        return Quantity(number, pi)
    return _with_unit(Quantity(number, pi), rest, parts)


def _times_pi(number: WrittenNumber, multiple: re.Match[str], rest: str) -> tuple[WrittenNumber, str, int]:
    factor = Fraction(int(multiple[2] or 1), int(multiple[3] or multiple[4] or 1))
    sign = -1 if multiple[1] == "-" else 1
    return number.times(sign * factor), multiple.string[multiple.end() :], 1


def _with_currency(amount: Quantity, currency: str, rest: str) -> Quantity | None:
    rest = rest.strip()
    if not rest or (unit(rest) or unit("%")) == unit(currency):
        return amount._replace(unit=unit(currency), name=currency)
    whole = unit(f"{currency} {rest}")
    return amount._replace(unit=whole, name=currency) if whole else None


def _with_unit(amount: Quantity, rest: str, parts: int) -> Quantity | None:
    attached = rest[0] != " "
    name = rest.strip()
    if name.startswith("(") and name.endswith(")"):
        name, attached = name[1:-1].strip(), False
    whole = parse_number(share[1]) if (share := _SHARE.fullmatch(name)) else None
    if whole is not None and whole.value >= amount.number.value > 0:
        return amount._replace(number=amount.number.times(1 / whole.value))
    if known := unit(name):
        return amount._replace(unit=known, name=name, doubtful=_is_doubtful(name, attached or amount.pi != 0))
    if _UNIT_WORD.fullmatch(name):
        return amount
    if parts > 1 and (following := _NEXT.search(rest)):
        return _add_smaller_unit(amount, rest[: following.start()], rest[following.end() :], parts - 1)
    around = _DATA.around.fullmatch(name)
    if around and (known := unit(around[1])):
        return amount._replace(unit=known, name=name)
    counted = _counted_noun(_ANY_OF_THEM.sub("", around[1] if around else name))
    return amount._replace(word=counted) if counted else None


def _counted_noun(name: str) -> str:
    if not _COUNTED.fullmatch(name):
        return ""
    nouns = [noun.lower() if noun[1:].islower() or len(noun) > _LETTERS else noun for noun in re.split("[ -]", name)]
    if _NOT_COUNTED.intersection(nouns) or (name.isascii() and all(len(noun) < 3 for noun in nouns)):
        return ""
    return " ".join(noun.removesuffix("s") for noun in nouns)


def _is_doubtful(name: str, attached: bool) -> bool:
    if name in _ONE_LETTER_COMPOUNDS or not name.isascii() or name in ("%", "$"):
        return False
    letters = re.findall("[A-Za-z]+", name)
    if not attached:
        return len(letters) == 1 and name[:1] in _NEVER_ASSUMED and len(letters[0]) == 1
    return all(len(word) == 1 for word in letters) or name in _MAYBE_VARIABLES


def _add_smaller_unit(amount: Quantity, name: str, rest: str, parts: int) -> Quantity | None:
    first = unit(name)
    second = _parse(rest, parts)
    if first is None or second is None or second.unit is None or not first.dimensions or first == second.unit:
        return None
    smaller = _meant_unit(second.unit, first)
    first = _meant_unit(first, smaller)
    if first.dimensions != smaller.dimensions or first.offset or amount.number.step or amount.pi or second.pi:
        return None
    part = second.number.times(smaller.factor / first.factor)
    if part.value < 0 or amount.number.value < 0:
        return None
    whole = WrittenNumber(amount.number.value + part.value, part.digits + 1 if part.step else 0, part.places, part.step)
    return Quantity(whole, unit=first, name=name)


def _meant_unit(one: Unit, other: Unit) -> Unit:
    meant = (unit(that) for this, that in _NAMED_TWICE if one == unit(this))
    return next((known for known in meant if known and known.dimensions == other.dimensions), one)


def _parse_angle(angle: re.Match[str]) -> Quantity:
    sign, degrees, minutes, seconds = angle.groups()
    size = Fraction(int(degrees)) + Fraction(minutes or 0) / 60 + Fraction(seconds or 0) / 3600
    return Quantity(WrittenNumber(-size if sign else size), unit=unit("°"), name="°")
