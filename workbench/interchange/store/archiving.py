"""Read the rows of an archive from a database, and write them into a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple, cast

from workbench.core.database import migrations
from workbench.core.database.failures import explained
from workbench.core.database.schema import build_large_indexes, drop_large_indexes
from workbench.core.database.selection import shown_item, shown_question
from workbench.interchange.records import ColumnType

# -- The tables of an archive, and the rows of each.


class ArchiveTable(NamedTuple):
    """One file of an archive.

    Attributes:
        texts: Another table with the same key, whose columns are in the same lines.
        rows: SQL condition that selects rows of the table; all rows if it is empty.
    """

    name: str
    table: str
    texts: str | None = None
    rows: str = ""

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.table,) if self.texts is None else (self.table, self.texts)


PARTS: Final[tuple[ArchiveTable, ...]] = (
    ArchiveTable("datasets", "datasets"),
    ArchiveTable("sources", "sources"),
    ArchiveTable("models", "models"),
    ArchiveTable("questions", "questions", "question_text"),
    ArchiveTable("items", "completions", "completion_text"),
    ArchiveTable("imports", "imports", rows="state = 'complete'"),
    ArchiveTable("quarantine", "quarantine", rows="import_id IN (SELECT id FROM imports WHERE state = 'complete')"),
    ArchiveTable("annotators", "annotators"),
    ArchiveTable("guidelines", "guidelines"),
    ArchiveTable("guideline_readings", "guideline_readings"),
    ArchiveTable("labels", "label_events", rows="kind NOT IN ('adjudication', 'exclusion')"),
    ArchiveTable("adjudications", "label_events", rows="kind = 'adjudication'"),
    ArchiveTable("exclusions", "label_events", rows="kind = 'exclusion'"),
    ArchiveTable("batches", "batches"),
    ArchiveTable("batch_annotators", "batch_annotators"),
    ArchiveTable("assignments", "assignments"),
    ArchiveTable("skips", "skips"),
    ArchiveTable("drafts", "drafts"),
    ArchiveTable("checks", "check_items"),
    ArchiveTable("reviews", "reviews"),
    ArchiveTable("curation", "curation"),
    ArchiveTable("verifiers", "verifiers"),
    ArchiveTable("runs", "runs"),
    ArchiveTable("run_usage", "run_usage"),
    ArchiveTable("provenance", "provenance"),
    ArchiveTable("verdicts", "verdicts"),
    ArchiveTable("evidence", "verdict_evidence"),
    ArchiveTable("traces", "verdict_traces"),
    ArchiveTable("requests", "requests"),
    ArchiveTable("responses", "responses"),
    ArchiveTable("attempts", "attempts"),
    ArchiveTable("call_batches", "call_batches"),
    ArchiveTable("batched_calls", "batched_calls"),
    ArchiveTable("verdict_calls", "verdict_calls"),
    ArchiveTable("probe_runs", "probe_runs"),
    ArchiveTable("probe_results", "probe_results"),
    ArchiveTable("trainings", "trainings"),
    ArchiveTable("training_steps", "training_steps"),
    ArchiveTable("audited", "audited"),
    ArchiveTable("training_alarms", "training_alarms"),
    ArchiveTable("proposed_types", "proposed_types"),
    ArchiveTable("selection_judges", "selection_judges"),
    ArchiveTable("code_problems", "code_problems"),
    ArchiveTable("code_solutions", "code_solutions"),
    ArchiveTable("suites", "suites"),
    ArchiveTable("tests", "tests"),
    ArchiveTable("solution_tests", "solution_tests"),
    ArchiveTable("test_exclusions", "test_exclusions"),
    ArchiveTable("test_results", "test_results"),
    ArchiveTable("evolutions", "evolutions"),
    ArchiveTable("evolution_steps", "evolution_steps"),
    ArchiveTable("sets", "sets"),
    ArchiveTable("set_items", "set_items"),
    ArchiveTable("set_questions", "set_questions"),
    ArchiveTable("set_runs", "set_runs"),
)
"""The parts in the order of an archive."""
EVENTS: Final = ("labels", "adjudications", "exclusions")
"""Parts of one table, which are restored together in the order of arrival of events."""
CALLS: Final = ("requests", "responses", "attempts", "call_batches", "batched_calls", "verdict_calls")
"""Parts with calls to model servers: by far the largest after judge runs."""
NEVER: Final[dict[str, str]] = {
    "secrets": "the database's secret never leaves it; a database that is read back draws its own",
    "admissions": "logins from a browser are secrets",
    "runner": "which process is at work",
    "changes": "what copies of the figures are kept by",
    "task_states": "derived from the label events",
    "item_states": "derived from the label events",
    "verdict_cache": "what verifiers in workers find anew",
    "bundles": "a bundle comes home to the database that made it, and to no other",
    "bundle_items": "as bundles",
    "bundle_pass": "what an archive of a bundle holds is not a bundle any more",
    "event_seals": "as bundle_pass",
    "generation": "which copy of the database a file is",
    "_sqlite_migrations": "made with the tables",
}
"""Tables that are never archived, with reasons."""


def columns(connection: sqlite3.Connection, part: ArchiveTable) -> dict[str, ColumnType]:
    found: dict[str, ColumnType] = {}
    for table in part.tables:
        for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})"):
            found.setdefault(name, cast("ColumnType", kind))
    return found


def own_columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def key(connection: sqlite3.Connection, table: str) -> list[str]:
    rows = sorted((row[5], row[1]) for row in connection.execute(f"PRAGMA table_info({table})") if row[5])
    return [name for _, name in rows]


Connection = sqlite3.Connection
Row = tuple[object, ...]
_CACHE_KIB: Final = 64 * 1024
_SHOWN_ITEM: Final = shown_item("{0}")
_SHOWN_QUESTION: Final = shown_question("{0}")
_NO_CHECK: Final = f"{_SHOWN_ITEM} AND {{0}} NOT IN (SELECT completion_id FROM check_items)"
_CHECK: Final = "{0} IN (SELECT completion_id FROM check_items)"
# A question whose completions are all checks would reveal that something is missing.
_NOT_OF_CHECKS: Final = f"""{_SHOWN_QUESTION} AND ({{0}} NOT IN (
        SELECT o.question_id FROM completions AS o JOIN check_items AS k ON k.completion_id = o.id)
    OR {{0}} IN (SELECT o.question_id FROM completions AS o
                 WHERE o.id NOT IN (SELECT completion_id FROM check_items)))"""
_ANSWERS: Final = """SELECT v.response_id FROM verdict_calls AS v WHERE {0}
    UNION SELECT r.id FROM attempts AS v JOIN responses AS r ON r.key = v.key WHERE {0}"""
_ABOUT_CHECKS: Final = _ANSWERS.format(_CHECK.format("v.completion_id"))
_ABOUT_OTHERS: Final = _ANSWERS.format(f"coalesce({_NO_CHECK.format('v.completion_id')}, 1)")
_RESPONSE: Final = f"({{0}} NOT IN ({_ABOUT_CHECKS}) OR {{0}} IN ({_ABOUT_OTHERS}))"
_REQUEST: Final = f"""{{0}} NOT IN (SELECT request_id FROM responses)
    OR {{0}} IN (SELECT request_id FROM responses WHERE {_RESPONSE.format("responses.id")})"""
_TRIED: Final = f"""SELECT v.id FROM attempts AS v
    WHERE v.completion_id IS NULL OR {_NO_CHECK.format("v.completion_id")}"""
_ABOUT_NOTHING: Final = """SELECT 1 FROM {0} AS t WHERE CASE t.task
    WHEN 'type' THEN NOT EXISTS (SELECT 1 FROM questions AS q WHERE q.id = t.subject)
    ELSE NOT EXISTS (SELECT 1 FROM completions AS c WHERE c.id = t.subject) END LIMIT 1"""
_NO_OBJECT: Final = """SELECT 1 FROM {0} WHERE extra IS NOT NULL
    AND iif(json_valid(extra), json_type(extra), '') <> 'object' LIMIT 1"""
_TAKES_ANOTHERS: Final = """SELECT e.id FROM label_events AS e JOIN label_events AS x ON x.uuid = e.supersedes
    WHERE (x.task, x.subject) <> (e.task, e.subject) OR (x.annotator_id <> e.annotator_id
    AND (x.kind <> 'exclusion' OR e.kind NOT IN ('retraction', 'exclusion'))) ORDER BY e.id LIMIT 1"""
_KIND: Final = {"label_events": "kind <> 'check'", "assignments": "purpose <> 'check'", "check_items": "0"}


class Conditions:
    """The rows of each table that an archive holds.

    Items and questions of an unfinished import are never included.

    Args:
        checks: Whether to include the items that are checks; else neither these items nor labels on them are included,
            so that the archive doesn't reveal them.
    """

    def __init__(self, *, checks: bool) -> None:
        self._checks = checks
        self._item = _SHOWN_ITEM if checks else _NO_CHECK
        self._question = _SHOWN_QUESTION if checks else _NOT_OF_CHECKS

    def of(self, part: ArchiveTable, names: Iterable[str]) -> str:
        """Return the SQL condition for a part with these columns; the table's alias is ``t``."""
        found = [part.rows] if part.rows else []
        found += [self._column_condition(part, name) for name in names]
        if not self._checks:
            found += [_KIND.get(part.table, ""), self._calls_condition(part)]
        return " AND ".join(f"({text})" for text in found if text) or "1"

    def _column_condition(self, part: ArchiveTable, name: str) -> str:
        if name == "completion_id":
            return f"t.completion_id IS NULL OR {self._item.format('t.completion_id')}"
        if name in ("question_id", "duplicate_of"):
            return f"t.{name} IS NULL OR {self._question.format(f't.{name}')}"
        if name == "subject":
            item, question = self._item.format("t.subject"), self._question.format("t.subject")
            return f"CASE t.task WHEN 'type' THEN {question} ELSE {item} END"
        if name == "id" and part.table == "completions":
            return self._item.format("t.id")
        if name == "id" and part.table == "questions":
            return self._question.format("t.id")
        return ""

    def _calls_condition(self, part: ArchiveTable) -> str:
        if part.table == "responses":
            return _RESPONSE.format("t.id")
        if part.table == "requests":
            return _REQUEST.format("t.id")
        if part.table == "batched_calls":
            return f"t.attempt_id IN ({_TRIED}) AND ({_REQUEST.format('t.request_id')})"
        return ""


def rows(connection: sqlite3.Connection, part: ArchiveTable, conditions: Conditions) -> Generator[Row, None, None]:
    """Yield a part's rows in key order; an infinite number is the text ``Inf`` or ``-Inf``."""
    kinds = columns(connection, part)
    own = set(own_columns(connection, part.table))
    cells = (
        f"iif(abs({place}) = 9e999, CAST({place} AS TEXT), {place})" if kind == "REAL" else place
        for name, kind in kinds.items()
        for place in [f't."{name}"' if name in own else f'x."{name}"']
    )
    joined = f" CROSS JOIN {part.texts} AS x ON x.id = t.id" if part.texts else ""
    order = ", ".join(f't."{name}"' for name in key(connection, part.table))
    yield from connection.execute(
        f"SELECT {', '.join(cells)} FROM {part.table} AS t{joined} WHERE {conditions.of(part, own)} ORDER BY {order}"
    )


def count(connection: sqlite3.Connection, table: str, where: str = "1") -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0])


class ArchiveRefused(Exception):
    """The content of an archive is not a workbench database; if a row is at fault, it is the last one requested."""


class NewDatabase:
    """A database built from an archive's rows; nothing else has it open.

    Args:
        path: The new file; the path must not exist.
        version: The version of the tables in the archive.
    """

    def __init__(self, path: Path, version: int) -> None:
        self._path, self._version = path, version
        migrations.make(path, version)

    def fill(self, parts: Iterable[tuple[ArchiveTable, Iterable[Row]]]) -> None:
        """Insert all rows, then check all references.

        Raises:
            StoreError: The disk is full.
            ArchiveRefused: A row breaks a rule of its table, or refers to a missing row.
        """
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection, explained(self._path):
            for pragma in ("foreign_keys = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KIB}"):
                connection.execute(f"PRAGMA {pragma}")
            try:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    drop_large_indexes(connection)
                    for part, found in parts:
                        self._insert_rows(connection, part, found)
                    build_large_indexes(connection)
                    _require_references(connection)
            except (sqlite3.IntegrityError, OverflowError) as error:
                raise ArchiveRefused(str(error)) from error

    def columns(self, part: ArchiveTable) -> dict[str, str]:
        with closing(sqlite3.connect(self._path)) as connection:
            return dict(columns(connection, part))

    def bring_up_to_date(self) -> None:
        migrations.bring_up_to_date(self._path, keep_copy=False)

    def _insert_rows(self, connection: sqlite3.Connection, part: ArchiveTable, found: Iterable[Row]) -> None:
        names = list(columns(connection, part))
        inserts = [_insert_statement(connection, table, names) for table in part.tables]
        if len(inserts) == 1:
            connection.executemany(inserts[0][0], found)
            return
        for row in found:
            for statement, places in inserts:
                connection.execute(statement, tuple(row[place] for place in places))


def _insert_statement(connection: sqlite3.Connection, table: str, names: Sequence[str]) -> tuple[str, list[int]]:
    own = own_columns(connection, table)
    quoted = ", ".join(f'"{name}"' for name in own)
    return f"INSERT INTO {table} ({quoted}) VALUES ({', '.join('?' * len(own))})", [names.index(name) for name in own]


def require_own_corrections(connection: sqlite3.Connection) -> None:
    """Check that no event retracts another person's label, or a label on another item; anyone may lift an exclusion.

    Raises:
        ArchiveRefused: An event does.
    """
    row = connection.execute(_TAKES_ANOTHERS).fetchone()
    if row is not None:
        raise ArchiveRefused(f"the label event in row {row[0]} retracts another person's event, or one on another item")


def _require_references(connection: sqlite3.Connection) -> None:
    row = connection.execute("PRAGMA foreign_key_check").fetchone()
    if row is not None:
        raise ArchiveRefused(f"a row of {row[0]} refers to one of {row[2]} that is missing")
    for table in ("label_events", "assignments"):
        if connection.execute(_ABOUT_NOTHING.format(table)).fetchone() is not None:
            raise ArchiveRefused(f"a row of {table} is about nothing that is there")
    require_own_corrections(connection)
    for table in ("question_text", "completion_text"):
        if connection.execute(_NO_OBJECT.format(table)).fetchone() is not None:
            raise ArchiveRefused(f"a row of {table} has further fields that are not JSON objects")
