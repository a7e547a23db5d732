"""A run's verdicts read by several threads: the same columns, of one state of the database, and nothing left open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.database import generation
from workbench.core.project import Project
from workbench.core.verdict import Outcome, Verdict
from workbench.data.store.columns import EVERY_ROW
from workbench.measuring import column_reading, column_tables
from workbench.measuring.column_tables import ColumnTable
from workbench.runs.store import verdicts

ITEMS = 97


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Some items have no verdict, few a score; reasons come up late, and one on the last item alone."""
    made = make_project(tmp_path, numbered(ITEMS))
    said = {
        item: Verdict(
            outcome=Outcome(item % 4),
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
    """The items of each share, as they are read elsewhere; four at most."""
    read: list[int] = []
    elsewhere = column_reading._read_elsewhere

    def told(*arguments: Any) -> ColumnTable | None:
        read.append(len(arguments[-1]))
        return elsewhere(*arguments)

    monkeypatch.setattr(column_reading, "_WORTH", 10)
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr(column_reading, "_read_elsewhere", told)
    return read


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
        found = column_reading.read_verdicts(project.database, connection, 1, items)
        assert same(found, column_tables.read_verdicts(connection, 1, items, *EVERY_ROW))
    assert sorted(shares) == [24, 24, 25]
    assert len(project.database._opened) == opened, "no thread leaves a connection behind"


def test_where_somebody_writes_in_between_one_reads_it_all(
    project: Project, shares: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader's own state is what counts, not what the others would see."""
    items = np.arange(1, ITEMS + 1)
    mark = generation.mark
    with project.database.reading() as connection:
        wanted = column_tables.read_verdicts(connection, 1, items, *EVERY_ROW)
        with project.database.write() as writer:
            verdicts.put(writer, 1, [(item, Verdict(outcome=Outcome.ERROR)) for item in (5, 50, 95)])
        assert mark(connection) != mark(project.database.open())
        assert same(column_reading.read_verdicts(project.database, connection, 1, items), wanted)
    assert len(shares) == 3


def test_few_items_are_read_by_one(project: Project, shares: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_reading, "_WORTH", ITEMS)
    with project.database.reading() as connection:
        column_reading.read_verdicts(project.database, connection, 1, np.arange(1, ITEMS + 1))
        assert column_reading.read_verdicts(project.database, connection, 1, np.arange(0)).rows == 0
    assert shares == []
