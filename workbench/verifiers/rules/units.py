"""Units as exact factors: "km/h", "kg m^2", "square meters", "per hour", "°C", "$", "%".

Factors are those of the SI brochure (9th edition) and, for customary units, of NIST Handbook 44, appendix C; all exact.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from workbench.verifiers.rules.numbers import MAX_NUMBER
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.spelling import plain

_DATA = Lexicon("units")
_SYMBOL_PREFIXES: dict[str, int] = _DATA.table("symbol_prefixes")
_NAME_PREFIXES: dict[str, int] = _DATA.table("name_prefixes")
_ALIASES: dict[str, str] = _DATA.table("aliases")
MAX_UNIT = 60
"""Maximum characters of one unit."""
_MAX_FACTORS = 8
_MAX_POWER = 9


class Unit(NamedTuple):
    """An exact multiple of base units; ``base = number * factor * pi ** pi + offset``."""

    factor: Fraction
    dimensions: tuple[tuple[str, int], ...] = ()
    """Base units and their powers, sorted; empty for pure numbers."""
    pi: int = 0
    offset: Fraction = Fraction(0)
    """Offset of a temperature scale."""
    dropped: bool = True
    """Whether an answer without a unit may mean this one; not so for ``%`` and ``°``, which change the value."""


class _UnitEntry(NamedTuple):
    definition: str
    prefixes: str


_SYMBOLS: dict[str, _UnitEntry] = {}
_NAMES: dict[str, _UnitEntry] = {}
for _symbols, _names, _definition, _prefixes in _DATA.table("units"):
    _SYMBOLS.update(dict.fromkeys(_symbols.split(), _UnitEntry(_definition, _prefixes)))
    _NAMES.update(dict.fromkeys(_names.split(), _UnitEntry(_definition, _prefixes)))
_TOKEN = re.compile(
    r" ?(?:(?P<name>[^\W\d_]+|°[CFK]?|[%‰$€£¥¢₹])(?:\^?(?P<power>-?[0-9]))?\.?|(?P<sign>[*/()]|-(?=[a-z]))"
    r"|(?P<number>[1-9][0-9]{0,3})(?= ?[^\W\d_]))"
)
_ENDS_VALUE = re.compile(r"\A[\s$*)}\]~,]{0,8}(?:\\[)\]])?\s?")
_FRACTION = re.compile(r"\\frac ?\{([^{}]*)\} ?\{([^{}]*)\}")
_WORDS = {"per": "/", "a": "/", "an": "/"}
_POWERS_BEFORE = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWERS_AFTER = {"squared": 2, "cubed": 3}


_PREFIX_APART = re.compile(r"\b(kilo|mega|giga|milli|micro|centi|nano)-(?=[a-z])")


@lru_cache(maxsize=4096)
def unit(text: str) -> Unit | None:
    """Parse the unit a ``plain`` text names, or None if any part of it is unknown."""
    text = _PREFIX_APART.sub(r"\1", text.strip().replace("μ ", "μ"))
    if not text or len(text) > MAX_UNIT or text[-1] in "*/-(" or text.count("(") != text.count(")"):
        return None
    if alias := _ALIASES.get(text) or _ALIASES.get(text.lower()):
        return unit(alias)
    if known := _lookup(text):
        return known
    factors = _parse_factors(text)
    return _multiply(factors) if factors else None


def unit_powers(text: str) -> dict[Unit, int] | None:
    """Return the powers of the units that a ``plain`` text multiplies; None if it is not a unit."""
    powers: dict[Unit, int] = {}
    for part, power in _parse_factors(text) or ():
        powers[part] = powers.get(part, 0) + power
    return {part: power for part, power in powers.items() if power}


def leading_unit(text: str) -> str:
    """Return the longest unit at the start of a ``plain`` text: ``kg/m^3`` of "kg/m^3 in summer"; else ""."""
    at = longest = 0
    while at < MAX_UNIT and (token := _TOKEN.match(text, at)) and token["name"] != "in":
        at = token.end()
        longest = at if unit(text[:at]) else longest
    return text[:longest].strip()


def unit_behind(text: str) -> str:
    """Return the unit at the beginning of the text after a value: ``$ kg/m$^3$ in summer``; else ""."""
    rest = _ENDS_VALUE.sub("", text[:MAX_UNIT], count=1).replace("$", "")
    return leading_unit(plain(rest)) if rest.count("{") == rest.count("}") else ""


def _parse_factors(text: str) -> list[tuple[Unit, int]] | None:
    text = _FRACTION.sub(r"(\1)/(\2)", text.strip())
    factors: list[tuple[Unit, int]] = []
    side, at, pending, sign_before = 1, 0, 1, None
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or len(factors) > _MAX_FACTORS:
            return None
        at = token.end()
        name = token["name"] or ""
        sign = token["sign"] or (_WORDS.get(name) if factors or name == "per" else None)
        if token["number"]:
            if sign_before != "/":
                return None
            factors.append((Unit(Fraction(int(token["number"]))), side))
        elif sign == "/":
            side = -1
        elif sign in ("(", ")", "*", "-"):
            continue
        elif name in _POWERS_BEFORE:
            pending = _POWERS_BEFORE[name]
        elif name in _POWERS_AFTER and factors:
            factors[-1] = (factors[-1][0], factors[-1][1] * _POWERS_AFTER[name])
        elif known := _lookup(name):
            factors.append((known, side * pending * int(token["power"] or 1)))
            pending = 1
        else:
            return None
        sign_before = sign
    return factors if pending == 1 else None


def _multiply(factors: list[tuple[Unit, int]]) -> Unit | None:
    factor, pi = Fraction(1), 0
    dimensions: dict[str, int] = {}
    for part, power in factors:
        if abs(power) > _MAX_POWER:
            return None
        factor *= part.factor**power
        pi += part.pi * power
        for base, exponent in part.dimensions:
            dimensions[base] = dimensions.get(base, 0) + exponent * power
    left = tuple(sorted((base, power) for base, power in dimensions.items() if power))
    return Unit(factor, left, pi, dropped=bool(left))


@lru_cache(maxsize=4096)
def _lookup(name: str) -> Unit | None:
    if entry := _SYMBOLS.get(name):
        return _unit_of_definition(name, entry)
    for size in (1, 2):
        prefix, rest = name[:size], name[size:]
        if (entry := _SYMBOLS.get(rest)) and prefix in _SYMBOL_PREFIXES and prefix in entry.prefixes.split():
            return _scale_by_power(_unit_of_definition(rest, entry), _SYMBOL_PREFIXES[prefix])
    lower = name.lower()
    for singular in (lower, lower.removesuffix("s"), lower.removesuffix("es")):
        if entry := _NAMES.get(singular):
            return _unit_of_definition(singular, entry)
        for prefix, power in _NAME_PREFIXES.items():
            if singular.startswith(prefix) and (entry := _NAMES.get(singular[len(prefix) :])) and entry.prefixes:
                return _scale_by_power(_unit_of_definition(singular, entry), power)
    return None


def _unit_of_definition(name: str, entry: _UnitEntry) -> Unit:
    """Return the unit of a definition: ``=base``, or a number, an optional ``π`` or ``+offset``, and a unit."""
    definition = entry.definition
    if definition.startswith("="):
        return Unit(Fraction(1), ((definition[1:], 1),))
    size, _, rest = definition.partition(" ")
    kept = size.endswith("!")
    size, _, offset = size.removesuffix("!").partition("+")
    pi = 1 if size.endswith("π") else 0
    base = unit(rest) if rest else Unit(Fraction(1), ())
    if base is None:
        raise ValueError(f"the unit {name} is defined by an unknown one: {definition}")
    factor = Fraction(size.removesuffix("π")) * base.factor
    return Unit(factor, base.dimensions, base.pi + pi, Fraction(offset or 0), not kept)


def _scale_by_power(base: Unit, power: int) -> Unit:
    return base._replace(factor=base.factor * (Fraction(10**power) if power >= 0 else Fraction(1, 10**-power)))


# -- Units after a value that is not a plain number, such as ``5\sqrt{2}\text{ cm}``, and the value without them.


_ONE_LETTER = re.compile(
    r"((?:[^A-Za-z]|\\(?:[dt]?frac|sqrt|pi|cdot|times)(?![A-Za-z]))*[0-9)}\]])(?:\\[,;:! ]|~|\s)+"
    r"([A-Za-z](?:/[A-Za-z](?:\^?2|²)?)?)"
)
_MAX_TRIES = 8


def split_letter(text: str) -> tuple[str, Unit] | None:
    """Split a number and a unit of one letter after it, which may be a variable: ``√20 m``, ``10/√2 m/s``."""
    found = _ONE_LETTER.fullmatch(text) if len(text) <= MAX_NUMBER else None
    known = unit(found[2]) if found else None
    return (found[1], known) if found and known else None


def split_unit(text: str) -> tuple[str, Unit] | None:
    """Split a text into a value and a known unit that ends it; else return None."""
    if len(text) > MAX_NUMBER:
        return None
    for tries, before in enumerate(_DATA.before_unit.finditer(text)):
        if tries == _MAX_TRIES:
            break
        if before.start() and (known := unit(plain(text[before.end() :]))):
            return text[: before.start()], known
    return None


_LONE_DOLLAR = re.compile(r"(?<!\\)\$\s?-?[\d.]|\d\s?\$\s*\Z")
_UNIT_OUTSIDE = re.compile(r"([^$]*)\$([^$]+)\$\s?([^\W\d_°%].*)")
_DELIMITER, _BETWEEN_LETTERS = re.compile(r"(?<!\\)\$"), re.compile(r"(?<=[A-Za-z])\$(?=[A-Za-z])")


def without_math_delimiters(text: str) -> str:
    """Return a text without dollar signs, except for one before an amount; a unit outside them stays."""
    if text.count("$") == 1 and _LONE_DOLLAR.search(text):
        return text.replace("$", "\\$")
    if "$" in text and (outside := _UNIT_OUTSIDE.fullmatch(text)):
        behind = outside[3].replace("$", "")
        if len(behind) <= MAX_UNIT and unit(plain(behind)):
            return f"{outside[1]}{outside[2]}\\text{{ {behind}}}"
    text = text.strip(" $") if text.count("$") % 2 or text[:1] == text[-1:] == "$" else text
    return _DELIMITER.sub("", _BETWEEN_LETTERS.sub(" ", text)).strip() if "$" in text else text
