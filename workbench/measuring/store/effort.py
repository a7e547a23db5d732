"""What labelling has taken so far: how long a label, how often people differed."""

from __future__ import annotations

import sqlite3
from array import array
from typing import NamedTuple

from workbench.core.database.events import IN_FORCE, LONGEST_LOOK, OF_THIS_ROUND


class Begun(NamedTuple):
    """An undecided completion that somebody has labelled.

    Attributes:
        labels: Labels on it that count.
        differs: Whether it waits for an adjudicator.
    """

    labels: int
    differs: bool


def label_times(connection: sqlite3.Connection) -> array[int]:
    """Milliseconds each label in force on a completion took its maker; labels without a time are left out."""
    took = LONGEST_LOOK.format("coalesce(look.focused_ms, look.open_ms)")
    rows = connection.execute(
        f"SELECT {took} AS taken FROM label_events AS e "
        f"WHERE e.task = 'correctness' AND e.kind = 'label' AND taken IS NOT NULL AND {IN_FORCE}"
    )
    return array("q", (taken for (taken,) in rows))


def disputed(connection: sqlite3.Connection) -> tuple[int, int]:
    """Completions that people differed on, and all on which enough of them have spoken."""
    row: tuple[int, int] = connection.execute(
        "SELECT count(*) FILTER (WHERE state = 'conflict' OR decided_by = 'adjudicated'), count(*) FROM task_states "
        "WHERE task = 'correctness' AND (state = 'conflict' OR decided_by IN ('agreed', 'adjudicated'))"
    ).fetchone()
    return row


def begun(connection: sqlite3.Connection) -> dict[int, Begun]:
    """Completions with labels that are not final: what work already done is part of what they still take.

    One whose verdict is settled and whose type is not has all its labels: it waits for an adjudicator.
    """
    rows = connection.execute(
        "SELECT e.subject, count(DISTINCT e.annotator_id), i.state = 'conflict' FROM item_states AS i "
        "JOIN label_events AS e ON e.task = 'correctness' AND e.subject = i.completion_id AND e.kind = 'label' "
        f"WHERE i.state IN ('labelled', 'conflict') AND {IN_FORCE} AND {OF_THIS_ROUND} GROUP BY e.subject"
    )
    return {subject: Begun(labels, bool(differs)) for subject, labels, differs in rows}
