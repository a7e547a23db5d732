"""Counts of a project, and whether anything has changed since the last look."""

from __future__ import annotations

from workbench.core.database import states
from workbench.core.project import Project
from workbench.core.status import DatasetInfo, PersonProgress, Status
from workbench.labelling.store import check_items, flags
from workbench.measuring.store import overview

__all__ = ["DatasetInfo", "PersonProgress", "Status", "data_version", "status"]


def status(project: Project) -> Status:
    """Count items, questions, states, people's progress and runs."""
    reader = project.database.reader()
    by_state = states.counts(project.database)
    return Status(
        items=sum(by_state.values()),
        states=by_state,
        checks=check_items.count(reader),
        flags=flags.count_open(reader),
        datasets=overview.datasets(reader),
        people=overview.people(project.database),
        **overview.totals(reader),
    )


def data_version(project: Project) -> int:
    """A number that differs after another connection has written, on this thread's reading connection."""
    return project.database.data_version()
