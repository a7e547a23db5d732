"""What ``doctor`` says of a database's schema, and how it is put right."""

from __future__ import annotations

import sqlite3

from workbench.model.health import Finding
from workbench.store import migrations
from workbench.store.schema_check import Difference, quoted


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
    return Finding(name="schema", ok=bool(harm), message=f"{difference.what}{harm}{slow}{text}")


def put_right(connection: sqlite3.Connection) -> list[str]:
    """Drop triggers that are not ours, and make ours, our views and our indexes anew where they are not as they were.

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
        if kind not in ("trigger", "view", "index") or (difference.harmless and difference.sql):
            continue
        if kind in ("view", "index") and made is None:
            continue
        if difference.sql is not None:
            connection.execute(f"DROP {kind} {quoted(name)}")
        if made is not None:
            connection.execute(made)
        done.append(f"{kind} {name}: {'made anew' if made is not None else 'removed'}")
    return done
