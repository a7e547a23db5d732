"""Annotators."""

from __future__ import annotations

import sqlite3
import unicodedata

from msgspec import Struct

from workbench.errors import UsageError
from workbench.store.clock import now as now
from workbench.store.connection import Database

Connection = sqlite3.Connection


class Annotator(Struct, frozen=True, kw_only=True):
    """A person who labels, adjudicates or coordinates."""

    id: int
    name: str
    role: str


def tidy(name: str) -> str:
    """The name as it is stored: without spaces around it, and accents composed, so that one person is one."""
    return unicodedata.normalize("NFC", name.strip())


def add(connection: sqlite3.Connection, name: str, role: str = "annotator") -> int:
    """Add a person unless the name is there; returns the row id.

    Raises:
        UsageError: The name is empty, longer than 100 characters, or has control characters.
    """
    name = tidy(name)
    if not name or len(name) > 100 or not name.isprintable():
        raise UsageError(f"{name!r} is no name for an annotator.", "Use 1 to 100 printable characters.")
    connection.execute(
        "INSERT OR IGNORE INTO annotators (name, role, created_at) VALUES (?, ?, ?)", (name, role, now())
    )
    row: tuple[int] = connection.execute("SELECT id FROM annotators WHERE name = ?", (name,)).fetchone()
    return row[0]


def find(database: Database, name: str) -> Annotator:
    """The person of that name.

    Raises:
        UsageError: There is none; the message lists who is there.
    """
    people = {person.name: person for person in everyone(database)}
    name = tidy(name)
    if name not in people:
        known = ", ".join(sorted(people)) or "nobody yet"
        hint = f"Known: {known}. Add one: workbench annotators DB add NAME"
        raise UsageError(f"There is no annotator {name!r}.", hint)
    return people[name]


def everyone(database: Database) -> list[Annotator]:
    """All people in the order they came."""
    rows = database.reader().execute("SELECT id, name, role FROM annotators ORDER BY id")
    return [Annotator(id=row[0], name=row[1], role=row[2]) for row in rows]
