"""Forecasts when the remaining labels will be done, by the pace of the last week."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import ceil

from msgspec import Struct

from workbench.core.database import people
from workbench.core.database.values import timestamp_of
from workbench.core.project import Project
from workbench.core.text.figures import counted
from workbench.labelling.store import assignments as store

_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)
_MAX_FORECAST = timedelta(days=3650)
"""Longest forecast; a later end is not reported."""


class Forecast(Struct, frozen=True, kw_only=True):
    """The progress of labelling, and when it may be complete.

    Attributes:
        done: Number of planned labels that exist.
        left: Number of planned labels that are missing.
        recent: Number of labels given in the last seven days.
        per_day: Recent labels a day since the first of them; None without any, or within a day of the first.
        ends_at: When the missing labels are complete at that rate, rounded up to whole days from the second day on;
            None without a rate, or if it takes ten years.
    """

    done: int
    left: int
    recent: int
    per_day: float | None
    ends_at: datetime | None

    def words(self, now: datetime) -> str:
        if self.per_day is None:
            idle = "no one has labelled for a week" if self.done else "no one has labelled yet"
            when = "labels have been given for less than a day" if self.recent else idle
            return f"{when}, so the end can't be forecast"
        pace = f"at {counted(round(self.per_day), 'label')} a day" if self.per_day >= 1 else "at less than one a day"
        if self.ends_at is None:
            return f"{pace} the end can't be forecast"
        return f"{pace}, as of late, the last is there {_day_text(self.ends_at, now)}"


def forecast(project: Project, now: datetime | None = None) -> Forecast:
    reader, now = project.database.reader(), now or datetime.now(UTC)
    slots = store.slots(reader)
    return _forecast(slots, store.recent_labels(reader, _week_before(now)), now)


def own_forecast(project: Project, name: str, done: int, left: int) -> Forecast:
    """Forecast one annotator's progress from their own rate.

    Raises:
        UsageError: No annotator has this name.
    """
    reader, now = project.database.reader(), datetime.now(UTC)
    person = people.find(project.database, name).id
    return _forecast(store.Slots(done=done, left=left), store.recent_labels(reader, _week_before(now), person), now)


def _week_before(now: datetime) -> str:
    return timestamp_of((now - _WEEK).timestamp())


def _forecast(slots: store.Slots, found: store.RecentLabels, now: datetime) -> Forecast:
    per_day = ends_at = None
    since = timedelta() if found.first_at is None else now - datetime.fromisoformat(found.first_at)
    if since >= _DAY:
        per_day = found.given / (since / _DAY)
        days = min(slots.left / per_day, _MAX_FORECAST.days)
        needed = timedelta(days=ceil(days) if days > 1 else days)
        ends_at = None if needed >= _MAX_FORECAST else now + needed
    return Forecast(done=slots.done, left=slots.left, recent=found.given, per_day=per_day, ends_at=ends_at)


def _day_text(at: datetime, now: datetime) -> str:
    days = (at.date() - now.date()).days
    if days < 2:
        return ("today", "tomorrow")[max(days, 0)]
    year = f" {at.year}" if at.year != now.year else ""
    return f"about {at.day} {at:%B}{year}"
