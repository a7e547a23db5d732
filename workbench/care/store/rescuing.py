"""Write every row of a damaged database that SQLite can read into a new one, labels first; and prepare backups."""

from __future__ import annotations

import shlex
import sqlite3
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from workbench.core.database import events, hashes, journal, migrations
from workbench.core.database.backup import check
from workbench.core.database.failures import explained
from workbench.core.database.journal import LabelJournal
from workbench.core.errors import Command, StoreError
from workbench.core.health import TableRescued
from workbench.core.progress import stepping
from workbench.interchange.store.archiving import PARTS

# -- Reading a damaged file table by table, so that one error does not hide others.


Connection = sqlite3.Connection
Value = str | int | float | bytes | None
_DERIVED: Final = frozenset({"task_states", "item_states", "changes"})
"""Tables that can be derived, describe the file itself, or are recomputed: losing them loses nothing."""
_IDS_BEYOND: Final = 100_000
"""Row ids tried after the last known one."""
_MIN_ROW_BYTES: Final = 16


class TableShape(NamedTuple):
    """A table of the program's schema.

    Attributes:
        order: The columns that order its rows: its row ids, or its key if it has none.
    """

    table: str
    names: list[str]
    order: list[str]

    @property
    def by_rowid(self) -> bool:
        return self.order == ["rowid"]


def _shapes() -> dict[str, TableShape]:
    with closing(migrations.template().in_memory()) as connection:
        asked = "SELECT name, wr FROM pragma_table_list WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
        return {name: _shape(connection, name, keyed=keyed) for name, keyed in connection.execute(asked).fetchall()}


def _shape(connection: Connection, table: str, *, keyed: bool) -> TableShape:
    found = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    key = sorted((row[5], row[1]) for row in found if row[5])
    return TableShape(table, [row[1] for row in found], [name for _, name in key] if keyed else ["rowid"])


def _may_lack_rows(source: Connection, table: str) -> bool:
    text = ""
    with suppress(sqlite3.DatabaseError):
        text = str(source.execute(f"PRAGMA integrity_check('{table}')").fetchall())
    # An index that has other rows than the table, and lacks none of it, has some that the table has lost.
    return "wrong # of entries" in text and "missing from index" not in text


def _readable_rows(source: Connection, shape: TableShape, hurt: set[str]) -> Iterator[list[Value]]:
    """Yield a table's rows as far as they can be read, some of them twice; add the table to ``hurt`` if others may be
    lost.
    """
    there = set()
    with suppress(sqlite3.DatabaseError):
        there = {row[1] for row in source.execute(f'PRAGMA table_info("{shape.table}")')}
    if not there:
        hurt.add(shape.table)
        return
    what = ", ".join(f'"{name}"' if name in there else "NULL" for name in shape.names)
    asked = f'SELECT {"rowid" if shape.by_rowid else "0"}, {what} FROM "{shape.table}" NOT INDEXED'
    before = 0
    try:
        for rowid, *values in _each(source, f"{asked} ORDER BY {', '.join(shape.order)}"):
            # A row out of order is on a page of another table or place.
            if shape.by_rowid and rowid <= before:
                raise sqlite3.DatabaseError
            before = rowid
            yield values
    except sqlite3.DatabaseError:
        hurt.add(shape.table)
        if shape.by_rowid:
            yield from _rows_by_id(source, shape.table, asked, before)
            return
        with suppress(sqlite3.DatabaseError):
            for _, *values in _each(source, f"{asked} ORDER BY {', '.join(f'{name} DESC' for name in shape.order)}"):
                yield values


def _each(source: Connection, asked: str) -> Iterator[tuple[Any, ...]]:
    number = 0
    try:
        for row in source.execute(asked):
            number += 1
            yield row
    except sqlite3.DatabaseError:
        # Python reads a row ahead, and loses the last one before the damage.
        yield from source.execute(f"{asked} LIMIT 1 OFFSET {number}")
        raise


def _rows_by_id(source: Connection, table: str, asked: str, last: int) -> Iterator[list[Value]]:
    with suppress(sqlite3.DatabaseError):
        asked_room = f"SELECT page_count * page_size / {_MIN_ROW_BYTES} FROM pragma_page_count, pragma_page_size"
        (room,) = source.execute(asked_room).fetchone()
        # A damaged id may be huge, but the file has room for only so many rows.
        last = max(last, min(room, *source.execute(f'SELECT coalesce(max(rowid), 0) FROM "{table}"').fetchone()))
    number = 0
    while number <= last + _IDS_BEYOND:
        number += 1
        with suppress(sqlite3.DatabaseError):
            row = source.execute(f"{asked} WHERE rowid = ?", (number,)).fetchone()
            if row is not None and row[0] == number:
                last = max(last, number)
                yield row[1:]


# -- Placeholders for lost rows, so that rows that refer to them are kept, above all labels.


TABLE: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("rescue.toml").read_text(encoding="utf-8")
)
_PLACEHOLDERS: Final[dict[str, dict[str, Value]]] = TABLE["placeholders"]
"""Table -> values of a placeholder row; its own id is inserted."""
_BLOBS: Final = ("hash", "body")


def insert_placeholders(connection: Connection, table: str, ids: Iterable[int]) -> int:
    """Insert placeholder rows for lost rows; return how many."""
    beyond: int = connection.execute("SELECT coalesce(max(id), 0) FROM questions").fetchone()[0]
    # The question of a lost completion is unknown, so it gets a new one.
    return sum(
        _insert_row(connection, table, number, {"question_id": beyond + number} if table == "completions" else {})
        for number in ids
    )


def _insert_row(connection: Connection, table: str, number: int, known: dict[str, Value]) -> int:
    row = {name: _fill_in_id(name, value, number) for name, value in _PLACEHOLDERS[table].items()}
    row |= known | {"id": number}
    names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" * len(row))
    return connection.execute(f'INSERT OR IGNORE INTO "{table}" ({names}) VALUES ({marks})', [*row.values()]).rowcount


def _fill_in_id(name: str, value: Value, number: int) -> Value:
    filled = value.replace("{id}", str(number)) if isinstance(value, str) else value
    return filled.encode() if name in _BLOBS and isinstance(filled, str) else filled


# -- The new database.


_FIRST: Final = (
    "annotators",
    "label_events",
    "reviews",
    "curation",
    "test_exclusions",
    "guidelines",
    "guideline_readings",
)
_LEFT: Final = frozenset({"changes", "task_states", "item_states"})
"""Tables that are recreated, derived, or about an active process."""
_TEXTS: Final = {"question_text": "questions", "completion_text": "completions"}
_MAX_ROUNDS: Final = 6


class RescueOutcome(NamedTuple):
    tables: list[TableRescued]
    changed_questions: list[int]
    changed_items: list[int]
    changed_labels: list[int]
    from_journal: int
    foreign: list[str]
    keeps_secret: bool


def empty_source() -> Connection:
    """Return a source without any row, in place of a database of which nothing is readable."""
    return sqlite3.connect(":memory:")


class Rescue:
    """Writes the readable part of a file into a new database.

    Args:
        source: The damaged database, opened read-only.
        labels: Its journal.
    """

    def __init__(self, source: Connection, labels: LabelJournal) -> None:
        self._labels = labels
        self._source, self._shapes = source, _shapes()
        self._rows: dict[str, int] = defaultdict(int)
        self._stand_ins: dict[str, int] = defaultdict(int)
        self._dropped: dict[str, int] = defaultdict(int)
        self._hurt: set[str] = set()
        names = dict.fromkeys((*_FIRST, *(table for part in PARTS for table in part.tables), *self._shapes))
        self._tables = [name for name in names if name in self._shapes and name not in _LEFT]

    def write(self, path: Path) -> RescueOutcome:
        """Create the database at ``path``, in the newest version of the tables.

        Raises:
            StoreError: The disk is full.
        """
        with explained(path):
            migrations.make(path)
            with closing(sqlite3.connect(path, isolation_level=None)) as connection, connection:
                for pragma in ("foreign_keys = OFF", "synchronous = OFF", "cache_size = -65536"):
                    connection.execute(f"PRAGMA {pragma}")
                connection.execute("BEGIN IMMEDIATE")
                later = _without_indexes_and_triggers(connection)
                keeps_secret = self._copy_tables(connection)
                from_journal = self._add_journal(connection)
                self._complete_references(connection)
                changed = self._correct_hashes(connection)
                for statement in later:
                    connection.execute(statement)
        ours = {*self._shapes, *migrations.DROPPED, "_sqlite_migrations"}
        there = {str(name) for (name,) in self._source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        foreign = sorted(name for name in there - ours if not name.startswith("sqlite_"))
        return RescueOutcome(self._table_reports(), *changed, from_journal, foreign, keeps_secret)

    def _copy_tables(self, connection: Connection) -> bool:
        own = connection.execute("SELECT * FROM secrets").fetchall()
        connection.execute("DELETE FROM secrets")
        for table in stepping(self._tables, "writing tables", "tables"):
            self._copy_table(connection, table)
            if _may_lack_rows(self._source, table):
                self._hurt.add(table)
        if not connection.execute("SELECT 1 FROM secrets").fetchone():
            connection.executemany("INSERT INTO secrets VALUES (?, ?)", own)
            return False
        return True

    def _copy_table(self, connection: Connection, table: str) -> None:
        names = self._shapes[table].names
        columns = ", ".join(f'"{name}"' for name in names)
        statement = f'INSERT INTO "{table}" ({columns}) VALUES ({", ".join("?" * len(names))})'
        for row in _readable_rows(self._source, self._shapes[table], self._hurt):
            try:
                connection.execute(statement, row)
                self._rows[table] += 1
            except sqlite3.IntegrityError:
                # A value breaks a rule of its column, or the row was read before.
                self._hurt.add(table)

    def _add_journal(self, connection: Connection) -> int:
        """Add the events that only the journal has as given, and the items and people that any of its events names."""
        changed = {uuid: number for number, uuid in self._changed_events(connection) if uuid in self._labels.lines}
        connection.executemany("DELETE FROM label_events WHERE uuid = ?", [(uuid,) for uuid in changed])
        known, added = events.uuids(connection), 0
        for uuid, line in self._labels.lines.items():
            is_type, asked = line.task == "type", "SELECT question_id FROM completions WHERE id = ? AND key = ?"
            # A lost question or data set gets the id by which its completion or question refers to it.
            number = line.subject if is_type else _first(connection, asked, line.subject, line.completion_id)
            asked = "SELECT dataset_id FROM questions WHERE id = ? AND key = ?"
            dataset = _first(connection, asked, number, line.question_id)
            dataset = self._find_or_insert(connection, "datasets", dataset, {"name": line.dataset})
            question: dict[str, Value] = {"dataset_id": dataset, "key": line.question_id}
            subject = self._find_or_insert(connection, "questions", number, question)
            if not is_type:
                item: dict[str, Value] = {"question_id": subject, "key": line.completion_id}
                subject = self._find_or_insert(connection, "completions", line.subject, item)
            role = "coordinator" if line.role == "coordinator" else "annotator"
            person = self._find_or_insert(connection, "annotators", line.person, {"name": line.annotator}, role=role)
            if uuid not in known:
                event = journal.event_of(line, subject=subject, annotator=person, merged=line.merged)
                events.append(connection, event)
                connection.execute(
                    "UPDATE label_events SET id = coalesce(?, id) WHERE uuid = ?", (changed.get(uuid), uuid)
                )
                added += 1
        self._rows["label_events"] += added - len(changed)
        if self._labels.lines and not self._labels.unreadable:
            self._hurt.discard("label_events")
        return added

    def _changed_events(self, connection: Connection) -> list[tuple[int, str]]:
        asked = "SELECT id, uuid FROM label_events WHERE id = ?"
        return [connection.execute(asked, (one.id,)).fetchone() for one in list(events.changed_events(connection))]

    def _find_or_insert(
        self, connection: Connection, table: str, wanted: int, key: Mapping[str, Value], **other: Value
    ) -> int:
        """Return the id of the row with this key; a new one gets the wanted id, if that is free."""
        where = " AND ".join(f'"{name}" = ?' for name in key)
        found = connection.execute(f'SELECT id FROM "{table}" WHERE {where}', [*key.values()]).fetchone()
        if found is None:
            if connection.execute(f'SELECT 1 FROM "{table}" WHERE id = ?', (wanted,)).fetchone():
                wanted = _first(connection, f'SELECT max(id) + 1 FROM "{table}"')
            self._stand_ins[table] += _insert_row(connection, table, wanted, {**key, **other})
            return wanted
        number: int = found[0]
        return number

    def _complete_references(self, connection: Connection) -> None:
        for _ in range(_MAX_ROUNDS):
            lacking = self._missing_ids(connection)
            if not sum(self._insert_placeholders(connection, table, ids) for table, ids in lacking.items()):
                break
        for table in self._tables:
            self._drop_dangling(connection, table)
        self._dropped["assignments"] += connection.execute(f"DELETE FROM assignments WHERE {_ABOUT_NOTHING}").rowcount

    def _missing_ids(self, connection: Connection) -> dict[str, set[int]]:
        found: dict[str, set[int]] = defaultdict(set)
        for table in self._tables:
            for parent, pairs in _foreign_keys(connection, table):
                if len(pairs) == 1 and pairs[0][1] == "id" and parent in _PLACEHOLDERS:
                    column = pairs[0][0]
                    found[parent] |= _select_ids(
                        connection,
                        f'SELECT DISTINCT "{column}" FROM "{table}" WHERE "{column}" IS NOT NULL '
                        f'AND "{column}" NOT IN (SELECT id FROM "{parent}")',
                    )
        for texts, parent in _TEXTS.items():
            found[texts] |= _select_ids(connection, f"SELECT id FROM {parent} WHERE id NOT IN (SELECT id FROM {texts})")
        for task, parent in (("type", "questions"), ("correctness", "completions")):
            found[parent] |= _select_ids(
                connection,
                f"SELECT DISTINCT subject FROM label_events WHERE task = '{task}' "
                f"AND subject NOT IN (SELECT id FROM {parent})",
            )
        return found

    def _insert_placeholders(self, connection: Connection, table: str, ids: Iterable[int]) -> int:
        made = insert_placeholders(connection, table, sorted(ids))
        self._stand_ins[table] += made
        return made

    def _drop_dangling(self, connection: Connection, table: str) -> None:
        for parent, pairs in _foreign_keys(connection, table):
            given = " AND ".join(f'"{table}"."{own}" IS NOT NULL' for own, _ in pairs)
            same = " AND ".join(f'p."{other}" = "{table}"."{own}"' for own, other in pairs)
            dropped = connection.execute(
                f'DELETE FROM "{table}" WHERE {given} AND NOT EXISTS (SELECT 1 FROM "{parent}" AS p WHERE {same})'
            ).rowcount
            self._dropped[table] += dropped

    def _correct_hashes(self, connection: Connection) -> tuple[list[int], list[int], list[int]]:
        for column in ("seen", "tags"):
            connection.execute(f"UPDATE label_events SET {column} = NULL WHERE NOT json_valid({column})")
        changed = []
        for table, column, found in (
            ("questions", "hash", list(hashes.changed_questions(connection))),
            ("completions", "hash", list(hashes.changed_completions(connection))),
            ("label_events", "digest", list(events.changed_events(connection))),
        ):
            connection.executemany(
                f"UPDATE {table} SET {column} = ? WHERE id = ?", [(one.hash, one.id) for one in found if one.hash]
            )
            changed.append([one.id for one in found])
        # SQLite's own length ends at a NUL.
        connection.create_function("characters_of", 1, len)
        connection.execute(
            "UPDATE completions SET characters = characters_of(t.text) FROM completion_text AS t "
            "WHERE t.id = completions.id AND characters IS NOT characters_of(t.text)"
        )
        return changed[0], changed[1], changed[2]

    def _table_reports(self) -> list[TableRescued]:
        found = []
        for table in self._tables:
            missing = None if table in self._hurt else 0
            if (parent := _TEXTS.get(table)) is not None:
                # Each question and item that was there had a text; one that only a damaged row names had none.
                missing = self._stand_ins[table] - (0 if parent in self._hurt else self._stand_ins[parent])
            found.append(
                TableRescued(
                    table=table,
                    rows=self._rows[table] - self._dropped[table],
                    missing=missing,
                    stand_ins=self._stand_ins[table],
                    dropped=self._dropped[table],
                    is_derived=table in _DERIVED,
                )
            )
        return found


def _first(connection: Connection, asked: str, *given: Value) -> int:
    row = connection.execute(asked, given).fetchone()
    return 1 if row is None else int(row[0])


_ABOUT_NOTHING: Final = """CASE task WHEN 'type' THEN subject NOT IN (SELECT id FROM questions)
    ELSE subject NOT IN (SELECT id FROM completions) END"""


def _without_indexes_and_triggers(connection: Connection) -> list[str]:
    """Drop all but the unique indexes, and all triggers; return the statements that recreate them."""
    found = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE type = 'trigger' OR sql LIKE 'CREATE INDEX%'"
    ).fetchall()
    for kind, name, _ in found:
        connection.execute(f'DROP {kind} "{name}"')
    return [statement for _, _, statement in found]


def _foreign_keys(connection: Connection, table: str) -> list[tuple[str, list[tuple[str, str]]]]:
    found: dict[int, tuple[str, list[tuple[str, str]]]] = {}
    for number, _, parent, own, other, *_ in connection.execute(f'PRAGMA foreign_key_list("{table}")').fetchall():
        found.setdefault(number, (parent, []))[1].append((own, other))
    return list(found.values())


def _select_ids(connection: Connection, statement: str) -> set[int]:
    return {row[0] for row in connection.execute(statement)}


# -- A copy of a backup becomes a database of its own: whole, checked, of this program's version.


_MAGIC = b"SQLite format 3\0"


def is_database(path: Path) -> bool:
    """Return whether a file begins like a SQLite database; an empty file counts as one, too."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) in (_MAGIC, b"")
    except OSError:
        return False


class Prepared(NamedTuple):
    """A copy of a backup that can take a database's place.

    Attributes:
        version: The version of the backup's tables before the migration.
        lacking: Number of its label events that the journal of the database lacks.
        beyond: Number of label events of the journal that it lacks.
    """

    version: int
    lacking: int
    beyond: int


def prepare_backup(copy: Path, source: Path, target: Path) -> Prepared:
    """Check a copy of a backup, apply its own log, and migrate it; no other process has it open.

    Args:
        source: The file that was copied, for messages.
        target: The database whose place it takes.

    Raises:
        SchemaError: The tables, views or triggers differ from this program's.
        StoreError: The backup is not a workbench database, is damaged, or was written by a newer version.
    """
    with explained(source):
        with closing(sqlite3.connect(copy, isolation_level=None, check_same_thread=False)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            version = migrations.checked_version(connection, source)
            if version == migrations.latest_version():
                migrations.require_ours(connection, source)
            dangling = connection.execute("PRAGMA foreign_key_check").fetchone()
        try:
            if dangling is not None:
                raise StoreError(f"{copy}: a row of {dangling[0]} refers to a row that is missing.")
            migrations.bring_up_to_date(copy, keep_copy=False)
            migrations.detach_copy(copy)
            check(copy)
        except StoreError as error:
            raise StoreError(
                error.message.replace(str(copy), str(source)),
                "Use an older backup, or recover what can be read",
                command=Command(f"rescue {shlex.quote(str(source))} OUT"),
            ) from error
    with closing(sqlite3.connect(copy)) as connection:
        return Prepared(version, *journal.differences(connection, target))
