"""Checks imported texts against the hashes that are stored with them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

from workbench.core.progress import stepping

Connection = sqlite3.Connection
_encode = msgspec.msgpack.Encoder().encode
_QUESTIONS: Final = """
    SELECT q.id, q.hash, t.text, t.reference, s.name, q.type, q.subtype
    FROM questions AS q LEFT JOIN question_text AS t ON t.id = q.id LEFT JOIN sources AS s ON s.id = q.source_id"""
_COMPLETIONS: Final = """
    SELECT c.id, c.hash, t.text, c.imported_gold, m.name, t.extra, c.characters
    FROM completions AS c LEFT JOIN completion_text AS t ON t.id = c.id LEFT JOIN models AS m ON m.id = c.model_id"""


class ChangedRow(NamedTuple):
    """A question, completion or label event that doesn't match its hash, or whose text is missing.

    Attributes:
        hash: The hash it should have; None if there can't be one.
    """

    id: int
    hash: bytes | None


def content_hash(content: Iterable[object]) -> bytes:
    """Return the blake2b-128 hash of all imported values of a question or a completion."""
    return blake2b(_encode(tuple(content)), digest_size=16).digest()


def shown_hash(*texts: str) -> bytes:
    """Return the blake2b-128 hash of texts alone, for bundles of items; from `content_hash` an annotator could find out
    gold and model, which it also covers.
    """
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def digest(content: Iterable[object]) -> bytes | None:
    """Return the `content_hash`; None if the bytes of a text are no longer valid."""
    try:
        return content_hash(content)
    except UnicodeEncodeError:
        return None


def changed_questions(connection: Connection) -> Iterator[ChangedRow]:
    """Yield the questions whose text, reference, source or types differ from the import."""
    for number, stored, text, reference, *rest in _checked(connection, "questions", _QUESTIONS):
        found = None if text is None or reference is None else digest((text, reference, *rest))
        if found is None or stored not in (found, shown_hash(text, reference)):
            yield ChangedRow(number, found)


def changed_completions(connection: Connection) -> Iterator[ChangedRow]:
    """Yield the completions whose text, gold, model, extra keys or length differ from the import."""
    for number, stored, text, gold, model, extra, characters in _checked(connection, "completions", _COMPLETIONS):
        found = None if text is None else digest((text, None if gold is None else bool(gold), model, extra))
        if found is None or stored not in (found, shown_hash(text)) or characters not in (None, len(text)):
            yield ChangedRow(number, found)


def _checked(connection: Connection, table: str, statement: str) -> Iterator[tuple[Any, ...]]:
    total = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    return stepping(connection.execute(statement), f"checking {table}", "texts", total)


# -- The database's secret, from which unguessable delimiters are derived.


def secret(connection: sqlite3.Connection) -> bytes:
    """Return the database's 32 random bytes, which were generated with it and are stored nowhere else."""
    row: tuple[bytes] = connection.execute("SELECT secret FROM secrets").fetchone()
    return row[0]
