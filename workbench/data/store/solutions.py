"""Solutions of code problems by problem, and which of them are known to be right."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from workbench.core.code import ASSERTION, BROKEN, NOT_RUN, PASS, SolutionForm
from workbench.core.database.selection import STATE, check_names, compile_selection, items_for
from workbench.core.selection import Selection
from workbench.statistics.records.candidates import GroundTruthFrom


class SolutionRow(NamedTuple):
    """A completion that is to solve a problem: row ids and names."""

    question: int
    dataset: str
    task_id: str
    item: int
    key: str


class SolutionText(NamedTuple):
    """A solution by its row id: its text, and what that is (None where the import didn't say)."""

    id: int
    form: SolutionForm | None
    text: str


def by_problem(
    connection: sqlite3.Connection, selection: Selection, questions: Sequence[int] | None = None
) -> list[SolutionRow]:
    """The chosen solutions of code problems, problem by problem, each in the order of import; no excluded ones.

    Args:
        questions: Only of these problems; None for all.

    Raises:
        UsageError: The selection names something unknown.
    """
    where, parameters = compile_selection(check_names(connection, selection))
    texts = [where, f"{STATE} <> 'excluded'", "c.question_id IN (SELECT question_id FROM code_problems)"]
    if questions is not None:
        texts.append("c.question_id IN (SELECT value FROM json_each(?))")
        parameters.append(_json(questions))
    condition = " AND ".join(texts)
    columns = "c.question_id, d.name, q.key, c.id, c.key"
    chosen = f"SELECT {columns} FROM {items_for(columns, condition)} WHERE {condition} ORDER BY c.id LIMIT ?"
    limit = -1 if selection.limit is None else selection.limit
    rows = connection.execute(f"SELECT * FROM ({chosen}) ORDER BY 1, 4", (*parameters, limit))
    return list(map(SolutionRow._make, rows))


def texts(connection: sqlite3.Connection, items: Sequence[int]) -> dict[int, SolutionText]:
    """Solutions by row id, excluded ones among them."""
    rows = connection.execute(
        "SELECT c.id, s.form, x.text FROM json_each(?) AS wanted CROSS JOIN completions AS c ON c.id = wanted.value "
        "JOIN completion_text AS x ON x.id = c.id LEFT JOIN code_solutions AS s ON s.completion_id = c.id",
        (_json(items),),
    )
    return {row[0]: SolutionText(*row) for row in rows}


def ground_truths(connection: sqlite3.Connection, items: Sequence[int]) -> dict[int, GroundTruthFrom]:
    """Those of the completions that are known to be right, by row id: flagged, or with the text of a canonical
    solution that people wrote.

    A solution that goes on where the prompt ends is compared with the prompt before it; blank space at the end doesn't
    count.
    """
    blank = "char(9) || char(10) || char(13) || ' '"
    rows = connection.execute(
        "SELECT c.id, iif(s.ground_truth, 'flag', 'canonical') FROM json_each(?) AS wanted "
        "CROSS JOIN completions AS c ON c.id = wanted.value CROSS JOIN completion_text AS ct ON ct.id = c.id "
        "CROSS JOIN question_text AS qt ON qt.id = c.question_id "
        "LEFT JOIN code_solutions AS s ON s.completion_id = c.id "
        "LEFT JOIN code_problems AS p ON p.question_id = c.question_id "
        f"WHERE s.ground_truth OR (qt.reference <> '' AND p.reference_by = 'human' AND rtrim(qt.reference, {blank}) = "
        f"rtrim(iif(s.form = 'continuation', qt.text || ct.text, ct.text), {blank}))",
        (_json(items),),
    )
    return dict(rows.fetchall())


def _json(values: Sequence[int]) -> str:
    return msgspec.json.encode(list(values)).decode()


def run_sizes(connection: sqlite3.Connection) -> list[tuple[int, int, str]]:
    """How many solutions each run has outcomes of, by suite: the number, the run and the suite."""
    return connection.execute(
        "SELECT count(*), run_id, suite FROM test_results GROUP BY run_id, suite ORDER BY run_id, suite"
    ).fetchall()


class OutcomeCounts(NamedTuple):
    """What came of the tests of a suite in a run on one data set.

    Attributes:
        flagged: Only over solutions that are flagged as their problem's ground truth.
        tests: Tests times solutions, those left out that were not run or are broken.
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
    """Outcomes of tests in runs that have been complete, of flagged ground truths and of all others apart.

    Raises:
        UsageError: The selection names something unknown.
    """
    where, parameters = compile_selection(check_names(connection, selection))
    condition = f"{where} AND {STATE} <> 'excluded'"
    columns = "v.name, r.id, t.suite, d.dataset, coalesce(cs.ground_truth, 0)"
    limit = -1 if selection.limit is None else selection.limit
    rows = connection.execute(
        f"SELECT {columns}, count(*), total(length(t.outcomes) - {_count(NOT_RUN)} - {_count(BROKEN)}), "
        f"total({_count(PASS)}), "
        f"total({_count(ASSERTION)}) FROM (SELECT c.id, d.name AS dataset FROM {items_for('d.', condition)} "
        f"WHERE {condition} ORDER BY c.id LIMIT ?) AS d "
        "JOIN test_results AS t ON t.completion_id = d.id JOIN runs AS r ON r.id = t.run_id "
        "JOIN verifiers AS v ON v.id = r.verifier_id LEFT JOIN code_solutions AS cs ON cs.completion_id = d.id "
        "WHERE r.completed_at IS NOT NULL GROUP BY r.id, t.suite, 4, 5 ORDER BY r.id, t.suite, 4, 5",
        (*parameters, limit),
    )
    return [
        OutcomeCounts(verifier, run, suite, dataset, bool(flagged), count, int(tests), int(passed), int(assertion))
        for verifier, run, suite, dataset, flagged, count, tests, passed, assertion in rows
    ]


def _count(letter: str) -> str:
    return f"(length(t.outcomes) - length(replace(t.outcomes, '{letter}', '')))"
