"""Columns for the accuracy tables, as plain arrays."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Sequence

from msgspec import Struct

from workbench.errors import UsageError
from workbench.model.report import NO_REASON
from workbench.model.selection import Selection
from workbench.model.verdict import GoldChoice
from workbench.store.gathered import integers
from workbench.store.selection import COLUMNS, GOLD, GOLD_FROM, IMPORTED_GOLD, IS_CHECK, compile_selection, items_for

GROUPS = ("type", "subtype", "domain", "source", "model", "dataset", "reason")
"""What accuracy can be broken down by; ``reason`` is the verdict's, the others are the item's."""

_REASON = f"coalesce(nullif(reason, ''), '{NO_REASON}')"

_GOLD: dict[str, str] = {
    "final": f"coalesce({GOLD}, -1)",
    "people": "CASE WHEN i.gold_from IS NOT NULL AND i.state NOT IN ('conflict', 'excluded') "
    f"AND NOT {IS_CHECK} THEN i.gold ELSE -1 END",
    # An excluded item is in no table, whatever its file said.
    "imported": f"CASE WHEN i.state = 'excluded' THEN -1 ELSE coalesce({IMPORTED_GOLD}, -1) END",
}


class GoldColumns(Struct, frozen=True, kw_only=True):
    """Gold, question and group of every selected item, in order of row id.

    Attributes:
        item: Row ids of the completions.
        question: Row ids of their questions (the clusters).
        gold: 1 correct, 0 incorrect, -1 none.
        group: Positions in ``names``; all 0 without a grouping.
        names: Names of the groups.
    """

    item: array[int]
    question: array[int]
    gold: array[int]
    group: array[int]
    names: list[str]


def gold_columns(
    connection: sqlite3.Connection, selection: Selection, by: str | None, choice: GoldChoice
) -> GoldColumns:
    """Read gold and group of the selected items."""
    where, parameters = compile_selection(selection)
    name = COLUMNS[by] if by else "''"
    limit = -1 if selection.limit is None else selection.limit
    rows = connection.execute(
        f"SELECT c.id, c.question_id, {_GOLD[choice]}, {name} FROM {items_for(where, name, _GOLD[choice])} "
        f"WHERE {where} ORDER BY c.id LIMIT ?",
        (*parameters, limit),
    )
    item, question, gold, group = array("q"), array("q"), array("b"), array("i")
    positions: dict[str, int] = {}
    while block := rows.fetchmany(20_000):
        items, questions, golds, names = zip(*block, strict=True)
        item.extend(items)
        question.extend(questions)
        gold.extend(golds)
        group.extend([positions.setdefault(name, len(positions)) for name in names])
    return GoldColumns(item=item, question=question, gold=gold, group=group, names=list(positions))


def gold_counts(connection: sqlite3.Connection, selection: Selection) -> dict[str, int]:
    """How many items have their gold from where: adjudicated, agreed, imported, none."""
    where, parameters = compile_selection(selection)
    found = connection.execute(
        f"SELECT coalesce({GOLD_FROM}, 'none') AS source, count(*) FROM {items_for(where, GOLD_FROM)} "
        f"WHERE {where} GROUP BY source",
        parameters,
    ).fetchall()
    return {"adjudicated": 0, "agreed": 0, "imported": 0, "none": 0} | dict(found)


def outcomes(connection: sqlite3.Connection, run: int, reason: str | None = None) -> tuple[array[int], array[int]]:
    """Completion row ids and outcomes (``model.verdict.Outcome``) of a run, in order of row id.

    Args:
        reason: Only verdicts with this reason, or without any for `NO_REASON`; None for all.
    """
    where, parameters = ("", ()) if reason is None else (f"AND {_REASON} = ?", (reason,))
    row: tuple[str | None, str | None] = connection.execute(
        "SELECT group_concat(completion_id), group_concat(outcome) FROM (SELECT completion_id, outcome FROM verdicts "
        f"WHERE run_id = ? AND sample = 0 {where} ORDER BY completion_id)",
        (run, *parameters),
    ).fetchone()
    return integers(row[0]), integers(row[1])


def reasons(connection: sqlite3.Connection, run: int) -> tuple[array[int], array[int], list[str]]:
    """Completion row ids in order, positions in the reasons, and the reasons (`NO_REASON` where there is none)."""
    rows = connection.execute(
        f"SELECT completion_id, {_REASON} FROM verdicts WHERE run_id = ? AND sample = 0 ORDER BY completion_id",
        (run,),
    )
    item, reason = array("q"), array("i")
    positions: dict[str, int] = {}
    while block := rows.fetchmany(50_000):
        items, names = zip(*block, strict=True)
        item.extend(items)
        reason.extend([positions.setdefault(name, len(positions)) for name in names])
    return item, reason, list(positions)


def reasons_of(connection: sqlite3.Connection, run: int, items: Sequence[int]) -> dict[int, str]:
    """Completion row id -> the reason of a run's verdict on it, for those that have one."""
    rows = connection.execute(
        "SELECT completion_id, reason FROM verdicts WHERE run_id = ? AND sample = 0 AND reason <> '' "
        "AND completion_id IN (SELECT value FROM json_each(?))",
        (run, json.dumps(list(items))),
    )
    return dict(rows.fetchall())


def scores(connection: sqlite3.Connection, run: int) -> tuple[array[int], array[float]]:
    """Completion row ids and scores of the verdicts of a run that have one, in order of row id."""
    rows = connection.execute(
        "SELECT completion_id, score FROM verdicts WHERE run_id = ? AND sample = 0 AND score IS NOT NULL "
        "ORDER BY completion_id",
        (run,),
    )
    item, score = array("q"), array("d")
    while block := rows.fetchmany(50_000):
        items, values = zip(*block, strict=True)
        item.extend(items)
        score.extend(values)
    return item, score


def verifier_of_run(connection: sqlite3.Connection, run: int) -> str:
    """The verifier's name of a run.

    Raises:
        UsageError: There is no such run.
    """
    row = connection.execute(
        "SELECT v.name FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id WHERE r.id = ?", (run,)
    ).fetchone()
    if row is None:
        raise UsageError(f"There is no run {run}.", "List them: workbench runs DB")
    return str(row[0])
