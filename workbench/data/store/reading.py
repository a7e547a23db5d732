"""Reads one item's texts for annotators, finds items by their ids, and streams selected items for export."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from workbench.core.database.journal import SubjectPlace
from workbench.core.database.selection import (
    GOLD,
    GOLD_FROM,
    IMPORTED_GOLD,
    IS_CHECK,
    STATE,
    SUBTYPE,
    TYPE,
    VERDICT,
    VISIBLE,
    VISIBLE_QUESTION,
    check_names,
    compile_selection,
    dataset_names,
    items_sql,
    selected_sql,
)
from workbench.core.database.values import as_record, vector
from workbench.core.errors import UsageError
from workbench.core.item import StoredItem
from workbench.core.label import LabelVerdict, Task
from workbench.core.selection import Selection
from workbench.core.taxonomy import type_display
from workbench.core.verdict import GoldChoice, OutcomeCode

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.int64]
    Places = npt.NDArray[np.integer[Any]]
    Hashed = npt.NDArray[np.uint64]
    Floats = npt.NDArray[np.float64]


class ItemText(Struct, frozen=True, kw_only=True):
    """The part of an item that an annotator may see.

    Attributes:
        completion: Row id of the completion.
        question: Row id of the question.
        types_labelled: Whether annotators must label the question's answer type.
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
        """Return the blake2b-128 hash of the three texts, which shows later what texts were labelled."""
        texts = (self.question_text, self.reference, self.completion_text)
        return content_hash(text.encode("utf-8", "surrogatepass") for text in texts)


def content_hash(texts: Iterable[bytes]) -> bytes:
    """Return the blake2b-128 hash of texts, each preceded by its length."""
    digest = blake2b(digest_size=16)
    for text in texts:
        digest.update(len(text).to_bytes(8, "big") + text)
    return digest.digest()


def item_text(connection: sqlite3.Connection, completion: int) -> ItemText:
    row = connection.execute(
        "SELECT c.id, q.id, d.name, c.key, q.key, qt.text, qt.reference, ct.text, d.types = 'labelled' FROM "
        "completions AS c JOIN completion_text AS ct ON ct.id = c.id JOIN questions AS q ON q.id = c.question_id JOIN "
        "question_text AS qt ON qt.id = q.id JOIN datasets AS d ON d.id = q.dataset_id WHERE c.id = ?",
        (completion,),
    ).fetchone()
    return as_record(ItemText, row)


def _is_current(alias: str) -> str:
    return (
        "NOT EXISTS (SELECT 1 FROM own_events AS later "
        f"WHERE later.task = {alias}.task AND later.subject = {alias}.subject AND later.supersedes = {alias}.uuid)"
    )


class StoredLabel(Struct, frozen=True, kw_only=True):
    verdict: LabelVerdict | None
    subtype: str | None
    reason: str | None
    note: str
    unsure: bool
    tags: tuple[str, ...]
    partial: float | None


def own_label(connection: sqlite3.Connection, task: str, subject: int) -> StoredLabel | None:
    row = connection.execute(
        "SELECT verdict, subtype, exclusion_reason, coalesce(note, ''), unsure, tags, partial FROM own_events AS e "
        f"WHERE kind = 'label' AND task = ? AND subject = ? AND {_is_current('e')} "
        "ORDER BY created_at DESC, uuid DESC LIMIT 1",
        (task, subject),
    ).fetchone()
    return None if row is None else as_record(StoredLabel, row)


def has_type_slot(connection: sqlite3.Connection, question: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM own_slots WHERE task = 'type' AND subject = ? AND state <> 'past'", (question,)
    )
    return row.fetchone() is not None


def is_own(connection: sqlite3.Connection, completion: int) -> bool:
    row = connection.execute(
        "SELECT 1 FROM own_slots WHERE task = 'correctness' AND subject = ?1 UNION ALL "
        "SELECT 1 FROM own_events WHERE task = 'correctness' AND subject = ?1 AND kind = 'label'",
        (completion,),
    )
    return row.fetchone() is not None


def own_completion(connection: sqlite3.Connection, question: int) -> int | None:
    row = connection.execute(
        # A label imported from another database may have no slot.
        "SELECT c.id, (SELECT max(s.state = 'done') FROM own_slots AS s WHERE s.task = 'correctness' "
        "AND s.subject = c.id) AS done, (SELECT max(e.id) FROM own_events AS e WHERE e.task = 'correctness' "
        "AND e.subject = c.id AND e.kind = 'label') AS said FROM completions AS c WHERE c.question_id = ? "
        "AND coalesce(done, said) IS NOT NULL ORDER BY coalesce(done, 0) DESC, said DESC LIMIT 1",
        (question,),
    ).fetchone()
    return None if row is None else int(row[0])


def own_draft(connection: sqlite3.Connection, completion: int) -> str:
    row = connection.execute("SELECT note FROM own_drafts WHERE completion_id = ?", (completion,)).fetchone()
    return row[0] if row else ""


def own_flag(connection: sqlite3.Connection, completion: int) -> str | None:
    """Return the text of the annotator's open flag on a completion, on a blind connection; None if there is none."""
    row = connection.execute(
        "SELECT flagged, coalesce(note, '') FROM own_events WHERE kind = 'flag' AND task = 'correctness' "
        "AND subject = ? ORDER BY created_at DESC, uuid DESC LIMIT 1",
        (completion,),
    ).fetchone()
    return row[1] if row and row[0] else None


class OwnEntry(Struct, frozen=True, kw_only=True):
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


def own_history(connection: sqlite3.Connection, limit: int) -> list[OwnEntry]:
    """Return the annotator's current labels on completions, newest first, on a blind connection."""
    rows = connection.execute(
        "SELECT e.subject, substr(qt.text, 1, 200), e.verdict, coalesce(e.exclusion_reason, ''), "
        "coalesce((SELECT t.subtype FROM own_events AS t WHERE t.kind = 'label' AND t.task = 'type' "
        f"AND t.subject = c.question_id AND {_is_current('t')} ORDER BY t.created_at DESC, t.uuid DESC LIMIT 1), ''), "
        "coalesce(e.note, ''), e.unsure, e.tags, e.partial, e.created_at "
        "FROM own_events AS e JOIN completions AS c ON c.id = e.subject "
        "JOIN question_text AS qt ON qt.id = c.question_id "
        f"WHERE e.kind = 'label' AND e.task = 'correctness' AND {_is_current('e')} "
        # An item that was assigned again (in a new round, or as a repeat) is listed once, with its newest label.
        "AND NOT EXISTS (SELECT 1 FROM own_events AS n WHERE n.kind = 'label' AND n.task = e.task "
        "AND n.subject = e.subject AND (n.created_at, n.uuid) > (e.created_at, e.uuid) "
        f"AND {_is_current('n')}) ORDER BY e.id DESC LIMIT ?",
        (limit,),
    )
    return [as_record(OwnEntry, row) for row in rows]


# -- Random samples of items, spread evenly over their questions.


SEED = 0
"""Default seed of a draw."""
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WORD = 2**64


class SamplingFrame(NamedTuple):
    """The items to sample from: row ids of completions, ascending, and of their questions."""

    item: Vector
    question: Vector

    def of(self, places: Places) -> SamplingFrame:
        return SamplingFrame(self.item[places], self.question[places])


def sampling_frame(connection: sqlite3.Connection, selection: Selection, *, checks: bool = True) -> SamplingFrame:
    """Return all items that meet a selection's conditions; its limit is ignored.

    Args:
        checks: Include items that are quality checks of annotators.

    Raises:
        UsageError: See `compile_selection` and `check_names`.
    """
    where, parameters = compile_selection(check_names(connection, selection))
    where += "" if checks else f" AND NOT {IS_CHECK}"
    item, question = connection.execute(
        "SELECT group_concat(id), group_concat(question_id) FROM (SELECT c.id, c.question_id "
        f"FROM {items_sql(where)} WHERE {where} ORDER BY c.id)",
        parameters,
    ).fetchone()
    return SamplingFrame(vector(item), vector(question))


def any_item(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM completions LIMIT 1").fetchone() is not None


def sampling_positions(found: SamplingFrame, seed: int = SEED) -> Floats:
    """Return a number from 0 to 1 for each item; to sample N items, take the N lowest.

    The items of a question have equally spaced numbers, in random order from a random start. Each item is therefore
    equally likely to be among the first N; of a question with k of all n items, k N / n are among them, rounded up or
    down; and a larger sample with the same seed contains the smaller one. Source: systematic sampling with probability
    proportional to size, Madow, "On the theory of systematic sampling, II", Annals of Mathematical Statistics 20, 1949,
    question by question.
    """
    import numpy as np

    order = np.lexsort((_hash_numbers(found.item, seed, 1), found.question))
    _, first, place, size = np.unique(found.question[order], return_index=True, return_inverse=True, return_counts=True)
    start = _hash_numbers(found.question[order][first], seed, 2) / _WORD
    where = np.empty(len(order))
    where[order] = (np.arange(len(order)) - first[place] + start[place]) / size[place]
    return where


def in_order(found: SamplingFrame, seed: int = SEED) -> SamplingFrame:
    import numpy as np

    return found.of(np.argsort(sampling_positions(found, seed), kind="stable"))


def draw_items(found: SamplingFrame, most: int, seed: int = SEED) -> SamplingFrame:
    chosen = in_order(found, seed)
    return SamplingFrame(chosen.item[:most], chosen.question[:most])


def _hash_numbers(values: Vector, seed: int, purpose: int) -> Hashed:
    """Return pseudo-random numbers that depend only on value, seed and purpose: Steele, Lea and Flood's SplitMix64,
    2014.
    """
    import numpy as np

    found = values.astype(np.uint64)
    for number in (purpose, seed % _WORD):
        found = found + np.uint64(_mix_bits(number))
        found = (found ^ (found >> np.uint64(30))) * np.uint64(_FIRST)
        found = (found ^ (found >> np.uint64(27))) * np.uint64(_SECOND)
        found = found ^ (found >> np.uint64(31))
    return found


def _mix_bits(number: int) -> int:
    number = (number + _STEP) % _WORD
    number = (number ^ (number >> 30)) * _FIRST % _WORD
    number = (number ^ (number >> 27)) * _SECOND % _WORD
    return number ^ (number >> 31)


# -- Streaming reads for export: items, labels and verdicts in the order of import.


class LabelledSubject(NamedTuple):
    task: Task
    subject: int
    question_key: str
    completion_key: str | None


def dataset_id(connection: sqlite3.Connection, name: str) -> int:
    """Return a data set's row id.

    Raises:
        UsageError: The data set does not exist.
    """
    row = connection.execute("SELECT id FROM datasets WHERE name = ?", (name,)).fetchone()
    if row is None:
        known = ", ".join(dataset_names(connection)) or "none yet"
        raise UsageError(f"There is no data set {name!r}.", f"There are: {known}.")
    return int(row[0])


def stream_items(
    connection: sqlite3.Connection,
    selection: Selection,
    gold: GoldChoice = "final",
    *,
    by_question: bool = False,
    judges: tuple[str, ...] = (),
) -> Iterator[StoredItem]:
    """Yield the selected items, all from one state of the database.

    Args:
        gold: Which labels count as gold; ``imported`` also uses the answer types of the file.
        by_question: Yield the completions of a question together; otherwise in the order of import.
        judges: Verifiers whose verdicts are the gold if they agree, from their newest complete runs.
    """
    chosen, parameters = selected_sql(selection, order="c.question_id, c.id" if by_question else "c.id")
    asked = IMPORTED_GOLD if gold == "imported" else GOLD
    origin = GOLD_FROM
    if judges:
        asked, origin, gold = (
            f"CASE WHEN {_agreement_condition(1, judges)} THEN 1 WHEN {_agreement_condition(0, judges)} THEN 0 END",
            "NULL",
            "final",
        )
    # Only ids are sorted: the LIMIT keeps SQLite from merging the queries and sorting long texts.
    rows = connection.execute(
        f"SELECT d.name, q.key, c.key, qt.text, qt.reference, ct.text, {asked}, {origin}, c.imported_gold, m.name, "
        f"s.name, {TYPE}, {SUBTYPE}, q.type, q.subtype, qt.type_text, qt.subtype_text, {STATE}, ct.extra, ct.layout "
        f"FROM ({chosen}) AS chosen CROSS JOIN completions AS c ON c.id = chosen.id CROSS JOIN completion_text AS ct "
        "ON ct.id = c.id CROSS JOIN questions AS q ON q.id = c.question_id CROSS JOIN question_text AS qt ON qt.id = "
        "q.id CROSS JOIN datasets AS d ON d.id = q.dataset_id LEFT JOIN sources AS s ON s.id = q.source_id LEFT JOIN "
        "models AS m ON m.id = c.model_id LEFT JOIN item_states AS i ON i.completion_id = c.id",
        [*judges, *judges, *parameters],
    )
    return (_item(row, gold) for row in rows)


def _agreement_condition(outcome: int, judges: tuple[str, ...]) -> str:
    return " AND ".join([f"{VERDICT} = {outcome}"] * len(judges))


def labelled_subjects(connection: sqlite3.Connection, selection: Selection) -> list[LabelledSubject]:
    chosen, parameters = selected_sql(selection)
    rows = connection.execute(
        f"WITH chosen AS MATERIALIZED ({chosen}) SELECT 'correctness', c.id, q.key, c.key FROM chosen JOIN completions "
        "AS c ON c.id = chosen.id JOIN questions AS q ON q.id = c.question_id WHERE EXISTS (SELECT 1 FROM label_events "
        "AS e WHERE e.task = 'correctness' AND e.subject = c.id) UNION ALL SELECT DISTINCT 'type', q.id, q.key, NULL "
        "FROM chosen JOIN completions AS c ON c.id = chosen.id JOIN questions AS q ON q.id = c.question_id WHERE "
        "EXISTS (SELECT 1 FROM label_events AS e WHERE e.task = 'type' AND e.subject = q.id) ORDER BY 1, 2",
        parameters,
    )
    return [LabelledSubject(*row) for row in rows]


def stream_verdicts(connection: sqlite3.Connection, selection: Selection) -> Iterator[tuple[object, ...]]:
    chosen, parameters = selected_sql(selection)
    rows = connection.execute(
        f"WITH chosen AS MATERIALIZED ({chosen}) SELECT q.key, c.key, v.name, x.run_id, x.outcome, x.score, x.reason, "
        "x.ms FROM runs AS r CROSS JOIN verifiers AS v ON v.id = r.verifier_id CROSS JOIN verdicts AS x ON x.run_id = "
        "r.id CROSS JOIN completions AS c ON c.id = x.completion_id CROSS JOIN questions AS q ON q.id = c.question_id "
        "WHERE c.id IN (SELECT id FROM chosen)",
        parameters,
    )
    for question, completion, verifier, run, outcome, *rest in rows:
        yield (question, completion, verifier, run, OutcomeCode(outcome).word, *rest)


def annotator_names(connection: sqlite3.Connection) -> dict[int, str]:
    return dict(connection.execute("SELECT id, name FROM annotators").fetchall())


def count_verdicts(connection: sqlite3.Connection, selection: Selection, verifier: str) -> dict[str, int]:
    where, parameters = compile_selection(selection)
    rows = connection.execute(
        f"SELECT {VERDICT} AS outcome, count(*) FROM {items_sql(where)} WHERE {where} GROUP BY outcome",
        (verifier, *parameters),
    )
    found = {"none" if outcome is None else OutcomeCode(outcome).word: number for outcome, number in rows}
    return {word: found.get(word, 0) for word in (*(outcome.word for outcome in OutcomeCode), "none")}


def _item(row: tuple[object, ...], choice: GoldChoice) -> StoredItem:
    gold, gold_from, imported_gold, model, source, kind, subtype, own_kind, own_subtype, *texts = row[6:17]
    if choice == "imported":
        gold_from = None if gold is None else "imported"
        kind, subtype = own_kind, own_subtype
    elif choice == "people" and gold_from == "imported":
        gold = gold_from = None
    own = zip((kind, subtype), (own_kind, own_subtype), texts, strict=True)
    shown = (_current_type_text(*one) for one in own)
    labels = (gold, gold_from, imported_gold, model, source, kind, subtype)
    return as_record(StoredItem, (*row[:6], *labels, *shown, *row[17:]))


def _current_type_text(code: object, imported: object, text: object) -> object:
    if code is None or (code == imported and text is not None):
        return text
    return type_display(str(code))


def find_completions(
    connection: sqlite3.Connection, completion: str, question: str | None, dataset: str | None
) -> list[tuple[int, int, str, str]]:
    rows = connection.execute(
        "SELECT c.id, q.id, d.name, q.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id JOIN "
        "datasets AS d ON d.id = q.dataset_id WHERE c.key = ?1 AND (?2 IS NULL OR q.key = ?2) AND (?3 IS NULL OR "
        f"d.name = ?3) AND {VISIBLE} LIMIT 2",
        (completion, question, dataset),
    )
    return rows.fetchall()


def find_questions(connection: sqlite3.Connection, question: str, dataset: str | None) -> list[tuple[int, str]]:
    rows = connection.execute(
        "SELECT q.id, d.name FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id "
        f"WHERE q.key = ?1 AND (?2 IS NULL OR d.name = ?2) AND {VISIBLE_QUESTION} LIMIT 2",
        (question, dataset),
    )
    return rows.fetchall()


def completion_places(
    connection: sqlite3.Connection, completions: list[int]
) -> Iterator[tuple[int, int, SubjectPlace]]:
    rows = connection.execute(
        "SELECT c.id, q.id, d.name, q.key, c.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
        "JOIN datasets AS d ON d.id = q.dataset_id WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id",
        (json.dumps(completions),),
    )
    return ((row[0], row[1], SubjectPlace(*row[2:])) for row in rows)
