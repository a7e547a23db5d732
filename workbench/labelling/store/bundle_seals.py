"""What a bundle proves of itself: the pass that was sealed at home, and the seal of every event given in it.

The seal of a pass is made with the database's secret, which stays at home: nobody else can change whose a bundle is,
which items it has or when it was made. The key of the events' seals goes along. It tells what the program stored in
this bundle from what was written into the file by other means, from another bundle's events and from damage; whoever
holds the file holds the key, and can seal what they like.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from hmac import compare_digest
from typing import NamedTuple

import msgspec
from msgspec import structs

from workbench.core.database import events
from workbench.core.database.secrets import secret
from workbench.core.label import LabelEvent, Task

Name = tuple[Task, str]
"""A completion (correctness) or question (type) as a bundle calls it."""

_BYTES = 32


class Pass(NamedTuple):
    """Whose a bundle is; see the table ``bundle_pass``.

    Attributes:
        items: What `items_text` makes of the names; the seal is of this text.
    """

    bundle: str
    annotator: str
    made_at: str
    items: str
    seal: bytes


def opaque(key: bytes, task: Task, row: int) -> str:
    """What a bundle calls a completion or question: only the database that drew ``key`` can tell which it is."""
    return blake2b(f"bundle {task} {row}".encode(), key=key, digest_size=16).hexdigest()


def items_text(names: Iterable[Name]) -> str:
    """Names as a pass holds them."""
    return msgspec.json.encode(sorted(names)).decode()


def names_of(text: str) -> list[Name]:
    """The names of a pass whose seal is right."""
    return msgspec.json.decode(text, type=list[Name])


def issue(home: sqlite3.Connection, bundle: str, annotator: str, made_at: str, names: Iterable[Name]) -> Pass:
    """A pass, sealed with the secret of the database at home."""
    items = items_text(names)
    return Pass(bundle, annotator, made_at, items, _seal_of(secret(home), bundle, annotator, made_at, items))


def is_ours(home: sqlite3.Connection, found: Pass) -> bool:
    """Whether this database has sealed the pass, as it stands."""
    return compare_digest(_seal_of(secret(home), *found[:4]), found.seal)


def event_key(home: sqlite3.Connection, bundle: str) -> bytes:
    """The key of the seals of a bundle's events."""
    return blake2b(f"events of {bundle}".encode("utf-8", "replace"), key=secret(home), digest_size=_BYTES).digest()


def _seal_of(key: bytes, *fields: str) -> bytes:
    content = msgspec.json.encode([field.encode("utf-8", "surrogateescape") for field in fields])
    return blake2b(content, key=key, person=b"bundle pass", digest_size=_BYTES).digest()


def carry(connection: sqlite3.Connection, found: Pass, key: bytes) -> None:
    """Make a database the bundle of this pass; from now on `seal` seals its events."""
    connection.execute("INSERT INTO bundle_pass VALUES (?, ?, ?, ?, ?, ?)", (*found, key))


def seal(connection: sqlite3.Connection, uuid: str) -> None:
    """Seal an event that was just stored, where this database is a bundle."""
    row = connection.execute("SELECT key FROM bundle_pass").fetchone()
    event = None if row is None else events.by_uuid(connection, uuid)
    if event is None:
        return
    names = (_name(connection, event), _maker(connection, event))
    connection.execute(
        "INSERT OR REPLACE INTO event_seals VALUES (?, ?)", (uuid, event_seal(bytes(row[0]), event, *names))
    )


def event_seal(key: bytes, event: LabelEvent, item: str, annotator: str) -> bytes:
    """The seal of an event.

    Args:
        item: What the bundle calls its subject.
        annotator: Its maker's name.
    """
    content = structs.astuple(structs.replace(event, subject=0, annotator=0, merged=False))
    return blake2b(
        msgspec.json.encode((item, annotator, content)), key=key, person=b"bundle event", digest_size=_BYTES
    ).digest()


_NAMES = {
    "correctness": "SELECT key FROM completions WHERE id = ?",
    "type": "SELECT key FROM questions WHERE id = ?",
}


def _name(connection: sqlite3.Connection, event: LabelEvent) -> str:
    row: tuple[str] | None = connection.execute(_NAMES[event.task], (event.subject,)).fetchone()
    return row[0] if row else ""


def _maker(connection: sqlite3.Connection, event: LabelEvent) -> str:
    row: tuple[str] = connection.execute("SELECT name FROM annotators WHERE id = ?", (event.annotator,)).fetchone()
    return row[0]


class Recorded(NamedTuple):
    """A bundle as the database that made it remembers it."""

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
    """Note that a bundle was made."""
    home.execute("INSERT INTO bundles VALUES (?, ?, ?, ?, 1)", (bundle, person, made_at, expires_at))
    home.executemany("INSERT INTO bundle_items VALUES (?, ?, ?)", [(bundle, *subject) for subject in subjects])


def recorded(home: sqlite3.Connection, bundle: str) -> Recorded | None:
    """The bundle of that id."""
    row = home.execute(
        "SELECT b.id, a.name, b.made_at FROM bundles AS b JOIN annotators AS a ON a.id = b.annotator_id "
        "WHERE b.id = ? AND b.sealed = 1",
        (bundle,),
    ).fetchone()
    return None if row is None else Recorded(*row)


def unsealed(home: sqlite3.Connection, names: Iterable[str]) -> list[Recorded]:
    """What was away in bundles of earlier versions, which had no pass, for these people."""
    return [
        Recorded(*row)
        for row in home.execute(
            "SELECT b.id, a.name, b.made_at FROM bundles AS b JOIN annotators AS a ON a.id = b.annotator_id "
            "WHERE b.sealed = 0 AND a.name IN (SELECT value FROM json_each(?)) ORDER BY a.name",
            (msgspec.json.encode(sorted(names)).decode(),),
        )
    ]


def subjects(home: sqlite3.Connection, bundle: str) -> dict[Name, int]:
    """What a recorded bundle calls its items, and their questions -> their row ids here."""
    key = secret(home)
    rows = home.execute(
        "SELECT task, subject FROM bundle_items WHERE bundle_id = ?1 UNION SELECT 'type', c.question_id "
        "FROM bundle_items AS i JOIN completions AS c ON c.id = i.subject "
        "WHERE i.bundle_id = ?1 AND i.task = 'correctness'",
        (bundle,),
    )
    return {(task, opaque(key, task, row)): row for task, row in rows}
