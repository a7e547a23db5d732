"""Notes that go with no label yet: stored as drafts, and at hand while they can't be."""

from __future__ import annotations

import threading
from contextlib import suppress

from workbench.core.database import drafts
from workbench.core.database.connection import Database
from workbench.core.errors import StoreError


class BegunNotes:
    """What people have written in this process and what could not be stored of it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[tuple[int, int], str] = {}
        self._lock = threading.Lock()

    def keep(self, person: int, completion: int, note: str) -> None:
        """Store a note, with those that could not be stored before; until then `of` gives it.

        Raises:
            StoreError: It can't be stored now.
        """
        self.remember(person, completion, note)
        self.store()

    def remember(self, person: int, completion: int, note: str) -> None:
        """Have a note at hand, to be stored with the next one."""
        with self._lock:
            self._waiting[person, completion] = note

    def store(self) -> None:
        """Store what waits.

        Raises:
            StoreError: It can't be stored now.
        """
        with self._lock:
            waiting = dict(self._waiting)
        if not waiting:
            return
        with self._database.write("full") as connection:
            for (person, completion), note in waiting.items():
                drafts.keep(connection, person, completion, note)
        with self._lock:
            # What was written meanwhile still waits.
            for one, note in waiting.items():
                if self._waiting.get(one) == note:
                    del self._waiting[one]

    def try_to_store(self) -> None:
        """Store what waits if that can be done."""
        with suppress(StoreError):
            self.store()

    def of(self, person: int, completion: int, stored: str) -> str:
        """The note as it was written last; ``stored`` where none waits."""
        with self._lock:
            return self._waiting.get((person, completion), stored)

    def forget(self, person: int, completion: int) -> None:
        """A label has taken the note along."""
        with self._lock:
            self._waiting.pop((person, completion), None)
