"""What the outcomes of a run depend on besides the texts."""

from __future__ import annotations

import sqlite3

import msgspec

from workbench.core.code import Provenance
from workbench.core.database.documents import stored

_DECODER = msgspec.json.Decoder(list[Provenance])


def note(connection: sqlite3.Connection, run: int, provenance: Provenance) -> None:
    """Say under what a run works from now on; what it had worked under before stays beside it."""
    known = of_run(connection, run)
    if provenance not in known:
        connection.execute(
            "INSERT INTO provenance (run_id, document) VALUES (?, ?) "
            "ON CONFLICT (run_id) DO UPDATE SET document = excluded.document",
            (run, msgspec.json.encode([*known, provenance]).decode()),
        )


def of_run(connection: sqlite3.Connection, run: int) -> list[Provenance]:
    """All that a run has worked under, the earliest first; as a rule it is one."""
    row: tuple[str] | None = connection.execute("SELECT document FROM provenance WHERE run_id = ?", (run,)).fetchone()
    return [] if row is None else stored(_DECODER, row[0], f"What run {run} has worked under")
