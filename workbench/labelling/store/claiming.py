"""Finds the items a person may be served next, their order, and how many are left.

Every query uses an index, and runs in the claimer's own transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from workbench.core.database.events import IN_FORCE, OF_THIS_ROUND


class ClaimableSlot(NamedTuple):
    slot: int
    completion: int


class SlotCounts(NamedTuple):
    """Numbers of a person's slots on the correctness task.

    Attributes:
        done: Number of answered slots of any purpose.
        leased: Number of leased slots of any purpose.
        fresh: Number of items that they could still get and have not skipped.
        skipped: Number of items that they have skipped.
        away: Number of slots in a bundle, of any purpose.
    """

    done: int
    leased: int
    fresh: int
    skipped: int
    away: int


# What excludes a person from an item: a slot or a label in its round, a view of others' labels on it, or that its
# answer no longer matters.
_FREE = (
    "NOT EXISTS (SELECT 1 FROM assignments AS mine WHERE mine.annotator_id = :person AND mine.task = 'correctness' AND "
    "mine.subject = a.subject AND mine.purpose = 'quota' AND mine.state <> 'past') AND NOT EXISTS (SELECT 1 FROM "
    "label_events AS e WHERE e.task = 'correctness' AND e.subject = a.subject AND e.annotator_id = :person AND (e.kind "
    f"IN ('adjudication', 'check') OR (e.kind = 'label' AND e.round = a.round AND {IN_FORCE}))) AND NOT EXISTS (SELECT "
    "1 FROM task_states AS t WHERE t.task = 'correctness' AND t.subject = a.subject AND t.state = 'excluded' AND "
    "t.decided_by = 'coordinator')"
)

_SKIPPED = "EXISTS (SELECT 1 FROM skips AS k WHERE k.annotator_id = :person AND k.completion_id = a.subject)"

_OPEN = "a.state = 'open' AND a.task = 'correctness' AND a.batch_id = :batch"

FIRST_IN_LANE = (
    f"SELECT a.position, a.id, a.subject FROM assignments AS a WHERE {_OPEN} AND a.meant_for IS :lane "
    f"AND {_FREE} AND NOT {_SKIPPED} ORDER BY a.position LIMIT 1"
)
NEXT_LANE = f"SELECT min(a.meant_for) FROM assignments AS a WHERE {_OPEN} AND a.meant_for > :lane"


def batches_open_to(connection: sqlite3.Connection, annotator: int) -> list[int]:
    return [batch for batch, room in _remaining_caps(connection, annotator) if room is None or room > 0]


def _remaining_caps(connection: sqlite3.Connection, annotator: int) -> list[tuple[int, int | None]]:
    return connection.execute(
        "SELECT batch_id, CASE WHEN cap IS NOT NULL THEN max(cap - (SELECT count(*) FROM assignments AS a WHERE "
        "a.annotator_id = ?1 AND a.task = 'correctness' AND a.purpose = 'quota' AND a.state <> 'past' AND a.batch_id "
        "= b.batch_id) - (SELECT count(*) FROM assignments AS a WHERE a.state = 'past' AND a.task = 'correctness' AND "
        "a.batch_id = b.batch_id AND a.purpose = 'quota' AND a.annotator_id = ?1), 0) END FROM batch_annotators AS b "
        "WHERE b.annotator_id = ?1",
        (annotator,),
    ).fetchall()


def next_fresh(connection: sqlite3.Connection, annotator: int) -> ClaimableSlot | None:
    """Return the next item the person has not skipped: first one intended for them, then for no one, then for others.

    A person who never returns blocks nothing: items intended for them finally go to others.
    """
    batches = batches_open_to(connection, annotator)
    return (
        _first_slot(connection, annotator, ((batch, annotator) for batch in batches))
        or _first_slot(connection, annotator, ((batch, None) for batch in batches))
        or _first_slot(
            connection,
            annotator,
            ((batch, other) for batch in batches for other in _other_annotators(connection, batch, annotator)),
        )
    )


def _first_slot(
    connection: sqlite3.Connection, annotator: int, lanes: Iterable[tuple[int, int | None]]
) -> ClaimableSlot | None:
    found = [
        row
        for batch, lane in lanes
        for row in connection.execute(FIRST_IN_LANE, {"person": annotator, "batch": batch, "lane": lane})
    ]
    if not found:
        return None
    _, slot, completion = min(found)
    return ClaimableSlot(slot, completion)


def _other_annotators(connection: sqlite3.Connection, batch: int, annotator: int) -> Iterator[int]:
    lane: int | None = -1
    while (lane := connection.execute(NEXT_LANE, {"batch": batch, "lane": lane}).fetchone()[0]) is not None:
        if lane != annotator:
            yield lane


_OWN = "a.state = 'open' AND a.task = 'correctness' AND a.purpose <> 'quota' AND a.slot = :person"


def next_skipped(connection: sqlite3.Connection, annotator: int) -> ClaimableSlot | None:
    for skipped in connection.execute(
        "SELECT completion_id FROM skips WHERE annotator_id = ? ORDER BY skipped_at", (annotator,)
    ).fetchall():
        slot = slot_on(connection, annotator, skipped[0])
        if slot is not None:
            return ClaimableSlot(slot, skipped[0])
    return None


def slot_on(connection: sqlite3.Connection, annotator: int, completion: int) -> int | None:
    rows = connection.execute(
        f"SELECT a.id, a.batch_id FROM assignments AS a WHERE a.subject = :completion AND ({_OWN} OR (a.state = 'open' "
        f"AND a.task = 'correctness' AND a.purpose = 'quota' AND {_FREE})) "
        "ORDER BY a.purpose = 'quota', a.meant_for IS :person DESC, a.slot",
        {"person": annotator, "completion": completion},
    ).fetchall()
    if not rows:
        return None
    mine = {None, *batches_open_to(connection, annotator)}
    return next((slot for slot, batch in rows if batch in mine), None)


_ASKED = (
    "NOT EXISTS (SELECT 1 FROM label_events AS e WHERE e.task = 'correctness' AND e.subject = c.id AND e.annotator_id "
    f"= ?1 AND e.kind IN ('label', 'check', 'repeat') AND e.verdict = 'unsuitable' AND {IN_FORCE})"
)
"""A person is never asked for the type of an item that they called unsuitable, even if that was overruled: it would
reveal the ruling.
"""


_UNSETTLED = (
    "NOT EXISTS (SELECT 1 FROM task_states AS t WHERE t.task = 'type' AND t.subject = a.subject "
    "AND t.decided_by = 'adjudicated')"
)
"""No one is asked for a resolved type, such as an accepted proposal."""


def leased(connection: sqlite3.Connection, annotator: int, at: float) -> list[int]:
    """Return the completions that a person is working on, oldest claim first.

    These are leased completions, and labelled ones whose question still lacks the type that annotators must resolve.
    """
    rows = connection.execute(
        "SELECT subject, claimed_at, position FROM assignments WHERE annotator_id = ?1 AND task = 'correctness' AND "
        "state = 'leased' AND expires_at >= ?2 UNION ALL SELECT max(mine.subject), t.claimed_at, t.position FROM "
        "assignments AS t JOIN questions AS q ON q.id = t.subject JOIN datasets AS d ON d.id = q.dataset_id AND "
        "d.types = 'labelled' JOIN completions AS c ON c.question_id = q.id JOIN assignments AS mine ON "
        "mine.annotator_id = ?1 AND mine.task = 'correctness' AND mine.subject = c.id AND mine.state <> 'past' WHERE "
        f"t.annotator_id = ?1 AND t.task = 'type' AND t.state = 'leased' AND t.expires_at >= ?2 AND {_ASKED} GROUP BY "
        "t.subject HAVING max(mine.state) = 'done' ORDER BY 2, 3",
        (annotator, at),
    )
    return list(dict.fromkeys(row[0] for row in rows))


def next_untyped(connection: sqlite3.Connection, annotator: int) -> int | None:
    row = connection.execute(
        "SELECT c.id FROM assignments AS done JOIN completions AS c ON c.id = done.subject JOIN questions AS q ON q.id "
        "= c.question_id JOIN datasets AS d ON d.id = q.dataset_id JOIN assignments AS a ON a.task = 'type' AND "
        "a.subject = q.id AND a.purpose = 'quota' AND a.state = 'open' WHERE done.annotator_id = ?1 AND done.task = "
        f"'correctness' AND done.state = 'done' AND d.types = 'labelled' AND {_ASKED} AND {_UNSETTLED} AND NOT EXISTS "
        "(SELECT 1 FROM assignments AS mine WHERE mine.annotator_id = ?1 AND mine.task = 'type' AND mine.subject = "
        "q.id AND mine.purpose = 'quota' AND mine.state <> 'past') AND NOT EXISTS (SELECT 1 FROM label_events AS e "
        "WHERE e.task = 'type' AND e.subject = q.id AND e.annotator_id = ?1 AND (e.kind = 'adjudication' OR (e.kind = "
        f"'label' AND e.round = a.round AND {IN_FORCE}))) ORDER BY a.position LIMIT 1",
        (annotator,),
    ).fetchone()
    return None if row is None else int(row[0])


def open_type_slot(connection: sqlite3.Connection, question: int, annotator: int) -> int | None:
    row = connection.execute(
        "SELECT a.id FROM assignments AS a WHERE a.task = 'type' AND a.subject = ? AND a.purpose = 'quota' AND a.state "
        f"= 'open' AND {_UNSETTLED} AND NOT EXISTS (SELECT 1 FROM assignments AS mine WHERE mine.annotator_id = ? AND "
        "mine.task = 'type' AND mine.subject = a.subject AND mine.purpose = 'quota' AND mine.state <> 'past') ORDER BY "
        "a.slot LIMIT 1",
        (question, annotator),
    ).fetchone()
    return None if row is None else int(row[0])


def unanswered_checks(connection: sqlite3.Connection, annotator: int) -> list[int]:
    rows = connection.execute(
        "SELECT k.completion_id FROM check_items AS k WHERE NOT EXISTS (SELECT 1 FROM assignments AS a "
        "WHERE a.annotator_id = ?1 AND a.task = 'correctness' AND a.subject = k.completion_id AND a.state <> 'past') "
        "AND NOT EXISTS (SELECT 1 FROM skips AS s WHERE s.annotator_id = ?1 AND s.completion_id = k.completion_id) "
        "AND NOT EXISTS (SELECT 1 FROM label_events AS e WHERE e.task = 'correctness' AND e.subject = k.completion_id "
        "AND e.annotator_id = ?1 AND (e.kind IN ('label', 'adjudication', 'reveal') "
        f"OR (e.kind = 'check' AND {IN_FORCE})))",
        (annotator,),
    )
    return [row[0] for row in rows]


def repeatable(connection: sqlite3.Connection, annotator: int, before: str) -> list[int]:
    """Return completions that the person labelled in the current round before a time and has not labelled again.

    Answered checks are included; otherwise a repeated item could not be a check, and the number of items left would
    reveal checks.
    """
    rows = connection.execute(
        "SELECT e.subject FROM label_events AS e WHERE e.annotator_id = ?1 AND e.kind IN ('label', 'check') "
        f"AND e.task = 'correctness' AND e.created_at <= ?2 AND {IN_FORCE} AND {OF_THIS_ROUND} "
        "AND NOT EXISTS (SELECT 1 FROM assignments AS a WHERE a.annotator_id = ?1 AND a.task = 'correctness' "
        "AND a.subject = e.subject AND (a.purpose = 'repeat' OR a.state = 'leased') AND a.state <> 'past') "
        "AND NOT EXISTS (SELECT 1 FROM skips AS s WHERE s.annotator_id = ?1 AND s.completion_id = e.subject) "
        "AND NOT EXISTS (SELECT 1 FROM task_states AS t WHERE t.task = 'correctness' AND t.subject = e.subject "
        "AND t.state = 'excluded' AND t.decided_by = 'coordinator')",
        (annotator, before),
    )
    return [row[0] for row in rows]


def served(connection: sqlite3.Connection, annotator: int) -> int:
    row: tuple[int] = connection.execute(
        "SELECT (SELECT count(*) FROM assignments WHERE annotator_id = ?1 AND task = 'correctness' "
        "AND state <> 'past') + (SELECT count(*) FROM skips AS k WHERE k.annotator_id = ?1 AND NOT EXISTS "
        "(SELECT 1 FROM assignments AS a WHERE a.annotator_id = ?1 AND a.task = 'correctness' "
        "AND a.subject = k.completion_id AND a.state IN ('leased', 'away')))",
        (annotator,),
    ).fetchone()
    return row[0]


def may_have(connection: sqlite3.Connection, annotator: int, completion: int) -> bool:
    """Return whether a cap leaves the person room for one of the completion's open slots.

    This includes slots of a batch that they are not in, which labels from a file may fill.
    """
    full = {batch for batch, room in _remaining_caps(connection, annotator) if room == 0}
    rows = connection.execute(
        "SELECT batch_id FROM assignments WHERE task = 'correctness' AND subject = ? AND purpose = 'quota' "
        "AND state = 'open'",
        (completion,),
    ).fetchall()
    return not rows or any(batch not in full for (batch,) in rows)


OWN_SLOTS = (
    "SELECT count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'leased'), count(*) FILTER (WHERE "
    "state = 'away') FROM assignments WHERE annotator_id = ? AND task = 'correctness' AND state <> 'past'"
)


def counts(connection: sqlite3.Connection, annotator: int) -> SlotCounts:
    done, leased_now, away = connection.execute(OWN_SLOTS, (annotator,)).fetchone()
    fresh, skipped = _count_fresh_and_skipped(connection, annotator)
    (own,) = connection.execute(OWN_SKIPPED, {"person": annotator}).fetchone()
    return SlotCounts(done, leased_now, fresh, skipped + own, away)


# Subtract the items excluded by the coordinator: they are few, and a check for each slot is slower.
MEANT = (
    "SELECT meant_for, sum(slots) FROM (SELECT meant_for, count(*) AS slots FROM assignments WHERE state = 'open' "
    "AND task = 'correctness' AND batch_id IS NOT NULL GROUP BY meant_for UNION ALL SELECT a.meant_for, -1 "
    "FROM task_states AS t INDEXED BY task_states_state CROSS JOIN assignments AS a ON a.task = t.task "
    "AND a.subject = t.subject AND a.state = 'open' AND a.batch_id IS NOT NULL WHERE t.state = 'excluded' "
    "AND t.task = 'correctness' AND t.decided_by = 'coordinator') GROUP BY meant_for"
)
_WANTED_TYPES = (
    "FROM assignments AS a WHERE a.task = 'type' AND a.purpose = 'quota' AND a.state IN ('open', 'leased', 'away') "
    "AND EXISTS (SELECT 1 FROM datasets WHERE types = 'labelled') AND EXISTS (SELECT 1 FROM questions AS q "
    "JOIN datasets AS d ON d.id = q.dataset_id AND d.types = 'labelled' WHERE q.id = a.subject) "
    f"AND {_UNSETTLED} AND EXISTS (SELECT 1 FROM completions AS c LEFT JOIN item_states AS i "
    "ON i.completion_id = c.id WHERE c.question_id = a.subject AND i.state IS NOT 'excluded')"
)
"""Unfilled slots for types that annotators must give, of questions with at least one item that is not excluded."""
OPEN_TYPES = f"SELECT count(*), count(DISTINCT a.subject) {_WANTED_TYPES}"
OWN_TYPES = (
    "SELECT count(DISTINCT m.subject) FROM assignments AS m INDEXED BY assignments_person "
    "WHERE m.annotator_id = :person AND m.task = 'type' AND m.state <> 'past' AND m.state = 'done' "
    f"AND EXISTS (SELECT 1 {_WANTED_TYPES} AND a.subject = m.subject)"
)


def open_slots_by_annotator(connection: sqlite3.Connection) -> dict[int | None, int]:
    return dict(connection.execute(MEANT).fetchall())


def open_types(connection: sqlite3.Connection) -> tuple[int, int]:
    row: tuple[int, int] = connection.execute(OPEN_TYPES).fetchone()
    return row


def own_types(connection: sqlite3.Connection, annotator: int) -> int:
    return int(connection.execute(OWN_TYPES, {"person": annotator}).fetchone()[0])


def distribute_slots(slots: Mapping[int | None, int], offered: Mapping[int, int]) -> dict[int, int]:
    """Return how many open slots each person will fill if all fill the slots intended for them, and equal shares of
    the rest.

    Args:
        slots: Open slots by their intended annotator.
        offered: Person -> number of slots they may fill.
    """
    found = {person: min(most, slots.get(person, 0)) for person, most in offered.items()}
    rest = sum(slots.values()) - sum(found.values())
    spare = {person: most - found[person] for person, most in offered.items()}
    for place, person in enumerate(sorted(spare, key=spare.__getitem__)):
        more = min(spare[person], rest // (len(spare) - place))
        found[person], rest = found[person] + more, rest - more
    return found


def _count_fresh_and_skipped(connection: sqlite3.Connection, annotator: int) -> tuple[int, int]:
    rooms = _remaining_caps(connection, annotator)
    unlimited = _count_offered(connection, annotator, [batch for batch, room in rooms if room is None])
    limited = [(room, _count_offered(connection, annotator, [batch])) for batch, room in rooms if room is not None]
    if not limited:
        return unlimited
    # An item may have slots of several batches, but it counts as one.
    fresh, skipped = _count_offered(connection, annotator, [batch for batch, _ in rooms])
    room = unlimited[0] + unlimited[1] + sum(min(room, sum(offered)) for room, offered in limited)
    fresh = min(fresh, room)
    return fresh, min(skipped, room - fresh)


_IN_BATCHES = "a.batch_id IN (SELECT value FROM json_each(:batches))"
_OPEN_IN_BATCHES = f"a.state = 'open' AND a.task = 'correctness' AND {_IN_BATCHES}"

# Counted from both ends, so that open slots are read once from their index, and only the person's work is looked up.
OPEN_ITEMS = (
    "SELECT count(*) FROM (SELECT DISTINCT a.subject FROM assignments AS a INDEXED BY assignments_state "
    f"WHERE {_OPEN_IN_BATCHES})"
)
BARRED = (
    "SELECT count(*) FROM (SELECT m.subject FROM assignments AS m WHERE m.annotator_id = :person AND m.task = "
    "'correctness' AND m.purpose = 'quota' AND m.state <> 'past' UNION SELECT e.subject FROM label_events AS e WHERE "
    "e.annotator_id = :person AND e.task = 'correctness' AND (e.kind IN ('adjudication', 'check') OR (e.kind = 'label' "
    f"AND {IN_FORCE} AND {OF_THIS_ROUND})) UNION SELECT t.subject FROM task_states AS t INDEXED BY task_states_state "
    "WHERE t.state = 'excluded' AND t.task = 'correctness' AND t.decided_by = 'coordinator') AS barred WHERE EXISTS "
    f"(SELECT 1 FROM assignments AS a INDEXED BY assignments_state WHERE {_OPEN_IN_BATCHES} AND a.subject = "
    "barred.subject)"
)
PUT_OFF = (
    "SELECT count(DISTINCT a.subject) FROM skips AS k CROSS JOIN assignments AS a INDEXED BY assignments_state "
    f"ON a.subject = k.completion_id WHERE k.annotator_id = :person AND {_OPEN_IN_BATCHES} AND {_FREE}"
)


def _count_offered(connection: sqlite3.Connection, annotator: int, batches: list[int]) -> tuple[int, int]:
    if not batches:
        return 0, 0
    values = {"person": annotator, "batches": json.dumps(batches)}
    total, barred, skipped = (
        int(connection.execute(query, values).fetchone()[0]) for query in (OPEN_ITEMS, BARRED, PUT_OFF)
    )
    return total - barred - skipped, skipped


OWN_SKIPPED = (
    "SELECT count(*) FROM skips AS k CROSS JOIN assignments AS a INDEXED BY assignments_state "
    f"ON a.subject = k.completion_id AND {_OWN} WHERE k.annotator_id = :person"
)
