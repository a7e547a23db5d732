"""Reads items: detects a file's format and the meaning of its columns, then reads its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct, structs

from workbench.core.code import CodeRecord, Record, SolutionRecord
from workbench.core.errors import FormatError, UsageError, opt
from workbench.core.item import ItemRecord, Refusal
from workbench.data.formats import kinds, label_studio, peers
from workbench.data.formats.documents import TABLES, Row, SourceDocument, header_of, keys_of, without_nan
from workbench.data.formats.fields import (
    FIELDS,
    ITEM_FIELDS,
    QUESTION_FIELDS,
    Pair,
    TypeReader,
    holds_questions,
    is_released,
    is_type,
    looks_swapped,
    require_columns,
    resolve_columns,
)
from workbench.data.formats.lines import RefusedError, Stream, make_refusal
from workbench.data.formats.logs.logged import Format, Grade
from workbench.data.formats.places import ColumnPath, chats_in, flatten_rows, has_lists, places_in, split_completions
from workbench.data.formats.rows import RowBuilder
from workbench.data.formats.source import (
    PLAIN_FORMATS,
    QUESTIONS,
    ZIP,
    FileFormat,
    Progress,
    detect_format,
    first_bytes,
    open_stream,
)
from workbench.data.formats.verdict_words import MISTAKES, GraderColumns, is_scale

AUTO: Final = "auto"
"""The format is detected from the file's content."""

FORMATS: Final[tuple[str, ...]] = (*PLAIN_FORMATS, QUESTIONS, *kinds.KINDS)
"""All formats except `AUTO`."""

SAMPLE_ROWS = 1_000
"""Number of rows at the beginning of a file from which the meaning of its columns is decided."""

_SAMPLE_BYTES = 8 << 20

_Build = Callable[[int, bytes, bytes], ItemRecord | Refusal]
T = TypeVar("T")


class FilePlan(Struct, frozen=True, kw_only=True):
    """A plan for reading one file.

    Attributes:
        format: The name of the format, one of `FORMATS`; ``verifybench`` is JSON Lines in the released schema.
        container: The file format in which the rows are stored.
        columns: The file's columns by field name, with swapped type columns corrected; empty for code and logs.
        swapped_types: Whether the file's type column holds subtypes and its subtype column types.
        usual: Default source and licence of rows without them.
        places: The paths of nested values, by the column name that stands for each.
        graders: The columns with verdicts that were requested, by verifier.
        scales: Verifiers whose columns hold scores instead of verdicts.
        kept: Columns whose values are stored with the items as extra keys: all that no field is read from, and type
            columns with invalid values.
        keep_equal: Whether equal rows without ids become separate items.
        has_lists: Whether the completion column holds lists of completions.
    """

    path: Path
    format: str
    container: FileFormat
    columns: dict[str, str] = {}
    swapped_types: bool = False
    usual: dict[str, str] = {}
    places: dict[str, ColumnPath] = {}
    graders: dict[str, str] = {}
    scales: frozenset[str] = frozenset()
    kept: tuple[str, ...] = ()
    keep_equal: bool = False
    has_lists: bool = False

    def grader_columns(self) -> GraderColumns | None:
        places = {name: self.places.get(column) or ColumnPath(column) for name, column in self.graders.items()}
        return GraderColumns(self.graders, places, self.scales) if self.graders else None

    @property
    def kind(self) -> Format | None:
        """Return the format if it has fixed fields; None for a file whose columns are mapped to fields."""
        return kinds.KINDS.get(self.format)

    @property
    def needs_problems(self) -> bool:
        return self.kind is not None and self.kind.holds == "solutions"

    @property
    def is_graded(self) -> bool:
        if self.kind is not None:
            return not self.kind.is_code
        return self.format == "label-studio" or bool(self.graders)


def plan_file(
    path: Path,
    *,
    format: str = AUTO,
    columns: Mapping[str, str] | None = None,
    graders: Mapping[str, str] = {},
    usual: Mapping[str, str] = {},
) -> FilePlan:
    """Read the beginning of a file and decide how to read the rest.

    Args:
        format: One of `FORMATS`, or ``auto`` to detect it. A code file or a log is recognised by its keys, unless
            ``columns`` or ``graders`` say that it holds items.
        columns: The file's columns (or paths of nested values) by field name, for fields that are not recognised.
        graders: The columns with verdicts (or paths of nested values), by verifier.
        usual: Default source and licence of rows without them.

    Raises:
        FormatError: The file can't be read, or a required field has no column.
        UsageError: ``columns`` or ``graders`` names a missing column, or is given for a code file or a log; or
            ``usual`` is given for a code file.
    """
    guess = format == AUTO and not columns and not graders
    container = PLAIN_FORMATS.get(format) or _detect_container(path)
    own = format if format in kinds.KINDS else kinds.detect_document(path) if guess else None
    if own is not None:
        if columns or graders:
            named = opt.map if columns else opt.verdict
            raise UsageError(
                f"{named} can't be combined with {opt.format:{format}}.", "The columns of this format have fixed names."
            )
        return _fixed_fields_plan(path, own, container, usual)
    if container != "xlsx" and first_bytes(path).startswith(ZIP):
        raise FormatError(f"{path}: it is a zip file.", "Unpack it.")
    keys, sample = _first_rows(path, container)
    own = kinds.detect_rows(keys, sample) if guess else None
    if own is not None:
        return _fixed_fields_plan(path, own, container, usual)
    explicit = dict(columns or {})
    asked = {f"{opt.verdict:{name}}": column for name, column in graders.items()}
    places = places_in({**explicit, **asked}, keys, sample)
    there = [*keys, *places]
    questions = format == QUESTIONS or (format == AUTO and holds_questions(keys, explicit))
    released = not questions and container in ("jsonl", "verifybench") and (is_released(keys) or not sample)
    found, swapped = _columns(path, there, sample, explicit, released=released, questions=questions)
    require_columns(there, asked, str(path))
    gold = found.get("gold", "")
    of_scale = not released and is_scale(sample, places.get(gold) or ColumnPath(gold), MISTAKES)
    if gold in graders.values() or of_scale:
        if explicit.get("gold"):
            why = "has other grades than right and wrong" if of_scale else "is both gold and a verifier's"
            raise UsageError(f"{path}: the column {gold!r} {why}.", f"Leave out {opt.map:gold}, or name another.")
        found.pop("gold", None)
    if questions and graders:
        raise UsageError(f"{path} holds questions without completions: {opt.verdict} does not apply to it.")
    found, places = chats_in(found, places, sample)
    if "licence" in usual and "source" not in usual and "source" not in found:
        raise UsageError(
            f"{path}: {opt.licence} is the licence of a source, but the rows name no source.", f"Name it: {opt.source}"
        )
    read = {*found.values(), *graders.values()} - (
        set() if released else _columns_stored_twice(sample, found, questions=questions)
    )
    scales = (name for name, column in graders.items() if is_scale(sample, places.get(column) or ColumnPath(column)))
    return FilePlan(
        path=path,
        format=QUESTIONS if questions else "verifybench" if released and container == "jsonl" and sample else container,
        container=container,
        columns=found,
        swapped_types=swapped,
        usual=dict(usual),
        places=places,
        graders=dict(graders),
        scales=frozenset(scales),
        kept=tuple(key for key in keys if key not in read),
        has_lists=container in ("jsonl", "json", "parquet") and has_lists(sample, found.get("completion")),
    )


def plan_rows(path: Path, columns: Mapping[str, str]) -> tuple[FilePlan, list[str]]:
    """Plan the reading of a file whose rows are not items; return the plan and the file's columns.

    Args:
        columns: The file's columns, or paths of nested values, by field name.

    Raises:
        FormatError: The file can't be read.
        UsageError: A column is missing.
    """
    container = _detect_container(path)
    keys, sample = _first_rows(path, container)
    places = places_in(columns, keys, sample)
    require_columns([*keys, *places], {f"{opt.map:{field}}": column for field, column in columns.items()}, str(path))
    return FilePlan(path=path, format=container, container=container, columns=dict(columns), places=places), keys


def sample_columns(path: Path) -> tuple[list[str], list[dict[str, msgspec.Raw]]]:
    """Return the columns and the first rows of a file whose columns can be mapped to fields; both are empty for code
    files and logs.

    Raises:
        FormatError: The file can't be read.
    """
    container = _detect_container(path)
    if kinds.detect_document(path) is not None:
        return [], []
    keys, sample = _first_rows(path, container)
    return ([], []) if kinds.detect_rows(keys, sample) else (keys, sample)


def _first_rows(path: Path, container: FileFormat) -> tuple[list[str], list[dict[str, msgspec.Raw]]]:
    with open_stream(path) as (stream, _):
        keys, sample = keys_of(map(_fix_nan, peers.rows(stream, container, path)), SAMPLE_ROWS, _SAMPLE_BYTES)
    if container in TABLES:
        with open_stream(path) as (stream, _):
            keys = list(dict.fromkeys([*header_of(stream, container, path), *keys]))
    return keys, sample


def _columns(
    path: Path,
    keys: list[str],
    sample: list[dict[str, msgspec.Raw]],
    explicit: dict[str, str],
    *,
    released: bool,
    questions: bool,
) -> tuple[dict[str, str], bool]:
    fields = QUESTION_FIELDS if questions else ITEM_FIELDS
    found = resolve_columns(keys, explicit, released=released, place=str(path), fields=fields)
    right = found if {"type", "subtype"} & explicit.keys() else fix_swapped_types(sample, found)
    return right, right != found


def fix_swapped_types(sample: list[dict[str, msgspec.Raw]], found: dict[str, str]) -> dict[str, str]:
    """Return the columns by field, with the type columns exchanged if the first rows show that they are swapped."""
    if not ({"type", "subtype"} <= found.keys() and looks_swapped(_type_pairs(sample, found))):
        return found
    return {**found, "type": found["subtype"], "subtype": found["type"]}


def _columns_stored_twice(
    sample: list[dict[str, msgspec.Raw]], columns: Mapping[str, str], *, questions: bool
) -> set[str]:
    kinds = [columns[field] for field in ("type", "subtype") if field in columns]
    unknown = (column for column in kinds if any(not is_type(_short_text(row, column) or "A") for row in sample))
    domain = () if questions or "domain" not in columns else (columns["domain"],)
    return {*unknown, *domain}


def _fixed_fields_plan(path: Path, format: str, container: FileFormat, usual: Mapping[str, str]) -> FilePlan:
    if usual and kinds.KINDS[format].is_code:
        raise UsageError(
            f"{path} holds code problems, whose source is their benchmark.", f"Leave {opt.source}, {opt.licence} out."
        )
    return FilePlan(path=path, format=format, container=container, usual=dict(usual))


def _detect_container(path: Path) -> FileFormat:
    kind = detect_format(path)
    return (peers.tool_of(path) or kind) if kind == "json" else kind


def _fix_nan(row: Row) -> Row:
    if isinstance(row, Refusal) or b"NaN" not in row.json:
        return row
    return structs.replace(row, json=without_nan(row.json))


def _rows_of(plan: FilePlan, stream: Stream) -> Iterable[Row]:
    rows: Iterable[Row] = peers.rows(stream, plan.container, plan.path)
    if plan.places or plan.has_lists or plan.graders:
        # These read a row before it becomes a record. The search of every row takes time, so a record is tried first.
        rows = map(_fix_nan, rows)
    rows = flatten_rows(rows, _places_read(plan))
    return split_completions(rows, plan.columns, plan.graders) if plan.has_lists else rows


def _places_read(plan: FilePlan) -> dict[str, ColumnPath]:
    return {name: place for name, place in plan.places.items() if name in plan.columns.values()}


@contextmanager
def read_records(
    plan: FilePlan, progress: Progress | None = None
) -> Iterator[tuple[Iterator[Record | Refusal], Callable[[], bytes]]]:
    """Read a file's records and rejections in order: items, questions, or code problems and solutions. Also return a
    function that returns the file's hash.
    """
    with open_stream(plan.path, progress) as (stream, digest):
        yield (record for _, record, _ in _records(plan, stream)), digest


def _records(plan: FilePlan, stream: Stream) -> Iterator[tuple[Row | CodeRecord, Record | Refusal, tuple[Grade, ...]]]:
    kind, columns = plan.kind, plan.columns
    questions = plan.format == QUESTIONS if kind is None else kind.holds == "questions"
    found: Iterable[tuple[Row | CodeRecord, tuple[Grade, ...]]] = ((row, ()) for row in _rows_of(plan, stream))
    if kind is not None:
        columns = {field: field for field in (QUESTION_FIELDS if questions else FIELDS)}
        found = kinds.records(stream, kind, plan.container, plan.path)
    build = _builder(plan, columns, questions=questions)
    for row, grades in found:
        yield row, _build_row(plan, build, row) if isinstance(row, SourceDocument) else row, grades


@contextmanager
def read_items(plan: FilePlan) -> Iterator[tuple[Iterator[ItemRecord | Refusal], Callable[[], bytes]]]:
    """Yield the items and rejections of a file of items, as `read_records` reads them.

    Raises:
        FormatError: The file can't be read in its format.
    """
    with read_records(plan) as (records, digest):
        yield (one for one in records if isinstance(one, ItemRecord | Refusal)), digest


def first_task_ids(plan: FilePlan) -> list[str]:
    """Return the ids of the problems that a file's first solutions are for.

    Raises:
        FormatError: The file can't be read in its format.
    """
    with read_records(plan) as (records, _):
        found = [record.task_id for record in islice(records, SAMPLE_ROWS) if isinstance(record, SolutionRecord)]
    return list(dict.fromkeys(found))


def items_of_rows(plan: FilePlan, rows: Iterable[Row]) -> Iterator[ItemRecord | Refusal]:
    return build_rows(plan, rows, _builder(plan, plan.columns))


def build_rows(
    plan: FilePlan, rows: Iterable[Row], build: Callable[[int, bytes, bytes], T | Refusal]
) -> Iterator[T | Refusal]:
    return (_build_row(plan, build, row) for row in flatten_rows(map(_fix_nan, rows), _places_read(plan)))


def read_grades(
    plan: FilePlan, columns: GraderColumns | None = None
) -> Iterator[tuple[ItemRecord, tuple[Grade | Refusal, ...]]]:
    """Yield the items of a file with grades, in order, each with its grades.

    Args:
        columns: Reads the verdicts in columns of the file, and counts their values.

    Raises:
        FormatError: The file can't be read in its format.
    """
    if not plan.is_graded:
        return
    with open_stream(plan.path) as (stream, _):
        for row, item, grades in _records(plan, stream):
            if not isinstance(row, SourceDocument) or not isinstance(item, ItemRecord):
                continue
            said: tuple[Grade | Refusal, ...] = grades
            if plan.kind is None and plan.container == "label-studio":
                said = label_studio.grades_in(row.raw)
            if columns is not None:
                said = (*said, *columns.read(row.line, row.json))
            if said:
                yield item, said


def _builder(plan: FilePlan, columns: Mapping[str, str], *, questions: bool = False) -> _Build:
    builder = RowBuilder(
        columns,
        TypeReader(one_column=not {"type", "subtype"} <= columns.keys()),
        place=plan.path,
        questions=questions,
        numbers=plan.format != "verifybench",
        blank_is_none=plan.container in TABLES,
        usual=plan.usual,
        kept=plan.kept,
        keep_equal=plan.keep_equal,
        by_row=plan.format == "lm-eval",
    )
    return builder.build


def _build_row(plan: FilePlan, build: Callable[[int, bytes, bytes], T | Refusal], row: Row) -> T | Refusal:
    if isinstance(row, Refusal):
        return row
    for column in plan.columns.values() if row.faults else ():
        if column in row.faults:
            return make_refusal(
                row.line, row.raw, RefusedError("missing_field", column, f"{column} {row.faults[column]}")
            )
    record = build(row.line, row.json, row.raw)
    return kinds.as_truncated(row, record) if isinstance(record, Refusal) else record


def _type_pairs(sample: list[dict[str, msgspec.Raw]], columns: Mapping[str, str]) -> Iterator[Pair]:
    for cells in sample:
        yield _short_text(cells, columns["type"]), _short_text(cells, columns["subtype"])


def _short_text(cells: dict[str, msgspec.Raw], column: str) -> str | None:
    try:
        return msgspec.json.decode(cells[column], type=str)
    except (KeyError, ValueError, msgspec.MsgspecError):
        return None
