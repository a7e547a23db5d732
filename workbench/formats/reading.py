"""Reading items: what a file is and how its columns are taken, then its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.errors import UsageError
from workbench.formats import peers
from workbench.formats.code import kinds
from workbench.formats.documents import TABLES, Document, Row, documents, header_of, keys_of
from workbench.formats.fields import is_released, resolve_columns
from workbench.formats.lines import DEFAULT_MAX_LINE, Stream
from workbench.formats.rows import RowBuilder
from workbench.formats.source import (
    CODE_FORMATS,
    PLAIN_FORMATS,
    CodeFormat,
    FileFormat,
    Progress,
    detect_format,
    open_stream,
)
from workbench.formats.types import Pair, TypeReader, looks_swapped
from workbench.model.code_record import CodeRecord, Record, SolutionRecord
from workbench.model.item import ItemRecord, Refusal

AUTO: Final = "auto"
"""For a format: the one the file's content tells."""

SAMPLE_ROWS = 1_000
"""Rows at the beginning of a file that decide which column holds what."""

_SAMPLE_BYTES = 64 << 20


class FilePlan(Struct, frozen=True, kw_only=True):
    """How one file will be read.

    Attributes:
        format: What it is; ``verifybench`` is JSON Lines in the released schema.
        container: How its rows stand in it.
        columns: Our field -> their column, the type fields the right way round; none for code.
        swapped_types: The type column held subtypes and the subtype column types.
        max_line: Longest line taken, in bytes.
    """

    path: Path
    format: FileFormat | CodeFormat
    container: FileFormat
    columns: dict[str, str]
    swapped_types: bool
    max_line: int

    @property
    def needs_problems(self) -> bool:
        """Whether it holds solutions alone, of problems that are stored or stand in another file."""
        return self.code is not None and not kinds.holds_problems(self.code)

    @property
    def code(self) -> CodeFormat | None:
        """What its rows of code are; None where it holds items."""
        return CODE_FORMATS.get(self.format)


def plan_file(
    path: Path,
    *,
    format: str = AUTO,
    columns: Mapping[str, str] | None = None,
    max_line: int = DEFAULT_MAX_LINE,
) -> FilePlan:
    """Look at the beginning of a file and decide how to read it.

    Args:
        format: One of `FORMATS`, or ``auto``: as the content says. A file of code is told by its keys, unless
            ``columns`` says that it holds items.
        columns: Our field -> their column, where they are not recognised.

    Raises:
        FormatError: It can't be read, or a required field has no column.
        UsageError: ``columns`` names a column that is not there, or names one in a file of code.
    """
    code = CODE_FORMATS.get(format)
    kind = PLAIN_FORMATS.get(format) or _detected(path)
    if code is not None:
        if columns:
            raise UsageError(f"--map doesn't go with --format {format}.", "Its fields have names of their own.")
        return _code_plan(path, code, kind, max_line)
    with open_stream(path) as (stream, _):
        keys, sample = keys_of(_rows(stream, kind, path, max_line), SAMPLE_ROWS, _SAMPLE_BYTES)
    code = kinds.kind_of(keys) if format == AUTO and not columns else None
    if code is not None:
        return _code_plan(path, code, kind, max_line)
    if kind in TABLES:
        with open_stream(path) as (stream, _):
            keys = header_of(stream, kind, path, max_line)
    released = kind in ("jsonl", "verifybench") and (is_released(keys) or not sample)
    explicit = dict(columns or {})
    found = resolve_columns(keys, explicit, released=released, place=str(path))
    swapped = False
    if {"type", "subtype"} <= found.keys() and not {"type", "subtype"} & explicit.keys():
        swapped = looks_swapped(_type_pairs(sample, found))
    if swapped:
        found["type"], found["subtype"] = found["subtype"], found["type"]
    return FilePlan(
        path=path,
        format="verifybench" if released and kind == "jsonl" and sample else kind,
        container=kind,
        columns=found,
        swapped_types=swapped,
        max_line=max_line,
    )


def _code_plan(path: Path, format: CodeFormat, container: FileFormat, max_line: int) -> FilePlan:
    return FilePlan(path=path, format=format, container=container, columns={}, swapped_types=False, max_line=max_line)


def _detected(path: Path) -> FileFormat:
    kind = detect_format(path)
    return (peers.tool_of(path) or kind) if kind == "json" else kind


def _rows(stream: Stream, kind: FileFormat, path: Path, max_line: int) -> Iterator[Row]:
    rows = documents(stream, kind, path, max_line)
    return peers.items(rows, kind) if kind in peers.TOOLS else rows


@contextmanager
def read_records(
    plan: FilePlan, progress: Progress | None = None
) -> Iterator[tuple[Iterator[Record | Refusal], Callable[[], bytes]]]:
    """The items, or problems and solutions, and the refusals of a file in order, and a function that gives the
    file's hash after them.

    Raises:
        FormatError: The file can't be read as what it is.
    """
    with open_stream(plan.path, progress) as (stream, digest):
        yield _items(plan, stream) if plan.code is None else _code(plan, plan.code, stream), digest


def first_task_ids(plan: FilePlan) -> list[str]:
    """The problems that a file's first rows speak of.

    Raises:
        FormatError: The file can't be read as what it is.
    """
    with read_records(plan) as (records, _):
        found = [record.task_id for record in islice(records, SAMPLE_ROWS) if isinstance(record, SolutionRecord)]
    return list(dict.fromkeys(found))


@contextmanager
def read_items(plan: FilePlan) -> Iterator[tuple[Iterator[ItemRecord | Refusal], Callable[[], bytes]]]:
    """What `read_records` gives of a file of items.

    Raises:
        FormatError: The file can't be read as what it is.
    """
    with open_stream(plan.path) as (stream, digest):
        yield _items(plan, stream), digest


def _items(plan: FilePlan, stream: Stream) -> Iterator[ItemRecord | Refusal]:
    builder = RowBuilder(
        plan.columns,
        TypeReader(one_column=not {"type", "subtype"} <= plan.columns.keys()),
        place=plan.path,
        number_ids=plan.format != "verifybench",
        blank_is_none=plan.format in ("csv", "tsv"),
    )
    build = builder.build
    for row in _rows(stream, plan.container, plan.path, plan.max_line):
        if isinstance(row, Refusal):
            yield row
            continue
        item = build(row.line, row.json, row.raw)
        yield _cut_off(row, item) if row.unterminated and isinstance(item, Refusal) else item


def _code(plan: FilePlan, code: CodeFormat, stream: Stream) -> Iterator[CodeRecord | Refusal]:
    read = kinds.reader(code)
    for row in _rows(stream, plan.container, plan.path, plan.max_line):
        if isinstance(row, Refusal):
            yield row
            continue
        for record in read(row):
            yield _cut_off(row, record) if row.unterminated and isinstance(record, Refusal) else record


def _cut_off(row: Document, refused: Refusal) -> Refusal:
    if refused.code != "bad_json":
        return refused
    message = "The file ends in the middle of this line. Fetch it again."
    return Refusal(line=row.line, code="truncated", message=message, raw=refused.raw)


def _type_pairs(sample: list[dict[str, msgspec.Raw]], columns: Mapping[str, str]) -> Iterator[Pair]:
    for cells in sample:
        yield _short_text(cells, columns["type"]), _short_text(cells, columns["subtype"])


def _short_text(cells: dict[str, msgspec.Raw], column: str) -> str | None:
    try:
        return msgspec.json.decode(cells[column], type=str)
    except (KeyError, ValueError, msgspec.MsgspecError):
        return None
