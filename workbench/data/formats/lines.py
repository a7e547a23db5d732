"""Reads lines of a byte stream in large blocks; only LF ends a line."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from workbench.core.item import KEPT_RAW, Refusal
from workbench.data.formats.fields import REQUIRED

BLOCK = 1 << 20
MAX_LINE_BYTES = 128 << 20
"""Maximum length of a line."""
Fault = Literal["too_long", "unterminated", "damaged"]
"""Why a line is faulty. ``too_long``: only its first 64 KiB are kept; ``unterminated``: the file ends without a line
end; ``damaged``: the compressed stream ends early.
"""


class Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class LineRefusedError(Exception):
    """A line is rejected; ``field`` and the message name the field and the reason."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class NumberedLine(Struct, frozen=True, gc=False):
    number: int
    raw: bytes
    fault: Fault | None


def read_lines(stream: Stream) -> Iterator[NumberedLine]:
    """Yield all lines in order; a line longer than `MAX_LINE_BYTES` is never held in memory whole."""
    number = 0
    rest = b""
    too_long = False
    while True:
        try:
            block = stream.read(BLOCK)
        except (EOFError, zlib.error):
            yield NumberedLine(number + 1, rest[:KEPT_RAW], "damaged")
            return
        if not block:
            break
        if too_long:
            _, end, block = block.partition(b"\n")
            if not end:
                continue
            too_long = False
            number += 1
            yield NumberedLine(number, rest, "too_long")
            rest = b""
        first, *lines = block.split(b"\n")
        rest += first
        for following in lines:
            raw, rest = rest, following
            number += 1
            yield (
                NumberedLine(number, raw, None)
                if len(raw) <= MAX_LINE_BYTES
                else NumberedLine(number, raw[:KEPT_RAW], "too_long")
            )
        if len(rest) > MAX_LINE_BYTES:
            rest, too_long = rest[:KEPT_RAW], True
    if rest:
        yield NumberedLine(number + 1, rest, "too_long" if too_long else "unterminated")


# -- Reasons for rejections in words; this code runs only for rejected rows and may be slow.


class RefusedError(Exception):
    def __init__(self, code: str, field: str | None, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.field = field
        self.message = message


def make_refusal(line: int, raw: bytes, error: RefusedError) -> Refusal:
    field = None if error.field is None else _replace_surrogates(error.field)
    return Refusal(
        line=line, code=error.code, field=field, message=_replace_surrogates(error.message), raw=raw[:KEPT_RAW]
    )


def _replace_surrogates(text: str) -> str:
    return text.encode(errors="replace").decode()


def explain_document(document: bytes) -> RefusedError:
    try:
        text = document.decode()
    except UnicodeDecodeError as error:
        return bad_utf8_error(None, error)
    if "\0" in text:
        return RefusedError("nul", None, f"NUL byte at position {text.index(chr(0)) + 1}. Remove it from the file.")
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except RecursionError:
        return RefusedError("bad_json", None, "The JSON is nested too deeply. Flatten the extra keys.")
    except json.JSONDecodeError as error:
        message = f"Not valid JSON at character {error.pos + 1}: {error.msg}. Fix the row and try again."
        return RefusedError("bad_json", None, message)
    except ValueError as error:
        message = f"Not valid JSON: {error}. Fix the row and try again."
        return RefusedError("bad_json", _field_of_constant(text), message)
    if not isinstance(value, dict):
        kind = json_kind(document.strip())
        return RefusedError("wrong_type", None, f"The row is {kind}, not an object. Write one object per line.")
    if has_surrogate(text, value):
        return RefusedError("bad_utf8", None, "A lone \\ud800–\\udfff escape is not a character. Remove or pair it.")
    return RefusedError("bad_json", None, "The JSON can't be read. Fix the row and try again.")


def explain_cells(
    cells: Mapping[str, msgspec.Raw], columns: Mapping[str, str], types: Mapping[str, Any]
) -> RefusedError:
    """Return which of an object's values makes it invalid as an item, and why.

    Args:
        columns: The object's keys by field name.
        types: The type that each field's value must have, by field name.
    """
    for field, column in columns.items():
        token = cells.get(column)
        if field in REQUIRED and (token is None or bytes(token) == b"null"):
            message = f"{column} is missing. Add it, or map another column to it: {field}=COLUMN."
            return RefusedError("missing_field", column, message)
        if token is None:
            continue
        try:
            msgspec.json.decode(token, type=types[field])
        except UnicodeDecodeError as error:
            return bad_utf8_error(column, error)
        except (msgspec.MsgspecError, ValueError):
            wanted = "true or false (or 1 or 0)" if field == "gold" else "text, in quotes"
            kind = json_kind(bytes(token))
            return RefusedError("wrong_type", column, f"{column} is {kind}. Write it as {wanted}.")
    return RefusedError("bad_json", None, "The row can't be read. Fix the row and try again.")


def bad_utf8_error(field: str | None, error: UnicodeDecodeError) -> RefusedError:
    byte = error.object[error.start]
    return RefusedError(
        "bad_utf8", field, f"Byte 0x{byte:02x} at position {error.start + 1} is not UTF-8. Save the file as UTF-8."
    )


_NO_TEXTS = ("nan", "NaN", "<NA>", "NaT")


def is_no_text(text: object) -> bool:
    """Return whether pandas or numpy write a missing value as this text.

    ``None`` and ``null`` are texts: they occur as answers to questions about programs.
    """
    return text in _NO_TEXTS


def no_text_error(column: str, text: str) -> RefusedError:
    return RefusedError(
        "missing_field",
        column,
        f"{column} is {text!r}, as tables spell a missing value. Write the text; if it is this word, add a full stop "
        "or a box: \\boxed{NaN}.",
    )


def json_kind(token: bytes) -> str:
    return {b'"': "text", b"{": "an object", b"[": "a list", b"t": "true", b"f": "false", b"n": "null"}.get(
        token[:1], "a number"
    )


def refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a valid JSON number")


class _NotANumber:
    def __init__(self, _name: str) -> None: ...


def _field_of_constant(text: str) -> str | None:
    """Return the field that holds the first NaN or Infinity, as in ``candidates[2].score``."""
    left: list[tuple[str, object]] = []
    # The text after the constant may be broken.
    with suppress(ValueError, RecursionError):
        left.append(("", json.loads(text, parse_constant=_NotANumber, parse_int=float)))
    while left:
        path, value = left.pop()
        if isinstance(value, _NotANumber):
            return path or None
        if isinstance(value, dict):
            left += [(f"{path}.{key}" if path else key, inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list):
            left += [(f"{path}[{place}]", inner) for place, inner in reversed(list(enumerate(value)))]
    return None


def has_surrogate(text: str, value: object) -> bool:
    """Return whether a JSON text has an escaped lone surrogate, which can't be stored.

    Args:
        value: The decoded value.
    """
    if "\\ud" not in text.lower():
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
