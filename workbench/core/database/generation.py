"""Which copy of a database a file is, and which transactions have been written to it.

SQLite replays whatever log lies beside a file. So every file is given a name at random when it is made, copied or
restored, and every transaction leaves a mark beside it: its number, a state of its own drawn at random, the state it
was made on, and the header of the file then. What stands in a log then tells which file, and which state of it, the
log belongs to (`logs.py`). A mark has the same length always, and is its page's only row, so that it is found
without SQLite.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

_WORD = "workbench-generation "
_FIRST = 2**32
"""SQLite stores numbers from here to 2**47 in six bytes."""
BEGIN = f"INSERT INTO generation (id, name, writes) VALUES (1, '{_WORD}' || hex(randomblob(16)), {_FIRST})"
STATE = "UPDATE generation SET state = randomblob(8), before = zeroblob(8), header = zeroblob(8)"
"""What version 10 has beside; see `count`."""
HEADER = 100
"""Bytes of the header of a file's first page; a disk writes them together."""
UNKNOWN = bytes(8)
"""The digest of a header that nobody looked at."""
_TEXT, _NUMBER, _STATE = 13 + 2 * (len(_WORD) + 32), 5, 12 + 2 * 8
# A row as SQLite's record format has it: the header (its length, NULL for the row id, the kinds), then the values.
_RECORD = re.compile(
    rb"(?:%b|%b)" % (re.escape(bytes((4, 0, _TEXT, _NUMBER))), re.escape(bytes((7, 0, _TEXT, _NUMBER, *[_STATE] * 3))))
    + re.escape(_WORD.encode())
    + rb"([0-9A-F]{32})(.{6})(.{24})?",
    re.DOTALL,
)
_LEAF = re.compile(rb"\x0d..\x00\x01", re.DOTALL)
"""How a page of a table begins that has one row and no pages below it."""


class Generation(NamedTuple):
    """What a file, or a transaction in its log, says of itself.

    Attributes:
        state: Of version 9 there is none, and neither are the others known.
        before: The state that the transaction was made on.
        header: `header_digest` of the file as it stood then.
    """

    name: str
    writes: int
    state: bytes | None = None
    before: bytes | None = None
    header: bytes | None = None

    @property
    def first(self) -> bool:
        """Whether nothing has been written since the name was drawn."""
        return self.writes == _FIRST


def header_digest(page: bytes) -> bytes:
    """What a transaction says of the header of the file that it was made on."""
    return blake2b(page[:HEADER], digest_size=len(UNKNOWN)).digest()


def count(connection: sqlite3.Connection, header: bytes = UNKNOWN) -> None:
    """Mark the caller's transaction.

    Args:
        header: `header_digest` of the file itself.
    """
    connection.execute(
        "UPDATE generation SET writes = writes + 1, before = state, state = randomblob(8), header = ?", (header,)
    )


def draw(connection: sqlite3.Connection) -> None:
    """Give the file a new name; no log of another copy is its own from then on, and no runner of one works on it.

    Older databases have none.
    """
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'generation'").fetchone():
        connection.execute("DELETE FROM generation")
        connection.execute(BEGIN)
        if connection.execute("SELECT 1 FROM pragma_table_info('generation') WHERE name = 'state'").fetchone():
            connection.execute(STATE)
        connection.execute("DELETE FROM runner")


def name_anew(path: Path) -> None:
    """Give a copy that nobody has open a generation of its own, as one file without a log."""
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("BEGIN IMMEDIATE")
        draw(copy)
        copy.execute("COMMIT")


def read(connection: sqlite3.Connection) -> Generation | None:
    """What the database says, as far as this connection sees it; None where it is older than that."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'generation'").fetchone():
        return None
    row = connection.execute("SELECT * FROM generation").fetchone()
    return None if row is None else Generation(row[1][-32:], *row[2:])


def in_page(page: bytes) -> Generation | None:
    """The mark that a page holds: nothing else that may stand in a page is taken for one."""
    if not _LEAF.match(page):
        return None
    # The row's length and number come before it, in a byte each.
    found = _RECORD.match(page, int.from_bytes(page[8:10]) + 2)
    return None if found is None else _generation(found)


def in_journal(held: bytes) -> Generation | None:
    """The first mark in some bytes of a rollback journal, where pages begin anywhere."""
    found = _RECORD.search(held)
    return None if found is None else _generation(found)


def places(held: bytes) -> Iterator[int]:
    """Where marks may stand in some bytes, in order."""
    word, at = _WORD.encode(), -1
    while (at := held.find(word, at + 1)) >= 0:
        yield at


def _generation(found: re.Match[bytes]) -> Generation:
    name, writes = found[1].decode(), int.from_bytes(found[2])
    if found[0][0] != 7 or found[3] is None:
        return Generation(name, writes)
    return Generation(name, writes, found[3][:8], found[3][8:16], found[3][16:])


# -- What has changed since a copy of the columns was made: versions, and the ranges of rows behind them.


class ChangeMark(NamedTuple):
    """A point in a database's history of changes; two databases never share one."""

    version: int
    token: bytes


class Change(NamedTuple):
    """Rows that may differ from what they were: items (no run) or verdicts of a run, by completion row id."""

    run: int | None
    first: int
    last: int

    @property
    def span(self) -> tuple[int, int]:
        """First and last row id."""
        return self.first, self.last


_APART = 500
"""Items further apart than this are noted as separate ranges: what lies between them need not be read again."""


def note(connection: sqlite3.Connection, run: int, items: Iterable[int]) -> None:
    """Note that verdicts of a run on these items came or went, in the caller's transaction."""
    connection.executemany(
        "INSERT INTO changes (run_id, first_id, last_id) VALUES (?, ?, ?)",
        [(run, first, last) for first, last in ranges((item, item) for item in items)],
    )


def note_items(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Note that items from one row id to another are new without an import, in the caller's transaction."""
    connection.execute("INSERT INTO changes (first_id, last_id) VALUES (?, ?)", (first, last))


def ranges(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of rows, first and last, in order; those that lie close together become one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if joined and first - joined[-1][1] <= _APART:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def mark(connection: sqlite3.Connection) -> ChangeMark:
    """Where the history stands."""
    return ChangeMark(
        *connection.execute("SELECT version, token FROM changes ORDER BY version DESC LIMIT 1").fetchone()
    )


def since(connection: sqlite3.Connection, known: ChangeMark) -> list[Change] | None:
    """What has changed after a mark, in order; None where the mark is not of this history, or too old to tell."""
    row = connection.execute("SELECT token FROM changes WHERE version = ?", (known.version,)).fetchone()
    if row is None or row[0] != known.token:
        return None
    rows = connection.execute(
        "SELECT run_id, first_id, last_id FROM changes WHERE version > ? ORDER BY version", (known.version,)
    )
    return [Change(*row) for row in rows]


def has(connection: sqlite3.Connection, known: ChangeMark) -> bool:
    """Whether a mark is of this history, or older than what is remembered of it."""
    row = connection.execute("SELECT token FROM changes WHERE version = ?", (known.version,)).fetchone()
    if row is not None:
        return bool(row[0] == known.token)
    return known.version < int(connection.execute("SELECT coalesce(min(version), 0) FROM changes").fetchone()[0])
