"""Batches: which items were given to which people at once, and the slots that were opened for it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.database.gathered import vector
from workbench.core.database.people import now
from workbench.core.database.selection import FROM_ITEMS, SUBTYPE
from workbench.core.label import Task
from workbench.core.progress import stepping
from workbench.core.selection import Selection
from workbench.statistics.records.ordering import Sample

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class BatchItem(NamedTuple):
    """An item that is to be labelled.

    Attributes:
        key: The completion's own id.
        stratum: Its source, else its domain, else its answer subtype.
    """

    completion: int
    question: int
    key: str
    stratum: str


class SubjectSlots(NamedTuple):
    """The slots a subject has in the round under way.

    Attributes:
        round: That round.
        slots: Their numbers.
        people: Who holds them, or is meant to.
    """

    round: int
    slots: frozenset[int]
    people: frozenset[int]


class NewSlot(NamedTuple):
    """A slot to be opened."""

    subject: int
    round: int
    number: int
    position: int
    meant_for: int | None


def chosen(connection: sqlite3.Connection, items: Iterable[int]) -> list[BatchItem]:
    """Items by row id, in the order asked for."""
    rows = connection.execute(
        f"SELECT c.id, c.question_id, c.key, coalesce(s.name, s.domain, {SUBTYPE}, '') FROM json_each(?) AS j "
        f"CROSS JOIN {FROM_ITEMS} WHERE c.id = j.value ORDER BY j.key",
        (json.dumps(list(items)),),
    )
    return [BatchItem(*row) for row in rows]


def standing(connection: sqlite3.Connection, task: Task, subjects: Iterable[int]) -> dict[int, SubjectSlots]:
    """The slots that subjects have."""
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
    """Add a batch with its people; returns its row id.

    Args:
        seed: Of what chance chose; None where it chose nothing.
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
    """Let people claim slots of a batch; a cap that is given replaces the one they had. Returns how many are new."""
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
    """Batches with slots still open (or under lease) on the given items."""
    rows = connection.execute(
        "SELECT DISTINCT batch_id FROM assignments WHERE task = 'correctness' AND purpose = 'quota' "
        "AND subject IN (SELECT value FROM json_each(?)) AND state IN ('open', 'leased') AND batch_id IS NOT NULL",
        (json.dumps(list(completions)),),
    )
    return [row[0] for row in rows]


def adjudicators(connection: sqlite3.Connection, batches: Iterable[int]) -> set[int]:
    """Who settles the conflicts of the batches, where it is someone named."""
    rows = connection.execute(
        "SELECT adjudicator_id FROM batches WHERE adjudicator_id IS NOT NULL "
        "AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(batches)),),
    )
    return {row[0] for row in rows}


def members(connection: sqlite3.Connection) -> set[int]:
    """Everyone whom a batch names, to label or to settle its conflicts."""
    rows = connection.execute(
        "SELECT annotator_id FROM batch_annotators UNION SELECT adjudicator_id FROM batches "
        "WHERE adjudicator_id IS NOT NULL"
    )
    return {person for (person,) in rows}


def settles(connection: sqlite3.Connection, person: int) -> bool:
    """Whether a batch leaves its conflicts to the person."""
    return connection.execute("SELECT 1 FROM batches WHERE adjudicator_id = ?", (person,)).fetchone() is not None


def open_slots(connection: sqlite3.Connection, batch: int, task: Task, slots: Iterable[NewSlot]) -> None:
    """Open slots for a batch; in a later round, own labels of earlier ones are out of sight while they are leased."""
    at = now()
    connection.executemany(
        "INSERT INTO assignments (batch_id, task, subject, round, slot, position, meant_for, opened_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ((batch, task, *slot, None if slot.round == 1 else at) for slot in stepping(slots, "opening slots", "slots")),
    )


def uneven(connection: sqlite3.Connection) -> list[tuple[int, Sample, npt.NDArray[np.int64]]]:
    """The batches whose items are no random sample of what they were chosen from, with row ids of their items."""
    rows = connection.execute(
        "SELECT b.id, b.sample, group_concat(DISTINCT a.subject) FROM batches AS b JOIN assignments AS a "
        "ON a.batch_id = b.id AND a.task = 'correctness' AND a.purpose = 'quota' "
        "WHERE b.sample NOT IN ('all', 'drawn') GROUP BY b.id ORDER BY b.id"
    )
    return [(batch, sample, vector(items)) for batch, sample, items in rows]
