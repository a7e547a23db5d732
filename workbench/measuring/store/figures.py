"""SQL of runs and labels for planning and ordering annotators' work, and of selection judges."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence
from typing import NamedTuple

from workbench.core.database.events import IN_FORCE, LONGEST_LOOK, OF_THIS_ROUND
from workbench.core.errors import Command, UsageError


def verifier_of_run(connection: sqlite3.Connection, run: int) -> str:
    """Return the name of a run's verifier.

    Raises:
        UsageError: The run does not exist.
    """
    row = connection.execute(
        "SELECT v.name FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id WHERE r.id = ?", (run,)
    ).fetchone()
    if row is None:
        raise UsageError(f"There is no run {run}.", "List them", Command("runs DB"))
    return str(row[0])


def gold_columns(connection: sqlite3.Connection, kind: str) -> list[tuple[str, str, int, int]]:
    columns = "v.name, n.mapping ->> '$.columns.gold' AS gold, n.first_completion_id, n.imported"
    query = f"SELECT {columns} FROM verifiers AS v, imports AS n WHERE v.kind = ? AND gold <> ''"
    return connection.execute(query, (kind,)).fetchall()


# -- Cost of labelling so far: time for a label, and frequency of conflicts.


class StartedItem(NamedTuple):
    """A completion that has labels but no final verdict yet.

    Attributes:
        labels: Number of its counted labels.
        differs: Whether its labels disagree, so that it needs an adjudicator.
    """

    labels: int
    differs: bool


def label_times(connection: sqlite3.Connection) -> array[int]:
    took = LONGEST_LOOK.format("coalesce(look.focused_ms, look.open_ms)")
    rows = connection.execute(
        f"SELECT {took} AS taken FROM label_events AS e "
        f"WHERE e.task = 'correctness' AND e.kind = 'label' AND taken IS NOT NULL AND {IN_FORCE}"
    )
    return array("q", (taken for (taken,) in rows))


def disputed(connection: sqlite3.Connection) -> tuple[int, int]:
    row: tuple[int, int] = connection.execute(
        "SELECT count(*) FILTER (WHERE state = 'conflict' OR decided_by = 'adjudicated'), count(*) FROM task_states "
        "WHERE task = 'correctness' AND (state = 'conflict' OR decided_by IN ('agreed', 'adjudicated'))"
    ).fetchone()
    return row


def partly_labelled(connection: sqlite3.Connection) -> dict[int, StartedItem]:
    """Return the completions that have labels but no final verdict; these labels reduce the number still needed.

    A completion with a resolved verdict and an unresolved type has all its labels and needs an adjudicator.
    """
    rows = connection.execute(
        "SELECT e.subject, count(DISTINCT e.annotator_id), i.state = 'conflict' FROM item_states AS i "
        "JOIN label_events AS e ON e.task = 'correctness' AND e.subject = i.completion_id AND e.kind = 'label' "
        f"WHERE i.state IN ('labelled', 'conflict') AND {IN_FORCE} AND {OF_THIS_ROUND} GROUP BY e.subject"
    )
    return {subject: StartedItem(labels, bool(differs)) for subject, labels, differs in rows}


# -- Selection judges: verifiers whose verdicts helped to choose the items of a data set.


def add(connection: sqlite3.Connection, dataset: int, names: Sequence[str]) -> int:
    rows = connection.executemany(
        "INSERT OR IGNORE INTO selection_judges (dataset_id, name) VALUES (?, ?)", [(dataset, name) for name in names]
    )
    return max(rows.rowcount, 0)


def remove(connection: sqlite3.Connection, dataset: int, names: Sequence[str]) -> int:
    rows = connection.executemany(
        "DELETE FROM selection_judges WHERE dataset_id = ? AND name = ?", [(dataset, name) for name in names]
    )
    return max(rows.rowcount, 0)


def every(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Return each data set's selection judges: verifiers, by their name or their model's."""
    found: dict[str, list[str]] = {}
    for dataset, name in connection.execute(
        "SELECT d.name, s.name FROM selection_judges AS s JOIN datasets AS d ON d.id = s.dataset_id ORDER BY 1, 2"
    ):
        found.setdefault(dataset, []).append(name)
    return found
