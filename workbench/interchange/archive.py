"""Archives: a whole project in one file that other programs can read, and that restores to an equal database.

An archive is private to its owner: it has people's names and all that is stored about them. It never holds the
database's secret, logins, or derived data; it holds checks (items whose answer is known) only if the user asks for it.
"""

from __future__ import annotations

import io
import shlex
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import msgspec
from msgspec import Struct

from workbench.core.database import events, hashes, migrations
from workbench.core.database.sets import PACKAGE
from workbench.core.errors import Command, FormatError, StoreError, UsageError
from workbench.core.inputs import require_input
from workbench.core.project import Project
from workbench.data.formats.writing import new_file
from workbench.interchange.records import FORMAT, VERSION, ArchiveWritten, ColumnType, Manifest, Member
from workbench.interchange.store import archiving
from workbench.interchange.store.archiving import CALLS, EVENTS, PARTS, ArchiveRefused, ArchiveTable, columns
from workbench.labelling import believing
from workbench.labelling.believing import MalformedError

# -- Rows of a table as JSON lines, and back: checked against the table's columns.


Row = tuple[object, ...]
MAX_LINE: Final = 1 << 28
"""Maximum bytes of a line."""
_INFINITE = Literal["Inf", "-Inf"]
_TYPES: Final[dict[ColumnType, Any]] = {
    "INTEGER": int | None,
    "REAL": float | _INFINITE | None,
    "TEXT": str | None,
    "BLOB": bytes | None,
}


def encoder(columns: Sequence[str]) -> Callable[[Row], bytes]:
    """Return a function that writes a row as a line; see `workbench.interchange.records.Member`."""
    encode = msgspec.json.Encoder().encode

    def line(row: Row) -> bytes:
        return encode(dict(zip(columns, row, strict=True))) + b"\n"

    return line


def decoder(columns: Mapping[str, ColumnType]) -> Callable[[bytes], Row]:
    """Return a function that reads a line; it raises msgspec.ValidationError or DecodeError for an invalid row."""
    record = msgspec.defstruct(
        "Row",
        [(name, int if name == "id" else _TYPES[kind]) for name, kind in columns.items()],
        forbid_unknown_fields=True,
    )
    decode: Callable[[bytes], Struct] = msgspec.json.Decoder(record).decode
    reals = [place for place, kind in enumerate(columns.values()) if kind == "REAL"]

    def row(line: bytes) -> Row:
        found = msgspec.structs.astuple(decode(line))
        if not any(type(found[place]) is str for place in reals):
            return found
        return tuple(_parse_number(value) if place in reals else value for place, value in enumerate(found))

    return row


def _parse_number(value: object) -> object:
    return float(value) if isinstance(value, str) else value


# -- Writing an archive: rows as they come, a member at a time, the manifest last.


MANIFEST: Final = "manifest.json"
_BUFFER = 1 << 20
"""Bytes packed at once: packing line by line is slow."""
_UNIX = 3
"""The system by which unpackers read permissions (APPNOTE 6.3.10, 4.4.2)."""
_READABLE = 0o644 << 16
"""Readable by everyone; stored in the upper half of an entry's attributes."""


class Rows(NamedTuple):
    name: str
    columns: Mapping[str, ColumnType]
    rows: Generator[Row, None, None]


def pack(
    file: IO[bytes], members: Iterable[Rows], *, schema: int, code_version: str, left_out: Mapping[str, int]
) -> Manifest:
    """Write an archive; the same rows give the same bytes if zlib compresses the same way.

    Raises:
        FormatError: A row is too long to be read back.
    """
    with ZipFile(file, "w") as archive:
        manifest = Manifest(
            schema=schema,
            code_version=code_version,
            left_out=dict(left_out),
            members=tuple(_add_member(archive, member) for member in members),
        )
        document = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
        with archive.open(_zip_info(MANIFEST), "w") as entry:
            entry.write(document)
    return manifest


def _add_member(archive: ZipFile, member: Rows) -> Member:
    line = encoder(tuple(member.columns))
    lines = size = 0
    digest = sha256()
    with (
        # If the disk is full, the rows must be closed before the database they come from.
        closing(member.rows) as rows,
        archive.open(_zip_info(f"{member.name}.jsonl"), "w", force_zip64=True) as entry,
        io.BufferedWriter(entry, _BUFFER) as buffered,
    ):
        for row in rows:
            text = line(row)
            if len(text) > MAX_LINE:
                raise FormatError(f"{member.name}: row {lines + 1} is longer than {MAX_LINE >> 20} MiB.", "Back it up.")
            buffered.write(text)
            digest.update(text)
            lines += 1
            size += len(text)
    return Member(name=member.name, columns=dict(member.columns), lines=lines, bytes=size, sha256=digest.hexdigest())


def _zip_info(name: str) -> ZipInfo:
    info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = ZIP_DEFLATED
    info.create_system = _UNIX
    info.external_attr = _READABLE
    return info


def write_archive(
    project: Project, path: Path, *, checks: bool = False, calls: bool = True, force: bool = False
) -> ArchiveWritten:
    """Write the whole database as of one moment; the file appears whole or not at all.

    Args:
        checks: Include items that are checks and the answers to them; anyone with the archive can tell which they are.
        calls: Include the requests to model servers and their responses.
        force: Replace an existing file.

    Raises:
        FormatError: The file exists and ``force`` is not set, or can't be written.
        StoreError: The file belongs to the database itself, or a label event could not be read back.
        UsageError: The name ends in ``.gz``.
    """
    project.database.require_other(path)
    if path.suffix == ".gz":
        raise UsageError(f"{path}: an archive is already compressed.", "Use a name that ends in .zip.")
    parts = [part for part in PARTS if calls or part.name not in CALLS]
    conditions = archiving.Conditions(checks=checks)
    with project.database.reading() as reader, new_file(path, force=force) as file:
        try:
            archiving.require_own_corrections(reader)
        except ArchiveRefused as error:
            raise _unwritable_error(project.path, str(error)) from error
        left_out = _count_left_out(reader, checks=checks, calls=calls)
        members = (_member_rows(reader, part, conditions, project.path) for part in parts)
        manifest = pack(
            file, members, schema=migrations.latest_version(), code_version=version(PACKAGE), left_out=left_out
        )
    return ArchiveWritten(rows={member.name: member.lines for member in manifest.members}, left_out=left_out)


def _member_rows(
    reader: archiving.Connection, part: ArchiveTable, conditions: archiving.Conditions, database: Path
) -> Rows:
    names = columns(reader, part)

    def found() -> Generator[Row, None, None]:
        with closing(archiving.rows(reader, part, conditions)) as rows:
            yield from _checked_events(rows, list(names), database) if part.name in EVENTS else rows

    return Rows(part.name, names, found())


def _checked_events(rows: Iterable[Row], names: Sequence[str], database: Path) -> Iterator[Row]:
    for row in rows:
        try:
            require_event(dict(zip(names, row, strict=True)))
        except ArchiveRefused as error:
            raise _unwritable_error(database, f"the label event in row {row[0]} can't be archived: {error}") from error
        yield row


def _unwritable_error(database: Path, why: str) -> StoreError:
    name = shlex.quote(str(database))
    return StoreError(
        f"{database}: {why}.",
        f"Repair it: {Command(f'doctor {name}')}. Or copy it as it is: {Command(f'backup {name} FILE')}",
    )


def require_event(row: Mapping[str, object]) -> None:
    """Raise unless a row is a label event that another database would accept.

    Raises:
        ArchiveRefused: The row is not such an event.
    """
    try:
        event = believing.parse_event(row)
    except MalformedError as error:
        raise ArchiveRefused(f"{error.field}: {error}") from error
    if event.uuid != row["uuid"]:
        raise ArchiveRefused(f"uuid: events have it as {event.uuid}")
    if "digest" in row and row["digest"] != hashes.digest([row[name] for name in events.COLUMNS.split(", ")]):
        raise ArchiveRefused("digest: it is not what was given (value, note, person, time, round …)")


def _count_left_out(reader: archiving.Connection, *, checks: bool, calls: bool) -> dict[str, int]:
    found = {
        "checks": 0 if checks else archiving.count(reader, "check_items"),
        "responses": 0 if calls else archiving.count(reader, "responses"),
        "unfinished imports": archiving.count(reader, "imports", "state = 'running'"),
    }
    return {what: number for what, number in found.items() if number}


# -- Reading an untrusted archive: nothing in it names a path, and nothing is accepted that its manifest doesn't
# say.


_MAX_MANIFEST: Final = 1 << 20
_RATIO_LIMIT: Final = (256 << 20, 300)
"""Unpacked bytes above which the compression ratio is limited; rows of verdicts reach about forty."""
_ENCRYPTED: Final = 1
_ASK: Final = "Get another copy of it."
_BROKEN: Final = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError)


class Archive:
    """An open archive whose manifest has been checked against its content.

    Attributes:
        manifest: The archive's table of contents.
    """

    def __init__(self, path: Path, file: ZipFile) -> None:
        self._path, self._file = path, file
        self._entries = _entries(path, file)
        self.manifest = self._manifest()
        members = self.manifest.members
        expected = {f"{member.name}.jsonl": member for member in members}
        if len(expected) != len(members) or expected.keys() | {MANIFEST} != self._entries.keys():
            differing = sorted(expected.keys() ^ (self._entries.keys() - {MANIFEST})) or [MANIFEST]
            raise self._damage_error(differing[0][:100], "the manifest and the files in the archive don't agree")
        for name, member in expected.items():
            entry = self._entries[name]
            if entry.file_size != member.bytes:
                raise self._damage_error(name, f"it has {entry.file_size} bytes and the manifest says {member.bytes}")
            if member.bytes > _RATIO_LIMIT[0] and member.bytes > _RATIO_LIMIT[1] * entry.compress_size:
                raise self._damage_error(name, "it would unpack to hundreds of times its size, unlike real data")

    def rows(self, member: Member) -> Iterator[tuple[int, Row]]:
        """Yield line numbers and rows.

        Raises:
            FormatError: A line is not a row of these columns, or the member differs from the manifest.
        """
        place, decode = f"{member.name}.jsonl", decoder(member.columns)
        digest, size, number = sha256(), 0, 0
        for number, line in enumerate(self._lines(place, member.bytes), 1):
            digest.update(line)
            size += len(line)
            try:
                row = decode(line)
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                raise self._damage_error(f"{place}:{number}", str(error)) from error
            yield number, row
        if (number, size, digest.hexdigest()) != (member.lines, member.bytes, member.sha256):
            raise self._damage_error(place, "it is not what the manifest says: lines, length or sha256 differ")

    def damaged(self, why: str, member: Member | None = None, line: int | None = None) -> FormatError:
        if member is None:
            return FormatError(f"{self._path}: {why}.", _ASK)
        return self._damage_error(f"{member.name}.jsonl" + ("" if line is None else f":{line}"), why)

    def _manifest(self) -> Manifest:
        if MANIFEST not in self._entries:
            raise FormatError(f"{self._path}: it has no {MANIFEST}, so it is not a workbench archive.", _WRITE)
        try:
            with self._file.open(self._entries[MANIFEST]) as entry:
                document = entry.read(_MAX_MANIFEST + 1)
        except _BROKEN as error:
            raise self._damage_error(MANIFEST, str(error)) from error
        if len(document) > _MAX_MANIFEST:
            raise self._damage_error(MANIFEST, "it is longer than any of ours")
        try:
            found = msgspec.json.decode(document)
            if not isinstance(found, dict) or found.get("format") != FORMAT:
                raise FormatError(f"{self._path}: {MANIFEST} is not that of a workbench archive.", _WRITE)
            if isinstance(version := found.get("version"), int) and version > VERSION:
                raise FormatError(
                    f"{self._path}: the archive has version {version}; this program knows up to {VERSION}.",
                    "It was written by a newer workbench: install that one.",
                )
            return msgspec.convert(found, Manifest)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise self._damage_error(MANIFEST, str(error)) from error

    def _lines(self, name: str, size: int) -> Iterator[bytes]:
        left = size
        try:
            with self._file.open(self._entries[name]) as entry, _buffered(entry) as buffered:
                while line := buffered.readline(min(left, MAX_LINE) + 1):
                    left -= len(line)
                    if left < 0 or len(line) > MAX_LINE:
                        raise self._damage_error(name, "it is longer than it says, or has a line that is")
                    yield line
        except _BROKEN as error:
            raise self._damage_error(name, str(error)) from error

    def _damage_error(self, place: str, why: str) -> FormatError:
        return FormatError(f"{self._path}: {place}: {why}.", _ASK)


_WRITE: Final = "To write an archive, export the project in the format workbench."


@contextmanager
def opened_archive(path: Path) -> Iterator[Archive]:
    """Open an archive for reading.

    Raises:
        FormatError: The file can't be read, is not a workbench archive, or its members and its manifest disagree.
    """
    if path.exists() and not path.is_file():
        # A pipe or a device might never end.
        raise FormatError(f"{path}: it is not a regular file.", "Save the archive as a file.")
    require_input(path)
    try:
        with path.open("rb") as file:
            try:
                archive = ZipFile(file)
            except _BROKEN as error:
                raise FormatError(f"{path}: it is not a zip file, or it is truncated.", _WRITE) from error
            with archive:
                yield Archive(path, archive)
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}.", "Check the file and its permissions.") from error


def _buffered(entry: IO[bytes]) -> io.BufferedReader:
    # `BufferedReader` finds the ends of lines several times as fast as the entry itself.
    return io.BufferedReader(cast("io.RawIOBase", entry))


def _entries(path: Path, file: ZipFile) -> dict[str, ZipInfo]:
    entries = {entry.filename: entry for entry in file.infolist()}
    if len(entries) != len(file.infolist()):
        raise FormatError(f"{path}: it contains two files of the same name.", _ASK)
    for entry in entries.values():
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise FormatError(
                f"{path}: {entry.filename[:100]} is encrypted or compressed with an unsupported method.", _ASK
            )
    return entries
