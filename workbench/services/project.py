"""A project: one database and the settings beside it, as the front ends hold it."""

from __future__ import annotations

from pathlib import Path

from workbench.store.connection import Database


class Project:
    """What every service takes first.

    Attributes:
        path: The database file.
        database: The open database.
    """

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self.database = database

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
