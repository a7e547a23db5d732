"""Units as exact factors: "km/h", "kg m^2", "square meters", "per hour", "°C", "$", "%".

Factors are those of the SI brochure (9th edition) and, for customary units, of NIST Handbook 44, appendix C; all exact.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from workbench.verifiers.rules.numbers import MAX_NUMBER
from workbench.verifiers.rules.spelling import plain

# -- The units answers are given in: symbols, names, definition and the metric prefixes each symbol takes.


_SMALL_SYMBOLS = {"f": -15, "p": -12, "n": -9, "μ": -6, "u": -6, "m": -3, "c": -2, "d": -1}
_LARGE_SYMBOLS = {"da": 1, "h": 2, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15}
_SMALL_NAMES = {"femto": -15, "pico": -12, "nano": -9, "micro": -6, "milli": -3, "centi": -2, "deci": -1}
_LARGE_NAMES = {"deca": 1, "hecto": 2, "kilo": 3, "mega": 6, "giga": 9, "tera": 12, "peta": 15}
SYMBOL_PREFIXES = _SMALL_SYMBOLS | _LARGE_SYMBOLS
NAME_PREFIXES = _SMALL_NAMES | _LARGE_NAMES
_ELECTRIC = "p n μ u m k M G"
UNITS: tuple[tuple[str, str, str, str], ...] = (
    # length
    ("m 米", "meter metre", "=m", "f n μ u m c d k M"),
    ("in", "inch", "0.0254 m", ""),
    ("ft", "foot feet", "0.3048 m", ""),
    ("yd yds", "yard", "0.9144 m", ""),
    ("mi", "mile", "1609.344 m", ""),
    ("nmi", "", "1852 m", ""),
    ("Å", "angstrom", "1e-10 m", ""),
    ("ly", "lightyear light-year", "9460730472580800 m", ""),
    ("AU au", "", "149597870700 m", ""),
    ("厘米", "", "0.01 m", ""),
    ("毫米", "", "0.001 m", ""),
    ("千米 公里", "", "1000 m", ""),
    # area and volume
    ("ha", "hectare", "10000 m^2", ""),
    ("", "acre", "4046.8564224 m^2", ""),
    ("平方米", "", "1 m^2", ""),
    ("平方厘米", "", "0.0001 m^2", ""),
    ("L l 升", "liter litre", "0.001 m^3", "n μ u m c d h k"),
    ("cc", "", "1e-6 m^3", ""),
    ("立方米", "", "1 m^3", ""),
    ("立方厘米", "", "1e-6 m^3", ""),
    ("gal", "gallon", "0.003785411784 m^3", ""),
    ("qt", "quart", "0.000946352946 m^3", ""),
    ("pt", "pint", "0.000473176473 m^3", ""),
    ("", "cup", "0.0002365882365 m^3", ""),
    ("tbsp", "tablespoon", "0.00001478676478125 m^3", ""),
    ("tsp", "teaspoon", "0.00000492892159375 m^3", ""),
    # mass
    ("g 克", "gram gramme", "0.001 kilo", "n μ u m c d h k M"),
    ("千克 公斤", "kilo", "=kg", ""),
    ("t 吨", "tonne", "1000 kg", "k M G"),
    ("", "ton", "=ton", ""),
    ("lb lbs", "pound", "0.45359237 kg", ""),
    ("oz", "ounce", "0.028349523125 kg", ""),
    ("", "stone", "6.35029318 kg", ""),
    ("Da", "dalton amu", "=u", "k M"),
    # time
    ("s 秒", "second sec", "=s", "f p n μ u m"),
    ("min 分钟", "minute", "60 s", ""),
    ("h hr 小时", "hour", "3600 s", ""),
    ("d 天", "day", "86400 s", ""),
    ("wk 周", "week", "604800 s", ""),
    ("", "fortnight", "1209600 s", ""),
    ("个月", "month", "=month", ""),
    ("yr 年", "year", "12 month", "k M G"),
    ("", "decade", "120 month", ""),
    ("", "century centurie", "1200 month", ""),
    ("Hz", "hertz", "1 s^-1", "m k M G T"),
    ("rpm", "", "1 turn/min", ""),
    ("mph", "", "1 mi/h", ""),
    ("kph kmph kmh", "", "1 km/h", ""),
    ("", "knot", "1852 m/h", ""),
    # temperature
    ("K", "kelvin", "=K", "n μ m k M"),
    ("°C", "celsiu centigrade", "1+273.15 K", ""),
    ("°F", "fahrenheit", "5/9+45967/180 K", ""),
    # mechanics
    ("N 牛", "newton", "1 kg m/s^2", "p n μ u m k M G"),
    ("dyn", "dyne", "1e-5 N", ""),
    ("lbf", "", "4.4482216152605 N", ""),
    ("J 焦", "joule", "1 N m", "p n μ u m k M G T"),
    ("Nm", "", "1 N m", "k"),
    ("erg", "", "1e-7 J", ""),
    ("eV", "electronvolt", "1.602176634e-19 J", "m k M G T"),
    ("cal", "calorie", "4.184 J", "k"),
    ("BTU Btu", "", "1055.05585262 J", ""),
    ("Wh", "", "3600 J", "k M G T"),
    ("W 瓦", "watt", "1 J/s", "p n μ u m k M G T"),
    ("hp", "horsepower", "745.69987158227022 W", ""),
    ("Pa", "pascal", "1 N/m^2", "m h k M G"),
    ("bar", "", "100000 Pa", "m k"),
    ("atm", "atmosphere", "101325 Pa", ""),
    ("psi", "", "44482216152605/6451600000 Pa", ""),
    ("Torr torr", "", "101325/760 Pa", "m"),
    ("mmHg", "", "133.322387415 Pa", ""),
    # electricity and magnetism
    ("A 安", "ampere amp", "=A", _ELECTRIC),
    ("C", "coulomb", "1 A s", _ELECTRIC),
    ("Ah", "", "3600 C", "m k"),
    ("V 伏", "volt", "1 W/A", _ELECTRIC),
    ("Ω", "ohm", "1 V/A", _ELECTRIC),
    ("S", "siemen", "1 A/V", "n μ u m k"),
    ("F", "farad", "1 C/V", "f p n μ u m"),
    ("H", "henry henrie", "1 V s/A", "n μ u m"),
    ("Wb", "weber", "1 V s", "n μ u m"),
    ("T", "tesla", "1 Wb/m^2", "n μ u m"),
    ("", "gauss gaus", "1e-4 T", "kilo"),
    # matter and light
    ("mol", "mole", "=mol", "n μ u m k"),
    ("M", "molar", "1000 mol/m^3", "n μ u m"),
    ("Bq", "becquerel", "1 s^-1", "k M G"),
    ("cd", "candela", "=cd", ""),
    ("lm", "lumen", "1 cd", ""),
    ("lx", "lux", "1 lm/m^2", ""),
    ("dB", "decibel", "=dB", ""),
    # data
    ("b bit", "bit", "=bit", "k K M G T P"),
    ("B", "byte", "8 bit", "k K M G T P"),
    ("bps", "", "1 bit/s", "k M G T"),
    ("KiB", "kibibyte", "1024 B", ""),
    ("MiB", "mebibyte", "1048576 B", ""),
    ("GiB", "gibibyte", "1073741824 B", ""),
    # money
    ("$ US$ USD", "dollar", "=$", ""),
    ("¢", "cent", "0.01 $", ""),
    ("€ EUR", "euro", "=€", ""),
    ("£ GBP", "", "=£", ""),
    ("", "pence penny pennie", "0.01 £", ""),
    ("¥ JPY", "yen", "=¥", ""),
    ("元 RMB CNY", "yuan", "=元", ""),
    ("₹ INR Rs", "rupee", "=₹", ""),
    # numbers
    ("%", "percent pct", "0.01!", ""),
    ("‰", "permille", "0.001!", ""),
    ("ppm", "", "1e-6!", ""),
    ("ppb", "", "1e-9!", ""),
    ("pp", "", "=pp", ""),
    ("bp bps", "", "0.01 pp", ""),
    ("rad", "radian", "1!", "m"),
    ("° deg 度", "degree", "1/180π!", ""),
    ("", "arcminute", "1/10800π!", ""),
    ("", "arcsecond", "1/648000π!", ""),
    ("rev", "turn revolution", "2π", ""),
)
ALIASES = {
    "ms^-1": "m/s",
    "ms^-2": "m/s^2",
    "per cent": "%",
    "percentage points": "pp",
    "percentage point": "pp",
    "basis points": "bp",
    "basis point": "bp",
    "parts per million": "ppm",
    "parts per billion": "ppb",
    "per mille": "‰",
    "degrees celsius": "°C",
    "degree celsius": "°C",
    "degrees c": "°C",
    "° celsius": "°C",
    "degc": "°C",
    "degrees fahrenheit": "°F",
    "degree fahrenheit": "°F",
    "degrees f": "°F",
    "° fahrenheit": "°F",
    "degf": "°F",
    "degrees kelvin": "K",
    "° c": "°C",
    "° f": "°F",
    "light years": "ly",
    "light year": "ly",
    "light-years": "ly",
    "nautical miles": "nmi",
    "nautical mile": "nmi",
    "metric tons": "t",
    "metric ton": "t",
    "metric tonnes": "t",
    "astronomical units": "AU",
    "us dollars": "$",
    "arc minutes": "arcminutes",
    "arc seconds": "arcseconds",
    "pounds sterling": "£",
    "electron volts": "eV",
    "electron-volts": "eV",
    "pounds per square inch": "psi",
    "foot-pounds": "ft lbf",
    "foot pounds": "ft lbf",
    "kilowatt hours": "kWh",
    "kilowatt-hours": "kWh",
    "kilowatt hour": "kWh",
    "kilowatt-hour": "kWh",
}
"""Spellings of several words, and two whose parts would be parsed differently."""


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
for _symbols, _names, _definition, _prefixes in UNITS:
    _SYMBOLS.update(dict.fromkeys(_symbols.split(), _UnitEntry(_definition, _prefixes)))
    _NAMES.update(dict.fromkeys(_names.split(), _UnitEntry(_definition, _prefixes)))
_TOKEN = re.compile(
    r" ?(?:(?P<name>[^\W\d_]+|°[CFK]?|[%‰$€£¥¢₹])(?:\^?(?P<power>-?[0-9]))?\.?|(?P<sign>[*/()]|-(?=[a-z]))"
    r"|(?P<number>[1-9][0-9]{0,3})(?= ?[^\W\d_]))"
)
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
    if alias := ALIASES.get(text) or ALIASES.get(text.lower()):
        return unit(alias)
    if known := _lookup(text):
        return known
    factors = _parse_factors(text)
    return _multiply(factors) if factors else None


def unit_powers(text: str) -> dict[Unit, int] | None:
    """Return the powers of the units that a ``plain`` text multiplies; None if it is not a unit."""
    if unit(text) is None:
        return None
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


def _parse_factors(text: str) -> list[tuple[Unit, int]] | None:
    text = _FRACTION.sub(r"(\1)/(\2)", text.strip())
    if text.startswith("(") and text.find(")") == len(text) - 1:
        text = text[1:-1]
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
        if (entry := _SYMBOLS.get(rest)) and prefix in SYMBOL_PREFIXES and prefix in entry.prefixes.split():
            return _scale_by_power(_unit_of_definition(rest, entry), SYMBOL_PREFIXES[prefix])
    lower = name.lower()
    for singular in (lower, lower.removesuffix("s"), lower.removesuffix("es")):
        if entry := _NAMES.get(singular):
            return _unit_of_definition(singular, entry)
        for prefix, power in NAME_PREFIXES.items():
            if singular.startswith(prefix) and (entry := _NAMES.get(singular[len(prefix) :])) and entry.prefixes:
                return _scale_by_power(_unit_of_definition(singular, entry), power)
    return None


def _unit_of_definition(name: str, entry: _UnitEntry) -> Unit | None:
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


def _scale_by_power(base: Unit | None, power: int) -> Unit | None:
    if base is None:
        return None
    return base._replace(factor=base.factor * (Fraction(10**power) if power >= 0 else Fraction(1, 10**-power)))


# -- Units after a value that is not a plain number, such as ``5\sqrt{2}\text{ cm}``, and the value without them.


_BEFORE_UNIT = re.compile(
    r"(?:\\[,;:! ]|~|\s)*(?=\\(?:text|textrm|mathrm|mbox|operatorname|rm)\b\s*\{)"  # set upright
    r"|(?<=[0-9)}\]])(?:\\[,;:! ]|~|\s)+(?=[A-Za-z]{2}|[ΩμΩ]|\\Omega|\\mu)"  # or words after a space
    r"|(?<=\d[ij])(?:\\[,;:! ]|~|\s)+(?=Ω|\\Omega)"
    r"|(?<=[0-9)}\]])\s*(?=°)"
)
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
    for tries, before in enumerate(_BEFORE_UNIT.finditer(text)):
        if tries == _MAX_TRIES:
            break
        if before.start() and (known := unit(plain(text[before.end() :]))):
            return text[: before.start()], known
    return None
