"""Writes items and tables: the released VerifyBench schema, JSON lines, CSV and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

from workbench.core.errors import FormatError, opt
from workbench.core.files import whole_file
from workbench.core.item import StoredItem
from workbench.data.formats.documents import MISSING_PARQUET
from workbench.data.formats.fields import RELEASED, RELEASED_KEYS
from workbench.data.formats.rows import FIXED_KEY, FIXED_VERSION

Kind = Literal["text", "bool", "int", "float"]

ITEM_COLUMNS: dict[str, Kind] = {
    "dataset": "text",
    "question_id": "text",
    "completion_id": "text",
    "question": "text",
    "answer": "text",
    "completion": "text",
    "gold_correct": "bool",
    "gold_from": "text",
    "imported_gold": "bool",
    "completion_model": "text",
    "source": "text",
    "answer_type": "text",
    "answer_subtype": "text",
    "state": "text",
    "extra": "text",
}
"""Columns of an item table; type fields are not swapped, ``gold_correct`` is the final label."""

_BATCH_ROWS = 1_000
_quote = json.encoder.encode_basestring
_ALWAYS = tuple(RELEASED[field] for field in ("question_id", "completion_id", "question", "reference", "completion"))


@contextmanager
def new_file(path: Path, *, force: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for writing that replaces the old one only when it is complete; compressed if named ``.gz``.

    Raises:
        FormatError: The file exists and ``force`` is not set, or can't be written.
    """
    if path.exists() and not force:
        raise FormatError(f"{path} exists.", f"Use {opt.force} to replace it.")
    try:
        with whole_file(path, private=False, replace=force) as file:
            if path.suffix == ".gz":
                # The gzip header has no name and time, so that the same content gives the same bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed:
                    yield compressed  # type: ignore[misc]
            else:
                yield file
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}.", "Check the folder and the free space.") from error


def write_lines(path: Path, lines: Iterable[object], *, force: bool = False) -> int:
    """Write JSON lines to a `new_file`; return their number; raises the errors of `new_file`."""
    written = 0
    with new_file(path, force=force) as file:
        for one in lines:
            file.write(msgspec.json.encode(one) + b"\n")
            written += 1
    return written


def released_line(item: StoredItem, *, fixed: bool = False) -> bytes:
    """Return one line of the released schema, as ``json.dumps(row, ensure_ascii=False)`` writes it.

    Args:
        fixed: Write type and subtype under the right keys, and ``schema_version``; otherwise swapped, as in the
            released data.
    """
    kind, subtype = (item.type_text, item.subtype_text) if fixed else (item.subtype_text, item.type_text)
    texts = (item.question_key, item.completion_key, item.question, item.reference, item.completion)
    more = (item.gold, item.model, item.source, kind, subtype)
    values = dict(zip(RELEASED_KEYS, map(_value_text, (*texts, *more)), strict=True))
    extra = {} if item.extra is None else msgspec.json.decode(item.extra, type=dict[str, msgspec.Raw])
    if item.layout is None:
        keys: Iterable[str] = dict.fromkeys((*RELEASED_KEYS, *extra))
    else:
        there = json.loads(item.layout)
        written = {*_ALWAYS, *(key for key, value in values.items() if value != "null")}.difference(there)
        keys = [*there, *(key for key in RELEASED_KEYS if key in written)]
    parts = [
        f"{_quote(key)}: {values[key] if key in values else bytes(extra[key]).decode()}"
        for key in keys
        if key in values or key in extra
    ]
    if fixed:
        parts.append(f'"{FIXED_KEY}": "{FIXED_VERSION}"')
    return f"{{{', '.join(parts)}}}\n".encode()


def _value_text(value: str | bool | None) -> str:
    return _quote(value) if isinstance(value, str) else _WORDS[value]


item_cells: Callable[[StoredItem], tuple[object, ...]] = attrgetter(
    *("dataset", "question_key", "completion_key", "question", "reference", "completion", "gold", "gold_from"),
    *("imported_gold", "model", "source", "type_text", "subtype_text", "state", "extra"),
)
"""Returns an item's values for `ITEM_COLUMNS`."""


def item_line(item: StoredItem, said: Mapping[str, object]) -> bytes:
    """Return one JSON line with all stored data of an item; its extra keys are the object ``extra``.

    Args:
        said: The item's labels, as further keys of the line.
    """
    row = dict(zip(ITEM_COLUMNS, item_cells(item), strict=True)) | dict(said)
    if item.extra is not None:
        row["extra"] = msgspec.Raw(item.extra.encode())
    return msgspec.json.encode(row) + b"\n"


def write_csv(file: IO[bytes], columns: Sequence[str], rows: Iterable[Sequence[object]]) -> int:
    """Write CSV as in RFC 4180, in UTF-8. Texts are not altered; None and the empty text both become empty cells.

    Returns:
        The number of rows written, without the header.
    """
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    written = 0
    for row in rows:
        writer.writerow([_WORDS[cell] if isinstance(cell, bool) else cell for cell in row])
        written += 1
    text.flush()
    text.detach()
    return written


_WORDS = {True: "true", False: "false", None: "null"}


def write_parquet(file: IO[bytes], columns: dict[str, Kind], rows: Iterable[Sequence[object]]) -> int:
    """Write Parquet, a thousand rows at a time.

    Raises:
        FormatError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise FormatError("Writing Parquet needs pyarrow.", MISSING_PARQUET) from None
    types: dict[Kind, Any] = {"text": pa.string(), "bool": pa.bool_(), "int": pa.int64(), "float": pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    written = 0
    cells = iter(rows)
    with pq.ParquetWriter(file, schema) as writer:
        while batch := list(islice(cells, _BATCH_ROWS)):
            arrays = [pa.array(column, type=schema.field(n).type) for n, column in enumerate(zip(*batch, strict=True))]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            written += len(batch)
    return written
