r"""Numbers written in a base: ``1010_2``, ``1F_{16}``, ``0x1F``, "1010 (base 2)"."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from workbench.verifiers.rules.danger import MAX_DIGITS, TooComplex
from workbench.verifiers.rules.numbers import MAX_NUMBER
from workbench.verifiers.rules.spelling import plain

_WORDS = "two three four five six seven eight nine ten eleven twelve"
_BASES = {word: base for base, word in enumerate(_WORDS.split(), start=2)}
_BASES |= {"sixteen": 16, "binary": 2, "bin": 2, "ternary": 3, "octal": 8, "oct": 8}
_BASES |= {"decimal": 10, "dec": 10, "hexadecimal": 16, "hex": 16}
_NAMES = "|".join(sorted(_BASES, key=len, reverse=True))
_MARK = re.compile(r"_|[₀-₉]|0[xXbBoO][0-9A-Fa-f]|base|binary|octal|hex|decimal", re.IGNORECASE)
_SIGNS = ("_", "0x", "0b", "0o", "base", "binary", "octal", "hex", "decimal")
_MARKED = re.compile(
    rf"""(?P<sign>-?)\ ?(?P<open>\()?\ ?
    (?P<digits>[0-9A-Za-z]+(?:[\ ,][0-9A-Za-z]{{3,4}})*(?:\.[0-9A-Za-z]+)?)\ ?(?(open)\)\ ?)
    (?: _\ ?(?:\{{\ ?\(?\ ?(?P<group>[0-9]{{1,2}}|{_NAMES})\ ?\)?\ ?\}}
           | \((?P<round>[0-9]{{1,2}})\) | (?P<number>[0-9]{{1,2}}))
      | \ \(?(?:in\ )?base[ -]?(?P<word>[0-9]{{1,2}}|{_NAMES})\)?
      | \ \(?(?:in\ )?(?P<name>binary|octal|decimal|hexadecimal|hex)\)? )""",
    re.VERBOSE,
)
_PREFIXED = re.compile(r"(-?)0([xXbBoO])([0-9A-Fa-f]+)")
_PREFIXES = {"x": 16, "b": 2, "o": 8}
_BARE = re.compile(r"(-?)([0-9A-Za-z]+(?:[ ,][0-9A-Za-z]{3,4})*(?:\.[0-9A-Za-z]+)?)")
_ASKED = re.compile(
    rf"\b(?:in|to|into|as)\s+(?:an?\s+)?(?:\$?base[\s-]*\$?([0-9]{{1,2}}|{_NAMES})\b|(binary|octal|hexadecimal)\b)",
    re.IGNORECASE,
)


class Based(NamedTuple):
    """Signed digits and the base they are marked with."""

    digits: str
    base: int
    value: Fraction


def same_based(a: str, b: str, asks_base: int | None = None) -> bool | None:
    """Whether two texts are the same number, at least one of them with its base marked; None otherwise.

    Args:
        a: One answer.
        b: The other answer.
        asks_base: The base the question asks for: what an unmarked side is written in (else base ten).

    Raises:
        TooComplex: more digits than the rules compute.
    """
    if not (_is_marked(a) or _is_marked(b)):
        return None
    if len(a) > MAX_NUMBER or len(b) > MAX_NUMBER:
        return None
    one, two = marked(a), marked(b)
    if one and two:
        return one.value == two.value
    if one is None and two is None:
        return None
    return _with_bare(one, b, asks_base) if one else _with_bare(two, a, asks_base) if two else None


def _is_marked(text: str) -> bool:
    """Whether a text may mark a base; most are told by their signs alone, which is much faster."""
    lower = text.lower()
    return (not lower.isascii() or any(sign in lower for sign in _SIGNS)) and _MARK.search(text) is not None


def marked(text: str) -> Based | None:
    """The number of a whole text that marks its base, or None."""
    text = plain(text)
    if prefixed := _PREFIXED.fullmatch(text):
        return _based(prefixed[1] + prefixed[3], _PREFIXES[prefixed[2].lower()])
    if (found := _MARKED.fullmatch(text)) is None:
        return None
    name = found["group"] or found["round"] or found["number"] or found["word"] or found["name"]
    number = _based(found["sign"] + found["digits"], int(name) if name.isdigit() else _BASES[name])
    if number is None or any(digit.isdigit() for digit in number.digits):
        return number
    # A letter with an index is a variable; two letters are a hexadecimal number.
    return number if number.base == 16 and len(number.digits) > 1 else None


def _with_bare(number: Based, text: str, asks_base: int | None) -> bool | None:
    """A number with its base against one without: in the base asked for, else in base ten."""
    bare = _BARE.fullmatch(plain(text))
    if bare is None:
        return None
    written = bare[1] + bare[2]
    lettered = any(digit.isalpha() for digit in written)
    if lettered and not any(digit.isalpha() for digit in number.digits):
        return None
    base = number.base if lettered or number.base == 10 else asks_base or 10
    other = _based(written, base)
    return None if other is None and lettered else other is not None and other.value == number.value


def _based(written: str, base: int) -> Based | None:
    """The number its digits stand for; None when one of them is no digit of the base."""
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


def asked_base(question: str) -> int | None:
    """The base a question asks its answer in, or None."""
    if not _MARK.search(question):
        return None
    found = list(_ASKED.finditer(question))
    if not found:
        return None
    name = str(found[-1][1] or found[-1][2]).lower()
    return int(name) if name.isdigit() else _BASES[name]
