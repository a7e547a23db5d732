"""The full-text index: FTS5 with trigrams, in a separate file next to the database.

``p.db.columns/search.db`` is derived from the texts and may be deleted at any time. Because it is a separate file, it
does not lock the database, is not part of its copies, bundles or archives, and adds no requirement on the SQLite
version.

It stores neither texts nor positions, and so needs 0.4 bytes per byte of text instead of 2.3. It returns candidates,
which are checked against the stored texts, so FTS5's case folding and syntax don't affect results. Stored texts never
change, and new ones have higher row ids: the index covers each table up to a row id, and a search reads all rows after
it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Literal, NamedTuple

from workbench.core.database import changes
from workbench.core.database.changes import ChangeMark
from workbench.core.database.selection import VISIBLE, VISIBLE_QUESTION
from workbench.core.errors import StoreError
from workbench.core.files import PRIVATE, cache_folder, require_own

NAME: Final = "search.db"
Indexed = Literal["questions", "completions"]
LEAST: Final = 3
"""Number of characters of a trigram; shorter search texts can't be looked up."""
_MAX_TRIGRAMS: Final = 64
"""Most trigrams in one query; FTS5 accepts 256."""
_MAX_ROWS: Final = 1_000
_MAX_CHARACTERS: Final = 2_000_000
"""Most rows, and about the most characters of texts, in one transaction."""
_ALWAYS: Final = "content='', columnsize=0, detail='none', tokenize='trigram'"
_SCHEMA: Final = {
    "questions": f"CREATE VIRTUAL TABLE questions USING fts5(key, text, reference, {_ALWAYS})",
    "completions": f"CREATE VIRTUAL TABLE completions USING fts5(key, text, {_ALWAYS})",
    "progress": """CREATE TABLE progress (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL,
        token BLOB NOT NULL, questions INTEGER NOT NULL, completions INTEGER NOT NULL)""",
}
_TEXTS: Final = {
    "questions": "SELECT q.id, q.key, t.text, t.reference FROM questions AS q JOIN question_text AS t ON t.id = q.id "
    f"WHERE q.id > ? AND {VISIBLE_QUESTION} ORDER BY q.id LIMIT {_MAX_ROWS}",
    "completions": "SELECT c.id, c.key, t.text FROM completions AS c JOIN completion_text AS t ON t.id = c.id "
    f"WHERE c.id > ? AND {VISIBLE} ORDER BY c.id LIMIT {_MAX_ROWS}",
}
_INSERTS: Final = {
    "questions": "INSERT INTO questions (rowid, key, text, reference) VALUES (?, ?, ?, ?)",
    "completions": "INSERT INTO completions (rowid, key, text) VALUES (?, ?, ?)",
}


class TextIndex(NamedTuple):
    """An open full-text index, and the rows that it covers.

    Attributes:
        questions: The last row id of a question in the index; 0 if there is no usable index.
        completions: The last row id of a completion in the index; 0 if there is no usable index.
    """

    connection: sqlite3.Connection | None = None
    questions: int = 0
    completions: int = 0

    def candidates(self, table: Indexed, search: str, after: int = 0) -> Iterator[int]:
        """Yield the row ids, in order, of rows in the index that may contain the text: of all that do, and some that
        don't.

        Raises:
            DamagedIndexError: The index can't be read.
        """
        if self.connection is not None:
            sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid > ? ORDER BY rowid"
            try:
                for (row,) in self.connection.execute(sql, (_trigrams(search), after)):
                    yield row
            except sqlite3.Error as error:
                raise DamagedIndexError from error


class DamagedIndexError(Exception):
    """The index can't be read; searches then work without it, and it is rebuilt."""


NO_INDEX: Final = TextIndex()


def _trigrams(search: str) -> str:
    found = list(dict.fromkeys(search[at : at + LEAST] for at in range(len(search) - LEAST + 1)))
    some = found[:: -(-len(found) // _MAX_TRIGRAMS)]
    return " ".join('"' + trigram.replace('"', '""') + '"' for trigram in some)


def path(database: Path) -> Path:
    return cache_folder(database) / NAME


def can_search(search: str) -> bool:
    return len(search) >= LEAST and "\0" not in search and not any("\ud800" <= letter <= "\udfff" for letter in search)


@contextmanager
def reading(database: Path, reader: sqlite3.Connection) -> Iterator[TextIndex]:
    connection = _open_readonly(path(database))
    if connection is None:
        yield NO_INDEX
        return
    with closing(connection):
        through = _covered_rows(connection, reader)
        yield NO_INDEX if through is None else TextIndex(connection, *through)


def _open_readonly(place: Path) -> sqlite3.Connection | None:
    if not place.exists():
        return None
    try:
        connection = _connect(place, "rw")
    except (sqlite3.Error, OSError):
        return None
    connection.execute("PRAGMA query_only = ON")
    connection.execute("BEGIN DEFERRED")
    return connection


def last_rows(reader: sqlite3.Connection) -> tuple[int, int]:
    questions, completions = (
        reader.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0]
        for table in ("questions", "completions")
    )
    return questions, completions


def extend(database: Path, reader: sqlite3.Connection) -> tuple[int, int] | None:
    """Add some more rows to the index, which is created if needed; continues where a killed process stopped.

    Returns:
        The last row ids of questions and completions in the index; None if it was complete already.

    Raises:
        StoreError: No index can be stored here; the message says why.
    """
    place = path(database)
    try:
        place.parent.mkdir(mode=0o700, exist_ok=True)
        require_own(place.parent, folder=True)
        try:
            return _extend_file(place, reader)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            # The index is damaged.
            remove(database)
            return _extend_file(place, reader)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"No index of the texts can be kept in {place}: {error}.", "Searches read every text instead."
        ) from error


def remove(database: Path) -> None:
    place = path(database)
    for end in ("", "-wal", "-shm"):
        place.with_name(place.name + end).unlink(missing_ok=True)


def _connect(place: Path, mode: Literal["rw", "rwc"]) -> sqlite3.Connection:
    require_own(place)
    connection = sqlite3.connect(f"{place.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    try:
        for pragma in ("trusted_schema = OFF", "journal_mode = WAL", "synchronous = NORMAL"):
            connection.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _extend_file(place: Path, reader: sqlite3.Connection) -> tuple[int, int] | None:
    with closing(_connect(place, "rwc")) as connection:
        place.chmod(PRIVATE)
        connection.execute("BEGIN IMMEDIATE")
        reader.execute("BEGIN DEFERRED")
        try:
            found = _add_rows(connection, reader)
        finally:
            reader.execute("COMMIT")
        connection.execute("COMMIT")
        return found


def _add_rows(connection: sqlite3.Connection, reader: sqlite3.Connection) -> tuple[int, int] | None:
    through = dict(zip(_TEXTS, _covered_rows(connection, reader) or _create_tables(connection), strict=True))
    connection.execute("UPDATE progress SET version = ?, token = ?", changes.mark(reader))
    for table, last in through.items():
        if rows := _limited_rows(reader.execute(_TEXTS[table], (last,))):
            connection.executemany(_INSERTS[table], rows)
            through[table] = rows[-1][0]
            connection.execute(f"UPDATE progress SET {table} = ?", (through[table],))
            return through["questions"], through["completions"]
    return None


def _limited_rows(found: Iterable[tuple[int, *tuple[str, ...]]]) -> list[tuple[int, *tuple[str, ...]]]:
    rows, characters = [], 0
    for row in found:
        rows.append(row)
        characters += sum(map(len, row[1:]))
        if characters > _MAX_CHARACTERS:
            break
    return rows


def _covered_rows(connection: sqlite3.Connection, reader: sqlite3.Connection) -> tuple[int, int] | None:
    try:
        made = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE name IN (?, ?, ?)", [*_SCHEMA]))
        if made != _SCHEMA:
            return None
        row = connection.execute("SELECT version, token, questions, completions FROM progress").fetchone()
    except sqlite3.Error:
        return None
    if row is None or not changes.has_mark(reader, ChangeMark(row[0], row[1])):
        return None
    return row[2], row[3]


def _create_tables(connection: sqlite3.Connection) -> tuple[int, int]:
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if name in _SCHEMA:
            connection.execute(f"DROP TABLE {name}")
    for sql in _SCHEMA.values():
        connection.execute(sql)
    connection.execute("INSERT INTO progress VALUES (1, 0, x'', 0, 0)")
    return 0, 0
