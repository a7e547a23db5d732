"""Programs with a newer schema than the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from workbench.core.database import migrations, schema

EVENT_KINDS = "        , 'answer'\n"
"""The last kind of a label event in ``schema.sql``: adding one rebuilds the table."""


def newer(patch: pytest.MonkeyPatch, old: str, new: str, *fills: Callable[[sqlite3.Connection], object]) -> None:
    """Let the program have a newer schema version that differs in one place of ``schema.sql``.

    Args:
        new: The replacement for ``old``.
        fills: Migration functions that fill it.
    """
    text = schema.text()
    assert text.count(old) == 1
    patch.setattr(schema, "text", lambda: text.replace(old, new))
    patch.setattr(migrations, "FILLS", (*migrations.FILLS, fills))


def newer_events(patch: pytest.MonkeyPatch) -> None:
    """Let the program have a newer schema version with one more kind of label event."""
    newer(patch, EVENT_KINDS, f"{EVENT_KINDS}        , 'more'\n")
