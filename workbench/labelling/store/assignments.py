"""The life of a label slot: opened for an item, leased at a claim, done with the label, past after a reopening.

A ``quota`` slot has no person until someone claims it; ``check`` and ``repeat`` slots belong to one person from the
start, and their number is the person's row id. Every change runs in the caller's BEGIN IMMEDIATE transaction, and the
unique keys (task, subject, purpose, round, slot) and (annotator, task, subject, purpose) keep the overlap exact.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from workbench.core.database.events import IN_FORCE, OF_THIS_ROUND
from workbench.core.database.people import now
from workbench.core.database.selection import FROM_ITEMS, SUBTYPE
from workbench.core.database.values import vector
from workbench.core.label import Task
from workbench.core.progress import stepping
from workbench.core.selection import Selection
from workbench.statistics.records.report import Sample

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Purpose = Literal["quota", "check", "repeat"]
"""The purpose of a slot: an item's overlap, a check, or a repeat of the person's own item."""
LEASE_SECONDS = 600.0


def free_expired(connection: sqlite3.Connection, at: float) -> None:
    for task in ("correctness", "type"):
        connection.execute(
            "UPDATE assignments SET state = 'open', annotator_id = NULL, claimed_at = NULL, expires_at = NULL "
            "WHERE task = ? AND state IN ('leased', 'away') AND expires_at < ?",
            (task, at),
        )


def lease(connection: sqlite3.Connection, slot: int, annotator: int, at: float) -> None:
    connection.execute(
        "UPDATE assignments SET state = 'leased', annotator_id = ?, claimed_at = ?, expires_at = ? WHERE id = ?",
        (annotator, at, at + LEASE_SECONDS, slot),
    )


def renew(connection: sqlite3.Connection, annotator: int, at: float) -> None:
    connection.execute(
        "UPDATE assignments SET expires_at = ? WHERE annotator_id = ? AND state = 'leased'",
        (at + LEASE_SECONDS, annotator),
    )


def open_own(
    connection: sqlite3.Connection, purpose: Purpose, task: Task, subject: int, annotator: int, opened_at: str
) -> int | None:
    """Open a check or repeat for one person, or find a returned one; return its row id, None if it is leased or done.

    Args:
        opened_at: The person's labels before this time are hidden from them while the slot is leased.
    """
    connection.execute(
        "INSERT OR IGNORE INTO assignments (task, subject, purpose, round, slot, position) VALUES (?1, ?2, ?3, "
        "(SELECT coalesce(max(round), 1) FROM label_events WHERE task = ?1 AND subject = ?2 AND kind = 'reopen'), "
        "?4, 0)",
        (task, subject, purpose, annotator),
    )
    found = connection.execute(
        "UPDATE assignments SET opened_at = ? WHERE task = ? AND subject = ? AND purpose = ? AND slot = ? "
        "AND state = 'open' RETURNING id",
        (opened_at, task, subject, purpose, annotator),
    ).fetchone()
    return None if found is None else int(found[0])


def has_own(connection: sqlite3.Connection, purpose: Purpose, task: Task, subject: int, annotator: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM assignments WHERE task = ? AND subject = ? AND purpose = ? AND slot = ?",
        (task, subject, purpose, annotator),
    )
    return row.fetchone() is not None


def hide_earlier(connection: sqlite3.Connection, slot: int, at: str) -> None:
    connection.execute("UPDATE assignments SET opened_at = ? WHERE id = ?", (at, slot))


def take(connection: sqlite3.Connection, task: Task, subject: int, annotator: int, purpose: Purpose = "quota") -> bool:
    """Mark the person's leased slot as done, or else an open slot as theirs and done; return False if there is none.

    Expired leases are not free until ``free_expired`` is called. Open slots intended for the person come first.
    """
    return take_own(connection, task, subject, annotator, purpose) or _take_open(
        connection, task, subject, annotator, purpose
    )


def take_own(connection: sqlite3.Connection, task: Task, subject: int, annotator: int, purpose: Purpose) -> bool:
    mine = connection.execute(
        "UPDATE assignments SET state = 'done', expires_at = NULL WHERE annotator_id = ? AND task = ? AND subject = ? "
        "AND purpose = ? AND state <> 'past'",
        (annotator, task, subject, purpose),
    )
    return bool(mine.rowcount)


def _take_open(connection: sqlite3.Connection, task: Task, subject: int, annotator: int, purpose: Purpose) -> bool:
    other = connection.execute(
        "UPDATE assignments SET state = 'done', annotator_id = ?1 WHERE id = (SELECT id FROM assignments "
        "WHERE task = ?2 AND subject = ?3 AND purpose = ?4 AND state = 'open' AND (purpose = 'quota' OR slot = ?1) "
        "ORDER BY meant_for IS ?1 DESC, meant_for IS NOT NULL, slot LIMIT 1)",
        (annotator, task, subject, purpose),
    )
    return bool(other.rowcount)


def purpose_of(connection: sqlite3.Connection, task: Task, subject: int, annotator: int, *, answered: bool) -> Purpose:
    """Return the purpose of a person's answer, from their slot on the item or question.

    Args:
        answered: Whether the person was shown their own answer; if not, the answer may belong to a repeat with an
            expired lease.
    """
    row = connection.execute(
        "SELECT purpose FROM assignments WHERE task = ?1 AND subject = ?2 AND state <> 'past' AND (annotator_id = ?3 "
        "OR (purpose <> 'quota' AND slot = ?3)) AND NOT (purpose = 'repeat' AND state = 'open' AND ?4) ORDER BY CASE "
        "purpose WHEN 'repeat' THEN 0 WHEN 'quota' THEN 1 ELSE 2 END LIMIT 1",
        (task, subject, annotator, answered),
    ).fetchone()
    return "quota" if row is None else row[0]


def is_assigned(connection: sqlite3.Connection, task: Task, subject: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM assignments WHERE task = ? AND subject = ? AND purpose = 'quota' LIMIT 1", (task, subject)
    )
    return row.fetchone() is not None


def holds(connection: sqlite3.Connection, task: Task, subject: int, annotator: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM assignments WHERE annotator_id = ? AND task = ? AND subject = ? AND purpose = 'quota' "
        "AND state <> 'past'",
        (annotator, task, subject),
    )
    return row.fetchone() is not None


def lease_again(
    connection: sqlite3.Connection, task: Task, subject: int, annotator: int, at: float, purpose: Purpose = "quota"
) -> None:
    connection.execute(
        "UPDATE assignments SET state = 'leased', claimed_at = ?, expires_at = ? "
        "WHERE annotator_id = ? AND task = ? AND subject = ? AND purpose = ? AND state <> 'past'",
        (at, at + LEASE_SECONDS, annotator, task, subject, purpose),
    )
    if purpose != "repeat":
        connection.execute(
            "DELETE FROM assignments WHERE task = ? AND subject = ? AND purpose = 'repeat' AND slot = ? "
            "AND state IN ('open', 'leased')",
            (task, subject, annotator),
        )


def give_back(connection: sqlite3.Connection, completion: int, annotator: int) -> None:
    connection.execute(
        "UPDATE assignments SET state = 'open', annotator_id = NULL, claimed_at = NULL, expires_at = NULL WHERE "
        "annotator_id = ?1 AND state = 'leased' AND ((task = 'correctness' AND subject = ?2) OR (task = 'type' AND "
        "subject = (SELECT question_id FROM completions WHERE id = ?2) AND NOT EXISTS (SELECT 1 FROM assignments AS "
        "held JOIN completions AS c ON c.id = held.subject WHERE held.annotator_id = ?1 AND held.task = 'correctness' "
        "AND held.subject <> ?2 AND c.question_id = assignments.subject AND held.state = 'leased')))",
        (annotator, completion),
    )


def give_back_all(connection: sqlite3.Connection, annotator: int, state: Literal["leased", "away"] = "leased") -> int:
    rows = connection.execute(
        "UPDATE assignments SET state = 'open', annotator_id = NULL, claimed_at = NULL, expires_at = NULL "
        "WHERE annotator_id = ? AND state = ? RETURNING task",
        (annotator, state),
    )
    return sum(task == "correctness" for (task,) in rows)


def skip(connection: sqlite3.Connection, completion: int, annotator: int, at: float) -> None:
    give_back(connection, completion, annotator)
    connection.execute("INSERT OR REPLACE INTO skips VALUES (?, ?, ?)", (annotator, completion, at))


def unskip(connection: sqlite3.Connection, completion: int, annotator: int) -> None:
    connection.execute("DELETE FROM skips WHERE annotator_id = ? AND completion_id = ?", (annotator, completion))


def begin_round(connection: sqlite3.Connection, task: Task, subject: int, number: int, at: str) -> None:
    """Close the slots of earlier rounds after a reopening, and open as many for the new round.

    New slots are intended for people of the batch who have not labelled the item, as far as there are any.
    """
    if connection.execute(
        "SELECT 1 FROM assignments WHERE task = ? AND subject = ? AND purpose = 'quota' AND round >= ?",
        (task, subject, number),
    ).fetchone():
        return
    # A check belongs to no round; a repeat belongs to the round that has ended.
    of_round = "task = ?1 AND subject = ?2 AND purpose <> 'check' AND state <> 'past'"
    slots = connection.execute(
        f"SELECT batch_id, slot, position FROM assignments WHERE {of_round} AND purpose = 'quota' ORDER BY slot",
        (task, subject),
    ).fetchall()
    connection.execute(f"DELETE FROM assignments WHERE {of_round} AND state IN ('open', 'leased')", (task, subject))
    connection.execute(f"UPDATE assignments SET state = 'past', expires_at = NULL WHERE {of_round}", (task, subject))
    for batch, slot, position in slots:
        connection.execute(
            "INSERT INTO assignments (batch_id, task, subject, round, slot, position, meant_for, opened_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                batch,
                task,
                subject,
                number,
                slot,
                position,
                _next_unlabelled_person(connection, task, subject, batch),
                at,
            ),
        )


def _next_unlabelled_person(connection: sqlite3.Connection, task: Task, subject: int, batch: int | None) -> int | None:
    rows = connection.execute(
        "SELECT b.annotator_id FROM batch_annotators AS b WHERE b.batch_id = ?1 AND ?2 = 'correctness' AND NOT EXISTS "
        "(SELECT 1 FROM label_events AS e WHERE e.task = ?2 AND e.subject = ?3 AND e.annotator_id = b.annotator_id "
        "AND e.kind IN ('label', 'adjudication')) AND NOT EXISTS (SELECT 1 FROM assignments AS a WHERE a.task = ?2 "
        "AND a.subject = ?3 AND a.purpose = 'quota' AND a.state = 'open' AND a.meant_for = b.annotator_id)",
        (batch, task, subject),
    ).fetchall()
    # Vary the people between reopened items.
    people = sorted(person for (person,) in rows)
    return people[subject % len(people)] if people else None


# -- Batches: items given to people at once, and the slots opened for them.


class BatchItem(NamedTuple):
    """An item to be labelled.

    Attributes:
        key: The completion's own id.
        stratum: Its source, else its domain, else its answer subtype.
    """

    completion: int
    question: int
    key: str
    stratum: str


class SubjectSlots(NamedTuple):
    """The slots of an item or question in its current round.

    Attributes:
        round: The current round.
        slots: Numbers of the slots.
        people: People who hold the slots, or their intended annotators.
    """

    round: int
    slots: frozenset[int]
    people: frozenset[int]


class NewSlot(NamedTuple):
    subject: int
    round: int
    number: int
    position: int
    meant_for: int | None


def chosen(connection: sqlite3.Connection, items: Iterable[int]) -> list[BatchItem]:
    rows = connection.execute(
        f"SELECT c.id, c.question_id, c.key, coalesce(s.name, s.domain, {SUBTYPE}, '') FROM json_each(?) AS j "
        f"CROSS JOIN {FROM_ITEMS} WHERE c.id = j.value ORDER BY j.key",
        (json.dumps(list(items)),),
    )
    return [BatchItem(*row) for row in rows]


def final(connection: sqlite3.Connection, items: Iterable[BatchItem]) -> set[int]:
    rows = connection.execute(
        "SELECT completion_id FROM item_states WHERE state = 'final' "
        "AND completion_id IN (SELECT value FROM json_each(?))",
        (json.dumps([item.completion for item in items]),),
    )
    return {item for (item,) in rows}


def typed(connection: sqlite3.Connection, questions: Iterable[int]) -> set[int]:
    rows = connection.execute(
        "SELECT subject FROM task_states WHERE task = 'type' AND decided_by = 'adjudicated' "
        "AND subject IN (SELECT value FROM json_each(?))",
        (json.dumps(list(questions)),),
    )
    return {question for (question,) in rows}


def count_type_questions(connection: sqlite3.Connection, questions: Iterable[int]) -> int:
    row: tuple[int] = connection.execute(
        "SELECT count(*) FROM json_each(?) AS named JOIN questions AS q ON q.id = named.value "
        "JOIN datasets AS d ON d.id = q.dataset_id AND d.types = 'labelled'",
        (json.dumps(list(questions)),),
    ).fetchone()
    return row[0]


def subject_slots(connection: sqlite3.Connection, task: Task, subjects: Iterable[int]) -> dict[int, SubjectSlots]:
    wanted = json.dumps(list(subjects))
    rounds = dict(
        connection.execute(
            "SELECT subject, max(round) FROM label_events WHERE kind = 'reopen' AND task = ? GROUP BY subject", (task,)
        ).fetchall()
    )
    rows = connection.execute(
        "SELECT subject, json_group_array(slot), json_group_array(coalesce(annotator_id, meant_for)) "
        "FROM assignments WHERE task = ? AND subject IN (SELECT value FROM json_each(?)) AND purpose = 'quota' "
        "AND state <> 'past' GROUP BY subject",
        (task, wanted),
    )
    found = {
        subject: (frozenset(json.loads(slots)), frozenset(json.loads(people)) - {None})
        for subject, slots, people in rows
    }
    none = frozenset[int](), frozenset[int]()
    return {subject: SubjectSlots(rounds.get(subject, 1), *found.get(subject, none)) for subject in json.loads(wanted)}


def create(
    connection: sqlite3.Connection,
    annotators: Sequence[int],
    caps: Mapping[int, int],
    *,
    per_item: int,
    adjudicator: int | None,
    selection: Selection,
    ordering: str,
    sample: Sample = "all",
    seed: int | None = None,
) -> int:
    """Add a batch with its people; return its row id.

    Args:
        seed: Seed of the random choice; None without one.
    """
    cursor = connection.execute(
        "INSERT INTO batches (per_item, adjudicator_id, selection, ordering, sample, seed, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (per_item, adjudicator, str(selection), ordering, sample, seed, now()),
    )
    batch = int(cursor.lastrowid or 0)
    join(connection, batch, annotators, caps)
    return batch


def join(connection: sqlite3.Connection, batch: int, annotators: Sequence[int], caps: Mapping[int, int]) -> int:
    before: tuple[int] = connection.execute(
        "SELECT count(*) FROM batch_annotators WHERE batch_id = ?", (batch,)
    ).fetchone()
    connection.executemany(
        "INSERT INTO batch_annotators (batch_id, annotator_id, cap) VALUES (?, ?, ?) "
        "ON CONFLICT (batch_id, annotator_id) DO UPDATE SET cap = coalesce(excluded.cap, cap)",
        [(batch, person, caps.get(person)) for person in annotators],
    )
    after: tuple[int] = connection.execute(
        "SELECT count(*) FROM batch_annotators WHERE batch_id = ?", (batch,)
    ).fetchone()
    return after[0] - before[0]


def open_on(connection: sqlite3.Connection, completions: Iterable[int]) -> list[int]:
    rows = connection.execute(
        "SELECT DISTINCT batch_id FROM assignments WHERE task = 'correctness' AND purpose = 'quota' "
        "AND subject IN (SELECT value FROM json_each(?)) AND state IN ('open', 'leased') AND batch_id IS NOT NULL",
        (json.dumps(list(completions)),),
    )
    return [row[0] for row in rows]


def adjudicators(connection: sqlite3.Connection, batches: Iterable[int]) -> set[int]:
    rows = connection.execute(
        "SELECT adjudicator_id FROM batches WHERE adjudicator_id IS NOT NULL "
        "AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(batches)),),
    )
    return {row[0] for row in rows}


def labelled_by(connection: sqlite3.Connection, person: int, completions: Iterable[int]) -> int:
    row: tuple[int] = connection.execute(
        "SELECT count(DISTINCT e.subject) FROM label_events AS e WHERE e.annotator_id = ? AND e.kind = 'label' AND "
        f"e.task = 'correctness' AND {IN_FORCE} AND {OF_THIS_ROUND} AND e.subject IN (SELECT value FROM json_each(?))",
        (person, json.dumps(list(completions))),
    ).fetchone()
    return row[0]


def labelled(connection: sqlite3.Connection, completions: Iterable[int]) -> set[int]:
    rows = connection.execute(
        "SELECT DISTINCT e.subject FROM label_events AS e WHERE e.kind = 'label' AND e.task = 'correctness' "
        f"AND {IN_FORCE} AND {OF_THIS_ROUND} AND e.subject IN (SELECT value FROM json_each(?))",
        (json.dumps(list(completions)),),
    )
    return {item for (item,) in rows}


def members(connection: sqlite3.Connection) -> set[int]:
    rows = connection.execute(
        "SELECT annotator_id FROM batch_annotators UNION SELECT adjudicator_id FROM batches "
        "WHERE adjudicator_id IS NOT NULL"
    )
    return {person for (person,) in rows}


def is_adjudicator(connection: sqlite3.Connection, person: int) -> bool:
    return connection.execute("SELECT 1 FROM batches WHERE adjudicator_id = ?", (person,)).fetchone() is not None


def open_slots(connection: sqlite3.Connection, batch: int, task: Task, slots: Iterable[NewSlot]) -> None:
    at = now()
    connection.executemany(
        "INSERT INTO assignments (batch_id, task, subject, round, slot, position, meant_for, opened_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ((batch, task, *slot, None if slot.round == 1 else at) for slot in stepping(slots, "opening slots", "slots")),
    )


def nonrandom_batches(connection: sqlite3.Connection) -> list[tuple[int, Sample, npt.NDArray[np.int64]]]:
    rows = connection.execute(
        "SELECT b.id, b.sample, group_concat(DISTINCT a.subject) FROM batches AS b JOIN assignments AS a "
        "ON a.batch_id = b.id AND a.task = 'correctness' AND a.purpose = 'quota' "
        "WHERE b.sample NOT IN ('all', 'drawn') GROUP BY b.id ORDER BY b.id"
    )
    return [(batch, sample, vector(items)) for batch, sample, items in rows]


# -- Counts for forecasts: slots still to be filled, and recent labels.


_MAX_EVENTS = 20_000
"""Maximum number of events searched: as many as a large team makes in a week."""


class Slots(NamedTuple):
    done: int
    left: int


class RecentLabels(NamedTuple):
    """The labels given since a time.

    Attributes:
        given: Number of labels.
        first_at: Time of the first of them; None without any.
    """

    given: int
    first_at: str | None


def slots(connection: sqlite3.Connection) -> Slots:
    counts = dict(
        connection.execute(
            "SELECT state, count(*) FROM assignments WHERE state IN ('open', 'leased', 'away', 'done') "
            "AND task = 'correctness' GROUP BY state"
        ).fetchall()
    )
    return Slots(done=counts.pop("done", 0), left=sum(counts.values()))


def recent_labels(connection: sqlite3.Connection, since: str, annotator: int | None = None) -> RecentLabels:
    """Count the labels since a time, or one person's answers: there checks and repeats count like any item, so that
    they can't be recognised.
    """
    whose, kinds = (
        ("?3 IS NULL", "'label'") if annotator is None else ("annotator_id = ?3", "'label', 'check', 'repeat'")
    )
    row = connection.execute(
        f"SELECT count(*), min(created_at) FROM (SELECT kind, task, created_at FROM label_events WHERE {whose} "
        f"ORDER BY id DESC LIMIT ?2) WHERE kind IN ({kinds}) AND task = 'correctness' AND created_at >= ?1",
        (since, _MAX_EVENTS, annotator),
    ).fetchone()
    return RecentLabels(*row)
