"""Which version of the guidelines a person goes by: what their labels name.

It is the newest they have read in the app, have written, or have labelled under before; of one who has done none of
these, the one in force when they begin. A version put in force meanwhile is news to them until they have read it.
"""

from __future__ import annotations

import threading

from workbench.core.database import people
from workbench.core.database.connection import Database
from workbench.labelling import labelling_guidelines
from workbench.labelling.guidelines import with_news
from workbench.labelling.store import guidelines as store


class Acquainted:
    """What one person knows of the guidelines; every method may be called from any thread."""

    def __init__(self, database: Database, person: int) -> None:
        self._database = database
        self._person = person
        self._worked_under: set[str] | None = None
        self._at_first = labelling_guidelines.version_in_force(database.reader())
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        """The version the person goes by."""
        reader = self._database.reader()
        with self._lock:
            if self._worked_under is None:
                self._worked_under = store.worked_under(reader, self._person)
        known = self._worked_under | store.read_by(reader, self._person)
        return labelling_guidelines.newest(reader, among=known) or self._at_first

    def read(self, version: str) -> None:
        """The person has had this version before them; from now on they go by it."""
        with self._database.write("full") as connection:
            store.note_reading(connection, self._person, version, people.now())

    def text(self) -> labelling_guidelines.Guideline:
        """The guidelines in force; for who goes by others, what is new stands before them."""
        found = {one.version: one.text for one in labelling_guidelines.every(self._database.reader())}
        version, known = next(reversed(found)), self.version
        text = found[version]
        news = known != version and known in found
        return labelling_guidelines.Guideline(
            version=version, text=with_news(version, found[known], text) if news else text
        )

    def in_force(self) -> str:
        """The newest version."""
        return labelling_guidelines.version_in_force(self._database.reader())

    def news(self) -> str:
        """The version in force where the person goes by another one; empty where they know it."""
        in_force = self.in_force()
        return "" if in_force == self.version else in_force
