"""Judged files: partitions beside the file that is to be, each of which is there whole or not, then all in one.

A partition is a stretch of rows. What was judged of it stands in ``NNNNNN.rows``, in the file's own form, the rows that
were refused in ``NNNNNN.refused``, and ``NNNNNN.json`` comes last: a partition without it is not there.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from workbench.core.errors import FormatError, UsageError
from workbench.core.item import ItemRecord, Refusal
from workbench.core.verdict import Verdict
from workbench.data.formats.documents import Row, documents, parquet_batches, rows_of_batch
from workbench.data.formats.reading import FilePlan, items_of_rows
from workbench.data.formats.source import open_stream
from workbench.data.formats.writing import new_file

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema

COLUMNS: Final = ("verdict", "score", "reason")
"""What stands beside a row's own columns."""
PARTS: Final = ".parts"
"""Behind the name of a file whose partitions are being judged: their folder."""
REFUSED: Final = ".refused.jsonl"
"""Behind the name of a judged file: the rows that could not be."""


class HeldRow(NamedTuple):
    """A row that waits for its verdict: an item, and what its own columns are written from."""

    item: ItemRecord
    own: Any


class RowFile(ABC):
    """A file of rows that is judged.

    Args:
        prefix: Before the names of the new columns.
    """

    def __init__(self, plan: FilePlan, prefix: str) -> None:
        self.plan = plan
        self.names = tuple(f"{prefix}{name}" for name in COLUMNS)

    @abstractmethod
    def rows(self, after: int) -> Iterator[HeldRow | Refusal]:
        """Its rows behind a number, in their order.

        Raises:
            FormatError: It can't be read as what it is.
            UsageError: It has a column of a new one's name.
        """

    @abstractmethod
    def write(self, file: IO[bytes], judged: Sequence[tuple[HeldRow, Verdict]]) -> None:
        """Write rows with the new columns."""

    @abstractmethod
    def join(self, file: IO[bytes], parts: Sequence[Path]) -> None:
        """Write what stands in several files that `write` wrote."""

    def _named_twice(self, name: str) -> UsageError:
        return UsageError(f"{self.plan.path} has a column {name!r} already.", "Name the new ones: --prefix judged_")


def _cells(verdict: Verdict) -> tuple[str, float | None, str | None]:
    return verdict.outcome.word, verdict.score, verdict.reason


class LinesFile(RowFile):
    """JSON Lines: a row's own text stays as it stands."""

    def __init__(self, plan: FilePlan, prefix: str) -> None:
        super().__init__(plan, prefix)
        self._keys = [msgspec.json.encode(name) for name in self.names]

    def rows(self, after: int) -> Iterator[HeldRow | Refusal]:
        """See `RowFile.rows`."""
        plan = self.plan
        with open_stream(plan.path) as (stream, _):
            rows = documents(stream, plan.container, plan.path, plan.max_line)
            for item in items_of_rows(plan, (row for row in rows if row.line > after)):
                if isinstance(item, Refusal):
                    yield item
                    continue
                if any(key in item.raw for key in self._keys):
                    self._require_free(item)
                yield HeldRow(item, item.raw)

    def write(self, file: IO[bytes], judged: Sequence[tuple[HeldRow, Verdict]]) -> None:
        """See `RowFile.write`."""
        for row, verdict in judged:
            # An item has keys: there is something before the comma.
            own = row.own.rstrip()[:-1].rstrip()
            cells = zip(self._keys, map(msgspec.json.encode, _cells(verdict)), strict=True)
            file.write(own + b"".join(b"," + key + b":" + value for key, value in cells) + b"}\n")

    def join(self, file: IO[bytes], parts: Sequence[Path]) -> None:
        """See `RowFile.join`."""
        for part in parts:
            with part.open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 20)

    def _require_free(self, item: ItemRecord) -> None:
        keys = msgspec.json.decode(item.raw, type=dict[str, msgspec.Raw])
        for name in self.names:
            if name in keys:
                raise self._named_twice(name)


class ParquetTable(RowFile):
    """Parquet: a row's own columns keep their types."""

    def rows(self, after: int) -> Iterator[HeldRow | Refusal]:
        """See `RowFile.rows`."""
        held: list[tuple[int, RecordBatch]] = []

        def rows() -> Iterator[Row]:
            for first, batch in parquet_batches(self.plan.path, after):
                for name in self.names:
                    if name in batch.schema.names:
                        raise self._named_twice(name)
                held[:] = [(first, batch)]
                yield from (row for row in rows_of_batch(batch, first) if row.line > after)

        for item in items_of_rows(self.plan, rows()):
            ((first, batch),) = held
            yield item if isinstance(item, Refusal) else HeldRow(item, (batch, item.line - first))

    def write(self, file: IO[bytes], judged: Sequence[tuple[HeldRow, Verdict]]) -> None:
        """See `RowFile.write`."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = self._schema()
        with pq.ParquetWriter(file, schema) as writer:
            for batch, some in _by_batch(judged):
                kept = batch.take(pa.array([row.own[1] for row, _ in some], type=pa.int64()))
                said = zip(*(_cells(verdict) for _, verdict in some), strict=True)
                types = schema.types[-len(COLUMNS) :]
                new = [pa.array(cells, type=kind) for cells, kind in zip(said, types, strict=True)]
                writer.write_batch(pa.RecordBatch.from_arrays([*kept.columns, *new], schema=schema))

    def join(self, file: IO[bytes], parts: Sequence[Path]) -> None:
        """See `RowFile.join`."""
        import pyarrow.parquet as pq

        with pq.ParquetWriter(file, self._schema()) as writer:
            for part in parts:
                with pq.ParquetFile(part) as source:
                    for group in range(source.num_row_groups):
                        writer.write_table(source.read_row_group(group))

    def _schema(self) -> Schema:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = pq.read_schema(self.plan.path)
        for name, kind in zip(self.names, (pa.string(), pa.float64(), pa.string()), strict=True):
            schema = schema.append(pa.field(name, kind))
        return schema


def _by_batch(
    judged: Sequence[tuple[HeldRow, Verdict]],
) -> Iterator[tuple[RecordBatch, list[tuple[HeldRow, Verdict]]]]:
    some: list[tuple[HeldRow, Verdict]] = []
    for one in judged:
        if some and some[-1][0].own[0] is not one[0].own[0]:
            yield some[0][0].own[0], some
            some = []
        some.append(one)
    if some:
        yield some[0][0].own[0], some


def row_file(plan: FilePlan, prefix: str) -> RowFile:
    """A file as it is planned to be read.

    Raises:
        FormatError: It holds no items, or is neither JSON Lines nor Parquet.
    """
    if plan.format not in ("jsonl", "verifybench", "parquet"):
        raise FormatError(
            f"{plan.path}: a file of {plan.format} is not judged in place.",
            "Write JSON Lines or Parquet with a question, a reference and a completion a row; or import it.",
        )
    return ParquetTable(plan, prefix) if plan.container == "parquet" else LinesFile(plan, prefix)


# -- Partitions on disk.


class Partition(Struct, frozen=True, kw_only=True):
    """What is known of a partition that is there.

    Attributes:
        last: The number of its last row in the file.
        rows: Rows it has read.
        refused: Those that could not be judged.
        verdicts: Those that were, by verdict.
    """

    last: int
    rows: int
    refused: int
    verdicts: dict[str, int]


class Partitions:
    """The partitions of one file, in a folder beside the file that they are to become; whoever has them holds a lock.

    Args:
        made_of: What decides what stands in them; those of anything else are not gone on with.
        anew: Drop those that are there.

    Attributes:
        found: Those that are there, in their order.

    Raises:
        UsageError: Those that are there were made of something else, or another process is at work on them.
        FormatError: The folder can't be written.
    """

    def __init__(self, target: Path, made_of: Mapping[str, object], *, anew: bool) -> None:
        self.folder, self._target = parts_of(target), target
        try:
            if anew:
                drop(target)
            self.folder.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            why = error.strerror or error
            raise FormatError(f"{self.folder}: {why}.", "Check the folder and the free space.") from error
        try:
            _lock(self._descriptor, self.folder)
            self.found: list[Partition] = []
            while (known := self._read(f"{len(self.found):06}.json")) is not None:
                self.found.append(known)
            _require_same(self.folder / _MADE_OF, made_of, begun=bool(self.found))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others go on with them."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def put(
        self, file: RowFile, judged: Sequence[tuple[HeldRow, Verdict]], refused: Sequence[Refusal], last: int
    ) -> None:
        """Write the next partition.

        Raises:
            FormatError: It can't be written.
        """
        number = f"{len(self.found):06}"
        verdicts: dict[str, int] = {}
        for _, verdict in judged:
            verdicts[verdict.outcome.word] = verdicts.get(verdict.outcome.word, 0) + 1
        known = Partition(last=last, rows=len(judged) + len(refused), refused=len(refused), verdicts=verdicts)
        with new_file(self.folder / f"{number}.rows", force=True) as out:
            file.write(out, judged)
        with new_file(self.folder / f"{number}.refused", force=True) as out:
            for one in refused:
                out.write(_refused_line(file.plan.path, one))
        with new_file(self.folder / f"{number}.json", force=True) as out:
            out.write(msgspec.json.encode(known))
        self.found.append(known)

    def join(self, file: RowFile) -> bool:
        """Make the one file of all of them, and that of the refused rows; returns whether there are any.

        Raises:
            FormatError: It can't be written.
        """
        numbers = [f"{number:06}" for number in range(len(self.found))]
        refused, some = refusals_of(self._target), any(known.refused for known in self.found)
        if some:
            with new_file(refused, force=True) as out:
                for number in numbers:
                    out.write((self.folder / f"{number}.refused").read_bytes())
        else:
            refused.unlink(missing_ok=True)
        with new_file(self._target, force=True) as out:
            file.join(out, [self.folder / f"{number}.rows" for number in numbers])
        return some

    def _read(self, name: str) -> Partition | None:
        try:
            return msgspec.json.decode((self.folder / name).read_bytes(), type=Partition)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.MsgspecError) as error:
            raise FormatError(f"{self.folder / name} can't be read: {error}.", "Begin anew: --force") from error


def parts_of(target: Path) -> Path:
    """Where the partitions of a file stand until it is there."""
    return target.with_name(target.name + PARTS)


def refusals_of(target: Path) -> Path:
    """Where the rows stand that could not be judged."""
    return target.with_name(f"_{target.name}{REFUSED}")


def drop(target: Path) -> None:
    """Remove a file's partitions: all are gone at once, and what is left over is removed by the next one."""
    folder = parts_of(target)
    over = folder.with_name(f"{folder.name}{_OVER}")
    shutil.rmtree(over, ignore_errors=True)
    with suppress(FileNotFoundError):
        folder.rename(over)
    shutil.rmtree(over, ignore_errors=True)


_OVER: Final = ".over"
_MADE_OF: Final = "made-of.json"


def _require_same(path: Path, made_of: Mapping[str, object], *, begun: bool) -> None:
    wanted = msgspec.json.encode(made_of, order="sorted")
    if not begun:
        with new_file(path, force=True) as out:
            out.write(wanted)
        return
    try:
        before = msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except (OSError, msgspec.MsgspecError) as error:
        raise FormatError(f"{path} can't be read: {error}.", "Begin anew: --force") from error
    after = msgspec.json.decode(wanted, type=dict[str, object])
    apart = [name for name in made_of if before.get(name) != after[name]]
    if apart:
        raise UsageError(
            f"{path.parent} was begun with another {', '.join(apart)}.", "Go on as it was begun, or begin anew: --force"
        )


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise UsageError(f"Another process is at work on {folder}.", "Wait for it, or end it.") from error


def _refused_line(path: Path, one: Refusal) -> bytes:
    line = {
        "file": str(path),
        "line": one.line,
        "field": one.field,
        "code": one.code,
        "message": one.message,
        "raw": one.raw.decode(errors="replace"),
    }
    return msgspec.json.encode(line) + b"\n"
