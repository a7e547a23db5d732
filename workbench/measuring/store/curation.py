"""SQL of the pool of questions (all that are not code problems), of curation decisions, and of answer types proposed
by models."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct, structs

from workbench.core.database.events import IN_FORCE, OF_THIS_ROUND
from workbench.core.database.selection import SUBTYPE, VISIBLE, VISIBLE_QUESTION
from workbench.core.database.values import as_record, now
from workbench.core.taxonomy import TypeSuggestion
from workbench.measuring.records.curation import DUPLICATE, UNREADABLE, OutQuestion, PoolQuestion, Scope

_FROM: Final = """
    FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id LEFT JOIN sources AS s ON s.id = q.source_id
    LEFT JOIN curation AS k ON k.id = (SELECT max(id) FROM curation WHERE question_id = q.id)"""
_POOL: Final = f"""
    {VISIBLE_QUESTION} AND NOT EXISTS (SELECT 1 FROM code_problems WHERE question_id = q.id)
    AND (?1 IS NULL OR d.name = ?1) AND (?2 IS NULL OR s.name = ?2)"""
_OUT: Final = "CASE k.kind WHEN 'exclude' THEN k.reason END"

_SETTLED: Final = "CASE t.state WHEN 'final' THEN t.subtype END"
_SAID_ALONE: Final = f"""
    CASE t.state WHEN 'labelled' THEN (
        SELECT e.subtype FROM label_events AS e WHERE e.task = 'type' AND e.subject = q.id AND e.kind = 'label'
        AND {IN_FORCE} AND {OF_THIS_ROUND} ORDER BY e.created_at, e.uuid LIMIT 1) END"""
_NEWEST: Final = f"SELECT max(run_id) FROM proposed_types WHERE question_id = q.id AND reason IS NOT '{UNREADABLE}'"
_QUESTIONS: Final = f"""
    SELECT q.id, d.name, q.key, s.name, s.domain, s.licence, coalesce(q.subtype, q.type),
           {_SETTLED}, {_SAID_ALONE}, coalesce(t.state = 'conflict', 0), p.subtype, p.reason, {_OUT},
           EXISTS (SELECT 1 FROM completions WHERE question_id = q.id), qt.reference <> ''
    {_FROM} JOIN question_text AS qt ON qt.id = q.id
    LEFT JOIN task_states AS t ON t.task = 'type' AND t.subject = q.id
    LEFT JOIN proposed_types AS p ON p.question_id = q.id AND p.run_id = ({_NEWEST})
    WHERE {_POOL} ORDER BY q.id"""
_TEXTS: Final = "SELECT id, text, reference FROM question_text WHERE id IN (SELECT value FROM json_each(?))"
_DECIDE: Final = (
    "INSERT INTO curation (question_id, kind, reason, duplicate_of, similarity, note, annotator_id, created_at) "
    "VALUES (:question, iif(:reason IS NULL, 'restore', 'exclude'), :reason, :duplicate_of, :similarity, :note, "
    ":person, :at)"
)

_KEPT_COLUMNS = (
    "SELECT c.question_id, ct.extra, min(c.id) FROM completions AS c JOIN completion_text AS ct ON ct.id = c.id "
    "WHERE c.question_id IN (SELECT value FROM json_each(?)) AND ct.extra IS NOT NULL GROUP BY c.question_id"
)


class Texts(Struct, frozen=True):
    question: str
    reference: str


class CurationDecision(Struct, frozen=True, kw_only=True):
    """A decision on a question.

    Attributes:
        reason: The reason to exclude it; None to include it again.
        duplicate_of: The question that it duplicates; None for other reasons.
    """

    question: int
    reason: str | None
    note: str | None = None
    duplicate_of: int | None = None
    similarity: float | None = None


_MAX_EXAMPLES: Final = 3
_SAMPLE_SIZE: Final = 2000
_UNKNOWN_TYPES: Final = """
    SELECT i.said, k.key FROM (
        SELECT substr(coalesce(nullif(t.subtype_text, ''), t.type_text), 1, 40) AS said, x.extra
        FROM json_each(?) AS j JOIN completions AS c ON c.id = j.value JOIN question_text AS t ON t.id = c.question_id
        JOIN completion_text AS x ON x.id = c.id
        WHERE t.subtype_text <> '' OR t.type_text <> ''
    ) AS i LEFT JOIN json_each(CASE WHEN json_valid(i.extra) THEN i.extra END) AS k
        ON substr(k.value, 1, 40) = i.said"""


class UnknownTypes(NamedTuple):
    """The values that files have instead of answer types.

    Attributes:
        words: Some of these values, the most frequent first.
        column: The stored additional column of the file with these values; None without one.
    """

    words: tuple[str, ...]
    column: str | None

    @property
    def examples(self) -> str:
        return ", ".join([*self.words[:_MAX_EXAMPLES], *("…" for _ in self.words[_MAX_EXAMPLES : _MAX_EXAMPLES + 1])])


class Untyped(NamedTuple):
    """Numbers of questions that have completions but no type that metrics use, by reason.

    Attributes:
        questions: Number of all such questions.
        alone: Number of those with a type from only one annotator.
        disputed: Number of those on whose type annotators disagree.
        proposed: Number of those with only a model's proposal.
        unknown: The values that files have instead of types; None without such values.
    """

    questions: int
    alone: int
    disputed: int
    proposed: int
    unknown: UnknownTypes | None


def unknown_types(connection: sqlite3.Connection, items: Sequence[int]) -> UnknownTypes | None:
    """Return the values that files have instead of a type; None without such values. Only the first `_SAMPLE_SIZE`
    items are read."""
    rows = connection.execute(_UNKNOWN_TYPES, (str(list(items[:_SAMPLE_SIZE])),)).fetchall()
    words = Counter(word for word, _ in rows)
    columns = Counter(column for _, column in rows if column is not None)
    if not words:
        return None
    return UnknownTypes(tuple(word for word, _ in words.most_common()), next(iter(columns.most_common(1)), (None,))[0])


def untyped(connection: sqlite3.Connection, items: Sequence[int]) -> Untyped:
    """Count the questions without a type that metrics use, by reason.

    Args:
        items: Completions without a type, in whose rows the values that files have instead are looked up.
    """
    questions, alone, disputed, proposed = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE t.state = 'labelled'), count(*) FILTER (WHERE t.state = 'conflict'), "
        "count(*) FILTER (WHERE coalesce(t.state, 'unlabelled') = 'unlabelled' AND EXISTS (SELECT 1 FROM "
        f"proposed_types AS p WHERE p.question_id = q.id AND p.run_id = ({_NEWEST}) AND p.subtype IS NOT NULL)) FROM "
        "questions AS q LEFT JOIN task_states AS t ON t.task = 'type' AND t.subject = q.id WHERE q.type IS NULL AND "
        f"coalesce(t.state, '') <> 'final' AND {VISIBLE_QUESTION} AND EXISTS (SELECT 1 FROM completions WHERE "
        "question_id = q.id) AND NOT EXISTS (SELECT 1 FROM code_problems WHERE question_id = q.id)"
    ).fetchone()
    return Untyped(questions, alone, disputed, proposed, unknown_types(connection, items))


def questions(connection: sqlite3.Connection, scope: Scope) -> Iterator[PoolQuestion]:
    for *row, completions, reference in connection.execute(_QUESTIONS, (scope.dataset, scope.source)):
        found = as_record(PoolQuestion, row, complete=0)
        subtype = found.file_type or found.people_type or found.said_alone
        known = (completions, subtype, found.source, found.licence, reference)
        yield structs.replace(found, complete=sum(map(bool, known)))


def texts(connection: sqlite3.Connection, questions: Sequence[int]) -> dict[int, Texts]:
    rows = connection.execute(_TEXTS, (str(list(questions)),))
    return {number: Texts(text, reference) for number, text, reference in rows}


def extra_columns(connection: sqlite3.Connection, questions: Sequence[int]) -> dict[int, str]:
    rows = connection.execute(_KEPT_COLUMNS, (str(list(questions)),))
    return {number: extra for number, extra, _ in rows}


def decide(connection: sqlite3.Connection, decisions: Iterable[CurationDecision], person: int) -> None:
    by = {"person": person, "at": now()}
    connection.executemany(_DECIDE, [structs.asdict(one) | by for one in decisions])


def excluded_questions(connection: sqlite3.Connection, scope: Scope) -> Iterator[OutQuestion]:
    rows = connection.execute(
        f"SELECT d.name, q.key, s.name, k.reason, (SELECT key FROM questions WHERE id = k.duplicate_of), k.similarity, "
        f"k.note, a.name, k.created_at {_FROM} JOIN annotators AS a ON a.id = k.annotator_id "
        f"WHERE k.kind = 'exclude' AND {_POOL} ORDER BY q.id",
        (scope.dataset, scope.source),
    )
    for row in rows:
        yield as_record(OutQuestion, row)


def exclusion_reasons(connection: sqlite3.Connection) -> dict[int, str]:
    return dict(connection.execute(f"SELECT q.id, k.reason {_FROM} WHERE k.kind = 'exclude' ORDER BY q.id").fetchall())


def count_stale_duplicates(connection: sqlite3.Connection) -> int:
    row: tuple[int] = connection.execute(
        f"SELECT count(*) {_FROM} JOIN curation AS o ON o.id = (SELECT max(id) FROM curation WHERE question_id = "
        f"k.duplicate_of) WHERE k.kind = 'exclude' AND k.reason = '{DUPLICATE}' AND o.kind = 'exclude' "
        f"AND o.reason <> '{DUPLICATE}'"
    ).fetchone()
    return row[0]


def with_keys(connection: sqlite3.Connection, key: str, dataset: str | None) -> list[tuple[int, str]]:
    rows = connection.execute(f"SELECT q.id, d.name {_FROM} WHERE {_POOL} AND q.key = ?3", (dataset, None, key))
    return rows.fetchall()


def propose(connection: sqlite3.Connection, run: int, proposals: Iterable[tuple[int, str | None, str | None]]) -> None:
    """Store a run's proposals, each a question, its subtype, and the reason for a missing subtype. Proposals that are
    already stored are unchanged."""
    connection.executemany(
        "INSERT OR IGNORE INTO proposed_types (run_id, question_id, subtype, reason) VALUES (?, ?, ?, ?)",
        [(run, *one) for one in proposals],
    )


def proposed_by(connection: sqlite3.Connection, run: int) -> dict[int, str]:
    rows = connection.execute(
        "SELECT question_id, coalesce(subtype, reason) FROM proposed_types WHERE run_id = ?", (run,)
    )
    return dict(rows.fetchall())


def proposers(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    rows = connection.execute(
        "SELECT r.id, v.name FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id "
        "WHERE EXISTS (SELECT 1 FROM proposed_types WHERE run_id = r.id) ORDER BY r.id"
    )
    return rows.fetchall()


def outside(connection: sqlite3.Connection, scope: Scope) -> Iterator[tuple[int, str, str]]:
    """Yield the questions that are not excluded and for which a run found no type, in the order of import. Each is its
    row id, the reason, and the name of the run's verifier.
    """
    rows = connection.execute(
        f"SELECT q.id, p.reason, v.name {_FROM} JOIN proposed_types AS p ON p.question_id = q.id "
        f"JOIN runs AS r ON r.id = p.run_id JOIN verifiers AS v ON v.id = r.verifier_id "
        f"WHERE p.reason <> '{UNREADABLE}' AND {_OUT} IS NULL AND {_POOL} ORDER BY q.id, r.id",
        (scope.dataset, scope.source),
    )
    yield from rows.fetchall()


def suggestions(connection: sqlite3.Connection, run: int) -> Iterator[TypeSuggestion]:
    rows = connection.execute(
        f"SELECT d.name, q.key, coalesce({_SETTLED}, {_SAID_ALONE}, q.subtype), p.subtype, p.reason {_FROM} "
        "JOIN proposed_types AS p ON p.question_id = q.id AND p.run_id = ?3 "
        f"LEFT JOIN task_states AS t ON t.task = 'type' AND t.subject = q.id WHERE {_POOL} ORDER BY q.id",
        (None, None, run),
    )
    for dataset, key, subtype, proposed, reason in rows:
        unreadable = reason == UNREADABLE
        yield TypeSuggestion(
            dataset=dataset,
            question_id=key,
            subtype=subtype,
            suggested=proposed or (None if unreadable else reason),
            reason=reason if unreadable else None,
        )


def drawn(connection: sqlite3.Connection) -> Iterator[tuple[str, str | None, int]]:
    """Yield each drawn benchmark in its newest version with each of its sources and the number of questions from it."""
    rows = connection.execute(
        "SELECT x.name, s.name, count(*) FROM sets AS x JOIN set_questions AS m ON m.set_id = x.id "
        "JOIN questions AS q ON q.id = m.question_id LEFT JOIN sources AS s ON s.id = q.source_id "
        "WHERE x.version = (SELECT max(version) FROM sets WHERE name = x.name) GROUP BY x.id, s.id ORDER BY x.id"
    )
    yield from rows.fetchall()


# -- Answer types that a run suggests: one a question, from the verdicts on its completions.


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


def run_suggestions(connection: sqlite3.Connection, run: int) -> Iterator[TypeSuggestion]:
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
