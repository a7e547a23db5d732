"""Inspect's ``.eval`` files: ZIP archives with one JSON member a sample.

Nothing is unpacked to disk, members are looked up by the names that Inspect gives them, and none is read beyond a
limit.
Inspect packs with Zstandard, which Python's own zipfile reads from 3.14 on.
"""

from __future__ import annotations

import re
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final, TypeVar
from zipfile import BadZipFile, ZipFile, ZipInfo

import msgspec

from workbench.core.errors import FormatError
from workbench.data.formats.explain import RefusedError
from workbench.data.formats.source import ZIP

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

T = TypeVar("T")

_SAMPLE: Final = re.compile(r"samples/(?P<whole>.+)_epoch_\d+(?:\.json|/(?P<shell>sample\.json))", re.DOTALL)
_OURS: Final = (b"_journal/", b"samples/", b"summaries.json", b"reductions.json", b"header.json")
_LONGEST: Final = 256 << 20
"""Bytes of a member that is read."""
_SUSPICIOUS: Final = (1 << 30, 300)
"""Bytes beyond which an archive must not unpack to so many times its size; logs of agents come to about fifty."""
_ZSTANDARD: Final = (20, 93)
"""The method's numbers in a ZIP archive: the deprecated one, and the one in force (APPNOTE 6.3.10, 4.4.5)."""
_ENCRYPTED: Final = 1
"""The bit of a member's flags."""
_LOCAL_HEADER: Final = 30
"""Bytes before a member's name; the lengths of name and extra field are the last four (APPNOTE, 4.3.7)."""
_AGAIN: Final = "Fetch it again, or write it again with: inspect log convert"
_BROKEN: Final = (
    BadZipFile,
    zlib.error,
    zstd.ZstdError,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def is_log(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a ``.eval`` file, by its first member's name."""
    return head.startswith(ZIP) and head[_LOCAL_HEADER:].startswith(_OURS)


class EvalFile:
    """An open ``.eval`` file.

    Attributes:
        samples: The members that hold samples, in the order in which they were first written; of several of one name
            the last, as Inspect reads them.
    """

    def __init__(self, path: Path, file: IO[bytes], archive: ZipFile) -> None:
        self._file = file
        self._members = {entry.filename: entry for entry in archive.infolist()}
        self._archive = archive
        self.samples = [name for name in self._members if _SAMPLE.fullmatch(name)]
        packed = path.stat().st_size
        unpacked = sum(entry.file_size for entry in self._members.values())
        if unpacked > _SUSPICIOUS[0] and unpacked > _SUSPICIOUS[1] * packed:
            raise FormatError(f"{path}: it would unpack to hundreds of times its size, as no log does.", _AGAIN)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def numbered(self, start: str) -> list[str]:
        """The JSON members of a folder whose names are numbers, in their order."""
        found = (re.fullmatch(rf"{re.escape(start)}(\d{{1,9}})\.json", name) for name in self._members)
        return [match[0] for match in sorted(filter(None, found), key=lambda match: int(match[1]))]

    def read(self, name: str) -> bytes:
        """A member whole.

        Raises:
            RefusedError: It is damaged, encrypted or too long.
        """
        entry = self._members[name]
        if entry.flag_bits & _ENCRYPTED:
            raise RefusedError("unsupported", None, f"{name} is encrypted. Write the log without encryption.")
        if entry.file_size > _LONGEST:
            raise RefusedError("too_long", None, f"{name} is longer than {_LONGEST >> 20} MiB.")
        try:
            with self._opened(entry) as stream:
                found: bytes = stream.read(entry.file_size + 1)
        except _BROKEN as error:
            raise RefusedError("truncated", None, f"{name} is damaged: {error}. {_AGAIN}") from None
        if zlib.crc32(found) != entry.CRC:
            raise RefusedError("truncated", None, f"{name} is damaged: it is not what the archive says. {_AGAIN}")
        return found

    @contextmanager
    def _opened(self, entry: ZipInfo) -> Iterator[Any]:
        if entry.compress_type not in _ZSTANDARD:
            with self._archive.open(entry) as stream:
                yield stream
            return
        with zstd.ZstdFile(BytesIO(self._packed(entry))) as stream:
            yield stream

    def _packed(self, entry: ZipInfo) -> bytes:
        """A member's bytes as they stand in the file."""
        self._file.seek(entry.header_offset)
        header = self._file.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER or not header.startswith(ZIP):
            raise BadZipFile("there is no member where the archive says")
        name, extra = struct.unpack("<HH", header[-4:])
        self._file.seek(name + extra, 1)
        return self._file.read(entry.compress_size)


@contextmanager
def opened(path: Path) -> Iterator[EvalFile]:
    """A ``.eval`` file for reading.

    Raises:
        FormatError: It is damaged, or unpacks to more than any log does.
    """
    with path.open("rb") as file:
        try:
            archive = ZipFile(file)
        except (BadZipFile, NotImplementedError, ValueError, struct.error) as error:
            raise FormatError(f"{path}: the ZIP archive is damaged: {error}.", _AGAIN) from None
        with archive:
            yield EvalFile(path, file, archive)


def beside(file: EvalFile, sample: str) -> dict[str, Any]:
    """What stands beside the member of a sample that is spread over several: its metadata, and its long texts by the
    numbers that stand for them. Nothing of any other sample.

    Raises:
        RefusedError: One of the members can't be read.
    """
    folder = sample.removesuffix("sample.json")
    if folder == sample:
        return {}
    texts: dict[str, str] = {}
    for name in file.numbered(f"{folder}attachments/"):
        first = int(name.rpartition("/")[2].removesuffix(".json"))
        some = _decoded(file, name, list[str])
        texts.update((str(first + number), text) for number, text in enumerate(some))
    about = f"{folder}metadata.json"
    return {"attachments": texts, "metadata": _decoded(file, about, dict[str, Any]) if about in file else None}


def _decoded(file: EvalFile, name: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(file.read(name), type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise RefusedError("bad_json", None, f"{name} can't be read. {_AGAIN}") from None
