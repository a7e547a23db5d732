"""Items and verdicts read by several threads: the same columns, of one state of the database, nothing left open."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import numpy as np
import pytest

from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.database import changes
from workbench.core.project import Project
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.data.store.columns import EVERY_ROW, ColumnTable, read_items, read_verdicts
from workbench.measuring import column_memory
from workbench.measuring.column_memory import ColumnMemory
from workbench.runs.store import verdicts

ITEMS = 97


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Some items have no verdict, few a score; reasons come up late, and one on the last item alone."""
    made = make_project(tmp_path, numbered(ITEMS))
    said = {
        item: Verdict(
            outcome=OutcomeCode(item % 4).outcome,
            reason=f"r{item // 20}" if item % 3 else None,
            score=item / 7 if item % 11 == 0 else None,
        )
        for item in range(1, ITEMS + 1)
        if item % 5
    }
    add_complete_run(made, "v", said.items())
    return made


@pytest.fixture
def shares(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The threads in which shares are read; four shares are made at most."""
    threads: list[int] = []

    def counted(number: int) -> ThreadPoolExecutor:
        threads.append(number - 1)
        return ThreadPoolExecutor(number)

    monkeypatch.setattr(column_memory, "_MIN_SHARE_ITEMS", 10)
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr(column_memory, "ThreadPoolExecutor", counted)
    return threads


def items_of(project: Project, connection: Connection) -> ColumnTable:
    return ColumnMemory(project.database)._read_whole(connection, None, None)


def verdicts_of(project: Project, connection: Connection, items: np.ndarray[Any, Any]) -> ColumnTable:
    return ColumnMemory(project.database)._read_whole(connection, 1, items)


def same(found: ColumnTable, wanted: ColumnTable) -> bool:
    return found.names == wanted.names and all(
        found.columns[name].dtype == values.dtype
        and np.array_equal(found.columns[name], values, equal_nan=values.dtype.kind == "f")
        and not found.columns[name].flags.writeable
        for name, values in wanted.columns.items()
    )


def test_shares_make_the_columns_that_one_reader_makes(project: Project, shares: list[int]) -> None:
    items = np.arange(1, ITEMS + 1)
    with project.database.reading() as connection:
        opened = len(project.database._opened)
        found = verdicts_of(project, connection, items)
        assert same(found, read_verdicts(connection, 1, items))
    assert shares == [3]
    assert len(project.database._opened) == opened, "no thread leaves a connection behind"


@pytest.fixture
def worked_on(project: Project) -> Project:
    """Items of several questions, models and types; some are gone, hidden, or said to be something else by people."""
    with project.database.write() as connection:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        connection.execute("INSERT INTO models (id, name) VALUES (7, 'b'), (9, 'a')")
        connection.execute("UPDATE completions SET model_id = 7 WHERE id % 3 = 1 AND id > 60")
        connection.execute("UPDATE completions SET model_id = 9, imported_gold = NULL WHERE id % 3 = 2")
        connection.execute("UPDATE completions SET question_id = 40 - id % 5, characters = 3 * id WHERE id % 2")
        for table, key in (("verdicts", "completion_id"), ("completion_text", "id"), ("completions", "id")):
            connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", [(1,), (24,), (25,), (70,)])
        connection.executemany(
            "INSERT INTO item_states (completion_id, state, gold, subtype) VALUES (?, 'final', ?, ?)",
            [(30, 1, "late"), (71, 0, "Early"), (97, 1, "late")],
        )
    return project


def test_shares_make_the_items_that_one_reader_reads(worked_on: Project, shares: list[int]) -> None:
    with worked_on.database.reading() as connection:
        opened = len(worked_on.database._opened)
        found = items_of(worked_on, connection)
        wanted = read_items(connection, *EVERY_ROW)
    assert same(found, wanted)
    assert found.columns.keys() == wanted.columns.keys()
    assert found.rows == ITEMS - 4
    assert shares == [3]
    assert len(worked_on.database._opened) == opened, "no thread leaves a connection behind"


def test_items_that_somebody_changes_in_between_are_read_by_one(worked_on: Project, shares: list[int]) -> None:
    with worked_on.database.reading() as connection:
        wanted = read_items(connection, *EVERY_ROW)
        with worked_on.database.write() as writer:
            writer.execute("UPDATE completions SET characters = 1, imported_gold = 1")
        assert same(items_of(worked_on, connection), wanted)
    assert shares == [3]


def test_where_somebody_writes_in_between_one_reads_it_all(
    project: Project, shares: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader's own state is what counts, not what the others would see."""
    items = np.arange(1, ITEMS + 1)
    mark = changes.mark
    with project.database.reading() as connection:
        wanted = read_verdicts(connection, 1, items)
        with project.database.write() as writer:
            verdicts.put(writer, 1, [(item, Verdict(outcome=Outcome.ERROR)) for item in (5, 50, 95)])
        assert mark(connection) != mark(project.database.open())
        assert same(verdicts_of(project, connection, items), wanted)
    assert shares == [3]


def test_few_items_are_read_by_one(project: Project, shares: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_memory, "_MIN_SHARE_ITEMS", ITEMS)
    with project.database.reading() as connection:
        verdicts_of(project, connection, np.arange(1, ITEMS + 1))
        assert verdicts_of(project, connection, np.arange(0)).rows == 0
        assert items_of(project, connection).rows == ITEMS
    assert not shares, "no thread is started"


def test_a_project_without_items_has_columns_without_rows(tmp_path: Path) -> None:
    empty = make_project(tmp_path, [])
    with empty.database.reading() as connection:
        assert items_of(empty, connection).rows == 0
