"""Annotators, and the notes they have begun."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterable

from msgspec import Struct

from workbench.core.database.connection import Database
from workbench.core.database.values import now as now
from workbench.core.errors import UsageError
from workbench.core.label import is_mixed, looks_like

Connection = sqlite3.Connection
COORDINATOR = "coordinator"
"""Role of a person who coordinates."""
REMOVED = " removed"
"""Why somebody is paused who was taken off every list, since looks of theirs stay on record; nobody can type it."""


class Annotator(Struct, frozen=True, kw_only=True):
    """A person who labels, adjudicates or coordinates.

    Attributes:
        paused_at: Since when the person gets no items; None while they do.
        paused_why: Why, for the coordinator's eyes.
    """

    id: int
    name: str
    role: str
    paused_at: str | None = None
    paused_why: str | None = None


def tidy(name: str) -> str:
    """The name as it is stored: without spaces around it, and accents composed, so that one person is one."""
    return unicodedata.normalize("NFC", name.strip())


def add(connection: sqlite3.Connection, name: str, role: str = "annotator") -> int:
    """Add a person unless the name is there; returns the row id.

    Raises:
        UsageError: The name is empty, longer than 100 characters, has control characters, or looks like somebody
            else's. Coordinators are called as they log in, whatever that looks like.
    """
    name = tidy(name)
    if not name or len(name) > 100 or not name.isprintable():
        raise UsageError(f"{name!r} is no name for an annotator.", "Use 1 to 100 printable characters.")
    if role != COORDINATOR:
        require_distinct(connection, name)
    connection.execute(
        "INSERT OR IGNORE INTO annotators (name, role, created_at) VALUES (?, ?, ?)", (name, role, now())
    )
    connection.execute(
        "UPDATE annotators SET paused_at = NULL, paused_why = NULL WHERE name = ? AND paused_why = ?", (name, REMOVED)
    )
    row: tuple[int] = connection.execute("SELECT id FROM annotators WHERE name = ?", (name,)).fetchone()
    return row[0]


def require_distinct(connection: sqlite3.Connection, name: str) -> None:
    """Refuse a new name that can't be told from one that is there: somebody would seem to be two people.

    Raises:
        UsageError: It looks like another's, or mixes alphabets.
    """
    names = {row[0] for row in connection.execute("SELECT name FROM annotators WHERE paused_why IS NOT ?", (REMOVED,))}
    if (name := tidy(name)) not in names and (why := indistinct(name, names)):
        raise UsageError(f"{name!r} {why}.", "One person has one name; another needs one that can be told apart.")


def indistinct(name: str, names: Iterable[str]) -> str | None:
    """Why a new name can't be told from others, in words; None where it can."""
    if is_mixed(name):
        return "mixes letters of several alphabets that look alike"
    other = looks_like(name, names)
    return None if other is None else f"looks like {other!r}, who is there"


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
    """All people in the order they came, without those who were removed."""
    rows = database.reader().execute(
        "SELECT id, name, role, paused_at, paused_why FROM annotators WHERE paused_why IS NOT ? ORDER BY id", (REMOVED,)
    )
    return [
        Annotator(id=row[0], name=row[1], role=row[2], paused_at=row[3], paused_why=row[4]) for row in rows.fetchall()
    ]


def pause(connection: sqlite3.Connection, annotator: int, why: str) -> None:
    """Give a person no more items; whoever is paused already stays so, for the first reason."""
    connection.execute(
        "UPDATE annotators SET paused_at = ?, paused_why = ? WHERE id = ? AND paused_at IS NULL",
        (now(), why, annotator),
    )


def resume(connection: sqlite3.Connection, annotator: int) -> None:
    """Give a person items again; checks answered before are not held against them any more."""
    connection.execute(
        "UPDATE annotators SET paused_at = NULL, paused_why = NULL, resumed_at = ? WHERE id = ?", (now(), annotator)
    )


def remove(connection: sqlite3.Connection, annotator: int) -> None:
    """Take a person off every list, with what they were given to do.

    Raises:
        UsageError: They have said something, or have a bundle that is not back.
    """
    if connection.execute(
        "SELECT 1 FROM label_events WHERE annotator_id = ?1 AND kind <> 'reveal' "
        "UNION ALL SELECT 1 FROM assignments WHERE annotator_id = ?1 AND state = 'away'",
        (annotator,),
    ).fetchone():
        raise UsageError(
            "Only who has said nothing, and has no bundle, can be removed.",
            "Pause them: workbench annotators DB pause NAME",
        )
    connection.execute("DELETE FROM assignments WHERE purpose <> 'quota' AND slot = ?", (annotator,))
    connection.execute(
        "UPDATE assignments SET annotator_id = NULL, claimed_at = NULL, expires_at = NULL, state = 'open' "
        "WHERE annotator_id = ?",
        (annotator,),
    )
    connection.execute("UPDATE assignments SET meant_for = NULL WHERE meant_for = ?", (annotator,))
    connection.execute("UPDATE batches SET adjudicator_id = NULL WHERE adjudicator_id = ?", (annotator,))
    for table in ("batch_annotators", "skips", "drafts", "guideline_readings", "admissions"):
        connection.execute(f"DELETE FROM {table} WHERE annotator_id = ?", (annotator,))
    try:
        connection.execute("DELETE FROM annotators WHERE id = ?", (annotator,))
    except sqlite3.IntegrityError:  # looks of theirs, or a text that they wrote
        connection.execute(
            "UPDATE annotators SET paused_at = ?, paused_why = ? WHERE id = ?", (now(), REMOVED, annotator)
        )


def is_paused(connection: sqlite3.Connection, annotator: int) -> bool:
    """Whether a person gets no items."""
    row: tuple[str | None] = connection.execute(
        "SELECT paused_at FROM annotators WHERE id = ?", (annotator,)
    ).fetchone()
    return row[0] is not None


# -- Notes a person has begun and not submitted.


def keep(connection: sqlite3.Connection, annotator: int, completion: int, note: str) -> None:
    """Keep a note; an empty one drops it."""
    if not note:
        drop(connection, annotator, completion)
        return
    connection.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?)", (annotator, completion, note, now()))


def drop(connection: sqlite3.Connection, annotator: int, completion: int, until: str | None = None) -> None:
    """Forget a note: its label has been stored.

    Args:
        until: When the label was given; a note begun later stays.
    """
    connection.execute(
        "DELETE FROM drafts WHERE annotator_id = ?1 AND completion_id = ?2 AND (?3 IS NULL OR updated_at <= ?3)",
        (annotator, completion, until),
    )


def of(connection: sqlite3.Connection, annotator: int, completion: int) -> str:
    """The note a person had begun on a completion; empty without one."""
    row = connection.execute(
        "SELECT note FROM drafts WHERE annotator_id = ? AND completion_id = ?", (annotator, completion)
    ).fetchone()
    return row[0] if row else ""
