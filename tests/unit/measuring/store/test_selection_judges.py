"""Judges that selected a dataset: added, listed, removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project
from workbench.core.database.connection import Database
from workbench.measuring.store import figures


@pytest.fixture
def database(tmp_path: Path) -> Database:
    rows = [{"dataset": name, "completion_id": name, "question_id": name} for name in ("hard", "easy")]
    return make_project(tmp_path, rows).database


def test_a_judge_is_recorded_once_per_dataset(database: Database) -> None:
    with database.write() as connection:
        assert figures.add(connection, 1, ("b", "a", "b")) == 2
        assert figures.add(connection, 1, ("a", "c")) == 1
        assert figures.add(connection, 2, ("a",)) == 1
        assert figures.add(connection, 2, ()) == 0
    assert figures.every(database.reader()) == {"easy": ["a"], "hard": ["a", "b", "c"]}


def test_a_judge_can_be_removed_from_one_dataset(database: Database) -> None:
    with database.write() as connection:
        figures.add(connection, 1, ("a", "b"))
        figures.add(connection, 2, ("a",))
        assert figures.remove(connection, 1, ("a", "nobody")) == 1
    assert figures.every(database.reader()) == {"easy": ["a"], "hard": ["b"]}
