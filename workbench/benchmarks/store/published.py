"""What publishing a frozen set asks of the database besides its members."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from workbench.core.database import sets
from workbench.core.database.selection import VISIBLE
from workbench.core.sets import SetName, StoredSet

Connection = sqlite3.Connection


class Source(NamedTuple):
    """A source of questions; what is not known is None."""

    name: str
    domain: str | None
    licence: str | None


def sources(connection: Connection) -> dict[str, Source]:
    """Every source by its name."""
    rows = connection.execute("SELECT name, domain, licence FROM sources ORDER BY name")
    return {row[0]: Source(*row) for row in rows}


def missing(connection: Connection, number: int) -> int:
    """How many items of a set are not there any more, or have lost their texts."""
    row: tuple[int] = connection.execute(
        f"SELECT count(*) FROM set_items AS x WHERE x.set_id = ? AND NOT EXISTS (SELECT 1 FROM completions AS c "
        "JOIN completion_text AS ct ON ct.id = c.id JOIN question_text AS qt ON qt.id = c.question_id "
        f"WHERE c.id = x.completion_id AND {VISIBLE})",
        (number,),
    ).fetchone()
    return row[0]


def ids_collide(connection: Connection, number: int) -> bool:
    """Whether a set has items of several data sets that share ids."""
    rows = connection.execute(
        "SELECT 1 FROM set_items AS x JOIN completions AS c ON c.id = x.completion_id "
        "JOIN questions AS q ON q.id = c.question_id WHERE x.set_id = ?1 GROUP BY q.key "
        "HAVING count(DISTINCT q.dataset_id) > 1 UNION ALL "
        "SELECT 1 FROM set_items AS x JOIN completions AS c ON c.id = x.completion_id "
        "JOIN questions AS q ON q.id = c.question_id WHERE x.set_id = ?1 GROUP BY c.key "
        "HAVING count(DISTINCT q.dataset_id) > 1 LIMIT 1",
        (number,),
    )
    return rows.fetchone() is not None


def imported_types(connection: Connection, number: int) -> dict[int, str]:
    """Completion -> the answer type its file gave, for items of a set that had no subtype."""
    rows = connection.execute(
        "SELECT c.id, q.type FROM set_items AS x JOIN completions AS c ON c.id = x.completion_id "
        "JOIN questions AS q ON q.id = c.question_id WHERE x.set_id = ? AND x.subtype IS NULL AND q.type IS NOT NULL",
        (number,),
    )
    return dict(rows.fetchall())


def drawn_from(connection: Connection, stored: StoredSet) -> StoredSet | None:
    """The newest set of drawn questions, frozen before, that has all questions of a set; None if there is none."""
    row = connection.execute(
        "SELECT s.name, s.version FROM sets AS s WHERE s.kind = 'draw' AND s.id < ?1 AND NOT EXISTS "
        "(SELECT 1 FROM set_items AS x JOIN completions AS c ON c.id = x.completion_id "
        "WHERE x.set_id = ?1 AND c.question_id NOT IN "
        "(SELECT question_id FROM set_questions WHERE set_id = s.id)) ORDER BY s.id DESC LIMIT 1",
        (stored.id,),
    ).fetchone()
    return _set(connection, row)


def annotated_in(connection: Connection, stored: StoredSet) -> StoredSet | None:
    """The newest set to annotate, frozen before, that has all items of a set; None if there is none."""
    row = connection.execute(
        "SELECT s.name, s.version FROM sets AS s WHERE s.kind IN ('picks', 'queue') AND s.id < ?1 AND NOT EXISTS "
        "(SELECT 1 FROM set_items AS x WHERE x.set_id = ?1 AND x.completion_id NOT IN "
        "(SELECT completion_id FROM set_items WHERE set_id = s.id)) ORDER BY s.id DESC LIMIT 1",
        (stored.id,),
    ).fetchone()
    return _set(connection, row)


def _set(connection: Connection, row: tuple[str, int] | None) -> StoredSet | None:
    return None if row is None else sets.require(connection, SetName(*row))


def questions_by_source(connection: Connection, number: int | None) -> dict[str, int]:
    """Source -> how many questions a set of questions has of it; all questions for None."""
    rows = connection.execute(
        "SELECT coalesce(s.name, ''), count(*) FROM questions AS q LEFT JOIN sources AS s ON s.id = q.source_id "
        "WHERE q.id < (SELECT question_id FROM horizon) AND (?1 IS NULL OR q.id IN "
        "(SELECT question_id FROM set_questions WHERE set_id = ?1)) GROUP BY 1",
        (number,),
    )
    return dict(rows.fetchall())
