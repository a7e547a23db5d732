"""Units as exact factors: "km/h", "kg m^2", "square meters", "per hour", "°C", "$", "%".

Factors are those of the SI brochure (9th edition) and, for customary units, of NIST Handbook 44, appendix C; all exact.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from workbench.verifiers.rules.unit_table import ALIASES, NAME_PREFIXES, SYMBOL_PREFIXES, UNITS

MAX_UNIT = 60
"""Characters of one unit."""
_MAX_FACTORS = 8
_MAX_POWER = 9


class Unit(NamedTuple):
    """An exact multiple of base units; ``base = number * factor * pi ** pi + offset``."""

    factor: Fraction
    dimensions: tuple[tuple[str, int], ...] = ()
    """Base units and their powers, sorted; empty for pure numbers."""
    pi: int = 0
    offset: Fraction = Fraction(0)
    """Of a temperature scale."""
    dropped: bool = True
    """Whether an answer without a unit may mean this one; not so for ``%`` and ``°``, which change the value."""


class _UnitEntry(NamedTuple):
    """A row of the table: what the name stands for."""

    definition: str
    prefixes: str


_SYMBOLS: dict[str, _UnitEntry] = {}
_NAMES: dict[str, _UnitEntry] = {}
for _symbols, _names, _definition, _prefixes in UNITS:
    _SYMBOLS.update(dict.fromkeys(_symbols.split(), _UnitEntry(_definition, _prefixes)))
    _NAMES.update(dict.fromkeys(_names.split(), _UnitEntry(_definition, _prefixes)))

_TOKEN = re.compile(
    r" ?(?:(?P<name>[^\W\d_]+|°[CFK]?|[%‰$€£¥¢₹])(?:\^?(?P<power>-?[0-9]))?\.?|(?P<sign>[*/()]|-(?=[a-z])))"
)
_FRACTION = re.compile(r"\\frac ?\{([^{}]*)\} ?\{([^{}]*)\}")
_WORDS = {"per": "/", "a": "/", "an": "/"}
_POWERS_BEFORE = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWERS_AFTER = {"squared": 2, "cubed": 3}


@lru_cache(maxsize=4096)
def unit(text: str) -> Unit | None:
    """The unit a ``plain`` text names, or None when any part of it is unknown."""
    text = text.strip().replace("μ ", "μ")
    if not text or len(text) > MAX_UNIT or text[-1] in "*/-(" or text.count("(") != text.count(")"):
        return None
    if alias := ALIASES.get(text) or ALIASES.get(text.lower()):
        return unit(alias)
    if known := _lookup(text):
        return known
    text = _FRACTION.sub(r"(\1)/(\2)", text)
    if text.startswith("(") and text.find(")") == len(text) - 1:
        text = text[1:-1]
    factors = _factors(text)
    return _product(factors) if factors else None


def _factors(text: str) -> list[tuple[Unit, int]] | None:
    """The named units of a compound with their powers; everything after a slash is below it, as in ``J/kg K``."""
    factors: list[tuple[Unit, int]] = []
    side, at, pending = 1, 0, 1
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or len(factors) > _MAX_FACTORS:
            return None
        at = token.end()
        name = token["name"] or ""
        sign = token["sign"] or (_WORDS.get(name) if factors or name == "per" else None)
        if sign == "/":
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
    return factors if pending == 1 else None


def _product(factors: list[tuple[Unit, int]]) -> Unit | None:
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
    """One unit by its symbol (case counts) or its name (case does not), with a metric prefix or without."""
    if entry := _SYMBOLS.get(name):
        return _defined(name, entry)
    for size in (1, 2):
        prefix, rest = name[:size], name[size:]
        if (entry := _SYMBOLS.get(rest)) and prefix in SYMBOL_PREFIXES and prefix in entry.prefixes.split():
            return _scaled(_defined(rest, entry), SYMBOL_PREFIXES[prefix])
    lower = name.lower()
    for singular in (lower, lower.removesuffix("s"), lower.removesuffix("es")):
        if entry := _NAMES.get(singular):
            return _defined(singular, entry)
        for prefix, power in NAME_PREFIXES.items():
            if singular.startswith(prefix) and (entry := _NAMES.get(singular[len(prefix) :])) and entry.prefixes:
                return _scaled(_defined(singular, entry), power)
    return None


def _defined(name: str, entry: _UnitEntry) -> Unit | None:
    """The unit a definition stands for: ``=base``, or a number, an optional ``π`` or ``+offset``, and a unit."""
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


def _scaled(base: Unit | None, power: int) -> Unit | None:
    if base is None:
        return None
    return base._replace(factor=base.factor * (Fraction(10**power) if power >= 0 else Fraction(1, 10**-power)))
