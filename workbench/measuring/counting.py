"""Counts a project's data sets, questions, items, labels and runs."""

from __future__ import annotations

from workbench.core.database import states
from workbench.core.project import Project
from workbench.core.status import DatasetInfo, Status
from workbench.labelling.store import check_items, flags
from workbench.measuring.store import overview


def status(project: Project) -> Status:
    with project.database.reading() as reader:
        by_state = states.count_by_state(project.database)
        return Status(
            items=sum(by_state.values()),
            states=by_state,
            accepted=overview.accepted(reader),
            checks=check_items.count(reader),
            flags=flags.count_open(reader),
            datasets=overview.datasets(reader),
            people=overview.people(project.database),
            **overview.totals(reader),
        )


def every_dataset(project: Project) -> list[DatasetInfo]:
    with project.database.reading() as reader:
        return overview.datasets(reader)
