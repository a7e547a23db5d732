"""What a test does to the value of its call before it compares, done outside on the plain value.

Only values that are plain all through are taken here: numbers, texts, and lists and tuples of such; at the top also
sets and dictionaries where their members are all that counts. With anything else the test is run inside after all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

from workbench.core.code_tests.assertion import AS_LIST, ISCLOSE, Via
from workbench.verifiers.execution.compare import MalformedOutputError, opened, scalar

_SCALARS: Final = (str, int, float, bool, type(None))
_MEMBERS: Final = ("set", "frozenset", "dict")
_OF_MEMBERS: Final[dict[str, Callable[..., Any]]] = {"list": list, "tuple": tuple, "sorted": sorted, "len": len}
_OF_VALUES: Final[dict[str, Callable[..., Any]]] = {
    **_OF_MEMBERS,
    "str": str,
    "repr": repr,
    "int": int,
    "float": float,
    "bool": bool,
    "abs": abs,
    "round": round,
    AS_LIST: lambda found: list(found) if isinstance(found, tuple) else found,
}


class NotPlainError(ValueError):
    """The value is none that is converted outside."""


class Raised(Exception):
    """The conversion raised an error, as it would have inside."""


def satisfies(via: Via, expected: object, value: Any) -> bool:
    """Whether a value that came out as tagged JSON, converted, is what a test wants.

    Args:
        expected: The value wanted; for comparisons of numbers, true.
        value: What `compare.decoded` gave.

    Raises:
        NotPlainError: The value isn't plain.
        Raised: The conversion fails on it.
        MalformedError: It is no tagged JSON.
    """
    try:
        if via.name in ("set", "frozenset"):
            return _same_set(expected, _members(value))
        return bool(_converted(via, value) == expected)
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, NotPlainError | MalformedOutputError):
            raise
        raise Raised(type(error).__name__, str(error)) from error


def _converted(via: Via, value: Any) -> Any:
    if via.name in ("<", "<="):
        found, (wanted, most) = _number(value), via.given
        return abs(found - wanted) < most if via.name == "<" else abs(found - wanted) <= most
    if via.name == ISCLOSE:
        wanted, relative, absolute = via.given
        return math.isclose(_number(value), wanted, rel_tol=relative, abs_tol=absolute)
    if via.name == "sorted":
        return sorted(_members(value), reverse=bool(via.given))
    if via.name in _OF_MEMBERS and _is_container(value):
        return _OF_MEMBERS[via.name](_members(value))
    return _OF_VALUES[via.name](_plain(value), *via.given)


def _number(value: Any) -> Any:
    """A real number; what else can be subtracted is of a class of its own."""
    found = _plain(value)
    if not isinstance(found, int | float):
        raise TypeError(f"a {type(found).__name__} where a number is wanted")
    return found


def _plain(value: Any) -> Any:
    """The Python value of tagged JSON, without sets and dictionaries: these might be built of keys that hash alike."""
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, list):
        return [*map(_plain, value)]
    tag, held = opened(value)
    if tag == "tuple" and isinstance(held, list):
        return tuple(map(_plain, held))
    if tag in ("int", "bytes", "complex"):
        return scalar(tag, held)
    raise NotPlainError


def _is_container(value: Any) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(_MEMBERS)


def _members(value: Any) -> list[Any]:
    """What iterating over a value gives."""
    if _is_container(value):
        tag, held = opened(value)
        if not isinstance(held, list) or (tag == "dict" and not all(isinstance(one, list) and one for one in held)):
            raise MalformedOutputError
        return [_plain(one[0] if tag == "dict" else one) for one in held]
    found = _plain(value)
    if not isinstance(found, Iterable):
        raise TypeError(f"{type(found).__name__!r} object is not iterable")
    return list(found)


def _same_set(expected: object, members: list[Any]) -> bool:
    """Whether a set of these is the one wanted; they are looked up in that, and never become a set of their own."""
    if any(isinstance(member, list) for member in members):
        raise TypeError("unhashable type: 'list'")
    if not isinstance(expected, set):
        return False
    return all(member in expected for member in members) and len({*members}) == len(expected)
