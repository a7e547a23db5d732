"""Opens files: detects compression and format from their content, counts and hashes bytes."""

from __future__ import annotations

import json
import os
import re
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import IO, Final, Literal, get_args

from workbench.core.errors import FormatError
from workbench.core.files import STANDARD_INPUT, require_input
from workbench.data.formats.lines import BLOCK, Stream

FileFormat = Literal["verifybench", "jsonl", "json", "csv", "tsv", "xlsx", "parquet", "label-studio", "argilla"]
QUESTIONS: Final = "questions"
"""Questions without completions, which can be in files of any plain format."""

PLAIN_FORMATS: dict[str, FileFormat] = {name: name for name in get_args(FileFormat)}

Progress = Callable[[int], None]
"""Called with the number of bytes read since the last call."""

ZIP: Final = b"PK\x03\x04"
"""The first bytes of a non-empty ZIP file."""

_AGAIN: Final = "Get another copy of it."
_GZIP = b"\x1f\x8b"
_GZIP_BITS = 16 + zlib.MAX_WBITS
_COMPRESSED_BLOCK = 64 * 1024
_RATIO_LIMIT: Final = (64 << 20, 300)
"""Decompressed bytes between checks of the compression ratio, and the maximum ratio; real data has about forty."""
_OTHERS = {b"\xfd7z": "xz", b"\x28\xb5\x2f": "Zstandard"}
"""Names of unsupported compressions by the first bytes of a file."""
_SAVE: Final = "Save it as .xlsx or CSV, without a password."
_UNREAD: Final = (
    (rb"SQLite format 3\0", "an SQLite database", "Write its rows to CSV or JSON Lines, and read those."),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel file (.xls), or one with a password", _SAVE),
    (rb"PK(.{28}mimetypeapplication/vnd\.oasis|.*xl/workbook\.bin)", "an OpenDocument or a binary Excel file", _SAVE),
    (rb"\s*<(?i:!doctype|html|\?xml|table|meta)\b", "a web page or XML, whatever its name", _SAVE),
)
"""First bytes of unsupported files with rows, what they are, and what to do."""
_PARQUET = b"PAR1"
_BOM = b"\xef\xbb\xbf"
_ENCODINGS: Final = {
    rb"\xff\xfe\0\0|\0\0\xfe\xff": "utf-32",
    rb"\xff\xfe|\xfe\xff": "utf-16",
    rb"[^\0]\0[^\0]\0": "utf-16-le",
    rb"\0[^\0]\0[^\0]": "utf-16-be",
}
"""Encodings of texts that are not UTF-8, by a pattern of their first bytes."""
_WHOLE_LINE: Final = re.compile(rb"\n|\r.", re.DOTALL)
_LINE_END: Final = re.compile(rb"\r+\n|[\r\n]")
_QUOTED: Final = re.compile(rb'"[^"]*"')
_HEAD_BYTES = 1 << 20
_SUFFIXES: dict[str, FileFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
}


def detect_format(path: Path) -> FileFormat:
    """Detect the format of a file by its content and, where that is ambiguous, by its name.

    Released VerifyBench files count as ``jsonl`` and files of annotation tools as ``json``; their keys distinguish them
    later.

    Raises:
        FormatError: The file can't be read.
    """
    head = first_bytes(path)
    for beginning, what, remedy in _UNREAD:
        if re.match(beginning, head, re.DOTALL):
            raise FormatError(f"{path}: it is {what}.", remedy)
    if head.startswith(_PARQUET):
        return "parquet"
    by_name = _SUFFIXES.get(_suffix(path))
    if head.startswith(ZIP) and (by_name == "xlsx" or b"xl/workbook.xml" in head):
        return "xlsx"
    if b"\0" in head and not head.startswith(ZIP) and "\ufffd" in head[:-3].decode("utf-8", "replace"):
        raise FormatError(f"{path}: it is not text.", "Name a file: CSV, TSV, JSON, JSON Lines, Parquet or XLSX.")
    text = head.lstrip()
    # Some tools name a file with a single JSON list, written over many lines, JSON Lines.
    if by_name in ("csv", "tsv") or (by_name == "jsonl" and text.split(b"\n", 1)[0].rstrip() != b"["):
        return by_name
    if text.startswith(b"["):
        return "json"
    if text.startswith(b"{"):
        first_line = text.partition(b"\n")[0].rstrip()
        whole_line = first_line.endswith(b"}") and first_line != b"{"
        return "jsonl" if whole_line and not first_line.startswith((b'{"rows"', b'{"data"')) else "json"
    first = text.partition(b"\n")[0]
    return "tsv" if b"\t" in first and b"," not in first else "csv"


def table_of(path: Path) -> FileFormat | None:
    """Return which kind of table a file is, by its name, or standard input, by its content; None if it is not a
    table.
    """
    by_name = detect_format(path) if path.name == STANDARD_INPUT else _SUFFIXES.get(_suffix(path))
    return by_name if by_name in ("csv", "tsv", "xlsx") else None


def first_element(path: Path) -> object:
    """Return the first element of a file that is a JSON list; None if there is none, or it is very long.

    Raises:
        FormatError: The file can't be read.
    """
    text = first_bytes(path).decode("utf-8", "replace").lstrip()
    try:
        start = len(text) - len(text[1:].lstrip())
        return json.JSONDecoder().raw_decode(text, start)[0] if text.startswith("[") else None
    except (ValueError, RecursionError):
        return None


@contextmanager
def open_stream(path: Path, progress: Progress | None = None) -> Iterator[tuple[Stream, Callable[[], bytes]]]:
    """Open a file; return its decompressed bytes, and a function that returns the hash of the bytes on disk.

    Raises:
        FormatError: The file can't be read.
    """
    try:
        if path.is_dir():
            raise FormatError(f"{path}: it is a folder.", "Name a file in it.")
        if path.exists() and not path.is_file():
            raise FormatError(f"{path}: it is not a regular file.", "It is read more than once: save it as a file.")
        require_input(path)
        with path.open("rb", buffering=0) as file, closing(_HashingReader(file, progress)) as counted:
            yield _open_decoded(counted, path), counted.digest
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}.", "Check the file and its permissions.") from error


@contextmanager
def open_once(path: Path | None) -> Iterator[Stream]:
    """Open a file or a pipe (None: standard input) that is read once; return its decompressed bytes.

    Raises:
        FormatError: The source can't be opened.
    """
    try:
        if path is not None:
            require_input(path)
        with open(0 if path is None else path, "rb", buffering=0, closefd=path is not None) as file:
            yield _open_decoded(file, path)
    except OSError as error:
        place = path or "standard input"
        raise FormatError(f"{place}: {error.strerror or error}.", "Check the file and its permissions.") from error


def file_hash(path: Path) -> bytes:
    with open_stream(path) as (_, digest):
        return digest()


class _HashingReader:
    def __init__(self, file: IO[bytes], progress: Progress | None) -> None:
        self._file = file
        self._hash = blake2b(digest_size=16)
        self._progress = progress
        self._hasher = ThreadPoolExecutor(max_workers=1)

    def read(self, size: int, /) -> bytes:
        block = self._file.read(size)
        # Hashing a large block releases the GIL, so it runs in parallel with reading.
        self._hasher.submit(self._hash.update, block)
        if self._progress is not None:
            self._progress(len(block))
        return block

    def digest(self) -> bytes:
        while self.read(BLOCK):
            pass
        self._hasher.shutdown(wait=True)
        return self._hash.digest()

    def close(self) -> None:
        self._hasher.shutdown(wait=True)


class _PeekedStream:
    def __init__(self, file: Stream) -> None:
        self._file = file
        self.start = b""
        while len(self.start) < len(_BOM) and (block := file.read(len(_BOM) - len(self.start))):
            self.start += block
        self._held = self.start

    def read(self, size: int, /) -> bytes:
        held, self._held = self._held, b""
        return held + self._file.read(size)


class _GzipStream:
    """The decompressed bytes of a gzip file; the bytes before a damaged part are returned before the
    error is raised.
    """

    def __init__(self, file: Stream, place: object) -> None:
        self._file = file
        self._member = zlib.decompressobj(_GZIP_BITS)
        self._pending = b""
        self._place = place
        self._taken = self._given = 0

    def read(self, size: int, /) -> bytes:
        """Return the next bytes.

        Raises:
            FormatError: The compression ratio is too high.
        """
        while True:
            compressed = self._pending or self._file.read(_COMPRESSED_BLOCK)
            before = len(compressed)
            self._pending = b""
            if not compressed:
                if self._member.eof:
                    return b""
                raise EOFError
            if self._member.eof:
                compressed = compressed.lstrip(b"\0")
                if not compressed:
                    continue
                self._member = zlib.decompressobj(_GZIP_BITS)
            data = self._member.decompress(compressed, size)
            self._pending = self._member.unconsumed_tail or self._member.unused_data
            self._watch(before - len(self._pending), len(data))
            if data:
                return data

    def _watch(self, taken: int, given: int) -> None:
        self._taken += taken
        self._given += given
        if self._given < _RATIO_LIMIT[0]:
            return
        require_plausible_ratio(self._place, self._given, self._taken)
        self._taken = self._given = 0


def require_plausible_ratio(place: object, given: int, taken: int) -> None:
    """Raise an error if data has an extreme compression ratio.

    Raises:
        FormatError: The ratio is too high.
    """
    stretch, most = _RATIO_LIMIT
    if given >= stretch and given > most * taken:
        raise FormatError(f"{place}: it would unpack to hundreds of times its size, which no data does.", _AGAIN)


def _open_decoded(stream: Stream, path: Path | None) -> Stream:
    begun, place = _PeekedStream(stream), path or "standard input"
    if begun.start in _OTHERS:
        raise FormatError(f"{place}: it is packed with {_OTHERS[begun.start]}.", "Unpack it, or use gzip.")
    return _TextLines(_GzipStream(begun, place) if begun.start.startswith(_GZIP) else begun)


class _TextLines:
    """A stream's text in UTF-8 without a byte-order mark, with lines that end in LF or CRLF."""

    def __init__(self, stream: Stream) -> None:
        self._blocks, self._rest = _text_blocks(stream), b""

    def read(self, size: int, /) -> bytes:
        block = self._rest or next(self._blocks, b"")
        self._rest = block[size:]
        return block[:size]


def _text_blocks(stream: Stream) -> Iterator[bytes]:
    head = b""
    while not _WHOLE_LINE.search(head) and len(head) < BLOCK and (block := stream.read(BLOCK)):
        head += block
    blocks: Iterator[bytes] = chain((head,), iter(partial(stream.read, BLOCK), b""))
    encoding = next((name for beginning, name in _ENCODINGS.items() if re.match(beginning, head)), None)
    if encoding is not None:
        blocks = _recode_as_utf8(blocks, encoding)
    first = next(blocks, b"").removeprefix(_BOM)
    ends_at_cr = _ends_at_cr(first[:_COMPRESSED_BLOCK])
    for block in chain((first,), blocks):
        yield block.replace(b"\r", b"\n") if ends_at_cr else block


def _recode_as_utf8(blocks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield a text in UTF-8; lone surrogates become invalid bytes, so that their row is rejected."""
    decoder = getincrementaldecoder(encoding)("surrogatepass")
    for block in blocks:
        yield from filter(None, (decoder.decode(block).encode("utf-8", "surrogatepass"),))
    if decoder.getstate()[0]:
        yield b"\xff"


def _ends_at_cr(head: bytes) -> bool:
    bare = head if head.lstrip()[:1] in (b"{", b"[") else _QUOTED.sub(b"", head)
    end = _LINE_END.search(bare)
    return end is not None and end[0] == b"\r" and end.end() < len(bare) and b"\0" not in head


def first_bytes(path: Path) -> bytes:
    """Return the decompressed beginning of a file, at most 1 MiB, without a byte-order mark.

    Raises:
        FormatError: The file can't be read.
    """
    with open_stream(path) as (stream, _):
        try:
            return stream.read(_HEAD_BYTES)
        except (EOFError, zlib.error):
            return b""


def path_text(path: Path) -> str:
    """Return a path as UTF-8 for storage and reports; a file name may contain any bytes."""
    return path.name if path.name == STANDARD_INPUT else os.fsencode(path).decode("utf-8", "replace")


def _suffix(path: Path) -> str:
    return next((suffix.lower() for suffix in reversed(path.suffixes) if suffix.lower() != ".gz"), "")
