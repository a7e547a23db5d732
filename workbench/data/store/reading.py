"""One item's texts, for the people who judge it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from hashlib import blake2b

import msgspec
from msgspec import Struct

from workbench.core.label import LabelVerdict


class ItemText(Struct, frozen=True, kw_only=True):
    """What an annotator may see of an item.

    Attributes:
        completion: Row id of the completion.
        question: Row id of the question.
        types_labelled: Whether people must settle the question's answer type.
    """

    completion: int
    question: int
    dataset: str
    completion_key: str
    question_key: str
    question_text: str
    reference: str
    completion_text: str
    types_labelled: bool

    @property
    def content_hash(self) -> bytes:
        """blake2b-128 of the three texts, so that a label names what it was given for."""
        texts = (self.question_text, self.reference, self.completion_text)
        return content_hash(text.encode("utf-8", "surrogatepass") for text in texts)


def content_hash(texts: Iterable[bytes]) -> bytes:
    """blake2b-128 of some texts, each with its length before it."""
    digest = blake2b(digest_size=16)
    for text in texts:
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.digest()


def item_text(connection: sqlite3.Connection, completion: int) -> ItemText:
    """Read one item; works on a blind connection."""
    row = connection.execute(
        "SELECT c.id, q.id, d.name, c.key, q.key, qt.text, qt.reference, ct.text, d.types = 'labelled' "
        "FROM completions AS c JOIN completion_text AS ct ON ct.id = c.id "
        "JOIN questions AS q ON q.id = c.question_id JOIN question_text AS qt ON qt.id = q.id "
        "JOIN datasets AS d ON d.id = q.dataset_id WHERE c.id = ?",
        (completion,),
    ).fetchone()
    return ItemText(
        completion=row[0],
        question=row[1],
        dataset=row[2],
        completion_key=row[3],
        question_key=row[4],
        question_text=row[5],
        reference=row[6],
        completion_text=row[7],
        types_labelled=bool(row[8]),
    )


_CURRENT = (
    "NOT EXISTS (SELECT 1 FROM own_events AS later "
    "WHERE later.task = e.task AND later.subject = e.subject AND later.supersedes = e.uuid)"
)


class StoredLabel(Struct, frozen=True, kw_only=True):
    """A person's own label in force: a verdict or a subtype, and what stands beside it."""

    verdict: LabelVerdict | None
    subtype: str | None
    reason: str | None
    note: str
    unsure: bool
    tags: tuple[str, ...]
    partial: float | None


def own_label(connection: sqlite3.Connection, task: str, subject: int) -> StoredLabel | None:
    """On a blind connection: the person's own current label of a subject."""
    row = connection.execute(
        "SELECT verdict, subtype, exclusion_reason, coalesce(note, ''), unsure, tags, partial FROM own_events AS e "
        f"WHERE kind = 'label' AND task = ? AND subject = ? AND {_CURRENT} "
        "ORDER BY created_at DESC, uuid DESC LIMIT 1",
        (task, subject),
    ).fetchone()
    if row is None:
        return None
    return StoredLabel(
        verdict=row[0],
        subtype=row[1],
        reason=row[2],
        note=row[3],
        unsure=bool(row[4]),
        tags=tuple(msgspec.json.decode(row[5])) if row[5] else (),
        partial=row[6],
    )


def has_type_slot(connection: sqlite3.Connection, question: int) -> bool:
    """On a blind connection: whether the person is asked for the question's type."""
    row = connection.execute(
        "SELECT 1 FROM own_slots WHERE task = 'type' AND subject = ? AND state <> 'past'", (question,)
    )
    return row.fetchone() is not None


def is_own(connection: sqlite3.Connection, completion: int) -> bool:
    """On a blind connection: whether the person has, or has had, the completion to label."""
    row = connection.execute(
        "SELECT 1 FROM own_slots WHERE task = 'correctness' AND subject = ?1 UNION ALL "
        "SELECT 1 FROM own_events WHERE task = 'correctness' AND subject = ?1 AND kind = 'label'",
        (completion,),
    )
    return row.fetchone() is not None


def own_completion(connection: sqlite3.Connection, question: int) -> int | None:
    """On a blind connection: the completion of a question that the person labelled last, else one they hold."""
    row = connection.execute(
        # A label that came from elsewhere may have no slot.
        "SELECT c.id, (SELECT max(s.state = 'done') FROM own_slots AS s WHERE s.task = 'correctness' "
        "AND s.subject = c.id) AS done, (SELECT max(e.id) FROM own_events AS e WHERE e.task = 'correctness' "
        "AND e.subject = c.id AND e.kind = 'label') AS said FROM completions AS c WHERE c.question_id = ? "
        "AND coalesce(done, said) IS NOT NULL ORDER BY coalesce(done, 0) DESC, said DESC LIMIT 1",
        (question,),
    ).fetchone()
    return None if row is None else int(row[0])


def own_draft(connection: sqlite3.Connection, completion: int) -> str:
    """On a blind connection: the note the person had begun."""
    row = connection.execute("SELECT note FROM own_drafts WHERE completion_id = ?", (completion,)).fetchone()
    return row[0] if row else ""


def own_flag(connection: sqlite3.Connection, completion: int) -> str | None:
    """On a blind connection: what the person wrote with the flag that stands on the completion; None without one."""
    row = connection.execute(
        "SELECT flagged, coalesce(note, '') FROM own_events WHERE kind = 'flag' AND task = 'correctness' "
        "AND subject = ? ORDER BY created_at DESC, uuid DESC LIMIT 1",
        (completion,),
    ).fetchone()
    return row[1] if row and row[0] else None


class OwnEntry(Struct, frozen=True, kw_only=True):
    """One of a person's own labels in force on a completion, with the beginning of its question."""

    completion: int
    question: str
    verdict: str
    reason: str
    subtype: str
    note: str
    unsure: bool
    tags: tuple[str, ...]
    partial: float | None
    created_at: str


def own_history(connection: sqlite3.Connection, limit: int, question_characters: int = 200) -> list[OwnEntry]:
    """On a blind connection: the person's newest labels in force on completions, newest first."""
    rows = connection.execute(
        f"SELECT e.subject, substr(qt.text, 1, {question_characters:d}), e.verdict, coalesce(e.exclusion_reason, ''), "
        "coalesce((SELECT t.subtype FROM own_events AS t WHERE t.kind = 'label' AND t.task = 'type' "
        "AND t.subject = c.question_id AND NOT EXISTS (SELECT 1 FROM own_events AS x WHERE x.task = t.task "
        "AND x.subject = t.subject AND x.supersedes = t.uuid) ORDER BY t.created_at DESC, t.uuid DESC LIMIT 1), ''), "
        "coalesce(e.note, ''), e.unsure, e.tags, e.partial, e.created_at "
        "FROM own_events AS e JOIN completions AS c ON c.id = e.subject "
        "JOIN question_text AS qt ON qt.id = c.question_id "
        f"WHERE e.kind = 'label' AND e.task = 'correctness' AND {_CURRENT} "
        # An item that came anew (in a new round, or as a repeat) stands there once, with the newest label.
        "AND NOT EXISTS (SELECT 1 FROM own_events AS n WHERE n.kind = 'label' AND n.task = e.task "
        "AND n.subject = e.subject AND (n.created_at, n.uuid) > (e.created_at, e.uuid) "
        "AND NOT EXISTS (SELECT 1 FROM own_events AS y "
        "WHERE y.task = n.task AND y.subject = n.subject AND y.supersedes = n.uuid)) ORDER BY e.id DESC LIMIT ?",
        (limit,),
    )
    return [
        OwnEntry(
            completion=row[0],
            question=row[1],
            verdict=row[2],
            reason=row[3],
            subtype=row[4],
            note=row[5],
            unsure=bool(row[6]),
            tags=tuple(msgspec.json.decode(row[7])) if row[7] else (),
            partial=row[8],
            created_at=row[9],
        )
        for row in rows
    ]
