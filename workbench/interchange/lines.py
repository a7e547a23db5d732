"""Rows of a table as JSON lines, and back: checked against the table's columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from workbench.interchange.model_archive import ColumnType

Row = tuple[object, ...]

LONGEST: Final = 1 << 28
"""Bytes of a line that is written or read."""

_INFINITE = Literal["Inf", "-Inf"]
_TYPES: Final[dict[ColumnType, Any]] = {
    "INTEGER": int | None,
    "REAL": float | _INFINITE | None,
    "TEXT": str | None,
    "BLOB": bytes | None,
}


def encoder(columns: Sequence[str]) -> Callable[[Row], bytes]:
    """A function that writes a row as a line; see `workbench.interchange.model_archive.Member`."""
    encode = msgspec.json.Encoder().encode

    def line(row: Row) -> bytes:
        return encode(dict(zip(columns, row, strict=True))) + b"\n"

    return line


def decoder(columns: Mapping[str, ColumnType]) -> Callable[[bytes], Row]:
    """A function that reads a line; it raises msgspec.ValidationError or DecodeError where it is no such row."""
    record = msgspec.defstruct(
        "Row", [(name, _TYPES[kind]) for name, kind in columns.items()], forbid_unknown_fields=True
    )
    decode: Callable[[bytes], Struct] = msgspec.json.Decoder(record).decode
    reals = [place for place, kind in enumerate(columns.values()) if kind == "REAL"]

    def row(line: bytes) -> Row:
        found = msgspec.structs.astuple(decode(line))
        if not any(type(found[place]) is str for place in reals):
            return found
        return tuple(_number(value) if place in reals else value for place, value in enumerate(found))

    return row


def _number(value: object) -> object:
    return float(value) if isinstance(value, str) else value
