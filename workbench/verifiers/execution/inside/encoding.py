"""Values as tagged JSON: the result of a test's expression, on its way out of the sandbox.

None, booleans, numbers, strings and lists are themselves (``NaN`` and ``Infinity`` too). Other values are an object
with one key, the kind: ``tuple``, ``set``, ``frozenset``, ``dict`` (pairs), ``bytes`` and large ``int`` (hexadecimal),
``complex``, ``decimal``, ``fraction``, ``ellipsis``, and ``other`` for a value that equals no literal. A subclass is
reduced to its built-in base, whatever it overrides; views of a dictionary's keys and items are sets.
"""

from __future__ import annotations

import json
from typing import Any

_DEEPEST = 200
"""Maximum nesting: Python parses no deeper literal, so a deeper value equals none."""

_LARGE_BITS = 4096
"""Bits from which an integer is written in hexadecimal, in time proportional to its length."""

_LARGE = 1 << _LARGE_BITS
_SHOWN = 300

_dumps = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
_LEAVES = frozenset((float, bool, type(None)))
_EMPTY: dict[Any, Any] = {}
_VIEWS = frozenset((type(_EMPTY.keys()), type(_EMPTY.items())))


_PLAIN = frozenset((str, int, float, bool, type(None), bytes, complex, tuple, list))


class _ValueTooLargeError(Exception):
    """The value takes more room than any value that equals the literal."""


def encoded(value: object, most: int) -> bytes:
    """Encode a value as tagged JSON in ASCII; one that takes more than ``most`` bytes becomes ``other``."""
    try:
        text = _dumps(_encode(value, [most], 0))
        if len(text) > most:
            raise _ValueTooLargeError
    except (_ValueTooLargeError, RecursionError, MemoryError):
        text = _dumps({"other": f"a {type(value).__name__} that is too large to look at"})
    return text.encode("ascii")


def is_plain(value: Any) -> bool:
    """Return whether a value consists of built-in types only, without subclasses of them.

    Sets and dictionaries may be at the top level only.
    """
    level = [*value] if type(value) in (set, frozenset, dict) else [value]
    for _ in range(_DEEPEST):
        if not {*map(type, level)} <= _PLAIN:
            return False
        level = [part for one in level if type(one) is list or type(one) is tuple for part in one]
        if not level:
            return True
    return False


def _encode(value: Any, room: list[int], depth: int) -> Any:
    kind = type(value)
    if kind in _LEAVES:
        return value
    if kind is str:
        _use_room(room, len(value))
        return value
    if kind is int:
        return value if -_LARGE < value < _LARGE else {"int": hex(value)}
    if depth >= _DEEPEST:
        raise _ValueTooLargeError
    if kind is list:
        return _encode_items(value, room, depth)
    return _encode_tagged(value, room, depth + 1)


def _use_room(room: list[int], size: int) -> None:
    room[0] -= size
    if room[0] < 0:
        raise _ValueTooLargeError


def _encode_items(values: Any, room: list[int], depth: int) -> list[Any]:
    _use_room(room, len(values))
    kinds = set(map(type, values))
    if kinds <= _LEAVES or (kinds == {int} and max(map(abs, values)) < _LARGE):
        return list(values)
    return [_encode(value, room, depth + 1) for value in values]


def _encode_tagged(value: Any, room: list[int], depth: int) -> Any:
    kind = type(value)
    if issubclass(kind, tuple):
        return {"tuple": _encode_items(tuple.__getitem__(value, slice(None)), room, depth)}
    if issubclass(kind, dict):
        pairs = dict.items(value)
        _use_room(room, len(pairs))
        return {"dict": [[_encode(key, room, depth), _encode(held, room, depth)] for key, held in pairs]}
    if issubclass(kind, list):
        return _encode_items(list.__getitem__(value, slice(None)), room, depth)
    if issubclass(kind, set):
        return {"set": _encode_items([*set.__iter__(value)], room, depth)}
    if issubclass(kind, frozenset):
        return {"frozenset": _encode_items([*frozenset.__iter__(value)], room, depth)}
    if kind in _VIEWS:
        return {"set": _encode_items([*value], room, depth)}
    return _encode_scalar(value, kind, room, depth)


def _encode_scalar(value: Any, kind: type, room: list[int], depth: int) -> Any:
    if issubclass(kind, int):
        return _encode(int.__add__(value, 0), room, depth)
    if issubclass(kind, str):
        return _encode(str.__str__(value), room, depth)
    if issubclass(kind, float):
        return float.__add__(value, 0.0)
    if issubclass(kind, bytes | bytearray):
        base = bytes if issubclass(kind, bytes) else bytearray
        _use_room(room, 2 * base.__len__(value))
        return {"bytes": base.hex(value)}
    if issubclass(kind, complex):
        number = complex.__add__(value, 0)
        return {"complex": [number.real, number.imag]}
    if value is ...:
        return {"ellipsis": None}
    return _encode_library_value(value, room, depth)


def _encode_library_value(value: Any, room: list[int], depth: int) -> Any:
    match f"{type(value).__module__}.{type(value).__qualname__}":
        case "decimal.Decimal":
            return {"decimal": str(value)}
        case "fractions.Fraction":
            return {"fraction": [_encode(value.numerator, room, depth), _encode(value.denominator, room, depth)]}
        case name if name.startswith("numpy.") and getattr(value, "ndim", None) == 0:
            return _encode(value.item(), room, depth)
    return {"other": shown(value)}


def shown(value: object) -> str:
    """Return a short text for display; the value's own ``repr`` may do anything."""
    try:
        return repr(value)[:_SHOWN]
    except BaseException:
        return f"<{type(value).__name__}>"
