"""Schema version 10: what a label event says carries a digest, and every transaction a state of its own."""

from __future__ import annotations

from typing import Any

from workbench.core.database import event_digests, generation, schema_labelling

_TOGETHER = 1_000

VERSION_10: tuple[str, ...] = (*generation.STATES, "ALTER TABLE label_events ADD COLUMN digest BLOB")


def give_digests(db: Any) -> None:
    """Take the digest of every event that stands there as it can be read now."""
    db.execute("DROP TRIGGER label_events_no_update")
    decoded, db.conn.text_factory = db.conn.text_factory, lambda raw: raw.decode("utf-8", "surrogateescape")
    last = 0
    while rows := db.execute(
        f"SELECT id, {event_digests.COLUMNS} FROM label_events WHERE id > ? ORDER BY id LIMIT {_TOGETHER}", (last,)
    ).fetchall():
        last = rows[-1][0]
        db.conn.executemany(
            "UPDATE label_events SET digest = ? WHERE id = ?", [(event_digests.digest(row[1:]), row[0]) for row in rows]
        )
    db.conn.text_factory = decoded
    for statement in schema_labelling.TRIGGERS:
        if "label_events_no_update" in statement:
            db.execute(statement)
