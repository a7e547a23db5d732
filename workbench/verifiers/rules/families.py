r"""Expressions with constants of integration: equal up to the constants' names, order and, where added, value."""

from __future__ import annotations

import re
from itertools import permutations
from typing import NamedTuple

from workbench.verifiers.rules.evaluate import CONSTANTS, features, same_value
from workbench.verifiers.rules.nodes import MINUS_ONE, ONE, Name, Node, Number, negative, product, substituted, total
from workbench.verifiers.rules.proportion import proportional

_CONSTANT = re.compile(r'[CcKk](?:_\w+)?|"const|[ABD]')
_SURE = re.compile(r'C(?:_\w+)?|[cK](?:_[0-9])?|"const')
_NUMBERED = re.compile(r"[Cc]_[0-9]")
_PARAMETERS_TOO = frozenset("ABD")
_PARAMETERS = frozenset("abd")
_WHOLE = frozenset("klmn")
_MOST = 3


class _Combination(NamedTuple):
    """``rest`` plus each constant times its part."""

    rest: Node
    parts: tuple[Node, ...]


def same_family(first: Node, second: Node, names: tuple[frozenset[str], frozenset[str]]) -> bool | None:
    r"""Whether two expressions differ only in their free constants; None when they have none to match.

    Those are constants of integration (``C``, ``C_1``, ``K`` ...) and the whole number of a period (``k\pi``).

    Args:
        first: An expression.
        second: Another.
        names: The names in each.
    """
    ours, theirs = _constants(names[0]), _constants(names[1])
    if not ours or len(ours) != len(theirs) or len(ours) > _MOST:
        return _same_period(first, second, names)
    if not any(_SURE.fullmatch(name) for name in ours + theirs):
        return None
    one_variable = all(len(found - CONSTANTS) == len(ours) + 1 for found in names)
    if len(ours) == 1 and _PARAMETERS_TOO & {*ours, *theirs} and not one_variable:
        return None
    one, other = _combination(first, ours), _combination(second, theirs)
    if one is None or other is None:
        return same_value(first, substituted(second, dict(zip(theirs, map(Name, ours), strict=True))))
    if len(ours) == 1 and _is_unit(one.parts[0]) and _is_unit(other.parts[0]):
        return _is_number(total([one.rest, negative(other.rest)]))
    scalable = one_variable and all(_NUMBERED.fullmatch(name) for name in ours + theirs)
    return same_value(one.rest, other.rest) and any(
        all(_same_part(mine, yours, scalable) for mine, yours in zip(one.parts, order, strict=True))
        for order in permutations(other.parts)
    )


def _constants(names: frozenset[str]) -> list[str]:
    """Names of constants of integration, in order; none where nothing else varies."""
    found = sorted(name for name in names if _CONSTANT.fullmatch(name))
    return found if any(name.islower() for name in names - CONSTANTS - {*found}) else []


def _combination(node: Node, names: list[str]) -> _Combination | None:
    """The expression as a combination with the constants as its coefficients; None when it is none."""
    zeros = dict.fromkeys(names, Number(0))
    rest = substituted(node, zeros)
    parts = [total([substituted(node, {**zeros, name: ONE}), negative(rest)]) for name in names]
    terms = [product([Name(name), part]) for name, part in zip(names, parts, strict=True)]
    return _Combination(rest, tuple(parts)) if same_value(node, total([rest, *terms])) else None


def _is_unit(node: Node) -> bool:
    return bool(same_value(node, ONE) or same_value(node, MINUS_ONE))


def _is_number(node: Node) -> bool:
    """Whether a difference doesn't depend on its variables; where those may be parameters, whether it is 0."""
    names = features(node).names - CONSTANTS
    if _PARAMETERS & names:
        return bool(same_value(node, Number(0)))
    return bool(same_value(node, substituted(node, {name: Name(name + "′") for name in names})))


def _same_part(first: Node, second: Node, scalable: bool) -> bool:
    """Whether two constants multiply the same, or multiples of the same where that is no difference."""
    return bool(same_value(first, second) or (scalable and proportional(first, second, positive=False)))


def _same_period(first: Node, second: Node, names: tuple[frozenset[str], frozenset[str]]) -> bool | None:
    r"""Whether two multiples of π differ in the name of a whole number (``k\pi`` and ``n\pi``)."""
    ours, theirs = (found - CONSTANTS for found in names)
    if len(ours) != 1 or len(theirs) != 1 or not ours | theirs <= _WHOLE or "π" not in names[0]:
        return None
    return same_value(first, substituted(second, {min(theirs): Name(min(ours))}))
