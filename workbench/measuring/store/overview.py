"""Counts over the whole database, for Home and ``status``."""

from __future__ import annotations

import sqlite3

from workbench.core.database.connection import Database
from workbench.core.database.events import count_own
from workbench.core.database.people import COORDINATOR, everyone
from workbench.core.database.vocabularies import SHOWN_DATASET
from workbench.core.status import DatasetInfo, PersonProgress
from workbench.labelling.store import claiming, conflicts
from workbench.labelling.store.batches import members


def datasets(connection: sqlite3.Connection) -> list[DatasetInfo]:
    """Data sets with their sizes, in the order they came."""
    rows = connection.execute(
        "SELECT d.name, d.types, count(DISTINCT q.id), count(c.id) FROM datasets AS d "
        "LEFT JOIN questions AS q ON q.dataset_id = d.id AND q.id < (SELECT question_id FROM horizon) "
        "LEFT JOIN completions AS c ON c.question_id = q.id AND c.id < (SELECT completion_id FROM horizon) "
        f"WHERE {SHOWN_DATASET} GROUP BY d.id ORDER BY d.id"
    )
    return [DatasetInfo(name=row[0], types=row[1], questions=row[2], items=row[3]) for row in rows]


def people(database: Database) -> list[PersonProgress]:
    """The progress of everyone who labels or settles conflicts, in the order they came.

    Who only coordinates (has looked at an item, written guidelines, decided of one) is none of them.
    """
    reader = database.reader()
    named = members(reader)
    found = []
    for person in everyone(database):
        labels = count_own(reader, person.id, "label")
        if person.role == COORDINATOR and person.id not in named and not labels:
            continue
        counts = claiming.counts(reader, person.id)
        found.append(
            PersonProgress(
                name=person.name,
                role=person.role,
                done=labels,
                left=counts.leased + counts.fresh + counts.skipped,
                conflicts=conflicts.count(reader, person.id),
                away=counts.away,
            )
        )
    return found


def totals(connection: sqlite3.Connection) -> dict[str, int]:
    """Numbers of questions, runs, active runs and quarantined rows."""
    row = connection.execute(
        "SELECT (SELECT count(*) FROM questions WHERE id < (SELECT question_id FROM horizon)), "
        "(SELECT count(*) FROM runs), (SELECT count(*) FROM runs WHERE state IN ('queued', 'running')), "
        "(SELECT count(*) FROM quarantine)"
    ).fetchone()
    return dict(zip(("questions", "runs", "running", "quarantined"), row, strict=True))
