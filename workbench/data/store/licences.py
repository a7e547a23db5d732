"""Licences of sources: each source has one licence, that of the first import which names one."""

from __future__ import annotations

import sqlite3


class Licences:
    """The licences that the rows of one import name for their sources; stored when the import is complete.

    Args:
        connection: The database with stored licences; None if nothing is stored yet (a dry run).
    """

    def __init__(self, connection: sqlite3.Connection | None) -> None:
        self._connection = connection
        self._known: dict[str, str | None] = {}
        self._new: dict[str, str] = {}

    def contradicted(self, source: str | None, licence: str | None) -> str | None:
        """Return a source's stored licence if a row names another one; None otherwise."""
        if source is None or licence is None:
            return None
        stands = self._new.get(source) or self._stored_licence(source)
        return None if stands in (None, licence) else stands

    def note(self, source: str | None, licence: str | None) -> None:
        if source is not None and licence is not None and self._stored_licence(source) is None:
            self._new[source] = licence

    def complete(self, connection: sqlite3.Connection) -> None:
        connection.executemany(
            "UPDATE sources SET licence = ? WHERE name = ? AND licence IS NULL",
            [(licence, source) for source, licence in self._new.items()],
        )

    def _stored_licence(self, source: str) -> str | None:
        if source not in self._known:
            row: tuple[str | None] | None = None
            if self._connection is not None:
                row = self._connection.execute("SELECT licence FROM sources WHERE name = ?", (source,)).fetchone()
            self._known[source] = row[0] if row else None
        return self._known[source]


def known(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, licence FROM sources WHERE licence IS NOT NULL ORDER BY name"))


def put(connection: sqlite3.Connection, source: str, licence: str | None) -> bool:
    return connection.execute("UPDATE sources SET licence = ? WHERE name = ?", (licence, source)).rowcount > 0
