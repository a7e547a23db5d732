"""Configured verifiers and their runs."""

from __future__ import annotations

import secrets
import sqlite3
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from workbench.config.verifiers import OWN_PROMPTS, PROMPTS, SEARCHED, SUBTASKS, TEMPLATE_VERSION
from workbench.core.code import Provenance
from workbench.core.database import changes
from workbench.core.database.connection import Database
from workbench.core.database.values import as_record, decode_stored, now
from workbench.core.errors import StoreError
from workbench.core.run import ClusterUse, ConfiguredVerifier, Request, RunState
from workbench.core.selection import Selection


class RunRow(Struct, frozen=True, kw_only=True):
    """A run and its configuration.

    Attributes:
        trouble: What prevented its runner from storing, and when; None if nothing did since the start.
        in_batches: Whether its calls are sent in batches.
        cluster: The cluster that judges it; None for this machine.
    """

    id: int
    verifier: ConfiguredVerifier
    version: str
    selection: Selection
    workers: int
    state: RunState
    request: Request | None
    items: int
    message: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    completed_at: str | None
    trouble: str | None = None
    in_batches: bool = False
    cluster: ClusterUse | None = None


Stored = TypeVar("Stored")


class _StoredVerifier(Struct):
    options: dict[str, str]
    config: dict[str, Any]


_VERIFIER = "v.id, v.name, v.kind, v.config, v.config_hash"
_RUN = (
    "r.id, r.version, r.selection, r.workers, r.state, r.request, r.items, r.message, "
    "r.created_at, r.started_at, r.finished_at, r.completed_at, r.trouble, r.in_batches, r.cluster"
)
_DUE: Final = "coalesce((SELECT min(b.look_at) FROM call_batches AS b WHERE b.run_id = r.id AND b.state <> 'ended'), 0)"
"""When a run is due: at once, unless it waits for a batch."""
_SELECT_RUNS = f"SELECT {_VERIFIER}, {_RUN} FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id"


# -- Trials: their runs are deleted in the end, and listed nowhere.


_TRIAL: Final = "trial/"
_IS_TRIAL: Final = f"v.name GLOB '{_TRIAL}{'[0-9a-f]' * 16}'"


def trial_name() -> str:
    return f"{_TRIAL}{secrets.token_hex(8)}"


def trials(connection: sqlite3.Connection) -> list[RunRow]:
    return [_run_row(row) for row in connection.execute(f"{_SELECT_RUNS} WHERE {_IS_TRIAL} ORDER BY r.id")]


# -- Verifiers and runs.


def verifiers(connection: sqlite3.Connection) -> list[ConfiguredVerifier]:
    """Return all configured verifiers except the verifiers of trials, in the order they were added."""
    rows = connection.execute(f"SELECT {_VERIFIER} FROM verifiers AS v WHERE NOT {_IS_TRIAL} ORDER BY id")
    return [_configured_verifier(row) for row in rows]


def verifier_named(connection: sqlite3.Connection, name: str) -> ConfiguredVerifier | None:
    row = connection.execute(f"SELECT {_VERIFIER} FROM verifiers AS v WHERE v.name = ?", (name,)).fetchone()
    return None if row is None else _configured_verifier(row)


def add_verifier(
    connection: sqlite3.Connection,
    *,
    name: str,
    kind: str,
    options: dict[str, str],
    config: dict[str, Any],
    config_hash: str,
) -> int:
    """Bind an unused name to a configuration; return the row id."""
    stored = msgspec.json.encode({"options": options, "config": config}).decode()
    cursor = connection.execute(
        "INSERT INTO verifiers (name, kind, config, config_hash, created_at) VALUES (?, ?, ?, ?, ?)",
        (name, kind, stored, config_hash, now()),
    )
    return int(cursor.lastrowid or 0)


def put_configuration(connection: sqlite3.Connection, verifier: ConfiguredVerifier) -> None:
    stored = msgspec.json.encode({"options": verifier.options, "config": verifier.config}).decode()
    connection.execute(
        "UPDATE verifiers SET config = ?, config_hash = ? WHERE id = ?", (stored, verifier.config_hash, verifier.id)
    )


def every(connection: sqlite3.Connection) -> list[RunRow]:
    return [_run_row(row) for row in connection.execute(f"{_SELECT_RUNS} WHERE NOT {_IS_TRIAL} ORDER BY r.id")]


def get(connection: sqlite3.Connection, run: int) -> RunRow | None:
    return _first_run(connection, "r.id = ?", run)


def find(connection: sqlite3.Connection, verifier: int, version: str) -> RunRow | None:
    return _first_run(connection, "r.verifier_id = ? AND r.version = ?", verifier, version)


def newest_of(connection: sqlite3.Connection, name: str) -> RunRow | None:
    """Return a verifier's newest complete run, or its newest run if none has been complete."""
    return _first_run(connection, "v.name = ? ORDER BY r.completed_at IS NULL, r.id DESC", name)


def add(connection: sqlite3.Connection, verifier: int, version: str) -> int:
    cursor = connection.execute(
        "INSERT INTO runs (verifier_id, version, selection, workers, state, items, created_at) "
        "VALUES (?, ?, '{}', 1, 'paused', 0, ?)",
        (verifier, version, now()),
    )
    return int(cursor.lastrowid or 0)


def queue(connection: sqlite3.Connection, run: int, selection: Selection, items: int, workers: int) -> None:
    connection.execute(
        "UPDATE runs SET state = 'queued', request = NULL, message = NULL, trouble = NULL, finished_at = NULL, "
        "selection = ?, items = ?, workers = ? WHERE id = ?",
        (msgspec.json.encode(selection).decode(), items, workers, run),
    )


def ask_in_batches(connection: sqlite3.Connection, run: int, *, whether: bool) -> None:
    connection.execute("UPDATE runs SET in_batches = ? WHERE id = ?", (whether, run))


def put_cluster(connection: sqlite3.Connection, run: int, use: ClusterUse | None) -> None:
    document = None if use is None else msgspec.json.encode(use).decode()
    connection.execute("UPDATE runs SET cluster = ? WHERE id = ?", (document, run))


def ask(connection: sqlite3.Connection, run: int, request: Request | None) -> None:
    connection.execute("UPDATE runs SET request = ? WHERE id = ?", (request, run))


def take_next(connection: sqlite3.Connection) -> RunRow | None:
    """Mark the next run as running and return it: first a run whose runner died, then the queue; None without a run."""
    run = _first_run(connection, f"r.state IN ('running', 'queued') ORDER BY r.state = 'queued', {_DUE}, r.id")
    if run is not None and run.state == "queued":
        connection.execute("UPDATE runs SET state = 'running', started_at = ? WHERE id = ?", (now(), run.id))
    return run


def others_are_due(connection: sqlite3.Connection, run: int, moment: float) -> bool:
    """Return whether another queued run is due before a time, in seconds since 1970."""
    row = connection.execute(
        f"SELECT 1 FROM runs AS r WHERE r.state = 'queued' AND r.id <> ? AND {_DUE} < ? LIMIT 1", (run, moment)
    )
    return row.fetchone() is not None


def waiting(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT 1 FROM runs WHERE state IN ('running', 'queued') LIMIT 1")
    return row.fetchone() is not None


def put_back(connection: sqlite3.Connection) -> None:
    """Release the runner's run, so that it waits for the next runner or for other runs."""
    connection.execute("UPDATE runs SET state = 'queued' WHERE state = 'running'")


def end_run(connection: sqlite3.Connection, run: int, state: RunState, message: str | None = None) -> None:
    """Mark a run as paused, cancelled or failed."""
    connection.execute(
        "UPDATE runs SET state = ?, request = NULL, message = ?, finished_at = ? WHERE id = ?",
        (state, message, now(), run),
    )


def note_trouble(connection: sqlite3.Connection, trouble: str) -> None:
    connection.execute("UPDATE runs SET trouble = ? WHERE state = 'running'", (trouble,))


def expect(connection: sqlite3.Connection, run: int, items: int) -> None:
    connection.execute("UPDATE runs SET items = ? WHERE id = ?", (items, run))


def complete(connection: sqlite3.Connection, run: int, items: int) -> None:
    """Record that every requested item has its verdict; ``items`` is the number of the run's verdicts."""
    connection.execute(
        "UPDATE runs SET state = 'complete', request = NULL, message = NULL, items = ?, finished_at = ?, "
        "completed_at = ? WHERE id = ?",
        (items, moment := now(), moment, run),
    )


def has_only(connection: sqlite3.Connection, run: int, reason: str) -> bool:
    """Return whether a run has verdicts and all have this reason; stop at the first other reason."""
    of_run = "SELECT 1 FROM verdicts WHERE run_id = ?1 AND sample = 0"
    row: tuple[int] = connection.execute(
        f"SELECT EXISTS ({of_run}) AND NOT EXISTS ({of_run} AND reason IS NOT ?2)", (run, reason)
    ).fetchone()
    return bool(row[0])


def request_of(connection: sqlite3.Connection, run: int) -> Request | None:
    row: tuple[Request | None] = connection.execute("SELECT request FROM runs WHERE id = ?", (run,)).fetchone()
    return row[0]


def checkpoint(database: Database) -> None:
    """Move the write-ahead log into the database, unless a reader uses the old state."""
    connection = database.open()
    try:
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()


def _first_run(connection: sqlite3.Connection, condition: str, *parameters: object) -> RunRow | None:
    row = connection.execute(f"{_SELECT_RUNS} WHERE {condition} LIMIT 1", parameters).fetchone()
    return None if row is None else _run_row(row)


def _configured_verifier(row: tuple[Any, ...]) -> ConfiguredVerifier:
    stored = _decoded(row[3], _StoredVerifier, f"The configuration of {row[1]!r}")
    return ConfiguredVerifier(
        id=row[0],
        name=row[1],
        kind=row[2],
        options=_bound_options(row[2], stored),
        config=stored.config,
        config_hash=row[4],
    )


def _bound_options(kind: str, stored: _StoredVerifier) -> dict[str, str]:
    """Return the options, completed by the defaults at the time when the name was bound.

    A judge bound when its template had one version keeps that version. A tree search keeps how it weighted trajectories
    and executed tests.
    """
    first = kind == "llm-judge" and str(stored.config.get("template")).endswith("@1")
    ours = first and not (OWN_PROMPTS - {PROMPTS, SUBTASKS}) & stored.options.keys()
    said: dict[str, str] = (
        {name: str(stored.config[name]) for name in SEARCHED if name in stored.config} if first else {}
    )
    return {**({TEMPLATE_VERSION: "1"} if ours else {}), **said, **stored.options}


def _decoded(text: str, type: type[Stored], what: str) -> Stored:
    try:
        return msgspec.json.decode(text, type=type)
    except msgspec.MsgspecError as error:
        # An untrusted file may contain anything.
        raise StoreError(f"{what} in the database can't be read: {error}.") from error


def _run_row(row: tuple[Any, ...]) -> RunRow:
    return as_record(
        RunRow,
        (*row[5:7], *row[8:19]),
        verifier=_configured_verifier(row[:5]),
        selection=_decoded(row[7], Selection, f"What run {row[5]} takes"),
        cluster=None if row[19] is None else _decoded(row[19], ClusterUse, f"Where run {row[5]} is judged"),
    )


# -- Deleting a run from the database: dependent rows, and what prevents it.


_HANGING: Final = {
    "test_results": "outcomes of tests",
    "verdict_traces": "traces",
    "verdict_calls": "records of which reply a verdict rests on",
    "verdict_evidence": "pieces of evidence",
    "proposed_types": "proposed types",
    "provenance": "notes of what outcomes depend on",
    "batched_calls": "calls in batches",
    "call_batches": "batches of calls",
    "attempts": "records of calls to model servers",
    "run_usage": "sums of what was used",
    "verdicts": "verdicts",
}
"""Table -> a description of its rows, in an order in which they can be deleted."""


def count_dependent_rows(connection: sqlite3.Connection, run: int) -> dict[str, int]:
    """Return the number of rows that would be deleted with a run, by their description; zeros are omitted."""
    counts = {
        words: connection.execute(f"SELECT count(*) FROM {table} WHERE run_id = ?", (run,)).fetchone()[0]
        for table, words in reversed(_HANGING.items())
    }
    return {words: count for words, count in counts.items() if count}


def sets_of(connection: sqlite3.Connection, run: int) -> list[str]:
    """Return the frozen sets that were selected by this run's verdicts, as ``name@version``."""
    rows = connection.execute(
        "SELECT s.name, s.version FROM sets AS s JOIN set_runs AS r ON r.set_id = s.id WHERE r.run_id = ? "
        "ORDER BY s.name, s.version",
        (run,),
    )
    return [f"{name}@{version}" for name, version in rows]


def reviews_of(connection: sqlite3.Connection, run: int) -> int:
    """Return the number of reviewers' decisions about this run's verdicts; these are never deleted."""
    (count,) = connection.execute("SELECT count(*) FROM reviews WHERE run_id = ?", (run,)).fetchone()
    return int(count)


def remove(connection: sqlite3.Connection, run: int) -> None:
    """Delete a run with everything that depends on it, in the caller's transaction; free its name after its last run.

    Raises:
        sqlite3.IntegrityError: A set or a review refers to it.
    """
    items = [item for (item,) in connection.execute("SELECT completion_id FROM verdicts WHERE run_id = ?", (run,))]
    (verifier,) = connection.execute("SELECT verifier_id FROM runs WHERE id = ?", (run,)).fetchone()
    for table in _HANGING:
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run,))
    connection.execute("DELETE FROM runs WHERE id = ?", (run,))
    connection.execute(
        "DELETE FROM verifiers WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE verifier_id = ?1) "
        "AND NOT EXISTS (SELECT 1 FROM probe_runs WHERE verifier_id = ?1)",
        (verifier,),
    )
    changes.note_verdicts(connection, run, items)


# -- What the outcomes of a run depend on besides the texts.


_DECODER = msgspec.json.Decoder(list[Provenance])


def note(connection: sqlite3.Connection, run: int, provenance: Provenance) -> None:
    known = of_run(connection, run)
    if provenance not in known:
        connection.execute(
            "INSERT INTO provenance (run_id, document) VALUES (?, ?) "
            "ON CONFLICT (run_id) DO UPDATE SET document = excluded.document",
            (run, msgspec.json.encode([*known, provenance]).decode()),
        )


def of_run(connection: sqlite3.Connection, run: int) -> list[Provenance]:
    """Return all provenances of a run, the earliest first; most runs have one."""
    row: tuple[str] | None = connection.execute("SELECT document FROM provenance WHERE run_id = ?", (run,)).fetchone()
    return [] if row is None else decode_stored(_DECODER, row[0], f"What run {run} has worked under")
