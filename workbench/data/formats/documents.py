"""Reads rows of every format as JSON objects, one at a time."""

from __future__ import annotations

import csv
import json
import re
import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, time, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from workbench.core.errors import FormatError, opt
from workbench.core.files import require_input
from workbench.core.item import KEPT_RAW, Refusal
from workbench.data.formats.fields import KNOWN, fold
from workbench.data.formats.lines import (
    MAX_LINE_BYTES,
    NumberedLine,
    RefusedError,
    Stream,
    explain_document,
    make_refusal,
    read_lines,
)
from workbench.data.formats.source import FileFormat, require_plausible_ratio
from workbench.data.formats.spreadsheets import iso_text, open_sheet

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyarrow.parquet import FileMetaData

MISSING_PARQUET = "Install the reader: pip install 'verifier-workbench[parquet]'"

TABLES: tuple[FileFormat, ...] = ("csv", "tsv", "xlsx")
"""Formats with a header row."""

LISTS: tuple[FileFormat, ...] = ("json", "label-studio", "argilla")
"""Formats that are a single JSON list."""

MOST_COLUMNS = 10_000
"""Maximum columns of a table. Spreadsheets allow 16,384; a transposed table has as many as it should have rows."""
_BATCH_ROWS = 256
_MAX_BATCH_BYTES = 1 << 30
"""Maximum bytes of the rows that are read together, assuming that each row is as long as its whole row group."""

_MAX_JSON_BYTES = 512 << 20
_NAN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)|\bNaN\b', re.DOTALL)
"""A JSON string, or NaN outside of strings."""
_NO_TEXT = "holds bytes that are not UTF-8. Write it as text."
_SEPARATOR = re.compile('"?sep=(.)"?', re.IGNORECASE)
"""The line before the header that tells Excel the delimiter."""
_INDEX = re.compile(r"__index_level_\d+__ u?int\d+")
"""An unnamed index of pandas with its type."""
_RAW_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_RAW_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class SourceDocument(Struct, frozen=True, gc=False):
    """One row.

    Attributes:
        line: The row's number, from 1.
        json: The row as one JSON object.
        raw: The row as in the file.
        unterminated: Whether the file ends with this row without a line end, so that the row may be truncated.
        faults: Columns whose value can't be read, each with the reason and what to do.
    """

    line: int
    json: bytes
    raw: bytes
    unterminated: bool = False
    faults: Mapping[str, str] = {}


Row = SourceDocument | Refusal


def documents(stream: Stream, kind: FileFormat, path: Path) -> Iterator[Row]:
    """Yield the rows of an open file, and rejections of invalid ones.

    Raises:
        FormatError: The file as a whole is not in this format.
    """
    if kind == "parquet":
        return chain.from_iterable(rows_of_batch(batch, first) for first, batch in parquet_batches(path))
    if kind == "xlsx":
        return _spreadsheet_rows(path)
    if kind in LISTS:
        return json_rows(stream, path)
    if kind in TABLES:
        return _table_rows(stream, kind, path)
    return _json_lines(stream)


def _json_lines(stream: Stream) -> Iterator[Row]:
    for line in read_lines(stream):
        raw, fault = line.raw, line.fault
        if fault is None:
            if raw and not raw.isspace():
                yield SourceDocument(line.number, raw, raw)
        elif fault == "unterminated":
            yield SourceDocument(line.number, raw, raw, True)
        else:
            yield _refused_line(line)


def without_nan(document: bytes) -> bytes:
    if b"NaN" not in document:
        return document
    return _NAN.sub(lambda found: b"null" if found[0] == b"NaN" else found[0], document)


def _refused_line(line: NumberedLine) -> Refusal:
    if line.fault == "too_long":
        error = RefusedError("too_long", None, f"The line is longer than {MAX_LINE_BYTES:,} bytes. Shorten it.")
    else:
        error = RefusedError(
            "truncated", None, "The compressed file is damaged from here on. Fetch it again; the rest is missing."
        )
    return make_refusal(line.number, line.raw, error)


def json_rows(stream: Stream, path: Path, names: tuple[str, ...] = ("rows", "data")) -> Iterator[Row]:
    """Yield the rows of an open file that is a JSON list, or an object with a list under one of these names.

    Raises:
        FormatError: The file is neither.
    """
    for number, element in enumerate(_list_elements(without_nan(read_all(stream, path)), path, names), 1):
        raw = bytes(element)
        yield SourceDocument(number, raw, raw)


def read_all(stream: Stream, path: Path) -> bytes:
    """Read all of an open file, which is one JSON document.

    Raises:
        FormatError: The file is damaged, or too long for memory.
    """
    parts: list[bytes] = []
    size = 0
    try:
        while block := stream.read(1 << 20):
            parts.append(block)
            size += len(block)
            if size > _MAX_JSON_BYTES:
                raise FormatError(
                    f"{path}: a JSON document of more than {_MAX_JSON_BYTES >> 20} MiB can't be read.",
                    "Write one object per line, such as with: jq -c '.[]'",
                )
    except (EOFError, zlib.error) as error:
        raise FormatError(f"{path}: the compressed file is damaged.", "Fetch it again.") from error
    return b"".join(parts)


def _list_elements(text: bytes, path: Path, names: tuple[str, ...]) -> list[msgspec.Raw]:
    try:
        if not text.lstrip().startswith(b"{"):
            return _RAW_LIST.decode(text)
        keys = _RAW_OBJECT.decode(text)
        for name in names:
            if name in keys:
                return _RAW_LIST.decode(keys[name])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        valid = isinstance(error, msgspec.ValidationError)
        message = "The document is not a list of rows." if valid else explain_document(text).message
        raise FormatError(
            f"{path}: {message}", f"A JSON file holds one array, or an object with {' or '.join(names)}."
        ) from None
    raise FormatError(
        f"{path}: the object has no {' or '.join(names)}; its keys: {', '.join(keys)}.",
        f"For one object per line use {opt.format:jsonl}.",
    )


class _RecordedLines:
    def __init__(self, lines: Iterator[NumberedLine]) -> None:
        self._lines = lines
        self.number = 0
        self.raw: list[bytes] = []
        self.fault: NumberedLine | None = None
        self.ended = False

    def __iter__(self) -> _RecordedLines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number = line.number
        self.raw.append(line.raw)
        if line.fault in ("too_long", "damaged"):
            self.fault = line
            return "\n"
        self.ended = line.fault is not None
        return line.raw.decode("utf-8", "surrogateescape") + ("" if self.ended else "\n")

    def take(self) -> bytes:
        raw = b"\n".join(self.raw)
        self.raw.clear()
        return raw


def header_of(stream: Stream, kind: FileFormat, path: Path) -> list[str]:
    """Return the column names of an open file that is a table.

    Raises:
        FormatError: There is no usable header row.
    """
    if kind == "xlsx":
        with open_sheet(path) as sheet:
            return [name for name in _require_distinct(sheet.header, path) if name]
    reader, _ = _cells(stream, kind)
    return [name for name in _header(reader, path) if name]


def _cells(stream: Stream, kind: FileFormat) -> tuple[Iterator[list[str]], _RecordedLines]:
    csv.field_size_limit(MAX_LINE_BYTES)
    lines = read_lines(stream)
    first = list(islice(lines, 1))
    text = first[0].raw[:KEPT_RAW].decode("utf-8", "replace").rstrip("\r") if first else ""
    named = _SEPARATOR.fullmatch(text)
    recorded = _RecordedLines(lines if named else chain(first, lines))
    return csv.reader(recorded, delimiter=named[1] if named else _delimiter(text, kind), strict=True), recorded


def _delimiter(header: str, kind: FileFormat) -> str:
    marks, line = "\t,;|" if kind == "tsv" else ",;\t|", [header.replace("\r", " ")]
    names = {mark: next(csv.reader(line, delimiter=mark), []) for mark in marks}
    return max(marks, key=lambda mark: (len(KNOWN & {*map(fold, names[mark])}), len(names[mark])))


def _table_rows(stream: Stream, kind: FileFormat, path: Path) -> Iterator[Row]:
    reader, recorded = _cells(stream, kind)
    header = _header(reader, path)
    recorded.take()
    while True:
        first = recorded.number + 1
        cells, error = _next_row(reader)
        raw = recorded.take()
        if recorded.fault is not None:
            fault, recorded.fault = recorded.fault, None
            yield _refused_line(NumberedLine(first, raw, fault.fault))
        elif error is not None:
            code = "truncated" if recorded.ended else "bad_csv"
            yield make_refusal(first, raw, RefusedError(code, None, f"{error}. Fix the quotes of the row."))
        elif cells is None:
            return
        elif cells:
            yield _row_of(header, cells, first, raw, ended=recorded.ended)


def _header(reader: Iterator[list[str]], path: Path) -> list[str]:
    cells, error = _next_row(reader)
    try:
        "".join(cells or ()).encode()
    except UnicodeEncodeError:
        raise FormatError(f"{path}:1: the header is not UTF-8.", "Save the file as UTF-8.") from None
    return _require_distinct(cells, path, error)


def _require_distinct(cells: list[str] | None, path: Path, error: str | None = None) -> list[str]:
    if not cells:
        raise FormatError(f"{path}: there is no header row{f': {error}' if error else ''}.", "Name the columns in it.")
    if len(cells) > MOST_COLUMNS:
        message = f"{path}:1: the header has {len(cells):,} columns; a table has at most {MOST_COLUMNS:,}."
        raise FormatError(
            message, "Keep only the columns you need. Is the file transposed, or does it have another delimiter?"
        )
    cells = [cell or f"column {place}" for place, cell in enumerate(cells, 1)]
    cells[0] = "" if cells[0] in ("column 1", "Unnamed: 0") else cells[0]
    double = next((name for name, times in Counter(cells).items() if times > 1), None)
    if double is not None:
        raise FormatError(f"{path}:1: two columns are called {double!r}.", "Rename one of them.")
    return cells


def _next_row(reader: Iterator[list[str]]) -> tuple[list[str] | None, str | None]:
    try:
        return next(reader), None
    except StopIteration:
        return None, None
    except csv.Error as error:
        return None, str(error)


def _row_of(header: list[str], cells: list[str], line: int, raw: bytes, *, ended: bool) -> Row:
    if len(cells) != len(header):
        message = f"The row has {len(cells)} cells, the header {len(header)}. Fix the row."
        return make_refusal(line, raw, RefusedError("truncated" if ended else "bad_csv", None, message))
    try:
        return SourceDocument(line, _cells_object(header, cells), raw)
    except UnicodeEncodeError:
        return make_refusal(line, raw, explain_document(raw))


# -- Spreadsheets.


def _spreadsheet_rows(path: Path) -> Iterator[Row]:
    with open_sheet(path) as sheet:
        header = _require_distinct(sheet.header, path)
        for name in sheet.others:
            message = f"The sheet {name!r} has rows as well, which are not read. Save it as a separate file."
            yield make_refusal(1, b"", RefusedError("bad_csv", name, message))
        for row in sheet.rows:
            raw = _json_object(dict(zip(header, row.cells, strict=False)))
            if len(row.cells) > len(header):
                message = f"The row has {len(row.cells)} cells, the header {len(header)}. Name every column."
                yield make_refusal(row.number, raw, RefusedError("bad_csv", None, message))
            else:
                cells = row.cells + [""] * (len(header) - len(row.cells))
                faults = {header[place]: fault for place, fault in row.faults.items()}
                document = _cells_object(header, cells)
                yield SourceDocument(row.number, document, raw, faults=faults)


def rows_of_batch(batch: RecordBatch, first: int) -> Iterator[Row]:
    index = [field.name for field in batch.schema if _INDEX.fullmatch(f"{field.name} {field.type}")]
    bytes_in = [field.name for field in batch.schema if "binary" in str(field.type)]
    for number, row in enumerate(batch.to_pylist(), first):
        document = _json_object({name: value for name, value in row.items() if name not in index})
        faults = {name: _NO_TEXT for name in bytes_in if row[name] is not None and not _is_text(row[name])}
        yield SourceDocument(number, document, document[:KEPT_RAW], faults=faults)


def parquet_batches(path: Path) -> Iterator[tuple[int, RecordBatch]]:
    """Yield a Parquet file in batches of a few hundred rows, each with the number of its first row.

    Raises:
        FormatError: The file can't be read, or pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise FormatError(f"{path}: Parquet files need pyarrow.", MISSING_PARQUET) from None
    require_input(path)
    try:
        with pq.ParquetFile(path) as file:
            first = 1
            for batch in file.iter_batches(batch_size=_rows_at_once(path, file.metadata)):
                yield first, batch
                first += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        reason = str(error).rstrip(".")
        raise FormatError(f"{path}: not a readable Parquet file: {reason}.", "Write it again.") from error


def _rows_at_once(path: Path, metadata: FileMetaData) -> int:
    """Return how many rows can be in memory at once, even if each repeats a dictionary-encoded text in full.

    Raises:
        FormatError: The file claims to decompress to hundreds of times its size.
    """
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    longest = 1
    for group in groups:
        packed = sum(group.column(number).total_compressed_size for number in range(group.num_columns))
        require_plausible_ratio(path, group.total_byte_size, packed)
        longest = max(longest, group.total_byte_size)
    return max(1, min(_BATCH_ROWS, _MAX_BATCH_BYTES // longest))


def _cells_object(header: list[str], cells: list[str]) -> bytes:
    named = dict(zip(header, cells, strict=True))
    index = named.pop("", "")
    return _json_object(named if not index or index.isdecimal() else {"column 1": index, **named})


def _json_object(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, default=_as_text).encode()


def _as_text(value: object) -> str:
    """Return a value that JSON has no type for as text; bytes that are not UTF-8 become base64."""
    if isinstance(value, bytes):
        return value.decode() if _is_text(value) else b64encode(value).decode()
    return iso_text(value) if isinstance(value, date | time | timedelta) else str(value)


def _is_text(value: bytes) -> bool:
    with suppress(UnicodeDecodeError):
        value.decode()
        return True
    return False


def keys_of(rows: Iterator[Row], count: int, budget: int) -> tuple[list[str], list[dict[str, msgspec.Raw]]]:
    """Return all keys of the first rows, in order of appearance, and the rows that could be read.

    Args:
        count: Number of rows to read.
        budget: Stop after this many bytes.
    """
    keys: dict[str, None] = {}
    readable: list[dict[str, msgspec.Raw]] = []
    for row in islice(rows, count):
        if isinstance(row, SourceDocument):
            with suppress(msgspec.MsgspecError, ValueError, RecursionError):
                cells = _RAW_OBJECT.decode(row.json)
                keys.update(dict.fromkeys(cells))
                readable.append(cells)
        budget -= len(row.raw)
        if budget < 0:
            break
    return list(keys), readable
