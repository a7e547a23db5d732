"""Read the data of a problem's pass matrix: its solutions, and the runs with outcomes of them."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from workbench.core.database.selection import VISIBLE
from workbench.data.records import SuiteRun


class GridSolution(NamedTuple):
    id: int
    ground_truth: bool


def solutions(connection: sqlite3.Connection, question: int) -> list[GridSolution]:
    rows = connection.execute(
        "SELECT c.id, coalesce(s.ground_truth, 0) FROM completions AS c LEFT JOIN code_solutions AS s ON "
        f"s.completion_id = c.id WHERE c.question_id = ? AND {VISIBLE} ORDER BY c.id",
        (question,),
    )
    return [GridSolution(item, bool(truth)) for item, truth in rows]


def own_suites(connection: sqlite3.Connection, question: int) -> dict[str, int]:
    rows = connection.execute(
        "SELECT name, max(number) FROM (SELECT s.name AS name, s.id AS suite, count(*) AS number FROM completions AS c "
        "CROSS JOIN solution_tests AS t ON t.completion_id = c.id JOIN suites AS s ON s.id = t.suite_id "
        f"WHERE c.question_id = ? AND {VISIBLE} GROUP BY c.id, s.id) GROUP BY suite ORDER BY suite",
        (question,),
    )
    return dict(rows.fetchall())


def suite_runs(connection: sqlite3.Connection, question: int | None = None) -> list[SuiteRun]:
    """Return runs with outcomes, one row for each suite: complete runs first, then by number of items and age.

    Args:
        question: Return only runs with outcomes of this problem's solutions; None for all runs, whose suites are then
            those of their first solution.
    """
    first = "(SELECT x.completion_id FROM test_results AS x WHERE x.run_id = r.id ORDER BY x.completion_id LIMIT 1)"
    item = first if question is None else "(SELECT c.id FROM completions AS c WHERE c.question_id = ?)"
    rows = connection.execute(
        "SELECT DISTINCT r.id, v.name, t.suite, r.state, r.completed_at IS NOT NULL, r.items FROM runs AS r JOIN "
        "verifiers AS v ON v.id = r.verifier_id CROSS JOIN test_results AS t ON t.run_id = r.id AND t.completion_id IN "
        f"{item} ORDER BY r.completed_at IS NULL, r.items DESC, r.id DESC, t.suite",
        () if question is None else (question,),
    )
    return [
        SuiteRun(run=run, verifier=name, suite=suite, state=state, complete=bool(complete))
        for run, name, suite, state, complete, _ in rows
    ]


def problem_of(connection: sqlite3.Connection, completion: int) -> int | None:
    """Return the row id of a completion's problem; None if its question is not a code problem."""
    row: tuple[int] | None = connection.execute(
        "SELECT p.question_id FROM completions AS c JOIN code_problems AS p ON p.question_id = c.question_id "
        "WHERE c.id = ?",
        (completion,),
    ).fetchone()
    return None if row is None else row[0]
