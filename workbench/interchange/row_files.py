"""Read rows to judge from JSON Lines or Parquet, and write them with the columns of verdicts added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Final, Literal, NamedTuple

import msgspec

from workbench.core.code import Execution, Problem
from workbench.core.columns import FieldError, completion_text
from workbench.core.errors import FormatError, UsageError, opt
from workbench.core.item import ItemRecord, Refusal
from workbench.core.verdict import Outcome, Verdict
from workbench.data.formats.documents import Row, documents, parquet_batches, rows_of_batch
from workbench.data.formats.fields import FIELDS
from workbench.data.formats.lines import RefusedError, explain_document, make_refusal
from workbench.data.formats.reading import FilePlan, build_rows, items_of_rows, plan_file, plan_rows
from workbench.data.formats.source import open_stream
from workbench.verifiers.execution.given import COLUMNS, problem_of, tests_columns

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema

Kind = Literal["text", "number", "count"]
Cell = str | float | int | None
ItemReader = Callable[[Iterable[Row]], Iterator[ItemRecord | Refusal]]

VERDICT_COLUMNS: Final[dict[str, Kind]] = {"verdict": "text", "score": "number", "reason": "text"}
"""The columns added to a row."""
TEST_COLUMNS: Final[dict[str, Kind]] = {"outcomes": "text", "forgeable": "count", "isolation": "text"}
"""Additional columns for executed solutions: one letter per test, forgeable passes, the sandbox's level."""
_NOT_RUN: Final[Mapping[str, Execution]] = MappingProxyType({})


class RowVerdict(NamedTuple):
    """The result for one row.

    Attributes:
        runs: The solution's test results by suite; empty if the row is not a solution, or was not run.
    """

    verdict: Verdict
    runs: Mapping[str, Execution] = _NOT_RUN

    @property
    def is_forgeable(self) -> bool:
        """Return whether the row is correct only by forgeable passes."""
        return self.verdict.outcome is Outcome.CORRECT and any(one.forgeable for one in self.runs.values())


RowWriter = Callable[[Sequence[tuple[Any, RowVerdict]]], None]
"""Writes rows with the new columns, from the rows' own data and their results."""


class HeldRow(NamedTuple):
    item: ItemRecord
    own: Any


class RowFile(ABC):
    """A file of rows to judge.

    Args:
        items: Converts rows to items.
        prefix: Prefix of the names of the new columns.
        by_tests: Whether solutions are run, so that columns for their outcomes are added.
    """

    def __init__(self, plan: FilePlan, items: ItemReader, prefix: str, *, by_tests: bool) -> None:
        self.plan, self._items, self._by_tests = plan, items, by_tests
        columns = {**VERDICT_COLUMNS, **(TEST_COLUMNS if by_tests else {})}
        self.names = tuple(f"{prefix}{name}" for name in columns)
        self.kinds = tuple(columns.values())

    @abstractmethod
    def rows(self) -> Iterator[HeldRow | Refusal]:
        """Yield the rows in order.

        Raises:
            FormatError: The file can't be read in its format.
            UsageError: The file already has a column with the name of a new one.
        """

    @abstractmethod
    def writer(self, file: IO[bytes]) -> AbstractContextManager[RowWriter]:
        """Return a context with a function that writes rows with the new columns."""

    def _cells(self, found: RowVerdict) -> tuple[Cell, ...]:
        verdict, runs = found.verdict, found.runs.values()
        cells = verdict.outcome.word, verdict.score, verdict.reason
        if not self._by_tests:
            return cells
        if not runs:
            return *cells, None, None, None
        outcomes = " ".join(one.outcomes for one in runs)
        return *cells, outcomes, sum(one.forgeable for one in runs), min(one.level for one in runs)

    def _duplicate_column_error(self, name: str) -> UsageError:
        return UsageError(
            f"{self.plan.path} has a column {name!r} already.",
            f"Choose another prefix for the new columns: {opt.prefix:judged_}",
        )


class LinesFile(RowFile):
    """JSON Lines: a row's own text is unchanged."""

    def __init__(self, plan: FilePlan, items: ItemReader, prefix: str, *, by_tests: bool) -> None:
        super().__init__(plan, items, prefix, by_tests=by_tests)
        self._keys = [msgspec.json.encode(name) for name in self.names]

    def rows(self) -> Iterator[HeldRow | Refusal]:
        plan = self.plan
        with open_stream(plan.path) as (stream, _):
            rows = documents(stream, plan.container, plan.path)
            for item in self._items(rows):
                if isinstance(item, Refusal):
                    yield item
                    continue
                if any(key in item.raw for key in self._keys):
                    keys = msgspec.json.decode(item.raw, type=dict[str, msgspec.Raw])
                    for name in self.names:
                        if name in keys:
                            raise self._duplicate_column_error(name)
                yield HeldRow(item, item.raw)

    @contextmanager
    def writer(self, file: IO[bytes]) -> Iterator[RowWriter]:
        def write(judged: Sequence[tuple[Any, RowVerdict]]) -> None:
            for row, found in judged:
                # An item has keys, so there is text before the comma.
                own = row.rstrip()[:-1].rstrip()
                cells = zip(self._keys, map(msgspec.json.encode, self._cells(found)), strict=True)
                file.write(own + b"".join(b"," + key + b":" + value for key, value in cells) + b"}\n")

        yield write


class ParquetTable(RowFile):
    """Parquet: a row's own columns keep their types."""

    def rows(self) -> Iterator[HeldRow | Refusal]:
        held: list[tuple[int, RecordBatch]] = []

        def rows() -> Iterator[Row]:
            for first, batch in parquet_batches(self.plan.path):
                for name in self.names:
                    if name in batch.schema.names:
                        raise self._duplicate_column_error(name)
                held[:] = [(first, batch)]
                yield from rows_of_batch(batch, first)

        for item in self._items(rows()):
            ((first, batch),) = held
            yield item if isinstance(item, Refusal) else HeldRow(item, (batch, item.line - first))

    @contextmanager
    def writer(self, file: IO[bytes]) -> Iterator[RowWriter]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = self._schema()
        types = schema.types[-len(self.names) :]

        def write(judged: Sequence[tuple[Any, RowVerdict]]) -> None:
            for batch, some in _group_by_batch(judged):
                kept = batch.take(pa.array([place for place, _ in some], type=pa.int64()))
                said = zip(*(self._cells(found) for _, found in some), strict=True)
                new = [pa.array(cells, type=kind) for cells, kind in zip(said, types, strict=True)]
                target.write_batch(pa.RecordBatch.from_arrays([*kept.columns, *new], schema=schema))

        with pq.ParquetWriter(file, schema) as target:
            yield write

    def _schema(self) -> Schema:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = pq.read_schema(self.plan.path)
        types = {"text": pa.string(), "number": pa.float64(), "count": pa.int64()}
        for name, kind in zip(self.names, self.kinds, strict=True):
            schema = schema.append(pa.field(name, types[kind]))
        return schema


def _group_by_batch(
    judged: Sequence[tuple[Any, RowVerdict]],
) -> Iterator[tuple[RecordBatch, list[tuple[int, RowVerdict]]]]:
    for _, some in groupby(judged, key=lambda one: id(one[0][0])):
        rows = list(some)
        yield rows[0][0][0], [(place, found) for (_, place), found in rows]


def row_file(path: Path, columns: Mapping[str, str], prefix: str, *, by_tests: bool = False) -> RowFile:
    """Open a file to judge.

    Args:
        columns: Field of an item -> the file's column, for columns that are not recognised by their names.
        by_tests: Whether solutions are run against the tests in their rows.

    Raises:
        FormatError: The file holds no items, is neither JSON Lines nor Parquet, or can't be read.
        UsageError: A column doesn't exist.
    """
    plan = plan_solutions(path, columns) if by_tests else plan_file(path, columns=columns)
    if plan.format not in ("jsonl", "verifybench", "parquet"):
        needed = "a completion and its tests a row."
        if not by_tests:
            needed = "a question, a reference and a completion a row; or import it."
        raise FormatError(
            f"{path}: a file of {plan.format} can't be judged without a database.",
            f"Write JSON Lines or Parquet with {needed}",
        )
    items = partial(solutions_of_rows if by_tests else items_of_rows, plan)
    return (ParquetTable if plan.container == "parquet" else LinesFile)(plan, items, prefix, by_tests=by_tests)


# -- Rows with a solution and its tests, as data sets for training have them.


_FIELDS: Final = ("completion", "reference")
_CACHED_PROBLEMS: Final = 64
"""Number of cached problems, one batch of rows: rows of one problem are mostly adjacent."""


def plan_solutions(path: Path, columns: Mapping[str, str]) -> FilePlan:
    """Decide how to read a file of solutions; its tests replace the reference.

    Raises:
        FormatError: The file can't be read, or has no column of completions, or of tests.
        UsageError: ``columns`` names a missing column, or a field that solutions don't have.
    """
    for field in columns.keys() - {*_FIELDS}:
        raise UsageError(f"{field!r} is not a field of solutions.", f"Their fields: {', '.join(_FIELDS)} (the tests).")
    plan, keys = plan_rows(path, columns)
    if plan.format not in ("jsonl", "parquet"):
        return plan
    for field, what, known in (("completion", "completion", FIELDS["completion"]), ("reference", "tests", COLUMNS)):
        if field in plan.columns:
            continue
        # A file without rows, as some writers leave, holds no solutions.
        column = next((column for column in known if column in keys or not keys), None)
        if column is None:
            raise FormatError(f"{path}: no column holds the {what}.", f"Name it: {opt.map:{field}=COLUMN}")
        plan.columns[field] = column
    return plan


def solutions_of_rows(plan: FilePlan, rows: Iterable[Row]) -> Iterator[ItemRecord | Refusal]:
    def build(line: int, document: bytes, raw: bytes) -> ItemRecord | Refusal:
        try:
            return _solution_record(plan, line, _decode_row(document), raw)
        except RefusedError as error:
            return make_refusal(line, raw, error)

    return build_rows(plan, rows, build)


@lru_cache(_CACHED_PROBLEMS)
def problem_from_tests(reference: str) -> Problem:
    """Return the problem that a row's tests define; errors as for `problem_of`."""
    return problem_of(reference).problem


def _decode_row(document: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(document, type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise explain_document(document) from None


def _solution_record(plan: FilePlan, line: int, row: dict[str, Any], raw: bytes) -> ItemRecord:
    column = plan.columns["completion"]
    if row.get(column) is None:
        raise RefusedError("missing_field", column, f"There is no completion in {column}. Add it, or drop the row.")
    try:
        completion = completion_text(column, row[column])
    except FieldError as error:
        raise RefusedError("wrong_type", error.field, f"{error.message} Fix the row.") from error
    reference = _tests_text(plan.columns["reference"], row)
    return ItemRecord(
        line=line, raw=raw, question_key="", completion_key="", question="", reference=reference, completion=completion
    )


def _tests_text(column: str, row: dict[str, Any]) -> str:
    try:
        (found,) = tests_columns({name: [value] for name, value in row.items()}, column, 1)
        if found is None:
            raise RefusedError("missing_field", column, f"There are no tests in {column}. Add them, or drop the row.")
        problem_from_tests(found)
    except FieldError as error:
        code = "wrong_type" if column in row else "missing_field"
        raise RefusedError(code, column, f"{error.message.replace('[0]', '', 1)} Fix the row.") from error
    except UsageError as error:
        raise RefusedError("wrong_type", column, " ".join(filter(None, [error.message, error.hint]))) from error
    return found
