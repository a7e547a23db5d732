"""Reads label events for label files: with the ids of items and the names of people."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from workbench.core.database import events
from workbench.core.database.selection import VISIBLE, VISIBLE_QUESTION
from workbench.core.label import LabelEvent, Task


def find_completions(
    connection: sqlite3.Connection, completion: str, question: str | None, dataset: str | None
) -> list[tuple[int, int, str, str]]:
    rows = connection.execute(
        "SELECT c.id, q.id, d.name, q.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id JOIN "
        "datasets AS d ON d.id = q.dataset_id WHERE c.key = ?1 AND (?2 IS NULL OR q.key = ?2) AND (?3 IS NULL OR "
        f"d.name = ?3) AND {VISIBLE} LIMIT 2",
        (completion, question, dataset),
    )
    return rows.fetchall()


def find_questions(connection: sqlite3.Connection, question: str, dataset: str | None) -> list[tuple[int, str]]:
    rows = connection.execute(
        "SELECT q.id, d.name FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id "
        f"WHERE q.key = ?1 AND (?2 IS NULL OR d.name = ?2) AND {VISIBLE_QUESTION} LIMIT 2",
        (question, dataset),
    )
    return rows.fetchall()


class SubjectPlace(NamedTuple):
    """The ids by which a labelled completion or question is found in another database.

    A question is identified by its id and the smallest id of its completions; ``completion_id`` is "" for a question
    without completions.
    """

    dataset: str
    question_id: str
    completion_id: str


class PlacedEvent(NamedTuple):
    event: LabelEvent
    annotator: str
    role: str
    place: SubjectPlace


_PLACES: dict[Task, str] = {
    "correctness": "SELECT d.name, q.key, c.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
    "JOIN datasets AS d ON d.id = q.dataset_id WHERE c.id = ?",
    "type": "SELECT d.name, q.key, coalesce((SELECT min(c.key) FROM completions AS c WHERE c.question_id = q.id), '') "
    "FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id WHERE q.id = ?",
}


def subject_place(connection: sqlite3.Connection, task: Task, subject: int) -> SubjectPlace:
    return SubjectPlace(*connection.execute(_PLACES[task], (subject,)).fetchone())


def completion_places(
    connection: sqlite3.Connection, completions: list[int]
) -> Iterator[tuple[int, int, SubjectPlace]]:
    rows = connection.execute(
        "SELECT c.id, q.id, d.name, q.key, c.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
        "JOIN datasets AS d ON d.id = q.dataset_id WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id",
        (json.dumps(completions),),
    )
    return ((row[0], row[1], SubjectPlace(*row[2:])) for row in rows)


def all_events(connection: sqlite3.Connection) -> Iterator[PlacedEvent]:
    return place_events(connection, events.all_events(connection))


def place_events(connection: sqlite3.Connection, found: Iterable[LabelEvent]) -> Iterator[PlacedEvent]:
    people = {
        person: (name, role) for person, name, role in connection.execute("SELECT id, name, role FROM annotators")
    }
    for event in found:
        name, role = people[event.annotator]
        yield PlacedEvent(event, name, role, subject_place(connection, event.task, event.subject))
