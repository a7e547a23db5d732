"""Drafts of notes, whose label is not stored yet: stored in the database, or kept in memory while that fails."""

from __future__ import annotations

import threading
from contextlib import suppress

from workbench.core.database import people
from workbench.core.database.connection import Database
from workbench.core.errors import StoreError


class NoteDrafts:
    """Drafts of notes written in this process; those that could not be stored yet are kept in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[tuple[int, int], str] = {}
        self._lock = threading.Lock()

    def keep(self, person: int, completion: int, note: str) -> None:
        """Store a note, and all earlier ones that could not be stored; `of` returns it even if storing fails.

        Raises:
            StoreError: The note can't be stored now.
        """
        with self._lock:
            self._waiting[person, completion] = note
        self.store()

    def store(self) -> None:
        """Store the pending notes.

        Raises:
            StoreError: The notes can't be stored now.
        """
        with self._lock:
            waiting = dict(self._waiting)
        if not waiting:
            return
        with self._database.write("full") as connection:
            for (person, completion), note in waiting.items():
                people.keep_draft(connection, person, completion, note)
        with self._lock:
            # Notes written in the meantime are still pending.
            for one, note in waiting.items():
                if self._waiting.get(one) == note:
                    del self._waiting[one]

    def try_to_store(self) -> None:
        with suppress(StoreError):
            self.store()

    def of(self, person: int, completion: int, stored: str) -> str:
        """Return the note that could not be stored yet; ``stored`` if there is none."""
        with self._lock:
            return self._waiting.get((person, completion), stored)

    def forget(self, person: int, completion: int) -> None:
        with self._lock:
            self._waiting.pop((person, completion), None)
