"""The present, as rows hold it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """The present in UTC, ISO 8601 with microseconds: it sorts as text."""
    return _text(datetime.now(UTC))


def stamp(at: float) -> str:
    """A time in seconds since the epoch, as `now` would have given it."""
    return _text(datetime.fromtimestamp(at, UTC))


def _text(time: datetime) -> str:
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")
