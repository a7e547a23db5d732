"""SQL of answer types that a run suggests: one a question, from the verdicts on its completions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from workbench.core.database.selection import SUBTYPE, VISIBLE
from workbench.core.taxonomy import TypeSuggestion

# Completions of one question share one suggestion. If calls failed for some of them, one with a suggestion comes first.
_QUERY = f"""
    SELECT d.name, q.key, {SUBTYPE}, e.rule, v.reason, q.id FROM verdicts AS v
    JOIN completions AS c ON c.id = v.completion_id
    JOIN questions AS q ON q.id = c.question_id
    JOIN datasets AS d ON d.id = q.dataset_id
    LEFT JOIN item_states AS i ON i.completion_id = c.id
    LEFT JOIN verdict_evidence AS e
      ON e.run_id = v.run_id AND e.completion_id = v.completion_id AND e.sample = v.sample
    WHERE v.run_id = ? AND v.sample = 0 AND {VISIBLE}"""


def suggestions(connection: sqlite3.Connection, run: int) -> Iterator[TypeSuggestion]:
    last = None
    for row in connection.execute(f"{_QUERY} ORDER BY q.id, e.rule IS NULL, c.id", (run,)):
        if row[5] != last:
            last = row[5]
            yield _suggestion(row)


def suggestion_of(connection: sqlite3.Connection, run: int, question: int) -> TypeSuggestion | None:
    row = connection.execute(
        f"{_QUERY} AND c.question_id = ? ORDER BY e.rule IS NULL, c.id LIMIT 1", (run, question)
    ).fetchone()
    return None if row is None else _suggestion(row)


def _suggestion(row: tuple[str, str, str | None, str | None, str | None, int]) -> TypeSuggestion:
    dataset, question, subtype, rule, reason, _ = row
    return TypeSuggestion(
        dataset=dataset,
        question_id=question,
        subtype=subtype,
        suggested=rule,
        reason=None if rule is not None else reason,
    )
