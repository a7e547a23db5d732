"""Comparison outside the sandbox: a value in tagged JSON against a literal of the test.

A program's value never becomes a Python set or dictionary, since its keys might all have the same hash: its members are
looked up in the literal's instead, in time proportional to the value's length. So expected values are never inside the
sandbox, and passing requires computing the answer.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

_SHOWN: Final = 200
_MAX_PART_BITS: Final = 2200
"""Maximum bits of a fraction's numerator or denominator for it to equal a non-integer number."""

_MEMBERS: Final = 12
_DEEPEST_SHOWN: Final = 5
_SCALARS: Final = (str, int, float, bool, type(None))
_SIGNS: Final = {"tuple": ("(", ")"), "set": ("{", "}"), "frozenset": ("frozenset({", "})"), "dict": ("{", "}")}

NOTHING: Final = object()
"""A key that equals no literal."""


class MalformedOutputError(ValueError):
    """The sandbox's output is not tagged JSON."""


def decoded(text: bytes) -> Any:
    """Decode tagged JSON.

    Raises:
        MalformedOutputError: The text is invalid, or nested too deeply.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedOutputError from error


def equal(expected: object, value: Any) -> bool:
    """Return whether the value that tagged JSON represents ``==`` a literal's value, as in Python (``True == 1``).

    Args:
        expected: The value as returned by `ast.literal_eval`.
        value: The value as returned by `decoded`.

    Raises:
        MalformedOutputError: The value is not tagged JSON.
    """
    if isinstance(value, _SCALARS):
        return bool(expected == value)
    if isinstance(value, list):
        return isinstance(expected, list) and _all_equal(expected, value)
    tag, held = split_tag(value)
    if tag == "tuple":
        return isinstance(expected, tuple) and _all_equal(expected, _require_list(held))
    if tag in ("set", "frozenset"):
        return isinstance(expected, set) and _same_members(expected, _require_list(held))
    if tag == "dict":
        return isinstance(expected, dict) and _same_pairs(expected, _require_list(held))
    return _equals_scalar(expected, scalar(tag, held))


def same_output(expected: str, got: str) -> bool:
    """Return whether a program printed the expected output, by the rules of APPS' and TACO's checkers.

    White space at the end of a line and empty lines at the end are ignored.
    """
    return _lines(expected) == _lines(got)


def format_value(value: Any) -> str:
    """Format a value as Python would write it, shortened.

    Raises:
        MalformedOutputError: The value is not tagged JSON.
    """
    return shortened(_format(value, 0))


def shortened(text: str) -> str:
    """Shorten a text for display; lone surrogates, which no file can contain, are escaped as in Python."""
    whole = text[:_SHOWN].encode("utf-8", "backslashreplace").decode()
    return whole if len(text) <= _SHOWN else f"{whole}…"


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def split_tag(value: Any) -> tuple[str, Any]:
    """Return the tag of a value that JSON lacks, and its content.

    Raises:
        MalformedOutputError: The value is not tagged JSON.
    """
    if not isinstance(value, dict) or len(value) != 1:
        raise MalformedOutputError
    ((tag, held),) = value.items()
    return tag, held


def _require_list(held: Any) -> list[Any]:
    if not isinstance(held, list):
        raise MalformedOutputError
    return held


def _all_equal(expected: list[Any] | tuple[Any, ...], values: list[Any]) -> bool:
    return len(expected) == len(values) and all(map(equal, expected, values))


def _same_members(expected: set[Any], values: list[Any]) -> bool:
    if len(expected) != len(values):
        return False
    keys = [_hashable_key(value) for value in values]
    return all(key in expected for key in keys) and len(set(keys)) == len(expected)


def _same_pairs(expected: dict[Any, Any], pairs: list[Any]) -> bool:
    if len(expected) != len(pairs):
        return False
    found = set()
    for pair in pairs:
        key, held = _require_pair(pair)
        if (known := _hashable_key(key)) not in expected or not equal(expected[known], held):
            return False
        found.add(known)
    return len(found) == len(expected)


def _require_pair(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, list) or len(pair) != 2:
        raise MalformedOutputError
    return pair[0], pair[1]


def _hashable_key(value: Any) -> Any:
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, list):
        return NOTHING
    tag, held = split_tag(value)
    if tag == "tuple":
        return tuple(map(_hashable_key, _require_list(held)))
    if tag in _SIGNS:
        return NOTHING
    return scalar(tag, held)


def scalar(tag: str, held: Any) -> Any:
    """Return a number, bytes or the ellipsis; `NOTHING` for a value that equals no literal.

    Raises:
        MalformedOutputError: The value is not tagged JSON.
    """
    try:
        match tag:
            case "int" if isinstance(held, str):
                return int(held, 16)
            case "bytes" if isinstance(held, str):
                return bytes.fromhex(held)
            case "complex":
                real, imaginary = map(float, _require_list(held))
                return complex(real, imaginary)
            case "decimal" if isinstance(held, str):
                return Decimal(held)
            case "fraction":
                parts = [*map(_decode_integer, _require_list(held))]
                # Reducing long fractions would take time in proportion to the square of their length.
                return Fraction(*parts) if all(part.bit_length() <= _MAX_PART_BITS for part in parts) else NOTHING
            case "ellipsis":
                return ...
            case "other" if isinstance(held, str):
                return NOTHING
    except (ValueError, TypeError, ArithmeticError) as error:
        raise MalformedOutputError from error
    raise MalformedOutputError


def _decode_integer(value: Any) -> int:
    number = value if isinstance(value, int) else scalar(*split_tag(value))
    if not isinstance(number, int):
        raise MalformedOutputError
    return number


def _equals_scalar(expected: object, value: Any) -> bool:
    try:
        return bool(expected == value)
    except ArithmeticError:  # a signalling Decimal
        return False


def _format(value: Any, depth: int) -> str:
    if isinstance(value, _SCALARS):
        return repr(value[:_SHOWN] if isinstance(value, str) else value)
    if depth > _DEEPEST_SHOWN:
        return "…"
    if isinstance(value, list):
        return f"[{_format_members(value, depth)}]"
    tag, held = split_tag(value)
    if tag == "other" and isinstance(held, str):
        return held
    if tag == "int" and isinstance(held, str):
        return held[:_SHOWN]
    if tag not in _SIGNS:
        found = scalar(tag, held)
        return f"a {tag} that is too long to look at" if found is NOTHING else repr(found)
    return _format_container(tag, _require_list(held), depth)


def _format_container(tag: str, held: list[Any], depth: int) -> str:
    if not held:
        return {"tuple": "()", "dict": "{}"}.get(tag, f"{tag}()")
    first, last = _SIGNS[tag]
    if tag == "dict":
        pairs = [
            f"{_format(key, depth + 1)}: {_format(kept, depth + 1)}"
            for key, kept in map(_require_pair, held[:_MEMBERS])
        ]
        return first + ", ".join(pairs) + ("…" if len(held) > _MEMBERS else "") + last
    return first + _format_members(held, depth) + ("," if tag == "tuple" and len(held) == 1 else "") + last


def _format_members(values: list[Any], depth: int) -> str:
    shown_ones = [_format(value, depth + 1) for value in values[:_MEMBERS]]
    return ", ".join(shown_ones) + (", …" if len(values) > _MEMBERS else "")
