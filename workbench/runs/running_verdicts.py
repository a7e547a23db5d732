"""A run's verdicts, read and counted."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.run import VerdictEvidence, VerdictLine
from workbench.core.selection import Selection
from workbench.core.verdict import OutcomeWord
from workbench.runs.run_status import run_row
from workbench.runs.store import runs as stored_runs
from workbench.runs.store import verdict_lines as stored_lines
from workbench.runs.store import verdicts as stored_verdicts


def verdict_counts(project: Project, run: int, selection: Selection) -> dict[OutcomeWord, int]:
    """A run's stored verdicts on a selection of items, by word."""
    return stored_verdicts.of_selection(project.database.reader(), run, selection).verdicts


def verdict_lines(project: Project, verifier: str, run: int | None = None) -> Iterator[VerdictLine]:
    """A verifier's verdicts in the order of the items.

    Args:
        verifier: Its name.
        run: A run of it; by default the newest that has been complete, or the newest while none has.

    Raises:
        UsageError: There is no verifier of that name, or the run isn't one of its.
    """
    found = run_of(project, verifier, run)
    return iter(()) if found is None else stored_lines.lines(project.database, found, verifier)


def verdict_evidence(project: Project, verifier: str, run: int | None = None) -> Iterator[VerdictEvidence]:
    """The same verdicts with the texts they are about; arguments and errors as with `verdict_lines`."""
    found = run_of(project, verifier, run)
    return iter(()) if found is None else stored_lines.evidence(project.database, found, verifier)


def run_of(project: Project, verifier: str, run: int | None) -> int | None:
    """The run to read: the one asked for, the newest that has been complete, or the newest while none has.

    Raises:
        UsageError: There is no verifier of that name, or the run isn't one of its.
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
