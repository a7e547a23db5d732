"""SQL of audited trainings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Literal

import msgspec
from msgspec import Struct

from workbench.core.database import changes
from workbench.core.errors import UsageError
from workbench.core.item import ItemRecord
from workbench.core.options import record_from
from workbench.core.verdict import Verdict, VerifierInput
from workbench.data.store.item_rows import ItemInserter
from workbench.training.auditing import Audit
from workbench.training.wordings import Alarm, KnownWordings

Because = Literal["chance", "doubtful", "rising"]


class TakenCompletion(Struct, frozen=True, kw_only=True):
    """An audited completion.

    Attributes:
        key: The completion's id, unique within its question.
        chance: The probability of its selection.
        because: The reason for that probability.
    """

    key: str
    item: VerifierInput
    verdict: Verdict
    step: int
    chance: float
    because: Because


class StepCounts(Struct, kw_only=True):
    accepted: int = 0
    rejected: int = 0
    undecided: int = 0
    dropped: int = 0


def find_or_create_training(
    connection: sqlite3.Connection, audit: Audit, verifier: str, version: str, at: str
) -> tuple[int, int]:
    """Return the row ids of a training and its data set; create them if missing.

    Raises:
        UsageError: The name belongs to an audit with another verifier, seed or share, or to another data set.
    """
    name = audit.training
    row = connection.execute(
        "SELECT id, dataset_id, verifier, version, seed, share FROM trainings WHERE name = ?", (name,)
    ).fetchone()
    if row is not None:
        if row[2:] != (verifier, version, audit.seed, audit.share):
            raise UsageError(
                f"The training {name!r} was watched with {row[2]} {row[3]}, seed {row[4]}, share {row[5]:g}.",
                "Give this one another name.",
            )
        return row[0], row[1]
    if connection.execute("SELECT 1 FROM datasets WHERE name = ?", (name,)).fetchone():
        raise UsageError(f"{name!r} is a data set that is not a training.", "Give the training another name.")
    dataset = connection.execute("INSERT INTO datasets (name, created_at) VALUES (?, ?)", (name, at)).lastrowid
    assert dataset is not None
    made = connection.execute(
        "INSERT INTO trainings (name, verifier, version, dataset_id, seed, share, started_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (name, verifier, version, dataset, audit.seed, audit.share, at),
    ).lastrowid
    assert made is not None
    return made, dataset


def load_phrasings(connection: sqlite3.Connection, training: int) -> KnownWordings | None:
    """Return the last stored state of a training's phrasings; None if it is missing or can't be read."""
    (kept,) = connection.execute("SELECT wordings FROM trainings WHERE id = ?", (training,)).fetchone()
    try:
        return None if kept is None else msgspec.json.decode(kept, type=KnownWordings)
    except msgspec.MsgspecError:
        return None


def store_phrasings(connection: sqlite3.Connection, training: int, known: KnownWordings) -> None:
    kept = msgspec.json.encode(known).decode()
    connection.execute("UPDATE trainings SET wordings = ? WHERE id = ?", (kept, training))


def next_step(connection: sqlite3.Connection, training: int) -> int:
    (last,) = connection.execute("SELECT max(step) FROM training_steps WHERE training_id = ?", (training,)).fetchone()
    return 0 if last is None else last + 1


def is_importing(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM imports WHERE state = 'running'").fetchone() is not None


def put_taken(connection: sqlite3.Connection, training: int, dataset: int, taken: Sequence[TakenCompletion]) -> None:
    rows = ItemInserter(connection, dataset)
    questions = []
    for one in taken:
        record = _item_record(one)
        contradiction = rows.take_question(record)
        questions.append(rows.question_row_id)
        contradiction = contradiction or rows.take_completion(rows.question_row_id, record)
        assert not contradiction, contradiction
    rows.flush()
    if rows.last_completion_id >= rows.first_completion_id:
        changes.note_items(connection, rows.first_completion_id, rows.last_completion_id)
    connection.executemany(
        "INSERT OR IGNORE INTO audited (completion_id, training_id, step, outcome, score, reason, chance, because) "
        "SELECT id, ?, ?, ?, ?, ?, ?, ? FROM completions WHERE question_id = ? AND key = ?",
        [
            (
                *(training, one.step, one.verdict.outcome.code, one.verdict.score, one.verdict.reason),
                *(one.chance, one.because, question, one.key),
            )
            for one, question in zip(taken, questions, strict=True)
        ],
    )


def _item_record(one: TakenCompletion) -> ItemRecord:
    subtype = one.item.subtype
    texts = (one.item.question, one.item.reference, subtype)
    return record_from(
        ItemRecord,
        one.item,
        line=0,
        raw=b"",
        question_key=blake2b(repr(texts).encode(), digest_size=8).hexdigest(),
        completion_key=one.key,
        type=None if subtype is None else subtype[:1],
    )


def put_counts(connection: sqlite3.Connection, training: int, steps: Iterable[tuple[int, StepCounts]]) -> None:
    connection.executemany(
        "INSERT INTO training_steps (training_id, step, accepted, rejected, undecided, dropped) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (training_id, step) DO UPDATE SET "
        "accepted = accepted + excluded.accepted, rejected = rejected + excluded.rejected, "
        "undecided = undecided + excluded.undecided, dropped = dropped + excluded.dropped",
        [(training, step, one.accepted, one.rejected, one.undecided, one.dropped) for step, one in steps],
    )


def put_alarms(connection: sqlite3.Connection, training: int, alarms: Iterable[Alarm]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO training_alarms "
        "(training_id, step, wording, example, before, accepted, rejected, evidence) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(training, *one) for one in alarms],
    )
