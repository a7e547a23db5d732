"""What runs have asked of model servers: one row of sums a run."""

from __future__ import annotations

import sqlite3

import msgspec
from msgspec import structs

from workbench.core.run import RunUsage

_COLUMNS = RunUsage.__struct_fields__
_PUT = f"INSERT OR REPLACE INTO run_usage (run_id, {', '.join(_COLUMNS)}) VALUES (?{', ?' * len(_COLUMNS)})"
_GET = f"SELECT {', '.join(_COLUMNS)} FROM run_usage WHERE run_id = ?"


def get(connection: sqlite3.Connection, run: int) -> RunUsage | None:
    """A run's sums; None for one that has asked no server."""
    row = connection.execute(_GET, (run,)).fetchone()
    if row is None:
        return None
    values = dict(zip(_COLUMNS, row, strict=True))
    return RunUsage(**values | {name: msgspec.json.decode(values[name]) for name in ("errors", "warnings")})


def put(connection: sqlite3.Connection, run: int, usage: RunUsage) -> None:
    """Write a run's sums, in the caller's transaction."""
    values = structs.asdict(usage)
    for name in ("errors", "warnings"):
        values[name] = msgspec.json.encode(values[name]).decode()
    connection.execute(_PUT, (run, *values.values()))
