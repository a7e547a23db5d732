"""Comparing answers that have parts: lists, sets, tuples, intervals, matrices."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.structure import Shape, names_and_value, shape

# -- Sets of real numbers written as intervals, unions, inequalities or set-builders, brought to one form.


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
    if (found_shape is None or found_shape.kind == "list") and "," not in text and len(_ALL_OF.split(text)) == 2:
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


Same = Callable[[str, str], bool | None]
"""Whether two parts are equal; None when that can't be told."""
_BARE_NAME = re.compile(r"[_\d{}']")
_RELATION = re.compile(r"[<>≤≥≠∖]|\\[lg](?:e|eq|eqslant|t)(?![A-Za-z])|∈|ℝ|\\mathbb|∪|\\infty|∞")


_POINT = re.compile(r"\A(?:[A-Z]\s?)?\(([^()|,;]{1,40})[|,;]([^()|,;]{1,40})\)\Z")
"""A point as some write it: ``P(1, 2)``, ``(1|2)``."""
_PAIR = re.compile(r"\([^()<>]*,[^()<>]*\)")
_SEVERAL = re.compile(r"\bor\b|\boder\b|\bou\b|或|\\pm|±|\\l?or\b|\\vee")
_OR = re.compile(r"\bor\b|\boder\b|\bou\b|或|\\l?or(?![A-Za-z])|\\vee(?![A-Za-z])|∨")
_AND = re.compile(r"\band\b|\bund\b|\bet\b|和")
_NUMERIC = re.compile(r"[\d=<>≤≥]|\\[a-z]")


class ShapeComparison(NamedTuple):
    """What comparing shapes gave; ``equal`` is None when some part could not be compared."""

    equal: bool | None
    rule: str


def same_shape(
    reference: str, candidate: str, question: TypedQuestion, same: Same, outermost: bool
) -> ShapeComparison | None:
    """Compare two tidy answers part by part; None when neither has parts.

    Args:
        reference: The reference's answer, or a part of it.
        candidate: The completion's.
        question: Says whether order matters and what brackets mean.
        same: Compares parts.
        outermost: They are whole answers; within one, ``{a}`` is not ``a``.
    """
    if (
        (_RELATION.search(reference) or _RELATION.search(candidate))
        and not (question.points and (_PAIR.fullmatch(reference) or _PAIR.fullmatch(candidate)))
        and (found := _same_intervals(reference, candidate, question, same))
    ):
        return found
    if outermost and (_POINT.fullmatch(candidate) or _POINT.fullmatch(reference)) and question.points:
        reference, candidate = _POINT.sub(r"(\1,\2)", reference), _POINT.sub(r"(\1,\2)", candidate)
    ours, theirs = shape(reference), shape(candidate)
    if (ours is None) != (theirs is None):
        ours = ours or (_unit_vectors(reference) if theirs and theirs.kind in ("tuple", "matrix") else None)
        theirs = theirs or (_unit_vectors(candidate) if ours and ours.kind in ("tuple", "matrix") else None)
    if ours is None and theirs is None:
        return None
    if ours is None or theirs is None:
        return _one_has_parts(ours or theirs, reference if ours is None else candidate, same, outermost)
    if ours.kind == theirs.kind == "builder":
        return ShapeComparison(_same_builder(ours, theirs, same), "builder")
    if ours.kind == "matrix" or theirs.kind == "matrix":
        return ShapeComparison(_same_matrix(ours, theirs, same), "matrix")
    if "interval" in (ours.kind, theirs.kind) or "union" in (ours.kind, theirs.kind):
        return _same_intervals(reference, candidate, question, same) or ShapeComparison(False, "interval")
    if ours.kind == theirs.kind == "tuple":
        return ShapeComparison(_same_tuple(ours, theirs, question, same), "tuple")
    if {ours.kind, theirs.kind} == {"set", "tuple"} or "builder" in (ours.kind, theirs.kind):
        return ShapeComparison(False, "set")
    if "tuple" in (ours.kind, theirs.kind) and (
        _is_one_of_several(ours, reference)
        or _is_one_of_several(theirs, candidate)
        or (question.points and _AND.search(f"{reference} {candidate}"))
    ):
        # Two solutions are no pair.
        return ShapeComparison(None, "tuple")
    if "tuple" in (ours.kind, theirs.kind):
        return ShapeComparison(_same_members(_by_name(ours.parts), _by_name(theirs.parts), True, same), "tuple")
    kind = "set" if "set" in (ours.kind, theirs.kind) else "list"
    if kind == "list" and _is_alternative(reference) != _is_alternative(candidate) and _are_propositions(ours, theirs):
        return ShapeComparison(None, kind)
    if question.roots and _are_of_several(ours) != _are_of_several(theirs):
        return ShapeComparison(None, kind)
    ordered = kind == "list" and question.ordered
    return ShapeComparison(_same_members(ours.parts, theirs.parts, ordered, same), kind)


def _is_one_of_several(found: Shape, text: str) -> bool:
    """Whether a list gives several values of one thing: ``x = -2, x = 2``, "-2 or 2", ``\\pm 2``."""
    if found.kind != "list":
        return False
    names = [pair[0].replace(" ", "") for pair in map(names_and_value, found.parts) if pair]
    return len(names) > len(set(names)) or (_SEVERAL.search(text) is not None and not names)


def _are_of_several(found: Shape) -> bool:
    """Whether a list's members are values of different things: ``x = 1, y = 3``."""
    names = [_BARE_NAME.sub("", pair[0]) for pair in map(names_and_value, found.parts) if pair]
    return len(set(names)) > 1


def _is_alternative(text: str) -> bool:
    """Whether a list's members are joined by "or"."""
    return _OR.search(text) is not None


def _are_propositions(*lists: Shape) -> bool:
    """Whether the members of lists are letters or words, for which "and" and "or" are not the same."""
    return not any(_NUMERIC.search(part) for found in lists for part in found.parts)


def _same_intervals(reference: str, candidate: str, question: TypedQuestion, same: Same) -> ShapeComparison | None:
    ours, theirs = intervals(reference), intervals(candidate)
    if ours is None or theirs is None:
        return None
    if ours[0] and theirs[0] and ours[0] != theirs[0]:
        return ShapeComparison(False, "interval")
    these, those = merged(ours[1]), merged(theirs[1])
    if len(these) != len(those):
        return ShapeComparison(False, "interval")

    def equal(one: int, other: int) -> bool | None:
        a, b = these[one], those[other]
        if (a.has_low, a.has_high) != (b.has_low, b.has_high):
            return False
        return _all((_same_end(a.low, b.low, same), _same_end(a.high, b.high, same)))

    return ShapeComparison(_matched(len(these), equal), "interval")


def _same_end(one: str, other: str, same: Same) -> bool | None:
    return one == other if "∞" in (one[-1:], other[-1:]) else same(one, other)


def _one_has_parts(parts: Shape | None, single: str, same: Same, outermost: bool) -> ShapeComparison | None:
    """A set of one is its member; a number such as 1,234 may have been meant as a list."""
    if parts is None:
        return None
    if outermost and parts.kind == "set" and len(parts.parts) == 1 and parts.parts[0][:1] not in "∅\\{":
        return ShapeComparison(same(parts.parts[0], single), "set")
    if parts.kind == "list" and re.fullmatch(r"\d{1,3}(?:,\d{3})+", single):
        return ShapeComparison(_same_members(parts.parts, single.split(","), False, same), "list")
    return ShapeComparison(False, parts.kind)


def _same_builder(ours: Shape, theirs: Shape, same: Same) -> bool | None:
    """Set-builders with the same condition on equal members; else only their meaning could tell."""
    conditions = ["".join(found.parts[1].split()) for found in (ours, theirs)]
    return same(ours.parts[0], theirs.parts[0]) if conditions[0] == conditions[1] else None


def _unit_vectors(text: str) -> Shape | None:
    """``3i - 2j + k`` as the tuple of its components."""
    terms = re.findall(
        r"([+-]?)\s*([^+\-]*?)\s*(?:\\hat\s*\{?\s*|\\vec\s*\{?\s*)?\\?([ijk])(?:math)?\s*\}?\s*(?=[+-]|$)", text
    )
    found = {axis: f"{sign}{factor or '1'}" for sign, factor, axis in terms}
    if (
        len(found) < 2
        or len(found) != len(terms)
        or not re.fullmatch(r"[^ijk]*i[^ijk]*(?:j[^ijk]*)?(?:k[^ijk]*)?", text)
    ):
        return None
    axes = "ijk" if "k" in found else "ij"
    return Shape("tuple", tuple(found.get(axis, "0") for axis in axes))


def _same_tuple(ours: Shape, theirs: Shape, question: TypedQuestion, same: Same) -> bool | None:
    """Tuples member by member; ``[1, 2]`` and ``(1, 2)`` differ where they are intervals."""
    if ours.closed != theirs.closed and len(ours.parts) == 2 and not question.vectors:
        return False
    return _same_members(ours.parts, theirs.parts, True, same)


def _same_matrix(ours: Shape, theirs: Shape, same: Same) -> bool | None:
    """Matrices cell by cell; one row or column also equals the tuple of its cells."""
    if ours.kind == theirs.kind and ours.width != theirs.width:
        return False
    if ours.kind != theirs.kind:
        matrix, other = (ours, theirs) if ours.kind == "matrix" else (theirs, ours)
        if other.kind != "tuple" or matrix.width not in (1, len(matrix.parts)):
            return False
    return _same_members(ours.parts, theirs.parts, True, same)


def _same_members(ours: Sequence[str], theirs: Sequence[str], ordered: bool, same: Same) -> bool | None:
    """Members one by one, by name where both name them, in order where order matters, else in any order."""
    if len(ours) != len(theirs):
        return False
    named, others = [names_and_value(part) for part in ours], [names_and_value(part) for part in theirs]
    if all(named) and all(others):
        return _same_named([pair for pair in named if pair], [pair for pair in others if pair], same)
    if all(named) or all(others):
        names = [pair[0] for pair in (named if all(named) else others) if pair]
        ordered = ordered or len({_BARE_NAME.sub("", name) for name in names}) > 1
        ours = [pair[1] for pair in named if pair] if all(named) else ours
        theirs = [pair[1] for pair in others if pair] if all(others) else theirs
    if ordered:
        return _all([same(a, b) for a, b in zip(ours, theirs, strict=True)])
    return _matched(len(ours), lambda one, other: same(ours[one], theirs[other]))


def _by_name(parts: Sequence[str]) -> Sequence[str]:
    """The values in the order of their names, as in ``(x, y)``, where every member has a name of its own."""
    named = [names_and_value(part) for part in parts]
    pairs = [pair for pair in named if pair]
    if len(pairs) != len(parts) or len({name for name, _ in pairs}) != len(pairs):
        return parts
    return [value for _, value in sorted(pairs)]


def _same_named(ours: list[tuple[str, str]], theirs: list[tuple[str, str]], same: Same) -> bool | None:
    """Values by name; where the names differ only by index (x_1, x_2 and x) the values in any order."""

    def bare(name: str) -> str:
        return name.replace(" ", "").replace("{", "").replace("}", "")

    if sorted(bare(name) for name, _ in ours) == sorted(bare(name) for name, _ in theirs):
        return _matched(
            len(ours),
            lambda one, other: bare(ours[one][0]) == bare(theirs[other][0]) and same(ours[one][1], theirs[other][1]),
        )
    if {_BARE_NAME.sub("", name) for name, _ in (*ours, *theirs)} == {_BARE_NAME.sub("", ours[0][0])}:
        return _matched(len(ours), lambda one, other: same(ours[one][1], theirs[other][1]))
    return False


def _matched(count: int, same: Callable[[int, int], bool | None]) -> bool | None:
    """Whether members can be paired off, each with an equal one; None when an undecided pair stands in the way."""
    left = list(range(count))
    undecided = False
    for one in range(count):
        maybe = False
        for other in sorted(left, key=lambda place: place != one):
            equal = same(one, other)
            if equal:
                left.remove(other)
                break
            maybe = maybe or equal is None
        else:
            if not maybe:
                return False
            undecided = True
    return None if undecided else True


def _all(verdicts: Sequence[bool | None]) -> bool | None:
    """True when all are, False when one is False, else None."""
    if False in verdicts:
        return False
    return None if None in verdicts else True
