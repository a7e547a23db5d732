"""Copies of the columns beside the database: ``p.db.columns/``, safe to delete at any time.

A file holds one part: the items, or one run's verdicts. It begins with a checksum of the rest and the length of the
head, four bytes each; the head says in JSON what the part was made from, and the columns follow, each padded to eight
bytes. A file only ever saves reading the database again: whatever is wrong with one, or with writing one, costs
nothing but time.
"""

from __future__ import annotations

import re
import struct
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from workbench.core.database.generation import ChangeMark
from workbench.core.files import read_own, require_own_folder, whole_file

SUFFIX = ".columns"

_FORMAT = 1
_BEGINNING = struct.Struct("<II")
_PADDED = 8
_LARGEST = 1 << 30
_LAST_VERSION = 2**63 - 1
_KIND = re.compile(r"[<>|][iu][1248]|[<>]f8")
"""Whole and real numbers: what else numpy could make of bytes is none of ours."""


class ColumnHeader(Struct, frozen=True, kw_only=True):
    """What a part was made from, and how its columns are to be read.

    Attributes:
        run: Whose verdicts these are; None for the items.
        version: Of the database's history of changes; see `ChangeMark`.
        token: In hexadecimal digits.
        schema: Version of the database's schema.
        rows: Values in each column.
        aligned: Checksum of the items the rows stand for.
        kinds: Column -> its type as numpy writes it, such as ``"<i4"``.
        names: Column -> what its codes stand for.
    """

    run: int | None
    version: int
    token: str
    schema: int
    rows: int
    aligned: int
    kinds: dict[str, str]
    names: dict[str, tuple[str, ...]]
    byte_order: str = sys.byteorder
    format: int = _FORMAT

    @property
    def mark(self) -> ChangeMark:
        """The point in the history."""
        return ChangeMark(self.version, bytes.fromhex(self.token))


class ColumnPart(Struct, frozen=True, kw_only=True, eq=False):
    """A part as it stands in its file."""

    head: ColumnHeader
    columns: Mapping[str, memoryview]


def folder(database: Path) -> Path:
    """Where the parts of a database stand."""
    return Path(f"{database.resolve()}{SUFFIX}")


def name(run: int | None) -> str:
    """The name of a run's file, or of the items' for None."""
    return "items" if run is None else f"run-{run}"


def run_of(name: str) -> int | None:
    """The run of a file of this name; None for the items, and for files that have no business there."""
    number = name.removeprefix("run-")
    return int(number) if number != name and number.isdecimal() else None


def read(path: Path) -> ColumnPart | None:
    """A part; None where there is no file, or it is damaged or of another kind."""
    try:
        require_own_folder(path.parent)
        whole = memoryview(read_own(path, _LARGEST))
        checksum, length = _BEGINNING.unpack_from(whole)
        if zlib.crc32(whole[4:]) != checksum:
            return None
        at = _BEGINNING.size + length
        head = msgspec.json.decode(whole[_BEGINNING.size : at], type=ColumnHeader)
        bytes.fromhex(head.token)
    except (OSError, struct.error, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if (head.format, head.byte_order) != (_FORMAT, sys.byteorder):
        return None
    if head.rows < 0 or not 0 <= head.version <= _LAST_VERSION or not all(map(_KIND.fullmatch, head.kinds.values())):
        return None
    columns = {}
    for column, kind in head.kinds.items():
        size = head.rows * int(kind[2:])
        columns[column] = whole[at : at + size]
        at += _padded(size)
    if at != len(whole):
        return None
    return ColumnPart(head=head, columns=columns)


def write(path: Path, part: ColumnPart) -> bool:
    """Put a part in place of what stood there, whole or not at all; False where that can't be done."""
    head = msgspec.json.encode(part.head)
    head += b" " * (_padded(len(head)) - len(head))
    pieces = [len(head).to_bytes(4, "little"), head, *_column_bytes(part.columns)]
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        require_own_folder(path.parent)
        with whole_file(path, durable=False) as file:
            file.write(checksum.to_bytes(4, "little"))
            file.writelines(pieces)
    except OSError:
        return False
    return True


def _column_bytes(columns: Mapping[str, memoryview]) -> Iterator[bytes | memoryview]:
    for values in columns.values():
        yield values
        yield bytes(_padded(values.nbytes) - values.nbytes)


def _padded(size: int) -> int:
    return -size % _PADDED + size
