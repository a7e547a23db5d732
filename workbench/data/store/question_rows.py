"""Questions of a pool as rows: what is new, what is stored already, what contradicts it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from workbench.core.item import KEPT_RAW, ItemRecord, QuestionRecord, Refusal
from workbench.data.store.item_rows import ItemInserter, Matched

_EXTRA: Final = "SELECT extra FROM question_text WHERE id = ?"


class QuestionRows:
    """Compares the questions of one import with what is stored, and inserts the new ones.

    A question that came with a completion is the same question; it takes on the keys that only the pool's file has.

    Args:
        items: Where questions go.
        connection: Where they are compared with; None where nothing is stored yet (a dry run).
    """

    def __init__(self, items: ItemInserter, connection: sqlite3.Connection | None) -> None:
        self._items = items
        self._connection = connection
        # Extra keys by question: of those that are not written yet, and of those that are written at the end.
        self._pending: dict[int, str | None] = {}
        self._held: dict[int, str] = {}

    def add(self, records: Iterable[QuestionRecord]) -> Matched:
        """Insert the new ones of a batch, in the caller's transaction."""
        unchanged = imported = 0
        refused: list[Refusal] = []
        for record in records:
            item = _item(record)
            found = self._items.other_licence(item) or self._take(item, record.extra)
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
        """Write what was held back until now, in the transaction that shows the import."""
        connection.executemany(
            "UPDATE question_text SET extra = ? WHERE id = ? AND extra IS NULL",
            [(extra, question) for question, extra in self._held.items()],
        )
        self._held.clear()

    def _take(self, item: ItemRecord, extra: str | None) -> Refusal | str:
        """``new``, ``unchanged``, or why the question can't be taken."""
        newest = self._items.last_question_id
        contradiction = self._items.take_question(item, extra)
        if contradiction is not None:
            return _refused(item, contradiction)
        question = self._items.asked_id
        if question > newest:
            self._pending[question] = extra
            return "new"
        stored = self._extra(question)
        if extra is not None and stored is None and question < self._items.first_question_id:
            self._held[question] = extra
            return "new"
        if stored != extra and extra is not None:
            return _refused(item, "conflict" if question < self._items.first_question_id else "duplicate_key")
        return "unchanged"

    def _extra(self, question: int) -> str | None:
        if question in self._pending:
            return self._pending[question]
        if question in self._held or self._connection is None:
            return self._held.get(question)
        row: tuple[str | None] | None = self._connection.execute(_EXTRA, (question,)).fetchone()
        return row[0] if row else None


def _item(record: QuestionRecord) -> ItemRecord:
    return ItemRecord(
        line=record.line,
        raw=record.raw,
        question_key=record.key,
        completion_key="",
        question=record.question,
        reference=record.reference,
        completion="",
        source=record.source,
        licence=record.licence,
        type=record.type,
        subtype=record.subtype,
        type_text=record.type_text,
        subtype_text=record.subtype_text,
    )


def _refused(item: ItemRecord, code: str) -> Refusal:
    where = "is stored with" if code == "conflict" else "stands in this file with"
    return Refusal(
        line=item.line,
        code=code,
        field="question_id",
        message=f"Question {item.question_key[:80]!r} {where} other content. "
        "Give the row an id of its own, or import the file as another --dataset.",
        raw=item.raw[:KEPT_RAW],
    )
