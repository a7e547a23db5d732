"""Reading an archive, whoever made it: nothing in it names a path, and nothing is taken that its manifest doesn't say.

Members are read as streams and looked up by names we know; what is longer than it says, or unpacks to far more than
any real data does, is refused before it fills a disk.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Final, cast
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import msgspec

from workbench.core.errors import FormatError
from workbench.interchange.lines import LONGEST, Row, decoder
from workbench.interchange.model_archive import FORMAT, VERSION, Manifest, Member
from workbench.interchange.packing import MANIFEST

_LARGEST_MANIFEST: Final = 1 << 20
_SUSPICIOUS: Final = (256 << 20, 300)
"""Bytes beyond which a member must not be so many times its packed size; rows of verdicts come to about forty."""
_ENCRYPTED: Final = 1
_ASK: Final = "Get another copy of it."
_BROKEN: Final = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError)


class Archive:
    """An open archive whose manifest has been read and checked against what is there.

    Attributes:
        manifest: What it says it holds.
    """

    def __init__(self, path: Path, file: ZipFile) -> None:
        self._path, self._file = path, file
        self._entries = _entries(path, file)
        self.manifest = self._manifest()
        self._check()

    def rows(self, member: Member) -> Iterator[tuple[int, Row]]:
        """Line number and row, one after the other.

        Raises:
            FormatError: A line is no row of these columns, or the member is not what the manifest says.
        """
        place, decode = f"{member.name}.jsonl", decoder(member.columns)
        digest, size, number = sha256(), 0, 0
        for number, line in enumerate(self._lines(place, member.bytes), 1):
            digest.update(line)
            size += len(line)
            try:
                row = decode(line)
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                raise self._damaged(f"{place}:{number}", str(error)) from error
            yield number, row
        if (number, size, digest.hexdigest()) != (member.lines, member.bytes, member.sha256):
            raise self._damaged(place, "it is not what the manifest says: lines, length or sha256 differ")

    def damaged(self, why: str, member: Member | None = None, line: int | None = None) -> FormatError:
        """An error about a line, a member, or the archive as a whole."""
        if member is None:
            return FormatError(f"{self._path}: {why}.", _ASK)
        return self._damaged(f"{member.name}.jsonl" + ("" if line is None else f":{line}"), why)

    def _manifest(self) -> Manifest:
        if MANIFEST not in self._entries:
            raise FormatError(f"{self._path}: it has no {MANIFEST}: it is no archive of this program.", _WRITE)
        try:
            with self._file.open(self._entries[MANIFEST]) as entry:
                document = entry.read(_LARGEST_MANIFEST + 1)
        except _BROKEN as error:
            raise self._damaged(MANIFEST, str(error)) from error
        if len(document) > _LARGEST_MANIFEST:
            raise self._damaged(MANIFEST, "it is longer than any of ours")
        self._require_version(document)
        try:
            return msgspec.json.decode(document, type=Manifest)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise self._damaged(MANIFEST, str(error)) from error

    def _require_version(self, document: bytes) -> None:
        try:
            found = msgspec.json.decode(document)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise self._damaged(MANIFEST, str(error)) from error
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise FormatError(f"{self._path}: {MANIFEST} is not of an archive of this program.", _WRITE)
        if isinstance(version := found.get("version"), int) and version > VERSION:
            raise FormatError(
                f"{self._path}: the archive has version {version}; this program knows up to {VERSION}.",
                "It was written by a newer workbench: install that one.",
            )

    def _check(self) -> None:
        members = self.manifest.members
        expected = {f"{member.name}.jsonl": member for member in members}
        if len(expected) != len(members) or expected.keys() | {MANIFEST} != self._entries.keys():
            differing = sorted(expected.keys() ^ (self._entries.keys() - {MANIFEST})) or [MANIFEST]
            raise self._damaged(differing[0][:100], "the manifest and the files in the archive don't agree")
        for name, member in expected.items():
            entry = self._entries[name]
            if entry.file_size != member.bytes:
                raise self._damaged(name, f"it has {entry.file_size} bytes and the manifest says {member.bytes}")
            if member.bytes > _SUSPICIOUS[0] and member.bytes > _SUSPICIOUS[1] * entry.compress_size:
                raise self._damaged(name, "it would unpack to hundreds of times its size, as no real data does")

    def _lines(self, name: str, size: int) -> Iterator[bytes]:
        left = size
        try:
            with self._file.open(self._entries[name]) as entry, _buffered(entry) as buffered:
                while line := buffered.readline(min(left, LONGEST) + 1):
                    left -= len(line)
                    if left < 0 or len(line) > LONGEST:
                        raise self._damaged(name, "it is longer than it says, or has a line that is")
                    yield line
        except _BROKEN as error:
            raise self._damaged(name, str(error)) from error

    def _damaged(self, place: str, why: str) -> FormatError:
        return FormatError(f"{self._path}: {place}: {why}.", _ASK)


_WRITE: Final = "Archives are written by: workbench export DB FILE --format workbench"


@contextmanager
def opened_archive(path: Path) -> Iterator[Archive]:
    """An archive for reading.

    Raises:
        FormatError: It can't be read, or is no archive of ours, or its files and its manifest don't agree.
    """
    if path.exists() and not path.is_file():
        # A pipe or a device might never end.
        raise FormatError(f"{path}: it is no regular file.", "Save the archive as a file.")
    try:
        with path.open("rb") as file:
            try:
                archive = ZipFile(file)
            except _BROKEN as error:
                raise FormatError(f"{path}: it is no zip file, or it is cut off.", _WRITE) from error
            with archive:
                yield Archive(path, archive)
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}.", "Check the file and its permissions.") from error


def _buffered(entry: IO[bytes]) -> io.BufferedReader:
    # Finding the ends of lines is several times as fast in here as in the entry itself.
    return io.BufferedReader(cast("io.RawIOBase", entry))


def _entries(path: Path, file: ZipFile) -> dict[str, ZipInfo]:
    entries = {entry.filename: entry for entry in file.infolist()}
    if len(entries) != len(file.infolist()):
        raise FormatError(f"{path}: it holds two files of one name.", _ASK)
    for entry in entries.values():
        if entry.flag_bits & _ENCRYPTED or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise FormatError(f"{path}: {entry.filename[:100]} is encrypted or packed in a way we don't write.", _ASK)
    return entries
