"""Import and read verdicts; each verifier in an imported file gets a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import isfinite
from pathlib import Path

import msgspec
from msgspec import Struct

from workbench.config.verifiers import NAME
from workbench.core.database.events import Connection
from workbench.core.errors import UsageError, opt
from workbench.core.item import Refusal
from workbench.core.label import find_lookalike, is_mixed
from workbench.core.options import record_from
from workbench.core.project import Parts, Project, batches
from workbench.core.run import IMPORTED, RefusedLine, VerdictEvidence, VerdictLine, VerdictRow, VerdictsImported
from workbench.core.selection import Selection, is_usable_number
from workbench.core.verdict import Outcome, OutcomeWord, Verdict
from workbench.data.formats.lines import LineRefusedError
from workbench.data.formats.rows import checked, decoded_rows, read_checked
from workbench.data.formats.sheets import VerdictSheet, verdict_sheet
from workbench.data.store import reading
from workbench.runs.run_status import run_row
from workbench.runs.store import runs as stored_runs
from workbench.runs.store import verdicts
from workbench.runs.store import verdicts as stored_verdicts
from workbench.verifiers.registry import Registry

# -- Files of verdicts: JSON Lines, one verdict a line, such as `workbench verdicts` prints.


_DECODER = msgspec.json.Decoder(VerdictRow)


def read(path: Path, sheet: VerdictSheet | None = None) -> Iterator[tuple[int, VerdictRow | Refusal]]:
    """Yield each line's number (from 1) and its verdict, or the reason for rejecting it.

    Args:
        sheet: The file as a table, if it is one: a row may contain several verdicts.

    Raises:
        FormatError: The file can't be opened.
    """
    if sheet is None:
        return read_checked(path, _DECODER, _row_fault)
    rows = decoded_rows(sheet.lines(), _DECODER)
    return checked(rows, _row_fault)


def _row_fault(line: VerdictRow) -> tuple[str, str] | None:
    if line.verdict is None and line.score is None:
        return "verdict", "a line needs a verdict (correct, incorrect, abstain, error), a score, or both"
    if line.score is not None and not is_usable_number(line.score):
        return "score", "a score is a finite number, 1e100 at most"
    if not (isfinite(line.ms) and line.ms >= 0):
        return "ms", "a time is a number of milliseconds from 0"
    return None


_CONFIG_HASH = "imported"
_RUNS_HERE = "is a verifier that runs here; its verdicts can't come from a file"


def require_names(names: Iterable[str], project: Project | None = None, hint: str = "") -> None:
    """Reject invalid names for imported verifiers.

    Args:
        project: The project; None checks only what every project would reject.
        hint: What to do instead; by default about columns of verdicts.

    Raises:
        UsageError: A name is rejected.
    """
    for name in names:
        fault = _ImportRuns(project, "").fault(name) if project is not None else _name_fault(name, Registry())
        if fault:
            raise UsageError(
                f"{fault[0].upper()}{fault[1:]}.", hint or f"Give another name: {opt.verdict:NAME=COLUMN}."
            )


def _name_fault(name: str, registry: Registry) -> str:
    if not NAME.fullmatch(name):
        return f"{name!r} is not a valid verifier name: use up to 100 letters, digits and . _ + @ / -"
    return f"{name!r} {_RUNS_HERE}" if registry.knows(name) else ""


class _PlacedVerdict(Struct, frozen=True):
    number: int
    run: int
    item: int
    verdict: Verdict


def import_verdicts(
    project: Project, path: Path, *, name: str | None = None, dataset: str | None = None, version: str = "1"
) -> VerdictsImported:
    """Import a file of verdicts. Existing verdicts are kept; a line with another verdict on such an item is rejected.

    Args:
        name: The verifier of all lines, whatever verifiers they name; by default each line names its verifier.
        dataset: The dataset of lines without one whose ids are ambiguous.
        version: Version of the verifiers: verdicts of another version are another run, and the newest run counts.

    Raises:
        FormatError: The file can't be opened.
        UsageError: ``name`` is invalid, or in use for a verifier that was not imported.
    """
    if name is not None:
        require_names([name], project, f"Give another name with {opt.verifier}.")
    sheet = verdict_sheet(path)
    if sheet is not None and sheet.columns and name is not None:
        raise UsageError(f"{path}: each of its columns is a verifier.", f"Leave {opt.verifier} out.")
    report = store_verdicts(project, read(path, sheet), name=name, dataset=dataset, version=version)
    if sheet is not None:
        report.columns, report.ignored = sheet.counts, sheet.ignored
    return report


def store_verdicts(
    project: Project,
    rows: Iterable[tuple[int, VerdictRow | Refusal]],
    *,
    name: str | None = None,
    dataset: str | None = None,
    version: str = "1",
) -> VerdictsImported:
    """Store verdicts, each with the number of its line; see `import_verdicts` for the other arguments."""
    report = VerdictsImported()
    runs = _ImportRuns(project, version)
    parts = Parts("lines")
    for some in batches(rows):
        with parts.storing(len(some)), project.database.write() as connection:
            lines = []
            for number, row in some:
                try:
                    if isinstance(row, Refusal):
                        raise LineRefusedError(row.field or "", row.message)
                    lines.append(_resolve_row(connection, runs, number, row, name, dataset))
                except LineRefusedError as error:
                    _reject_line(report, number, error)
            _store(connection, report, lines)
    with parts.storing(0), project.database.write() as connection:
        for run in runs.by_name.values():
            stored_runs.complete(connection, run, verdicts.count(connection, run))
    report.refusals.sort(key=lambda refusal: refusal.line)
    report.verifiers = runs.by_name
    return report


class _ImportRuns:
    """The runs of the verifiers in a file, created at their first occurrence.

    Attributes:
        by_name: Row id of the run, by the name of the verifier, for verifiers read so far.
    """

    def __init__(self, project: Project, version: str) -> None:
        self.by_name: dict[str, int] = {}
        self._wrong: dict[str, str] = {}
        self._project = project
        self._version = version
        self._registry = Registry()

    def of(self, connection: Connection, name: str) -> int:
        """Return the run of a verifier.

        Raises:
            LineRefusedError: The name is invalid for an imported verifier.
        """
        if name not in self.by_name:
            if name not in self._wrong:
                self._wrong[name] = self.fault(name)
            if self._wrong[name]:
                raise LineRefusedError("verifier", self._wrong[name])
            self.by_name[name] = self._make(connection, name)
        return self.by_name[name]

    def fault(self, name: str) -> str:
        if fault := _name_fault(name, self._registry):
            return fault
        reader = self._project.database.reader()
        stored = stored_runs.verifier_named(reader, name)
        if stored is not None and stored.kind != IMPORTED:
            return f"{name!r} {_RUNS_HERE}"
        if stored is None:
            there = {*self._registry.names, *self.by_name, *(one.name for one in stored_runs.verifiers(reader))}
            if is_mixed(name):
                return f"{name!r} mixes letters of several alphabets that look alike"
            other = find_lookalike(name, there)
            return "" if other is None else f"{name!r} looks like {other!r}, which is there"
        return ""

    def _make(self, connection: Connection, name: str) -> int:
        stored = stored_runs.verifier_named(connection, name)
        verifier = (
            stored_runs.add_verifier(
                connection, name=name, kind=IMPORTED, options={}, config={}, config_hash=_CONFIG_HASH
            )
            if stored is None
            else stored.id
        )
        found = stored_runs.find(connection, verifier, self._version)
        return stored_runs.add(connection, verifier, self._version) if found is None else found.id


def _resolve_row(
    connection: Connection, runs: _ImportRuns, number: int, row: VerdictRow, name: str | None, dataset: str | None
) -> _PlacedVerdict:
    verifier = name or row.verifier
    if not verifier:
        raise LineRefusedError("verifier", f"the verifier is missing: give the field, or {opt.verifier:NAME}")
    found = reading.find_completions(connection, row.completion_id, row.question_id, row.dataset or dataset)
    if not found:
        raise LineRefusedError("completion_id", f"there is no completion {row.completion_id!r} here")
    if len(found) > 1:
        raise LineRefusedError("completion_id", f"{row.completion_id!r} is ambiguous: add dataset or question_id")
    return _PlacedVerdict(number, runs.of(connection, verifier), found[0][0], _verdict(row))


def _verdict(row: VerdictRow) -> Verdict:
    unsaid = row.verdict is None
    return record_from(
        Verdict,
        row,
        outcome=Outcome.ABSTAIN if row.verdict is None else Outcome(row.verdict),
        reason="no_threshold" if unsaid and row.reason is None else row.reason,
    )


def _store(connection: Connection, report: VerdictsImported, lines: list[_PlacedVerdict]) -> None:
    wanted = defaultdict(list)
    for line in lines:
        wanted[line.run].append(line)
    for run, of_run in wanted.items():
        held = verdicts.verdicts_of(connection, run, [line.item for line in of_run])
        new: dict[int, Verdict] = {}
        for line in of_run:
            known = new.get(line.item) or held.get(line.item)
            if known is None:
                new[line.item] = line.verdict
                report.imported += 1
            elif (known.outcome, known.score) == (line.verdict.outcome, line.verdict.score):
                report.unchanged += 1
            else:
                error = LineRefusedError("verdict", f"the item has another verdict already; see {opt.run_version}")
                _reject_line(report, line.number, error)
        verdicts.put(connection, run, list(new.items()))


def _reject_line(report: VerdictsImported, number: int, error: LineRefusedError) -> None:
    report.refused += 1
    report.refusals.append(RefusedLine(line=number, field=error.field or None, message=str(error)))


# -- A run's verdicts, read and counted.


def verdict_counts(project: Project, run: int, selection: Selection) -> dict[OutcomeWord, int]:
    return stored_verdicts.of_selection(project.database.reader(), run, selection).verdicts


def verdict_lines(project: Project, verifier: str, run: int | None = None) -> Iterator[VerdictLine]:
    """Yield a verifier's verdicts in the order of the items.

    Args:
        verifier: The verifier's name.
        run: A run of the verifier; by default the newest complete one, else the newest.

    Raises:
        UsageError: No verifier has this name, or the run belongs to another verifier.
    """
    found = run_of(project, verifier, run)
    return iter(()) if found is None else stored_verdicts.lines(project.database, found, verifier)


def verdict_evidence(project: Project, verifier: str, run: int | None = None) -> Iterator[VerdictEvidence]:
    """Yield a verifier's verdicts with the items' texts; arguments and errors are those of `verdict_lines`."""
    found = run_of(project, verifier, run)
    return iter(()) if found is None else stored_verdicts.evidence(project.database, found, verifier)


def run_of(project: Project, verifier: str, run: int | None) -> int | None:
    """Return the run to read: the requested one, else the newest complete one, else the newest.

    Raises:
        UsageError: No verifier has this name, or the run belongs to another verifier.
    """
    reader = project.database.reader()
    if stored_runs.verifier_named(reader, verifier) is None:
        known = ", ".join(known.name for known in stored_runs.verifiers(reader)) or "none has been run"
        raise UsageError(f"There are no verdicts of a verifier {verifier!r}.", f"Verifiers: {known}.")
    row = stored_runs.newest_of(reader, verifier) if run is None else run_row(reader, run)
    if row is None:
        return None
    if row.verifier.name != verifier:
        raise UsageError(f"Run {row.id} is of {row.verifier.name!r}, not of {verifier!r}.")
    return row.id
