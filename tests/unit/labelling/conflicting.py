"""Small projects with conflicts, for tests of adjudication."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.helpers import make_project, numbered
from workbench.core.database import events
from workbench.core.database.people import add as add_person
from workbench.core.label import LabelEvent, LabelVerdict, Task
from workbench.core.project import Project
from workbench.labelling import ledger, people
from workbench.labelling.annotating import AnnotationSession, Answer


def project_of(folder: Path, count: int, **fields: Any) -> Project:
    """Make a project of ``count`` items, each with its own question."""
    rows = [{**row, "question_id": f"q{number}"} for number, row in enumerate(numbered(count, **fields))]
    return make_project(folder, rows)


def disputed(folder: Path, count: int, **fields: Any) -> Project:
    """Items that amira calls correct and ben incorrect; chen is there to settle them."""
    made = project_of(folder, count, **fields)
    people.add_annotators(made, ["chen"])
    for item in range(1, count + 1):
        put(made, "amira", item, "correct")
        put(made, "ben", item, "incorrect")
    return made


def label_all(project: Project, name: str, answer: Answer) -> None:
    """One person gives the same answer to everything that is left for them."""
    session = AnnotationSession(project, name)
    while (item := session.next()) is not None:
        session.submit(item, answer)
    session.close()


def relabel(project: Project, name: str, completion: int, answer: Answer) -> None:
    """One person changes their answer to one item."""
    session = AnnotationSession(project, name)
    session.submit(session.open(completion), answer)
    session.close()


def put(
    project: Project,
    name: str,
    subject: int,
    value: str,
    *,
    at: str = "2025-01-01T00:00:00.000000Z",
    task: Task = "correctness",
    reason: str | None = None,
    **fields: Any,
) -> str:
    """Store one event of a person as a merge or a label file would; returns its uuid."""
    verdicts: dict[str, LabelVerdict] = {one: one for one in ("correct", "incorrect", "unsuitable")}
    with project.database.write() as connection:
        event = LabelEvent(
            uuid=events.new_uuid(),
            kind=fields.pop("kind", "label"),
            task=task,
            subject=subject,
            annotator=add_person(connection, name),
            created_at=at,
            verdict=verdicts.get(value),
            exclusion_reason=reason,
            subtype=None if value in verdicts else value,
            **fields,
        )
        ledger.record(connection, event)
    return event.uuid


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    """Run a query and return its rows."""
    return project.database.reader().execute(sql, parameters).fetchall()


def judge(project: Project, items: Sequence[int] = (1, 2, 3)) -> None:
    """A verifier calls the items correct."""
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO verifiers (name, kind, config, config_hash, created_at) VALUES ('rule', '', '', '', '')"
        )
        connection.execute(
            "INSERT INTO runs (verifier_id, version, selection, workers, state, items, created_at, completed_at) "
            "VALUES (1, '1', '', 1, 'complete', 3, '', 'x')"
        )
        connection.executemany("INSERT INTO verdicts VALUES (1, ?, 0, 1, NULL, NULL, 1.0)", [(item,) for item in items])
