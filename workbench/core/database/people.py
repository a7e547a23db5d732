"""Annotators, and the drafts of their notes."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterable

from msgspec import Struct

from workbench.core.database.connection import Database
from workbench.core.database.values import as_record
from workbench.core.database.values import now as now
from workbench.core.errors import Command, UsageError
from workbench.core.label import find_lookalike, is_mixed

Connection = sqlite3.Connection
COORDINATOR = "coordinator"
"""Role of a person who coordinates."""
REMOVED = " removed"
"""The pause reason of a removed person, whose views are kept on record; users can't type it."""


class Annotator(Struct, frozen=True, kw_only=True):
    """A person who labels, adjudicates or coordinates.

    Attributes:
        paused_at: When the annotator was paused; None for an annotator who is assigned items.
        paused_why: The reason, shown to the coordinator.
    """

    id: int
    name: str
    role: str
    paused_at: str | None = None
    paused_why: str | None = None


def normalise_name(name: str) -> str:
    """Normalise a name: without surrounding spaces, and with composed accents, so that equal names are
    stored equally.
    """
    return unicodedata.normalize("NFC", name.strip())


def add(connection: sqlite3.Connection, name: str, role: str = "annotator") -> int:
    """Add a person unless the name exists; return the row id.

    Raises:
        UsageError: The name is empty, longer than 100 characters, has control characters, or looks like another
            person's name (coordinators' login names are not compared).
    """
    name = normalise_name(name)
    if not name or len(name) > 100 or not name.isprintable():
        raise UsageError(f"{name!r} is not a valid annotator name.", "Use 1 to 100 printable characters.")
    if role != COORDINATOR:
        require_distinct(connection, name)
    connection.execute(
        "INSERT OR IGNORE INTO annotators (name, role, created_at) VALUES (?, ?, ?)", (name, role, now())
    )
    connection.execute(
        "UPDATE annotators SET paused_at = NULL, paused_why = NULL WHERE name = ? AND paused_why = ?", (name, REMOVED)
    )
    return int(connection.execute("SELECT id FROM annotators WHERE name = ?", (name,)).fetchone()[0])


def require_distinct(connection: sqlite3.Connection, name: str) -> None:
    """Check that a new name can be distinguished from existing ones, so that one person doesn't appear as two.

    Raises:
        UsageError: The name looks like another one, or mixes alphabets.
    """
    names = {row[0] for row in connection.execute("SELECT name FROM annotators WHERE paused_why IS NOT ?", (REMOVED,))}
    if (name := normalise_name(name)) not in names and (why := confusable_reason(name, names)):
        raise UsageError(f"{name!r} {why}.", "Use the existing name, or one that is clearly different.")


def confusable_reason(name: str, names: Iterable[str]) -> str | None:
    if is_mixed(name):
        return "mixes letters of several alphabets that look alike"
    other = find_lookalike(name, names)
    return None if other is None else f"looks like {other!r}, who is there"


def find(database: Database, name: str) -> Annotator:
    """Return the person with this name.

    Raises:
        UsageError: No person has this name; the message lists the names.
    """
    people = {person.name: person for person in all_people(database)}
    name = normalise_name(name)
    if name not in people:
        known = ", ".join(sorted(people)) or "nobody yet"
        hint = f"Known: {known}. Add one"
        raise UsageError(f"There is no annotator {name!r}.", hint, Command("annotators DB add NAME"))
    return people[name]


def all_people(database: Database) -> list[Annotator]:
    rows = database.reader().execute(
        "SELECT id, name, role, paused_at, paused_why FROM annotators WHERE paused_why IS NOT ? ORDER BY id", (REMOVED,)
    )
    return [as_record(Annotator, row) for row in rows.fetchall()]


def pause(connection: sqlite3.Connection, annotator: int, why: str) -> None:
    """Stop assigning items to a person; a person who is paused already keeps the first reason."""
    connection.execute(
        "UPDATE annotators SET paused_at = ?, paused_why = ? WHERE id = ? AND paused_at IS NULL",
        (now(), why, annotator),
    )


def resume(connection: sqlite3.Connection, annotator: int) -> None:
    """Assign items to a person again; answers to checks before this no longer count."""
    connection.execute(
        "UPDATE annotators SET paused_at = NULL, paused_why = NULL, resumed_at = ? WHERE id = ?", (now(), annotator)
    )


def remove(connection: sqlite3.Connection, annotator: int) -> None:
    """Remove a person, and release the items assigned to them.

    Raises:
        UsageError: The person has events, or a bundle that has not been returned.
    """
    if connection.execute(
        "SELECT 1 FROM label_events WHERE annotator_id = ?1 AND kind <> 'reveal' "
        "UNION ALL SELECT 1 FROM assignments WHERE annotator_id = ?1 AND state = 'away'",
        (annotator,),
    ).fetchone():
        raise UsageError(
            "Only annotators without labels, messages and bundles can be removed.",
            f"Pause them: {Command('annotators DB pause NAME')}",
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
    except sqlite3.IntegrityError:  # Rows that refer to the person: what they viewed, or a text that they wrote.
        connection.execute(
            "UPDATE annotators SET paused_at = ?, paused_why = ? WHERE id = ?", (now(), REMOVED, annotator)
        )


def is_paused(connection: sqlite3.Connection, annotator: int) -> bool:
    row: tuple[str | None] = connection.execute(
        "SELECT paused_at FROM annotators WHERE id = ?", (annotator,)
    ).fetchone()
    return row[0] is not None


# -- Drafts: notes that a person has begun and not submitted.


def keep_draft(connection: sqlite3.Connection, annotator: int, completion: int, note: str) -> None:
    if not note:
        drop_draft(connection, annotator, completion)
        return
    connection.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?)", (annotator, completion, note, now()))


def drop_draft(connection: sqlite3.Connection, annotator: int, completion: int, until: str | None = None) -> None:
    """Delete a draft, because the label with its note has been stored.

    Args:
        until: Time of the label; a draft that was changed later is kept.
    """
    connection.execute(
        "DELETE FROM drafts WHERE annotator_id = ?1 AND completion_id = ?2 AND (?3 IS NULL OR updated_at <= ?3)",
        (annotator, completion, until),
    )


def draft_of(connection: sqlite3.Connection, annotator: int, completion: int) -> str:
    row = connection.execute(
        "SELECT note FROM drafts WHERE annotator_id = ? AND completion_id = ?", (annotator, completion)
    ).fetchone()
    return row[0] if row else ""
