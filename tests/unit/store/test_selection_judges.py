"""Judges a data set was chosen with: added, listed, removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project
from workbench.core.database.connection import Database
from workbench.measuring.store import selection_judges
from workbench.measuring.store.selection_judges import SelectionJudge


@pytest.fixture
def database(tmp_path: Path) -> Database:
    rows = [{"dataset": name, "completion_id": name, "question_id": name} for name in ("hard", "easy")]
    return make_project(tmp_path, rows).database


def test_a_judge_is_noted_once_for_each_data_set(database: Database) -> None:
    with database.write() as connection:
        assert selection_judges.add(connection, 1, ("b", "a", "b")) == 2
        assert selection_judges.add(connection, 1, ("a", "c")) == 1
        assert selection_judges.add(connection, 2, ("a",)) == 1
        assert selection_judges.add(connection, 2, ()) == 0
    assert selection_judges.every(database.reader()) == [
        SelectionJudge("easy", "a"),
        *(SelectionJudge("hard", name) for name in "abc"),
    ]


def test_a_judge_is_forgotten_for_one_data_set(database: Database) -> None:
    with database.write() as connection:
        selection_judges.add(connection, 1, ("a", "b"))
        selection_judges.add(connection, 2, ("a",))
        assert selection_judges.remove(connection, 1, ("a", "nobody")) == 1
    assert selection_judges.every(database.reader()) == [SelectionJudge("easy", "a"), SelectionJudge("hard", "b")]
