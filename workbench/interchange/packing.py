"""Writing an archive: rows as they come, a member at a time, the manifest last."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from hashlib import sha256
from typing import IO, Final, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import msgspec

from workbench.core.errors import FormatError
from workbench.interchange.lines import LONGEST, Row, encoder
from workbench.interchange.model_archive import ColumnType, Manifest, Member

MANIFEST: Final = "manifest.json"

_BUFFER = 1 << 20
"""Bytes that are packed at once: a line at a time is slow."""
_UNIX = 3
"""The system by which unpackers read permissions (APPNOTE 6.3.10, 4.4.2)."""
_READABLE = 0o644 << 16
"""For everyone: they stand in the upper half of an entry's attributes."""


class Rows(NamedTuple):
    """What becomes a member."""

    name: str
    columns: Mapping[str, ColumnType]
    rows: Generator[Row, None, None]


def pack(
    file: IO[bytes], members: Iterable[Rows], *, schema: int, code_version: str, left_out: Mapping[str, int]
) -> Manifest:
    """Write an archive; the same rows give the same bytes wherever zlib compresses the same way.

    Raises:
        FormatError: A row is too long to be read back.
    """
    with ZipFile(file, "w") as archive:
        manifest = Manifest(
            schema=schema,
            code_version=code_version,
            left_out=dict(left_out),
            members=tuple(_add(archive, member) for member in members),
        )
        document = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
        with archive.open(_info(MANIFEST), "w") as entry:
            entry.write(document)
    return manifest


def _add(archive: ZipFile, member: Rows) -> Member:
    line = encoder(tuple(member.columns))
    lines = size = 0
    digest = sha256()
    with (
        # Where the disk is full they are closed before the database they come from is.
        closing(member.rows) as rows,
        archive.open(_info(f"{member.name}.jsonl"), "w", force_zip64=True) as entry,
        io.BufferedWriter(entry, _BUFFER) as buffered,
    ):
        for row in rows:
            text = line(row)
            if len(text) > LONGEST:
                raise FormatError(f"{member.name}: row {lines + 1} is longer than {LONGEST >> 20} MiB.", "Back it up.")
            buffered.write(text)
            digest.update(text)
            lines += 1
            size += len(text)
    return Member(name=member.name, columns=dict(member.columns), lines=lines, bytes=size, sha256=digest.hexdigest())


def _info(name: str) -> ZipInfo:
    """An entry that says nothing of when and where it was made."""
    info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = ZIP_DEFLATED
    info.create_system = _UNIX
    info.external_attr = _READABLE
    return info
