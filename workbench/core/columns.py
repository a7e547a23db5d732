"""Validates columns of values that callers pass: texts, conversations, numbers. Errors name the wrong
value's position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from fractions import Fraction
from math import isnan
from numbers import Integral, Real
from typing import Any, cast

from workbench.core.errors import UsageError
from workbench.core.taxonomy import parse_type


class FieldError(UsageError):
    """A field has a wrong value.

    Attributes:
        field: The field's name and index, such as ``completions[3]``.
    """

    def __init__(self, field: str, wrong: str) -> None:
        super().__init__(f"{field} {wrong}.")
        self.field = field


def column(name: str, value: object, length: int | None = None) -> Sequence[Any]:
    """Return a list with one value for each item.

    Args:
        length: The required length; None for any length.

    Raises:
        FieldError: The value is not a list, or has another length.
    """
    # Trainers pass lists, tuples and numpy arrays; a numpy array is not a `Sequence`.
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sized) or not hasattr(value, "__getitem__"):
        raise FieldError(name, "must be a list with one value per completion")
    try:
        found = len(value)
    except TypeError as error:
        # A zero-dimensional array has no length.
        raise FieldError(name, "must be a list with one value per completion") from error
    if length is not None and found != length:
        raise FieldError(name, f"has {found} values for {length} completions")
    return cast("Sequence[Any]", value)


def is_missing(value: object) -> bool:
    """Return whether a value is missing: None, or NaN as in data frames."""
    # A number too large for a float is still a number.
    return value is None or (isinstance(value, Real) and not isinstance(value, Integral | Fraction) and isnan(value))


def is_number(given: object) -> bool:
    """Return whether a value is a number, and not for example a number as text, which trainers may pass."""
    return isinstance(given, Real) and not isinstance(given, bool)


def text(name: str, value: object) -> str:
    """Return a text, or a number as text.

    Raises:
        FieldError: The value is something else.
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        raise FieldError(name, "must be text, not true or false")
    if isinstance(value, Integral):
        try:
            return str(int(value))
        except ValueError as error:
            # Python takes long to convert such long integers to text.
            raise FieldError(name, "is a number with too many digits") from error
    if is_missing(value):
        raise FieldError(name, "must be text; it is missing")
    if isinstance(value, Real):
        try:
            return repr(float(value))
        except OverflowError as error:
            raise FieldError(name, "is a number with too many digits") from error
    raise FieldError(name, "must be text")


def subtype(name: str, value: object) -> str | None:
    """Return the subtype's code, parsed as in an import; None for a missing value or no subtype.

    Raises:
        FieldError: The value is not text.
    """
    if is_missing(value):
        return None
    parsed = parse_type(text(name, value))
    return parsed.code if parsed is not None and parsed.is_subtype else None


def prompt_text(name: str, prompt: object) -> str:
    """Return a prompt's text; for a conversation, the user's last message.

    Raises:
        FieldError: The value is neither a text nor a conversation.
    """
    return _last_turn(name, prompt, "user")


def completion_text(name: str, completion: object) -> str:
    """Return a completion's text; for a conversation, the assistant's last message.

    Raises:
        FieldError: The value is neither a text nor a conversation.
    """
    return _last_turn(name, completion, "assistant")


def _last_turn(name: str, turns: object, role: str) -> str:
    # A conversation from Parquet is an array.
    turns = turns.tolist() if hasattr(turns, "tolist") else turns
    if not isinstance(turns, Sequence) or isinstance(turns, str | bytes):
        return text(name, turns)
    for number, turn in reversed(list(enumerate(turns))):
        if not isinstance(turn, Mapping):
            raise FieldError(f"{name}[{number}]", "must be a message with role and content")
        if turn.get("role") == role:
            return _content_text(f"{name}[{number}].content", turn.get("content"))
    return ""


def _content_text(name: str, content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        blocks = [block for block in content if isinstance(block, Mapping) and block.get("type") == "text"]
        return "".join(text(f"{name}.text", block.get("text")) for block in blocks)
    return text(name, content)
