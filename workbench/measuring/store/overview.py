"""SQL of counts over the whole database, for the screen Home, ``status`` and data cards."""

from __future__ import annotations

import json
import sqlite3
from hashlib import blake2b
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.core.database import states
from workbench.core.database.connection import Database
from workbench.core.database.events import count_accepted, count_own, count_settled
from workbench.core.database.people import COORDINATOR, all_people
from workbench.core.database.selection import SHOWN_DATASET, VISIBLE, VISIBLE_QUESTION, shown_item, shown_question
from workbench.core.database.values import vector
from workbench.core.status import DatasetInfo, PersonProgress
from workbench.data.store.datasets import excluded_notes
from workbench.labelling.store import claiming, conflicts
from workbench.labelling.store.assignments import members
from workbench.measuring.records.documents import ImportedFile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def datasets(connection: sqlite3.Connection) -> list[DatasetInfo]:
    """List data sets with their sizes, in the order of import. Callers must hold one transaction."""
    rows = connection.execute(
        "SELECT d.id, d.name, d.types, count(q.id) FROM datasets AS d LEFT JOIN questions AS q ON q.dataset_id = d.id "
        f"AND {VISIBLE_QUESTION} WHERE {SHOWN_DATASET} GROUP BY d.id ORDER BY d.id"
    ).fetchall()
    # Items are counted in each data set but one, which gets the remainder.
    most = max(rows, key=lambda row: row[3], default=None)
    sizes = {row[0]: _count_items(connection, row[0]) for row in rows if row is not most}
    rest = states.count_visible_items(connection) - sum(sizes.values())
    out = excluded_notes(connection)
    return [
        DatasetInfo(name=row[1], types=row[2], questions=row[3], items=sizes.get(row[0], rest), out=out.get(row[1]))
        for row in rows
    ]


def _count_items(connection: sqlite3.Connection, dataset: int) -> int:
    row: tuple[int] = connection.execute(
        f"SELECT coalesce(sum((SELECT count(*) FROM completions AS c WHERE c.question_id = q.id AND {VISIBLE})), 0) "
        "FROM questions AS q WHERE q.dataset_id = ?",
        (dataset,),
    ).fetchone()
    return row[0]


def people(database: Database) -> list[PersonProgress]:
    """Return the progress of all annotators and adjudicators, in the order in which they were added.

    People who are only coordinators (who viewed or decided on items, or wrote guidelines) are not included.
    """
    reader = database.reader()
    named = members(reader)
    there = [(person, count_own(reader, person.id, "label")) for person in all_people(database)]
    there = [(one, labels) for one, labels in there if one.role != COORDINATOR or one.id in named or labels]
    slots = {one.id: claiming.counts(reader, one.id) for one, _ in there}
    at_work = [one.id for one, _ in there if one.paused_at is None]
    left = claiming.distribute_slots(
        claiming.open_slots_by_annotator(reader), {one: slots[one].fresh + slots[one].skipped for one in at_work}
    )
    types, questions = claiming.open_types(reader)
    askable = {
        one: questions - claiming.own_types(reader, one) for one in at_work if claiming.batches_open_to(reader, one)
    }
    types_left = claiming.distribute_slots({None: types}, askable)
    found = []
    for person, labels in there:
        counts = slots[person.id]
        found.append(
            PersonProgress(
                name=person.name,
                role=person.role,
                done=labels,
                left=counts.leased + left.get(person.id, 0),
                types_left=types_left.get(person.id, 0),
                conflicts=conflicts.count(reader, person.id),
                away=counts.away,
                paused=person.paused_at is not None,
                settled=count_settled(reader, person.id),
                accepted=count_accepted(reader, person.id),
            )
        )
    return found


def accepted(connection: sqlite3.Connection) -> int:
    row: tuple[int] = connection.execute(
        "SELECT (SELECT count(*) FROM item_states WHERE state = 'labelled') - (SELECT count(*) FROM item_states WHERE "
        "state = 'labelled' AND (gold_from NOT NULL OR completion_id IN (SELECT subject FROM label_events WHERE task = "
        "'correctness' AND kind = 'label' UNION SELECT c.id FROM label_events AS e CROSS JOIN completions AS c ON "
        "c.question_id = e.subject WHERE e.task = 'type' AND e.kind = 'label')))"
    ).fetchone()
    return row[0]


def totals(connection: sqlite3.Connection) -> dict[str, Any]:
    row = connection.execute(
        f"SELECT (SELECT count(*) FROM questions WHERE {shown_question('id')}), (SELECT count(*) FROM runs), (SELECT "
        "count(*) FROM runs WHERE state IN ('queued', 'running')), (SELECT count(*) FROM quarantine), (SELECT count(*) "
        f"FROM item_states WHERE state = 'labelled' AND gold_from NOT NULL AND {shown_item('completion_id')})"
    ).fetchone()
    return dict(zip(("questions", "runs", "running", "quarantined", "needs_type"), row, strict=True))


# -- Contents of a data card that are not in the columns: files, rejected rows, exclusions, unusual texts.


LONG_REFERENCE = 2_000
"""Characters above which a reference is not just an answer."""
_HASH_BYTES = 16
_MIX = 0x9E3779B97F4A7C15


class TextHashes(NamedTuple):
    """Completions in order of row id, with their questions' row ids and their texts' hashes (rows x bytes)."""

    item: npt.NDArray[np.int64]
    question: npt.NDArray[np.int64]
    content: npt.NDArray[np.uint8]

    def of(self, items: npt.NDArray[np.integer[Any]]) -> TextHashes:
        import numpy as np

        kept = np.isin(self.item, items)
        return TextHashes(self.item[kept], self.question[kept], self.content[kept])


def imported_files(connection: sqlite3.Connection) -> list[ImportedFile]:
    rows = connection.execute(
        "SELECT d.name, n.path, n.format, n.file_hash, n.rows_read, n.imported, n.unchanged, n.quarantined, n.mapping "
        "FROM imports AS n JOIN datasets AS d ON d.id = n.dataset_id WHERE n.state = 'complete' ORDER BY n.id"
    )
    return [
        ImportedFile(
            dataset=row[0],
            name=PurePath(row[1]).name,
            format=row[2],
            blake2b=row[3].hex() if row[3] else "",
            read=row[4],
            imported=row[5],
            unchanged=row[6],
            quarantined=row[7],
            swapped_types=_has_swapped_types(row[8]),
        )
        for row in rows
    ]


def _has_swapped_types(mapping: str) -> bool:
    try:
        found = json.loads(mapping)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("swapped_types") is True


def quarantined(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT code, count(*) FROM quarantine GROUP BY code ORDER BY code").fetchall())


def exclusions(connection: sqlite3.Connection) -> dict[str, int]:
    rows = connection.execute(
        "SELECT coalesce(reason, ''), count(*) FROM item_states WHERE state = 'excluded' "
        "GROUP BY 1 ORDER BY count(*) DESC, 1"
    )
    return dict(rows.fetchall())


_BATCH_ROWS = 50_000
_AMONG = "(?1 IS NULL OR c.id IN (SELECT value FROM json_each(?1)))"


def long_references(connection: sqlite3.Connection, items: list[int] | None = None) -> int:
    """Count the questions of these items, or of all, whose reference is longer than `LONG_REFERENCE`."""
    row: tuple[int] = connection.execute(
        f"SELECT count(*) FROM question_text AS t WHERE length(t.reference) > ?2 AND {shown_question('t.id')} AND (?1 "
        f"IS NULL OR t.id IN (SELECT c.question_id FROM completions AS c WHERE {_AMONG}))",
        (None if items is None else json.dumps(items), LONG_REFERENCE),
    ).fetchone()
    return row[0]


def text_hashes(connection: sqlite3.Connection) -> TextHashes:
    import numpy as np

    items, questions, contents = [vector(None)], [vector(None)], [b""]
    last = connection.execute("SELECT max(id) FROM completions").fetchone()[0] or 0
    for first in range(1, last + 1, _BATCH_ROWS):
        # Read whole ranges as one text: row by row would take four times as long.
        item, question, content = connection.execute(
            "SELECT group_concat(id), group_concat(question_id), group_concat(hex(hash), '') "
            "FROM (SELECT c.id, c.question_id, c.hash "
            f"FROM completions AS c WHERE {VISIBLE} AND c.id BETWEEN ? AND ? ORDER BY c.id)",
            (first, first + _BATCH_ROWS - 1),
        ).fetchone()
        items.append(vector(item))
        questions.append(vector(question))
        contents.append(bytes.fromhex(content or ""))
    content = np.frombuffer(b"".join(contents), dtype=np.uint8).reshape(-1, _HASH_BYTES)
    return TextHashes(np.concatenate(items), np.concatenate(questions), content)


def repeated_completions(texts: TextHashes) -> int:
    import numpy as np

    low, high = texts.content.view(np.uint64).T
    mixed = (texts.question.astype(np.uint64) * np.uint64(_MIX) ^ low) * np.uint64(_MIX) ^ high
    ordered = np.sort(mixed)
    perhaps = np.isin(mixed, ordered[1:][ordered[1:] == ordered[:-1]])
    rows = np.stack([texts.question[perhaps].astype(np.uint64), low[perhaps], high[perhaps]], axis=1)
    return len(rows) - len(np.unique(rows, axis=0))


def schema_version(connection: sqlite3.Connection) -> int:
    row: tuple[int] = connection.execute("PRAGMA user_version").fetchone()
    return row[0]


def texts_digest(connection: sqlite3.Connection, texts: TextHashes) -> bytes:
    """Return BLAKE2b-128 over the content hashes of all questions (with references) and completions, in order."""
    import numpy as np

    known = connection.execute("SELECT id, hash FROM questions ORDER BY id").fetchall()
    ids = np.array([question for question, _ in known], dtype=np.int64)
    asked = np.frombuffer(b"".join(content for _, content in known), dtype=np.uint8).reshape(-1, _HASH_BYTES)
    digest = blake2b(digest_size=16)
    for first in range(0, len(texts.question), _BATCH_ROWS):
        rows = slice(first, first + _BATCH_ROWS)
        of_questions = asked[np.searchsorted(ids, texts.question[rows])]
        digest.update(np.hstack([of_questions, texts.content[rows]]).tobytes())
    return digest.digest()
