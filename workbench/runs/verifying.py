"""Manage verifiers and their runs for the front ends: start, pause, cancel and resume runs.

This module judges no item; the background runner does, in a separate process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from msgspec import structs

from workbench.core.database.selection import check_names, require_items
from workbench.core.errors import Command, RunError, UsageError, WorkbenchError, opt
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.run import (
    ACTIVE,
    STATE_AFTER,
    ClusterUse,
    ConfiguredVerifier,
    Request,
    RunInfo,
    VerifierInfo,
    WrittenVerifier,
)
from workbench.core.selection import Selection
from workbench.data.store import tests
from workbench.runs.choosing import construct_verifier, require_runnable, resolve_verifier, verifiers_in_settings
from workbench.runs.configuring import bound_run
from workbench.runs.lease import ensure_runner, is_alive
from workbench.runs.run_status import run_info, run_info_without_counts, run_row
from workbench.runs.store import batches as stored_batches
from workbench.runs.store import calls
from workbench.runs.store import runs as stored_runs
from workbench.runs.store import verdicts as stored_verdicts
from workbench.runs.store.runs import RunRow
from workbench.runs.trust import require_level, require_trust
from workbench.verifiers.base import AnyVerifier, SandboxedVerifier
from workbench.verifiers.registry import Registry

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

DEFAULT = "rules"
"""The default verifier."""

EVERYTHING = Selection()
_OBEY_S = 5.0
_POLL_S = 0.05


def kinds(project: Project) -> list[VerifierInfo]:
    """Return the kinds that can be run, the default first, then by name, with their configurations in the project."""
    registry = Registry()
    available = registry.available()
    named = configured(project)
    in_file, _ = verifiers_in_settings(project, available)
    return [
        record_from(
            VerifierInfo,
            kind,
            version=_default_version(registry, kind.name) or kind.version,
            configured=[verifier for verifier in named if verifier.kind == kind.name],
            written=[record_from(WrittenVerifier, one) for one in in_file if one.kind == kind.name],
        )
        for kind in sorted(available, key=lambda kind: (kind.name != DEFAULT, kind.name))
    ]


def settings_problems(project: Project) -> list[UsageError]:
    """Return the errors of verifiers that ``workbench.toml`` configures; verifiers without an error remain usable."""
    return verifiers_in_settings(project, Registry().available())[1]


def configured(project: Project) -> list[ConfiguredVerifier]:
    return stored_runs.verifiers(project.database.reader())


def start(
    project: Project,
    kind: str,
    options: dict[str, str] | None = None,
    name: str | None = None,
    selection: Selection = EVERYTHING,
    workers: int | None = None,
    trust: bool = False,
    allow_unsafe: bool = False,
    retry_timeouts: bool = False,
    ask_again: bool = False,
    in_batches: bool = False,
    on: str | None = None,
) -> RunInfo:
    """Start, extend or resume the run of a verifier; if it is running on the same items, join it.

    Args:
        kind: A registered kind, or the name of a verifier in ``workbench.toml`` or the database.
        options: Option values by name.
        name: The configuration's name; by default the kind.
        selection: The items; those with a stored verdict are not judged again.
        workers: Number of worker processes; by default one per core.
        trust: Whether the user approves the servers and the template; options that are all given here are approved.
        allow_unsafe: Whether the user permits running solutions with resource limits only, if no isolation is available
            or this is requested.
        retry_timeouts: Delete the run's verdicts on items that exceeded a time limit, and judge these again.
        ask_again: Delete the run's verdicts on the selection, and run the solutions again, or send all requests to
            its servers again: no currently stored reply is used. Earlier replies are kept for other verdicts based on
            them.
        in_batches: Send the run's calls through the provider's batch API: slower, and cheaper. A run that waits for a
            batch
            continues with that batch.
        on: A Ray cluster whose nodes judge: ``"ray"`` for the one this machine belongs to, or ``"ray://HOST:PORT"``.

    Returns:
        The run, with ``selected`` and ``reused`` filled in.

    Raises:
        UsageError: There is no such kind, option or field, the name has another configuration, or no item is selected.
        NotTrustedError: The options come from a file or the database, and the user has not approved them.
        UnsafeError: Solutions would be run with resource limits only.
        VerifierError: The verifier can't be used.
        RunError: The run is in progress on other items, no runner starts, or this machine doesn't support the isolation
            level.
    """
    chosen = resolve_verifier(project, kind, options or {}, name)
    name, options = chosen.name, chosen.options
    verifier = construct_verifier(chosen)
    require_trust(project, verifier, options, accept=trust or chosen.own)
    if in_batches:
        # Only runs that call servers need the client's libraries.
        from workbench.runs.batching import require_batches

        require_batches(verifier)
    if on is not None:
        # Only runs that call servers need the client's libraries.
        from workbench.runs.cluster import require_cluster

        require_cluster(on, workers)
        if verifier.isolation == "served":
            raise UsageError(
                f"{verifier.name!r} calls a model server, which a cluster does not speed up.", f"Leave {opt.on} out."
            )
    if verifier.isolation == "sandbox":
        sandboxed = cast("SandboxedVerifier", verifier)
        _require_suites(project, sandboxed.suites)
        require_level(project, sandboxed.wanted, allow_unsafe=allow_unsafe, scratch=sandboxed.scratch > 0)
    reader = project.database.reader()
    if selection.asks_for_verdicts:
        selection = check_names(reader, selection)
    selection = Selection(tuple(sorted(set(selection.conditions))), selection.limit)
    if any(condition.field == f"verdict:{name}" for condition in selection.conditions):
        raise UsageError(
            f"A run of {name!r} can't choose its items by its own verdicts.",
            "Leave the condition out: stored verdicts are never repeated.",
        )
    require_items(reader, selection)
    with project.database.write() as connection:
        run = bound_run(connection, name, verifier, options)
    if retry_timeouts:
        _delete_verdicts(project, run, stored_verdicts.delete_timeouts, "timeouts")
    if ask_again:
        _ask_again(project, run, verifier, selection)
    counts = stored_verdicts.of_selection(reader, run, selection)
    stored = stored_verdicts.count(reader, run)
    with project.database.write() as connection:
        _set_batch_mode(connection, project.path, run, in_batches=in_batches)
        _set_cluster(connection, project.path, run, on)
        _queue_or_join(connection, project.path, run, selection, stored, counts.items - counts.stored, workers)
    _wake_runner(project, run)
    return structs.replace(run_info_without_counts(project, run), selected=counts.items, reused=counts.stored)


def pause(project: Project, run: int) -> RunInfo:
    """Pause a run after the current verdicts; ``resume`` continues it.

    Raises:
        UsageError: There is no such run.
        RunError: The run is neither waiting nor running.
    """
    return _send_request(project, run, "pause")


def cancel(project: Project, run: int) -> RunInfo:
    """Cancel a run; its verdicts stay, and ``resume`` or ``start`` continue it.

    Raises:
        UsageError: There is no such run.
        RunError: The run has ended already.
    """
    return _send_request(project, run, "cancel")


def resume(
    project: Project,
    run: int,
    *,
    trust: bool = False,
    retry_errors: bool = False,
    retry_timeouts: bool = False,
    retry_unread: bool = False,
    allow_unsafe: bool = False,
) -> RunInfo:
    """Continue a run that was paused, cancelled or failed, or whose runner died; include new items.

    Args:
        retry_errors: Delete its verdicts "error", and judge those items again.
        retry_timeouts: Delete its verdicts on items that exceeded a time limit, and judge those items again.
        retry_unread: Delete its verdicts on items whose replies contain no verdict, and call the servers again.
        trust: Whether the user approves the servers and the template of its stored options.
        allow_unsafe: Whether the user permits running solutions with resource limits only; else the runner pauses a run
            that needs that.

    Raises:
        UsageError: There is no such run.
        NotTrustedError: The user has not approved the servers or the template.
        VerifierError: The verifier can't be used.
        RunError: No runner starts, or the run is in progress and its errors can't be deleted.
    """
    reader = project.database.reader()
    row = run_row(reader, run)
    require_runnable(row.verifier)
    options = row.verifier.options
    verifier = Registry().load(row.verifier.kind, options)
    require_trust(project, verifier, options, accept=trust)
    if verifier.isolation == "sandbox" and allow_unsafe:
        require_level(project, cast("SandboxedVerifier", verifier).wanted, allow_unsafe=True)
    if retry_errors:
        _delete_verdicts(project, run, stored_verdicts.delete_errors, "errors")
    if retry_timeouts:
        _delete_verdicts(project, run, stored_verdicts.delete_timeouts, "timeouts")
    if retry_unread:
        _delete_verdicts(project, run, stored_verdicts.delete_unread, "replies without a verdict")
    counts = stored_verdicts.of_selection(reader, run, row.selection)
    stored = stored_verdicts.count(reader, run)
    with project.database.write() as connection:
        if run_row(connection, run).state in ACTIVE:
            stored_runs.ask(connection, run, None)
        else:
            _queue(connection, run, row.selection, stored, counts.items - counts.stored, row.workers)
    _wake_runner(project, run)
    return run_info(project, run)


def _delete_verdicts(
    project: Project, run: int, take_back: Callable[[sqlite3.Connection, int], int], what: str
) -> None:
    with project.database.write() as connection:
        row = run_row(connection, run)
        _require_idle(project.path, row)
        stored_batches.forget_failures(connection, run)
        calls.forget_refused(connection, run)
        if take_back(connection, run) and row.state == "complete":
            stored_runs.end_run(connection, run, "paused", f"Its {what} were deleted.")


def _ask_again(project: Project, run: int, verifier: AnyVerifier, selection: Selection) -> None:
    if verifier.isolation not in ("served", "sandbox"):
        raise UsageError(
            "Only verifiers that call model servers or run solutions can judge items again.",
            f"Leave {opt.ask_again} out.",
        )

    def take_back(connection: sqlite3.Connection, run: int) -> int:
        if verifier.isolation == "served":
            calls.ask_again(connection, run)
        return stored_verdicts.delete_selected(connection, run, selection)

    _delete_verdicts(project, run, take_back, "verdicts")


def wait_for_request(project: Project, run: int) -> RunInfo:
    """Wait a few seconds for the runner to execute a request."""
    patience = time.monotonic() + _OBEY_S
    while (info := run_info_without_counts(project, run)).request is not None and time.monotonic() < patience:
        time.sleep(_POLL_S)
    return info


def _require_suites(project: Project, suites: Sequence[str]) -> None:
    known = tests.suite_names(project.database.reader())
    unknown = [name for name in suites if name not in known]
    if unknown:
        there = f"Suites: {', '.join(known)}." if known else f"Import problems with tests: {Command('import DB FILE')}"
        raise UsageError(f"No problem here has a suite of tests named {unknown[0]!r}.", there)


def _default_version(registry: Registry, kind: str) -> str | None:
    try:
        return registry.load(kind).version
    except WorkbenchError:
        return None


def _set_batch_mode(connection: sqlite3.Connection, database: Path, run: int, *, in_batches: bool) -> None:
    row = run_row(connection, run)
    if row.in_batches == in_batches:
        return
    if stored_batches.unended(connection, run):
        raise RunError(
            f"Run {run} waits for a batch of calls that is already paid for.",
            f"Continue it with {opt.batch}, or cancel it first: {Command(f'runs DB cancel {run}')}",
        )
    _require_idle(database, row)
    stored_runs.ask_in_batches(connection, run, whether=in_batches)


def _set_cluster(connection: sqlite3.Connection, database: Path, run: int, on: str | None) -> None:
    row = run_row(connection, run)
    if on == (None if row.cluster is None else row.cluster.address):
        return
    _require_idle(database, row)
    stored_runs.put_cluster(connection, run, None if on is None else ClusterUse(address=on))


def _queue_or_join(
    connection: sqlite3.Connection,
    database: Path,
    run: int,
    selection: Selection,
    stored: int,
    pending: int,
    workers: int | None,
) -> None:
    row = run_row(connection, run)
    if row.state == "complete" and not pending:
        return
    if not _is_in_progress(database, row):
        _queue(connection, run, selection, stored, pending, workers or os.cpu_count() or 1)
    elif row.selection == selection:
        stored_runs.ask(connection, run, None)
    else:
        raise RunError(
            f"Run {run} of {row.verifier.name!r} is active on other items ({row.selection}).",
            f"Wait for it, or cancel it first: {Command(f'runs DB cancel {run}')}",
        )


def _require_idle(database: Path, row: RunRow) -> None:
    """Make sure that no runner works on a run.

    Raises:
        RunError: The run is queued or running.
    """
    if _is_in_progress(database, row):
        raise RunError(f"Run {row.id} is active.", "Pause it first", Command(f"runs DB pause {row.id}"))


def _is_in_progress(database: Path, row: RunRow) -> bool:
    return row.state == "queued" or (row.state == "running" and is_alive(database))


def _queue(
    connection: sqlite3.Connection, run: int, selection: Selection, stored: int, pending: int, workers: int
) -> None:
    stored_runs.queue(connection, run, selection, stored + pending, workers)
    if not pending:
        stored_runs.complete(connection, run, stored)


def _wake_runner(project: Project, run: int) -> None:
    if run_row(project.database.reader(), run).state in ACTIVE:
        ensure_runner(project.database)


def _send_request(project: Project, run: int, request: Request) -> RunInfo:
    wanted = STATE_AFTER[request]
    with project.database.write() as connection:
        row = run_row(connection, run)
        if row.state == "running" and is_alive(project.path):
            stored_runs.ask(connection, run, request)
        elif (
            request == "cancel" and row.state in (*ACTIVE, "paused") and stored_batches.pending_batches(connection, run)
        ):
            # Only a process with the key can cancel its batches.
            stored_runs.queue(connection, run, row.selection, row.items, row.workers)
            stored_runs.ask(connection, run, request)
        elif row.state in ACTIVE or (row.state == "paused" and request == "cancel"):
            stored_runs.end_run(connection, run, wanted)
        elif row.state != wanted:
            raise RunError(f"Run {run} is {row.state}; there is nothing to {request}.")
    _wake_runner(project, run)
    return run_info_without_counts(project, run)
