"""What holds of the comparers of numbers, quantities, bases, dates and times for any text."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.verifiers.rules.comparing import compared
from workbench.verifiers.rules.numbers import close_to, parse_number
from workbench.verifiers.rules.patterns import entries
from workbench.verifiers.rules.quantities import RequiredForm, quantity, required_form
from workbench.verifiers.rules.spelling import TooComplex
from workbench.verifiers.rules.units import unit

COMPARERS: tuple[Callable[[str, str], object], ...] = (
    compared,
    lambda a, b: compared(a, b, RequiredForm(percent=True, degrees=True, base=2)),
)


def said(a: str, b: str) -> bool | None:
    """Whether two texts say the same measure, whatever rule decides."""
    found = compared(a, b)
    return None if found is None else found.equal


PIECES = st.sampled_from(
    [
        *"0123456789.,-+/*^_{}()!:°%$€'π½²₂ xemskK–",
        *(
            r"\frac",
            r"\text{",
            r"\mathrm{",
            r"\pi",
            r"\%",
            r"\,",
            r"\times",
            "10^",
            r"^\circ",
            r"\overline{3}",
            r"\dot{3}",
        ),
        *("...", " and ", " or ", "one", "twenty", " hundred", "third", " cm", " km/h", " per ", "square ", " apples"),
        *(
            "January",
            " PM",
            "Mon",
            "2024-01-05",
            "年",
            "月",
            "0x",
            " base ",
            "dollars",
            "e5",
            "^{-3}",
            "1,000",
            "\x02",
            "{,}",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=9).map("".join))
NUMBERS = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**6)
UNITS = st.sampled_from(["m", "km", "cm", "mm", "inches", "miles", "ft", "yards", "nm"])


def outcome(compare: Callable[[str, str], object], a: str, b: str) -> object:
    try:
        return compare(a, b)
    except TooComplex:
        return TooComplex


@pytest.mark.parametrize("compare", COMPARERS)
@given(a=TEXTS, b=TEXTS)
@example(a="10^{900}π m", b="3.14 km")
@example(a="{" * 200, b="\\text{" * 30)
@example(a="9" * 200, b="9" * 41)
@example(a="1e999", b="1e-999")
@example(a="π", b="°")
@example(a="0±", b="0,'")
def test_symmetric_and_never_raises(compare: Callable[[str, str], object], a: str, b: str) -> None:
    one, other = outcome(compare, a, b), outcome(compare, b, a)
    # Words beside a candidate's value may raise a doubt where those beside a reference's do not.
    assert one == other or None in (one, other)


@given(a=TEXTS)
def test_no_text_differs_from_itself(a: str) -> None:
    for compare in COMPARERS:
        verdict = outcome(compare, a, a)
        assert verdict in (None, True, TooComplex) or (isinstance(verdict, tuple) and verdict[0])


@given(a=TEXTS, b=TEXTS)
def test_readers_never_raise(a: str, b: str) -> None:
    required_form(a)
    outcome(lambda x, y: (parse_number(x), parse_number(y)), a, b)
    outcome(lambda x, y: (quantity(x), unit(x), unit(y)), a, b)


@given(value=NUMBERS)
def test_one_number_in_many_spellings(value: Fraction) -> None:
    above, below = value.numerator, value.denominator
    for text in (f"{above}/{below}", rf"\frac{{{above}}}{{{below}}}", rf"\dfrac{{ {above} }}{{{below}}}"):
        number = parse_number(text)
        assert number is not None
        assert number.value == value


@given(value=st.integers(-(10**12), 10**12))
def test_thousands_and_words_of_whole_numbers(value: int) -> None:
    for text in (f"{value:,}", f"{value:,}".replace(",", r"\,"), f"{value:,}".replace(",", "{,}"), f"{value}.0"):
        assert said(text, str(value))


@given(value=NUMBERS, places=st.integers(2, 8))
def test_a_rounding_is_equal_and_its_neighbours_are_not(value: Fraction, places: int) -> None:
    rounded = round(value, places)
    text = f"{rounded.numerator / rounded.denominator:.{places}f}" if abs(value) < 10**6 else "0"
    number = parse_number(text)
    assert number is not None
    if Fraction(text) == rounded and number.rounds:
        assert said(text, f"{value.numerator}/{value.denominator}")
        off = Fraction(text) + 2 * number.step
        assert not said(f"{value.numerator}/{value.denominator}", f"{off.numerator / off.denominator:.{places}f}")


@given(value=st.integers(1, 10**9), one=UNITS, other=UNITS)
def test_conversions_round_trip(value: int, one: str, other: str) -> None:
    first, second = unit(one), unit(other)
    assert first is not None
    assert second is not None
    converted = value * first.factor / second.factor
    assert said(f"{value} {one}", rf"\frac{{{converted.numerator}}}{{{converted.denominator}}} {other}")
    wrong = converted + 1
    assert said(f"{value} {one}", f"{wrong.numerator}/{wrong.denominator} {other}") is False


@given(value=st.integers(0, 10**9), base=st.integers(2, 9), other=st.integers(2, 9))
def test_bases_compare_by_value(value: int, base: int, other: int) -> None:
    assert said(f"{digits(value, base)}_{{{base}}}", f"({digits(value, other)})_{other}")
    assert said(f"{digits(value, base)}_{base}", str(value))
    found = compared(f"{digits(value, base)}_{base}", digits(value + 1, base), RequiredForm(base=base))
    assert found == (False, "base")


def digits(value: int, base: int) -> str:
    return (digits(value // base, base) if value >= base else "") + str(value % base)


MONTHS = "January February March April May June July August September October November December"


@given(day=st.dates(min_value=datetime.date(1000, 1, 1)), other=st.dates(min_value=datetime.date(1000, 1, 1)))
def test_dates_in_many_spellings(day: datetime.date, other: datetime.date) -> None:
    name = MONTHS.split()[day.month - 1]
    spellings = (
        f"{name} {day.day}, {day.year}",
        f"{day.day} {name[:3]} {day.year}",
        f"{day.year}/{day.month}/{day.day}",
        f"{day.year}年{day.month}月{day.day}日",
    )
    for spelling in spellings:
        assert said(spelling, day.isoformat())
        assert said(spelling, other.isoformat()) is (day == other)


@given(time=st.times(), other=st.times())
def test_clocks_of_twelve_and_of_twenty_four_hours(time: datetime.time, other: datetime.time) -> None:
    twelve = f"{time.hour % 12 or 12}:{time:%M:%S} {'PM' if time.hour >= 12 else 'AM'}"
    assert said(twelve, f"{time:%H:%M:%S}")
    assert said(twelve, f"{other:%H:%M:%S}") is not (time.replace(microsecond=0) != other.replace(microsecond=0))


@pytest.mark.parametrize(
    ("value", "written", "expected"),
    [
        (2**0.5, "1.41", True),
        (2**0.5, "1.42", False),
        (2**0.5, "1.4", False),
        (2**0.5, "1.41421356237309504880168872420969807857", True),
        (6.283185307179586, "6.28", True),
        (0.6931471805599453, "0.693", True),
        (0.6931471805599453, "0.69314", False),
        (1.0, "1", False),
    ],
)
def test_irrational_values_round(value: float, written: str, expected: bool) -> None:
    number = parse_number(written)
    assert number is not None
    assert close_to(Fraction(value), number) is expected


@pytest.mark.parametrize("text", ["9" * 41, "10^{1000}", "1e1000", "99999^{999}", "3" * 39 + "." + "1" * 41])
def test_too_complex_is_said_before_it_is_computed(text: str) -> None:
    with pytest.raises(TooComplex):
        parse_number(text)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (r"5\sqrt{2}\text{ cm}", r"5\sqrt2", True),
        (r"100\sqrt{2} cm", r"\sqrt{2}\,\mathrm{m}", True),
        (r"\sqrt{2}\text{ m}", r"\sqrt{2}\text{ s}", False),
        (r"\sqrt{2}\text{ m}", r"\sqrt{3}\text{ m}", False),
    ],
)
def test_units_after_expressions(a: str, b: str, equal: bool) -> None:
    assert said(a, b) is equal
    assert said(b, a) is equal


def test_every_unit_of_the_table_is_defined() -> None:
    for symbols, names, _, _ in entries("units")["units"]:
        for name in (symbols + " " + names).split():
            assert unit(name) is not None, name


def test_units_have_their_published_sizes() -> None:
    sizes = {
        "mi": "1609.344",
        "km": "1000",
        "inch": "0.0254",
        "μm": "0.000001",
        "ly": "9460730472580800",
    }
    for name, meters in sizes.items():
        assert (found := unit(name)) is not None
        assert found.factor == Fraction(meters)
