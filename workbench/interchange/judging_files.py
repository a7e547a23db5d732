"""Judge files without a database: write each row with its verdict, partition by partition, in constant memory.

The verdicts are those of a run over the same rows; solutions are run against the tests in their rows. After an
interruption of any kind the same command continues: only missing partitions are judged.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, cast

from msgspec import Struct

from workbench.core.code import Execution, Level, Provenance
from workbench.core.errors import FormatError, RunError, opt
from workbench.core.item import ItemRecord, Refusal
from workbench.core.progress import step
from workbench.core.run import ClusterUse
from workbench.core.verdict import Verdict, VerifierInput
from workbench.interchange.partitions import FilePartitions, Partition, drop_partitions, parts_of, refusals_of
from workbench.interchange.row_files import HeldRow, RowFile, RowVerdict, problem_from_tests, row_file
from workbench.llm.records import Halt
from workbench.runs.executing import SolutionWork, judge_solutions
from workbench.runs.local import ResultSink, judge_locally
from workbench.runs.store.verdicts import TestResult
from workbench.verifiers.base import Judged, SandboxedVerifier, identity
from workbench.verifiers.execution.levels import level_of
from workbench.verifiers.registry import Registry, require_local

PARTITION: Final = 10_000
"""Default rows per partition."""
_PARTITION_BYTES: Final = 64 << 20
"""Bytes of rows after which a partition is closed."""
_MAX_HELD_BYTES: Final = 128 << 20
"""Bytes of rows in memory from which no more are read, until the first partition has all its verdicts."""
_CHUNK: Final = 64
_CHUNK_BYTES: Final = 4 << 20
_ENDINGS: Final = (".jsonl", ".jsonl.gz", ".ndjson", ".parquet")


class JudgedFiles(Struct, kw_only=True):
    """The result of `judge_files`.

    Attributes:
        verifier: The kind of the verifier.
        rows: Number of rows.
        reused: Number of rows in partitions that already existed.
        refused: Number of rejected rows; they are written to a separate file.
        verdicts: Verdict -> number of rows.
        errors: Reason -> number of verdicts "error"; for solutions, those that were not run.
        forgeable: Number of correct solutions with passes that could be forged; None if no solutions are run.
        isolation: The sandbox level of solutions; None if no solutions are run.
        provenance: Everything else that outcomes of solutions depend on; None if no solution had to be run this time.
        cluster: Where the rows were judged, if not on this machine.
        output: The target file.
        refusals: Path of the file of rejected rows, if there are any.
    """

    verifier: str
    version: str
    rows: int = 0
    reused: int = 0
    refused: int = 0
    verdicts: dict[str, int] = {}
    errors: dict[str, int] = {}
    forgeable: int | None = None
    isolation: Level | None = None
    provenance: Provenance | None = None
    cluster: ClusterUse | None = None
    output: str
    refusals: list[str] = []


def judge_files(
    source: Path,
    target: Path,
    kind: str = "rules",
    options: Mapping[str, str] = {},
    *,
    columns: Mapping[str, str] = {},
    prefix: str = "",
    partition: int = PARTITION,
    workers: int | None = None,
    on: ClusterUse | None = None,
    force: bool = False,
) -> JudgedFiles:
    """Write every row of a file with its verdict, score and reason next to it.

    Args:
        source: JSON Lines or Parquet.
        target: A file of the same kind.
        kind: A verifier that works on this machine, or ``execution``: then rows have tests instead of references.
        columns: Field of an item -> the file's column, for columns that are not recognised by their names.
        prefix: Prefix of the names of the new columns.
        partition: Number of rows in each partition.
        workers: Number of worker processes, or of solutions that run at once; one per core by default.
        on: A cluster that judges instead of this machine; receives statistics of its nodes.
        force: Judge everything again.

    Raises:
        UsageError: The verifier or an option does not exist, the verifier calls model servers, existing partitions were
            made with other settings, a file already has a column with the name of a new one, or the address is not
            valid for a cluster.
        FormatError: A file can't be read or written, or the target exists already.
        VerifierError: The verifier is unusable.
        UnsafeError: Solutions would be run with resource limits only.
        RunError: The isolation level is unavailable here; the cluster does not exist, has no usable node, or its nodes
            have died. Results so far are stored.
    """
    verifier = Registry().load(kind, dict(options))
    sandboxed = cast("SandboxedVerifier", verifier) if verifier.isolation == "sandbox" else None
    report = JudgedFiles(verifier=kind, version=verifier.version, output=str(target), cluster=on)
    if sandboxed is None:
        require_local(verifier)
    else:
        report.isolation = level_of(sandboxed.wanted, allow_unsafe=False, scratch=sandboxed.scratch > 0)
        report.forgeable = 0
    if on is not None:
        from workbench.runs.cluster import require_cluster

        require_cluster(on.address, workers)
    made_of = {
        "verifier": verifier.name,
        "version": verifier.version,
        "options": identity(verifier),
        "prefix": prefix,
        "partition": partition,
        **({} if report.isolation is None else {"isolation": report.isolation}),
    }
    _require_target(source, target, anew=force)
    file = row_file(source, columns, prefix, by_tests=sandboxed is not None)
    _require_same_kind(file, target)
    made_of |= {"input": _file_stamp(source), "columns": file.plan.columns}
    here = workers or os.cpu_count() or 1
    spec = kind, dict(options)
    with closing(FilePartitions(target, made_of, anew=force)) as parts, step("judging", None, "rows") as advance:
        sink = _PartitionSink(file, parts, partition, report, advance)
        try:
            if sandboxed is not None:
                _run_solutions(sandboxed, here, sink, report)
            elif on is None:
                judge_locally(verifier, spec, here, sink.chunks(), sink, has_room=sink.has_room)
            else:
                from workbench.runs.cluster import judge_on_cluster

                judge_on_cluster(verifier, spec, on, sink.chunks(), sink, has_room=sink.has_room)
        except Halt as halt:
            raise RunError(halt.message, "Judged rows are stored: run the same command again to continue.") from halt
        sink.finish()
        if parts.join(file):
            report.refusals.append(str(refusals_of(target)))
        drop_partitions(target)
    return report


def _run_solutions(verifier: SandboxedVerifier, workers: int, sink: _PartitionSink, report: JudgedFiles) -> None:
    assert report.isolation is not None
    works = (
        [SolutionWork(item=item, form=None, problem=problem_from_tests(item.reference)) for item in chunk]
        for chunk in sink.chunks()
    )
    judge_solutions(verifier, report.isolation, workers, works, sink, report.cluster, has_room=sink.has_room)


def _require_target(source: Path, target: Path, *, anew: bool) -> None:
    if source.is_dir():
        raise FormatError(
            f"{source} is a folder.", "Judge its files one by one, in a loop of the shell (docs/machines.md)."
        )
    if not target.name.endswith(_ENDINGS):
        raise FormatError(f"{target} is not a name for a file of rows.", f"Names end in {', '.join(_ENDINGS)}.")
    if target.is_dir():
        raise FormatError(f"{target} is a folder.", f"Name a file in it: {target / source.name}")
    if target.exists() and target.samefile(source):
        raise FormatError(f"{target} is the input itself.", "Name another file.")
    if target.exists() and not (anew or parts_of(target).exists()):
        raise FormatError(f"{target} exists.", f"Use {opt.force} to judge its rows again.")


def _require_same_kind(file: RowFile, target: Path) -> None:
    is_table = file.plan.container == "parquet"
    if is_table != (target.suffix == ".parquet"):
        raise FormatError(
            f"{file.plan.path} is {'Parquet' if is_table else 'JSON Lines'}, but the name {target.name} implies "
            "another format.",
            "Name it accordingly.",
        )


def _file_stamp(path: Path) -> list[int]:
    try:
        about = path.stat()
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}.", "Check the file and its permissions.") from error
    return [about.st_size, about.st_mtime_ns]


# -- From rows to partitions.


class _OpenPartition:
    """A partition that waits for verdicts.

    Attributes:
        first: The number of its first item.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.rows: list[Any] = []
        self.refused: list[Refusal] = []
        self.found: dict[int, RowVerdict] = {}
        self.last = self.bytes = 0
        self.closed = False

    @property
    def size(self) -> int:
        return len(self.rows) + len(self.refused)

    def add(self, row: HeldRow | Refusal) -> int:
        size = _size_of(row)
        self.bytes += size
        if isinstance(row, Refusal):
            self.last = row.line
            self.refused.append(row)
        else:
            self.last = row.item.line
            self.rows.append(row.own)
        return size

    @property
    def is_judged(self) -> bool:
        return self.closed and len(self.found) == len(self.rows)


def _size_of(row: HeldRow | Refusal) -> int:
    if isinstance(row, Refusal):
        return len(row.raw)
    item = row.item
    # Of a long row of Parquet only the beginning of its raw bytes is kept.
    return max(len(item.raw), len(item.question) + len(item.reference) + len(item.completion))


class _PartitionSink(ResultSink):
    """Collects verdicts, and writes the partitions in order, each once all its rows have verdicts.

    Args:
        most: Maximum number of rows in a partition.
    """

    def __init__(
        self, file: RowFile, parts: FilePartitions, most: int, report: JudgedFiles, advance: Callable[[int], None]
    ) -> None:
        self._file, self._parts, self._most, self._report, self._advance = file, parts, most, report, advance
        self._open: deque[_OpenPartition] = deque()

    def has_room(self) -> bool:
        return sum(part.bytes for part in self._open) < _MAX_HELD_BYTES

    def chunks(self) -> Iterator[list[VerifierInput]]:
        number, characters, chunk = 0, 0, list[VerifierInput]()
        self._count_partitions(self._parts.found, reused=True)
        self._open.append(_OpenPartition(number))
        for row in self._file.rows(self._parts.found[-1].last if self._parts.found else 0):
            if (part := self._open[-1]).size >= self._most or part.bytes >= _PARTITION_BYTES:
                part.closed = True
                self._write_judged()
                part = _OpenPartition(number)
                self._open.append(part)
            characters += part.add(row)
            if isinstance(row, Refusal):
                continue
            chunk.append(_input(row.item, number))
            number += 1
            if len(chunk) >= _CHUNK or characters >= _CHUNK_BYTES:
                yield chunk
                characters, chunk = 0, []
        self._open[-1].closed = True
        yield chunk

    def store(self, results: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict] = {}) -> None:
        self._add_verdicts([(item, RowVerdict(verdict)) for item, verdict in results])

    def store_executed(self, judged: Sequence[tuple[int, Judged]], results: Sequence[TestResult]) -> None:
        runs: dict[int, dict[str, Execution]] = {}
        for one in results:
            runs.setdefault(one.item, {})[one.suite] = one.execution
        self._add_verdicts([(item, RowVerdict(one.verdict, runs.get(item, {}))) for item, one in judged])

    def note_provenance(self, provenance: Provenance) -> None:
        self._report.provenance = provenance

    def _add_verdicts(self, found: Sequence[tuple[int, RowVerdict]]) -> None:
        for item, one in found:
            part = next(part for part in reversed(self._open) if part.first <= item)
            part.found[item] = one
        self._advance(len(found))
        self._write_judged()

    def finish(self) -> None:
        self._write_judged()
        assert not self._open

    def _write_judged(self) -> None:
        while self._open and self._open[0].is_judged:
            part = self._open.popleft()
            if part.size:
                judged = [(row, part.found[part.first + place]) for place, row in enumerate(part.rows)]
                self._parts.put(self._file, judged, part.refused, part.last)
                self._count_partitions(self._parts.found[-1:])

    def _count_partitions(self, found: Sequence[Partition], *, reused: bool = False) -> None:
        report = self._report
        for one in found:
            report.rows += one.rows
            report.reused += one.rows if reused else 0
            report.refused += one.refused
            if report.forgeable is not None:
                report.forgeable += one.forgeable
            for counts, more in ((report.verdicts, one.verdicts), (report.errors, one.errors)):
                for word, count in more.items():
                    counts[word] = counts.get(word, 0) + count


def _input(item: ItemRecord, number: int) -> VerifierInput:
    return VerifierInput(
        item=number, question=item.question, reference=item.reference, completion=item.completion, subtype=item.subtype
    )
