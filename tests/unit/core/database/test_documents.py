"""JSON documents in a foreign database."""

from __future__ import annotations

import sqlite3

import pytest

from workbench.coding import store
from workbench.core.errors import StoreError
from workbench.runs.store import runs, verdicts

TABLES = {
    "provenance": "(run_id, document)",
    "counted_results": "(run_id, completion_id, suite, outcomes, isolation, forgeable, ms, failures)",
    "datasets": "(id, name)",
    "evolutions": "(id, dataset_id, name, config)",
    "evolution_steps": "(evolution_id, question_id, position, document)",
    "questions": "(id, key, source_id)",
    "sources": "(id, name)",
}


@pytest.mark.parametrize("document", ["garbage", "[{]", "5", "[{}]", "[" * 100_000, ""])
def test_an_invalid_document_is_reported(document: str) -> None:
    connection = sqlite3.connect(":memory:")
    for name, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {name} {columns}")
    connection.execute("INSERT INTO provenance VALUES (1, ?)", (document,))
    connection.execute("INSERT INTO counted_results VALUES (1, 1, 'base', 'p', 3, 0, 1.0, ?)", (document,))
    connection.execute("INSERT INTO datasets VALUES (1, 'd')")
    connection.execute("INSERT INTO evolutions VALUES (1, 1, 'e', ?)", (document,))
    connection.execute("INSERT INTO questions VALUES (1, 'q', NULL)")
    connection.execute("INSERT INTO evolution_steps VALUES (1, 1, 0, ?)", (document,))
    with pytest.raises(StoreError, match="What run 1 has worked under"):
        runs.of_run(connection, 1)
    with pytest.raises(StoreError, match="Why tests failed in run 1"):
        verdicts.of_run(connection, 1, [1])
    with pytest.raises(StoreError, match="The settings of 'e'"):
        store.every_evolution(connection)
    with pytest.raises(StoreError, match="A step of 'q'"):
        store.evolved_problems(connection, 1)
    connection.close()
