"""Cached columns next to the database: ``p.db.columns/``, safe to delete at any time.

A file holds one part of the data: the items, or the verdicts of one run. It begins with a checksum of the rest and the
length of the header, four bytes each; the header describes in JSON what the part was made from, and the columns follow,
each padded to eight bytes. The files only save time: if one is damaged or can't be written, the database is read again.
"""

from __future__ import annotations

import struct
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
_MAX_BYTES = 1 << 30


class ColumnHeader(Struct, frozen=True, kw_only=True):
    """The source of a part, and the layout of its columns.

    Attributes:
        run: The run of the verdicts; None for the items.
        version: Version in the database's history of changes; see `ChangeMark`.
        token: Token of the history, in hexadecimal.
        schema: Version of the database's schema.
        rows: Number of values in each column.
        aligned: Checksum of the rows' item ids, to which columns of other parts must be aligned.
        kinds: The numpy type of each column, such as ``"<i4"``, by column.
        names: The meanings of a column's codes, in order, by column.
    """

    run: int | None
    version: int
    token: str
    schema: int
    rows: int
    aligned: int
    kinds: dict[str, str]
    names: dict[str, tuple[str, ...]]
    format: int = _FORMAT

    @property
    def mark(self) -> ChangeMark:
        return ChangeMark(self.version, bytes.fromhex(self.token))


class ColumnPart(Struct, frozen=True, kw_only=True, eq=False):
    head: ColumnHeader
    columns: Mapping[str, memoryview]


def folder(database: Path) -> Path:
    return Path(f"{database.resolve()}{SUFFIX}")


def name(run: int | None) -> str:
    return "items" if run is None else f"run-{run}"


def run_of(name: str) -> int | None:
    """Return the run whose verdicts a file of this name holds; None for the items, and for other names."""
    number = name.removeprefix("run-")
    return int(number) if number != name and number.isdecimal() else None


def read(path: Path) -> ColumnPart | None:
    """Load a part; return None if there is no file, or it is damaged or of another format."""
    try:
        require_own_folder(path.parent)
        whole = memoryview(read_own(path, _MAX_BYTES))
        checksum, length = _BEGINNING.unpack_from(whole)
        if zlib.crc32(whole[4:]) != checksum:
            return None
        at = _BEGINNING.size + length
        head = msgspec.json.decode(whole[_BEGINNING.size : at], type=ColumnHeader)
    except (OSError, struct.error, msgspec.MsgspecError):
        return None
    if head.format != _FORMAT:
        return None
    columns = {}
    for column, kind in head.kinds.items():
        size = head.rows * int(kind[2:])
        columns[column] = whole[at : at + size]
        at += _padded_size(size)
    return ColumnPart(head=head, columns=columns)


def write(path: Path, part: ColumnPart) -> bool:
    head = msgspec.json.encode(part.head)
    head += b" " * (_padded_size(len(head)) - len(head))
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
        yield bytes(_padded_size(values.nbytes) - values.nbytes)


def _padded_size(size: int) -> int:
    return -size % _PADDED + size
