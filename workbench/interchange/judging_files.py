"""Judge files without a database: write each row with its verdict, partition by partition, in constant memory.

The verdicts are those of a run over the same rows; solutions are run against the tests in their rows. After an
interruption of any kind the same command continues: only missing partitions are judged.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import msgspec
from msgspec import Struct

from workbench.core.code import Execution, Level, Provenance
from workbench.core.errors import FormatError, RunError, UsageError, opt
from workbench.core.item import ItemRecord, Refusal
from workbench.core.progress import step
from workbench.core.run import ClusterUse
from workbench.core.verdict import Verdict, VerifierInput
from workbench.data.formats.writing import new_file
from workbench.interchange.partitions import PARTS, FilePartitions, Partition, drop_partitions, parts_of, refusals_of
from workbench.interchange.row_files import HeldRow, RowFile, RowVerdict, row_file
from workbench.interchange.solution_rows import problem_from_tests
from workbench.llm.records import Halt
from workbench.runs.executing import SolutionWork, judge_solutions
from workbench.runs.local import ResultSink, judge_locally
from workbench.runs.store.verdicts import TestResult
from workbench.verifiers.base import AnyVerifier, Judged, SandboxedVerifier, identity
from workbench.verifiers.execution.levels import level_of
from workbench.verifiers.registry import Registry, require_local

PARTITION: Final = 10_000
"""Default rows per partition."""
_PARTITION_BYTES: Final = 64 << 20
"""Bytes of rows after which a partition is closed."""
_MAX_HELD_BYTES: Final = 128 << 20
"""Maximum bytes of rows held in memory behind a row that waits for its verdict."""
_CHUNK: Final = 64
_CHUNK_BYTES: Final = 4 << 20
_ENDINGS: Final = (".jsonl", ".jsonl.gz", ".ndjson", ".parquet")
_STATE: Final = "_judged.json"
"""State file in a folder of judged files. Readers of such folders ignore names with ``_``."""


class JudgedFiles(Struct, kw_only=True):
    """The result of `judge_files`.

    Attributes:
        verifier: The kind of the verifier.
        files: Number of judged files.
        skipped: Number of files that had been judged before.
        rows: Number of rows of judged files.
        reused: Number of rows in partitions that already existed.
        refused: Number of rejected rows, also of skipped files; they are written to separate files.
        verdicts: Verdict -> number of rows.
        errors: Reason -> number of verdicts "error"; for solutions, those that were not run.
        forgeable: Number of correct solutions with passes that could be forged; None if no solutions are run.
        isolation: The sandbox level of solutions; None if no solutions are run.
        provenance: Everything else that outcomes of solutions depend on; None if no solution had to be run this time.
        cluster: Where the rows were judged, if not on this machine.
        output: The target file or folder.
        refusals: Paths of the files of rejected rows.
        unread: For each file of a folder that could not be read, why; the other files were judged.
        left_out: Names of files in a folder that hold no rows.
    """

    verifier: str
    version: str
    files: int = 0
    skipped: int = 0
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
    unread: list[str] = []
    left_out: list[str] = []


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
    """Write every row of a file, or of the files of a folder, with its verdict, score and reason next to it.

    Args:
        source: JSON Lines or Parquet, or a folder of such.
        target: A file of the same kind, or for a folder the folder to write files with the same names to.
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
    work = _FileWork(verifier, report.isolation, columns, prefix, partition, anew=force)
    works = work.of_folder(source, target, report) if source.is_dir() else work.of_file(source, target)
    here = workers or os.cpu_count() or 1
    spec = kind, dict(options)
    with closing(work), step("judging", None, "rows") as advance:
        sink = _PartitionSink(works, partition, report, advance)
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
    return report


def _run_solutions(verifier: SandboxedVerifier, workers: int, sink: _PartitionSink, report: JudgedFiles) -> None:
    assert report.isolation is not None
    works = (
        [SolutionWork(item=item, form=None, problem=problem_from_tests(item.reference)) for item in chunk]
        for chunk in sink.chunks()
    )
    judge_solutions(verifier, report.isolation, workers, works, sink, report.cluster, has_room=sink.has_room)


class _FileInProgress(NamedTuple):
    """A file that is being judged.

    Attributes:
        done: Called when the file is complete, before its partitions are removed.
    """

    file: RowFile
    path: Path
    parts: FilePartitions
    done: Callable[[Sequence[Partition]], None]


class _FileWork:
    def __init__(
        self,
        verifier: AnyVerifier,
        level: Level | None,
        columns: Mapping[str, str],
        prefix: str,
        partition: int,
        *,
        anew: bool,
    ) -> None:
        self._made_of: dict[str, object] = {
            "verifier": verifier.name,
            "version": verifier.version,
            "options": identity(verifier),
            "prefix": prefix,
            "partition": partition,
            **({} if level is None else {"isolation": level}),
        }
        self._by_tests = level is not None
        self._columns, self._prefix, self._anew = columns, prefix, anew
        self._opened: list[FilePartitions] = []

    def close(self) -> None:
        for parts in self._opened:
            parts.close()

    def of_file(self, source: Path, target: Path) -> Iterator[_FileInProgress]:
        if not target.name.endswith(_ENDINGS):
            raise FormatError(f"{target} is not a name for a file of rows.", f"Names end in {', '.join(_ENDINGS)}.")
        if target.is_dir():
            raise FormatError(f"{target} is a folder.", f"Name a file in it: {target / source.name}")
        if target.exists() and target.samefile(source):
            raise FormatError(f"{target} is the input itself.", "Name another file.")
        if target.exists() and not (self._anew or parts_of(target).exists()):
            raise FormatError(f"{target} exists.", f"Use {opt.force} to judge its rows again.")
        return iter([self._target(source, target, lambda _: None)])

    def of_folder(self, source: Path, target: Path, report: JudgedFiles) -> Iterator[_FileInProgress]:
        if target.resolve().is_relative_to(source.resolve()):
            raise FormatError(f"{target} is inside {source}.", "Name a folder elsewhere.")
        there = [path for path in sorted(source.rglob("*")) if _is_input(path, source)]
        names = [str(path.relative_to(source)) for path in there if path.name.endswith(_ENDINGS)]
        report.left_out = [str(path.relative_to(source)) for path in there if not path.name.endswith(_ENDINGS)]
        if not names:
            raise FormatError(
                f"{source} contains no file of rows.", f"Files are recognised by their names: {', '.join(_ENDINGS)}."
            )
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(f"{target}: {error.strerror or error}.", "Name a folder.") from error
        state = _FolderState.read(target, self._made_of, anew=self._anew)
        return self._of_folder(source, target, names, state, report)

    def _of_folder(
        self, source: Path, target: Path, names: Sequence[str], state: _FolderState, report: JudgedFiles
    ) -> Iterator[_FileInProgress]:
        for name in names:
            known, out = state.files.get(name), target / name
            if known is None:
                if out.exists() and not (self._anew or parts_of(out).exists()):
                    raise FormatError(
                        f"{out} exists, and was not written by this command.", f"Use {opt.force} to replace it."
                    )
                try:
                    found = self._target(source / name, out, partial(self._done, source, target, name, state))
                except FormatError as error:
                    report.unread.append(" ".join(filter(None, [error.message, error.hint])))
                    continue
                yield found
            elif known.input != _file_stamp(source / name):
                raise FormatError(
                    f"{source / name} has changed since it was judged.", f"Judge everything again: {opt.force}"
                )
            else:
                drop_partitions(out)
                report.skipped += 1
                if known.refused:
                    report.refused += known.refused
                    report.refusals.append(str(refusals_of(out)))

    def _done(self, source: Path, target: Path, name: str, state: _FolderState, found: Sequence[Partition]) -> None:
        rows, refused = sum(one.rows for one in found), sum(one.refused for one in found)
        state.files[name] = _FileState(input=_file_stamp(source / name), rows=rows, refused=refused)
        state.write(target)

    def _target(self, source: Path, target: Path, done: Callable[[Sequence[Partition]], None]) -> _FileInProgress:
        file = row_file(source, self._columns, self._prefix, by_tests=self._by_tests)
        plan = file.plan
        if (plan.container == "parquet") != (target.suffix == ".parquet"):
            kind = "Parquet" if plan.container == "parquet" else "JSON Lines"
            raise FormatError(
                f"{source} is {kind}, but the name {target.name} implies another format.", "Name it accordingly."
            )
        made_of = {**self._made_of, "input": _file_stamp(source), "columns": plan.columns}
        parts = FilePartitions(target, made_of, anew=self._anew)
        self._opened = [*(one for one in self._opened if one.is_open), parts]
        return _FileInProgress(file, target, parts, done)


class _FileState(Struct):
    input: list[int]
    rows: int
    refused: int


class _FolderState(Struct):
    made_of: dict[str, object]
    files: dict[str, _FileState]

    @classmethod
    def read(cls, folder: Path, made_of: dict[str, object], *, anew: bool) -> _FolderState:
        """Load the state of a folder.

        Raises:
            UsageError: Its files were judged with other settings.
        """
        path = folder / _STATE
        if anew or not path.exists():
            return cls(made_of, {})
        try:
            found = msgspec.json.decode(path.read_bytes(), type=cls)
        except (OSError, msgspec.MsgspecError) as error:
            raise FormatError(f"{path} can't be read: {error}.", f"Judge everything again: {opt.force}") from error
        apart = [name for name in made_of if found.made_of.get(name) != made_of[name] and name != "partition"]
        if apart:
            raise UsageError(
                f"{folder} was judged with another {', '.join(apart)}.",
                f"Name another folder, or judge everything again: {opt.force}",
            )
        return found

    def write(self, folder: Path) -> None:
        with new_file(folder / _STATE, force=True) as out:
            out.write(msgspec.json.format(msgspec.json.encode(self)) + b"\n")


def _is_input(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(("_", ".")) or part.endswith(PARTS) for part in path.relative_to(folder).parts)
    return not hidden and path.is_file()


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
        first: The number of its first item, over all files.
    """

    def __init__(self, target: _FileInProgress, first: int) -> None:
        self.target, self.first = target, first
        self.rows: list[Any] = []
        self.refused: list[Refusal] = []
        self.found: dict[int, RowVerdict] = {}
        self.last = self.bytes = 0
        self._ends: list[int] = []
        self._missing = 0
        self.closed = self.ends_file = False

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
            self._ends.append(self.bytes)
        return size

    @property
    def behind_first_missing(self) -> int:
        while self._missing < len(self.rows) and self.first + self._missing in self.found:
            self._missing += 1
        return self.bytes - self._ends[self._missing] if self._missing < len(self.rows) else 0

    @property
    def is_judged(self) -> bool:
        return self.closed and len(self.found) == len(self.rows)

    def put(self) -> None:
        if self.size:
            judged = [(row, self.found[self.first + place]) for place, row in enumerate(self.rows)]
            self.target.parts.put(self.target.file, judged, self.refused, self.last)


def _size_of(row: HeldRow | Refusal) -> int:
    if isinstance(row, Refusal):
        return len(row.raw)
    item = row.item
    # Of a long row of Parquet only the beginning of its raw bytes is kept.
    return max(len(item.raw), len(item.question) + len(item.reference) + len(item.completion))


class _PartitionSink(ResultSink):
    """Collects verdicts, and writes the partitions in order, each once all its rows have verdicts.

    Args:
        works: The files.
        most: Maximum number of rows in a partition.
    """

    def __init__(
        self, works: Iterator[_FileInProgress], most: int, report: JudgedFiles, advance: Callable[[int], None]
    ) -> None:
        self._works, self._most, self._report, self._advance = works, most, report, advance
        self._open: deque[_OpenPartition] = deque()

    def has_room(self) -> bool:
        waiting = iter(self._open)
        first = next(waiting, None)
        return first is None or first.behind_first_missing + sum(part.bytes for part in waiting) < _MAX_HELD_BYTES

    def chunks(self) -> Iterator[list[VerifierInput]]:
        number, characters, chunk = 0, 0, list[VerifierInput]()
        for target in self._works:
            self._count_partitions(target.parts.found, reused=True)
            after = target.parts.found[-1].last if target.parts.found else 0
            self._open.append(_OpenPartition(target, number))
            for row in target.file.rows(after):
                if (part := self._open[-1]).size >= self._most or part.bytes >= _PARTITION_BYTES:
                    part.closed = True
                    self._write_judged()
                    part = _OpenPartition(target, number)
                    self._open.append(part)
                characters += part.add(row)
                if isinstance(row, Refusal):
                    continue
                chunk.append(_input(row.item, number))
                number += 1
                if len(chunk) >= _CHUNK or characters >= _CHUNK_BYTES:
                    yield chunk
                    characters, chunk = 0, []
            self._open[-1].closed = self._open[-1].ends_file = True
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
            before = len(part.target.parts.found)
            part.put()
            self._count_partitions(part.target.parts.found[before:])
            if part.ends_file:
                if part.target.parts.join(part.target.file):
                    self._report.refusals.append(str(refusals_of(part.target.path)))
                part.target.done(part.target.parts.found)
                self._report.files += 1
                drop_partitions(part.target.path)
                part.target.parts.close()

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
