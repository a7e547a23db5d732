"""Connections that check row counts: exactly the rows that are sent to a table are written to it.

A trigger, a table's own ON CONFLICT or a view instead of a table can drop or change rows silently. `schema_check`
checks that a database has none of them when it is opened; here nothing is assumed: SQLite reports which triggers a
statement would run, each INSERT is compared with the rows it was given, and each statement with SQLite's count of all
rows that it changed.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple

from workbench.core.database import schema
from workbench.core.errors import WrittenError

_WRITES: Final = re.compile(r"\s*(INSERT|REPLACE|UPDATE|DELETE)\b(\s+OR\s+\w+)?", re.IGNORECASE)
_TABLE: Final = re.compile(r"\s*(?:INTO|FROM)?\s*(\w+)", re.IGNORECASE)
_ROW: Final = re.compile(r"\bVALUES\s*\(", re.IGNORECASE)
_ROWS: Final = re.compile(r"\bVALUES\s*\(.*\)\s*,\s*\(", re.IGNORECASE | re.DOTALL)
_PERHAPS: Final = re.compile(r"\bDO\s+UPDATE\b.*\bWHERE\b|\bDO\s+NOTHING\b", re.IGNORECASE | re.DOTALL)
_RETURNING: Final = re.compile(r"\bRETURNING\b", re.IGNORECASE)

_NOTES: Final = "INSERT INTO changes"
_FORGETS: Final = "DELETE FROM changes"
_FORGETS_EVERY: Final = 10_000
"""Number of additional notes after which our triggers, which note changes in some tables, delete the oldest ones."""
_THERE_ALREADY: Final = {
    sqlite3.SQLITE_CONSTRAINT_UNIQUE,
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
    sqlite3.SQLITE_CONSTRAINT_ROWID,
}
_HINT: Final = "Nothing of it was saved. The doctor says what may be to blame in the database."


class _Write(NamedTuple):
    """The expected effect of a statement that writes.

    Attributes:
        each: Whether every given row must be written.
        plainly: Whether this holds without its OR IGNORE, if any.
    """

    table: str
    each: bool
    plainly: str | None
    returning: bool


class _Effects(NamedTuple):
    """Permitted side effects of the program's triggers that a statement runs; a trigger that adds notes also deletes
    some.
    """

    notes: bool
    forgets: bool


class _Sent(Iterator[Any]):
    """Counts the rows read from it, and keeps them if needed; ``first`` is None without rows."""

    def __init__(self, rows: Iterable[Any], *, kept: bool) -> None:
        begun = iter(rows)
        self.first = next(begun, None)
        self._rows = chain(() if self.first is None else (self.first,), begun)
        self._kept = kept
        self.count = 0
        self.rows: list[Any] = []

    def __next__(self) -> Any:
        row = next(self._rows)
        self.count += 1
        if self._kept:
            self.rows.append(row)
        return row


class CountedConnection(sqlite3.Connection):
    """A connection on which a statement that wrote other rows than it was given raises WrittenError.

    Attributes:
        schema_counter: SQLite's schema counter when its triggers were last read.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.schema_counter = -1
        self._asked = 0
        self._known: dict[str, _Effects] = {}

    def schema_is(self, counter: int) -> None:
        if counter != self.schema_counter:
            # SQLite rereads the schema for statements that it runs, but not for EXPLAIN.
            super().execute("SELECT 1 FROM main.sqlite_master LIMIT 1").fetchone()
            self._known.clear()
            self.schema_counter = counter

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Execute a statement like sqlite3.

        Raises:
            WrittenError: Rows were dropped, or changed in addition to those sent, or a foreign trigger would run.
        """
        write = _read(sql)
        if write is None:
            return super().execute(sql, parameters)
        effects = self._effects(sql, write, parameters)
        if write.returning:
            # Its count is only known when all its rows have been fetched.
            return super().execute(sql, parameters)
        before = self._counts(effects)
        cursor = super().execute(sql, parameters)
        self._check(write, effects, before, cursor.rowcount, 1)
        if write.plainly and cursor.rowcount < 1:
            self._require_there(write, [parameters])
        return cursor

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """Execute a statement for each row like sqlite3.

        Raises:
            WrittenError: See `execute`.
        """
        write = _read(sql)
        if write is None:
            return super().executemany(sql, parameters)
        sent = parameters if isinstance(parameters, list) else _Sent(parameters, kept=write.plainly is not None)
        first = sent[0] if isinstance(sent, list) and sent else getattr(sent, "first", None)
        if first is None:
            return super().executemany(sql, ())
        effects = self._effects(sql, write, first)
        before = self._counts(effects)
        cursor = super().executemany(sql, sent)
        given, rows = (len(sent), sent) if isinstance(sent, list) else (sent.count, sent.rows)
        self._check(write, effects, before, cursor.rowcount, given)
        if write.plainly and cursor.rowcount < given:
            self._require_there(write, rows)
        return cursor

    def _effects(self, sql: str, write: _Write, parameters: Any) -> _Effects:
        if sql not in self._known:
            run = self.triggers(sql, parameters)
            for name, text in run:
                ours = [part.sql for part in schema.parts() if (part.kind, part.name) == ("trigger", name)]
                if not any(text in trigger for trigger in ours):
                    raise WrittenError(f"{write.table}: trigger {name!r} would change what is written.", _HINT)
            self._known[sql] = _Effects(*(any(text.startswith(what) for _, text in run) for what in (_NOTES, _FORGETS)))
        return self._known[sql]

    def triggers(self, sql: str, parameters: Any) -> list[tuple[str, str]]:
        """Return the triggers that a statement would run, each by name and once more with each of its statements."""
        found, name = [], ""
        # EXPLAIN of the same statement after a schema change would read freed memory.
        self._asked += 1
        for _, operation, _, _, _, text, *_ in self._explained(f"EXPLAIN /* {self._asked} */ {sql}", parameters):
            if operation in ("Init", "Trace") and isinstance(text, str) and text.startswith("-- "):
                said = text.removeprefix("-- ")
                begins = said.startswith("TRIGGER ")
                name = said.removeprefix("TRIGGER ") if begins else name
                found.append((name, "" if begins else said))
        return found

    def _explained(self, sql: str, parameters: Any) -> list[Any]:
        # A blob of the statement is shown as text.
        usual, self.text_factory = self.text_factory, lambda data: data.decode("utf-8", "replace")
        try:
            return super().execute(sql, parameters).fetchall()
        finally:
            self.text_factory = usual

    def _counts(self, effects: _Effects) -> tuple[int, int]:
        if not effects.forgets:
            return self.total_changes, 0
        # Also for a table that was emptied: the next number follows the last one ever assigned.
        row = super().execute("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").fetchone()
        return self.total_changes, 0 if row is None else row[0]

    def _check(self, write: _Write, effects: _Effects, before: tuple[int, int], rowcount: int, sent: int) -> None:
        written = max(rowcount, 0)
        if write.each and written != sent:
            raise WrittenError(f"{write.table}: {sent:,} rows were sent, {written:,} were written.", _HINT)
        changed, last = self._counts(effects)
        noted = last - before[1] if effects.notes else 0
        beside = changed - before[0] - written - noted
        # Many notes deleted at once can't be distinguished from other changes.
        if beside and last // _FORGETS_EVERY == before[1] // _FORGETS_EVERY:
            raise WrittenError(f"{write.table}: {beside:,} rows were changed beside the {written:,} written.", _HINT)

    def _require_there(self, write: _Write, sent: Iterable[Any]) -> None:
        for row in sent:
            try:
                super().execute(write.plainly or "", row)
            except sqlite3.IntegrityError as error:
                if error.sqlite_errorcode in _THERE_ALREADY:
                    continue
            raise WrittenError(f"{write.table}: a row was sent, and is not there.", _HINT)


@lru_cache(maxsize=1024)
def _read(sql: str) -> _Write | None:
    match = _WRITES.match(sql)
    if match is None:
        return None
    verb, otherwise = match[1].upper(), (match[2] or "").upper().split()[-1:]
    table = _TABLE.match(sql, match.end())
    one = verb in ("INSERT", "REPLACE") and _ROW.search(sql) is not None and _ROWS.search(sql) is None
    plainly = f"{match[1]} {sql[match.end() :]}" if one and otherwise == ["IGNORE"] else None
    return _Write(
        table=table[1] if table else "?",
        each=one and plainly is None and _PERHAPS.search(sql) is None,
        plainly=plainly,
        returning=_RETURNING.search(sql) is not None,
    )
