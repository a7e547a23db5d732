"""Judge files without a database: write each row with its verdict, in constant memory.

The verdicts are those of a run over the same rows; solutions are run against the tests in their rows. The file appears
whole or not at all; work that must survive an interruption needs a database.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final, cast

import msgspec
from msgspec import Struct

from workbench.core.code import Execution, Level, Provenance
from workbench.core.errors import FormatError, RunError, opt
from workbench.core.item import ItemRecord, Refusal
from workbench.core.progress import step
from workbench.core.run import ClusterUse
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.data.formats.writing import new_file
from workbench.interchange.row_files import HeldRow, RowFile, RowVerdict, RowWriter, problem_from_tests, row_file
from workbench.llm.records import Halt
from workbench.runs.executing import SolutionWork, judge_solutions
from workbench.runs.local import ResultSink, judge_locally
from workbench.runs.store.verdicts import TestResult
from workbench.verifiers.base import Judged, SandboxedVerifier
from workbench.verifiers.execution.levels import level_of
from workbench.verifiers.registry import Registry, require_local

REFUSED: Final = ".refused.jsonl"
"""Suffix of the file of rejected rows."""
_MAX_HELD_BYTES: Final = 128 << 20
"""Bytes of rows in memory from which no more are read, until the first of them have verdicts."""
_GROUP_ROWS: Final = 1_000
"""Rows that are written together; Parquet stores them together."""
_CHUNK: Final = 64
_CHUNK_BYTES: Final = 4 << 20
_ENDINGS: Final = (".jsonl", ".jsonl.gz", ".ndjson", ".parquet")


class JudgedFiles(Struct, kw_only=True):
    """The result of `judge_files`.

    Attributes:
        verifier: The kind of the verifier.
        rows: Number of rows.
        refused: Number of rejected rows; they are written to a separate file.
        verdicts: Verdict -> number of rows.
        errors: Reason -> number of verdicts "error"; for solutions, those that were not run.
        forgeable: Number of correct solutions with passes that could be forged; None if no solutions are run.
        isolation: The sandbox level of solutions; None if no solutions are run.
        provenance: Everything else that outcomes of solutions depend on; None if no solutions are run.
        cluster: Where the rows were judged, if not on this machine.
        output: The target file.
        refusals: Path of the file of rejected rows, if there are any.
    """

    verifier: str
    version: str
    rows: int = 0
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
        workers: Number of worker processes, or of solutions that run at once; one per core by default.
        on: A cluster that judges instead of this machine; receives statistics of its nodes.
        force: Replace an existing target.

    Raises:
        UsageError: The verifier or an option does not exist, the verifier calls model servers, a file already has a
            column with the name of a new one, or the address is not valid for a cluster.
        FormatError: A file can't be read or written, or the target exists already.
        VerifierError: The verifier is unusable.
        UnsafeError: Solutions would be run with resource limits only.
        RunError: The isolation level is unavailable here; the cluster does not exist, has no usable node, or its nodes
            have died.
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
    _require_target(source, target, force=force)
    file = row_file(source, columns, prefix, by_tests=sandboxed is not None)
    _require_same_kind(file, target)
    here = workers or os.cpu_count() or 1
    spec = kind, dict(options)
    refusals = target.with_name(f"_{target.name}{REFUSED}")
    with ExitStack() as opened, step("judging", None, "rows") as advance:
        out = opened.enter_context(new_file(target, force=True))
        write = opened.enter_context(file.writer(out))
        refused: IO[bytes] | None = None

        def reject(row: Refusal) -> None:
            nonlocal refused
            refused = refused or opened.enter_context(new_file(refusals, force=True))
            refused.write(_refused_line(source, row))

        sink = _FileSink(file, write, reject, report, advance)
        try:
            if sandboxed is not None:
                _run_solutions(sandboxed, here, sink, report)
            elif on is None:
                judge_locally(verifier, spec, here, sink.chunks(), sink, has_room=sink.has_room)
            else:
                from workbench.runs.cluster import judge_on_cluster

                judge_on_cluster(verifier, spec, on, sink.chunks(), sink, has_room=sink.has_room)
        except Halt as halt:
            raise RunError(halt.message, "Nothing was written: run the command again.") from halt
        sink.finish()
    if report.refused:
        report.refusals.append(str(refusals))
    else:
        refusals.unlink(missing_ok=True)
    return report


def _run_solutions(verifier: SandboxedVerifier, workers: int, sink: _FileSink, report: JudgedFiles) -> None:
    assert report.isolation is not None
    works = (
        [SolutionWork(item=item, form=None, problem=problem_from_tests(item.reference)) for item in chunk]
        for chunk in sink.chunks()
    )
    judge_solutions(verifier, report.isolation, workers, works, sink, report.cluster, has_room=sink.has_room)


def _require_target(source: Path, target: Path, *, force: bool) -> None:
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
    if target.exists() and not force:
        raise FormatError(f"{target} exists.", f"Use {opt.force} to judge its rows again.")


def _require_same_kind(file: RowFile, target: Path) -> None:
    is_table = file.plan.container == "parquet"
    if is_table != (target.suffix == ".parquet"):
        raise FormatError(
            f"{file.plan.path} is {'Parquet' if is_table else 'JSON Lines'}, but the name {target.name} implies "
            "another format.",
            "Name it accordingly.",
        )


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


# -- From rows to the file.


class _PendingRow:
    def __init__(self, own: Any, size: int) -> None:
        self.own, self.size = own, size
        self.found: RowVerdict | None = None


def _size_of(row: HeldRow) -> int:
    item = row.item
    # Of a long row of Parquet only the beginning of its raw bytes is kept.
    return max(len(item.raw), len(item.question) + len(item.reference) + len(item.completion))


class _FileSink(ResultSink):
    """Collects verdicts, and writes the rows in order, in groups whose rows all have verdicts.

    Args:
        write: Writes rows with their verdicts.
        reject: Writes a rejected row.
    """

    def __init__(
        self,
        file: RowFile,
        write: RowWriter,
        reject: Callable[[Refusal], None],
        report: JudgedFiles,
        advance: Callable[[int], None],
    ) -> None:
        self._file, self._write, self._reject, self._report, self._advance = file, write, reject, report, advance
        self._rows: deque[_PendingRow] = deque()
        self._written = self._bytes = 0

    def has_room(self) -> bool:
        if self._bytes >= _MAX_HELD_BYTES:
            self._write_judged()
        return self._bytes < _MAX_HELD_BYTES

    def chunks(self) -> Iterator[list[VerifierInput]]:
        number, characters, chunk = 0, 0, list[VerifierInput]()
        for row in self._file.rows():
            self._report.rows += 1
            if isinstance(row, Refusal):
                self._report.refused += 1
                self._reject(row)
                continue
            size = _size_of(row)
            self._rows.append(_PendingRow(row.own, size))
            self._bytes += size
            characters += size
            chunk.append(_input(row.item, number))
            number += 1
            if len(chunk) >= _CHUNK or characters >= _CHUNK_BYTES:
                yield chunk
                characters, chunk = 0, []
        yield chunk

    def store(self, results: Sequence[tuple[int, Verdict]]) -> None:
        self._add_verdicts([(item, RowVerdict(verdict)) for item, verdict in results])

    def store_executed(self, judged: Sequence[tuple[int, Judged]], results: Sequence[TestResult]) -> None:
        runs: dict[int, dict[str, Execution]] = {}
        for one in results:
            runs.setdefault(one.item, {})[one.suite] = one.execution
        self._add_verdicts([(item, RowVerdict(one.verdict, runs.get(item, {}))) for item, one in judged])

    def note_provenance(self, provenance: Provenance) -> None:
        self._report.provenance = provenance

    def finish(self) -> None:
        self._write_judged()
        assert not self._rows

    def _add_verdicts(self, found: Sequence[tuple[int, RowVerdict]]) -> None:
        for item, one in found:
            self._rows[item - self._written].found = one
        self._advance(len(found))
        if len(self._rows) >= _GROUP_ROWS and self._rows[_GROUP_ROWS - 1].found is not None:
            self._write_judged()

    def _write_judged(self) -> None:
        judged: list[tuple[Any, RowVerdict]] = []
        while self._rows and (found := self._rows[0].found) is not None:
            row = self._rows.popleft()
            self._bytes -= row.size
            judged.append((row.own, found))
            self._count_verdict(found)
        self._written += len(judged)
        self._write(judged)

    def _count_verdict(self, found: RowVerdict) -> None:
        report, verdict = self._report, found.verdict
        report.verdicts[verdict.outcome.word] = report.verdicts.get(verdict.outcome.word, 0) + 1
        if verdict.outcome is Outcome.ERROR:
            report.errors[verdict.reason or ""] = report.errors.get(verdict.reason or "", 0) + 1
        if report.forgeable is not None:
            report.forgeable += found.is_forgeable


def _input(item: ItemRecord, number: int) -> VerifierInput:
    return VerifierInput(
        item=number, question=item.question, reference=item.reference, completion=item.completion, subtype=item.subtype
    )
