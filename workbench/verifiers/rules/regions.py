"""Sets of real numbers written as intervals, unions, inequalities or set-builders, brought to one form."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from workbench.verifiers.rules.structure import Shape, shape

_COMPARE = re.compile(r"\\(?:leqslant|geqslant|leq|geq|le|ge|lt|gt)(?![A-Za-z])|<=|>=|[<>≤≥⩽⩾]")
_LESS = {"<": False, "\\lt": False, "\\le": True, "\\leq": True, "\\leqslant": True, "≤": True, "⩽": True, "<=": True}
_MORE = {">": False, "\\gt": False, "\\ge": True, "\\geq": True, "\\geqslant": True, "≥": True, "⩾": True, ">=": True}
_VARIABLE = re.compile(r"\\?[A-Za-zα-ω](?:_\{?\w{1,4}\}?)?")
_REALS = re.compile(r"(?:\\mathbb\s*\{?\s*R\s*\}?|ℝ|\\mathbf\s*\{?R\}?|\\R|R)")
_WITHOUT = re.compile(r"(.+?)\s*(?:∖|\\backslash|\s-\s)\s*(.+)", re.DOTALL)
_ABSOLUTE = re.compile(
    r"(?:\||\\lvert\s?)\s*(\\?[A-Za-z])\s*(?:\||\\rvert)\s*(<=|>=|[<>≤≥]|\\[lg](?:eqslant|eq|e|t)(?![A-Za-z]))\s*([\w.\\/{}]{1,30})"
)
_UNEQUAL = re.compile(r"(\\?[A-Za-z](?:_\w)?)\s*≠\s*(.{1,40})")
_INFINITY = re.compile(r"[+-]?\s*(?:\\infty|∞|\\infin|infinity|inf|oo)", re.IGNORECASE)
_AROUND_REALS = re.compile(r"(?:\\text\{)?\s*all\s+real\s+numbers?\s*\}?", re.IGNORECASE)
_ALL_OF = re.compile(r",|\band\b|\\land(?![A-Za-z])|∧")
_DEEPEST = 4
LOWEST, HIGHEST = "-∞", "∞"


class IntervalForm(NamedTuple):
    """One interval: its ends as written and whether they belong to it."""

    low: str
    high: str
    has_low: bool
    has_high: bool


def intervals(text: str, depth: int = 0) -> tuple[str | None, list[IntervalForm]] | None:
    """The intervals a text describes, and the variable it names if any; None when it describes none.

    Takes ``(1, 2]``, ``[1, ∞)``, unions, ``x > 2``, ``1 < x \\le 2``, ``x ∈ (1, 2)``, ``\\{x \\mid x > 2\\}``,
    ``x < 1 or x > 2``, ``ℝ``. ``(1, 2)`` and ``[1, 2]`` too: whether such a pair is an interval is for the caller.
    """
    text = text.strip()
    if depth > _DEEPEST:
        return None
    if _REALS.fullmatch(text) or _AROUND_REALS.fullmatch(text):
        return None, [IntervalForm(LOWEST, HIGHEST, False, False)]
    if (found := _without(text, depth) or _absolute(text)) is not None:
        return found
    head, member, tail = text.partition("∈")
    if member and _VARIABLE.fullmatch(head.strip()):
        found = intervals(tail, depth + 1)
        return None if found is None else (head.strip(), found[1])
    found_shape = shape(text)
    both = found_shape is None or found_shape.kind == "list"
    if both and ("," not in text or "≠" in text) and len(_ALL_OF.split(text)) == 2:
        return _all_conditions(text, depth + 1)
    if found_shape is None:
        return _inequality(text)
    return _of_shape(found_shape, depth + 1)


def _without(text: str, depth: int) -> tuple[str | None, list[IntervalForm]] | None:
    """The reals without some points or one interval: ``ℝ ∖ {2}``, ``x ≠ 2``."""
    if (unequal := _UNEQUAL.fullmatch(text)) is not None:
        parts = [part for part in re.split(r",|\band\b", unequal[2]) if part.strip()]
        parts = [part.rsplit("≠", 1)[-1] for part in parts]
        return unequal[1], _between([part.strip() for part in parts])
    found = _WITHOUT.fullmatch(text)
    if found is None or not _REALS.fullmatch(found[1].strip()):
        return None
    taken = shape(found[2].strip())
    if taken is not None and taken.kind == "set":
        return None, _between(list(taken.parts))
    inner = intervals(found[2], depth + 1)
    if inner is None or len(inner[1]) != 1:
        return None
    one = inner[1][0]
    return None, [
        IntervalForm(LOWEST, one.low, False, not one.has_low),
        IntervalForm(one.high, HIGHEST, not one.has_high, False),
    ]


def _all_conditions(text: str, depth: int) -> tuple[str | None, list[IntervalForm]] | None:
    """Two conditions that hold together: a bound on either side, or an interval and a point within it left out."""
    conditions = [part.strip() for part in _ALL_OF.split(text) if part.strip()]
    if len(conditions) != 2:
        return intervals(text, depth)
    first, second = (intervals(condition, depth) for condition in conditions)
    if first is None or second is None or first[0] != second[0]:
        return None
    if len(first[1]) == len(second[1]) == 1:
        return _overlap(first[0], first[1][0], second[1][0])
    whole, holed = (first[1], second[1]) if len(first[1]) == 1 else (second[1], first[1])
    if len(whole) != 1 or len(holed) != 2 or holed[0].high != holed[1].low:
        return None
    point, around = holed[0].high, whole[0]
    return first[0], [
        IntervalForm(around.low, point, around.has_low, False),
        IntervalForm(point, around.high, False, around.has_high),
    ]


def _overlap(name: str | None, one: IntervalForm, other: IntervalForm) -> tuple[str | None, list[IntervalForm]] | None:
    """What lies above one bound and below the other; None for two bounds on the same side."""
    below, above = (one, other) if one.low == LOWEST else (other, one)
    if below.low != LOWEST or above.high != HIGHEST:
        return None
    return name, [IntervalForm(above.low, below.high, above.has_low, below.has_high)]


def _between(points: list[str]) -> list[IntervalForm]:
    """The open intervals between points given in increasing order."""
    ends = [LOWEST, *points, HIGHEST]
    return [IntervalForm(low, high, False, False) for low, high in pairwise(ends)]


def _absolute(text: str) -> tuple[str | None, list[IntervalForm]] | None:
    """``|x| < a`` is between -a and a, ``|x| > a`` outside."""
    found = _ABSOLUTE.fullmatch(text)
    if found is None:
        return None
    name, sign, end = found[1], found[2], found[3]
    if sign in _LESS:
        return name, [IntervalForm(f"-{end}", end, _LESS[sign], _LESS[sign])]
    return name, [IntervalForm(LOWEST, f"-{end}", False, _MORE[sign]), IntervalForm(end, HIGHEST, _MORE[sign], False)]


def _of_shape(found: Shape, depth: int) -> tuple[str | None, list[IntervalForm]] | None:
    if found.kind in ("interval", "tuple") and len(found.parts) == 2:
        low, high = (_end(part) for part in found.parts)
        return None, [IntervalForm(low, high, found.closed[0], found.closed[1])]
    if found.kind == "builder":
        return _all_conditions(found.parts[1], depth)
    if found.kind not in ("union", "list"):
        return None
    members = [intervals(part, depth) for part in found.parts]
    known = [member for member in members if member is not None]
    names = {name for name, _ in known if name is not None}
    if len(known) < len(members) or len(names) > 1:
        return None
    if found.kind == "list" and not names:
        return None
    return next(iter(names), None), [one for _, several in known for one in several]


def _inequality(text: str) -> tuple[str | None, list[IntervalForm]] | None:
    signs = _COMPARE.findall(text)
    if not signs or len(signs) > 2:
        return None
    terms = [term.strip() for term in _COMPARE.split(text)]
    if not all(terms):
        return None
    if len(signs) == 1:
        return _one_sided(terms[0], signs[0], terms[1])
    if not _VARIABLE.fullmatch(terms[1]):
        return None
    if all(sign in _LESS for sign in signs):
        return terms[1], [IntervalForm(_end(terms[0]), _end(terms[2]), _LESS[signs[0]], _LESS[signs[1]])]
    if all(sign in _MORE for sign in signs):
        return terms[1], [IntervalForm(_end(terms[2]), _end(terms[0]), _MORE[signs[1]], _MORE[signs[0]])]
    return None


def _one_sided(left: str, sign: str, right: str) -> tuple[str | None, list[IntervalForm]] | None:
    if not _VARIABLE.fullmatch(left):
        if not _VARIABLE.fullmatch(right):
            return None
        left, right = right, left
        less = sign in _MORE
    else:
        less = sign in _LESS
    closed = _LESS.get(sign, False) or _MORE.get(sign, False)
    end = _end(right)
    return left, [IntervalForm(LOWEST, end, False, closed) if less else IntervalForm(end, HIGHEST, closed, False)]


def _end(text: str) -> str:
    text = text.strip()
    if _INFINITY.fullmatch(text):
        return LOWEST if text.startswith("-") else HIGHEST
    return text


def merged(several: list[IntervalForm]) -> list[IntervalForm]:
    """Intervals without those that only continue the one before them: ``[0, 3] ∪ [3, 6]``."""
    joined: list[IntervalForm] = []
    for one in several:
        last = joined[-1] if joined else None
        if last is not None and last.high == one.low and (last.has_high or one.has_low):
            joined[-1] = IntervalForm(last.low, one.high, last.has_low, one.has_high)
        else:
            joined.append(one)
    return joined
