"""Sets of real numbers written as intervals, unions, inequalities or set-builders, brought to one form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from workbench.verifiers.rules.conclusions import conclusion_of
from workbench.verifiers.rules.evaluate import CONSTANTS, REAL, features, finite_value
from workbench.verifiers.rules.expression import value_tree
from workbench.verifiers.rules.nodes import Name, Number, substituted
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.sense import DIGIT, change_marks, has_denial, word_count, words
from workbench.verifiers.rules.spelling import tidy
from workbench.verifiers.rules.structure import shape, split_at_top_level, split_list

_DATA = Lexicon("regions")
_COMPARE = re.compile(r"\\(?:leqslant|geqslant|leq|geq|le|ge|lt|gt)(?![A-Za-z])|<=|>=|[<>≤≥⩽⩾]")
_LESS = {"<": False, "\\lt": False, "\\le": True, "\\leq": True, "\\leqslant": True, "≤": True, "⩽": True, "<=": True}
_MORE = {">": False, "\\gt": False, "\\ge": True, "\\geq": True, "\\geqslant": True, "≥": True, "⩾": True, ">=": True}
_NAME = r"\\?[A-Za-zα-ω](?:_\{?\w{1,4}\}?)?(?:\(\w\))?"
_VARIABLE = re.compile(_NAME)
_ABSOLUTE = re.compile(r"(?:\||\\lvert\s?)([^|]{1,40}?)(?:\||\\rvert)")
_POINTS = re.compile(
    rf"({_NAME})\s*(=|≠|∉|\\notin(?![A-Za-z]))\s*(?!\\\{{[^{{}}]*[:|])([^\s\[(][^<>≤≥∈≠=∪∖∞]{{0,60}}(?:≠[^<>≤≥∈=∪]{{1,20}}){{0,3}}|\([^<>≤≥∈≠=∪∖∞]{{0,60}})"
)
_IN_WORDS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_INFINITY = re.compile(r"[+-]?\s*(?:\\infty|∞|\\infin|infinity|inf|oo)", re.IGNORECASE)
_UNION = re.compile(r"\s*(?:∪|\\bigcup(?![A-Za-z]))\s*|,?\s+(?:U|together\s+with)\s+")
_OR = re.compile(r"\s*(?:\\l?or(?![A-Za-z])|\\vee(?![A-Za-z])|∨)\s*|,?\s+or\s+")
_ALL_OF = re.compile(r"\s*(?:\\land(?![A-Za-z])|\\wedge(?![A-Za-z])|∧|∩)\s*|,?\s+and\s+")
_MAX_DEPTH = 5
_MAX_ENDS = 24
_TOLERANCE = 1e-12
_WITHIN = (0.137, 0.619, 0.871)
LOWEST, HIGHEST = "-∞", "∞"


class IntervalForm(NamedTuple):
    """One interval: its ends as written and whether they belong to it; a point has the same end twice."""

    low: str
    high: str
    has_low: bool
    has_high: bool


Found = tuple[str | None, list[IntervalForm]]
"""The variable a text bounds, if it names one, and the intervals."""

_EVERYTHING = [IntervalForm(LOWEST, HIGHEST, False, False)]


def intervals(text: str) -> Found | None:
    r"""Parse the intervals that a text describes, in order, and the variable it names if any; None without intervals.

    Accepted are ``(1, 2]``, ``[1, ∞)``, ``x > 2``, ``1 < x \le 2``, ``|x - 1| < 2``, ``x ≠ 3``, ``x ∈ (1, 2)``, ``ℝ``,
    ``\{x \mid x > 2\}``, and combinations of these by "or", "and", "except" and their signs. So are ``(1, 2)`` and
    ``[1, 2]``: the caller decides whether such a pair is an interval.
    """
    found = intervals_or_points(text)
    return None if found is None or all(one.low == one.high for one in found[1]) else found


def intervals_or_points(text: str) -> Found | None:
    """Parse intervals as `intervals` does, and single points, too: ``x = 2``."""
    return _parse_region(text.strip(), 0)


class LineCell(NamedTuple):
    """An end of some interval, or a gap between neighbouring ends.

    Attributes:
        numbers: Some numbers in it.
        held: For each operand, whether it contains the cell.
    """

    numbers: tuple[float, ...]
    held: list[bool]


def cells(operands: Sequence[Sequence[IntervalForm]]) -> list[LineCell] | None:
    """Cut the line at all ends; None if the order of the ends isn't known."""
    line = _order_ends(operands)
    if line is None:
        return None
    places, ends = line
    values = [_end_value(end) or 0.0 for end in ends]
    found = []
    for cell in range(2 * len(ends) + 1):
        low = values[(cell - 1) // 2] if cell else (values[0] - 9 if values else -9.0)
        high = values[cell // 2] if cell < 2 * len(ends) else low + 9
        within = (low,) if cell % 2 else tuple(low + (high - low) * part for part in _WITHIN)
        found.append(LineCell(within, [any(_contains_cell(one, cell, places) for one in forms) for forms in operands]))
    return found


def letter_values(names: Iterable[str]) -> dict[str, float]:
    """Return a value for each letter, increasing with the alphabet, to order ends that contain letters."""
    return {name: sum(ord(sign) / 100**at for at, sign in enumerate(name[:4])) for name in names}


def _parse_region(text: str, depth: int) -> Found | None:
    if depth > _MAX_DEPTH:
        return None
    if _DATA.reals.fullmatch(text):
        return None, _EVERYTHING
    if (points := _parse_points(text)) is not None:
        return points
    for separator, holds in _SEPARATORS:
        parts = split_at_top_level(text, separator)
        if len(parts) > 1:
            several = [_parse_region(part, depth + 1) or _parse_single_numbers(part) for part in parts]
            return None if separator is _OR and not _are_separate_parts(several) else _combine_named(several, holds)
    head, member, tail = text.partition("∈")
    if member and _VARIABLE.fullmatch(head.strip()):
        found = _parse_region(tail.strip(), depth + 1)
        return None if found is None else (head.strip(), found[1])
    return _region_of_shape(text, depth + 1) or _parse_inequality(text)


def _are_separate_parts(found: Sequence[Found | None]) -> bool:
    whole = _combine_named(found, any)
    named = all(part is not None and part[0] is not None for part in found)
    return named and all(_combine_named([*found[:at], *found[at + 1 :]], any) != whole for at in range(len(found)))


def _is_only_in_first(held: list[bool]) -> bool:
    return held[0] and not any(held[1:])


_SEPARATORS: tuple[tuple[re.Pattern[str], Callable[[list[bool]], bool]], ...] = (
    (_DATA.provided, all),
    (_OR, any),
    (_UNION, any),
    (_DATA.without, _is_only_in_first),
    (_ALL_OF, all),
)
"""Separators of conditions, the loosest first, each with the rule that combines the conditions' truth values."""


def _parse_points(text: str) -> Found | None:
    """Parse ``x ≠ 2, 3`` (all but these) and ``x = 2`` (only these)."""
    found = _POINTS.fullmatch(text)
    if found is None:
        return None
    inner = shape(found[3])
    members = inner.parts if inner is not None and inner.kind == "set" else split_list(found[3])
    found_ends = [part.rsplit("≠", 1)[-1].strip() for part in members]
    kept = [IntervalForm(end, end, True, True) for end in found_ends]
    if found[2] != "=":
        outside = _combine([_EVERYTHING, kept], _is_only_in_first)
        return None if outside is None else (found[1], outside)
    return found[1], kept


def _parse_single_numbers(text: str) -> Found | None:
    """Parse single numbers in a region: the ``{5}`` of ``ℝ ∖ {5}``, the 2 of "except 2"."""
    found = shape(text)
    members = list(found.parts) if found is not None and found.kind == "set" else split_list(text)
    if any(_end_value(member) is None for member in members):
        return None
    return None, [IntervalForm(member, member, True, True) for member in members]


def _combine_named(parts: Sequence[Found | None], holds: Callable[[list[bool]], bool]) -> Found | None:
    known = [part for part in parts if part is not None]
    names = {name for name, _ in known if name is not None}
    if len(known) < len(parts) or len(names) > 1:
        return None
    forms = _combine([several for _, several in known], holds)
    if forms is None and holds is any:
        forms = [one for _, several in known for one in several]
    return (next(iter(names), None), forms) if forms else None


def _combine(
    operands: Sequence[Sequence[IntervalForm]], holds: Callable[[list[bool]], bool]
) -> list[IntervalForm] | None:
    line, found = _order_ends(operands), cells(operands)
    return None if line is None or found is None else _intervals_of_cells([holds(cell.held) for cell in found], line[1])


def _order_ends(operands: Sequence[Sequence[IntervalForm]]) -> tuple[dict[str, int], list[str]] | None:
    texts = {end for forms in operands for one in forms for end in (one.low, one.high)} - {LOWEST, HIGHEST}
    values = {text: _end_value(text) for text in texts}
    if None in values.values() or len(texts) > _MAX_ENDS:
        return None
    places, ends = _number_ends({text: value for text, value in values.items() if value is not None})
    places |= {LOWEST: -1, HIGHEST: 2 * len(ends) + 1}
    forwards = all(places[one.low] <= places[one.high] for forms in operands for one in forms)
    return (places, ends) if forwards else None


def _number_ends(values: dict[str, float]) -> tuple[dict[str, int], list[str]]:
    places: dict[str, int] = {}
    ends: list[str] = []
    for text in sorted(values, key=lambda text: (values[text], text)):
        if not ends or values[text] - values[ends[-1]] > _TOLERANCE * max(1, abs(values[text])):
            ends.append(text)
        places[text] = 2 * len(ends) - 1
    return places, ends


def _contains_cell(one: IntervalForm, cell: int, places: dict[str, int]) -> bool:
    low, high = places[one.low], places[one.high]
    return low < cell < high or (cell == low and one.has_low) or (cell == high and one.has_high)


def _intervals_of_cells(inside: list[bool], ends: list[str]) -> list[IntervalForm]:
    found = []
    start: int | None = None
    for cell, held in enumerate([*inside, False]):
        if held and start is None:
            start = cell
        elif not held and start is not None:
            low = ends[(start - 1) // 2] if start else LOWEST
            high = ends[(cell - 1) // 2] if cell < len(inside) else HIGHEST
            found.append(IntervalForm(low, high, start % 2 == 1, cell % 2 == 0 and cell < len(inside)))
            start = None
    return found


def _end_value(text: str) -> float | None:
    tree = value_tree(text)
    if tree is None:
        return None
    return finite_value(tree, {**letter_values(features(tree).names), **REAL.constants})


def _region_of_shape(text: str, depth: int) -> Found | None:
    found = shape(text)
    if found is None:
        inner = text[1:-1].strip() if text[:1] == "(" and text[-1:] == ")" else ""
        return _parse_region(inner, depth) if inner else None
    if found.kind in ("interval", "tuple") and len(found.parts) == 2:
        low, high = (_parse_end(part) for part in found.parts)
        return None, [IntervalForm(low, high, found.closed[0], found.closed[1])]
    return _parse_region(found.parts[1], depth) if found.kind == "builder" else None


def _parse_inequality(text: str) -> Found | None:
    signs = _COMPARE.findall(text)
    if not signs or len(signs) > 2:
        return None
    terms = [term.strip() for term in _COMPARE.split(text)]
    if not all(terms) or any(_IN_WORDS.search(term) for term in terms):
        return None
    if len(signs) == 1:
        return _parse_distance(terms[0], signs[0], terms[1]) or _parse_one_sided(terms[0], signs[0], terms[1])
    if not _VARIABLE.fullmatch(terms[1]):
        return None
    if all(sign in _LESS for sign in signs):
        return terms[1], [IntervalForm(_parse_end(terms[0]), _parse_end(terms[2]), _LESS[signs[0]], _LESS[signs[1]])]
    if all(sign in _MORE for sign in signs):
        return terms[1], [IntervalForm(_parse_end(terms[2]), _parse_end(terms[0]), _MORE[signs[1]], _MORE[signs[0]])]
    return None


def _parse_distance(left: str, sign: str, right: str) -> Found | None:
    found = _ABSOLUTE.fullmatch(left)
    linear = _parse_linear(found[1]) if found else None
    if linear is None:
        return None
    name, factor, added = linear
    bound = value_tree(right)
    if isinstance(bound, Number):
        low, high = (str(Fraction(side * bound.value - added) / factor) for side in (-1, 1))
        low, high = (low, high) if factor > 0 else (high, low)
    elif factor == 1 and not added:
        low, high = f"-{right}", right
    else:
        return None
    if sign in _LESS:
        return name, [IntervalForm(low, high, _LESS[sign], _LESS[sign])]
    return name, [IntervalForm(LOWEST, low, False, _MORE[sign]), IntervalForm(high, HIGHEST, _MORE[sign], False)]


def _parse_linear(text: str) -> tuple[str, Fraction, Fraction] | None:
    """Return the name, its factor and the constant term in ``2x - 5``; None for anything else."""
    tree = value_tree(text)
    names = features(tree).names - CONSTANTS if tree is not None else frozenset()
    if tree is None or len(names) != 1:
        return None
    [name] = names
    values = [substituted(tree, {name: Number(at)}) for at in (0, 1, 2)]
    known = [Fraction(value.value) for value in values if isinstance(value, Number)]
    if len(known) < len(values) or known[2] - known[1] != known[1] - known[0] or known[1] == known[0]:
        return None
    if isinstance(tree, Name):
        return text.strip(), Fraction(1), Fraction(0)
    return name, known[1] - known[0], known[0]


def _parse_one_sided(left: str, sign: str, right: str) -> Found | None:
    less = sign in _LESS
    if not _VARIABLE.fullmatch(left):
        left, right, less = right, left, not less
    if not _VARIABLE.fullmatch(left):
        return None
    closed = _LESS.get(sign, False) or _MORE.get(sign, False)
    end = _parse_end(right)
    return left, [IntervalForm(LOWEST, end, False, closed) if less else IntervalForm(end, HIGHEST, closed, False)]


def _parse_end(text: str) -> str:
    text = text.strip()
    if _INFINITY.fullmatch(text):
        return LOWEST if text.startswith("-") else HIGHEST
    return text


# -- Bounds and intervals in words, as signs: "at least 37" as ``n ≥ 37``, "50 ± 2" as ``(48, 52)``.


_FEW_WORDS = 2
_INEQUALITY = re.compile(
    r"(?:[-−\d./π√]+(?:\s[a-z]{1,3})?\s*[<≤]\s*)?\b[A-Za-zμλθ]\s*[<>≤≥≠]\s*[-−+]?[\w./√π^]+(?:\s(?:[mck]?m|[mk]?g|s|m?L)\b)?"
)
_EXCEPTS = re.compile(r"\b(?:except|but|without|excluding|other\s+than|apart\s+from|not)\b|≠")
_SPREAD = re.compile(r"(?:[^=±]{0,40}(?:=|\bis\b)\s*)?(-?[\d.]+)\s*(?:±|\\pm|\+/-)\s*([\d.]+)(?:\s[a-z]{1,3})?")
_FROM_TO = re.compile(r"(?:[^=]{0,40}\bis\s+)?(?:from|between)\s+(-?[\d.]+)\s+(?:to|and)\s+(-?[\d.]+)")
_BOUNDED = tuple((re.compile(pattern, re.VERBOSE), signs) for pattern, signs in _DATA.table("bounds"))


def interval_by_ends(text: str) -> str:
    """Rewrite an interval given by its middle, or by words between its ends, by its ends: "50 ± 2", "from 48 to 52"."""
    told = tidy(conclusion_of(text)).strip(" .")
    if (middle := _SPREAD.fullmatch(told)) is not None:
        return f"({middle[1]}-{middle[2]}, {middle[1]}+{middle[2]})"
    return f"({ends[1]}, {ends[2]})" if (ends := _FROM_TO.fullmatch(told)) is not None else text


def bound_as_inequality(text: str, name: str) -> str:
    """Rewrite a bound in words as an inequality: "k must be less than 4", "all real numbers except 2"."""
    if intervals(tidy(text)) is not None:
        return text
    stated = list(_INEQUALITY.finditer(text))
    if word_count(text) > _FEW_WORDS and 1 <= len(stated) <= 2:
        if change_marks(text[: stated[0].start()]):
            return text
        told = text[stated[0].start() :].strip(" .")
        if intervals(tidy(told)) is not None:
            return told
        between = text[stated[0].end() : stated[-1].start()]
        if not _EXCEPTS.search(told) and not DIGIT.search(text, stated[-1].end()):
            both = " and ".join(found[0] for found in stated)
            return " or ".join(found[0] for found in stated) if "or" in words(between) or not intervals(both) else both
    for pattern, signs in _BOUNDED:
        found = pattern.search(text)
        if found is not None and not has_denial(text[: found.start(1) if found.re.groups else found.start()]):
            return found.expand(signs.format(name or "x")) + text[found.end() :].strip(" .")
    return text
