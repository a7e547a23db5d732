"""Exact rational numbers as answers write them, in digits or words."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.spelling import MAX_BITS, MAX_EXPONENT, TooComplex, plain

_DATA = Lexicon("numberwords")
_SMALL = {word: value for value, word in enumerate(_DATA.listed("small"))}
_TENS = {word: 10 * value for value, word in enumerate(_DATA.listed("tens"), start=2)}
SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
"""Words that multiply the number before them."""
ORDINALS = {word: value for value, word in enumerate(_DATA.listed("ordinals"), start=1)}
"""Ordinals -> their numbers."""
PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4}
PARTS |= {word + plural: value for word, value in ORDINALS.items() if 3 <= value <= 12 for plural in ("", "s")}
PARTS |= {"hundredth": 100, "hundredths": 100, "thousandth": 1000, "thousandths": 1000}
"""Words that divide the number before them."""
_STARTS = {*_SMALL, *_TENS, *PARTS, *ORDINALS, "a", "an", "minus", "negative"}
NUMBER_WORDS = frozenset({*_SMALL, *_TENS})
"""The words of whole numbers below a hundred."""
_SIGNS = ("minus", "negative")
NUMBER_RUN = re.compile(
    rf"\b(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join([*_SMALL, *ORDINALS])}))?"
    rf"|{'|'.join(sorted([*_SMALL, *ORDINALS], key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[ -]?([A-Za-z]+)")
_PLACE_WORD = re.compile(r"[^\W\d_]+")
_LONGEST_PLACE = 80
_MAX_WORDS = 20


def leading_number(text: str) -> tuple[Fraction, str] | None:
    """Parse the number in words at the start of a text; return it and the rest; None without a number word.

    "twenty-one apples" gives 21 and "apples". An ordinal alone ("third") is its place (3); after a cardinal it is a
    part ("one third" is 1/3), but "twenty-third" is 23.
    """
    words = _split_words(text)
    if not words or words[0][0] not in _STARTS:
        return None
    negative = words[0][0] in _SIGNS
    at = 1 if negative else 0
    names = [word for word, _ in words]
    value, used = _parse_value(names, at)
    if used == at:
        return None
    end = words[used - 1][1]
    if text[end : end + 1] == "-" or names[used : used + 1] == ["point"]:
        return None
    return (-value if negative else value), text[end:].lstrip()


# -- Whole numbers in words of other languages.


_ENGLISH = _DATA.words("english")
_MAX_LETTERS = 60


class _Language(NamedTuple):
    word: re.Pattern[str]
    values: dict[str, int]


def _language(small: str, tens: str, hundreds: str, thousand: str, between: str) -> _Language:
    values = {word: value for value, word in enumerate(small.casefold().split())}
    values |= {word: 10 * value for value, word in enumerate(tens.casefold().split(), start=2)}
    values |= {word: 100 * value for value, word in enumerate(hundreds.split(), start=1)} | {thousand: 1000}
    either = "|".join(sorted(values, key=len, reverse=True))
    word = rf"[ -]?(?P<between>{between}(?![^\W\d_]) |{between}(?={either}))?({either})(?:s(?![^\W\d_]))?"
    return _Language(re.compile(word), values)


_LANGUAGES = tuple(_language(*words) for words in _DATA.table("others"))
_BEGINNINGS = frozenset(word[:2] for language in _LANGUAGES for word in language.values)


def spoken_elsewhere(text: str) -> int | None:
    """Return the number above one that a text is in German, French, Spanish, Italian, Portuguese or Russian."""
    if text[:2].casefold() not in _BEGINNINGS or len(text) > _MAX_LETTERS or not text.islower() or text in _ENGLISH:
        return None
    found = (_number_in(text.casefold(), language) for language in _LANGUAGES)
    return next((value for value in found if value > 1), None)


def _number_in(text: str, language: _Language) -> int:
    at = total = group = 0
    room = 1000
    while at < len(text):
        if (word := language.word.match(text, at)) is None:
            return 0
        at, value = word.end(), language.values[word[2]]
        if value == 1000 and not total:
            total, group, room = 1000 * (group or 1), 0, 1000
        elif value == 100 and 1 < group < 10:
            group, room = 100 * group, 100
        elif value < room:
            group += value
            room = 100 if value >= 100 else 20 if value in (60, 80) else 10 if value % 10 == 0 and value >= 20 else 0
        elif word["between"] and value % 10 == 0 and value < 100 and 0 < group % 100 < 10:
            group += value
        else:
            return 0
    return total + group


def in_digits(text: str) -> str:
    """Return a text with its numbers and places in digits: "the twenty-third of May" as "the 23 of May"."""
    return NUMBER_RUN.sub(_run_in_digits, text)


def _run_in_digits(run: re.Match[str]) -> str:
    found = leading_number(run[0])
    whole = found is not None and not found[1] and found[0].denominator == 1
    return str(found[0]) if found and whole else run[0]


_HAN_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}
_HAN_SIGNS = frozenset({*_HAN_DIGITS, *_HAN_SCALES})


def han_number(text: str) -> tuple[Fraction, str] | None:
    """Parse a leading number in Chinese numerals; return it and the rest: 三十二, 二分之一, 百分之二十五."""
    end = next((at for at, sign in enumerate(text) if sign not in _HAN_SIGNS), len(text))
    if (
        not end
        or (end == 1 and text[1:2] and text[1] not in "分")
        or (text[0] in "百千万亿" and text[end:][:2] != "分之")
    ):
        return None
    value, rest = Fraction(_parse_han_integer(text[:end]) if text[:end] != "百" else 100), text[end:]
    if rest.startswith("分之") and (above := han_number(rest[2:])) is not None and value:
        return above[0] / value, above[1]
    return value, rest


def _parse_han_integer(text: str) -> int:
    total = section = digit = 0
    for sign in text:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        elif _HAN_SCALES[sign] < 10_000:
            section, digit = section + (digit or 1) * _HAN_SCALES[sign], 0
        else:
            total, section, digit = (total + section + digit) * _HAN_SCALES[sign], 0, 0
    return total + section + digit


def names_place(text: str) -> bool:
    """Return whether a text is a place in an order in words: "twenty-fourth", "the third"; "one third" is a part."""
    names = _PLACE_WORD.findall(text.lower()[:_LONGEST_PLACE])
    if not names or names[-1] not in ORDINALS:
        return False
    before = names[-2] if len(names) > 1 else "the"
    return before in ("the", "is", "and") or before in _TENS or before in SCALES


def _split_words(text: str) -> list[tuple[str, int]]:
    words: list[tuple[str, int]] = []
    at = 0
    while len(words) < _MAX_WORDS and (word := _WORD.match(text, at)):
        words.append((word[1].lower(), word.end()))
        at = word.end()
    return words


def _parse_value(words: list[str], at: int) -> tuple[Fraction, int]:
    if (first := words[at : at + 1]) and first[0] in ORDINALS and first[0] != "second":
        return Fraction(ORDINALS[first[0]]), at + 1
    if words[at:] == ["second"]:
        return Fraction(2), at + 1
    if first in (["half"], ["quarter"]):
        return Fraction(1, PARTS[first[0]]), at + 1
    whole, used = _parse_cardinal(words, at)
    if used == at:
        return Fraction(0), at
    following = words[used] if used < len(words) else ""
    if 10 <= whole <= 20 and (following in _TENS or _SMALL.get(following, 0) >= 10):
        # A year, read as two numbers: "nineteen sixty-nine".
        years, used = _parse_cardinal(words, used)
        return Fraction(100 * whole + years), used
    if whole % 10 == 0 and 20 <= whole < 100 and 1 <= ORDINALS.get(following, 0) <= 9:
        return Fraction(whole + ORDINALS[following]), used + 1
    if following in PARTS:
        return Fraction(whole, PARTS[following]), used + 1
    if following == "and":
        part, end = _parse_part(words, used + 1)
        if end:
            return whole + part, end
    return (Fraction(whole), used) if words[at] not in ("a", "an") or used > at + 1 else (Fraction(0), at)


def _parse_part(words: list[str], at: int) -> tuple[Fraction, int]:
    above, used = _parse_cardinal(words, at)
    below = PARTS.get(words[used], 0) if used < len(words) else 0
    return (Fraction(above, below), used + 1) if used > at and 0 < above < below else (Fraction(0), 0)


def _parse_cardinal(words: list[str], at: int) -> tuple[int, int]:
    total = group = 0
    last = 10**15
    used = at
    room = 100  # what may still be added to the group: "twenty" leaves room below ten
    for index in range(at, len(words)):
        word = words[index]
        if word in _TENS and room == 100:
            group, room = group + _TENS[word], 10
        elif word in _SMALL and _SMALL[word] < max(room, 1) and (_SMALL[word] or index == at):
            group, room = group + _SMALL[word], 0
        elif word in ("a", "an") and index == at:
            group, room = 1, 0
        elif word == "hundred" and 0 < group < 100 and used > at:
            group, room = group * 100, 100
        elif word in SCALES and word != "hundred" and group and SCALES[word] < last:
            total, last = total + group * SCALES[word], SCALES[word]
            group, room = 0, 100
        elif (
            word == "and" and used == index and index > at and room == 100 and _starts_another_number(words, index + 1)
        ):
            continue
        else:
            break
        used = index + 1
    return total + group, used


def _starts_another_number(words: list[str], at: int) -> bool:
    if at >= len(words) or not (words[at] in _TENS or words[at] in _SMALL):
        return False
    return at + 1 >= len(words) or words[at + 1] not in PARTS


# -- Exact rational numbers as answers write them: ``1{,}000``, ``2\frac12``, ``3.2\times10^{-5}``, "twenty-one".


MAX_NUMBER = 200
"""Maximum characters of one number."""
_NO_STEP = Fraction(0)
MANY_DIGITS, _DOUBLE_DIGITS = 12, 15
"""Digits from which a decimal is a program's output, not a rounding; and from which it may have a double's errors."""
_EXACT_WHOLE = 10**12
_DOUBLE_ERROR = Fraction(1, 2**50)
_FLOAT_ERROR = Fraction(1, 2**48)


class WrittenNumber(NamedTuple):
    """A rational value and its notation."""

    value: Fraction
    digits: int = 0
    """Significant digits shown; 0 unless written as a decimal."""
    places: int = 0
    """Decimal places shown (of the mantissa in scientific notation)."""
    step: Fraction = _NO_STEP
    """The worth of one unit in the last place shown; 0 unless written as a decimal."""

    @property
    def rounds(self) -> bool:
        """Return whether enough digits are shown to read the number as a rounding of a finer value."""
        return self.digits >= 3 or (self.digits == 2 and self.places >= 2)

    def times(self, factor: Fraction) -> WrittenNumber:
        """Return the number times ``factor``, as in a smaller unit; its precision is scaled with it."""
        return self if factor == 1 else self._replace(value=self.value * factor, step=abs(self.step * factor))


_PLAIN = re.compile(r"([-+]?)([0-9]*)(?:\.([0-9]*))?")
_ABOUT = re.compile(r"(?:≈|about |approximately |approx\.? |roughly |around )\ ?", re.IGNORECASE)
_LETTERS_FIRST = re.compile(r"[A-Za-z]")


def parse_number(text: str) -> WrittenNumber | None:
    """Parse a text that is one number as a whole; else return None.

    Raises:
        TooComplex: The digits or exponents exceed the limits of the rules.
    """
    if len(text) > MAX_NUMBER:
        return None
    found = leading_numeral(plain(text))
    return found[0] if found and not found[1] else None


def equal(a: WrittenNumber, b: WrittenNumber) -> bool:
    """Return whether two numbers have equal values, or the coarser decimal is the other one rounded (never
    truncated)."""
    if a.value == b.value or not (a.step or b.step):
        return a.value == b.value
    coarse, fine = (a, b) if a.step > b.step else (b, a)
    off = 2 * abs(a.value - b.value)
    # A half is rounded up or to an even digit.
    is_half = abs(coarse.value) > abs(fine.value) or not coarse.value / coarse.step % 2
    if coarse.rounds and (off < coarse.step or (off == coarse.step and is_half)):
        return True
    return _is_program_output(a, b.value, b.digits) or _is_program_output(b, a.value, a.digits)


def _is_program_output(shown: WrittenNumber, value: Fraction, digits: int) -> bool:
    if shown.digits < MANY_DIGITS or digits >= MANY_DIGITS or (value.denominator == 1 and abs(value) >= _EXACT_WHOLE):
        return False
    off = abs(shown.value - value)
    return off < shown.step or (shown.digits >= _DOUBLE_DIGITS and off <= abs(value) * _DOUBLE_ERROR)


def is_printed(number: WrittenNumber, value: float) -> bool:
    """Return whether a decimal is a program's output for this value: equal within the errors of a double."""
    return (
        number.digits >= _DOUBLE_DIGITS and abs(number.value - Fraction(value)) <= abs(Fraction(value)) * _DOUBLE_ERROR
    )


def close_to(value: Fraction, number: WrittenNumber) -> bool:
    """Return whether an irrational value, given to about 14 digits, rounds to a decimal."""
    return number.rounds and abs(value - number.value) <= number.step / 2 + abs(value) * _FLOAT_ERROR


def leading_numeral(text: str) -> tuple[WrittenNumber, str] | None:
    """Parse the number at the start of a ``plain`` text; return it and the rest (spaces kept), or None."""
    if whole := _PLAIN.fullmatch(text):
        return (_make_decimal(whole[1], whole[2], whole[3]), "") if whole[2] or whole[3] else None
    if about := _ABOUT.match(text):
        text = text[about.end() :]
    for head, noun in ((text, ""), text.rsplit(" ", 1)) if " " in text else ((text, ""),):
        if text[:1].isalpha() and (elsewhere := spoken_elsewhere(head)):
            return WrittenNumber(Fraction(elsewhere)), noun and f" {noun}"
    if _LETTERS_FIRST.match(text):
        words = leading_number(text)
        return (WrittenNumber(words[0]), " " + words[1] if words[1] else "") if words else None
    if text[:1] >= "一" and (han := han_number(text)) is not None:
        return WrittenNumber(han[0]), han[1]
    found = _DATA.number.match(text)
    number = _number_of_match(found) if found else None
    if found is None or number is None:
        return None
    return _apply_sign_and_scale(number, found), text[found.end() :]


def _apply_sign_and_scale(number: WrittenNumber, found: re.Match[str]) -> WrittenNumber:
    scale = found["scale"]
    factor = -1 if found["sign"] == "-" else 1
    return number.times(Fraction(factor * SCALES[scale] if scale else factor))


def _number_of_match(found: re.Match[str]) -> WrittenNumber | None:
    if (text := found["decimal"]) is not None:
        whole, _, places = text.replace(",", "").replace(" ", "").partition(".")
        exponent = found["e"] or found["ten"]
        if found["ordinal"] and "." in text:
            return None
        return _make_decimal("", whole, places, _parse_exponent(exponent) if exponent else 0)
    if (above := found["above"] or found["above1"]) is not None:
        return _make_fraction(found["whole"], above, found["below"] or found["below1"])
    if (above := found["plain_above"]) is not None:
        return _make_fraction(found["plain_whole"], above, found["plain_below"])
    if found["base"] is not None:
        return _make_power(int(found["base"]), _parse_exponent(found["power"]))
    if (start := found["start"]) is not None:
        return _make_repeating_decimal(start, found["block"] + (found["middle"] or "") + (found["close"] or ""))
    return _parse_endless_decimal(found["endless"])


def _parse_exponent(exponent: str) -> int:
    size = int(exponent)
    if abs(size) > MAX_EXPONENT:
        raise TooComplex(f"exponent {exponent}")
    return size


def _make_decimal(sign: str, whole: str, places: str | None, exponent: int = 0) -> WrittenNumber:
    value = int(whole + (places or "") or "0")
    if sign == "-":
        value = -value
    if not places:
        return WrittenNumber(Fraction(value) * Fraction(10) ** exponent if exponent else Fraction(value))
    power = exponent - len(places)
    step = Fraction(1, 10**-power) if power <= 0 else Fraction(10**power)
    return WrittenNumber(value * step, len((whole + places).lstrip("0")), len(places), step)


def _parse_plain_decimal(text: str) -> Fraction:
    whole, _, places = text.replace(",", "").replace(" ", "").partition(".")
    return Fraction(int(whole + places), 10 ** len(places))


def _make_fraction(whole: str | None, above: str, below: str) -> WrittenNumber | None:
    top, bottom = _parse_plain_decimal(above), _parse_plain_decimal(below)
    if bottom == 0:
        return None
    if whole is None:
        return WrittenNumber(top / bottom)
    if not 0 < top < bottom or "." in above + below:
        return None
    return WrittenNumber(int(whole) + top / bottom)


def _make_power(base: int, exponent: int) -> WrittenNumber | None:
    if base == 0 and exponent <= 0:
        return None
    if base.bit_length() * abs(exponent) > MAX_BITS:
        raise TooComplex("a power too large to write out")
    return WrittenNumber(Fraction(base) ** exponent)


def _make_repeating_decimal(start: str, block: str) -> WrittenNumber:
    whole, _, places = start.partition(".")
    before = int(whole + places or "0")
    return WrittenNumber((before + Fraction(int(block), 10 ** len(block) - 1)) / 10 ** len(places))


def _parse_endless_decimal(text: str) -> WrittenNumber | None:
    whole, _, places = text.partition(".")
    for size in range(1, len(places) // 2 + 1):
        block = places[-size:]
        repeats = 2 if size == 1 or size > 5 else 3
        if places.endswith(block * repeats):
            while places.endswith(block * 2):
                places = places[:-size]
            return _make_repeating_decimal(f"{whole}.{places[:-size]}", block)
    return None
