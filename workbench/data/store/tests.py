"""Reading code problems with their tests, and what the solutions of them are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from workbench.core.code import Problem, SolutionForm
from workbench.core.database.connection import Database
from workbench.data.store.suites import test_counts, tests_of

_LINES = 1_000
"""Solutions named in one read."""


class Solution(NamedTuple):
    """Which problem a completion is to solve, and what its text is (None where the import didn't say)."""

    question: int
    form: SolutionForm | None


class SolutionName(NamedTuple):
    """A completion by its ids; ``tests`` is how many tests it is to be run against, by suite."""

    item: int
    question_id: str
    completion_id: str
    dataset: str
    tests: dict[str, int]


def problems_of(database: Database, questions: Sequence[int], suites: Sequence[str]) -> dict[int, Problem]:
    """Code problems by the question's row id, with those of these suites that they have; others are left out.

    Args:
        suites: Names, in the order the tests are wanted.
    """
    reader = database.reader()
    wanted = list(dict.fromkeys(questions))
    rows = reader.execute(
        "SELECT p.question_id, q.key, qt.text, qt.reference, p.entry_point, p.setup, p.language, p.seconds, "
        "p.reference_by "
        "FROM json_each(?) AS wanted CROSS JOIN code_problems AS p ON p.question_id = wanted.value "
        "CROSS JOIN questions AS q ON q.id = p.question_id CROSS JOIN question_text AS qt ON qt.id = q.id",
        (_json(wanted),),
    ).fetchall()
    tests = tests_of(reader, "question", wanted, suites)
    return {
        row[0]: Problem(
            task_id=row[1],
            prompt=row[2],
            canonical=row[3],
            entry_point=row[4],
            setup=row[5],
            language=row[6],
            seconds=row[7],
            canonical_by=row[8],
            suites={name: tests[row[0]][name] for name in suites if name in tests[row[0]]},
        )
        for row in rows
    }


def suite_names(connection: sqlite3.Connection) -> list[str]:
    """Names of all suites that any data set has, by name."""
    return [name for (name,) in connection.execute("SELECT DISTINCT name FROM suites ORDER BY name")]


def solutions_of(database: Database, items: Sequence[int]) -> dict[int, Solution]:
    """What completions are, by row id."""
    rows = database.reader().execute(
        "SELECT c.id, c.question_id, s.form FROM json_each(?) AS wanted CROSS JOIN completions AS c "
        "ON c.id = wanted.value LEFT JOIN code_solutions AS s ON s.completion_id = c.id",
        (_json(list(items)),),
    )
    return {item: Solution(question, form) for item, question, form in rows}


def named_solutions(database: Database, items: Sequence[int], suites: Sequence[str]) -> Iterator[SolutionName]:
    """Those of the completions that are solutions of code problems, in this order and in short reads.

    Args:
        suites: Whose tests are counted.
    """
    for start in range(0, len(items), _LINES):
        rows = (
            database.reader()
            .execute(
                "SELECT c.id, q.id, q.key, c.key, d.name FROM json_each(?) AS wanted "
                "CROSS JOIN completions AS c ON c.id = wanted.value CROSS JOIN code_problems AS p "
                "ON p.question_id = c.question_id CROSS JOIN questions AS q ON q.id = c.question_id "
                "CROSS JOIN datasets AS d ON d.id = q.dataset_id ORDER BY wanted.key",
                (_json(list(items[start : start + _LINES])),),
            )
            .fetchall()
        )
        counts = test_counts(database.reader(), "question", sorted({row[1] for row in rows}), suites)
        own = test_counts(database.reader(), "completion", [row[0] for row in rows], suites)
        for item, question, question_id, completion_id, dataset in rows:
            yield SolutionName(item, question_id, completion_id, dataset, counts[question] | own[item])


def _json(values: object) -> str:
    return msgspec.json.encode(values).decode()
