"""Imports that were killed or have failed: hidden until whoever adds items next removes what they left."""

from __future__ import annotations

import sqlite3

from msgspec import Struct

from workbench.core.database.connection import Database
from workbench.core.errors import StoreError
from workbench.core.processes import decoded, life_at

_AT_ONCE = 500
"""Most rows in one transaction."""

_QUIET_S = 10.0


class ImportProcess(Struct, frozen=True):
    """An unfinished import's row; process and time tell it from a later one of its id."""

    id: int
    dataset_id: int
    first_completion_id: int
    first_question_id: int
    pid: int | None
    started_at: str
    process: str | None


def discard_dead_imports(database: Database) -> int:
    """Remove what killed imports left behind; returns how many there were.

    Raises:
        StoreError: An import is running in a living process.
    """
    columns = ", ".join(ImportProcess.__struct_fields__)
    rows = database.reader().execute(f"SELECT {columns} FROM imports WHERE state = 'running'").fetchall()
    running = [ImportProcess(*row) for row in rows]
    for left in running:
        if _alive(database, left):
            raise StoreError(
                f"{database.path}: another import is running (process {left.pid}).", "Wait until it has finished."
            )
    for left in running:
        _discard(database, left)
    return len(running)


_GIVEN_UP: set[ImportProcess] = set()
"""Imports of this process that have failed and could not be undone."""


def give_up(database: Database, failed: ImportProcess) -> None:
    """Undo a failed import, or leave it to the next one where that needs room that isn't there: nobody sees it."""
    try:
        try:
            _discard(database, failed)
        except StoreError:
            # The log has room again once the database holds what stands in it.
            database.write_back()
            _discard(database, failed)
    except (StoreError, sqlite3.Error):
        # What the import itself failed of is what is told.
        _GIVEN_UP.add(failed)


def _alive(database: Database, left: ImportProcess) -> bool:
    """Whether the process of an import lives; of one that can't be seen from here, whether it goes on writing."""
    if left in _GIVEN_UP:
        return False
    process = decoded(left.process)
    if process is None:
        # A program of version 8 wrote it.
        import psutil

        return left.pid is not None and psutil.pid_exists(left.pid)
    found = life_at(process, database.path)
    return found == "lives" or (found == "elsewhere" and database.is_written_within(_QUIET_S))


OF_DATASETS = ("imports", "questions", "selection_judges", "suites", "evolutions")
"""Tables that refer to data sets."""
_UNUSED = " AND ".join(f"NOT EXISTS (SELECT 1 FROM {table} WHERE dataset_id = datasets.id)" for table in OF_DATASETS)

_OF_COMPLETIONS = {"code_solutions": "completion_id", "completion_text": "id", "completions": "id"}
_OF_QUESTIONS = {"tests": "question_id", "code_problems": "question_id", "question_text": "id", "questions": "id"}


def _discard(database: Database, left: ImportProcess) -> None:
    for tables, first in (
        (_OF_COMPLETIONS, left.first_completion_id),
        (_OF_QUESTIONS, left.first_question_id),
    ):
        while _discard_some(database, left, tables, first):
            pass
    with database.write() as connection:
        if not _is_there(connection, left):
            return
        connection.execute(
            "DELETE FROM suites WHERE dataset_id = ? AND origin = 'imported' "
            "AND NOT EXISTS (SELECT 1 FROM tests WHERE suite_id = suites.id)",
            (left.dataset_id,),
        )
        connection.execute("DELETE FROM quarantine WHERE import_id = ?", (left.id,))
        connection.execute("DELETE FROM imports WHERE id = ?", (left.id,))
        connection.execute(
            f"DELETE FROM datasets WHERE id = ? AND {_UNUSED}",
            (left.dataset_id,),
        )


def _discard_some(database: Database, left: ImportProcess, tables: dict[str, str], first: int) -> bool:
    """Delete the last rows of these tables by the named columns; the last table's ids are what they refer to."""
    with database.write() as connection:
        last: int = connection.execute(f"SELECT coalesce(max(id), 0) FROM {[*tables][-1]}").fetchone()[0]
        if last < first or not _is_there(connection, left):
            return False
        for table, column in tables.items():
            connection.execute(f"DELETE FROM {table} WHERE {column} >= max(?, ?)", (first, last - _AT_ONCE + 1))
    return True


def _is_there(connection: sqlite3.Connection, left: ImportProcess) -> bool:
    """Whether nobody else has removed it: the ids it had may be those of a living import now."""
    row = connection.execute(
        "SELECT 1 FROM imports WHERE id = ? AND state = 'running' AND pid IS ? AND started_at = ?",
        (left.id, left.pid, left.started_at),
    )
    return row.fetchone() is not None
