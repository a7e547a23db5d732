"""SQL for building and publishing benchmarks: ids, states, check items, and changes since freezing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from workbench.core.database import sets
from workbench.core.database.selection import (
    GOLD,
    IMPORTED_GOLD,
    PEOPLE_GOLD,
    SUBTYPE,
    VISIBLE,
    VISIBLE_QUESTION,
    items_sql,
)
from workbench.core.label import State
from workbench.core.project import batches
from workbench.core.sets import GoldFrom, SetName, StoredSet
from workbench.core.verdict import GoldChoice

Connection = sqlite3.Connection
_BATCH_ROWS = 50_000
_TYPED = f"coalesce({SUBTYPE}, q.type)"
"""An item's subtype in force, else its type."""


class Key(NamedTuple):
    item: int
    dataset: str
    question: str
    completion: str


class TouchedItem(NamedTuple):
    """The state of an item that annotators have worked on.

    Attributes:
        reason: Why the item is excluded; None if it is not.
        gold_from: How annotators resolved the item's gold; None if they have not.
    """

    state: State
    reason: str | None
    gold_from: GoldFrom | None


def keys(connection: Connection, items: Iterable[int]) -> Iterator[Key]:
    """Yield data set, question id and completion id of items, in order. Only some items are in memory at a time."""
    for some in batches(items, _BATCH_ROWS):
        yield from map(
            Key._make,
            connection.execute(
                "SELECT c.id, d.name, q.key, c.key FROM json_each(?) AS wanted "
                "CROSS JOIN completions AS c ON c.id = wanted.value JOIN questions AS q ON q.id = c.question_id "
                "JOIN datasets AS d ON d.id = q.dataset_id ORDER BY wanted.key",
                (json.dumps(some),),
            ).fetchall(),
        )


def completion_keys(connection: Connection, items: Sequence[int]) -> list[str]:
    """Return the ids of completions, in the order of their row ids.

    Args:
        items: Row ids in ascending order, which halves the time of the query.
    """
    found: list[str] = []
    for some in batches(items, _BATCH_ROWS):
        rows = connection.execute(
            "SELECT c.key FROM json_each(?) AS wanted CROSS JOIN completions AS c ON c.id = wanted.value "
            "ORDER BY wanted.key",
            (json.dumps(some),),
        )
        found += [key for (key,) in rows]
    return found


def standings(connection: Connection, items: Sequence[int]) -> dict[int, TouchedItem]:
    rows = connection.execute(
        "SELECT i.completion_id, i.state, i.reason, i.gold_from FROM json_each(?) AS wanted "
        "CROSS JOIN item_states AS i ON i.completion_id = wanted.value",
        (json.dumps(list(items)),),
    )
    return {item: TouchedItem(*standing) for item, *standing in rows}


def checks(connection: Connection) -> list[int]:
    return [item for (item,) in connection.execute("SELECT completion_id FROM check_items ORDER BY completion_id")]


def questions_without_completions(connection: Connection, number: int | None) -> int:
    row: tuple[int] = connection.execute(
        f"SELECT count(*) FROM questions AS q WHERE {VISIBLE_QUESTION} "
        "AND (?1 IS NULL OR q.id IN (SELECT question_id FROM set_questions WHERE set_id = ?1)) "
        "AND NOT EXISTS (SELECT 1 FROM completions AS c WHERE c.question_id = q.id)",
        (number,),
    ).fetchone()
    return row[0]


def datasets(connection: Connection, number: int) -> list[int]:
    rows = connection.execute(
        "SELECT DISTINCT q.dataset_id FROM set_items AS x JOIN completions AS c ON c.id = x.completion_id "
        "JOIN questions AS q ON q.id = c.question_id WHERE x.set_id = ? ORDER BY 1",
        (number,),
    )
    return [dataset for (dataset,) in rows]


def states(connection: Connection, number: int) -> dict[State, int]:
    rows = connection.execute(
        "SELECT coalesce(i.state, 'unlabelled'), count(*) FROM set_items AS x "
        "LEFT JOIN item_states AS i ON i.completion_id = x.completion_id WHERE x.set_id = ? GROUP BY 1",
        (number,),
    )
    return dict(rows.fetchall())


class SetChanges(NamedTuple):
    """The numbers of a benchmark's items whose gold, and whose answer type, has changed since freezing."""

    gold: int
    subtype: int


def count_changed_labels(connection: Connection, number: int, choice: GoldChoice | None) -> SetChanges:
    gold = {"people": PEOPLE_GOLD, "imported": IMPORTED_GOLD}
    now = gold.get(choice or "", GOLD)
    row: tuple[int, int] = connection.execute(
        f"SELECT coalesce(sum(x.gold IS NOT ({now})), 0), coalesce(sum(x.subtype IS NOT {_TYPED}), 0) "
        f"FROM set_items AS x CROSS JOIN {items_sql(now, _TYPED)} WHERE x.set_id = ? AND c.id = x.completion_id",
        (number,),
    ).fetchone()
    return SetChanges(row[0] if choice else 0, row[1])


class SetMember(NamedTuple):
    """A member of a benchmark with its ids and the hashes of its texts.

    Attributes:
        completion: The completion's id; None if the member is a question.
        hashes: The hash of question and reference, and that of the completion.
    """

    dataset: str
    question: str
    completion: str | None
    hashes: tuple[bytes, bytes | None]
    gold: bool | None
    subtype: str | None


def members(connection: Connection, number: int) -> Iterator[SetMember]:
    rows = connection.execute(
        "SELECT d.name, q.key, c.key, q.hash, c.hash, x.gold, x.subtype FROM set_items AS x "
        "JOIN completions AS c ON c.id = x.completion_id JOIN questions AS q ON q.id = c.question_id "
        "JOIN datasets AS d ON d.id = q.dataset_id WHERE x.set_id = ?1 "
        "UNION ALL SELECT d.name, q.key, NULL, q.hash, NULL, NULL, x.subtype FROM set_questions AS x "
        "JOIN questions AS q ON q.id = x.question_id JOIN datasets AS d ON d.id = q.dataset_id WHERE x.set_id = ?1",
        (number,),
    )
    for dataset, question, completion, asked, written, gold, subtype in rows:
        yield SetMember(dataset, question, completion, (asked, written), None if gold is None else bool(gold), subtype)


def run_since(connection: Connection, run: int) -> int | None:
    """Return the newest complete run of the same verifier after this one; None without one."""
    row: tuple[int | None] = connection.execute(
        "SELECT max(later.id) FROM runs AS r JOIN runs AS later ON later.verifier_id = r.verifier_id "
        "AND later.id > r.id AND later.completed_at IS NOT NULL WHERE r.id = ?",
        (run,),
    ).fetchone()
    return row[0]


# -- Queries for publishing a frozen benchmark, besides its members.


class Source(NamedTuple):
    name: str
    domain: str | None
    licence: str | None


def sources(connection: Connection) -> dict[str, Source]:
    rows = connection.execute("SELECT name, domain, licence FROM sources ORDER BY name")
    return {row[0]: Source(*row) for row in rows}


def count_missing(connection: Connection, number: int) -> int:
    row: tuple[int] = connection.execute(
        f"SELECT count(*) FROM set_items AS x WHERE x.set_id = ? AND NOT EXISTS (SELECT 1 FROM completions AS c "
        "JOIN completion_text AS ct ON ct.id = c.id JOIN question_text AS qt ON qt.id = c.question_id "
        f"WHERE c.id = x.completion_id AND {VISIBLE})",
        (number,),
    ).fetchone()
    return row[0]


def ids_collide(connection: Connection, number: int) -> bool:
    rows = connection.execute(
        "SELECT 1 FROM set_items AS x JOIN completions AS c ON c.id = x.completion_id JOIN questions AS q ON q.id = "
        "c.question_id WHERE x.set_id = ?1 GROUP BY q.key HAVING count(DISTINCT q.dataset_id) > 1 UNION ALL SELECT 1 "
        "FROM set_items AS x JOIN completions AS c ON c.id = x.completion_id JOIN questions AS q ON q.id = "
        "c.question_id WHERE x.set_id = ?1 GROUP BY c.key HAVING count(DISTINCT q.dataset_id) > 1 LIMIT 1",
        (number,),
    )
    return rows.fetchone() is not None


def imported_types(connection: Connection, number: int) -> dict[int, str]:
    """Map the items of a benchmark that have no subtype to the answer type in their file."""
    rows = connection.execute(
        "SELECT c.id, q.type FROM set_items AS x JOIN completions AS c ON c.id = x.completion_id "
        "JOIN questions AS q ON q.id = c.question_id WHERE x.set_id = ? AND x.subtype IS NULL AND q.type IS NOT NULL",
        (number,),
    )
    return dict(rows.fetchall())


def drawn_from(connection: Connection, stored: StoredSet) -> StoredSet | None:
    row = connection.execute(
        "SELECT s.name, s.version FROM sets AS s WHERE s.kind = 'draw' AND s.id < ?1 AND NOT EXISTS (SELECT 1 FROM "
        "set_items AS x JOIN completions AS c ON c.id = x.completion_id WHERE x.set_id = ?1 AND c.question_id NOT IN "
        "(SELECT question_id FROM set_questions WHERE set_id = s.id)) ORDER BY s.id DESC LIMIT 1",
        (stored.id,),
    ).fetchone()
    return _require_set(connection, row)


def annotated_in(connection: Connection, stored: StoredSet) -> StoredSet | None:
    """Return the newest earlier benchmark made for annotation (picks or a queue) that has all items of ``stored``;
    None without one."""
    row = connection.execute(
        "SELECT s.name, s.version FROM sets AS s WHERE s.kind IN ('picks', 'queue') AND s.id < ?1 AND NOT EXISTS "
        "(SELECT 1 FROM set_items AS x WHERE x.set_id = ?1 AND x.completion_id NOT IN "
        "(SELECT completion_id FROM set_items WHERE set_id = s.id)) ORDER BY s.id DESC LIMIT 1",
        (stored.id,),
    ).fetchone()
    return _require_set(connection, row)


def _require_set(connection: Connection, row: tuple[str, int] | None) -> StoredSet | None:
    return None if row is None else sets.require(connection, SetName(*row))


def questions_by_source(connection: Connection, number: int | None) -> dict[str, int]:
    rows = connection.execute(
        "SELECT coalesce(s.name, ''), count(*) FROM questions AS q LEFT JOIN sources AS s ON s.id = q.source_id "
        f"WHERE {VISIBLE_QUESTION} AND (?1 IS NULL OR q.id IN "
        "(SELECT question_id FROM set_questions WHERE set_id = ?1)) GROUP BY 1",
        (number,),
    )
    return dict(rows.fetchall())
