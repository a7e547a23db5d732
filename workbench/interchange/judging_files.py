"""Judging files without a database: each row beside its verdict, partition by partition, in memory that stays the same.

The verdicts are those of a run over the same rows. What was broken off, however that came about, is gone on with by the
same command: only partitions that are not there are judged.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Self

import msgspec
from msgspec import Struct

from workbench.core.errors import FormatError, UsageError
from workbench.core.item import ItemRecord, Refusal
from workbench.core.progress import step
from workbench.core.verdict import Verdict, VerifierInput
from workbench.data.formats.reading import plan_file
from workbench.data.formats.writing import new_file
from workbench.interchange.partitions import (
    PARTS,
    HeldRow,
    Partition,
    Partitions,
    RowFile,
    drop,
    parts_of,
    refusals_of,
    row_file,
)
from workbench.runs.executor import RecentVerdicts
from workbench.runs.local import judge_locally
from workbench.verifiers.base import AnyVerifier, identity
from workbench.verifiers.registry import Registry, require_local

PARTITION: Final = 10_000
"""Rows of a partition."""
_BYTES: Final = 64 << 20
"""Bytes of rows from which on a partition has no more of them."""
_CHUNK: Final = 64
_ENDINGS: Final = (".jsonl", ".jsonl.gz", ".ndjson", ".parquet")
_NOTHING: Final[Mapping[bytes, Verdict]] = {}
_STATE: Final = "_judged.json"
"""In a folder of judged files: which they are. Readers of such folders leave names with ``_`` alone."""


class JudgedFiles(Struct, kw_only=True):
    """What `judge_files` did.

    Attributes:
        verifier: Its kind.
        files: How many were judged.
        skipped: Files that had been judged before.
        rows: Rows of those that were not skipped.
        reused: Those of them in partitions that were there already.
        refused: Those that could not be judged, also of files that were skipped; they stand apart.
        verdicts: The others by verdict.
        output: What was written.
        refusals: Files of refused rows.
        unread: Why a file of a folder could not be read; the others were judged.
        left_out: Files of a folder that are of no rows, by their names.
    """

    verifier: str
    version: str
    files: int = 0
    skipped: int = 0
    rows: int = 0
    reused: int = 0
    refused: int = 0
    verdicts: dict[str, int] = {}
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
    force: bool = False,
) -> JudgedFiles:
    """Write every row of a file, or of the files of a folder, with its verdict, score and reason beside it.

    Args:
        source: JSON Lines or Parquet, or a folder of such.
        target: A file of the same kind, or for a folder one with files of the same names.
        kind: A verifier that works on this machine.
        columns: Our field -> their column, where they are not recognised.
        prefix: Before the names of the new columns.
        partition: Rows of a partition.
        workers: Worker processes; one a core by default.
        force: Judge everything anew, whatever is there.

    Raises:
        UsageError: There is no such verifier or option, it asks model servers or runs programs, what is there was made
            of something else, or a file has a column of a new one's name.
        FormatError: A file can't be read or written, or the target is there already.
        VerifierError: The verifier can't be used.
    """
    verifier = Registry().load(kind, dict(options))
    require_local(verifier)
    report = JudgedFiles(verifier=kind, version=verifier.version, output=str(target))
    work = _Work(verifier, columns, prefix, partition, anew=force)
    works = work.of_folder(source, target, report) if source.is_dir() else work.of_file(source, target)
    with step("judging", None, "rows") as advance, _PartitionSink(works, partition, report, advance) as sink:
        judge_locally(verifier, (kind, dict(options)), workers or os.cpu_count() or 1, sink.chunks(), sink)
        sink.finish()
    return report


class _Target(NamedTuple):
    """A file on its way.

    Attributes:
        done: Called when it is whole, before its partitions go.
    """

    file: RowFile
    path: Path
    parts: Partitions
    done: Callable[[Sequence[Partition]], None]


class _Work:
    """Which files there are to judge, and what is known of those that are done."""

    def __init__(self, verifier: AnyVerifier, columns: Mapping[str, str], prefix: str, partition: int, *, anew: bool):
        self._made_of: dict[str, object] = {
            "verifier": verifier.name,
            "version": verifier.version,
            "options": identity(verifier),
            "prefix": prefix,
            "partition": partition,
        }
        self._columns, self._prefix, self._anew = columns, prefix, anew

    def of_file(self, source: Path, target: Path) -> Iterator[_Target]:
        """A single one."""
        if not target.name.endswith(_ENDINGS):
            raise FormatError(f"{target} is no name for rows.", f"Names end in {', '.join(_ENDINGS)}.")
        if target.is_dir():
            raise FormatError(f"{target} is a folder.", f"Name a file in it: {target / source.name}")
        if target.exists() and target.samefile(source):
            raise FormatError(f"{target} is what is judged.", "Name another file.")
        if target.exists() and not (self._anew or parts_of(target).exists()):
            raise FormatError(f"{target} exists.", "Use --force to judge its rows anew.")
        return iter([self._target(source, target, lambda _: None)])

    def of_folder(self, source: Path, target: Path, report: JudgedFiles) -> Iterator[_Target]:
        """The files of a folder, but for those that were judged before."""
        if target.resolve().is_relative_to(source.resolve()):
            raise FormatError(f"{target} lies in {source}.", "Name a folder elsewhere.")
        there = [path for path in sorted(source.rglob("*")) if _is_seen(path, source)]
        names = [str(path.relative_to(source)) for path in there if path.name.endswith(_ENDINGS)]
        report.left_out = [str(path.relative_to(source)) for path in there if not path.name.endswith(_ENDINGS)]
        if not names:
            raise FormatError(f"{source} holds no file of rows.", f"Files are told by name: {', '.join(_ENDINGS)}.")
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(f"{target}: {error.strerror or error}.", "Name a folder.") from error
        state = _FolderState.read(target, self._made_of, anew=self._anew)
        return self._of_folder(source, target, names, state, report)

    def _of_folder(
        self, source: Path, target: Path, names: Sequence[str], state: _FolderState, report: JudgedFiles
    ) -> Iterator[_Target]:
        for name in names:
            known, out = state.files.get(name), target / name
            if known is None:
                if out.exists() and not (self._anew or parts_of(out).exists()):
                    raise FormatError(f"{out} exists, and was not judged here.", "Use --force to replace it.")
                try:
                    found = self._target(source / name, out, partial(self._done, source, target, name, state))
                except FormatError as error:
                    report.unread.append(" ".join(filter(None, [error.message, error.hint])))
                    continue
                yield found
            elif known.input != _stamp(source / name):
                raise FormatError(f"{source / name} has changed since it was judged.", "Judge all anew: --force")
            else:
                drop(out)
                report.skipped += 1
                if known.refused:
                    report.refused += known.refused
                    report.refusals.append(str(refusals_of(out)))

    def _done(self, source: Path, target: Path, name: str, state: _FolderState, found: Sequence[Partition]) -> None:
        rows, refused = sum(one.rows for one in found), sum(one.refused for one in found)
        state.files[name] = _FileState(input=_stamp(source / name), rows=rows, refused=refused)
        state.write(target)

    def _target(self, source: Path, target: Path, done: Callable[[Sequence[Partition]], None]) -> _Target:
        plan = plan_file(source, columns=self._columns)
        file = row_file(plan, self._prefix)
        if (plan.container == "parquet") != (target.suffix == ".parquet"):
            kind = "Parquet" if plan.container == "parquet" else "JSON Lines"
            raise FormatError(f"{source} is {kind}, and {target.name} says something else.", "Name it accordingly.")
        made_of = {**self._made_of, "input": _stamp(source), "columns": plan.columns}
        return _Target(file, target, Partitions(target, made_of, anew=self._anew), done)


class _FileState(Struct):
    """What is known of a judged file of a folder."""

    input: list[int]
    rows: int
    refused: int


class _FolderState(Struct):
    """Which files of a folder were judged, and by what."""

    made_of: dict[str, object]
    files: dict[str, _FileState]

    @classmethod
    def read(cls, folder: Path, made_of: dict[str, object], *, anew: bool) -> _FolderState:
        """What is known of a folder.

        Raises:
            UsageError: Its files were judged by something else.
        """
        path = folder / _STATE
        if anew or not path.exists():
            return cls(made_of, {})
        try:
            found = msgspec.json.decode(path.read_bytes(), type=cls)
        except (OSError, msgspec.MsgspecError) as error:
            raise FormatError(f"{path} can't be read: {error}.", "Judge all anew: --force") from error
        apart = [name for name in made_of if found.made_of.get(name) != made_of[name] and name != "partition"]
        if apart:
            raise UsageError(
                f"{folder} was judged with another {', '.join(apart)}.", "Name another folder, or judge anew: --force"
            )
        return found

    def write(self, folder: Path) -> None:
        """Write it down."""
        with new_file(folder / _STATE, force=True) as out:
            out.write(msgspec.json.format(msgspec.json.encode(self)) + b"\n")


def _is_seen(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(("_", ".")) or part.endswith(PARTS) for part in path.relative_to(folder).parts)
    return not hidden and path.is_file()


def _stamp(path: Path) -> list[int]:
    """What tells that a file is another one."""
    try:
        about = path.stat()
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}.", "Check the file and its permissions.") from error
    return [about.st_size, about.st_mtime_ns]


# -- From rows to partitions.


class _OpenPartition:
    """A partition whose verdicts are on their way.

    Attributes:
        first: The number of its first item, over all files.
    """

    def __init__(self, target: _Target, first: int) -> None:
        self.target, self.first = target, first
        self.rows: list[HeldRow] = []
        self.refused: list[Refusal] = []
        self.verdicts: dict[int, Verdict] = {}
        self.last = self.bytes = 0
        self.closed = self.ends_file = False

    @property
    def size(self) -> int:
        """Rows that were read."""
        return len(self.rows) + len(self.refused)

    def add(self, row: HeldRow | Refusal) -> None:
        """Take the next row."""
        record = row if isinstance(row, Refusal) else row.item
        self.last = record.line
        self.bytes += len(record.raw)
        if isinstance(row, Refusal):
            self.refused.append(row)
        else:
            self.rows.append(row)

    @property
    def is_judged(self) -> bool:
        """Whether no verdict is missing."""
        return self.closed and len(self.verdicts) == len(self.rows)

    def put(self) -> None:
        """Write it; the last one of a file makes the file."""
        if self.size:
            judged = [(row, self.verdicts[self.first + place]) for place, row in enumerate(self.rows)]
            self.target.parts.put(self.target.file, judged, self.refused, self.last)


class _PartitionSink:
    """Takes verdicts, and puts each partition where it belongs once it is whole; in their order.

    Args:
        works: The files.
        most: Rows of a partition.
    """

    def __init__(
        self, works: Iterator[_Target], most: int, report: JudgedFiles, advance: Callable[[int], None]
    ) -> None:
        self._works, self._most, self._report, self._advance = works, most, report, advance
        self._open: deque[_OpenPartition] = deque()
        self._targets: list[_Target] = []
        self._known = RecentVerdicts()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for target in self._targets:
            target.parts.close()

    def chunks(self) -> Iterator[list[VerifierInput]]:
        """All items of all files that have no verdict yet."""
        number, chunk = 0, list[VerifierInput]()
        for target in self._works:
            self._targets.append(target)
            self._count(target.parts.found, reused=True)
            after = target.parts.found[-1].last if target.parts.found else 0
            self._open.append(_OpenPartition(target, number))
            for row in target.file.rows(after):
                if (part := self._open[-1]).size >= self._most or part.bytes >= _BYTES:
                    part.closed = True
                    self._settle()
                    part = _OpenPartition(target, number)
                    self._open.append(part)
                part.add(row)
                if isinstance(row, Refusal):
                    continue
                chunk.append(_input(row.item, number))
                number += 1
                if len(chunk) >= _CHUNK:
                    yield chunk
                    chunk = []
            self._open[-1].closed = self._open[-1].ends_file = True
        yield chunk

    def store(self, results: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict] = _NOTHING) -> None:
        """See `runs.local.VerdictSink`."""
        self._known.put(found)
        for item, verdict in results:
            part = next(part for part in reversed(self._open) if part.first <= item)
            part.verdicts[item] = verdict
        self._advance(len(results))
        self._settle()

    def recall(self, key: bytes) -> Verdict | None:
        """See `runs.local.VerdictSink`."""
        return self._known.get(key)

    def check(self) -> None:
        """See `runs.local.VerdictSink`: nobody asks this work to end but by a signal."""

    def finish(self) -> None:
        """Write what is left once all verdicts are there."""
        self._settle()
        assert not self._open

    def _settle(self) -> None:
        while self._open and self._open[0].is_judged:
            part = self._open.popleft()
            before = len(part.target.parts.found)
            part.put()
            self._count(part.target.parts.found[before:])
            if part.ends_file:
                self._finish(part.target)

    def _finish(self, target: _Target) -> None:
        if target.parts.join(target.file):
            self._report.refusals.append(str(refusals_of(target.path)))
        target.done(target.parts.found)
        self._report.files += 1
        drop(target.path)
        target.parts.close()
        self._targets.remove(target)

    def _count(self, found: Sequence[Partition], *, reused: bool = False) -> None:
        report = self._report
        for one in found:
            report.rows += one.rows
            report.reused += one.rows if reused else 0
            report.refused += one.refused
            for word, count in one.verdicts.items():
                report.verdicts[word] = report.verdicts.get(word, 0) + count


def _input(item: ItemRecord, number: int) -> VerifierInput:
    return VerifierInput(
        item=number,
        question=item.question,
        reference=item.reference,
        completion=item.completion,
        subtype=item.subtype,
    )
