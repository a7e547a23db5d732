"""What disagreements are told by beside the columns: samples, earlier runs, and the final answers compared."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Sequence
from typing import NamedTuple

from workbench.core.database.gathered import integers
from workbench.core.verdict import Outcome


class ComparedAnswers(NamedTuple):
    """What a verdict rests on: the rule, and the final answers it compared."""

    rule: str | None
    reference: str | None
    candidate: str | None


class Sampled(NamedTuple):
    """Items with several samples in a run: how many of those say "correct" and "incorrect"."""

    item: array[int]
    yes: array[int]
    no: array[int]


def compared(connection: sqlite3.Connection, run: int, items: Sequence[int]) -> dict[int, ComparedAnswers]:
    """Completion row id -> what a run's verdict on it rests on, for those that have evidence."""
    rows = connection.execute(
        "SELECT completion_id, rule, reference_final, candidate_final FROM json_each(?) AS wanted "
        "CROSS JOIN verdict_evidence ON run_id = ? AND completion_id = wanted.value AND sample = 0",
        (json.dumps(list(items)), run),
    )
    return {row[0]: ComparedAnswers(*row[1:]) for row in rows}


def samples(connection: sqlite3.Connection, run: int) -> Sampled:
    """A run's samples counted by item, in order of row id; nothing for a run that took none.

    Sample 0 is an item's verdict, which says nothing of its own; the others are the votes it was made of.
    """
    row: tuple[str | None, str | None, str | None] = connection.execute(
        "SELECT group_concat(completion_id), group_concat(yes), group_concat(no) FROM (SELECT completion_id, "
        f"sum(outcome = {int(Outcome.CORRECT)}) AS yes, sum(outcome = {int(Outcome.INCORRECT)}) AS no FROM verdicts "
        "WHERE run_id = ? AND sample > 0 GROUP BY completion_id ORDER BY completion_id)",
        (run,),
    ).fetchone()
    return Sampled(*map(integers, row))


def run_before(connection: sqlite3.Connection, run: int) -> int | None:
    """The newest run of the same verifier before this one that has been complete; None where there is none."""
    row: tuple[int | None] = connection.execute(
        "SELECT max(earlier.id) FROM runs AS r JOIN runs AS earlier ON earlier.verifier_id = r.verifier_id "
        "AND earlier.id < r.id AND earlier.completed_at IS NOT NULL WHERE r.id = ?",
        (run,),
    ).fetchone()
    return row[0]
