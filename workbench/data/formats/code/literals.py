"""Values of JSON as Python literals."""

from __future__ import annotations

from typing import Any

from workbench.data.formats.explain import RefusedError


def literal(value: Any, key: str) -> str:
    """A JSON value as Python writes it: floats exactly, texts escaped.

    Args:
        key: The field that it is from, for messages.

    Raises:
        RefusedError: It is nested too deeply, or a number is beyond Python's limits.
    """
    try:
        return repr(value)
    except RecursionError:
        raise RefusedError("wrong_type", key, f"A value in {key} is nested too deeply. Flatten it.") from None
    except ValueError as error:
        raise RefusedError("wrong_type", key, f"A number in {key} is too long: {error}. Leave the test out.") from None


def arguments(values: list[Any], key: str) -> str:
    """The arguments of a call, such as ``[1, 2], 'a'``.

    Raises:
        RefusedError: See `literal`.
    """
    return ", ".join(literal(value, key) for value in values)
