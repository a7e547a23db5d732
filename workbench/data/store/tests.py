"""Reads code problems with their tests and solutions."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from workbench.core.code import (
    ASSERTION,
    BROKEN,
    HARNESS_KILLED,
    NOT_RUN,
    PASS,
    CodeTest,
    ExcludedTest,
    Origin,
    Problem,
    SolutionForm,
)
from workbench.core.code_tests.broken import with_candidate
from workbench.core.database.connection import Database
from workbench.core.database.selection import STATE, check_names, compile_selection, items_sql, selected_sql
from workbench.core.database.values import as_record, now
from workbench.core.project import batches
from workbench.core.selection import Selection
from workbench.statistics.records.ranking import GroundTruthFrom

# -- Generated suites of tests: how they were made, and their tests, which belong to a problem or to one solution.


Owner = Literal["question", "completion"]
"""What tests belong to: a problem, or a single solution, if their author saw that solution. In a suite, a solution's
tests replace those of its problem.
"""
_TABLES: Final[dict[Owner, str]] = {"question": "tests", "completion": "solution_tests"}


class SuiteRow(NamedTuple):
    """A suite of a data set.

    Attributes:
        about: How the suite was made, as JSON.
    """

    id: int
    origin: Origin
    about: str


def find_suite(connection: sqlite3.Connection, dataset: int, name: str) -> SuiteRow | None:
    row = connection.execute(
        "SELECT id, origin, about FROM suites WHERE dataset_id = ? AND name = ?", (dataset, name)
    ).fetchone()
    return None if row is None else SuiteRow(*row)


def add_suite(connection: sqlite3.Connection, dataset: int, name: str, origin: Origin, about: str) -> int:
    """Add a suite without tests; return its row id.

    Raises:
        sqlite3.IntegrityError: The data set already has a suite of this name.
    """
    cursor = connection.execute(
        "INSERT INTO suites (dataset_id, name, origin, about, created_at) VALUES (?, ?, ?, ?, ?)",
        (dataset, name, origin, about, now()),
    )
    return int(cursor.lastrowid or 0)


def put_about(connection: sqlite3.Connection, suite: int, about: str) -> None:
    connection.execute("UPDATE suites SET about = ? WHERE id = ?", (about, suite))


def put_tests(
    connection: sqlite3.Connection, owner: Owner, suite: int, tests: Mapping[int, Sequence[CodeTest]]
) -> None:
    """Write tests of problems or solutions, in the caller's transaction.

    Args:
        suite: Row id of the suite.

    Raises:
        sqlite3.IntegrityError: A problem or solution already has tests in the suite.
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


def owners_with_tests(connection: sqlite3.Connection, owner: Owner, suite: int) -> set[int]:
    rows = connection.execute(f"SELECT DISTINCT {owner}_id FROM {_TABLES[owner]} WHERE suite_id = ?", (suite,))
    return {row[0] for row in rows}


def tests_of(
    connection: sqlite3.Connection, owner: Owner, ids: Sequence[int], suites: Sequence[str]
) -> dict[int, dict[str, tuple[CodeTest, ...]]]:
    """Return the tests in order, by suite, by row id of the problem or solution; every id has an entry.

    Args:
        suites: Names of the suites to read.
    """
    rows = connection.execute(
        f"SELECT t.{owner}_id, s.name, t.form, t.source, t.expected {_tests_from(owner)} "
        f"ORDER BY t.{owner}_id, t.suite_id, t.position",
        (_json_list(ids), _json_list(suites)),
    )
    found: dict[int, dict[str, list[CodeTest]]] = {number: defaultdict(list) for number in ids}
    for number, suite, form, source, expected in rows:
        found[number][suite].append(CodeTest(form=form, source=source, expected=expected))
    return {number: {name: tuple(tests) for name, tests in some.items()} for number, some in found.items()}


def test_counts(
    connection: sqlite3.Connection, owner: Owner, ids: Sequence[int], suites: Sequence[str]
) -> dict[int, dict[str, int]]:
    """Return the number of tests by suite, by row id; every id has an entry. For the arguments see `tests_of`."""
    rows = connection.execute(
        f"SELECT t.{owner}_id, s.name, count(*) {_tests_from(owner)} GROUP BY t.{owner}_id, s.name",
        (_json_list(ids), _json_list(suites)),
    )
    found: dict[int, dict[str, int]] = {number: {} for number in ids}
    for number, suite, count in rows:
        found[number][suite] = count
    return found


def _tests_from(owner: Owner) -> str:
    return (
        f"FROM json_each(?) AS wanted CROSS JOIN {_TABLES[owner]} AS t ON t.{owner}_id = wanted.value "
        "CROSS JOIN suites AS s ON s.id = t.suite_id WHERE s.name IN (SELECT value FROM json_each(?))"
    )


def _json_list(values: Sequence[object]) -> str:
    return msgspec.json.encode(list(values)).decode()


"""Solutions in one query."""


class Solution(NamedTuple):
    """The problem of a completion, and the form of the completion's text (None if the import did not state it)."""

    question: int
    form: SolutionForm | None


class SolutionName(NamedTuple):
    """The ids of a completion; ``tests`` is the number of its tests by suite."""

    item: int
    question_id: str
    completion_id: str
    dataset: str
    tests: dict[str, int]


def problems_of(database: Database, questions: Sequence[int], suites: Sequence[str]) -> dict[int, Problem]:
    """Return code problems with their tests in these suites, by row id of the question.

    Questions that are not code are left out. If tests call ``candidate``, as HumanEval's do, the setup defines it.

    Args:
        suites: Names of the suites, in the order that their tests should have.
    """
    reader = database.reader()
    wanted = list(dict.fromkeys(questions))
    rows = reader.execute(
        "SELECT q.dataset_id, p.question_id, q.key, qt.text, qt.reference, p.reference_by, p.entry_point, p.setup, "
        "p.language, p.seconds FROM json_each(?) AS wanted CROSS JOIN code_problems AS p ON p.question_id = "
        "wanted.value CROSS JOIN questions AS q ON q.id = p.question_id CROSS JOIN question_text AS qt ON qt.id = q.id",
        (_json_list(wanted),),
    ).fetchall()
    tests, excluded = tests_of(reader, "question", wanted, suites), exclusions_by_suite(reader, wanted)
    written = _generated_suites(reader)
    return {
        number: with_candidate(
            as_record(
                Problem,
                row,
                suites={name: tests[number][name] for name in suites if name in tests[number]},
                apart=excluded.get(number, {}),
                written=written.get(dataset, frozenset()),
            )
        )
        for dataset, number, *row in rows
    }


def _generated_suites(connection: sqlite3.Connection) -> dict[int, frozenset[str]]:
    found: dict[int, set[str]] = {}
    for dataset, name in connection.execute("SELECT dataset_id, name FROM suites WHERE origin = 'generated'"):
        found.setdefault(dataset, set()).add(name)
    return {dataset: frozenset(names) for dataset, names in found.items()}


def exclusions_by_suite(
    connection: sqlite3.Connection, questions: Sequence[int]
) -> dict[int, dict[str, dict[int, ExcludedTest]]]:
    found: dict[int, dict[str, dict[int, ExcludedTest]]] = {}
    for question, suite, place, reason, person in connection.execute(
        "SELECT x.question_id, x.suite, x.position, x.reason, x.person FROM json_each(?) AS wanted "
        "CROSS JOIN tests_apart AS x ON x.question_id = wanted.value",
        (_json_list(questions),),
    ):
        found.setdefault(question, {}).setdefault(suite, {})[place] = ExcludedTest(reason, person)
    return found


def suite_names(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT DISTINCT name FROM suites ORDER BY name")]


def solutions_of(database: Database, items: Sequence[int]) -> dict[int, Solution]:
    rows = database.reader().execute(
        "SELECT c.id, c.question_id, s.form FROM json_each(?) AS wanted CROSS JOIN completions AS c "
        "ON c.id = wanted.value LEFT JOIN code_solutions AS s ON s.completion_id = c.id",
        (_json_list(items),),
    )
    return {item: Solution(question, form) for item, question, form in rows}


def named_solutions(database: Database, items: Sequence[int], suites: Sequence[str]) -> Iterator[SolutionName]:
    """Yield the completions that are solutions of code problems, in this order; the database is read in short batches.

    Args:
        suites: Suites whose tests are counted.
    """
    for some in batches(items):
        rows = (
            database.reader()
            .execute(
                "SELECT c.id, q.id, q.key, c.key, d.name FROM json_each(?) AS wanted "
                "CROSS JOIN completions AS c ON c.id = wanted.value CROSS JOIN code_problems AS p "
                "ON p.question_id = c.question_id CROSS JOIN questions AS q ON q.id = c.question_id "
                "CROSS JOIN datasets AS d ON d.id = q.dataset_id ORDER BY wanted.key",
                (_json_list(some),),
            )
            .fetchall()
        )
        counts = test_counts(database.reader(), "question", sorted({row[1] for row in rows}), suites)
        own = test_counts(database.reader(), "completion", [row[0] for row in rows], suites)
        for item, question, question_id, completion_id, dataset in rows:
            yield SolutionName(item, question_id, completion_id, dataset, counts[question] | own[item])


# -- Solutions of code problems by problem, and which of them are known to be right.


class SolutionRow(NamedTuple):
    question: int
    dataset: str
    task_id: str
    item: int
    key: str


class SolutionText(NamedTuple):
    """A solution's row id, the form of its text (None if the import did not state it), and the text."""

    id: int
    form: SolutionForm | None
    text: str


def solutions_by_problem(
    connection: sqlite3.Connection, selection: Selection, questions: Sequence[int] | None = None
) -> list[SolutionRow]:
    """Return the selected solutions, grouped by problem in the order of import, without excluded ones.

    Args:
        questions: Row ids of the problems to include; None for all.

    Raises:
        UsageError: The selection names something unknown.
    """
    where, parameters = compile_selection(check_names(connection, selection))
    texts = [where, f"{STATE} <> 'excluded'", "c.question_id IN (SELECT question_id FROM code_problems)"]
    if questions is not None:
        texts.append("c.question_id IN (SELECT value FROM json_each(?))")
        parameters.append(_json_list(questions))
    condition = " AND ".join(texts)
    columns = "c.question_id, d.name, q.key, c.id, c.key"
    chosen = f"SELECT {columns} FROM {items_sql(columns, condition)} WHERE {condition} ORDER BY c.id LIMIT ?"
    limit = -1 if selection.limit is None else selection.limit
    rows = connection.execute(f"SELECT * FROM ({chosen}) ORDER BY 1, 4", (*parameters, limit))
    return list(map(SolutionRow._make, rows))


def texts(connection: sqlite3.Connection, items: Sequence[int]) -> dict[int, SolutionText]:
    rows = connection.execute(
        "SELECT c.id, s.form, x.text FROM json_each(?) AS wanted CROSS JOIN completions AS c ON c.id = wanted.value "
        "JOIN completion_text AS x ON x.id = c.id LEFT JOIN code_solutions AS s ON s.completion_id = c.id",
        (_json_list(items),),
    )
    return {row[0]: SolutionText(*row) for row in rows}


class RecordedScore(NamedTuple):
    score: float
    rank: float | None
    seconds: float | None


def recorded_scores(connection: sqlite3.Connection, items: Sequence[int]) -> dict[int, RecordedScore]:
    number = "iif(json_type(x.extra, '$.{0}') IN ('integer', 'real'), json_extract(x.extra, '$.{0}'), NULL)"
    columns = (number.format(name) for name in ("average_test_score", "rank", "average_time_taken"))
    rows = connection.execute(
        f"SELECT x.id, {', '.join(columns)} FROM json_each(?) AS wanted "
        "CROSS JOIN completion_text AS x ON x.id = wanted.value WHERE json_valid(x.extra)",
        (_json_list(items),),
    )
    return {row[0]: RecordedScore(*row[1:]) for row in rows if row[1] is not None and 0 <= row[1] <= 1}


def has_recorded_scores(connection: sqlite3.Connection) -> bool:
    rows = connection.execute(
        "SELECT 1 FROM completion_text AS x WHERE json_valid(x.extra) "
        "AND json_type(x.extra, '$.average_test_score') IN ('integer', 'real') LIMIT 1"
    )
    return rows.fetchone() is not None


def ground_truths(connection: sqlite3.Connection, items: Sequence[int]) -> dict[int, GroundTruthFrom]:
    """Return why solutions are known to be right, by row id: they are flagged, or their text is that of a canonical
    solution written by people. Other solutions are left out.

    A solution that continues the prompt is compared with the prompt prepended; trailing whitespace is ignored.
    """
    blank = "char(9) || char(10) || char(13) || ' '"
    rows = connection.execute(
        "SELECT c.id, iif(s.ground_truth, 'flag', 'canonical') FROM json_each(?) AS wanted CROSS JOIN completions AS c "
        "ON c.id = wanted.value CROSS JOIN completion_text AS ct ON ct.id = c.id CROSS JOIN question_text AS qt ON "
        "qt.id = c.question_id LEFT JOIN code_solutions AS s ON s.completion_id = c.id LEFT JOIN code_problems AS p ON "
        "p.question_id = c.question_id WHERE s.ground_truth OR (qt.reference <> '' AND p.reference_by = 'human' AND "
        f"rtrim(qt.reference, {blank}) = rtrim(iif(s.form = 'continuation', qt.text || ct.text, ct.text), {blank}))",
        (_json_list(items),),
    )
    return dict(rows.fetchall())


def run_sizes(connection: sqlite3.Connection) -> list[tuple[int, int, str]]:
    return connection.execute(
        "SELECT count(*), run_id, suite FROM test_results GROUP BY run_id, suite ORDER BY run_id, suite"
    ).fetchall()


class OutcomeRow(NamedTuple):
    verifier: str
    run: int
    suite: str
    question: int
    dataset: str
    solution: str
    outcomes: str


def outcome_rows(connection: sqlite3.Connection, selection: Selection, run: int | None) -> list[OutcomeRow]:
    """Return test outcomes, ordered by run, suite, problem and import, without excluded solutions.

    Args:
        run: The run to read; None for each verifier's newest run that has been complete.

    Raises:
        UsageError: The selection names something unknown.
    """
    chosen, parameters = _selected_items_sql(connection, selection)
    runs = "r.id IN (SELECT run FROM counted_runs)" if run is None else "r.id = ?"
    rows = connection.execute(
        f"SELECT v.name, r.id, t.suite, q.id, d.name, substr(c.key, length(q.key) + 2), t.outcomes FROM ({chosen}) AS "
        "chosen JOIN counted_results AS t ON t.completion_id = chosen.id JOIN runs AS r ON r.id = t.run_id JOIN "
        "verifiers AS v ON v.id = r.verifier_id JOIN completions AS c ON c.id = chosen.id JOIN questions AS q ON q.id "
        f"= c.question_id JOIN datasets AS d ON d.id = q.dataset_id WHERE {runs} ORDER BY r.id, t.suite, q.id, c.id",
        (*parameters, *([] if run is None else [run])),
    )
    return list(map(OutcomeRow._make, rows))


def lost_solutions(connection: sqlite3.Connection, selection: Selection, run: int, suite: str) -> int:
    """Count the solutions, except excluded ones, that have no outcomes of a suite because the process running them
    died.

    Raises:
        UsageError: The selection names something unknown.
    """
    chosen, parameters = _selected_items_sql(connection, selection)
    row: tuple[int] = connection.execute(
        f"SELECT count(*) FROM ({chosen}) AS chosen JOIN verdicts AS v ON v.run_id = ? AND v.completion_id = chosen.id "
        "AND v.sample = 0 AND v.reason = ? WHERE NOT EXISTS (SELECT 1 FROM test_results AS t WHERE t.run_id = v.run_id "
        "AND t.completion_id = chosen.id AND t.suite = ?)",
        (*parameters, run, HARNESS_KILLED, suite),
    ).fetchone()
    return row[0]


def _selected_items_sql(
    connection: sqlite3.Connection, selection: Selection, columns: str = "c.id"
) -> tuple[str, list[object]]:
    return selected_sql(check_names(connection, selection), columns, also=f"{STATE} <> 'excluded'")


class OutcomeCounts(NamedTuple):
    """The counts of a suite's test outcomes in a run on one data set.

    Attributes:
        flagged: Whether these are the counts of the solutions flagged as ground truth, or of all others.
        tests: Number of test outcomes over all solutions, except of tests that were not run or are broken.
    """

    verifier: str
    run: int
    suite: str
    dataset: str
    flagged: bool
    solutions: int
    tests: int
    passed: int
    assertion: int


def outcome_counts(connection: sqlite3.Connection, selection: Selection) -> list[OutcomeCounts]:
    """Count outcomes of tests in complete runs, separately for flagged ground truths and all others.

    Raises:
        UsageError: The selection names something unknown.
    """
    chosen, parameters = _selected_items_sql(connection, selection, "c.id, d.name AS dataset")
    columns = "v.name, r.id, t.suite, chosen.dataset, coalesce(cs.ground_truth, 0)"
    rows = connection.execute(
        f"SELECT {columns}, count(*), "
        f"total(length(t.outcomes) - {_letter_count_sql(NOT_RUN)} - {_letter_count_sql(BROKEN)}), "
        f"total({_letter_count_sql(PASS)}), total({_letter_count_sql(ASSERTION)}) "
        f"FROM ({chosen}) AS chosen JOIN counted_results AS t ON "
        "t.completion_id = chosen.id JOIN runs AS r ON r.id = t.run_id JOIN verifiers AS v ON v.id = r.verifier_id "
        "LEFT JOIN code_solutions AS cs ON cs.completion_id = chosen.id WHERE r.completed_at IS NOT NULL GROUP BY "
        "r.id, t.suite, 4, 5 ORDER BY r.id, t.suite, 4, 5",
        parameters,
    )
    return [
        OutcomeCounts(verifier, run, suite, dataset, bool(flagged), count, int(tests), int(passed), int(assertion))
        for verifier, run, suite, dataset, flagged, count, tests, passed, assertion in rows
    ]


def _letter_count_sql(letter: str) -> str:
    return f"(length(t.outcomes) - length(replace(t.outcomes, '{letter}', '')))"
