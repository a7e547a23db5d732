"""Items and verdicts as columns equal the rows, and known reasons are read as numbers."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import make_project, numbered
from workbench.data.store import columns
from workbench.data.store.columns import EVERY_ROW, read_items, read_verdicts
from workbench.statistics.records.report import NO_REASON

REASONS = (None, "", NO_REASON, "number", "numb", 'text, "equal"\n', "'); --", "Grund ü")


@pytest.fixture
def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    made.execute(
        "CREATE TABLE verdicts (run_id INTEGER, completion_id INTEGER, sample INTEGER DEFAULT 0, outcome INTEGER, "
        "score REAL, reason TEXT, PRIMARY KEY (run_id, completion_id, sample)) WITHOUT ROWID"
    )
    return made


def put(connection: sqlite3.Connection, rows: Iterable[tuple[int, int, str | None, float | None]]) -> None:
    connection.executemany(
        "INSERT INTO verdicts (run_id, completion_id, outcome, reason, score) VALUES (1, ?, ?, ?, ?)", rows
    )


@pytest.mark.parametrize("coded", [0, 3, 40])
@pytest.mark.parametrize("seed", range(6))
def test_columns_equal_the_rows(
    seed: int, coded: int, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "_PIECE", 7)
    monkeypatch.setattr(columns, "_FIRST_PIECE", 2)
    monkeypatch.setattr(columns, "_MAX_CODED_REASONS", coded)
    draw = random.Random(seed)
    items = sorted({*range(20, 50), *(draw.randrange(1, 10 ** draw.randint(1, 9)) for _ in range(60)), 2**62})
    rows = [(item, draw.randrange(4), draw.choice(REASONS), draw.choice((None, 0.1))) for item in items]
    put(connection, rows)
    connection.execute(
        "INSERT INTO verdicts (run_id, completion_id, sample, outcome) VALUES (1, 25, 1, 3), (2, 1, 0, 3)"
    )
    for first, last in (EVERY_ROW, (22, 41), (51, 2**62), (2**62 + 1, 2**63 - 1), (30, 30)):
        wanted = np.array([item for item in items if first <= item <= last], dtype=np.int64)
        found = read_verdicts(connection, 1, wanted)
        expected = [row for row in rows if first <= row[0] <= last]
        words = [reason or NO_REASON for _, _, reason, _ in expected]
        assert found.columns["outcome"].tolist() == [row[1] for row in expected]
        assert found.names["reason"] == tuple(dict.fromkeys([NO_REASON, *words]))
        assert [found.names["reason"][place] for place in found.columns["reason"]] == words
        scores = [row[3] for row in expected]
        read = found.columns.get("score", np.full(len(expected), np.nan))
        assert [None if np.isnan(score) else score for score in read] == scores
        half = read_verdicts(connection, 1, wanted[::2])
        assert half.columns["outcome"].tolist() == found.columns["outcome"].tolist()[::2]


def test_reasons_that_are_known_are_not_read_as_texts(connection: sqlite3.Connection) -> None:
    """One piece is, where reasons are new, and one more when another comes; the first has a thousand rows."""
    rows = [(item, 1, "number" if item < 170_000 else "text_equal", None) for item in range(1, 200_001)]
    put(connection, rows)
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    found = read_verdicts(connection, 1, np.arange(1, 200_001))
    assert found.names["reason"] == (NO_REASON, "number", "text_equal")
    told = [sql for sql in asked if sql.startswith("SELECT outcome, reason")]
    assert len(told) == 2
    assert "BETWEEN 1 AND 1000 " in told[0]
    assert not any("group_concat(id)" in sql for sql in asked)


@pytest.mark.parametrize("gone", [(), (1,), (12,), (4, 5, 9), range(1, 13)])
def test_items_are_read_with_their_row_ids_whichever_are_missing(gone: Sequence[int], tmp_path: Path) -> None:
    golds, models = [True, False, None] * 4, [None, "m", "other", "m"] * 3
    rows = [row | {"gold": gold, "model": model} for row, gold, model in zip(numbered(12), golds, models, strict=True)]
    project = make_project(tmp_path, rows)
    with project.database.write() as connection:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        connection.execute("UPDATE completions SET characters = 100 * id WHERE id % 2")
        for item in gone:
            for table, key in (("completion_text", "id"), ("completions", "id")):
                connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (item,))
    reader = project.database.reader()
    for first, last in (EVERY_ROW, (3, 9), (9, 3)):
        found = read_items(reader, first, last)
        plain = reader.execute(
            "SELECT c.id, question_id, coalesce(characters, -1), coalesce(imported_gold, -1), coalesce(m.name, '') "
            "FROM completions AS c LEFT JOIN models AS m ON m.id = model_id WHERE c.id BETWEEN ? AND ? ORDER BY c.id",
            (first, last),
        ).fetchall()
        numbers = [found.columns[name].tolist() for name in ("item", "question", "characters", "imported")]
        written = [found.names["model"][code] for code in found.columns["model"]]
        assert list(zip(*numbers, written, strict=True)) == plain
    project.close()


def test_a_project_without_items_has_columns_without_rows(tmp_path: Path) -> None:
    with make_project(tmp_path, []).database.reading() as reader:
        assert read_items(reader, *EVERY_ROW).rows == 0
