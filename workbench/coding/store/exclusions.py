"""Store decisions on single tests: excluded, or included again."""

from __future__ import annotations

import sqlite3

from workbench.core.database.values import now


def suite_with(connection: sqlite3.Connection, question: int, suite: str, position: int) -> int | None:
    """Return the row id of the suite in which a problem has a test at this position; None without one."""
    row: tuple[int] | None = connection.execute(
        "SELECT t.suite_id FROM tests AS t JOIN suites AS s ON s.id = t.suite_id "
        "WHERE t.question_id = ? AND s.name = ? AND t.position = ?",
        (question, suite, position),
    ).fetchone()
    return None if row is None else row[0]


def is_excluded_test(connection: sqlite3.Connection, question: int, suite: str, position: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM tests_apart WHERE question_id = ? AND suite = ? AND position = ?", (question, suite, position)
    ).fetchone()
    return row is not None


def exclusion_rows(connection: sqlite3.Connection) -> list[tuple[str, str, str, int, str, str, str]]:
    return connection.execute(
        "SELECT d.name, q.key, x.suite, x.position, x.reason, x.person, x.created_at FROM tests_apart AS x "
        "JOIN questions AS q ON q.id = x.question_id JOIN datasets AS d ON d.id = q.dataset_id "
        "ORDER BY q.id, x.suite, x.position"
    ).fetchall()


def problems_named(connection: sqlite3.Connection, task_id: str, dataset: str | None) -> list[tuple[int, str]]:
    return connection.execute(
        "SELECT q.id, d.name FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id "
        "JOIN code_problems AS p ON p.question_id = q.id WHERE q.key = ? AND ? IN (d.name, '') ORDER BY q.id",
        (task_id, dataset or ""),
    ).fetchall()


def put(
    connection: sqlite3.Connection, question: int, suite: int, position: int, reason: str | None, person: int
) -> None:
    """Store a decision that applies from now on, in the caller's transaction.

    Args:
        suite: The suite's row id.
        reason: Why the test is excluded; None includes it again.
    """
    connection.execute(
        "INSERT INTO test_exclusions (question_id, suite_id, position, kind, reason, annotator_id, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (question, suite, position, "restore" if reason is None else "exclude", reason, person, now()),
    )
