"""A project: one database and the settings beside it, as the front ends hold it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.services.labelling.kept import Kept
from workbench.store.connection import Database
from workbench.store.failures import explained


class Project:
    """What every service takes first.

    Attributes:
        path: The database file.
        database: The open database.
        kept: Labels that wait until the database's file is back where it was.
    """

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self.database = database
        self.kept = Kept(path)

    def stop_reading(self) -> None:
        """End long reads in other threads, whose results nobody waits for any more."""
        self.database.interrupt_readers()

    def close(self) -> None:
        """Close the database's connections."""
        self.database.close()


def open_project(path: Path | str, *, create: bool = False) -> Project:
    """Open a database, or make it when ``create`` is set.

    Raises:
        StoreError: See ``workbench.store.connection.Database``.
    """
    place = Path(path)
    return Project(place, Database(place, create=create))


@contextmanager
def opened_project(path: Path | str, *, create: bool = False) -> Iterator[Project]:
    """A project for as long as one command takes.

    Raises:
        StoreError: As ``open_project``; also for what the database can't do meanwhile.
    """
    project = open_project(path, create=create)
    try:
        with explained(project.path):
            yield project
    finally:
        project.close()
