"""SQL of watched trainings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from workbench.core.database.selection import VISIBLE
from workbench.core.database.values import as_record
from workbench.measuring.records.watching import WordingAlarm


class TrainingRow(NamedTuple):
    id: int
    name: str
    verifier: str
    version: str
    seed: int
    share: float
    started_at: str


class JudgedStep(NamedTuple):
    step: int
    accepted: int
    rejected: int
    undecided: int
    dropped: int


class AuditedRow(NamedTuple):
    completion: int
    step: int
    outcome: int
    chance: float


def trainings(connection: sqlite3.Connection) -> list[TrainingRow]:
    rows = connection.execute("SELECT id, name, verifier, version, seed, share, started_at FROM trainings ORDER BY id")
    return [TrainingRow(*row) for row in rows]


def steps(connection: sqlite3.Connection, training: int) -> list[JudgedStep]:
    rows = connection.execute(
        "SELECT step, accepted, rejected, undecided, dropped FROM training_steps WHERE training_id = ? ORDER BY step",
        (training,),
    )
    return [JudgedStep(*row) for row in rows]


def audited(connection: sqlite3.Connection, training: int) -> list[AuditedRow]:
    rows = connection.execute(
        "SELECT a.completion_id, a.step, a.outcome, a.chance FROM audited AS a JOIN completions AS c ON c.id = "
        f"a.completion_id WHERE a.training_id = ? AND {VISIBLE} ORDER BY a.completion_id",
        (training,),
    )
    return [AuditedRow(*row) for row in rows]


def alarms(connection: sqlite3.Connection, training: int) -> list[WordingAlarm]:
    rows = connection.execute(
        "SELECT step, wording, example, before, accepted, rejected, evidence FROM training_alarms "
        "WHERE training_id = ? ORDER BY step, evidence DESC, wording",
        (training,),
    )
    return [as_record(WordingAlarm, row) for row in rows]


def texts(connection: sqlite3.Connection, completions: Iterable[int]) -> list[tuple[int, int, str]]:
    found = []
    for completion in completions:
        found += connection.execute(
            "SELECT c.id, c.question_id, t.text FROM completions AS c JOIN completion_text AS t ON t.id = c.id "
            "WHERE c.id = ?",
            (completion,),
        ).fetchall()
    return found
