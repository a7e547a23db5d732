"""Archives: what stands in one beside its rows."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

ColumnType = Literal["INTEGER", "REAL", "TEXT", "BLOB"]
"""SQLite's, of a column."""

FORMAT: Final = "workbench-archive"
VERSION: Final = 1
"""Version of how an archive is made, apart from the tables in it (`Manifest.schema`)."""

_Count = Annotated[int, Meta(ge=0)]


class Member(Struct, frozen=True, kw_only=True):
    """One file of an archive, JSON Lines: a row of the database a line.

    Attributes:
        name: The file is ``NAME.jsonl``.
        columns: What each line holds, in this order. Bytes (BLOB) are base64; an infinite number is ``"Inf"`` or
            ``"-Inf"``.
        bytes: The file's length.
        sha256: Its hash, as hexadecimal digits.
    """

    name: Annotated[str, Meta(pattern="^[a-z_]{1,60}$")]
    columns: dict[str, ColumnType]
    lines: _Count
    bytes: _Count
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Manifest(Struct, frozen=True, kw_only=True):
    """``manifest.json`` of an archive.

    Attributes:
        version: See `VERSION`.
        schema: The version of the database's tables.
        code_version: The program's that wrote it.
        left_out: What was there and is not in the archive -> how much of it.
        members: All other files, in the order in which they are read back.
    """

    format: Literal["workbench-archive"] = FORMAT
    version: Annotated[int, Meta(ge=1)] = VERSION
    schema: Annotated[int, Meta(ge=1)]
    code_version: str
    left_out: dict[str, int]
    members: tuple[Member, ...]


class ArchiveWritten(Struct, frozen=True, kw_only=True):
    """What was written into an archive.

    Attributes:
        rows: Member -> lines.
        left_out: See `Manifest`.
    """

    rows: dict[str, int]
    left_out: dict[str, int]

    @property
    def written(self) -> int:
        """Lines in all."""
        return sum(self.rows.values())


class Restored(Struct, frozen=True, kw_only=True):
    """``workbench restore --json``.

    Attributes:
        rows: Member of an archive -> rows read back; of a backup what would be one -> its rows.
        left_out: What the archive was written without, see `Manifest`.
        schema: Version of the tables that the archive or the backup was written from.
        code_version: The program's that wrote an archive; a backup doesn't say.
        kept: Names that what stood there has now, and the logs beside it.
    """

    database: str
    rows: dict[str, int]
    left_out: dict[str, int]
    schema: int
    code_version: str | None
    kept: tuple[str, ...] = ()
