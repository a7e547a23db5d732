"""The present, as rows hold it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The present in UTC, ISO 8601 with microseconds: it sorts as text."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
