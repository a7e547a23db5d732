"""Read runs of another database as records; the values are validated, but not trusted."""

from __future__ import annotations

import math
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from workbench.core.code import OUTCOMES, Failure, Provenance
from workbench.core.run import ConfiguredVerifier
from workbench.core.selection import Selection
from workbench.interchange.store.archiving import own_columns
from workbench.labelling.store.foreign import ForeignSubject

Connection = sqlite3.Connection
TABLES: Final = (
    *("datasets", "questions", "question_text", "completions", "completion_text", "verifiers", "runs", "provenance"),
    *("verdicts", "verdict_evidence", "verdict_calls", "verdict_traces", "requests", "responses", "attempts"),
    *("code_problems", "code_solutions", "suites", "tests", "solution_tests", "test_results"),
)


class MalformedRow(ValueError):
    """A row holds data that this program would not have written."""


_UNREADABLE: Final = (msgspec.MsgspecError, MalformedRow, UnicodeError, RecursionError)


def _error_text(error: Exception) -> str:
    return "a text holds bytes that are not text" if isinstance(error, UnicodeError) else str(error)


# -- Runs.


class _Configuration(Struct):
    options: dict[str, str]
    config: dict[str, Any]


class ForeignRun(Struct, frozen=True, kw_only=True):
    """A run and its configuration.

    Attributes:
        provenance: Everything that its test results depend on.
    """

    id: int
    verifier: ConfiguredVerifier
    version: str
    selection: Selection
    provenance: tuple[Provenance, ...]


_RUNS: Final = (
    "SELECT r.id, r.version, r.selection, v.name, v.kind, v.config, v.config_hash, p.document FROM runs AS r "
    "JOIN verifiers AS v ON v.id = r.verifier_id LEFT JOIN provenance AS p ON p.run_id = r.id ORDER BY r.id"
)


def runs(theirs: Connection) -> list[ForeignRun]:
    """Return all runs, the oldest first.

    Raises:
        MalformedRow: A run is not valid.
    """
    return [_run(*row) for row in theirs.execute(_RUNS)]


def _run(
    number: int, version: str, selection: str, name: str, kind: str, config: str, config_hash: str, document: str | None
) -> ForeignRun:
    try:
        found = msgspec.json.decode(config, type=_Configuration)
        verifier = {"id": 0, "name": name, "kind": kind, "config_hash": config_hash}
        cells = {
            "id": number,
            "verifier": {**verifier, "options": found.options, "config": found.config},
            "version": version,
            "selection": msgspec.json.decode(selection),
            "provenance": msgspec.json.decode(document or "[]"),
        }
        run = msgspec.convert(cells, ForeignRun)
        # Text that can't be encoded can't be stored.
        msgspec.msgpack.encode(run)
        return run
    except _UNREADABLE as error:
        raise MalformedRow(f"run {number} can't be read: {_error_text(error)}") from error


# -- The items of a run, some hundred at a time.


class ForeignItem(NamedTuple):
    id: int
    name: ForeignSubject


Row = dict[str, Any]


class ForeignVerdict(NamedTuple):
    """An item's verdict with its evidence, as rows of both databases' tables.

    Attributes:
        rows: Table -> its rows on the item; the run's and the item's ids are still those of the other database.
        calls: The calls that the verdict is based on, in order, each with its request and its reply.
        attempts: The attempts of its calls, each with the usage of its reply.
    """

    rows: dict[str, list[Row]]
    calls: list[Row]
    attempts: list[Row]


def items(theirs: Connection, run: int, after: int, most: int) -> list[ForeignItem]:
    rows = theirs.execute(
        "SELECT v.completion_id, d.name, q.key, c.key FROM verdicts AS v CROSS JOIN completions AS c ON c.id = "
        "v.completion_id CROSS JOIN questions AS q ON q.id = c.question_id CROSS JOIN datasets AS d ON d.id = "
        "q.dataset_id WHERE v.run_id = ? AND v.completion_id > ? AND v.sample = 0 ORDER BY v.completion_id LIMIT ?",
        (run, after, most),
    )
    return [ForeignItem(item, ForeignSubject(*names)) for item, *names in rows]


def _listed(table: str, columns: Sequence[str]) -> str:
    return ", ".join(f"{table}.{name}" for name in columns)


COPIED: Final = ("verdicts", "verdict_evidence", "test_results", "verdict_traces")
"""Tables whose rows on an item are copied as they are."""
_USAGE: Final = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "cost")
_REPLY: Final = ("key", "server", "sample", "task", "body", "ms", "origin", "created_at", "unread_by", *_USAGE)
_REQUEST: Final = ("hash", "profile", "model", "body")
_CALL: Final = ("position", "step", "role", "reused")
_ATTEMPT: Final = ("key", "state", "url", "sent_at", "status", "code", "detail")
_CALLS: Final = (
    f"SELECT v.completion_id, {_listed('v', _CALL)}, {_listed('r', _REPLY)}, {_listed('q', _REQUEST)} FROM "
    "verdict_calls AS v CROSS JOIN responses AS r ON r.id = v.response_id CROSS JOIN requests AS q ON q.id = "
    "r.request_id WHERE v.run_id = ? AND v.completion_id BETWEEN ? AND ? ORDER BY v.completion_id, v.position"
)
_ATTEMPTS: Final = (
    f"SELECT a.completion_id, {_listed('a', _ATTEMPT)}, r.id, {_listed('r', _USAGE)} FROM attempts AS a "
    "LEFT JOIN responses AS r ON r.key = a.key AND a.state = 'done' "
    "WHERE a.run_id = ? AND a.completion_id IS NOT NULL ORDER BY a.completion_id, a.id"
)


_CALL_COLUMNS: Final = (*_CALL, *_REPLY, *(f"request_{name}" for name in _REQUEST))
_ATTEMPT_COLUMNS: Final = (*_ATTEMPT, "reply", *_USAGE)
_JSON: Final[dict[str, Any]] = {"trace": dict[str, Any], "failures": tuple[Failure, ...]}


class VerdictReader:
    """Reads the evidence of a run's verdicts, in the order of its items.

    Args:
        ours: The database that names the columns.
    """

    def __init__(self, theirs: Connection, run: int, ours: Connection) -> None:
        self._theirs, self._run = theirs, run
        self._columns = {table: own_columns(ours, table) for table in COPIED}
        self._attempts = groupby(theirs.execute(_ATTEMPTS, (run,)), key=lambda row: row[0])
        self._next: tuple[int, list[tuple[Any, ...]]] = (0, [])

    def read(self, some: Sequence[ForeignItem]) -> Iterator[tuple[ForeignItem, ForeignVerdict | str]]:
        tables = {table: self._rows(table, some) for table in COPIED}
        calls: dict[int, list[Row]] = defaultdict(list)
        for item, *cells in self._theirs.execute(_CALLS, (self._run, some[0].id, some[-1].id)):
            calls[item].append(dict(zip(_CALL_COLUMNS, cells, strict=True)))
        for one in some:
            attempts = [dict(zip(_ATTEMPT_COLUMNS, row, strict=True)) for row in self._attempts_of(one.id)]
            found = ForeignVerdict({table: rows[one.id] for table, rows in tables.items()}, calls[one.id], attempts)
            try:
                _check(found)
            except _UNREADABLE as error:
                yield one, f"its verdict can't be read: {_error_text(error)}"
            else:
                yield one, found

    def _rows(self, table: str, some: Sequence[ForeignItem]) -> dict[int, list[Row]]:
        columns = self._columns[table]
        rows = self._theirs.execute(
            f"SELECT {', '.join(columns)} FROM {table} WHERE run_id = ? AND completion_id BETWEEN ? AND ?",
            (self._run, some[0].id, some[-1].id),
        )
        found: dict[int, list[Row]] = defaultdict(list)
        for row in rows:
            cells = dict(zip(columns, row, strict=True))
            found[cells["completion_id"]].append(cells)
        return found

    def _attempts_of(self, item: int) -> list[tuple[Any, ...]]:
        while self._next[0] < item:
            number, rows = next(self._attempts, (2**63, iter(())))
            self._next = number, [row[1:] for row in rows]
        return self._next[1] if self._next[0] == item else []


def _check(found: ForeignVerdict) -> None:
    """Reject what the tables of this database would take but no reader expects."""
    msgspec.msgpack.encode(found)
    for row in chain(*found.rows.values(), found.calls, found.attempts):
        for value in row.values():
            if isinstance(value, float) and not math.isfinite(value):
                raise MalformedRow(f"{value} is not a number to count with")
        for name, type_ in _JSON.items():
            if row.get(name) is not None:
                msgspec.json.decode(row[name], type=type_)
        if not OUTCOMES.keys() >= {*str(row.get("outcomes", ""))}:
            raise MalformedRow("outcomes of tests have other letters")
        for start, end in ((row.get(f"{side}_start"), row.get(f"{side}_end")) for side in ("span", "reference")):
            if (start, end) != (None, None) and not (start is not None and end is not None and 0 <= start <= end):
                raise MalformedRow(f"{start!r} to {end!r} is not a place in a text")


def put_verdict(connection: Connection, run: int, item: int, found: ForeignVerdict) -> None:
    """Store an item's verdict with its evidence, or nothing of it.

    If a reply to the same request exists here, later requests still find that one.

    Raises:
        MalformedRow: A row breaks a rule of its table.
    """
    place = {"run_id": run, "completion_id": item}
    connection.execute("SAVEPOINT item")
    try:
        for table, rows in found.rows.items():
            for row in rows:
                _insert(connection, table, row | place)
        for call in found.calls:
            made = {name: call[name] for name in _CALL} | {"response_id": _put_reply(connection, call)}
            _insert(connection, "verdict_calls", made | place)
        for attempt in found.attempts:
            tried = {name: attempt[name] for name in _ATTEMPT} | {"lost": attempt["state"] == "sent"}
            _insert(connection, "attempts", tried | place)
    except sqlite3.IntegrityError as error:
        connection.execute("ROLLBACK TO item")
        raise MalformedRow(f"its verdict can't be stored: {error}") from error
    finally:
        connection.execute("RELEASE item")


def _put_reply(connection: Connection, call: Row) -> int:
    here = connection.execute("SELECT id, body FROM responses WHERE key = ?", (call["key"],)).fetchone()
    if here is not None and here[1] == call["body"]:
        return int(here[0])
    request = {name: call[f"request_{name}"] for name in _REQUEST}
    _insert(connection, "requests", request, "INSERT OR IGNORE")
    (number,) = connection.execute("SELECT id FROM requests WHERE hash = ?", (request["hash"],)).fetchone()
    reply = {name: call[name] for name in _REPLY} | {"request_id": number}
    return _insert(connection, "responses", reply | ({"key": os.urandom(32)} if here else {}))


def _insert(connection: Connection, table: str, row: Row, verb: str = "INSERT") -> int:
    places = ", ".join("?" * len(row))
    cursor = connection.execute(f"{verb} INTO {table} ({', '.join(row)}) VALUES ({places})", tuple(row.values()))
    return int(cursor.lastrowid or 0)


# -- The inputs behind outcomes of tests; works on any database.


def execution_inputs(connection: Connection, item: int, suites: Sequence[str]) -> list[tuple[object, ...]]:
    """Return what a solution's execution depends on: the problem's context, the text's form, tests of some suites."""
    (question,) = connection.execute("SELECT question_id FROM completions WHERE id = ?", (item,)).fetchone()
    found: list[tuple[object, ...]] = []
    found += connection.execute(
        "SELECT entry_point, setup, language, seconds FROM code_problems WHERE question_id = ?", (question,)
    )
    found += connection.execute("SELECT form FROM code_solutions WHERE completion_id = ?", (item,))
    for suite in suites:
        for table, owner, number in (("tests", "question", question), ("solution_tests", "completion", item)):
            found += connection.execute(
                f"SELECT t.form, t.source, t.expected FROM {table} AS t JOIN suites AS s ON s.id = t.suite_id "
                f"WHERE t.{owner}_id = ? AND s.name = ? ORDER BY t.position",
                (number, suite),
            )
    return found
