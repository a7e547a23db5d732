"""JSON as plain objects, as Python's own writer writes it: with NaN, and with whole numbers of any length."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from workbench.data.formats.explain import explain_document, has_surrogate

_DIGITS: Final = 19
"""Of a number that may not fit 64 bits."""


def plain_object(document: bytes) -> dict[str, Any]:
    """An object; NaN and infinities are None in it, numbers too long for 64 bits are floats.

    Raises:
        RefusedError: It is no JSON object, or a character in it is none.
    """
    found = plain(document)
    if not isinstance(found, dict) or has_surrogate(document.decode(), found):
        raise explain_document(document)
    return found


def plain(document: bytes) -> object:
    """What a document holds, halves of characters among it; None where it is no JSON."""
    try:
        return msgspec.json.decode(document)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        return json.loads(document.decode(), parse_constant=lambda _: None, parse_int=_number)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) < _DIGITS else float(digits)
