"""Judges whose verdicts decided what belongs to a data set."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from msgspec import Struct


class SelectionJudge(Struct, frozen=True):
    """A judge a data set was chosen with, by the name of the verifier or of its model."""

    dataset: str
    name: str


def add(connection: sqlite3.Connection, dataset: int, names: Sequence[str]) -> int:
    """Note judges of a data set; returns how many of them are new."""
    rows = connection.executemany(
        "INSERT OR IGNORE INTO selection_judges (dataset_id, name) VALUES (?, ?)", [(dataset, name) for name in names]
    )
    return max(rows.rowcount, 0)


def remove(connection: sqlite3.Connection, dataset: int, names: Sequence[str]) -> int:
    """Forget judges of a data set; returns how many of them were there."""
    rows = connection.executemany(
        "DELETE FROM selection_judges WHERE dataset_id = ? AND name = ?", [(dataset, name) for name in names]
    )
    return max(rows.rowcount, 0)


def every(connection: sqlite3.Connection) -> list[SelectionJudge]:
    """All of them, by data set and name."""
    rows = connection.execute(
        "SELECT d.name, s.name FROM selection_judges AS s JOIN datasets AS d ON d.id = s.dataset_id ORDER BY 1, 2"
    )
    return [SelectionJudge(*row) for row in rows]
