"""Digests of label events: modified events are reported, and events from any source have valid digests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.helpers import make_project, merge, numbered
from workbench.care.backups import restore_backup
from workbench.care.doctor import examine
from workbench.care.rescuing import rescue
from workbench.core.database import events
from workbench.core.project import Project, open_project
from workbench.interchange.exporting import write_archive
from workbench.labelling.annotating import AnnotationSession
from workbench.labelling.answers import Answer
from workbench.labelling.bundling import bundle
from workbench.labelling.people import assign

OTHER = {
    "kind": "'check'",
    "task": "'type'",
    "subject": "subject + 1",
    "annotator_id": "annotator_id + 1",
    "round": "round + 1",
    "verdict": "'incorrect'",
    "unsure": "1 - unsure",
    "flagged": "1 - flagged",
    "partial": "0.25",
    "schema": "schema + 1",
    "unblinded": "1 - unblinded",
    "merged": "1 - merged",
    "open_ms": "77",
    "focused_ms": "77",
    "wait_ms": "77",
    "keys": "77",
    "content_hash": "x'00'",
    "created_at": "'2020-01-01T00:00:00Z'",
    "digest": "randomblob(16)",
}


def labelled(folder: Path) -> Project:
    """Ann has labelled, and taken a label back; the rest is there to be labelled."""
    project = make_project(folder, numbered(8))
    assign(project, ["ann", "bob"], per_item=2)
    with closing(AnnotationSession(project, "ann")) as session:
        for number in range(3):
            item = session.next()
            assert item is not None
            session.submit(item, Answer(verdict="correct", note=f"Größe «{number}» \u2028 x", partial=number / 2))
        session.undo()
    return project


def findings(path: Path) -> dict[str, str]:
    return {finding.name: finding.message for finding in examine(path) if not finding.ok}


def change(path: Path, change: str) -> None:
    """Change a row as decay does: no trigger sees it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        (trigger,) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'label_events_no_update'"
        ).fetchone()
        connection.execute("BEGIN")
        connection.execute("DROP TRIGGER label_events_no_update")
        connection.execute(f"UPDATE label_events SET {change} WHERE id = 1")
        connection.execute(trigger)
        connection.execute("COMMIT")


def test_any_change_of_an_event_is_reported(tmp_path: Path) -> None:
    project = labelled(tmp_path)
    project.close()
    whole = project.path.read_bytes()
    assert not findings(project.path)
    texts = {name: "'other'" for name in events.COLUMNS.split(", ") if name not in OTHER}
    assert len(texts) + len(OTHER) == 28
    for name, value in {**texts, **OTHER}.items():
        project.path.write_bytes(whole)
        change(project.path, f"{name} = {value}")
        assert "1 label event not as stored" in findings(project.path).get("labels", ""), name


def digests_right(project: Project) -> int:
    """Check that every event has its original content and return their number."""
    reader = project.database.reader()
    assert list(events.changed_events(reader)) == []
    found: tuple[int] = reader.execute("SELECT count(digest) FROM label_events").fetchone()
    return found[0]


def test_events_from_any_source_have_valid_digests(tmp_path: Path) -> None:
    project = labelled(tmp_path)
    count = digests_right(project)
    assert count >= 4

    bundle(project, tmp_path / "bob.db", annotator="bob")
    with closing(open_project(tmp_path / "bob.db")) as away, closing(AnnotationSession(away, "bob")) as session:
        item = session.next()
        assert item is not None
        session.submit(item, Answer(verdict="incorrect", note="bob's"))
        digests_right(away)
    merge(project, tmp_path / "bob.db")
    assert digests_right(project) == count + 1

    write_archive(project, tmp_path / "a.db")
    restore_backup(tmp_path / "a.db", tmp_path / "restored.db")
    with closing(open_project(tmp_path / "restored.db")) as restored:
        assert digests_right(restored) == count + 1
        assert list(events.all_events(restored.database.reader())) == list(events.all_events(project.database.reader()))
    project.close()
    found = rescue(project.path, tmp_path / "rescued.db")
    assert (found.changed_labels, found.is_whole) == ([], True)
    with closing(open_project(tmp_path / "rescued.db")) as rescued:
        assert digests_right(rescued) == count + 1
