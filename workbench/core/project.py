"""A project: one database and the settings beside it, as the front ends hold it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.core.begun_notes import BegunNotes
from workbench.core.database.access import why_unwritable
from workbench.core.database.connection import Database
from workbench.core.database.looking import open_to_read
from workbench.core.kept import Kept


class Project:
    """What every service takes first.

    Attributes:
        path: The database file.
        database: The open database.
        kept: Labels that wait until the database's file is back where it was.
        begun: Notes that go with no label yet.
    """

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self.database = database
        self.kept = Kept(path)
        self.begun = BegunNotes(database)

    def require_writable(self) -> None:
        """Make sure that it can be written.

        Raises:
            StoreError: It was opened to be read alone; the message says why.
        """
        self.database.require_writable()

    def stop_reading(self) -> None:
        """End long reads in other threads, whose results nobody waits for any more."""
        self.database.interrupt_readers()

    def close(self) -> None:
        """Close the database's connections."""
        self.database.close()


def open_project(path: Path | str, *, create: bool = False) -> Project:
    """Open a database, or make it when ``create`` is set; one that may not be written is opened to be read.

    Raises:
        StoreError: See ``workbench.core.database.connection.Database``.
    """
    place = Path(path)
    why = why_unwritable(place)
    return Project(place, Database(place, create=create) if why is None else open_to_read(place, why))


@contextmanager
def opened_project(path: Path | str, *, create: bool = False) -> Iterator[Project]:
    """A project for as long as one command takes.

    Raises:
        StoreError: As ``open_project``; also for what the database can't do meanwhile.
    """
    project = open_project(path, create=create)
    try:
        with project.database.explained():
            yield project
    finally:
        project.close()
