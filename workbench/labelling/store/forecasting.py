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


def recent(connection: sqlite3.Connection, since: str) -> RecentLabels:
    row = connection.execute(
        "SELECT count(*), min(created_at) FROM (SELECT kind, task, created_at FROM label_events ORDER BY id DESC "
        "LIMIT ?2) WHERE kind = 'label' AND task = 'correctness' AND created_at >= ?1",
        (since, _MAX_EVENTS),
    ).fetchone()
    return RecentLabels(*row)


def own_recent(connection: sqlite3.Connection, since: str, annotator: int) -> RecentLabels:
    """Count one person's answers since a time; checks and repeats count like any item, so that they can't be
    recognised.
    """
    row = connection.execute(
        "SELECT count(*), min(created_at) FROM (SELECT kind, task, created_at FROM label_events "
        "WHERE annotator_id = ?3 ORDER BY id DESC LIMIT ?2) WHERE kind IN ('label', 'check', 'repeat') "
        "AND task = 'correctness' AND created_at >= ?1",
        (since, _MAX_EVENTS, annotator),
    ).fetchone()
    return RecentLabels(*row)
