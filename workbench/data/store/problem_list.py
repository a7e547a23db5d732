"""Problems for a table: an id query, then pages by id, as `store.browsing` does for items."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence
from typing import Final, NamedTuple

from workbench.core.database.gathered import integers
from workbench.core.database.selection import GOLD, VISIBLE
from workbench.data.records.pass_matrix import ProblemKind, ProblemQuery, ProblemRow, SuiteRun

_FROM = (
    "code_problems AS p JOIN questions AS q ON q.id = p.question_id JOIN datasets AS d ON d.id = q.dataset_id "
    "JOIN question_text AS qt ON qt.id = q.id"
)
_SEEN = "q.id < (SELECT question_id FROM horizon)"
_OWN = (
    "FROM completions AS c LEFT JOIN item_states AS i ON i.completion_id = c.id "
    f"WHERE c.question_id = q.id AND {VISIBLE}"
)
# The order of the tables is given: a run has outcomes of millions of solutions, a problem has few.
_RAN = (
    "FROM completions AS c CROSS JOIN test_results AS t ON t.run_id = ? AND t.completion_id = c.id AND t.suite = ? "
    f"LEFT JOIN item_states AS i ON i.completion_id = c.id WHERE c.question_id = q.id AND {VISIBLE}"
)
_ALL_PASS = "(t.outcomes GLOB '*p*' AND t.outcomes NOT GLOB '*[^pb]*')"

_SOLUTIONS = f"(SELECT count(*) {_OWN})"
_TESTS = "(SELECT count(*) FROM tests WHERE tests.question_id = q.id)"
_CORRECT = f"(SELECT total({GOLD}) {_OWN})"
_GOLDEN = f"(SELECT count({GOLD}) {_OWN})"
_PASSING = f"(SELECT coalesce(sum({_ALL_PASS}), 0) {_RAN})"
_DONE = f"(SELECT count(*) {_RAN})"
_DIFFERING = f"(SELECT coalesce(sum({_ALL_PASS} <> {GOLD}), 0) {_RAN})"

_ORDERS: Final[dict[str, str]] = {
    "task_id": "q.key",
    "entry_point": "coalesce(p.entry_point, '')",
    "solutions": _SOLUTIONS,
    "tests": _TESTS,
    "gold": f"(SELECT avg({GOLD}) {_OWN})",
    "passing": f"(SELECT avg({_ALL_PASS}) {_RAN})",
    "done": _DONE,
}
_KINDS: Final[dict[ProblemKind, str]] = {
    "all": "1",
    "mixed": f"(SELECT count(DISTINCT {_ALL_PASS}) {_RAN}) = 2",
    "none": f"(SELECT max({_ALL_PASS}) {_RAN}) = 0",
    "every": f"(SELECT min({_ALL_PASS}) {_RAN}) = 1",
    "waiting": f"{_DONE} < {_SOLUTIONS}",
    "differs": f"{_DIFFERING} > 0",
}


class Task(NamedTuple):
    """A problem with what it has in one suite.

    Attributes:
        source: The set it is from; None where none is known.
        tests: How many tests it has in the suite.
        stdio: How many of them are texts for standard input.
    """

    question: int
    task_id: str
    source: str | None
    language: str
    tests: int
    stdio: int


def ids(connection: sqlite3.Connection, query: ProblemQuery) -> array[int]:
    """Row ids of the questions that are problems of a query, in its order."""
    where, parameters = _where(query)
    order, more = _order(query)
    row: tuple[str | None] = connection.execute(
        f"SELECT group_concat(id) FROM (SELECT q.id FROM {_FROM} WHERE {where} ORDER BY {order})",
        (*parameters, *more),
    ).fetchone()
    return integers(row[0])


def first_ids(connection: sqlite3.Connection, limit: int, after: int) -> list[int]:
    """Row ids behind ``after``, in the order of import; of all problems."""
    rows = connection.execute(
        f"SELECT q.id FROM code_problems AS p JOIN questions AS q ON q.id = p.question_id "
        f"WHERE q.id > ? AND {_SEEN} ORDER BY p.question_id LIMIT ?",
        (after, limit),
    )
    return [row[0] for row in rows]


def count(connection: sqlite3.Connection) -> int:
    """How many problems there are."""
    row: tuple[int] = connection.execute(
        f"SELECT count(*) FROM code_problems AS p JOIN questions AS q ON q.id = p.question_id WHERE {_SEEN}"
    ).fetchone()
    return row[0]


def rows(connection: sqlite3.Connection, wanted: Sequence[int], run: SuiteRun | None) -> list[ProblemRow]:
    """Problems by the row ids of their questions, in the order asked for; ids that are gone are left out.

    Args:
        run: Whose outcomes are counted.
    """
    marks = ", ".join("?" * len(wanted))
    tests: dict[int, dict[str, int]] = {}
    for question, suite, number in connection.execute(
        "SELECT t.question_id, s.name, count(*) FROM tests AS t JOIN suites AS s ON s.id = t.suite_id "
        f"WHERE t.question_id IN ({marks}) GROUP BY t.question_id, s.id ORDER BY t.question_id, s.id",
        tuple(wanted),
    ):
        tests.setdefault(question, {})[suite] = number
    figures = ", ".join((_SOLUTIONS, _CORRECT, _GOLDEN, _PASSING, _DONE))
    found = {
        row[0]: ProblemRow(
            id=row[0],
            task_id=row[1],
            dataset=row[2],
            entry_point=row[3],
            tests=tests.get(row[0], {}),
            solutions=row[4],
            correct=int(row[5]),
            golden=row[6],
            passing=row[7],
            done=row[8],
        )
        for row in connection.execute(
            f"SELECT q.id, q.key, d.name, coalesce(p.entry_point, ''), {figures} FROM {_FROM} WHERE q.id IN ({marks})",
            (*_bound(figures, run), *wanted),
        )
    }
    return [found[question] for question in wanted if question in found]


def with_key(connection: sqlite3.Connection, key: str) -> list[int]:
    """Row ids of the problems with this task id, one a data set at most."""
    rows = connection.execute(f"SELECT q.id FROM {_FROM} WHERE q.key = ? AND {_SEEN} ORDER BY q.id", (key,))
    return [row[0] for row in rows]


def datasets(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    """Row ids and names of the data sets that have problems, the oldest first."""
    return connection.execute(
        "SELECT d.id, d.name FROM datasets AS d WHERE EXISTS (SELECT 1 FROM questions AS q JOIN code_problems AS p "
        f"ON p.question_id = q.id WHERE q.dataset_id = d.id AND {_SEEN}) ORDER BY d.id"
    ).fetchall()


def tasks(connection: sqlite3.Connection, dataset: int, suite: str) -> list[Task]:
    """The problems of a data set, in the order of import, with what they have in a suite."""
    rows = connection.execute(
        "SELECT q.id, q.key, s.name, p.language, count(t.position), coalesce(sum(t.form = 'stdio'), 0) "
        "FROM questions AS q JOIN code_problems AS p ON p.question_id = q.id "
        "LEFT JOIN sources AS s ON s.id = q.source_id "
        "LEFT JOIN suites AS u ON u.dataset_id = q.dataset_id AND u.name = ? "
        "LEFT JOIN tests AS t ON t.question_id = q.id AND t.suite_id = u.id "
        f"WHERE q.dataset_id = ? AND {_SEEN} GROUP BY q.id ORDER BY q.id",
        (suite, dataset),
    )
    return list(map(Task._make, rows))


def _bound(sql: str, run: SuiteRun | None) -> list[object]:
    """The parameters of as many run and suite pairs as the text asks for."""
    pair: list[object] = [None, None] if run is None else [run.run, run.suite]
    return pair * sql.count("t.run_id = ?")


def _where(query: ProblemQuery) -> tuple[str, list[object]]:
    texts, parameters = [_SEEN], list[object]()
    if query.dataset is not None:
        texts.append("d.name = ?")
        parameters.append(query.dataset)
    if query.search:
        escaped = query.search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        texts.append("(q.key LIKE ? ESCAPE '\\' OR p.entry_point LIKE ? ESCAPE '\\' OR qt.text LIKE ? ESCAPE '\\')")
        parameters += [f"%{escaped}%"] * 3
    kind = _KINDS[query.kind]
    texts.append(kind)
    parameters += _bound(kind, query.run)
    return " AND ".join(texts), parameters


def _order(query: ProblemQuery) -> tuple[str, list[object]]:
    direction = "DESC" if query.descending else "ASC"
    if query.sort is None:
        return f"q.id {direction}", []
    order = _ORDERS[query.sort]
    return f"{order} {direction} NULLS LAST, q.id", _bound(order, query.run)
