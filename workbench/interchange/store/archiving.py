"""SQL of archives: their tables, which rows of them, and how they are copied into a new database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from workbench.core.database.failures import explained
from workbench.core.database.schema import build_large_indexes, drop_large_indexes
from workbench.core.database.selection import shown_item, shown_question
from workbench.core.progress import stepping

# -- The tables of an archive, and the rows of each.


class ArchiveTable(NamedTuple):
    """One part of an archive.

    Attributes:
        texts: Another table with the same key, whose rows belong to those of the table.
        rows: SQL condition that selects rows of the table; all rows if it is empty.
    """

    name: str
    table: str
    texts: str | None = None
    rows: str = ""

    @property
    def tables(self) -> tuple[str, ...]:
        return (self.table,) if self.texts is None else (self.table, self.texts)


def _same(*names: str) -> Iterator[ArchiveTable]:
    return (ArchiveTable(name, name) for name in names)


PARTS: Final[tuple[ArchiveTable, ...]] = (
    *_same("datasets", "sources", "models"),
    ArchiveTable("questions", "questions", "question_text"),
    ArchiveTable("items", "completions", "completion_text"),
    ArchiveTable("imports", "imports", rows="state = 'complete'"),
    ArchiveTable("quarantine", "quarantine", rows="import_id IN (SELECT id FROM imports WHERE state = 'complete')"),
    *_same("annotators", "guidelines", "guideline_readings"),
    ArchiveTable("labels", "label_events", rows="kind NOT IN ('adjudication', 'exclusion')"),
    ArchiveTable("adjudications", "label_events", rows="kind = 'adjudication'"),
    ArchiveTable("exclusions", "label_events", rows="kind = 'exclusion'"),
    *_same("batches", "batch_annotators", "assignments", "skips", "drafts"),
    ArchiveTable("checks", "check_items"),
    *_same("reviews", "curation", "verifiers", "runs", "run_usage", "provenance", "verdicts"),
    ArchiveTable("evidence", "verdict_evidence"),
    ArchiveTable("traces", "verdict_traces"),
    *_same("requests", "responses", "attempts", "call_batches", "batched_calls", "verdict_calls"),
    *_same("probe_runs", "probe_results", "proposed_types", "selection_judges"),
    *_same("code_problems", "code_solutions", "suites", "tests"),
    *_same("solution_tests", "test_exclusions", "test_results", "evolutions", "evolution_steps"),
    *_same("sets", "set_items", "set_questions", "set_runs"),
)
"""The parts of an archive; reports give the number of rows of each."""
CALLS: Final = ("requests", "responses", "attempts", "call_batches", "batched_calls", "verdict_calls")
"""Tables with calls to model servers: by far the largest after judge runs."""


def key(connection: sqlite3.Connection, table: str) -> list[str]:
    rows = sorted((row[5], row[1]) for row in connection.execute(f"PRAGMA table_info({table})") if row[5])
    return [name for _, name in rows]


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

    def of(self, table: str, names: Iterable[str]) -> str:
        """Return the SQL condition for a table with these columns; the table's alias is ``t``."""
        found = [" OR ".join(part.rows or "1" for part in PARTS if table in part.tables)]
        found += [self._column_condition(table, name) for name in names]
        if not self._checks:
            found += [_KIND.get(table, ""), self._calls_condition(table)]
        return " AND ".join(f"({text})" for text in found if text)

    def _column_condition(self, table: str, name: str) -> str:
        if name == "completion_id":
            return f"t.completion_id IS NULL OR {self._item.format('t.completion_id')}"
        if name in ("question_id", "duplicate_of"):
            return f"t.{name} IS NULL OR {self._question.format(f't.{name}')}"
        if name == "subject":
            item, question = self._item.format("t.subject"), self._question.format("t.subject")
            return f"CASE t.task WHEN 'type' THEN {question} ELSE {item} END"
        if name == "id" and table in ("completions", "completion_text"):
            return self._item.format("t.id")
        if name == "id" and table in ("questions", "question_text"):
            return self._question.format("t.id")
        return ""

    def _calls_condition(self, table: str) -> str:
        if table == "responses":
            return _RESPONSE.format("t.id")
        if table == "requests":
            return _REQUEST.format("t.id")
        if table == "batched_calls":
            return f"t.attempt_id IN ({_TRIED}) AND ({_REQUEST.format('t.request_id')})"
        return ""


def rows(
    connection: sqlite3.Connection, table: str, columns: Sequence[str], conditions: Conditions
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a table in key order."""
    order = ", ".join(f't."{name}"' for name in key(connection, table))
    selected = ", ".join(f't."{name}"' for name in columns)
    return connection.execute(
        f"SELECT {selected} FROM {table} AS t WHERE {conditions.of(table, columns)} ORDER BY {order}"
    )


def count(connection: sqlite3.Connection, table: str, where: str = "1") -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0])


def row_counts(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        return {part.name: count(connection, part.table, part.rows or "1") for part in PARTS}


def copy_rows(source: sqlite3.Connection, path: Path, conditions: Conditions, *, calls: bool) -> None:
    """Fill a new, empty database with the rows of an archive; nothing else has it open.

    Raises:
        StoreError: The disk is full.
    """
    tables = dict.fromkeys(table for part in PARTS for table in part.tables if calls or table not in CALLS)
    with explained(path), closing(sqlite3.connect(path, isolation_level=None)) as target, target:
        for pragma in ("foreign_keys = OFF", "synchronous = OFF", f"cache_size = -{_CACHE_KIB}"):
            target.execute(f"PRAGMA {pragma}")
        target.execute("BEGIN IMMEDIATE")
        drop_large_indexes(target)
        for table in stepping(tables, "writing tables", "tables"):
            names = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
            quoted = ", ".join(f'"{name}"' for name in names)
            places = ", ".join("?" * len(names))
            target.executemany(
                f"INSERT INTO {table} ({quoted}) VALUES ({places})", rows(source, table, names, conditions)
            )
        build_large_indexes(target)


def close_log(path: Path) -> None:
    """Make a closed database one file without a log.

    Raises:
        StoreError: The disk is full.
    """
    with explained(path), closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
