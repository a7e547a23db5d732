"""Suites of tests that are written here: how they were made, and their tests, of a problem or of one solution."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from workbench.core.code import CodeTest, Origin
from workbench.core.database.values import now

Owner = Literal["question", "completion"]
"""What tests belong to: a problem, or a single solution that their writer saw. In a suite, a solution's stand for its
problem's."""

_TABLES: Final[dict[Owner, str]] = {"question": "tests", "completion": "solution_tests"}


class SuiteRow(NamedTuple):
    """A suite of a data set.

    Attributes:
        about: How it was made, as JSON.
    """

    id: int
    origin: Origin
    about: str


def named(connection: sqlite3.Connection, dataset: int, name: str) -> SuiteRow | None:
    """The suite of that name in a data set, if there is one."""
    row = connection.execute(
        "SELECT id, origin, about FROM suites WHERE dataset_id = ? AND name = ?", (dataset, name)
    ).fetchone()
    return None if row is None else SuiteRow(*row)


def add(connection: sqlite3.Connection, dataset: int, name: str, origin: Origin, about: str) -> int:
    """A new suite without tests; returns its row id.

    Raises:
        sqlite3.IntegrityError: The data set has a suite of that name.
    """
    cursor = connection.execute(
        "INSERT INTO suites (dataset_id, name, origin, about, created_at) VALUES (?, ?, ?, ?, ?)",
        (dataset, name, origin, about, now()),
    )
    return int(cursor.lastrowid or 0)


def put_about(connection: sqlite3.Connection, suite: int, about: str) -> None:
    """Say anew how a suite was made, in the caller's transaction."""
    connection.execute("UPDATE suites SET about = ? WHERE id = ?", (about, suite))


def put_tests(
    connection: sqlite3.Connection, owner: Owner, suite: int, tests: Mapping[int, Sequence[CodeTest]]
) -> None:
    """Write tests by what they belong to, in the caller's transaction.

    Args:
        suite: Its row id.

    Raises:
        sqlite3.IntegrityError: One of them has tests in the suite.
    """
    connection.executemany(
        f"INSERT INTO {_TABLES[owner]} ({owner}_id, suite_id, position, form, source, expected) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [
            (number, suite, position, test.form, test.source, test.expected)
            for number, some in tests.items()
            for position, test in enumerate(some)
        ],
    )


def with_tests(connection: sqlite3.Connection, owner: Owner, suite: int) -> set[int]:
    """Row ids of those that have tests in a suite."""
    rows = connection.execute(f"SELECT DISTINCT {owner}_id FROM {_TABLES[owner]} WHERE suite_id = ?", (suite,))
    return {row[0] for row in rows}


def tests_of(
    connection: sqlite3.Connection, owner: Owner, ids: Sequence[int], suites: Sequence[str]
) -> dict[int, dict[str, tuple[CodeTest, ...]]]:
    """Tests in their order by row id and suite; every id has an entry, with those of the suites that it has.

    Args:
        suites: Names.
    """
    rows = connection.execute(
        f"SELECT t.{owner}_id, s.name, t.form, t.source, t.expected {_chosen(owner)} "
        f"ORDER BY t.{owner}_id, t.suite_id, t.position",
        (_json(ids), _json(suites)),
    )
    found: dict[int, dict[str, list[CodeTest]]] = {number: defaultdict(list) for number in ids}
    for number, suite, form, source, expected in rows:
        found[number][suite].append(CodeTest(form=form, source=source, expected=expected))
    return {number: {name: tuple(tests) for name, tests in some.items()} for number, some in found.items()}


def test_counts(
    connection: sqlite3.Connection, owner: Owner, ids: Sequence[int], suites: Sequence[str]
) -> dict[int, dict[str, int]]:
    """How many tests there are, by row id and suite; every id has an entry. Arguments as with `tests_of`."""
    rows = connection.execute(
        f"SELECT t.{owner}_id, s.name, count(*) {_chosen(owner)} GROUP BY t.{owner}_id, s.name",
        (_json(ids), _json(suites)),
    )
    found: dict[int, dict[str, int]] = {number: {} for number in ids}
    for number, suite, count in rows:
        found[number][suite] = count
    return found


def _chosen(owner: Owner) -> str:
    return (
        f"FROM json_each(?) AS wanted CROSS JOIN {_TABLES[owner]} AS t ON t.{owner}_id = wanted.value "
        "CROSS JOIN suites AS s ON s.id = t.suite_id WHERE s.name IN (SELECT value FROM json_each(?))"
    )


def _json(values: Sequence[object]) -> str:
    return msgspec.json.encode(list(values)).decode()
