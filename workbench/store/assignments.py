"""Label slots: opened by ``assign``, leased at a claim, done with the label.

A slot has no person until someone claims it. Every change runs in the caller's BEGIN IMMEDIATE transaction,
and the unique keys (task, subject, slot) and (annotator, task, subject) keep the overlap exact.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from workbench.model.label import Task
from workbench.model.selection import Selection
from workbench.store.events import IN_FORCE
from workbench.store.people import now
from workbench.store.selection import FROM_ITEMS, compile_selection

LEASE_SECONDS = 600.0


def open_batch(
    connection: sqlite3.Connection,
    annotators: Sequence[int],
    per_item: int,
    adjudicator: int | None,
    selection: Selection,
    seed: str,
) -> tuple[int, int]:
    """Open slots for the selected items and their questions, in a seeded random order.

    Returns:
        Slots opened on the correctness task and on the type task; slots that stood already are not counted.
    """
    cursor = connection.execute(
        "INSERT INTO batches (per_item, adjudicator_id, selection, created_at) VALUES (?, ?, ?, ?)",
        (per_item, adjudicator, str(selection), now()),
    )
    batch = cursor.lastrowid
    connection.executemany(
        "INSERT INTO batch_annotators (batch_id, annotator_id) VALUES (?, ?)",
        [(batch, person) for person in annotators],
    )
    where, parameters = compile_selection(selection)
    limit = -1 if selection.limit is None else selection.limit
    rows = connection.execute(
        f"SELECT c.id, c.question_id, c.key FROM {FROM_ITEMS} WHERE {where} ORDER BY c.id LIMIT ?",
        (*parameters, limit),
    ).fetchall()
    questions = {question: key for _, question, key in reversed(rows)}
    completions = ((item, key) for item, _, key in rows)
    return (
        _open(connection, "correctness", completions, batch, per_item, seed),
        _open(connection, "type", questions.items(), batch, per_item, seed),
    )


def _open(
    connection: sqlite3.Connection,
    task: Task,
    subjects: Iterable[tuple[int, str]],
    batch: int | None,
    per_item: int,
    seed: str,
) -> int:
    before = connection.total_changes
    connection.executemany(
        "INSERT OR IGNORE INTO assignments (batch_id, task, subject, slot, position) VALUES (?, ?, ?, ?, ?)",
        (
            (batch, task, subject, slot, _position(seed, key))
            for subject, key in subjects
            for slot in range(1, per_item + 1)
        ),
    )
    return connection.total_changes - before


def _position(seed: str, key: str) -> int:
    digest = blake2b(key.encode("utf-8", "surrogatepass"), key=seed.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def begin_round(connection: sqlite3.Connection, task: Task, subject: int, number: int, at: str) -> None:
    """After a reopening: the slots of earlier rounds are past, and as many open again for the new one."""
    if connection.execute(
        "SELECT 1 FROM assignments WHERE task = ? AND subject = ? AND round >= ?", (task, subject, number)
    ).fetchone():
        return
    # A slot nobody has used is opened anew; one of a check or a repeat belongs to no round.
    quota = "task = ?1 AND subject = ?2 AND purpose = 'quota' AND state <> 'past'"
    slots = connection.execute(
        f"SELECT batch_id, slot, position FROM assignments WHERE {quota} ORDER BY slot", (task, subject)
    ).fetchall()
    connection.execute(f"DELETE FROM assignments WHERE {quota} AND state IN ('open', 'leased')", (task, subject))
    connection.execute(f"UPDATE assignments SET state = 'past', expires_at = NULL WHERE {quota}", (task, subject))
    connection.executemany(
        "INSERT INTO assignments (batch_id, task, subject, round, slot, position, opened_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(batch, task, subject, number, slot, position, at) for batch, slot, position in slots],
    )


def free_expired(connection: sqlite3.Connection, at: float) -> None:
    """Give expired leases back to the pool."""
    for task in ("correctness", "type"):
        connection.execute(
            "UPDATE assignments SET state = 'open', annotator_id = NULL, claimed_at = NULL, expires_at = NULL "
            "WHERE task = ? AND state = 'leased' AND expires_at < ?",
            (task, at),
        )


_ASKED = (
    "(NOT EXISTS (SELECT 1 FROM label_events AS e WHERE e.task = 'correctness' AND e.subject = c.id "
    f"AND e.annotator_id = ?1 AND e.kind = 'label' AND e.verdict = 'unsuitable' AND {IN_FORCE}) "
    "OR EXISTS (SELECT 1 FROM task_states AS s WHERE s.task = 'correctness' AND s.subject = c.id "
    "AND s.state = 'final'))"
)
"""Whoever called an item unsuitable is asked for the type only once it has been decided otherwise."""


def leased(connection: sqlite3.Connection, annotator: int, at: float) -> list[int]:
    """Completions a person is at work on, oldest claim first.

    Those under lease, and those that are labelled while the question's type, which people must settle, is not.
    """
    rows = connection.execute(
        "SELECT subject, claimed_at, position FROM assignments WHERE annotator_id = ?1 AND task = 'correctness' "
        "AND state = 'leased' AND expires_at >= ?2 "
        "UNION ALL SELECT max(mine.subject), t.claimed_at, t.position FROM assignments AS t "
        "JOIN questions AS q ON q.id = t.subject JOIN datasets AS d ON d.id = q.dataset_id AND d.types = 'labelled' "
        "JOIN completions AS c ON c.question_id = q.id JOIN assignments AS mine "
        "ON mine.annotator_id = ?1 AND mine.task = 'correctness' AND mine.subject = c.id "
        f"WHERE t.annotator_id = ?1 AND t.task = 'type' AND t.state = 'leased' AND t.expires_at >= ?2 AND {_ASKED} "
        "GROUP BY t.subject HAVING max(mine.state) = 'done' ORDER BY 2, 3",
        (annotator, at),
    )
    return [row[0] for row in rows]


def claim(connection: sqlite3.Connection, annotator: int, at: float) -> int | None:
    """Lease the next completion for a person, with its question's type slot if one is open.

    The next item is the first one, in the batch's order, with an open slot that this person has neither
    labelled, adjudicated nor skipped; then those they skipped, then those they labelled without the type that
    people must settle. None when nothing is left.
    """
    free_expired(connection, at)
    row = _next_open(connection, annotator) or _next_skipped(connection, annotator)
    if row is None:
        return _claim_untyped(connection, annotator, at)
    slot, completion, question = row
    _lease(connection, slot, annotator, at)
    connection.execute("DELETE FROM skips WHERE annotator_id = ? AND completion_id = ?", (annotator, completion))
    _lease_type(connection, question, annotator, at)
    return int(completion)


def _lease_type(connection: sqlite3.Connection, question: int, annotator: int, at: float) -> None:
    slot = connection.execute(
        "SELECT a.id FROM assignments AS a WHERE a.task = 'type' AND a.subject = ? AND a.state = 'open' "
        "AND NOT EXISTS (SELECT 1 FROM assignments AS mine WHERE mine.annotator_id = ? AND mine.task = 'type' "
        "AND mine.subject = a.subject) ORDER BY a.slot LIMIT 1",
        (question, annotator),
    ).fetchone()
    if slot is not None:
        _lease(connection, slot[0], annotator, at)


def _claim_untyped(connection: sqlite3.Connection, annotator: int, at: float) -> int | None:
    row = connection.execute(
        "SELECT c.id, c.question_id FROM assignments AS a JOIN questions AS q ON q.id = a.subject "
        "JOIN datasets AS d ON d.id = q.dataset_id AND d.types = 'labelled' "
        "JOIN completions AS c ON c.question_id = q.id "
        "JOIN assignments AS done ON done.annotator_id = ?1 AND done.task = 'correctness' AND done.subject = c.id "
        f"AND done.state = 'done' WHERE a.task = 'type' AND a.state = 'open' AND {_ASKED} "
        "AND NOT EXISTS (SELECT 1 FROM assignments AS mine WHERE mine.annotator_id = ?1 AND mine.task = 'type' "
        "AND mine.subject = a.subject) "
        "AND NOT EXISTS (SELECT 1 FROM label_events AS e WHERE e.task = 'type' AND e.subject = a.subject "
        "AND e.annotator_id = ?1 AND e.kind IN ('label', 'adjudication')) ORDER BY a.position LIMIT 1",
        (annotator,),
    ).fetchone()
    if row is None:
        return None
    _lease_type(connection, row[1], annotator, at)
    return int(row[0])


_OPEN = """SELECT a.id, a.subject, c.question_id FROM assignments AS a
    JOIN batch_annotators AS b ON b.batch_id = a.batch_id AND b.annotator_id = :person
    JOIN completions AS c ON c.id = a.subject
    WHERE a.task = 'correctness' AND a.state = 'open' AND a.position >= :start
      AND NOT EXISTS (SELECT 1 FROM assignments AS mine WHERE mine.annotator_id = :person
                      AND mine.task = 'correctness' AND mine.subject = a.subject)
      AND NOT EXISTS (SELECT 1 FROM label_events AS e WHERE e.task = 'correctness' AND e.subject = a.subject
                      AND e.annotator_id = :person AND e.kind IN ('label', 'adjudication')) """


def _next_open(connection: sqlite3.Connection, annotator: int) -> tuple[int, int, int] | None:
    last = connection.execute(
        "SELECT max(position) FROM assignments WHERE annotator_id = ? AND task = 'correctness'", (annotator,)
    ).fetchone()[0]
    unskipped = (
        "AND NOT EXISTS (SELECT 1 FROM skips AS k WHERE k.annotator_id = :person AND k.completion_id = a.subject) "
        "ORDER BY a.position, a.slot LIMIT 1"
    )
    # From where the person is, then once more from the start: slots before may have come back.
    for start in (last or 0, 0):
        row: tuple[int, int, int] | None = connection.execute(
            _OPEN + unskipped, {"person": annotator, "start": start}
        ).fetchone()
        if row is not None:
            return row
    return None


def _next_skipped(connection: sqlite3.Connection, annotator: int) -> tuple[int, int, int] | None:
    row: tuple[int, int, int] | None = connection.execute(
        _OPEN
        + "AND EXISTS (SELECT 1 FROM skips AS k WHERE k.annotator_id = :person AND k.completion_id = a.subject) "
        + "ORDER BY (SELECT k.skipped_at FROM skips AS k WHERE k.annotator_id = :person "
        + "AND k.completion_id = a.subject), a.slot LIMIT 1",
        {"person": annotator, "start": 0},
    ).fetchone()
    return row


def _lease(connection: sqlite3.Connection, slot: int, annotator: int, at: float) -> None:
    connection.execute(
        "UPDATE assignments SET state = 'leased', annotator_id = ?, claimed_at = ?, expires_at = ? WHERE id = ?",
        (annotator, at, at + LEASE_SECONDS, slot),
    )


def renew(connection: sqlite3.Connection, annotator: int, at: float) -> None:
    """Extend every lease of a person (the heartbeat of an open item)."""
    connection.execute(
        "UPDATE assignments SET expires_at = ? WHERE annotator_id = ? AND state = 'leased'",
        (at + LEASE_SECONDS, annotator),
    )


def take(connection: sqlite3.Connection, task: Task, subject: int, annotator: int) -> bool:
    """Turn the person's lease into a done slot, or take an open slot; False when the quota is full.

    Leases that have run out are not free until ``free_expired`` was called.

    A person who has the slot already (an edit) keeps it.
    """
    mine = connection.execute(
        "UPDATE assignments SET state = 'done', expires_at = NULL WHERE annotator_id = ? AND task = ? AND subject = ?",
        (annotator, task, subject),
    )
    if mine.rowcount:
        return True
    other = connection.execute(
        "UPDATE assignments SET state = 'done', annotator_id = ? WHERE id = (SELECT id FROM assignments "
        "WHERE task = ? AND subject = ? AND state = 'open' ORDER BY slot LIMIT 1)",
        (annotator, task, subject),
    )
    return bool(other.rowcount)


def is_assigned(connection: sqlite3.Connection, task: Task, subject: int) -> bool:
    """Whether the subject has slots at all."""
    row = connection.execute("SELECT 1 FROM assignments WHERE task = ? AND subject = ? LIMIT 1", (task, subject))
    return row.fetchone() is not None


def holds(connection: sqlite3.Connection, task: Task, subject: int, annotator: int) -> bool:
    """Whether the person has a slot (leased or done) on the subject."""
    row = connection.execute(
        "SELECT 1 FROM assignments WHERE task = ? AND subject = ? AND annotator_id = ?", (task, subject, annotator)
    )
    return row.fetchone() is not None


def lease_again(connection: sqlite3.Connection, task: Task, subject: int, annotator: int, at: float) -> None:
    """After an undo: the slot is the person's again, and undecided."""
    connection.execute(
        "UPDATE assignments SET state = 'leased', claimed_at = ?, expires_at = ? "
        "WHERE task = ? AND subject = ? AND annotator_id = ?",
        (at, at + LEASE_SECONDS, task, subject, annotator),
    )


def give_back(connection: sqlite3.Connection, completion: int, annotator: int) -> None:
    """Return a leased completion, and its question's type slot if that is undecided, to the pool."""
    connection.execute(
        "UPDATE assignments SET state = 'open', annotator_id = NULL, claimed_at = NULL, expires_at = NULL "
        "WHERE annotator_id = ?1 AND state = 'leased' AND ((task = 'correctness' AND subject = ?2) OR (task = 'type' "
        "AND subject = (SELECT question_id FROM completions WHERE id = ?2) "
        "AND NOT EXISTS (SELECT 1 FROM assignments AS held JOIN completions AS c ON c.id = held.subject "
        "WHERE held.annotator_id = ?1 AND held.task = 'correctness' AND held.subject <> ?2 "
        "AND c.question_id = assignments.subject AND held.state = 'leased')))",
        (annotator, completion),
    )


def skip(connection: sqlite3.Connection, completion: int, annotator: int, at: float) -> None:
    """Give a completion back and offer it to this person only when nothing else is left."""
    give_back(connection, completion, annotator)
    connection.execute("INSERT OR REPLACE INTO skips VALUES (?, ?, ?)", (annotator, completion, at))


def progress(connection: sqlite3.Connection, annotator: int) -> tuple[int, int]:
    """How many correctness slots the person has done, and how many open ones could be theirs."""
    done: int = connection.execute(
        "SELECT count(*) FROM assignments WHERE annotator_id = ? AND task = 'correctness' AND state = 'done'",
        (annotator,),
    ).fetchone()[0]
    leased: int = connection.execute(
        "SELECT count(*) FROM assignments WHERE annotator_id = ? AND task = 'correctness' AND state = 'leased'",
        (annotator,),
    ).fetchone()[0]
    offered: int = connection.execute(
        f"SELECT count(DISTINCT subject) FROM ({_OPEN})", {"person": annotator, "start": 0}
    ).fetchone()[0]
    return done, leased + offered
