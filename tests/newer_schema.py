"""Programs that have a version more of the tables than a database was written with."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import pytest

from workbench.core.database import migrations, schema

EVENT_KINDS = "        , 'answer'\n"
"""The last kind of a label event in ``schema.sql``: with another one, the table is made anew."""


def newer(patch: pytest.MonkeyPatch, old: str, new: str, *fills: Callable[[sqlite3.Connection], object]) -> None:
    """Let the program have a version more, which differs in one place of ``schema.sql``.

    Args:
        new: What stands there then.
        fills: What fills it.
    """
    text = schema.text()
    assert text.count(old) == 1
    patch.setattr(schema, "text", lambda: text.replace(old, new))
    patch.setattr(migrations, "FILLS", (*migrations.FILLS, fills))


def newer_events(patch: pytest.MonkeyPatch) -> None:
    """Let the program have a version more, whose label events have one more kind."""
    newer(patch, EVENT_KINDS, f"{EVENT_KINDS}        , 'more'\n")
