"""Label events are append-only, also after a migration has rebuilt their table."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.newer_schema import newer_events
from workbench.care.backups import diagnosis
from workbench.core.database import people, schema
from workbench.core.label import LabelEvent
from workbench.core.project import open_project
from workbench.labelling import ledger

CHANGES = (
    "UPDATE label_events SET verdict = 'incorrect'",
    "DELETE FROM label_events",
    "INSERT OR REPLACE INTO label_events SELECT * FROM label_events",
)


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """A closed database with one label."""
    project = make_project(tmp_path, numbered(2))
    with project.database.write("full") as connection:
        person = people.add(connection, "ann")
        ledger.record(
            connection,
            LabelEvent(
                uuid="u1",
                kind="label",
                task="correctness",
                subject=1,
                annotator=person,
                created_at="2025-01-01T00:00:00.000000Z",
                verdict="correct",
            ),
        )
    project.close()
    return project.path


def triggers(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    connection.close()
    return names


def test_events_stay_append_only_after_a_table_rebuild(labelled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer_events(monkeypatch)
    project = open_project(labelled)
    assert {part.name for part in schema.parts() if part.kind == "trigger"} == triggers(labelled)
    rows = project.database.reader().execute("SELECT uuid, verdict, view FROM label_events").fetchall()
    assert rows == [("u1", "correct", None)]
    for statement in CHANGES:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"), project.database.write() as connection:
            connection.execute(statement)
    third = "INSERT INTO label_events (uuid, kind, task, subject, annotator_id, schema, created_at) VALUES "
    with pytest.raises(sqlite3.IntegrityError, match="adjudicator"), project.database.write() as connection:
        connection.execute(third + "('u2', 'adjudication', 'correctness', 1, 1, 2, '')")
    assert all(finding.ok for finding in diagnosis(project.path) if finding.name == "schema")
    project.close()
