"""Stores rows of one import: items, questions, code problems and solutions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Final

from workbench.core.code import ProblemRecord, Record, SolutionRecord
from workbench.core.item import ItemRecord, QuarantinedRow, QuestionRecord, Refusal, RefusedRow
from workbench.data.store.item_rows import ItemInserter, Matched, refused_record
from workbench.data.store.problems import ProblemRows

# -- Questions of a pool as rows: new, already stored, or contradictory.


_EXTRA: Final = "SELECT extra FROM question_text WHERE id = ?"


class QuestionRows:
    """Compares the questions of one import with what is stored, and inserts the new ones.

    A question that was imported with a completion is recognised as the same question; it gets the extra keys of the
    file of questions.

    Args:
        items: Inserts the questions.
        connection: The database to compare with; None if nothing is stored yet (a dry run).
    """

    def __init__(self, items: ItemInserter, connection: sqlite3.Connection | None) -> None:
        self._items = items
        self._connection = connection
        # Extra keys by question: of questions not inserted yet, and of stored questions, which are updated at the end.
        self._pending: dict[int, str | None] = {}
        self._held: dict[int, str] = {}

    def add(self, records: Iterable[QuestionRecord]) -> Matched:
        unchanged = imported = 0
        refused: list[Refusal] = []
        for record in records:
            found = self._items.licence_refusal(record) or self._take_question(record)
            if isinstance(found, Refusal):
                refused.append(found)
            elif found == "new":
                imported += 1
            else:
                unchanged += 1
        self._items.flush()
        self._pending.clear()
        return Matched(imported, unchanged, refused)

    def complete(self, connection: sqlite3.Connection) -> None:
        connection.executemany(
            "UPDATE question_text SET extra = ? WHERE id = ? AND extra IS NULL",
            [(extra, question) for question, extra in self._held.items()],
        )
        self._held.clear()

    def _take_question(self, item: QuestionRecord) -> Refusal | str:
        extra = item.extra
        newest = self._items.last_question_id
        contradiction = self._items.take_question(item, extra)
        if contradiction is not None:
            return _contradiction_refusal(item, contradiction)
        question = self._items.question_row_id
        if question > newest:
            self._pending[question] = extra
            return "new"
        stored = self._stored_extra(question)
        if extra is not None and stored is None and question < self._items.first_question_id:
            self._held[question] = extra
            return "new"
        if stored != extra and extra is not None:
            return _contradiction_refusal(
                item, "conflict" if question < self._items.first_question_id else "duplicate_key"
            )
        return "unchanged"

    def _stored_extra(self, question: int) -> str | None:
        if question in self._pending:
            return self._pending[question]
        if question in self._held or self._connection is None:
            return self._held.get(question)
        row: tuple[str | None] | None = self._connection.execute(_EXTRA, (question,)).fetchone()
        return row[0] if row else None


def _contradiction_refusal(item: ItemRecord, code: str) -> Refusal:
    where = "is stored with" if code == "conflict" else "is in this file with"
    remedy = "Give the row a different id, or import the file as another data set."
    message = f"Question {item.question_key[:80]!r} {where} other content. {remedy}"
    return refused_record(item, code, "question_id", message)


class ImportRows:
    """Compares records with stored rows and inserts the new ones; see `ItemInserter`, `QuestionRows`, `ProblemRows`.

    Args:
        connection: Where the records go; None when nothing is stored (a dry run).
        dataset_id: Row id of the data set; None if it doesn't exist yet (a dry run).
        indexed: Whether stored completions can be looked up by key; not during the first import, when the index is
            dropped.
        dry: Only compare and count; insert nothing.
    """

    def __init__(
        self, connection: sqlite3.Connection | None, dataset_id: int | None, *, indexed: bool = True, dry: bool = False
    ) -> None:
        self._items = ItemInserter(connection, dataset_id, indexed=indexed, dry=dry)
        self._questions = QuestionRows(self._items, connection)
        self._problems = ProblemRows(self._items, connection, dataset_id, dry=dry)

    @property
    def first_ids(self) -> tuple[int, int]:
        return self._items.first_completion_id, self._items.first_question_id

    def begin_file(self) -> None:
        self._items.begin_file()

    def add(self, records: Sequence[Record]) -> Matched:
        code = [record for record in records if isinstance(record, ProblemRecord | SolutionRecord)]
        if code:
            return self._problems.add(code)
        questions = [record for record in records if isinstance(record, QuestionRecord)]
        if questions:
            return self._questions.add(questions)
        return self._items.add(record for record in records if isinstance(record, ItemRecord))

    def complete(self, connection: sqlite3.Connection) -> None:
        self._items.complete(connection)
        self._questions.complete(connection)
        self._problems.complete(connection)


# -- Rejected rows of imports.


def put(connection: sqlite3.Connection, import_id: int, refused: Iterable[Refusal]) -> None:
    connection.executemany(
        "INSERT INTO quarantine (import_id, line, code, field, message, raw) VALUES (?, ?, ?, ?, ?, ?)",
        [(import_id, row.line, row.code, row.field, row.message, row.raw) for row in refused],
    )


def reasons(connection: sqlite3.Connection, import_id: int) -> dict[str, int]:
    rows = connection.execute(
        "SELECT code, count(*) FROM quarantine WHERE import_id = ? GROUP BY code ORDER BY code", (import_id,)
    )
    return dict(rows.fetchall())


def first(connection: sqlite3.Connection, import_id: int, most: int) -> list[QuarantinedRow]:
    rows = connection.execute(
        "SELECT line, field, code, message FROM quarantine WHERE import_id = ? ORDER BY line, id LIMIT ?",
        (import_id, most),
    )
    return [QuarantinedRow(line=line, field=field, code=code, message=message) for line, field, code, message in rows]


def refused(connection: sqlite3.Connection, most: int, characters: int) -> list[RefusedRow]:
    """Return rejected rows (quarantine); those of the newest import come first.

    Args:
        characters: Maximum number of bytes to read of each row.
    """
    rows = connection.execute(
        "SELECT d.name, n.path, k.line, k.field, k.code, k.message, substr(k.raw, 1, ?) FROM quarantine AS k "
        "JOIN imports AS n ON n.id = k.import_id JOIN datasets AS d ON d.id = n.dataset_id "
        "ORDER BY n.id DESC, k.line, k.id LIMIT ?",
        (characters, most),
    )
    return [
        RefusedRow(
            dataset=dataset,
            file=PurePath(path).name,
            line=line,
            field=field,
            code=code,
            message=message,
            text=" ".join(raw.decode("utf-8", "replace").split()),
        )
        for dataset, path, line, field, code, message, raw in rows
    ]


def lines(connection: sqlite3.Connection, import_id: int) -> frozenset[int]:
    rows = connection.execute("SELECT DISTINCT line FROM quarantine WHERE import_id = ?", (import_id,))
    return frozenset(line for (line,) in rows)


_ID = "json_extract(CAST(k.raw AS TEXT), '$.\"' || json_extract(n.mapping, '$.columns.{0}') || '\"')"
_MENDED = f"""
    SELECT k.id FROM quarantine AS k JOIN imports AS n ON n.id = k.import_id
    JOIN imports AS now ON now.id = ? AND now.dataset_id = n.dataset_id AND now.id > n.id
    WHERE (n.path = now.path AND n.format = now.format AND (now.unchanged > 0 OR n.imported = 0)
           AND k.line <= now.rows_read + 1
           AND NOT EXISTS (SELECT 1 FROM quarantine AS q WHERE q.import_id = now.id AND q.line = k.line))
       OR CASE WHEN json_valid(CAST(k.raw AS TEXT)) THEN EXISTS (
            SELECT 1 FROM completions AS c JOIN questions AS o ON o.id = c.question_id
            WHERE c.key = {_ID.format("completion_id")} AND o.key = {_ID.format("question_id")}
            AND o.dataset_id = n.dataset_id AND c.id >= now.first_completion_id) END"""


def release(connection: sqlite3.Connection, import_id: int) -> int:
    """Remove rejected rows of earlier imports that this complete import has accepted; return their number.

    The rows are recognised by their ids, or else by their line number in the same file, imported again after a fix.
    """
    return connection.execute(f"DELETE FROM quarantine WHERE id IN ({_MENDED})", (import_id,)).rowcount
