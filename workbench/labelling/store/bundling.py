"""SQL of bundles: reserves slots, writes items into a bundle, and finds the items of a returned bundle.

Names of items in a bundle derive from this database's secret: original ids may reveal models.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeVar

from workbench.core.database import people
from workbench.core.database.connection import open_connection
from workbench.core.database.hashes import secret, shown_hash
from workbench.core.database.selection import FROM_ITEMS, check_names, compile_selection
from workbench.core.label import Task
from workbench.core.selection import Selection
from workbench.data.store.reading import ItemText
from workbench.labelling.store import assignments
from workbench.labelling.store.foreign import ForeignSubject

# -- A bundle's description of itself; the home database trusts only its id.


Name = tuple[Task, str]
"""The name of a completion (correctness) or question (type) in a bundle."""


def bundle_name(key: bytes, task: Task, row: int) -> str:
    """Return the name of a completion or question in a bundle; only the database with this secret can resolve it."""
    return blake2b(f"bundle {task} {row}".encode(), key=key, digest_size=16).hexdigest()


def store_identity(connection: sqlite3.Connection, bundle: str, annotator: str, made_at: str) -> None:
    connection.execute("INSERT INTO bundle_pass VALUES (?, ?, ?)", (bundle, annotator, made_at))


class Recorded(NamedTuple):
    bundle: str
    annotator: str
    made_at: str


def record(
    home: sqlite3.Connection,
    bundle: str,
    person: int,
    made_at: str,
    expires_at: float,
    subjects: Sequence[tuple[Task, int]],
) -> None:
    home.execute("INSERT INTO bundles VALUES (?, ?, ?, ?)", (bundle, person, made_at, expires_at))
    home.executemany("INSERT INTO bundle_items VALUES (?, ?, ?)", [(bundle, *subject) for subject in subjects])


def recorded(home: sqlite3.Connection, bundle: str) -> Recorded | None:
    row = home.execute(
        "SELECT b.id, a.name, b.made_at FROM bundles AS b JOIN annotators AS a ON a.id = b.annotator_id WHERE b.id = ?",
        (bundle,),
    ).fetchone()
    return None if row is None else Recorded(*row)


def subjects(home: sqlite3.Connection, bundle: str) -> dict[Name, int]:
    key = secret(home)
    rows = home.execute(
        "SELECT task, subject FROM bundle_items WHERE bundle_id = ?1 UNION SELECT 'type', c.question_id FROM "
        "bundle_items AS i JOIN completions AS c ON c.id = i.subject WHERE i.bundle_id = ?1 AND i.task = 'correctness'",
        (bundle,),
    )
    return {(task, bundle_name(key, task, row)): row for task, row in rows}


Key = TypeVar("Key", bound=tuple[Task, int])


def recognise(connection: sqlite3.Connection, items: Mapping[Key, ForeignSubject]) -> dict[Key, int | None]:
    """Map the items of a bundle to row ids here; None for unknown items.

    Items in a bundle have been assigned here, so only assigned items are searched.
    """
    if not items:
        return {}
    named = {ours: (ours[0], name_of(item)) for ours, item in items.items()}
    known = rows_of(connection, named.values())
    return {ours: known.get(name) for ours, name in named.items()}


def rows_of(connection: sqlite3.Connection, names: Iterable[Name]) -> dict[Name, int]:
    key, wanted = secret(connection), set(names)
    return {
        name: row
        for task, row in connection.execute(
            "SELECT task, subject FROM assignments UNION SELECT 'correctness', completion_id FROM check_items "
            "UNION SELECT 'type', c.question_id FROM assignments AS a JOIN completions AS c ON c.id = a.subject "
            "WHERE a.task = 'correctness'"
        )
        if (name := (task, bundle_name(key, task, row))) in wanted
    }


def name_of(item: ForeignSubject) -> str:
    return item.question if item.completion is None else item.completion


def open_items(connection: sqlite3.Connection, person: int, selection: Selection) -> list[int]:
    """Return completions with an open slot in one of the person's batches: first those intended for them, in the
    batch's order.

    Raises:
        UsageError: See `compile_selection` and `check_names`.
    """
    where, parameters = compile_selection(check_names(connection, selection))
    rows = connection.execute(
        f"SELECT c.id FROM {FROM_ITEMS} JOIN assignments AS a ON a.task = 'correctness' AND a.subject = c.id AND "
        "a.state = 'open' AND a.purpose = 'quota' JOIN batch_annotators AS b ON b.batch_id = a.batch_id AND "
        f"b.annotator_id = ? WHERE {where} GROUP BY c.id ORDER BY min(CASE WHEN a.meant_for = b.annotator_id THEN 0 "
        "WHEN a.meant_for IS NULL THEN 1 ELSE 2 END), min(a.position)",
        (person, *parameters),
    )
    return [row[0] for row in rows]


class BundledSlot(NamedTuple):
    round: int
    opened_at: str | None


def send_away(
    connection: sqlite3.Connection, person: int, at: float, until: float
) -> dict[tuple[Task, int], BundledSlot]:
    """Reserve the slots leased by the person at time ``at`` until ``until``; they are not served here.

    Returns:
        (task, subject) -> slot.
    """
    rows = connection.execute(
        "UPDATE assignments SET state = 'away', expires_at = ? WHERE annotator_id = ? AND state = 'leased' "
        "AND claimed_at = ? RETURNING task, subject, round, opened_at",
        (until, person, at),
    ).fetchall()
    return {(task, subject): BundledSlot(round, opened_at) for task, subject, round, opened_at in rows}


class BundleRows:
    """Writes items into a new database as the person may see them: texts under opaque names, and slots.

    Args:
        connection: The new database, in a transaction.
        key: The secret of the project's own database.
        name: The person's name.

    Attributes:
        person: The person's row id in the bundle.
    """

    def __init__(self, connection: sqlite3.Connection, key: bytes, name: str) -> None:
        self._connection = connection
        self._key = key
        self._datasets: dict[str, int] = {}
        self._questions: dict[int, int] = {}
        self.person = people.add(connection, name)
        self._batch = assignments.create(
            connection, [self.person], {}, per_item=1, adjudicator=None, selection=Selection(), ordering="random"
        )

    def add_completion(self, text: ItemText) -> int:
        name = bundle_name(self._key, "correctness", text.completion)
        return self._insert(
            "INSERT INTO completions (question_id, key, hash, characters) VALUES (?, ?, ?, ?)",
            (self._questions[text.question], name, shown_hash(text.completion_text), len(text.completion_text)),
            "INSERT INTO completion_text (id, text) VALUES (?, ?)",
            (text.completion_text,),
        )

    def add_question(self, text: ItemText) -> int | None:
        """Insert an item's question; return its row id in the bundle, or None if it is already there."""
        if text.question in self._questions:
            return None
        name = bundle_name(self._key, "type", text.question)
        if text.dataset not in self._datasets:
            cursor = self._connection.execute(
                "INSERT INTO datasets (name, types, created_at) VALUES (?, ?, ?)",
                (text.dataset, "labelled" if text.types_labelled else "trusted", people.now()),
            )
            self._datasets[text.dataset] = int(cursor.lastrowid or 0)
        row = self._questions[text.question] = self._insert(
            "INSERT INTO questions (dataset_id, key, hash) VALUES (?, ?, ?)",
            (self._datasets[text.dataset], name, shown_hash(text.question_text, text.reference)),
            "INSERT INTO question_text (id, text, reference) VALUES (?, ?, ?)",
            (text.question_text, text.reference),
        )
        return row

    def add_slot(self, task: Task, subject: int, place: int, slot: BundledSlot) -> None:
        """Open a slot of the person; all slots look the same, regardless of purpose."""
        self._connection.execute(
            "INSERT INTO assignments (batch_id, task, subject, round, slot, position, opened_at) "
            "VALUES (?, ?, ?, ?, 1, ?, ?)",
            (self._batch, task, subject, slot.round, place, slot.opened_at),
        )

    def _insert(self, row: str, values: tuple[object, ...], texts: str, values_of_texts: tuple[str, ...]) -> int:
        identifier = int(self._connection.execute(row, values).lastrowid or 0)
        self._connection.execute(texts, (identifier, *values_of_texts))
        return identifier


def compact(path: Path) -> None:
    """Rewrite a database as a single file without remains of deleted rows."""
    connection = open_connection(path)
    try:
        connection.execute("VACUUM")
    finally:
        connection.close()
