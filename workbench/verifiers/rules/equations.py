r"""Whether two answers that may be equations or inequalities say the same."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import NamedTuple, TypeAlias

from workbench.verifiers.rules.evaluate import constant, features, same_value
from workbench.verifiers.rules.families import same_family
from workbench.verifiers.rules.nodes import Call, Name, Node, Number, negative, total
from workbench.verifiers.rules.proportion import proportional
from workbench.verifiers.rules.statements import Statement, statements
from workbench.verifiers.rules.tokens import NotUnderstood

Trees: TypeAlias = tuple[Node, ...]

_TURNED = {"<": ">", "≤": "≥"}


class _Relation(NamedTuple):
    """``difference sign 0``."""

    sign: str
    difference: Node


def same_expression(first: str, second: str) -> bool | None:
    """Whether two expressions, equations or inequalities are equal; None when they aren't understood.

    Raises:
        TooComplex: one of them is too long or too deep, or its numbers are too large.
    """
    ours, theirs = _read(first), _read(second)
    if ours is None or theirs is None:
        return None
    if ours == theirs:
        return True
    if len(ours) == len(theirs) == 1:
        return _same_statement(ours[0], theirs[0])
    found = [[_same_statement(one, other) for other in theirs] for one in ours]
    matched = [any(row) for row in found] + [any(column) for column in zip(*found, strict=True)]
    if all(matched):
        return True
    unsure = any(same is None for row in found for same in row)
    implicit = any(statement.signs and not statement.assigned for statement in ours + theirs)
    return None if unsure or implicit else False


def constant_in(text: str) -> float | None:
    """The value of a text that is one expression without variables, as a double."""
    found = _read(text)
    if found is None or len(found) != 1 or found[0].signs or not found[0].parts[0]:
        return None
    return constant(found[0].parts[0][0])


def _read(text: str) -> tuple[Statement, ...] | None:
    try:
        return statements(text)
    except NotUnderstood:
        return None


def _same_statement(first: Statement, second: Statement) -> bool | None:
    if not first.signs and not second.signs:
        return _same_trees(first.parts[0], second.parts[0])
    if not first.signs:
        return _says_value(second, first.parts[0])
    if not second.signs:
        return _says_value(first, second.parts[0])
    if first.assigned and second.assigned and _same_quantity(first.parts[0], second.parts[0]):
        return _any([_same_trees(one, other) for one in _values(first) for other in _values(second)])
    return _same_relations(first, second)


def _any(answers: Iterable[bool | None]) -> bool | None:
    """True when one is, None when one is None, else False."""
    known = set(answers)
    return True if True in known else None if None in known else False


def _all(answers: Iterable[bool | None]) -> bool | None:
    """False when one is, None when one is None, else True."""
    known = set(answers)
    return False if False in known else None if None in known else True


def _same_trees(first: Trees, second: Trees) -> bool | None:
    """Whether two expressions are equal in some way to read both."""
    equal = _any(same_value(one, other) for one in first for other in second)
    if equal or (isinstance(first[0], Number) and isinstance(second[0], Number)):
        return equal
    names = features(first[0]).names, features(second[0]).names
    if same_family(first[0], second[0], names):
        return True
    return None if _words(names[0]) != _words(names[1]) else equal


def _words(names: Iterable[str]) -> set[str]:
    """The names of several letters, which may be units or functions this package doesn't know."""
    return {name for name in names if name[0] == '"'}


def _says_value(statement: Statement, value: Trees) -> bool | None:
    """Whether a statement only says that something is the value."""
    if not statement.equates:
        return False
    if not statement.assigned and not _same_trees(statement.parts[0], statement.parts[-1]):
        return False
    return _any(_same_trees(part, value) for part in _values(statement))


def _values(statement: Statement) -> list[Trees]:
    """The value an equation gives: its last part, and the one that part approximates."""
    approximated = statement.signs[-1] == "≈" and len(statement.parts) > 2
    return [statement.parts[-1], statement.parts[-2]] if approximated else [statement.parts[-1]]


def _same_quantity(first: Trees, second: Trees) -> bool:
    """Whether two names may stand for the same: they are equal, or one is a function's (``f(x)`` and ``y``)."""
    if not first or not second or first[0] == second[0]:
        return True
    return {type(first[0]), type(second[0])} == {Call, Name}


def _same_relations(first: Statement, second: Statement) -> bool | None:
    """Whether the relations of two statements are the same in some order."""
    if not all(first.parts + second.parts):
        return None
    ours, theirs = _relations(first), _relations(second)
    if sorted(relation.sign for relation in ours) != sorted(relation.sign for relation in theirs):
        return False
    found = [[_same_relation(one, other) for other in theirs] for one in ours]
    return _any(_all(row[at] for row, at in zip(found, order, strict=True)) for order in permutations(range(len(ours))))


def _relations(statement: Statement) -> list[_Relation]:
    """One relation a sign, all pointing the same way; a chain of equations relates its ends."""
    trees = [part[0] for part in statement.parts]
    if statement.equates:
        return [_Relation("=", total([trees[0], negative(trees[-1])]))]
    relations = []
    for left, sign, right in zip(trees, statement.signs, trees[1:], strict=False):
        if sign in _TURNED:
            sign, left, right = _TURNED[sign], right, left
        relations.append(_Relation(sign, total([left, negative(right)])))
    return relations


def _same_relation(first: _Relation, second: _Relation) -> bool | None:
    """Whether one holds where the other does."""
    if first.sign != second.sign:
        return False
    ordered = first.sign in ">≥"
    multiple = proportional(first.difference, second.difference, positive=ordered)
    if multiple is not False:
        return multiple
    about = [features(relation.difference) for relation in (first, second)]
    surely = all(feature.polynomial for feature in about) and not (ordered and len(about[0].names) > 1)
    return False if surely else None
