"""The database's own secret, from which delimiters follow that no author of a text can guess."""

from __future__ import annotations

import sqlite3


def secret(connection: sqlite3.Connection) -> bytes:
    """32 random bytes that were drawn when the database was made; they never leave it."""
    row: tuple[bytes] = connection.execute("SELECT secret FROM secrets").fetchone()
    return row[0]
