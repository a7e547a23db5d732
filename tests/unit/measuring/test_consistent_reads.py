"""Metrics shown together come from one snapshot: concurrent writes appear in all of them or in none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import copy_database, make_project, numbered
from tests.unit.labelling.conflicting import label_all
from workbench.core.database.people import find
from workbench.core.project import Project, open_project
from workbench.labelling import people
from workbench.labelling.agreement.measuring import agreement
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.rulings import offers
from workbench.labelling.store import assignments
from workbench.labelling.waiting import own_work
from workbench.measuring.accuracy import accuracy
from workbench.measuring.briefing import briefed, status


def give_back(project: Project) -> None:
    with project.database.write() as connection:
        assignments.give_back_all(connection, find(project.database, "amira").id)


def label_more(project: Project) -> None:
    label_all(project, "amira", Answer(verdict="incorrect"))


@pytest.fixture(scope="module")
def of_people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six items of six questions; ben has labelled all, and amira one, and she holds the next two."""
    folder = tmp_path_factory.mktemp("people")
    rows = [{**row, "question_id": f"q{number}"} for number, row in enumerate(numbered(6))]
    project = make_project(folder, rows)
    people.assign(project, ["amira", "ben"], per_item=2)
    label_all(project, "ben", Answer(verdict="correct"))
    session = AnnotationSession(project, "amira")
    first = session.next()
    assert first is not None
    session.submit(first, Answer(verdict="incorrect"))
    assert session.next() is not None
    project.close()
    return project.path


class Meddler:
    """Writes once, ahead of the n-th statement that a project's reader is given."""

    def __init__(self, project: Project, at: int, change: Callable[[Project], None]) -> None:
        self.seen, self.wrote, self._at, self._change, self._path = 0, False, at, change, project.path
        self._reader = project.database.reader()
        self._reader.set_trace_callback(self._before)

    def _before(self, statement: str) -> None:
        self.seen += 1
        if self.seen == self._at:
            other = open_project(self._path)
            self._change(other)
            other.close()
            self.wrote = True

    def done(self) -> int:
        self._reader.set_trace_callback(None)
        assert self.wrote == (0 < self._at <= self.seen)
        return self.seen


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("change", "figures"),
    [
        (give_back, lambda project: own_work(project, "amira")),
        (give_back, lambda project: AnnotationSession(project, "amira").progress()),
        (give_back, lambda project: offers(project, "annotator")),
        (give_back, status),
        (label_more, lambda project: agreement(project)),
        (label_more, lambda project: accuracy(project, verifiers=("always-correct",), by="type")),
        (give_back, briefed),
    ],
    ids=["own work", "progress", "offers", "status", "agreement", "accuracy", "briefing"],
)
def test_metrics_come_from_one_snapshot(
    of_people: Path, tmp_path: Path, change: Callable[[Project], None], figures: Callable[[Project], Any]
) -> None:
    def found(at: int) -> tuple[Any, int]:
        return _found(copy_database(of_people, tmp_path / f"{at}.db"), at, change, figures)

    before, statements = found(0)
    after, _ = found(1)
    assert (before == after) == (change is give_back), "what is given back is left all the same"
    assert statements > 3
    every = range(2, statements + 1, max(1, statements // 12))
    assert [value for value in (found(at)[0] for at in every) if value not in (before, after)] == []


def _found(
    path: Path, at: int, change: Callable[[Project], None], figures: Callable[[Project], Any]
) -> tuple[Any, int]:
    project = open_project(path)
    figures(project)
    meddler = Meddler(project, at, change)
    try:
        value = figures(project)
    finally:
        statements = meddler.done()
        project.close()
    return value, statements
