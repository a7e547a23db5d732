"""Comparing answers that have parts: lists, sets, tuples, intervals, matrices."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.verifiers.rules.intervals import intervals, merged
from workbench.verifiers.rules.question import TypedQuestion
from workbench.verifiers.rules.structure import Shape, names_and_value, shape

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
