"""Flags for the coordinator and their answers, all derived from the label events."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from msgspec import Struct, structs

from workbench.core.database.events import FLAG_STANDS
from workbench.core.database.values import as_record
from workbench.core.options import grouped, record_from

_COLUMNS = (
    "f.uuid, f.subject, d.name, q.key, c.key, a.name, coalesce(f.note, ''), f.created_at, "
    "substr(qt.text, 1, 400), coalesce(r.note, ''), coalesce(b.name, ''), coalesce(r.created_at, ''), "
    "r.uuid IS NOT NULL AND EXISTS (SELECT 1 FROM label_events AS h, json_each(h.seen) AS n WHERE h.kind = 'reveal' "
    "AND h.task = 'correctness' AND h.subject = f.subject AND h.annotator_id = f.annotator_id AND n.value = r.uuid)"
)
_ANSWER = (
    "(SELECT x.id FROM label_events AS x, json_each(x.seen) AS n WHERE x.kind = 'answer' AND x.subject = f.subject "
    "AND n.value = f.uuid ORDER BY x.created_at DESC, x.uuid DESC LIMIT 1)"
)
_RAISED = (
    f"SELECT {_COLUMNS} FROM label_events AS f JOIN annotators AS a ON a.id = f.annotator_id JOIN completions AS c ON "
    "c.id = f.subject JOIN questions AS q ON q.id = c.question_id JOIN datasets AS d ON d.id = q.dataset_id JOIN "
    f"question_text AS qt ON qt.id = q.id LEFT JOIN label_events AS r ON r.id = {_ANSWER} LEFT JOIN annotators AS b ON "
    "b.id = r.annotator_id WHERE {} AND (?1 IS NULL OR f.subject = ?1) ORDER BY f.created_at, f.uuid"
)
_EARLIER = f"f.kind = 'flag' AND f.flagged AND r.uuid IS NOT NULL AND NOT ({FLAG_STANDS})"

HEARD = "answer"
"""The ``view`` of an event that records reading an answer; ``seen`` names the answer."""


class FlagExchange(Struct, frozen=True, kw_only=True):
    asked: str
    answer: str
    answered_by: str


class Flag(Struct, frozen=True, kw_only=True):
    """An open flag: raised, and not removed by its annotator.

    Attributes:
        completion: Row id of the completion.
        asked: The annotator's text; empty for a flag without text.
        question: The beginning of the item's question.
        answer: The newest answer; empty without one.
        heard: Whether the annotator has read the answer.
        earlier: The same person's earlier flags on the item with their answers, oldest first.
    """

    uuid: str
    completion: int
    dataset: str
    question_id: str
    completion_id: str
    annotator: str
    asked: str
    flagged_at: str
    question: str
    answer: str
    answered_by: str
    answered_at: str
    heard: bool
    earlier: tuple[FlagExchange, ...] = ()

    @property
    def is_open(self) -> bool:
        return not self.answered_at


def open_flags(connection: sqlite3.Connection, completion: int | None = None) -> list[Flag]:
    """Return every open flag, oldest first; with ``completion`` only the flags on this item."""
    earlier = map(_flag, connection.execute(_RAISED.format(_EARLIER), (completion,)))
    before = grouped(((flag.completion, flag.annotator), record_from(FlagExchange, flag)) for flag in earlier)
    found = [_flag(row) for row in connection.execute(_RAISED.format(FLAG_STANDS), (completion,))]
    return [structs.replace(flag, earlier=tuple(before.get((flag.completion, flag.annotator), ()))) for flag in found]


def _flag(row: Sequence[object]) -> Flag:
    return as_record(Flag, row, earlier=())


def count_open(connection: sqlite3.Connection) -> int:
    row: tuple[int] = connection.execute(
        f"SELECT count(*) FROM label_events AS f WHERE {FLAG_STANDS} AND {_ANSWER} IS NULL"
    ).fetchone()
    return row[0]


class OwnAnswer(Struct, frozen=True, kw_only=True):
    """The coordinator's answer to a person's own flag.

    Attributes:
        completion: Row id of the completion.
        asked: The person's text with the flag.
        heard: Whether the person has read it.
        stands: Whether it answers the person's last flag on the item.
    """

    uuid: str
    completion: int
    asked: str
    answer: str
    answered_at: str
    heard: bool
    stands: bool


def own_answers(connection: sqlite3.Connection, completion: int | None = None) -> list[OwnAnswer]:
    """Return the answers to a person's flags, newest last; with ``completion`` only those on this item.

    Args:
        connection: The person's blind connection.
    """
    rows = connection.execute(
        "SELECT uuid, subject, asked, note, created_at, heard, stands FROM own_answers "
        "WHERE ?1 IS NULL OR subject = ?1 ORDER BY created_at, uuid",
        (completion,),
    )
    return [as_record(OwnAnswer, row) for row in rows]
