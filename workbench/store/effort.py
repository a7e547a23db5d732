"""What labelling has taken so far: how long a label, how often people differed."""

from __future__ import annotations

import sqlite3
from array import array

from workbench.store.events import IN_FORCE


def label_times(connection: sqlite3.Connection) -> array[int]:
    """Milliseconds each label in force on a completion took its maker; labels without a time are left out."""
    rows = connection.execute(
        "SELECT coalesce(e.focused_ms, e.open_ms) AS taken FROM label_events AS e "
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
