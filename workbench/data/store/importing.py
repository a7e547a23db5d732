"""Import transactions: a first import is one transaction; later imports are many small ones, since people may be
working.

While a later import runs, its process holds a lock on a file next to the database, the state of its row in ``imports``
is ``running``, and the view ``horizon`` hides all rows from its first ids on. If its process dies, the next import
removes its rows.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from workbench.core.code import Record
from workbench.core.database.connection import BUSY_MS, Database
from workbench.core.database.failures import explained, roll_back
from workbench.core.database.schema import build_large_indexes, drop_large_indexes
from workbench.core.database.values import now
from workbench.core.errors import StoreError
from workbench.core.files import take_lock
from workbench.core.item import QuarantinedRow, Refusal
from workbench.data.store import import_rows
from workbench.data.store.import_rows import ImportRows
from workbench.data.store.item_rows import Matched

# -- Killed or failed imports: their rows are hidden until the next import removes them.


_BATCH_ROWS = 500
"""Most rows in one transaction."""


class UnfinishedImport(Struct, frozen=True):
    """The row of an unfinished import."""

    id: int
    dataset_id: int
    first_completion_id: int
    first_question_id: int


def discard_dead_imports(database: Database) -> int:
    """Remove the rows of killed imports; return the number of these imports.

    Raises:
        StoreError: An import is running in a living process.
    """
    if not _unfinished_imports(database):
        return 0
    with _only_import(database):
        running = _unfinished_imports(database)
        for left in running:
            _discard_import(database, left)
    return len(running)


def _unfinished_imports(database: Database) -> list[UnfinishedImport]:
    columns = ", ".join(UnfinishedImport.__struct_fields__)
    rows = database.reader().execute(f"SELECT {columns} FROM imports WHERE state = 'running'").fetchall()
    return [UnfinishedImport(*row) for row in rows]


@contextmanager
def _only_import(database: Database) -> Iterator[None]:
    database.require_writable()
    place = lock_path(database.path)
    try:
        lock = take_lock(place)
    except OSError as error:
        raise StoreError(
            f"{place} can't be locked: {error.strerror}.", "Is the folder writable, and is there room on the disk?"
        ) from error
    if lock is None:
        raise StoreError(f"{database.path}: another import is running.", "Wait for it.")
    with lock:
        yield


def lock_path(database: Path) -> Path:
    """Return the path of the file that the process of an import locks."""
    return Path(f"{os.path.realpath(database)}.import.lock")


def undo_import(database: Database, failed: UnfinishedImport) -> None:
    """Undo a failed import. If the disk is full, its rows stay hidden and the next import removes them."""
    try:
        try:
            _discard_import(database, failed)
        except StoreError:
            # The checkpoint moves the log's contents to the database, which frees disk space.
            database.write_back()
            _discard_import(database, failed)
    except (StoreError, sqlite3.Error):
        # The error of the import is the one to report.
        return


OF_DATASETS = ("imports", "questions", "selection_judges", "suites", "evolutions")
"""Tables that refer to data sets."""
_UNUSED = " AND ".join(f"NOT EXISTS (SELECT 1 FROM {table} WHERE dataset_id = datasets.id)" for table in OF_DATASETS)
_OF_COMPLETIONS = {"code_solutions": "completion_id", "completion_text": "id", "completions": "id"}
_OF_QUESTIONS = {"tests": "question_id", "code_problems": "question_id", "question_text": "id", "questions": "id"}


def _discard_import(database: Database, left: UnfinishedImport) -> None:
    for tables, first in ((_OF_COMPLETIONS, left.first_completion_id), (_OF_QUESTIONS, left.first_question_id)):
        while _discard_some(database, tables, first):
            pass
    with database.write() as connection:
        connection.execute(
            "DELETE FROM suites WHERE dataset_id = ? AND origin = 'imported' "
            "AND NOT EXISTS (SELECT 1 FROM tests WHERE suite_id = suites.id)",
            (left.dataset_id,),
        )
        connection.execute("DELETE FROM quarantine WHERE import_id = ?", (left.id,))
        connection.execute("DELETE FROM imports WHERE id = ?", (left.id,))
        connection.execute(f"DELETE FROM datasets WHERE id = ? AND {_UNUSED}", (left.dataset_id,))


def _discard_some(database: Database, tables: dict[str, str], first: int) -> bool:
    with database.write() as connection:
        last: int = connection.execute(f"SELECT coalesce(max(id), 0) FROM {[*tables][-1]}").fetchone()[0]
        if last < first:
            return False
        for table, column in tables.items():
            connection.execute(f"DELETE FROM {table} WHERE {column} >= max(?, ?)", (first, last - _BATCH_ROWS + 1))
    return True


CHUNK = 500
"""Most rows in one transaction while others may be writing."""
SHOWN = 20
"""Most rejected rows listed in a report."""
_BULK_CHUNK_ROWS = 1_000
_CACHE_KIB = 64 * 1024


class ImportCounts(Struct, kw_only=True):
    read: int = 0
    imported: int = 0
    unchanged: int = 0
    quarantined: int = 0
    mended: int = 0
    repeated: int = 0


class EarlierImport(Struct, frozen=True, kw_only=True):
    """A complete import of the same file with the same mapping of columns.

    Attributes:
        id: Its row id.
    """

    id: int
    counts: ImportCounts
    reasons: dict[str, int]
    quarantine: list[QuarantinedRow]


class ImportKey(Struct, frozen=True, kw_only=True):
    """Identifies an import of a data set, together with the file's hash.

    Attributes:
        mapping: The mapping of columns, as JSON text.
    """

    path: str
    format: str
    mapping: str


class FileImport:
    """An import of one file in progress; created by ``ImportSession.file``.

    Attributes:
        id: Row id of the import.
        counts: Counts of its rows so far.
    """

    def __init__(self, session: ImportSession, import_id: int, rows: ImportRows) -> None:
        self._session = session
        self._rows = rows
        self.id = import_id
        self.counts = ImportCounts()

    def add(self, items: Sequence[Record], refused: Sequence[Refusal]) -> list[Refusal]:
        """Store a batch of records; return all rejections, including records that contradict stored items.

        Args:
            items: The valid records of the batch: problems and solutions for a file of code, otherwise items or
                questions.
        """
        with self._session.transaction() as connection:
            matched = self._rows.add(items)
            refusals = [*refused, *matched.refused]
            import_rows.put(connection, self.id, refusals)
        count(self.counts, matched, len(refused))
        return refusals

    def complete(self, file_hash: bytes) -> None:
        counts = self.counts
        with self._session.transaction() as connection:
            self._rows.complete(connection)
            connection.execute(
                "UPDATE imports SET state = 'complete', file_hash = ?, rows_read = ?, imported = ?, unchanged = ?, "
                "quarantined = ?, finished_at = ? WHERE id = ?",
                (file_hash, counts.read, counts.imported, counts.unchanged, counts.quarantined, now(), self.id),
            )
            if not self._session.bulk:
                update_type_trust(connection)
                counts.mended = import_rows.release(connection, self.id)


class ImportSession:
    """The import of all files of one command into one data set; see ``import_session``.

    Attributes:
        dataset: The data set's name.
        batch: Number of rows to add at once.
    """

    def __init__(self, database: Database, dataset: str, bulk: sqlite3.Connection | None) -> None:
        self.dataset = dataset
        self.batch = CHUNK if bulk is None else _BULK_CHUNK_ROWS
        self._database = database
        self._bulk = bulk
        self._rows: ImportRows | None = None

    @property
    def bulk(self) -> bool:
        return self._bulk is not None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        if self._bulk is not None:
            yield self._bulk
        else:
            with self._database.write() as connection:
                yield connection

    @contextmanager
    def file(self, file: ImportKey) -> Iterator[FileImport]:
        with self.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO datasets (name, created_at) VALUES (?, ?)", (self.dataset, now()))
            (dataset_id,) = connection.execute("SELECT id FROM datasets WHERE name = ?", (self.dataset,)).fetchone()
            if self._rows is None:
                self._rows = ImportRows(connection, dataset_id, indexed=not self.bulk)
            self._rows.begin_file()
            started = _start_import(connection, dataset_id, file, self._rows)
        try:
            yield FileImport(self, started.id, self._rows)
        except BaseException:
            if not self.bulk:
                undo_import(self._database, started)
            raise

    def earlier(self, file: ImportKey, hash_of_file: Callable[[], bytes]) -> EarlierImport | None:
        """Return the earlier complete import of the same bytes with the same mapping; None if there is none.

        Args:
            hash_of_file: Called only if there are imports to compare.
        """
        return earlier_import(self._bulk or self._database.reader(), self.dataset, file, hash_of_file)


@contextmanager
def import_session(database: Database, dataset: str) -> Iterator[ImportSession]:
    """Begin to import: in one transaction if the database is empty, otherwise in small ones.

    Raises:
        StoreError: Another import is running, or the database can't be written.
    """
    with explained(database.path):
        # Earlier reads must not keep the database open: the rollback journal of a first import needs exclusive access.
        database.release_reader()
        with closing(database.open()) as connection:
            if _begin_bulk(connection):
                with _bulk_transaction(database, connection):
                    yield ImportSession(database, dataset, connection)
                return
        with _only_import(database):
            for left in _unfinished_imports(database):
                _discard_import(database, left)
            yield ImportSession(database, dataset, None)


def _begin_bulk(connection: sqlite3.Connection) -> bool:
    if not _is_empty(connection):
        return False
    # References are valid by construction here; the cache saves reads of inner pages.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    # With exclusive access: a rollback journal writes each page once, the log twice. Opening restores the log.
    connection.execute("PRAGMA busy_timeout = 0")
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("BEGIN IMMEDIATE")
    if _is_empty(connection):
        return True
    connection.execute("ROLLBACK")
    return False


@contextmanager
def _bulk_transaction(database: Database, connection: sqlite3.Connection) -> Iterator[None]:
    try:
        drop_large_indexes(connection)
        yield
        build_large_indexes(connection)
        update_type_trust(connection)
        database.require_place()
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
    finally:
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")


def earlier_import(
    connection: sqlite3.Connection, dataset: str, file: ImportKey, hash_of_file: Callable[[], bytes]
) -> EarlierImport | None:
    candidates = (
        "FROM imports AS n JOIN datasets AS d ON d.id = n.dataset_id "
        "WHERE d.name = ? AND n.format = ? AND n.mapping = ? AND n.state = 'complete'"
    )
    values = (dataset, file.format, file.mapping)
    if connection.execute(f"SELECT 1 {candidates} LIMIT 1", values).fetchone() is None:
        return None
    row = connection.execute(
        f"SELECT n.id, n.rows_read, n.imported + n.unchanged, n.quarantined {candidates} AND n.file_hash = ? "
        "ORDER BY n.id DESC LIMIT 1",
        (*values, hash_of_file()),
    ).fetchone()
    if row is None:
        return None
    return EarlierImport(
        id=row[0],
        counts=ImportCounts(read=row[1], unchanged=row[2], quarantined=row[3]),
        reasons=import_rows.reasons(connection, row[0]),
        quarantine=import_rows.first(connection, row[0], SHOWN),
    )


def dry_import_rows(database: Database | None, dataset: str) -> ImportRows:
    if database is None:
        return ImportRows(None, None, dry=True)
    reader = database.reader()
    row = reader.execute("SELECT id FROM datasets WHERE name = ?", (dataset,)).fetchone()
    return ImportRows(reader, row[0] if row else None, dry=True)


def count(counts: ImportCounts, matched: Matched, refused: int) -> None:
    quarantined = refused + len(matched.refused)
    counts.read += matched.imported + matched.unchanged + quarantined
    counts.imported += matched.imported
    counts.unchanged += matched.unchanged
    counts.repeated += matched.repeated
    counts.quarantined += quarantined


def update_type_trust(connection: sqlite3.Connection) -> None:
    """Mark the types of data sets as trusted if every question (except code) was imported with a subtype, else as
    labelled.
    """
    wanted = (
        "CASE WHEN EXISTS (SELECT 1 FROM questions AS q WHERE q.dataset_id = datasets.id AND q.subtype IS NULL AND "
        "NOT EXISTS (SELECT 1 FROM code_problems AS p WHERE p.question_id = q.id)) THEN 'labelled' ELSE 'trusted' END"
    )
    connection.execute(f"UPDATE datasets SET types = {wanted} WHERE types <> {wanted}")


def _start_import(
    connection: sqlite3.Connection, dataset_id: int, file: ImportKey, rows: ImportRows
) -> UnfinishedImport:
    first_ids = rows.first_ids
    cursor = connection.execute(
        "INSERT INTO imports (dataset_id, path, format, mapping, state, first_completion_id, first_question_id, "
        "pid, started_at) VALUES (?, ?, ?, ?, 'running', ?, ?, ?, ?)",
        (dataset_id, file.path, file.format, file.mapping, *first_ids, os.getpid(), now()),
    )
    return UnfinishedImport(int(cursor.lastrowid or 0), dataset_id, *first_ids)


def _is_empty(connection: sqlite3.Connection) -> bool:
    tables = ("completions", "questions", "imports", "label_events", "runs")
    return not any(connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() for table in tables)
