"""Streaming reads for export: items, labels and verdicts in the order of import."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from workbench.core.database.selection import (
    FROM_ITEMS,
    GOLD,
    GOLD_FROM,
    IMPORTED_GOLD,
    STATE,
    SUBTYPE,
    TYPE,
    VERDICT,
    compile_selection,
    items_for,
)
from workbench.core.database.vocabularies import dataset_names
from workbench.core.errors import UsageError
from workbench.core.item import StoredItem
from workbench.core.label import Task
from workbench.core.selection import Selection
from workbench.core.taxonomy import type_display
from workbench.core.verdict import GoldChoice, Outcome


class LabelledSubject(NamedTuple):
    """A completion (task correctness) or a question (task type) that people have labelled."""

    task: Task
    subject: int
    question_key: str
    completion_key: str | None


def dataset_id(connection: sqlite3.Connection, name: str) -> int:
    """A data set's row id.

    Raises:
        UsageError: There is no such data set.
    """
    row = connection.execute("SELECT id FROM datasets WHERE name = ?", (name,)).fetchone()
    if row is None:
        known = ", ".join(dataset_names(connection)) or "none yet"
        raise UsageError(f"There is no data set {name!r}.", f"There are: {known}.")
    return int(row[0])


def stream_items(
    connection: sqlite3.Connection, selection: Selection, gold: GoldChoice = "final", *, by_question: bool = False
) -> Iterator[StoredItem]:
    """The chosen items, one at a time, all from one state of the database.

    Args:
        gold: Whose labels; ``imported`` means the file's own answer types too.
        by_question: A question's completions together; else in the order of import.
    """
    chosen, parameters = _chosen(selection, "c.question_id, c.id" if by_question else "c.id")
    asked = IMPORTED_GOLD if gold == "imported" else GOLD
    # Only ids are sorted: the limit keeps SQLite from merging the queries and sorting long texts.
    rows = connection.execute(
        f"SELECT d.name, q.key, c.key, qt.text, qt.reference, ct.text, {asked}, {GOLD_FROM}, c.imported_gold, m.name, "
        f"s.name, {TYPE}, {SUBTYPE}, q.type, q.subtype, qt.type_text, qt.subtype_text, {STATE}, ct.extra, ct.layout "
        f"FROM ({chosen}) AS chosen CROSS JOIN completions AS c ON c.id = chosen.id "
        "CROSS JOIN completion_text AS ct ON ct.id = c.id CROSS JOIN questions AS q ON q.id = c.question_id "
        "CROSS JOIN question_text AS qt ON qt.id = q.id CROSS JOIN datasets AS d ON d.id = q.dataset_id "
        "LEFT JOIN sources AS s ON s.id = q.source_id LEFT JOIN models AS m ON m.id = c.model_id "
        "LEFT JOIN item_states AS i ON i.completion_id = c.id",
        parameters,
    )
    return (_item(row, gold) for row in rows)


def labelled_subjects(connection: sqlite3.Connection, selection: Selection) -> list[LabelledSubject]:
    """Of the chosen items: completions with labels, then questions with type labels."""
    chosen, parameters = _chosen(selection)
    rows = connection.execute(
        f"WITH chosen AS MATERIALIZED ({chosen}) "
        "SELECT 'correctness', c.id, q.key, c.key FROM chosen JOIN completions AS c ON c.id = chosen.id "
        "JOIN questions AS q ON q.id = c.question_id WHERE EXISTS "
        "(SELECT 1 FROM label_events AS e WHERE e.task = 'correctness' AND e.subject = c.id) "
        "UNION ALL SELECT DISTINCT 'type', q.id, q.key, NULL FROM chosen "
        "JOIN completions AS c ON c.id = chosen.id JOIN questions AS q ON q.id = c.question_id WHERE EXISTS "
        "(SELECT 1 FROM label_events AS e WHERE e.task = 'type' AND e.subject = q.id) ORDER BY 1, 2",
        parameters,
    )
    return [LabelledSubject(*row) for row in rows]


def stream_verdicts(connection: sqlite3.Connection, selection: Selection) -> Iterator[tuple[object, ...]]:
    """(question id, completion id, verifier, run, verdict, score, reason, ms) of every run on the chosen items."""
    chosen, parameters = _chosen(selection)
    rows = connection.execute(
        f"WITH chosen AS MATERIALIZED ({chosen}) "
        "SELECT q.key, c.key, v.name, x.run_id, x.outcome, x.score, x.reason, x.ms FROM runs AS r "
        "CROSS JOIN verifiers AS v ON v.id = r.verifier_id CROSS JOIN verdicts AS x ON x.run_id = r.id "
        "CROSS JOIN completions AS c ON c.id = x.completion_id CROSS JOIN questions AS q ON q.id = c.question_id "
        "WHERE c.id IN (SELECT id FROM chosen)",
        parameters,
    )
    for question, completion, verifier, run, outcome, *rest in rows:
        yield (question, completion, verifier, run, Outcome(outcome).word, *rest)


def annotator_names(connection: sqlite3.Connection) -> dict[int, str]:
    """Row id -> name of everyone."""
    return dict(connection.execute("SELECT id, name FROM annotators").fetchall())


def count_items(connection: sqlite3.Connection, selection: Selection) -> int:
    """How many items are chosen."""
    where, parameters = compile_selection(selection)
    row = connection.execute(f"SELECT count(*) FROM {items_for(where)} WHERE {where}", parameters).fetchone()
    return int(row[0])


def count_verdicts(connection: sqlite3.Connection, selection: Selection, verifier: str) -> dict[str, int]:
    """What a verifier's newest complete run says of the chosen items: verdict, or ``none`` -> how many."""
    where, parameters = compile_selection(selection)
    rows = connection.execute(
        f"SELECT {VERDICT} AS outcome, count(*) FROM {items_for(where)} WHERE {where} GROUP BY outcome",
        (verifier, *parameters),
    )
    found = {"none" if outcome is None else Outcome(outcome).word: number for outcome, number in rows}
    return {word: found.get(word, 0) for word in (*(outcome.word for outcome in Outcome), "none")}


def _chosen(selection: Selection, order: str = "c.id") -> tuple[str, list[object]]:
    where, parameters = compile_selection(selection)
    limit = -1 if selection.limit is None else selection.limit
    return f"SELECT c.id FROM {FROM_ITEMS} WHERE {where} ORDER BY {order} LIMIT ?", [*parameters, limit]


def _item(row: tuple[object, ...], choice: GoldChoice) -> StoredItem:
    (dataset, question_key, completion_key, question, reference, completion, gold, gold_from, imported_gold) = row[:9]
    model, source, kind, subtype, own_kind, own_subtype, type_text, subtype_text, state, extra, layout = row[9:]
    if choice == "imported":
        gold_from = None if gold is None else "imported"
        kind, subtype = own_kind, own_subtype
    elif choice == "people" and gold_from == "imported":
        gold = gold_from = None
    values = {
        "dataset": dataset,
        "question_key": question_key,
        "completion_key": completion_key,
        "question": question,
        "reference": reference,
        "completion": completion,
        "gold": None if gold is None else bool(gold),
        "gold_from": gold_from,
        "imported_gold": None if imported_gold is None else bool(imported_gold),
        "model": model,
        "source": source,
        "type": kind,
        "subtype": subtype,
        "type_text": _in_force(kind, own_kind, type_text),
        "subtype_text": _in_force(subtype, own_subtype, subtype_text),
        "state": state,
        "extra": extra,
        "layout": layout,
    }
    return StoredItem(**values)  # type: ignore[arg-type]


def _in_force(code: object, imported: object, text: object) -> object:
    """The source's own string while its code is in force; else the code with its name."""
    if code is None or (code == imported and text is not None):
        return text
    return type_display(str(code))
