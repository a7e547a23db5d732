"""Draw items with gold labels by a seed; every copy of a project draws the same items."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from heapq import heappush, heappushpop
from itertools import chain
from typing import Final

import msgspec
from msgspec import Struct

from workbench.config.verifiers import EXAMPLES_DRAWN, all_options_in
from workbench.core.database.selection import GOLD, TYPE, VISIBLE, items_sql
from workbench.core.database.values import decode_stored
from workbench.runs.store.runs import verifier_named

_MAX_DRAWN: Final = 200
"""Number of items drawn of each gold label and answer type: some turn out too long, or share a question."""


class SettledItem(Struct, frozen=True, order=True):
    """An item with a gold label.

    Attributes:
        place: Its rank in the draw, the lowest first; a negative number.
        item: The item's row id.
        question: Its question's row id.
    """

    place: int
    item: int
    question: int
    dataset: str
    key: str
    correct: bool
    type: str | None


def settled(connection: sqlite3.Connection, seed: int, most_characters: int) -> list[SettledItem]:
    """Return items with a gold label that accuracy counts, in the order drawn, at most 200 of each label and type.

    Args:
        most_characters: Maximum length of a completion.
    """
    where = f"{VISIBLE} AND {GOLD} IS NOT NULL AND c.characters <= ?"
    rows = connection.execute(
        f"SELECT c.id, c.question_id, d.name, c.key, {GOLD}, {TYPE} FROM {items_sql(where, TYPE, 'd.')} WHERE {where}",
        (most_characters,),
    )
    drawn: dict[tuple[int, str | None], list[SettledItem]] = defaultdict(list)
    for item, question, dataset, key, gold, kind in rows:
        found = SettledItem(_draw_rank(seed, dataset, key), item, question, dataset, key, bool(gold), kind)
        heap = drawn[gold, kind]
        if len(heap) < _MAX_DRAWN:
            heappush(heap, found)
        else:
            heappushpop(heap, found)
    return sorted(chain.from_iterable(drawn.values()), reverse=True)


def _draw_rank(seed: int, dataset: str, key: str) -> int:
    named = f"{seed}\n{dataset}\n{key}".encode("utf-8", "surrogatepass")
    return -int.from_bytes(blake2b(named, digest_size=8).digest())


class _ExamplesOption(Struct, frozen=True):
    examples: list[_NamedItem]


class _NamedItem(Struct, frozen=True):
    item: tuple[str, str]


_DECODER = msgspec.json.Decoder(_ExamplesOption)


def shown_items(connection: sqlite3.Connection) -> dict[str, list[int]]:
    """Return the row ids of the few-shot examples by verifier; verifiers without examples are omitted."""
    # The configurations of verifiers without examples need not be read.
    names = connection.execute("SELECT name FROM verifiers WHERE instr(config, ?)", (EXAMPLES_DRAWN,)).fetchall()
    known = {name: one for (name,) in names if (one := verifier_named(connection, name)) is not None}
    return {name: items for name, one in known.items() if (items := shown_by(connection, one.options))}


def shown_by(connection: sqlite3.Connection, options: Mapping[str, str]) -> list[int]:
    """Return the row ids of the few-shot examples of a verifier with these options, or of its members or stages."""
    drawn = [one[EXAMPLES_DRAWN] for one in all_options_in(options) if EXAMPLES_DRAWN in one]
    named = [one.item for text in drawn for one in decode_stored(_DECODER, text, "What a judge is shown").examples]
    return _item_ids(connection, named) if named else []


def _item_ids(connection: sqlite3.Connection, named: Sequence[tuple[str, str]]) -> list[int]:
    rows = connection.execute(
        "SELECT c.id FROM json_each(?) AS n CROSS JOIN datasets AS d ON d.name = json_extract(n.value, '$[0]') CROSS "
        "JOIN completions AS c ON c.key = json_extract(n.value, '$[1]') JOIN questions AS q ON q.id = c.question_id "
        f"AND q.dataset_id = d.id WHERE {VISIBLE}",
        (json.dumps(named),),
    )
    return [item for (item,) in rows]
