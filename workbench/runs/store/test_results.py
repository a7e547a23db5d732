"""Outcomes of tests, one row a solution and suite of a run, written with the verdict and never again."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import cast

import msgspec
from msgspec import Struct

from workbench.core.code import Execution, Failure, Level
from workbench.core.database.documents import stored

_FAILURES = msgspec.json.Decoder(tuple[Failure, ...])


class TestResult(Struct, frozen=True):
    """What came of one solution against one suite.

    Attributes:
        item: The completion's row id.
    """

    __test__ = False

    item: int
    suite: str
    execution: Execution


def put(connection: sqlite3.Connection, run: int, rows: Sequence[TestResult]) -> None:
    """Store outcomes in the caller's transaction.

    Raises:
        sqlite3.IntegrityError: A solution has outcomes of this suite in this run.
    """
    connection.executemany(
        "INSERT INTO test_results (run_id, completion_id, suite, outcomes, isolation, forgeable, ms, failures) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                run,
                row.item,
                row.suite,
                row.execution.outcomes,
                int(row.execution.level[1:]),
                row.execution.forgeable,
                row.execution.ms,
                msgspec.json.encode(row.execution.failures).decode() if row.execution.failures else None,
            )
            for row in rows
        ],
    )


def of_run(connection: sqlite3.Connection, run: int, items: Sequence[int]) -> dict[int, dict[str, Execution]]:
    """A run's outcomes of some completions, by row id and suite."""
    rows = connection.execute(
        "SELECT r.completion_id, r.suite, r.outcomes, r.isolation, r.forgeable, r.ms, r.failures "
        "FROM json_each(?) AS wanted CROSS JOIN test_results AS r ON r.run_id = ? AND r.completion_id = wanted.value",
        (msgspec.json.encode(list(items)).decode(), run),
    )
    found: dict[int, dict[str, Execution]] = {}
    for item, suite, outcomes, isolation, forgeable, ms, failures in rows:
        found.setdefault(item, {})[suite] = Execution(
            outcomes=outcomes,
            level=cast("Level", f"L{isolation}"),
            forgeable=forgeable,
            ms=ms,
            failures=() if failures is None else stored(_FAILURES, failures, f"Why tests failed in run {run}"),
        )
    return found


def items_of(connection: sqlite3.Connection, run: int) -> list[int]:
    """Row ids of the completions a run has outcomes of, in the order of import."""
    rows = connection.execute(
        "SELECT DISTINCT completion_id FROM test_results WHERE run_id = ? ORDER BY completion_id", (run,)
    )
    return [item for (item,) in rows]


def suites_of(connection: sqlite3.Connection, run: int) -> list[str]:
    """The suites a run has outcomes of, by name."""
    rows = connection.execute("SELECT DISTINCT suite FROM test_results WHERE run_id = ? ORDER BY suite", (run,))
    return [suite for (suite,) in rows]


def levels(connection: sqlite3.Connection, run: int) -> dict[Level, int]:
    """How many of a run's outcomes were found at each level of isolation, the highest first."""
    rows = connection.execute(
        "SELECT isolation, count(*) FROM test_results WHERE run_id = ? GROUP BY isolation ORDER BY isolation DESC",
        (run,),
    )
    return {cast("Level", f"L{isolation}"): count for isolation, count in rows}


def runs_with(connection: sqlite3.Connection) -> set[int]:
    """Numbers of the runs that have outcomes."""
    return {run for (run,) in connection.execute("SELECT DISTINCT run_id FROM test_results")}
