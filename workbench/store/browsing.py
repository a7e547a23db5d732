"""Reading items for tables: an id query, then pages by id. No OFFSET, no long text in the scan."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence

from workbench.model.browse import BrowseQuery, BrowseRow, ItemDetail, ItemLabel, ItemVerdict
from workbench.model.selection import Selection
from workbench.model.verdict import Outcome
from workbench.store.selection import COLUMNS, FROM_ITEMS, GOLD_FROM, compile_selection, items_for

QUESTION_CHARACTERS = 160


def ids(connection: sqlite3.Connection, query: BrowseQuery) -> array[int]:
    """Row ids of all items of a query, in its order (eight bytes each)."""
    where, order, parameters = _compile(query)
    rows = connection.execute(f"SELECT c.id FROM {items_for(where, order)} WHERE {where} ORDER BY {order}", parameters)
    found = array("q")
    while block := rows.fetchmany(50_000):
        found.extend([row[0] for row in block])
    return found


def first_ids(connection: sqlite3.Connection, query: BrowseQuery, limit: int) -> list[int]:
    """The first row ids in the order of import: there before the whole id query is."""
    where, _, parameters = _compile(query)
    rows = connection.execute(
        f"SELECT c.id FROM {items_for(where)} WHERE {where} ORDER BY c.id LIMIT ?", (*parameters, limit)
    )
    return [row[0] for row in rows]


def _compile(query: BrowseQuery) -> tuple[str, str, list[object]]:
    where, parameters = compile_selection(Selection(query.conditions))
    if query.search:
        pattern = "%" + query.search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        columns = ("c.key", "q.key", "qt.text", "qt.reference", "ct.text")
        where += " AND (" + " OR ".join(f"{column} LIKE ? ESCAPE '\\'" for column in columns) + ")"
        parameters += [pattern] * len(columns)
    direction = "DESC" if query.descending else "ASC"
    order = f"c.id {direction}" if query.sort is None else f"{COLUMNS[query.sort]} {direction}, c.id"
    return where, order, parameters


_ROW = ", ".join(
    COLUMNS[name]
    for name in ("completion_id", "question_id", "dataset", "subtype", "domain", "source", "model", "state", "gold")
)


def rows(connection: sqlite3.Connection, wanted: Sequence[int], runs: dict[int, str]) -> list[BrowseRow]:
    """Rows by id, in the order asked for; ids that are gone are left out.

    Args:
        runs: Run id -> verifier name of the verdict columns.
    """
    marks = ", ".join("?" * len(wanted))
    found = {
        row[0]: row
        for row in connection.execute(
            f"SELECT c.id, substr(qt.text, 1, {QUESTION_CHARACTERS}), {_ROW} FROM {FROM_ITEMS} "
            f"JOIN question_text AS qt ON qt.id = q.id WHERE c.id IN ({marks})",
            tuple(wanted),
        )
    }
    words = _words(connection, wanted, runs)
    return [_row(found[item], words.get(item, {})) for item in wanted if item in found]


def _row(row: tuple[object, ...], verdicts: dict[str, str]) -> BrowseRow:
    key, question_key, dataset, subtype, domain, source, model, state, gold = map(str, row[2:])
    return BrowseRow(
        id=int(str(row[0])),
        question=str(row[1]),
        completion_id=key,
        question_id=question_key,
        dataset=dataset,
        subtype=subtype,
        domain=domain,
        source=source,
        model=model,
        state=state,
        gold=gold,
        verdicts=verdicts,
    )


def _words(connection: sqlite3.Connection, wanted: Sequence[int], runs: dict[int, str]) -> dict[int, dict[str, str]]:
    words: dict[int, dict[str, str]] = {}
    marks = ", ".join("?" * len(wanted))
    for run, name in runs.items():
        for item, outcome in connection.execute(
            f"SELECT completion_id, outcome FROM verdicts WHERE run_id = ? AND sample = 0 "
            f"AND completion_id IN ({marks})",
            (run, *wanted),
        ):
            words.setdefault(item, {})[name] = Outcome(outcome).word
    return words


def newest_runs(connection: sqlite3.Connection) -> dict[int, str]:
    """Run id -> verifier name: the newest run of each verifier that has been complete."""
    return dict(
        connection.execute(
            "SELECT max(r.id), v.name FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id "
            "WHERE r.completed_at IS NOT NULL GROUP BY v.id ORDER BY v.id"
        ).fetchall()
    )


def detail(connection: sqlite3.Connection, completion: int) -> ItemDetail:
    """Everything of one item."""
    row = connection.execute(
        f"SELECT {_ROW}, {GOLD_FROM}, c.imported_gold, coalesce(i.reason, ''), qt.text, qt.reference, ct.text "
        f"FROM {FROM_ITEMS} JOIN question_text AS qt ON qt.id = q.id JOIN completion_text AS ct ON ct.id = c.id "
        "WHERE c.id = ?",
        (completion,),
    ).fetchone()
    return ItemDetail(
        id=completion,
        completion_id=row[0],
        question_id=row[1],
        dataset=row[2],
        subtype=row[3],
        domain=row[4],
        source=row[5],
        model=row[6],
        state=row[7],
        gold=row[8],
        gold_from=row[9] or "",
        imported_gold={1: "correct", 0: "incorrect"}.get(row[10], "none"),
        reason=row[11],
        question=row[12],
        reference=row[13],
        completion=row[14],
        labels=tuple(_labels(connection, completion)),
        verdicts=tuple(verdicts_of(connection, completion)),
    )


def _labels(connection: sqlite3.Connection, completion: int) -> list[ItemLabel]:
    found = connection.execute(
        "SELECT a.name, e.kind, e.task, coalesce(e.verdict, e.subtype, iif(e.flagged, 'flagged', '')), "
        "coalesce(e.exclusion_reason, ''), coalesce(e.note, ''), e.unsure, e.unblinded, e.created_at "
        "FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
        "WHERE e.kind IN ('label', 'adjudication', 'flag') AND ((e.task = 'correctness' AND e.subject = ?1) OR "
        "(e.task = 'type' AND e.subject = (SELECT question_id FROM completions WHERE id = ?1))) "
        "AND NOT EXISTS (SELECT 1 FROM label_events AS x WHERE x.task = e.task AND x.subject = e.subject "
        "AND x.supersedes = e.uuid) ORDER BY e.id",
        (completion,),
    )
    return [
        ItemLabel(
            annotator=row[0],
            kind=row[1],
            task=row[2],
            value=row[3],
            reason=row[4],
            note=row[5],
            unsure=bool(row[6]),
            unblinded=bool(row[7]),
            created_at=row[8],
        )
        for row in found
    ]


def verdicts_of(connection: sqlite3.Connection, completion: int) -> list[ItemVerdict]:
    """The newest verdict of every verifier on one item, with evidence."""
    found = []
    for run, name in newest_runs(connection).items():
        row = connection.execute(
            "SELECT v.outcome, v.score, v.reason, v.ms, e.reference_final, e.candidate_final, e.span_start, "
            "e.span_end, e.detail FROM verdicts AS v LEFT JOIN verdict_evidence AS e ON e.run_id = v.run_id "
            "AND e.completion_id = v.completion_id AND e.sample = v.sample "
            "WHERE v.run_id = ? AND v.completion_id = ? AND v.sample = 0",
            (run, completion),
        ).fetchone()
        if row is not None:
            found.append(
                ItemVerdict(
                    verifier=name,
                    run=run,
                    verdict=Outcome(row[0]).word,
                    score=row[1],
                    reason=row[2],
                    ms=row[3],
                    reference_final=row[4],
                    candidate_final=row[5],
                    candidate_span=None if row[6] is None else (row[6], row[7]),
                    detail=row[8],
                )
            )
    return found
