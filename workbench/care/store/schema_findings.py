"""What ``doctor`` says of a database's schema, and how it is put right."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from workbench.core.database import migrations
from workbench.core.database.failures import roll_back
from workbench.core.database.schema_check import Difference, quoted
from workbench.core.health import Finding, Remedy

_MADE_ANEW = ("trigger", "view", "index")


def findings(connection: sqlite3.Connection) -> list[Finding]:
    """One finding for each difference from what the program makes, with its text."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if not 1 <= version <= migrations.latest_version():
        return [Finding(name="schema", ok=False, message=f"it says that it is of version {version}")]
    found = [_finding(difference) for difference in migrations.differences(connection, version)]
    return found or [Finding(name="schema", ok=True, message="ok")]


def _finding(difference: Difference) -> Finding:
    text = f": {difference.sql}" if difference.sql else ""
    harm = "; it does no harm" if difference.harmless and difference.sql else ""
    slow = "; what needs it is slow or stops" if difference.harmless and not difference.sql else ""
    remedy: Remedy = "repair" if not harm and difference.kind in _MADE_ANEW else ""
    return Finding(name="schema", ok=bool(harm), message=f"{difference.what}{harm}{slow}{text}", remedy=remedy)


def put_right_in(path: Path) -> list[str]:
    """`put_right` in a transaction of its own; returns what was done."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            done = put_right(connection)
            connection.execute("COMMIT")
        finally:
            roll_back(connection)
        return done


def put_right(connection: sqlite3.Connection) -> list[str]:
    """Drop triggers, indexes and views that are not ours and do harm; make ours anew where they are not as they were.

    Tables are left as they are: rows would be lost. Nothing harmless is touched.

    Args:
        connection: In a transaction; one that counts would refuse to run what is dropped here.

    Returns:
        What was done, a line each.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    ours = {(row.kind, row.name): row.sql for row in migrations.made(version)}
    done = []
    for difference in migrations.differences(connection, version):
        kind, name = difference.kind, difference.name
        made = ours.get((kind, name))
        if kind not in _MADE_ANEW or (difference.harmless and difference.sql):
            continue
        if difference.sql is not None:
            connection.execute(f"DROP {kind} {quoted(name)}")
        if made is not None:
            connection.execute(made)
        done.append(f"{kind} {name}: {'made anew' if made is not None else 'removed'}")
    return done
