"""Integrity of imported texts, checked against the hashes stored with them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec

from workbench.core.progress import stepping

Connection = sqlite3.Connection
COVERED: Final = frozenset({"questions", "question_text", "completions", "completion_text", "sources", "models"})
"""Tables whose values the hashes cover; the others' values are checked by structure and constraints only."""
_encode = msgspec.msgpack.Encoder().encode
_QUESTIONS: Final = """
    SELECT q.id, q.hash, t.text, t.reference, s.name, q.type, q.subtype
    FROM questions AS q LEFT JOIN question_text AS t ON t.id = q.id LEFT JOIN sources AS s ON s.id = q.source_id"""
_COMPLETIONS: Final = """
    SELECT c.id, c.hash, t.text, c.imported_gold, m.name, t.extra, {characters}
    FROM completions AS c LEFT JOIN completion_text AS t ON t.id = c.id LEFT JOIN models AS m ON m.id = c.model_id"""


class Checked(NamedTuple):
    """A question or completion whose text is missing, or doesn't match its hash.

    Attributes:
        hash: The hash it should have; None without one.
        is_lost: Its text is missing.
    """

    id: int
    hash: bytes | None
    is_lost: bool = False


def content_hash(content: Iterable[object]) -> bytes:
    """Return the blake2b-128 of everything a question or a completion consists of."""
    return blake2b(_encode(tuple(content)), digest_size=16).digest()


def shown_hash(*texts: str) -> bytes:
    """Return the blake2b-128 of only the texts, for bundles: `content_hash` also covers gold and model, which could
    then be guessed.
    """
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def wrong_questions(connection: Connection) -> Iterator[Checked]:
    """Yield questions that differ from their import: text, reference, source and types."""
    total = connection.execute("SELECT count(*) FROM questions").fetchone()[0]
    rows = connection.execute(_QUESTIONS)
    for number, stored, text, reference, *rest in stepping(rows, "checking questions", "texts", total):
        if text is None or reference is None:
            yield Checked(number, None, is_lost=True)
            continue
        found = _hash_of((text, reference, *rest))
        if found is None or stored not in (found, shown_hash(text, reference)):
            yield Checked(number, found)


def wrong_completions(connection: Connection) -> Iterator[Checked]:
    """Yield completions that differ from their import: text, gold, model, further keys and length."""
    total = connection.execute("SELECT count(*) FROM completions").fetchone()[0]
    names = {row[1] for row in connection.execute("PRAGMA table_info(completions)")}
    rows = connection.execute(_COMPLETIONS.format(characters="c.characters" if "characters" in names else "NULL"))
    for number, stored, text, gold, model, extra, characters in stepping(rows, "checking completions", "texts", total):
        if text is None:
            yield Checked(number, None, is_lost=True)
            continue
        found = _hash_of((text, None if gold is None else bool(gold), model, extra))
        if found is None or stored not in (found, shown_hash(text)) or characters not in (None, len(text)):
            yield Checked(number, found)


def _hash_of(content: tuple[object, ...]) -> bytes | None:
    try:
        return content_hash(content)
    except UnicodeEncodeError:
        # The bytes are no longer valid text.
        return None


# -- The database's own secret, from which unguessable delimiters are derived.


def secret(connection: sqlite3.Connection) -> bytes:
    """Return 32 random bytes that were drawn when the database was created; they never leave it."""
    row: tuple[bytes] = connection.execute("SELECT secret FROM secrets").fetchone()
    return row[0]
