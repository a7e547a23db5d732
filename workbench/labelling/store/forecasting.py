"""Counts slots still to be filled, and recent labels."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

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


def recent(connection: sqlite3.Connection, since: str, annotator: int | None = None) -> RecentLabels:
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
