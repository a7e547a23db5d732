"""What a frozen set says of itself: its settings, and the report of its making."""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.core.errors import StoreError
from workbench.core.sets import SetReport, StoredSet


def report_of(stored: StoredSet) -> SetReport:
    """What came of building a set.

    Raises:
        StoreError: The database holds no such report.
    """
    try:
        return msgspec.json.decode(stored.report, type=SetReport)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _unreadable("report", stored, error) from error


def settings_of(stored: StoredSet) -> dict[str, Any]:
    """What a set was built with.

    Raises:
        StoreError: The database holds no settings there.
    """
    try:
        return msgspec.json.decode(stored.config, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _unreadable("settings", stored, error) from error


def _unreadable(what: str, stored: StoredSet, error: Exception) -> StoreError:
    return StoreError(f"The {what} of {stored.full_name} can't be read: {error}.", "Build the set again.")
