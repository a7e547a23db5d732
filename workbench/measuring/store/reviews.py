"""SQL of reviews of disagreements, which are append-only."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import structs

from workbench.core.database.events import IN_FORCE, OF_THIS_ROUND
from workbench.core.database.selection import COLUMNS, GOLD, GOLD_FROM, GOLD_WORD, VISIBLE, items_sql
from workbench.core.database.values import as_record, integers
from workbench.core.options import grouped
from workbench.core.verdict import OutcomeCode, OutcomeWord
from workbench.measuring.records.review import GoldWord, Review

_COLUMNS = (
    "r.uuid, r.kind, r.completion_id, r.run_id, v.name, r.category, r.gold, r.queue, r.note, a.name, r.supersedes, "
    "r.created_at"
)
_FROM = (
    "reviews AS r JOIN annotators AS a ON a.id = r.reviewer_id LEFT JOIN runs AS n ON n.id = r.run_id "
    "LEFT JOIN verifiers AS v ON v.id = n.verifier_id"
)
_TAKEN_BACK = (
    "EXISTS (SELECT 1 FROM reviews AS t WHERE t.completion_id = {0}.completion_id AND t.supersedes = {0}.uuid "
    "AND t.kind = 'retraction')"
)
# A newer decision on gold replaces an older one, and a newer mark on a verifier's verdict an older one.
_OF_ONE_KIND = (
    "(s.kind = 'error') = (r.kind = 'error') AND (SELECT x.verifier_id FROM runs AS x WHERE x.id = s.run_id) "
    "IS (SELECT x.verifier_id FROM runs AS x WHERE x.id = r.run_id)"
)
STANDING = (
    f"r.kind <> 'retraction' AND NOT {_TAKEN_BACK.format('r')} AND NOT EXISTS (SELECT 1 FROM reviews AS s "
    "WHERE s.completion_id = r.completion_id AND s.kind <> 'retraction' AND (s.created_at, s.uuid) > "
    f"(r.created_at, r.uuid) AND {_OF_ONE_KIND} AND NOT {_TAKEN_BACK.format('s')})"
)
"""The review with the alias r is in force: not retracted, and the newest of its kind that is not."""


class Gold(NamedTuple):
    """An item's gold and where it comes from.

    Attributes:
        word: ``correct``, ``incorrect`` or ``none``.
        source: ``agreed``, ``adjudicated``, ``imported`` or ``none``.
        people: Number of annotators with a current label in the current round.
    """

    word: GoldWord
    source: str
    people: int


class MarkedError(NamedTuple):
    """A marked error that is not retracted.

    Attributes:
        note: The reviewer's note; empty without one.
        outdated: Whether the verdict now agrees with gold.
    """

    completion: int
    verifier: str
    type: str
    subtype: str
    category: str
    note: str
    outdated: bool


def append(connection: sqlite3.Connection, review: Review, reviewer: int) -> None:
    """Add one review, in the caller's transaction.

    Raises:
        sqlite3.IntegrityError: The uuid already exists.
    """
    connection.execute(
        "INSERT INTO reviews (uuid, kind, completion_id, run_id, category, gold, queue, note, reviewer_id, supersedes, "
        "created_at) VALUES (:uuid, :kind, :completion, :run, :category, :gold, :queue, :note, :person, :supersedes, "
        ":created_at)",
        structs.asdict(review) | {"person": reviewer},
    )


def current_by_completion(connection: sqlite3.Connection, completions: Sequence[int]) -> dict[int, list[Review]]:
    """Return the current reviews of some completions, by row id, the newest last."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN {_FROM} "
        f"WHERE r.completion_id = wanted.value AND {STANDING} ORDER BY r.created_at, r.uuid",
        (json.dumps(list(completions)),),
    )
    return grouped((review.completion, review) for review in map(_review, rows))


def by_uuid(connection: sqlite3.Connection, uuid: str) -> Review | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM {_FROM} WHERE r.uuid = ?", (uuid,)).fetchone()
    return None if row is None else _review(row)


def retraction_of(connection: sqlite3.Connection, review: Review) -> Review | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM {_FROM} WHERE r.completion_id = ? AND r.supersedes = ? AND r.kind = 'retraction'",
        (review.completion, review.uuid),
    ).fetchone()
    return None if row is None else _review(row)


def every(connection: sqlite3.Connection, *, only_standing: bool = False) -> Iterator[Review]:
    where = f"WHERE {STANDING}" if only_standing else ""
    return (_review(row) for row in connection.execute(f"SELECT {_COLUMNS} FROM {_FROM} {where} ORDER BY r.id"))


def settled_items(connection: sqlite3.Connection) -> list[int]:
    """Return row ids of completions with a current review, in order, except completions whose gold has changed
    since."""
    rows = connection.execute(
        f"SELECT DISTINCT c.id FROM reviews AS r CROSS JOIN {items_sql(GOLD_WORD)} "
        f"WHERE c.id = r.completion_id AND {STANDING} AND {GOLD_WORD} IN (r.gold, 'none') ORDER BY c.id"
    )
    return [row[0] for row in rows]


def gold_of(connection: sqlite3.Connection, completions: Iterable[int]) -> dict[int, Gold]:
    labels = (
        "(SELECT count(DISTINCT e.annotator_id) FROM label_events AS e WHERE e.task = 'correctness' "
        f"AND e.subject = c.id AND e.kind = 'label' AND {IN_FORCE} AND {OF_THIS_ROUND})"
    )
    rows = connection.execute(
        f"SELECT c.id, {GOLD_WORD}, coalesce({GOLD_FROM}, 'none'), {labels} FROM {items_sql(GOLD, GOLD_FROM)} "
        f"WHERE c.id IN (SELECT value FROM json_each(?)) AND {VISIBLE}",
        (json.dumps(list(completions)),),
    )
    return {row[0]: Gold(*row[1:]) for row in rows}


def verdict_of(connection: sqlite3.Connection, run: int, completion: int) -> tuple[str, OutcomeWord] | None:
    row = connection.execute(
        "SELECT v.name, x.outcome FROM verdicts AS x JOIN runs AS r ON r.id = x.run_id "
        "JOIN verifiers AS v ON v.id = r.verifier_id WHERE x.run_id = ? AND x.completion_id = ? AND x.sample = 0",
        (run, completion),
    ).fetchone()
    return None if row is None else (row[0], OutcomeCode(row[1]).word)


def newest_run(connection: sqlite3.Connection, verifier: str, completion: int) -> int | None:
    row: tuple[int | None] = connection.execute(
        "SELECT max(x.run_id) FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id JOIN verdicts AS x "
        "ON x.run_id = r.id AND x.completion_id = ? AND x.sample = 0 WHERE v.name = ?",
        (completion, verifier),
    ).fetchone()
    return row[0]


def marks(connection: sqlite3.Connection) -> list[MarkedError]:
    texts = COLUMNS["type"], COLUMNS["subtype"], GOLD
    rows = connection.execute(
        f"SELECT c.id, v.name, {texts[0]}, {texts[1]}, r.category, coalesce(r.note, ''), coalesce(x.outcome = "
        f"({GOLD}), 0) FROM reviews AS r JOIN runs AS n ON n.id = r.run_id JOIN verifiers AS v ON v.id = n.verifier_id "
        "LEFT JOIN verdicts AS x ON x.run_id = r.run_id AND x.completion_id = r.completion_id AND x.sample = 0 CROSS "
        f"JOIN {items_sql(*texts)} WHERE c.id = r.completion_id AND r.kind = 'error' AND {STANDING} AND {VISIBLE} "
        "ORDER BY r.id"
    )
    return [MarkedError(*row) for row in rows]


def _review(row: tuple[object, ...]) -> Review:
    return as_record(Review, row)


# -- Data of disagreements that are not in the columns: samples, earlier runs, and the compared final answers.


class ComparedAnswers(NamedTuple):
    rule: str | None
    reference: str | None
    candidate: str | None


class ItemTexts(NamedTuple):
    question: str
    reference: str
    completion: str
    subtype: str


class Sampled(NamedTuple):
    item: array[int]
    yes: array[int]
    no: array[int]


def compared(connection: sqlite3.Connection, run: int, items: Sequence[int]) -> dict[int, ComparedAnswers]:
    rows = connection.execute(
        "SELECT completion_id, rule, reference_final, candidate_final FROM json_each(?) AS wanted "
        "CROSS JOIN verdict_evidence ON run_id = ? AND completion_id = wanted.value AND sample = 0",
        (json.dumps(list(items)), run),
    )
    return {row[0]: ComparedAnswers(*row[1:]) for row in rows}


def texts(connection: sqlite3.Connection, items: Sequence[int]) -> dict[int, ItemTexts]:
    rows = connection.execute(
        f"SELECT c.id, qt.text, qt.reference, ct.text, {COLUMNS['subtype']} FROM {items_sql(COLUMNS['subtype'])} "
        "JOIN question_text AS qt ON qt.id = c.question_id JOIN completion_text AS ct ON ct.id = c.id "
        "WHERE c.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(items)),),
    )
    return {row[0]: ItemTexts(*row[1:]) for row in rows}


def samples(connection: sqlite3.Connection, run: int) -> Sampled:
    """Count a run's sampled verdicts by item, in order of row id; empty for a run without samples.

    Sample 0 is the item's verdict and is not counted; the other samples are the votes behind it.
    """
    row: tuple[str | None, str | None, str | None] = connection.execute(
        "SELECT group_concat(completion_id), group_concat(yes), group_concat(no) FROM (SELECT completion_id, "
        f"sum(outcome = {OutcomeCode.CORRECT}) AS yes, sum(outcome = {OutcomeCode.INCORRECT}) AS no FROM verdicts "
        "WHERE run_id = ? AND sample > 0 GROUP BY completion_id ORDER BY completion_id)",
        (run,),
    ).fetchone()
    return Sampled(*map(integers, row))


def run_before(connection: sqlite3.Connection, run: int) -> int | None:
    """Return the newest complete run of the same verifier before this one; None without one."""
    row: tuple[int | None] = connection.execute(
        "SELECT max(earlier.id) FROM runs AS r JOIN runs AS earlier ON earlier.verifier_id = r.verifier_id "
        "AND earlier.id < r.id AND earlier.completed_at IS NOT NULL WHERE r.id = ?",
        (run,),
    ).fetchone()
    return row[0]


def is_code(connection: sqlite3.Connection, completion: int) -> bool:
    row: tuple[int] = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM completions AS c JOIN code_problems AS p ON p.question_id = c.question_id "
        "WHERE c.id = ?)",
        (completion,),
    ).fetchone()
    return bool(row[0])
