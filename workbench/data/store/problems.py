"""Compares code problems and solutions with stored rows; each is new, already stored, or contradicts a stored row."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from workbench.core.code import CodeRecord, CodeTest, Problem, ProblemRecord, SolutionRecord
from workbench.core.database.selection import GOLD, VISIBLE, VISIBLE_QUESTION
from workbench.core.database.values import as_record, integers, now
from workbench.core.item import ItemRecord, Refusal
from workbench.data.records import ProblemKind, ProblemQuery, ProblemRow, SuiteRun
from workbench.data.store.datasets import OUT_WITH_ALL
from workbench.data.store.item_rows import ItemInserter, Matched, refused_record
from workbench.data.store.searching import contains_clause

UNKNOWN_PROBLEM: Final = "unknown_problem"
"""Code of a rejected solution whose problem is missing; it may exist when the file is imported again."""
_IN: Final = f"{VISIBLE_QUESTION} AND NOT ({OUT_WITH_ALL})"
"""Condition on a problem ``q``: it is visible, and its data set is not excluded."""
_INSERT_PROBLEM = (
    "INSERT INTO code_problems (question_id, entry_point, setup, language, seconds, reference_by, extra) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_TEST = "INSERT INTO tests (question_id, suite_id, position, form, source, expected) VALUES (?, ?, ?, ?, ?, ?)"
_INSERT_SOLUTION = "INSERT INTO code_solutions (completion_id, form, ground_truth) VALUES (?, ?, ?)"
_encode = msgspec.msgpack.Encoder().encode


class _KnownProblem(Struct, gc=False):
    """A problem that is stored or being imported.

    Attributes:
        around: What solutions are run with: entry point, setup, language, seconds; and the author of the reference.
        suites: Hashes of the tests, by suite.
    """

    question_id: int
    around: tuple[object, ...]
    suites: dict[str, bytes]


class ProblemRows:
    """Compares the problems and solutions of one import with what is stored, and inserts the new ones.

    The tests of a problem in a suite never change: other tests in the same suite are a contradiction. Tests of a new
    suite of a visible problem are inserted when the import is complete.

    Args:
        items: Inserts questions and completions.
        connection: The database for problems and tests; None if nothing is stored yet (a dry run).
        dataset_id: Row id of the data set; None if it doesn't exist yet (a dry run).
        dry: Only compare and count; insert nothing.
    """

    def __init__(
        self, items: ItemInserter, connection: sqlite3.Connection | None, dataset_id: int | None, *, dry: bool = False
    ) -> None:
        self._items = items
        self._connection = connection
        self._dataset_id = dataset_id
        self._dry = dry
        self._known: dict[str, _KnownProblem] = {}
        self._problem_ids: dict[str, int] = {}
        # A row may contain a problem and its solutions, which are rejected with it.
        self._refused_row: bytes | None = None
        self._suites: dict[str, int] = {}
        self._problems: list[tuple[object, ...]] = []
        self._tests: list[tuple[object, ...]] = []
        self._solutions: list[tuple[object, ...]] = []
        self._held: list[tuple[object, ...]] = []

    def add(self, records: Iterable[CodeRecord]) -> Matched:
        unchanged = imported = 0
        refused: list[Refusal] = []
        for record in records:
            found = self._take_problem(record) if isinstance(record, ProblemRecord) else self._take_solution(record)
            if isinstance(found, Refusal):
                refused.append(found)
                if isinstance(record, ProblemRecord):
                    self._refused_row = record.raw
            elif found:
                imported += 1
            else:
                unchanged += 1
        self._items.flush()
        pending = ((_INSERT_PROBLEM, self._problems), (_INSERT_TEST, self._tests), (_INSERT_SOLUTION, self._solutions))
        for statement, rows in pending:
            if rows and not self._dry:
                assert self._connection is not None
                self._connection.executemany(statement, rows)
            rows.clear()
        return Matched(imported, unchanged, refused)

    def complete(self, connection: sqlite3.Connection) -> None:
        connection.executemany(_INSERT_TEST, self._held)
        self._held.clear()

    def _take_problem(self, record: ProblemRecord) -> Refusal | bool:
        problem, item = record.problem, _question(record)
        contradiction = self._items.take_question(item)
        if contradiction is not None:
            return _contradiction_refusal(record, contradiction, "prompt", "another prompt, solution or source")
        known = self._known.get(problem.task_id) or self._stored(problem.task_id, self._items.question_row_id)
        new = known is None
        if known is None:
            known = self._add_problem(record)
        code = "conflict" if known.question_id < self._items.first_question_id else "duplicate_key"
        if known.around != _execution_context(problem):
            return _contradiction_refusal(
                record, code, "entry_point", "another entry point, setup, language, limit or author"
            )
        digests = {name: _digest(tests) for name, tests in problem.suites.items()}
        for name, digest in digests.items():
            if known.suites.get(name, digest) != digest:
                return _contradiction_refusal(record, code, "tests", f"other tests in its suite {name!r}")
        added = [name for name in digests if name not in known.suites]
        for name in added:
            if name not in self._suites:
                self._suites[name] = 0 if self._dry else self._named_suite(name)
            suite_id = self._suites[name]
            rows = self._tests if known.question_id >= self._items.first_question_id else self._held
            rows.extend(
                (known.question_id, suite_id, position, test.form, test.source, test.expected)
                for position, test in enumerate(problem.suites[name])
            )
        known.suites.update(digests)
        return new or bool(added)

    def _take_solution(self, record: SolutionRecord) -> Refusal | bool:
        if record.raw is self._refused_row:
            message = f"Solution {record.solution_id[:80]!r} is in a row that was rejected. Fix the row."
            return refused_record(record, "conflict", "solution_id", message)
        question_id = self._problem_ids.get(record.task_id) or self._problem_id(record.task_id)
        if question_id is None:
            remedy = "Import its problems first or in the same call, then this file again."
            message = f"There is no problem {record.task_id[:80]!r} in this data set. {remedy}"
            return refused_record(record, UNKNOWN_PROBLEM, "task_id", message)
        item = _completion(record)
        contradiction = self._items.take_completion(question_id, item)
        if contradiction is None:
            self._solutions.append((self._items.last_completion_id, record.form, record.ground_truth))
            return True
        return False if contradiction == "" else self._items.refusal_of(item, contradiction)

    def _add_problem(self, record: ProblemRecord) -> _KnownProblem:
        task_id = record.problem.task_id
        known = self._known[task_id] = _KnownProblem(
            self._items.question_row_id, _execution_context(record.problem), {}
        )
        self._problem_ids[task_id] = known.question_id
        self._problems.append((known.question_id, *known.around, record.extra))
        return known

    def _stored(self, task_id: str, question_id: int) -> _KnownProblem | None:
        if self._connection is None:
            return None
        around = self._connection.execute(
            "SELECT entry_point, setup, language, seconds, reference_by FROM code_problems WHERE question_id = ?",
            (question_id,),
        ).fetchone()
        if around is None:
            return None
        suites: dict[str, list[CodeTest]] = {}
        for name, form, source, expected in self._connection.execute(
            "SELECT s.name, t.form, t.source, t.expected FROM tests AS t JOIN suites AS s ON s.id = t.suite_id "
            "WHERE t.question_id = ? ORDER BY t.suite_id, t.position",
            (question_id,),
        ):
            suites.setdefault(name, []).append(CodeTest(form=form, source=source, expected=expected))
        digests = {name: _digest(tests) for name, tests in suites.items()}
        known = self._known[task_id] = _KnownProblem(question_id, around, digests)
        return known

    def _problem_id(self, task_id: str) -> int | None:
        question_id = self._items.question_id(task_id)
        if question_id is None or self._connection is None:
            return None
        row = self._connection.execute("SELECT 1 FROM code_problems WHERE question_id = ?", (question_id,)).fetchone()
        if row is None:
            return None
        self._problem_ids[task_id] = question_id
        return question_id

    def _named_suite(self, name: str) -> int:
        assert self._connection is not None
        self._connection.execute(
            "INSERT OR IGNORE INTO suites (dataset_id, name, origin, created_at) VALUES (?, ?, 'imported', ?)",
            (self._dataset_id, name, now()),
        )
        row: tuple[int] = self._connection.execute(
            "SELECT id FROM suites WHERE dataset_id = ? AND name = ?", (self._dataset_id, name)
        ).fetchone()
        return row[0]


def datasets_holding(connection: sqlite3.Connection, task_ids: Iterable[str]) -> list[str]:
    found: set[str] = set()
    for task_id in task_ids:
        rows = connection.execute(
            "SELECT d.name FROM datasets AS d JOIN questions AS q ON q.dataset_id = d.id AND q.key = ? "
            f"JOIN code_problems AS p ON p.question_id = q.id WHERE {_IN}",
            (task_id,),
        )
        found.update(name for (name,) in rows)
    return sorted(found)


def _question(record: ProblemRecord) -> ItemRecord:
    problem = record.problem
    return ItemRecord(
        line=record.line,
        raw=record.raw,
        question_key=problem.task_id,
        completion_key="",
        question=problem.prompt,
        reference=problem.canonical,
        completion="",
        source=record.source,
    )


def _completion(record: SolutionRecord) -> ItemRecord:
    return ItemRecord(
        line=record.line,
        raw=record.raw,
        question_key=record.task_id,
        completion_key=record.key,
        question="",
        reference="",
        completion=record.code,
        gold=record.gold,
        model=record.model,
        extra=record.extra,
    )


def _execution_context(problem: Problem) -> tuple[object, ...]:
    return problem.entry_point, problem.setup, problem.language, problem.seconds, problem.canonical_by


def _digest(tests: Sequence[CodeTest]) -> bytes:
    # The form is not hashed: whether a statement is an assertion about one call depends on the version of the parser.
    forms = ("" if test.form in ("expression", "statement") else test.form for test in tests)
    content = _encode([(form, test.source, test.expected) for form, test in zip(forms, tests, strict=True)])
    return blake2b(content, digest_size=16).digest()


def _contradiction_refusal(record: ProblemRecord, code: str, field: str, other: str) -> Refusal:
    where = "is stored with" if code == "conflict" else "stands in this file with"
    message = (
        f"Problem {record.problem.task_id[:80]!r} {where} {other}. "
        "Give it another id, import the file as another data set (that one can be renamed or excluded), or give "
        'corrected tests a separate suite (a field suites: {"name": [tests]}); single wrong tests can be excluded.'
    )
    return refused_record(record, code, field, message)


# -- Reads problems for a table: first all ids, then pages by id, as `store.browsing` does for items.


_FROM = (
    "code_problems AS p JOIN questions AS q ON q.id = p.question_id JOIN datasets AS d ON d.id = q.dataset_id "
    "JOIN question_text AS qt ON qt.id = q.id"
)
_OWN = (
    "FROM completions AS c LEFT JOIN item_states AS i ON i.completion_id = c.id "
    f"WHERE c.question_id = q.id AND {VISIBLE}"
)
# The order of the tables is fixed: a run has outcomes of millions of solutions, a problem has few.
_RAN = (
    "FROM completions AS c CROSS JOIN counted_results AS t ON t.run_id = ? AND t.completion_id = c.id AND t.suite = ? "
    f"LEFT JOIN item_states AS i ON i.completion_id = c.id WHERE c.question_id = q.id AND {VISIBLE}"
)
# Outcomes in which no test counts have no result (NULL).
_ALL_PASS = "iif(t.outcomes GLOB '*[^b]*', t.outcomes GLOB '*p*' AND t.outcomes NOT GLOB '*[^pb]*', NULL)"
_SOLUTIONS = f"(SELECT count(*) {_OWN})"
_TESTS = "(SELECT count(*) FROM tests WHERE tests.question_id = q.id)"
_CORRECT = f"(SELECT coalesce(sum({GOLD}), 0) {_OWN})"
_GOLDEN = f"(SELECT count({GOLD}) {_OWN})"
_PASSING = f"(SELECT coalesce(sum({_ALL_PASS}), 0) {_RAN})"
_DONE = f"(SELECT count(*) {_RAN})"
_JUDGED = f"(SELECT count({_ALL_PASS}) {_RAN})"
_DIFFERING = f"(SELECT coalesce(sum({_ALL_PASS} <> {GOLD}), 0) {_RAN})"
_ORDERS: Final[dict[str, str]] = {
    "task_id": "q.key",
    "dataset": "d.name",
    "entry_point": "coalesce(p.entry_point, '')",
    "solutions": _SOLUTIONS,
    "tests": _TESTS,
    "gold": f"(SELECT avg({GOLD}) {_OWN})",
    "passing": f"(SELECT avg({_ALL_PASS}) {_RAN})",
    "done": _DONE,
    "beside": f"(SELECT avg({_ALL_PASS}) {_RAN})",
}
_KINDS: Final[dict[ProblemKind, str]] = {
    "all": "1",
    "mixed": f"(SELECT count(DISTINCT {_ALL_PASS}) {_RAN}) = 2",
    "none": f"(SELECT max({_ALL_PASS}) {_RAN}) = 0",
    "every": f"(SELECT min({_ALL_PASS}) {_RAN}) = 1",
    "waiting": f"{_DONE} < {_SOLUTIONS}",
    "broken": f"{_DONE} > 0 AND {_JUDGED} = 0",
    "differs": f"{_DIFFERING} > 0",
    "suites": f"EXISTS (SELECT 1 {_RAN} AND EXISTS (SELECT 1 FROM runs AS r CROSS JOIN counted_results AS o "
    "ON o.run_id = r.id AND o.completion_id = c.id "
    f"WHERE o.suite <> t.suite AND {_ALL_PASS} <> {_ALL_PASS.replace('t.', 'o.')}))",
}


class Task(NamedTuple):
    """A problem with its tests in one suite.

    Attributes:
        source: The problem's source; None if unknown.
        tests: Number of the problem's tests in the suite.
        stdio: Number of these tests that are texts for standard input.
    """

    question: int
    task_id: str
    source: str | None
    language: str
    tests: int
    stdio: int


def ids(connection: sqlite3.Connection, query: ProblemQuery) -> array[int]:
    where, parameters = _where(query)
    order, more = _order(query)
    row: tuple[str | None] = connection.execute(
        f"SELECT group_concat(id) FROM (SELECT q.id FROM {_FROM} WHERE {where} ORDER BY {order})", (*parameters, *more)
    ).fetchone()
    return integers(row[0])


def first_ids(connection: sqlite3.Connection, limit: int) -> list[int]:
    rows = connection.execute(
        f"SELECT q.id FROM code_problems AS p JOIN questions AS q ON q.id = p.question_id "
        f"WHERE {_IN} ORDER BY p.question_id LIMIT ?",
        (limit,),
    )
    return [row[0] for row in rows]


def rows(
    connection: sqlite3.Connection, wanted: Sequence[int], run: SuiteRun | None, beside: SuiteRun | None = None
) -> list[ProblemRow]:
    """Return problems by the row ids of their questions, in the given order, without ids that no longer exist.

    Args:
        run: The run whose outcomes are counted.
        beside: A run with outcomes of another suite, for comparison.
    """
    marks = ", ".join("?" * len(wanted))
    tests: dict[int, dict[str, int]] = {}
    for question, suite, number in connection.execute(
        "SELECT t.question_id, s.name, count(*) FROM tests AS t JOIN suites AS s ON s.id = t.suite_id "
        f"WHERE t.question_id IN ({marks}) GROUP BY t.question_id, s.id ORDER BY t.question_id, s.id",
        tuple(wanted),
    ):
        tests.setdefault(question, {})[suite] = number
    figures = ", ".join((_SOLUTIONS, _CORRECT, _GOLDEN, _PASSING, _DONE, _JUDGED))
    found = {
        row[0]: as_record(ProblemRow, row, tests=tests.get(row[0], {}))
        for row in connection.execute(
            f"SELECT q.id, q.key, d.name, coalesce(p.entry_point, ''), {figures}, {_ORDERS['beside']} "
            f"FROM {_FROM} WHERE q.id IN ({marks})",
            (*_run_parameters(figures, run), *_run_parameters(_ORDERS["beside"], beside), *wanted),
        )
    }
    return [found[question] for question in wanted if question in found]


def with_key(connection: sqlite3.Connection, key: str) -> list[int]:
    rows = connection.execute(f"SELECT q.id FROM {_FROM} WHERE q.key = ? AND {_IN} ORDER BY q.id", (key,))
    return [row[0] for row in rows]


def datasets(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    return connection.execute(
        "SELECT d.id, d.name FROM datasets AS d WHERE EXISTS (SELECT 1 FROM questions AS q JOIN code_problems AS p "
        f"ON p.question_id = q.id WHERE q.dataset_id = d.id AND {_IN}) ORDER BY d.id"
    ).fetchall()


def tasks(connection: sqlite3.Connection, dataset: int, suite: str) -> list[Task]:
    rows = connection.execute(
        "SELECT q.id, q.key, s.name, p.language, count(t.position), coalesce(sum(t.form = 'stdio'), 0) FROM questions "
        "AS q JOIN code_problems AS p ON p.question_id = q.id LEFT JOIN sources AS s ON s.id = q.source_id LEFT JOIN "
        "suites AS u ON u.dataset_id = q.dataset_id AND u.name = ? LEFT JOIN tests AS t ON t.question_id = q.id AND "
        f"t.suite_id = u.id WHERE q.dataset_id = ? AND {_IN} GROUP BY q.id ORDER BY q.id",
        (suite, dataset),
    )
    return list(map(Task._make, rows))


def extra_texts(connection: sqlite3.Connection, dataset: int, name: str) -> dict[int, str]:
    rows = connection.execute(
        "SELECT q.id, e.value FROM questions AS q JOIN code_problems AS p ON p.question_id = q.id, "
        "json_each(iif(json_valid(p.extra), p.extra, '{}')) AS e "
        f"WHERE q.dataset_id = ? AND {_IN} AND e.key = ? AND e.type = 'text'",
        (dataset, name),
    )
    return dict(rows.fetchall())


def _run_parameters(sql: str, run: SuiteRun | None) -> list[object]:
    pair: list[object] = [None, None] if run is None else [run.run, run.suite]
    return pair * sql.count("t.run_id = ?")


def _where(query: ProblemQuery) -> tuple[str, list[object]]:
    texts, parameters = [_IN], list[object]()
    if query.dataset is not None:
        texts.append("d.name = ?")
        parameters.append(query.dataset)
    if query.search:
        text, values = contains_clause(("q.key", "p.entry_point", "qt.text"), query.search)
        texts.append(text)
        parameters += values
    kind = _KINDS[query.kind]
    texts.append(kind)
    parameters += _run_parameters(kind, query.run)
    return " AND ".join(texts), parameters


def _order(query: ProblemQuery) -> tuple[str, list[object]]:
    direction = "DESC" if query.descending else "ASC"
    if query.sort is None:
        return f"q.id {direction}", []
    order = _ORDERS[query.sort]
    run = query.beside if query.sort == "beside" else query.run
    return f"{order} {direction} NULLS LAST, q.id {direction}", _run_parameters(order, run)
