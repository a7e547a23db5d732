"""Frozen sets of questions or items: stored once and never changed, found by name and version, read in
a stable order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Final

import msgspec

from workbench.core.database.values import as_record, now
from workbench.core.errors import UsageError
from workbench.core.sets import ItemMember, NewSet, QuestionMember, SetName, StoredSet

PACKAGE: Final = "verifier-workbench"
"""The distribution whose version a set stores."""

_ID: Final = "(SELECT id FROM sets WHERE name = ? AND (version = ? OR ? IS NULL) ORDER BY version DESC LIMIT 1)"

HOLDS: Final = (
    f"(c.id IN (SELECT completion_id FROM set_items WHERE set_id = {_ID}) "
    f"OR c.question_id IN (SELECT question_id FROM set_questions WHERE set_id = {_ID}))"
)
"""SQL condition: a set contains the item ``c`` or its question; with `name_parameters`."""

_SETS: Final = """
    SELECT s.id, s.name, s.version, s.kind, s.seed, s.config, s.report, s.gold, s.guideline, s.code_version, s.digest,
           s.created_at, (SELECT count(*) FROM set_items WHERE set_id = s.id),
           (SELECT count(*) FROM set_questions WHERE set_id = s.id)
           + (SELECT count(DISTINCT c.question_id) FROM set_items AS x JOIN completions AS c ON c.id = x.completion_id
              WHERE x.set_id = s.id)
    FROM sets AS s"""


def name_parameters(name: SetName) -> list[object]:
    return [name.name, name.version, name.version] * 2


def put(connection: sqlite3.Connection, new: NewSet) -> StoredSet:
    """Store a set as the next version of its name, in the caller's transaction.

    Raises:
        UsageError: The name is not valid for a set.
    """
    if SetName.parse(new.name).version is not None:
        raise UsageError(f"{new.name!r} contains a version.", "A set gets its version when it is frozen.")
    from importlib.metadata import version as version_of

    version = connection.execute("SELECT coalesce(max(version), 0) + 1 FROM sets WHERE name = ?", (new.name,))
    cursor = connection.execute(
        "INSERT INTO sets (name, version, kind, seed, config, report, gold, guideline, code_version, digest,"
        " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            new.name,
            version.fetchone()[0],
            new.kind,
            new.seed,
            new.config,
            new.report,
            new.gold,
            new.guideline,
            version_of(PACKAGE),
            digest(connection, new.items, new.questions),
            now(),
        ),
    )
    number = cursor.lastrowid
    connection.executemany(
        "INSERT INTO set_items (set_id, completion_id, stratum, gold, gold_from, subtype) VALUES (?, ?, ?, ?, ?, ?)",
        [(number, one.item, one.stratum, one.gold, one.gold_from, one.subtype) for one in new.items],
    )
    connection.executemany(
        "INSERT INTO set_questions (set_id, question_id, stratum, subtype) VALUES (?, ?, ?, ?)",
        [(number, one.question, one.stratum, one.subtype) for one in new.questions],
    )
    connection.executemany("INSERT INTO set_runs (set_id, run_id) VALUES (?, ?)", [(number, run) for run in new.runs])
    return _stored(connection, connection.execute(f"{_SETS} WHERE s.id = ?", (number,)).fetchone())


def all_sets(connection: sqlite3.Connection) -> list[StoredSet]:
    return [_stored(connection, row) for row in connection.execute(f"{_SETS} ORDER BY s.id").fetchall()]


def find(connection: sqlite3.Connection, name: SetName) -> StoredSet | None:
    row = connection.execute(f"{_SETS} WHERE s.id = {_ID}", (name.name, name.version, name.version)).fetchone()
    return None if row is None else _stored(connection, row)


def require(connection: sqlite3.Connection, name: SetName) -> StoredSet:
    """Return the set with this name.

    Raises:
        UsageError: The set does not exist; the message lists the sets.
    """
    found = find(connection, name)
    if found is None:
        known = [one.full_name for one in all_sets(connection)]
        raise UsageError(f"There is no set {str(name)!r}.", f"There are: {', '.join(known) or 'none yet'}.")
    return found


def items(connection: sqlite3.Connection, number: int) -> Iterator[ItemMember]:
    rows = connection.execute(
        "SELECT completion_id, stratum, gold, gold_from, subtype FROM set_items WHERE set_id = ? "
        "ORDER BY completion_id",
        (number,),
    )
    return (as_record(ItemMember, row) for row in rows)


def questions(connection: sqlite3.Connection, number: int) -> Iterator[QuestionMember]:
    rows = connection.execute(
        "SELECT question_id, stratum, subtype FROM set_questions WHERE set_id = ? ORDER BY question_id", (number,)
    )
    return (as_record(QuestionMember, row) for row in rows)


def digest(connection: sqlite3.Connection, items: Iterable[ItemMember], questions: Iterable[QuestionMember]) -> bytes:
    """Return the BLAKE2b-128 hash of a set's members, which doesn't depend on their order and row ids."""
    lines = [_item_line(connection, one) for one in items] + [_question_line(connection, one) for one in questions]
    found = blake2b(digest_size=16)
    for line in sorted(lines):
        found.update(line)
    return found.digest()


def _item_line(connection: sqlite3.Connection, one: ItemMember) -> bytes:
    row = connection.execute(
        "SELECT d.name, q.key, c.key, q.hash, c.hash, qt.text, qt.reference, ct.text FROM completions AS c "
        "JOIN questions AS q ON q.id = c.question_id JOIN datasets AS d ON d.id = q.dataset_id "
        "LEFT JOIN question_text AS qt ON qt.id = q.id LEFT JOIN completion_text AS ct ON ct.id = c.id WHERE c.id = ?",
        (one.item,),
    ).fetchone()
    return msgspec.msgpack.encode((row, one.stratum, one.gold, one.gold_from, one.subtype))


def _question_line(connection: sqlite3.Connection, one: QuestionMember) -> bytes:
    row = connection.execute(
        "SELECT d.name, q.key, q.hash, qt.text, qt.reference FROM questions AS q "
        "JOIN datasets AS d ON d.id = q.dataset_id LEFT JOIN question_text AS qt ON qt.id = q.id WHERE q.id = ?",
        (one.question,),
    ).fetchone()
    return msgspec.msgpack.encode((row, one.stratum, one.subtype))


def _stored(connection: sqlite3.Connection, row: tuple[Any, ...]) -> StoredSet:
    runs = connection.execute("SELECT run_id FROM set_runs WHERE set_id = ? ORDER BY run_id", (row[0],))
    return as_record(StoredSet, (*row[:10], row[10].hex(), *row[11:]), runs=tuple(run for (run,) in runs))
