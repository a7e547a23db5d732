"""Numbers written in English words: "twenty-one", "two thirds"."""

from __future__ import annotations

import re
from fractions import Fraction

from workbench.verifiers.rules.patterns import Lexicon

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
_NUMBER_RUN = re.compile(
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


def in_digits(text: str) -> str:
    """Return a text with its numbers and places in digits: "the twenty-third of May" as "the 23 of May"."""
    return _NUMBER_RUN.sub(_run_in_digits, text)


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
