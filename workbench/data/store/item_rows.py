"""Compares items with stored rows; an item is new, already stored, or contradicts a stored row."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import PurePath
from typing import NamedTuple

from workbench.core.code import Record
from workbench.core.database.hashes import content_hash
from workbench.core.item import ItemRecord, Refusal
from workbench.data.formats.lines import RefusedError, make_refusal
from workbench.data.formats.rows import derived_id, is_derived
from workbench.data.store.licences import Licences

# -- Finds the stored row that an imported item contradicts, and the fields that differ.


_QUESTION = (
    "SELECT qt.text, qt.reference, s.name, q.type, q.subtype FROM questions AS q "
    "JOIN question_text AS qt ON qt.id = q.id LEFT JOIN sources AS s ON s.id = q.source_id WHERE q.id = ?"
)
_OF_QUESTION = ("question", "reference", "source", "type", "subtype")
_COMPLETION = (
    "SELECT c.id, ct.text, c.imported_gold, m.name, ct.extra FROM completions AS c JOIN completion_text AS ct ON "
    "ct.id = c.id LEFT JOIN models AS m ON m.id = c.model_id WHERE c.question_id = ? AND c.key = ?"
)
_OF_COMPLETION = ("completion", "gold", "model")
_IMPORTED = (
    "SELECT path, first_completion_id FROM imports WHERE first_completion_id <= ? ORDER BY first_completion_id DESC, "
    "id DESC LIMIT 1"
)


class Contradicted(NamedTuple):
    """A stored row that an imported item contradicts.

    Attributes:
        fields: Names of the fields that differ.
        place: Where the stored row was imported from, in words; "" if unknown.
    """

    fields: tuple[str, ...] = ()
    place: str = ""


def find_contradicted(connection: sqlite3.Connection, question: int, item: ItemRecord) -> Contradicted:
    """Return the stored row that an item contradicts.

    Args:
        question: Row id of the stored question that has the item's question key.
    """
    stored = connection.execute(_QUESTION, (question,)).fetchone()
    if stored is None:
        return Contradicted()
    said = (item.question, item.reference, item.source, item.type, item.subtype)
    fields = _differing_names(_OF_QUESTION, stored, said)
    if fields:
        first = connection.execute("SELECT min(id) FROM completions WHERE question_id = ?", (question,)).fetchone()[0]
        return Contradicted(fields, _import_origin(connection, first))
    row = connection.execute(_COMPLETION, (question, item.completion_key)).fetchone()
    if row is None:
        return Contradicted()
    gold = None if row[2] is None else bool(row[2])
    fields = _differing_names(_OF_COMPLETION, (row[1], gold, row[3]), (item.completion, item.gold, item.model))
    return Contradicted((*fields, *_differing_columns(row[4], item.extra)), _import_origin(connection, row[0]))


def _differing_names(names: tuple[str, ...], stored: tuple[object, ...], said: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(name for name, one, other in zip(names, stored, said, strict=True) if one != other)


def _differing_columns(stored: str | None, said: str | None) -> tuple[str, ...]:
    one, other = (json.loads(text or "{}") for text in (stored, said))
    return tuple(name[:_MAX_SHOWN] for name in {**one, **other} if one.get(name) != other.get(name))[:3]


def _import_origin(connection: sqlite3.Connection, completion: int | None) -> str:
    row = None if completion is None else connection.execute(_IMPORTED, (completion,)).fetchone()
    if row is None or completion is None:
        return ""
    return f"imported row {completion - row[1] + 1:,} of {PurePath(row[0]).name[:80]}"


_MAX_CACHED = 50_000
_MAX_SHOWN = 60
"""Most characters of a question in a message."""
_MAX_EXPLAINED = 100
"""Most contradicted rows that are looked up while a first import fills the tables, which is slow."""
_INSERT_QUESTION = "INSERT INTO questions (id, dataset_id, key, source_id, type, subtype, hash) VALUES (?,?,?,?,?,?,?)"
_INSERT_QUESTION_TEXT = (
    "INSERT INTO question_text (id, text, reference, type_text, subtype_text, extra) VALUES (?, ?, ?, ?, ?, ?)"
)
_INSERT_COMPLETION = (
    "INSERT INTO completions (id, question_id, key, model_id, imported_gold, hash, characters) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_COMPLETION_TEXT = "INSERT INTO completion_text (id, text, extra, layout) VALUES (?, ?, ?, ?)"


class Matched(NamedTuple):
    """The results of a batch of items.

    Attributes:
        repeated: Number of unchanged items whose completion has no id and equals another completion of the file.
    """

    imported: int
    unchanged: int
    refused: list[Refusal]
    repeated: int = 0


class ItemInserter:
    """Compares the items of one import with what is stored, and inserts the new ones.

    Content is compared by blake2b-128 hashes. New row ids continue from the greatest stored id.

    Args:
        connection: The database to insert into; None if nothing is stored yet (a dry run).
        dataset_id: Row id of the data set; None if it doesn't exist yet (a dry run).
        indexed: Whether stored completions can be looked up by key; not during the first import, when the index is
            dropped.
        dry: Only compare and count; insert nothing.
    """

    def __init__(
        self, connection: sqlite3.Connection | None, dataset_id: int | None, *, indexed: bool = True, dry: bool = False
    ) -> None:
        self._connection = connection
        self._dataset_id = dataset_id
        self._indexed = indexed and connection is not None
        self._dry = dry
        self._completion_id = _next_id(connection, "completions")
        self._question_id = _next_id(connection, "questions")
        self._names: dict[str, dict[str, int]] = {"sources": {}, "models": {}}
        self._licences = Licences(connection)
        self._questions: dict[str, tuple[int, bytes]] = {}
        # The last row's question: files mostly list the completions of one question together.
        self._asked: tuple[str | None, ...] = ()
        self._asked_id = 0
        # Keys and contents of completions as 64-bit hashes, which need far less memory than the texts.
        self._completions: dict[int, int] = {}
        self._earlier: dict[int, int] = {}
        self._pending: tuple[list[tuple[object, ...]], ...] = ([], [], [], [])
        self._explained = 0
        self.begin_file()

    @property
    def question_row_id(self) -> int:
        return self._asked_id

    @property
    def last_question_id(self) -> int:
        return self._question_id - 1

    @property
    def last_completion_id(self) -> int:
        return self._completion_id - 1

    def question_id(self, key: str) -> int | None:
        found = self._questions.get(key) or self._stored_question(key)
        return None if found is None else found[0]

    def begin_file(self) -> None:
        self.first_completion_id = self._completion_id
        self.first_question_id = self._question_id
        if self._dry or not self._indexed:
            self._earlier.update(self._completions)
        self._completions.clear()

    def add(self, items: Iterable[ItemRecord]) -> Matched:
        unchanged = imported = repeated = 0
        refused: list[Refusal] = []
        for item in items:
            if (licensed := self.licence_refusal(item)) is not None:
                refused.append(licensed)
                continue
            contradiction = self.take_question(item) or self.take_completion(self._asked_id, item)
            if contradiction is None:
                imported += 1
            elif contradiction == "":
                unchanged += 1
                repeated += self._is_repeated(item)
            else:
                refused.append(self.refusal_of(item, contradiction))
        self.flush()
        return Matched(imported, unchanged, refused, repeated)

    def _is_repeated(self, item: ItemRecord) -> bool:
        if item.is_first_in_row or hash((self._asked_id, item.completion_key)) not in self._completions:
            return False
        return item.completion_key == derived_id(item.question_key, item.model, item.completion)

    def licence_refusal(self, item: ItemRecord) -> Refusal | None:
        if (stands := self._licences.contradicted(item.source, item.licence)) is None:
            return None
        message = (
            f"Its source {str(item.source)[:80]!r} has the licence {stands[:80]!r}, not {str(item.licence)[:80]!r}. "
            "Correct the row, name another source, or map no column to the licence: licence="
        )
        return refused_record(item, "conflict", "licence", message)

    def refusal_of(self, item: ItemRecord, code: str) -> Refusal:
        fields, place = self._find_contradicted(item)
        where = ("that is stored" if code == "conflict" else "in this file") + (f" ({place})" if place else "")
        if is_derived(item):
            return self._text_refusal(item, code, fields, where)
        differs = f"differs in {' and '.join(fields)} from" if fields else "has other content than"
        message = (
            f"{item.completion_key[:80]!r} of question {item.question_key[:80]!r} {differs} the row with these ids "
            f"{where}. Fix the row, give it another id (map completion_id=COLUMN), or import it as another data set."
        )
        return refused_record(item, code, fields[0] if fields else "completion_id", message)

    def _text_refusal(self, item: ItemRecord, code: str, fields: tuple[str, ...], where: str) -> Refusal:
        begins = " ".join(item.question.split())[:_MAX_SHOWN]
        asked = (item.question_key, item.question, item.reference, item.source, item.type, item.subtype)
        if asked == self._asked:
            same, may_differ = "question, reference answer, model and completion", "gold or further column"
        else:
            same, may_differ = "question and reference answer", "type, subtype or source"
        message = (
            f"{begins!r} has another {' and '.join(fields) or may_differ} than the row of the same {same} {where}. "
            "Make both rows equal, leave one out, or give the rows different ids (map completion_id=COLUMN)."
        )
        return refused_record(item, code, fields[0] if fields else None, message)

    def _find_contradicted(self, item: ItemRecord) -> Contradicted:
        if self._connection is None or (not self._indexed and self._explained >= _MAX_EXPLAINED):
            return Contradicted()
        self._explained += 1
        self.flush()
        question = self.question_id(item.question_key)
        return Contradicted() if question is None else find_contradicted(self._connection, question, item)

    def complete(self, connection: sqlite3.Connection) -> None:
        self._licences.complete(connection)

    def take_question(self, item: ItemRecord, extra: str | None = None) -> str | None:
        """Find or insert an item's question, whose row id is then `question_row_id`; return the code of a
        contradiction, or None.

        An item without a source or type does not contradict a stored question that has one.

        Args:
            extra: Extra keys of the question, in a file of questions; an item's extra keys belong to its completion.
        """
        asked = (item.question_key, item.question, item.reference, item.source, item.type, item.subtype)
        if asked != self._asked:
            content = content_hash(asked[1:])
            question = self._questions.get(item.question_key) or self._stored_question(item.question_key)
            if question is None:
                question = self._add_question(item, content, extra)
            elif question[1] != content and not self._has_fewer_fields(question[0], item):
                return "conflict" if question[0] < self.first_question_id else "duplicate_key"
            self._asked, self._asked_id = asked, question[0]
        self._licences.note(item.source, item.licence)
        return None

    def take_completion(self, question_id: int, item: ItemRecord) -> str | None:
        """Insert a completion if it is new, and return None; return "" if it is already stored, otherwise the code of
        the contradiction.
        """
        content = content_hash((item.completion, item.gold, item.model, item.extra))
        short_key, short_content = hash((question_id, item.completion_key)), _short_hash(content)
        if (known := self._completions.get(short_key)) is not None:
            return "" if known == short_content else "duplicate_key"
        if question_id < self.first_question_id and (
            (stored := self._stored_completion(question_id, item.completion_key, short_key)) is not None
        ):
            return "" if stored == short_content else "conflict"
        self._completions[short_key] = short_content
        completion_id = self._completion_id
        self._completion_id = completion_id + 1
        model_id = None if item.model is None else self._name_id("models", item.model)
        _, _, completions, texts = self._pending
        completions.append(
            (completion_id, question_id, item.completion_key, model_id, item.gold, content, len(item.completion))
        )
        texts.append((completion_id, item.completion, item.extra, item.layout))
        return None

    def _has_fewer_fields(self, question_id: int, item: ItemRecord) -> bool:
        if self._connection is None or None not in (item.source, item.type, item.subtype):
            return False
        row: tuple[str | None, ...] | None = self._connection.execute(_QUESTION, (question_id,)).fetchone()
        return (
            row is not None
            and row[:2] == (item.question, item.reference)
            and all(
                said in (None, stored)
                for said, stored in zip((item.source, item.type, item.subtype), row[2:], strict=True)
            )
        )

    def _add_question(self, item: ItemRecord, content: bytes, extra: str | None) -> tuple[int, bytes]:
        question_id = self._question_id
        self._question_id += 1
        source_id = None if item.source is None else self._name_id("sources", item.source)
        questions, texts, _, _ = self._pending
        questions.append(
            (question_id, self._dataset_id, item.question_key, source_id, item.type, item.subtype, content)
        )
        texts.append((question_id, item.question, item.reference, item.type_text, item.subtype_text, extra))
        question = self._questions[item.question_key] = (question_id, content)
        return question

    def _stored_question(self, key: str) -> tuple[int, bytes] | None:
        if self._connection is None or self._dataset_id is None:
            return None
        row: tuple[int, bytes] | None = self._connection.execute(
            "SELECT id, hash FROM questions WHERE dataset_id = ? AND key = ?", (self._dataset_id, key)
        ).fetchone()
        if row is not None:
            self._questions[key] = row
        return row

    def _stored_completion(self, question_id: int, key: str, short_key: int) -> int | None:
        known = self._earlier.get(short_key)
        if known is not None or not self._indexed or self._connection is None:
            return known
        row: tuple[bytes] | None = self._connection.execute(
            "SELECT hash FROM completions WHERE question_id = ? AND key = ?", (question_id, key)
        ).fetchone()
        return None if row is None else _short_hash(row[0])

    def _name_id(self, table: str, name: str) -> int:
        names = self._names[table]
        if (found := names.get(name)) is None:
            found = names[name] = 0 if self._dry else self._store_name(table, name)
        return found

    def _store_name(self, table: str, name: str) -> int:
        assert self._connection is not None
        if table == "sources":
            domain = name.partition("/")[0] if "/" in name else None
            self._connection.execute("INSERT OR IGNORE INTO sources (name, domain) VALUES (?, ?)", (name, domain))
        else:
            self._connection.execute("INSERT OR IGNORE INTO models (name) VALUES (?)", (name,))
        return int(self._connection.execute(f"SELECT id FROM {table} WHERE name = ?", (name,)).fetchone()[0])

    def flush(self) -> None:
        statements = (_INSERT_QUESTION, _INSERT_QUESTION_TEXT, _INSERT_COMPLETION, _INSERT_COMPLETION_TEXT)
        for statement, rows in zip(statements, self._pending, strict=True):
            if rows and not self._dry:
                assert self._connection is not None
                self._connection.executemany(statement, rows)
            rows.clear()
        if len(self._questions) > _MAX_CACHED and not self._dry:
            self._questions.clear()


def refused_record(record: Record, code: str, field: str | None, message: str) -> Refusal:
    return make_refusal(record.line, record.raw, RefusedError(code, field, message))


def _next_id(connection: sqlite3.Connection | None, table: str) -> int:
    if connection is None:
        return 1
    return int(connection.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}").fetchone()[0])


def _short_hash(content: bytes) -> int:
    return int.from_bytes(content[:8], "big")
