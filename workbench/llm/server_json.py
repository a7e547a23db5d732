"""Lenient decoding of JSON: some servers write invalid JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

_LONGEST_INT = 18
_BEHIND = re.compile(r"(?:[\s\x00]|:[^\n]*+(?:\n|\Z))*+\Z")
"""What may follow the JSON: blanks, and keep-alive lines of a gateway."""


def decoded_json(text: bytes | str) -> Any:
    """Decode JSON leniently.

    ``NaN`` and infinities, numbers that exceed a float, invalid UTF-8, unpaired surrogates and line ends within texts
    (Python and JavaScript servers send them) are accepted: numbers as floats, invalid characters as U+FFFD.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: The JSON is nested too deeply.
    """
    try:
        return msgspec.json.decode(text)
    except ValueError as error:
        whole = (text.decode("utf-8", "replace") if isinstance(text, bytes) else text).lstrip()
        try:
            data, end = _LENIENT.raw_decode(whole)
        except ValueError:
            raise error from None
        if not _BEHIND.match(whole, end):
            raise
        return _replace_surrogates(data)


_LENIENT = json.JSONDecoder(
    strict=False, parse_int=lambda digits: int(digits) if len(digits) <= _LONGEST_INT else float(digits)
)


def _replace_surrogates(data: Any) -> Any:
    if isinstance(data, str):
        return data.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(data, list):
        return [_replace_surrogates(one) for one in data]
    if isinstance(data, dict):
        return {_replace_surrogates(name): _replace_surrogates(value) for name, value in data.items()}
    return data
