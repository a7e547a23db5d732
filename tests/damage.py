"""Deliberately damaged databases: one with rich content, and ways to damage its file, known to the byte."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.helpers import make_project, numbered
from workbench.core.database import events, people
from workbench.core.health import Finding, Rescued
from workbench.core.label import LabelEvent
from workbench.labelling import ledger
from workbench.labelling.people import assign

PAGE: Final = 4096


def rich_project(folder: Path, items: int = 240) -> Path:
    """Create a closed database with texts, labels, verdicts and evidence on many pages, without a log."""
    draw = random.Random(1)
    rows = [
        row
        | {
            "completion": f"{row['completion']} {'x' * draw.choice([0, 40, 900, 9000])} {number}",
            "model": f"m{number % 3}",
        }
        for number, row in enumerate(numbered(items, source="math/sums", subtype="A1"))
    ]
    project = make_project(folder, rows)
    assign(project, ["ann", "bob"], per_item=2)
    with project.database.write("full") as connection:
        staff = dict(connection.execute("SELECT name, id FROM annotators").fetchall())
        for number in range(1, items + 1):
            for name in ("ann", "bob"):
                ledger.record(
                    connection,
                    LabelEvent(
                        uuid=events.new_uuid(),
                        kind="label",
                        task="correctness",
                        subject=number,
                        annotator=staff[name],
                        created_at=people.now(),
                        verdict="correct" if draw.random() < 0.6 else "incorrect",
                        note="because " * draw.choice([0, 1, 5, 30]) or None,
                    ),
                )
        connection.execute(
            "INSERT INTO verifiers (id, name, kind, config, config_hash, created_at) "
            "VALUES (1, 'v', 'exact', '{\"options\": {}, \"config\": {}}', 'h', '')"
        )
        connection.execute(
            "INSERT INTO runs (id, verifier_id, version, selection, workers, state, items, created_at) "
            "VALUES (1, 1, '1', '{}', 1, 'complete', ?, '2026-01-01T00:00:00Z')",
            (items,),
        )
        for number in range(1, items + 1):
            connection.execute(
                "INSERT INTO verdicts (run_id, completion_id, outcome, ms) VALUES (1, ?, ?, 0.5)", (number, number % 2)
            )
            connection.execute(
                "INSERT INTO verdict_evidence (run_id, completion_id, reference_final, candidate_final) "
                "VALUES (1, ?, '7', ?)",
                (number, str(number)),
            )
    project.close()
    return project.path


class Damage(NamedTuple):
    """Damage to a file: its kind, and the pages whose content has changed."""

    kind: str
    pages: frozenset[int]


def owners(path: Path) -> dict[int, str]:
    """Return page -> the table or index it belongs to."""
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        found = dict(connection.execute("SELECT pageno, name FROM dbstat").fetchall())
    return {int(page): str(name) for page, name in found.items()}


def _byte(draw: random.Random, data: bytearray, page: int) -> Damage:
    at = draw.randrange(PAGE)
    data[(page - 1) * PAGE + at] ^= 1 << draw.randrange(8)
    return Damage("byte", frozenset({page}))


def _head_byte(draw: random.Random, data: bytearray, page: int) -> Damage:
    at = draw.randrange(12) + (100 if page == 1 else 0)
    data[(page - 1) * PAGE + at] ^= 1 << draw.randrange(8)
    return Damage("head byte", frozenset({page}))


def _sector(draw: random.Random, data: bytearray, page: int) -> Damage:
    at = 512 * draw.randrange(PAGE // 512)
    data[(page - 1) * PAGE + at : (page - 1) * PAGE + at + 512] = draw.randbytes(512)
    return Damage("sector", frozenset({page}))


def _zeroed(_draw: random.Random, data: bytearray, page: int) -> Damage:
    data[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)
    return Damage("zeroed", frozenset({page}))


def _swapped(draw: random.Random, data: bytearray, page: int) -> Damage:
    other = draw.choice([one for one in range(2, len(data) // PAGE + 1) if one != page])
    one, two = slice((page - 1) * PAGE, page * PAGE), slice((other - 1) * PAGE, other * PAGE)
    data[one], data[two] = data[two], data[one]
    return Damage("swapped", frozenset({page, other}))


def _cut(_draw: random.Random, data: bytearray, page: int) -> Damage:
    last = len(data) // PAGE
    del data[(page - 1) * PAGE :]
    return Damage("cut", frozenset(range(page, last + 1)))


KINDS: Final[tuple[Callable[[random.Random, bytearray, int], Damage], ...]] = (
    _byte,
    _head_byte,
    _sector,
    _zeroed,
    _swapped,
    _cut,
)


def hurt(
    path: Path, target: Path, page: int, kind: Callable[[random.Random, bytearray, int], Damage], seed: object
) -> Damage:
    """Write a copy that is damaged at a page."""
    data = bytearray(path.read_bytes())
    damage = kind(random.Random(f"{seed}"), data, page)
    target.write_bytes(data)
    return damage


def without_a_row(path: Path, target: Path) -> None:
    """Write a copy whose page of models claims two rows; there are three, as their index says."""
    data = bytearray(path.read_bytes())
    page = next(page for page, name in owners(path).items() if name == "models")
    at = (page - 1) * PAGE + 3
    assert data[at : at + 2] == b"\x00\x03"
    data[at + 1] = 2
    target.write_bytes(data)


def readable(path: Path, table: str, ids: Iterable[int]) -> dict[int, Any]:
    """Return row id -> row for each of these ids that SQLite can read, one query per id."""
    found = {}
    with closing(_opened(path)) as connection:
        # A truncated file is read as far as possible.
        connection.execute("PRAGMA writable_schema = ON")
        for number in ids:
            with suppress(sqlite3.DatabaseError):
                row = connection.execute(f'SELECT * FROM "{table}" NOT INDEXED WHERE id = ?', (number,)).fetchone()
                if row is not None and row[0] == number:
                    found[number] = row
    return found


_TEXTS: Final = ("questions", "question_text", "completions", "completion_text", "sources", "models")
_NOT_CONTENT: Final = ("file", "integrity")


def false_words(whole: Path, path: Path, findings: Sequence[Finding]) -> list[str]:
    """Return tables reported as intact that have changed; values that no hash covers are ignored.

    For tables whose rows have no hash, the number of rows and the indexed values are compared.
    """
    wrong = [finding.name for finding in findings if not finding.ok]
    if any(name in _NOT_CONTENT for name in wrong):
        return []
    found = []
    with closing(_opened(whole)) as one, closing(_opened(path)) as other:
        for (table,) in one.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if "texts" in wrong and table in _TEXTS:
                continue
            covered = "*" if table in _TEXTS[:4] else "count(*)"
            try:
                read = [
                    database.execute(f'SELECT {covered} FROM "{table}" NOT INDEXED').fetchall()
                    for database in (one, other)
                ]
            except sqlite3.DatabaseError as error:
                found.append(f"{table}: {error}")
                continue
            if read[0] != read[1]:
                found.append(table)
    return found


def false_numbers(whole: Path, found: Rescued) -> list[str]:
    """Return tables whose number of missing rows is reported wrongly; texts are reported by their placeholders."""
    wrong = []
    with closing(_opened(whole)) as connection:
        for table in found.tables:
            (rows,) = connection.execute(f'SELECT count(*) FROM "{table.table}" NOT INDEXED').fetchone()
            asked = "SELECT count(*) FROM pragma_index_list(?) WHERE origin <> 'pk'"
            (indexes,) = connection.execute(asked, (table.table,)).fetchone()
            is_stated = (
                table.missing is not None
                and not table.is_derived
                and not table.table.endswith("_timestamp_text")
                # Without an index, nothing tells of the rows of a table whose page was swapped with an empty one.
                and (table.rows > 0 or indexes > 0)
            )
            if is_stated and table.rows + table.dropped + (table.missing or 0) != rows:
                wrong.append(f"{table.table}: {table.rows} of {rows}, {table.missing} missing")
    return wrong


def changed_texts(whole: Path, out: Path) -> list[str]:
    """Return tables with digests whose values have changed."""
    with closing(_opened(whole)) as one, closing(_opened(out)) as other:
        return [
            table
            for table in _TEXTS
            if len({str(sorted(database.execute(f'SELECT * FROM "{table}"'))) for database in (one, other)}) > 1
        ]


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?immutable=1", uri=True)
