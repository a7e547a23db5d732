"""SQL of checks: items with a known answer, and the answers to them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Literal, NamedTuple

from msgspec import Struct

from workbench.core.database.events import IN_FORCE
from workbench.core.database.people import now
from workbench.core.label import LabelVerdict

Source = Literal["imported", "people", "file"]
"""Origin of a check's answer: the imported gold, the annotators' gold, or a file."""


class CheckCandidate(NamedTuple):
    """An item that may become a check.

    Attributes:
        verdict: Its answer according to the source; None if the source has none.
        settled: Whether annotators have resolved it, and it has no open work.
        touched: Whether it has labels, slots, or a coordinator's decision.
        is_check: Whether it already is a check.
    """

    completion: int
    verdict: LabelVerdict | None
    settled: bool
    touched: bool
    is_check: bool


class CheckInfo(Struct, frozen=True):
    """A check: one element of ``workbench checks DB list --json``.

    Attributes:
        answered: Number of people who have answered it.
        right: Number of them who gave the known answer.
    """

    dataset: str
    question_id: str
    completion_id: str
    verdict: LabelVerdict
    answered: int
    right: int


class CheckTally(NamedTuple):
    """A person's results on checks: in total, and since they were last resumed."""

    answered: int
    right: int
    answered_lately: int
    right_lately: int


_ANSWERED = f"e.kind = 'check' AND e.task = 'correctness' AND {IN_FORCE}"


def candidates(connection: sqlite3.Connection, completions: Iterable[int], source: Source) -> list[CheckCandidate]:
    verdict = {
        "imported": "CASE c.imported_gold WHEN 1 THEN 'correct' WHEN 0 THEN 'incorrect' END",
        "people": "CASE WHEN t.state IN ('final', 'excluded') THEN t.verdict END",
        "file": "NULL",
    }[source]
    rows = connection.execute(
        f"SELECT c.id, {verdict}, coalesce(t.state IN ('final', 'excluded'), 0) AND NOT EXISTS (SELECT 1 FROM "
        "assignments AS a WHERE a.task = 'correctness' AND a.subject = c.id AND a.purpose = 'quota' AND a.state IN "
        "('open', 'leased', 'away')), EXISTS (SELECT 1 FROM assignments AS a WHERE a.task = 'correctness' AND "
        "a.subject = c.id AND a.purpose = 'quota') OR EXISTS (SELECT 1 FROM label_events AS e WHERE e.task = "
        "'correctness' AND e.subject = c.id AND e.kind IN ('label', 'adjudication', 'reopen', 'exclusion')), "
        "k.completion_id IS NOT NULL FROM json_each(?) AS j JOIN completions AS c ON c.id = j.value LEFT JOIN "
        "task_states AS t ON t.task = 'correctness' AND t.subject = c.id LEFT JOIN check_items AS k ON k.completion_id "
        "= c.id ORDER BY j.key",
        (json.dumps(list(completions)),),
    )
    return [CheckCandidate(row[0], row[1], bool(row[2]), bool(row[3]), bool(row[4])) for row in rows]


def put(connection: sqlite3.Connection, completion: int, verdict: LabelVerdict) -> bool:
    changed = connection.execute(
        "INSERT INTO check_items (completion_id, verdict, added_at) VALUES (?1, ?2, ?3) "
        "ON CONFLICT (completion_id) DO UPDATE SET verdict = ?2 WHERE verdict <> ?2",
        (completion, verdict, now()),
    )
    return bool(changed.rowcount)


def remove(connection: sqlite3.Connection, completion: int) -> bool:
    connection.execute(
        "DELETE FROM assignments WHERE purpose = 'check' AND state <> 'done' AND (task = 'correctness' AND subject = "
        "?1 OR task = 'type' AND subject = (SELECT question_id FROM completions WHERE id = ?1))",
        (completion,),
    )
    return bool(connection.execute("DELETE FROM check_items WHERE completion_id = ?", (completion,)).rowcount)


def every(connection: sqlite3.Connection) -> list[CheckInfo]:
    rows = connection.execute(
        "SELECT d.name, q.key, c.key, k.verdict, count(e.id), coalesce(sum(e.verdict = k.verdict), 0) "
        "FROM check_items AS k JOIN completions AS c ON c.id = k.completion_id "
        "JOIN questions AS q ON q.id = c.question_id JOIN datasets AS d ON d.id = q.dataset_id "
        f"LEFT JOIN label_events AS e ON e.subject = c.id AND {_ANSWERED} GROUP BY k.completion_id"
    )
    return [CheckInfo(*row) for row in rows]


def ids(connection: sqlite3.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT completion_id FROM check_items ORDER BY completion_id")]


def count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM check_items").fetchone()[0])


def tally(connection: sqlite3.Connection, annotator: int) -> CheckTally:
    row = connection.execute(
        "SELECT count(*), coalesce(sum(e.verdict = k.verdict), 0), coalesce(sum(e.created_at > coalesce(a.resumed_at, "
        "'')), 0), coalesce(sum(e.created_at > coalesce(a.resumed_at, '') AND e.verdict = k.verdict), 0) FROM "
        "check_items AS k JOIN label_events AS e ON e.subject = k.completion_id JOIN annotators AS a ON a.id = "
        f"e.annotator_id WHERE e.annotator_id = ? AND {_ANSWERED}",
        (annotator,),
    ).fetchone()
    return CheckTally(*row)


def by_question(connection: sqlite3.Connection, annotator: int) -> list[tuple[int, int]]:
    rows = connection.execute(
        "SELECT count(*), sum(e.verdict = k.verdict) FROM check_items AS k "
        "JOIN label_events AS e ON e.subject = k.completion_id JOIN completions AS c ON c.id = k.completion_id "
        f"WHERE e.annotator_id = ? AND {_ANSWERED} GROUP BY c.question_id",
        (annotator,),
    )
    return rows.fetchall()


def has_typed(connection: sqlite3.Connection, question: int, annotator: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM label_events WHERE task = 'type' AND subject = ? AND annotator_id = ? AND kind = 'check'",
        (question, annotator),
    )
    return row.fetchone() is not None
