"""Bundles contain only what their annotator may see; their labels return to the reserved slots."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import make_project, merge, numbered
from workbench.app.tui.kit.overview import person_line
from workbench.core.database import events
from workbench.core.errors import AnnotationError, StoreError, UsageError
from workbench.core.project import Project, open_project
from workbench.core.selection import Condition, Selection
from workbench.labelling import ledger
from workbench.labelling.annotating import AnnotationSession
from workbench.labelling.answers import Answer
from workbench.labelling.bundling import bundle, free_bundled_items
from workbench.labelling.checks import add_checks
from workbench.labelling.coordinating import reopen
from workbench.labelling.guidelines import add_version, current
from workbench.labelling.people import add_annotators, annotators, assign
from workbench.labelling.serving import Progress
from workbench.labelling.store import assignments
from workbench.measuring.briefing import status

MARK = "LeakedFromHome"


@pytest.fixture
def home(tmp_path: Path) -> Project:
    project = make_project(tmp_path, numbered(12, types="labelled"))
    assign(project, ["ann", "bob"], per_item=2)
    return project


def label_all(path: Path, name: str, verdict: str = "correct") -> int:
    """Label everything a database has for a person; returns how many items that were."""
    project = open_project(path)
    session = AnnotationSession(project, name)
    count = 0
    while (item := session.next()) is not None:
        subtype = "A1" if item.wants_type else None
        session.submit(item, Answer(verdict=verdict, subtype=subtype))  # type: ignore[arg-type]
        count += 1
    session.close()
    project.close()
    return count


def slots(project: Project, where: str = "1") -> dict[str, int]:
    rows = project.database.reader().execute(f"SELECT state, count(*) FROM assignments WHERE {where} GROUP BY state")
    return dict(rows.fetchall())


def mark_everything(path: Path) -> None:
    """Put a marked row into every table, and marks into the hidden columns of items."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        connection.execute(
            "UPDATE questions SET key = 'q' || id || ?1, type = ?1, subtype = ?1, hash = CAST(?1 AS BLOB)", (MARK,)
        )
        connection.execute("UPDATE completions SET key = 'c' || id || ?1, hash = CAST(?1 AS BLOB)", (MARK,))
        connection.execute("UPDATE question_text SET type_text = ?1, subtype_text = ?1", (MARK,))
        connection.execute("UPDATE completion_text SET extra = ?1, layout = ?1", (MARK,))
        connection.execute("UPDATE batches SET selection = ?1, ordering = ?1", (MARK,))
        for table in tables:
            if table.startswith(("sqlite_", "_sqlite", "guidelines", "check_items")):
                continue
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            values = [
                90_000 + number if kind in ("INTEGER", "REAL") else MARK if kind == "TEXT" else MARK.encode()
                for number, _, kind, *_ in columns
            ]
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)


def test_a_bundle_has_only_texts_guidelines_and_the_assignment(tmp_path: Path) -> None:
    items = numbered(12, types="labelled", model="a model", source="web/source", domain="mathematics", subtype="B2")
    home = make_project(tmp_path, [{**item, "completion": f"Seen {n}."} for n, item in enumerate(items)])
    assign(home, ["ann", "bob"], per_item=2)
    add_version(home, "Seen rules.", by=f"{MARK} coordinator")
    bob = AnnotationSession(home, "bob")
    for _ in range(6):
        item = bob.next()
        assert item is not None
        bob.submit(item, Answer(verdict="incorrect", subtype="C1", note=MARK))
    bob.close()
    home.close()
    mark_everything(home.path)
    home = open_project(home.path)
    written = bundle(home, tmp_path / "ann.db", annotator="ann").written
    raw = (tmp_path / "ann.db").read_bytes()
    assert all(f"Seen {number}.".encode() in raw for number in range(12))
    assert b"Seen rules." in raw
    for hidden in (MARK, "bob", "a model", "web/source", "mathematics", "B2", str(tmp_path)):
        assert hidden.encode() not in raw, hidden
    bundled = open_project(tmp_path / "ann.db").database.reader()
    assert written == 12
    assert bundled.execute("SELECT count(*) FROM completions WHERE imported_gold IS NOT NULL").fetchone() == (0,)
    assert bundled.execute("SELECT count(*) FROM label_events").fetchone() == (0,)


def test_labels_of_a_bundle_fill_the_reserved_slots(home: Project, tmp_path: Path) -> None:
    written = bundle(home, tmp_path / "ann.db", annotator="ann", limit=5)
    assert written.written == 5
    assert slots(home, "task = 'correctness'") == {"away": 5, "open": 19}
    assert label_all(tmp_path / "ann.db", "ann") == 5
    report = merge(home, tmp_path / "ann.db")
    assert (report.refused, report.surplus, report.heads) == ([], [], [])
    assert report.events_new == 5 + written.types
    assert slots(home, "task = 'correctness'") == {"done": 5, "open": 19}
    assert merge(home, tmp_path / "ann.db").events_new == 0
    assert label_all(home.path, "ann") == 7
    assert label_all(home.path, "bob") == 12
    assert slots(home, "task = 'correctness'") == {"done": 24}


def test_items_of_an_open_bundle_are_not_served(home: Project, tmp_path: Path) -> None:
    bundle(home, tmp_path / "ann.db", annotator="ann", limit=5)
    with closing(AnnotationSession(home, "ann")) as session:
        away = {row[0] for row in _away(home)}
        item = session.next()
        assert item is not None
        assert item.completion not in away
        session.heartbeat()
        session.release(item.completion, *away)
    assert {row[0] for row in _away(home)} == away


def test_bundled_items_are_part_of_progress(home: Project, tmp_path: Path) -> None:
    def of_ann() -> tuple[int, int, int]:
        (person,) = [person for person in status(home).people if person.name == "ann"]
        return person.done, person.left, person.away

    done, left, away = of_ann()
    assert away == 0
    bundle(home, tmp_path / "ann.db", annotator="ann", limit=5)
    assert of_ann() == (done, left - 5, 5)
    with closing(AnnotationSession(home, "ann")) as session:
        assert session.progress() == Progress(0, left - 5, 5)
    (person,) = [person for person in status(home).people if person.name == "ann"]
    assert "5 in a bundle" in person_line(person, 80).plain
    assert len(person_line(person, 80).plain) <= 80
    label_all(tmp_path / "ann.db", "ann")
    merge(home, tmp_path / "ann.db")
    assert of_ann() == (done + 5, left - 5, 0)


def _away(project: Project) -> list[tuple[int]]:
    query = "SELECT subject FROM assignments WHERE task = 'correctness' AND state = 'away'"
    return project.database.reader().execute(query).fetchall()


def test_an_expired_bundle_frees_its_items_and_still_merges(home: Project, tmp_path: Path) -> None:
    bundle(home, tmp_path / "ann.db", annotator="ann", limit=5, days=1)
    label_all(tmp_path / "ann.db", "ann")
    with home.database.write() as connection:
        assignments.free_expired(connection, 1e12)
    add_annotators(home, ["eve"])
    assign(home, ["bob", "eve"], per_item=2)
    assert (label_all(home.path, "bob"), label_all(home.path, "eve")) == (12, 12)
    report = merge(home, tmp_path / "ann.db")
    assert len([row for row in report.surplus if row.task == "correctness"]) == 5
    assert {row.annotator for row in report.surplus} == {"ann"}
    assert ledger.states_differ(home) == 0


@pytest.mark.parametrize("filled", [False, True], ids=["slots-waited", "slots-filled"])
def test_at_home_the_newest_label_of_a_bundle_is_undone_first(home: Project, tmp_path: Path, filled: bool) -> None:
    bundle(home, tmp_path / "ann.db", annotator="ann")
    label_all(tmp_path / "ann.db", "ann")
    if filled:
        with home.database.write() as connection:
            assignments.free_expired(connection, 1e12)
        assign(home, ["eve"], per_item=2)
        assert label_all(home.path, "bob") == label_all(home.path, "eve") == 12
    merge(home, tmp_path / "ann.db")
    given = home.database.reader().execute(
        "SELECT e.subject, (SELECT t.uuid FROM label_events AS t WHERE t.task = 'type' AND t.created_at = e.created_at)"
        " FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id AND a.name = 'ann' "
        "WHERE e.task = 'correctness' ORDER BY e.created_at DESC"
    )
    session = AnnotationSession(home, "ann")
    for completion, typed in given.fetchall():
        item = session.undo()
        assert item is not None
        assert (item.completion, item.verdict, item.subtype is None) == (completion, None, typed is not None)
    assert session.undo() is None
    session.close()


def test_the_current_one_of_two_labels_is_shown(home: Project, tmp_path: Path) -> None:
    bundle(home, tmp_path / "ann.db", annotator="ann")
    label_all(tmp_path / "ann.db", "ann", "incorrect")
    with home.database.write() as connection:
        assignments.free_expired(connection, 1e12)
    assert label_all(home.path, "ann", "correct") == 12
    merge(home, tmp_path / "ann.db")
    session = AnnotationSession(home, "ann")
    assert [entry.verdict for entry in session.history()] == ["correct"] * 12
    session.close()


def test_a_check_is_hidden_in_a_bundle_and_a_check_at_home(tmp_path: Path) -> None:
    home = make_project(tmp_path, numbered(20, types="labelled"))
    (tmp_path / "workbench.toml").write_text("[annotation]\ncheck_rate = 0.5\ncheck_minimum = 2\n")
    add_checks(home, Selection((Condition("question_id", "=", "q0"),)))
    add_checks(home, Selection((Condition("question_id", "=", "q1"),)))
    assign(home, ["ann", "bob"], per_item=2)
    bundle(home, tmp_path / "ann.db", annotator="ann")
    checks = slots(home, "task = 'correctness' AND purpose = 'check'")
    assert checks["away"] >= 3
    bundled = open_project(tmp_path / "ann.db")
    assert slots(bundled, "purpose <> 'quota' OR position < 0") == {}
    columns = [row[1] for row in bundled.database.reader().execute("PRAGMA table_info(assignments)")]
    told = ", ".join(column for column in columns if column not in ("id", "task", "subject", "position"))
    # Nor does any column, in which a check's would differ from another item's.
    query = f"SELECT DISTINCT {told} FROM assignments"
    assert len(bundled.database.reader().execute(query).fetchall()) == 1
    bundled.close()
    label_all(tmp_path / "ann.db", "ann", "incorrect")
    merge(home, tmp_path / "ann.db")
    kinds = home.database.reader().execute(
        "SELECT kind, count(*) FROM label_events WHERE task = 'correctness' AND subject IN "
        "(SELECT completion_id FROM check_items) GROUP BY kind"
    )
    assert dict(kinds.fetchall()) == {"check": checks["away"]}
    assert slots(home, "purpose = 'check' AND task = 'correctness'") == {"done": checks["away"]}
    assert [person.paused for person in annotators(home)] == [True, False]
    again = merge(home, tmp_path / "ann.db")
    assert (again.events_new, again.refused) == (0, [])


def test_a_reopened_item_is_labelled_in_its_round(home: Project, tmp_path: Path) -> None:
    label_all(home.path, "ann")
    label_all(home.path, "bob", "incorrect")
    home = open_project(home.path)
    reopen(home, Selection((Condition("completion_id", "=", "c0"),)), reason=f"{MARK} is why", by=f"{MARK} who")
    bundle(home, tmp_path / "ann.db", annotator="ann")
    assert MARK.encode() not in (tmp_path / "ann.db").read_bytes()
    bundled = open_project(tmp_path / "ann.db")
    with closing(AnnotationSession(bundled, "ann")) as session:
        item = session.next()
        assert item is not None
        assert item.verdict is None
        session.submit(item, Answer(verdict="incorrect"))
    assert ledger.states_differ(bundled) == 0
    bundled.close()
    report = merge(home, tmp_path / "ann.db")
    assert (report.events_new, report.refused) == (1, [])
    with home.database.write() as connection:
        assert [e.round for e in events.events_of(connection, "correctness", 1) if e.kind == "label"] == [1, 1, 2]


def test_a_recalled_bundle_frees_its_items_and_still_merges(home: Project, tmp_path: Path) -> None:
    bundle(home, tmp_path / "ann.db", annotator="ann", limit=5)
    bundle(home, tmp_path / "bob.db", annotator="bob", limit=3)
    with closing(AnnotationSession(home, "ann")) as session:
        held = session.next()
        assert held is not None
        assert (free_bundled_items(home, "ann"), free_bundled_items(home, "ann")) == (5, 0)
        assert slots(home, f"task = 'correctness' AND subject = {held.completion}") == {"leased": 1, "open": 1}
    assert len(_away(home)) == 3
    label_all(tmp_path / "ann.db", "ann")
    assign(home, ["eve"], per_item=2)
    assert label_all(home.path, "eve") > 5
    report = merge(home, tmp_path / "ann.db")
    assert (report.refused, report.kinds["label"] > 0) == ([], True)
    assert ledger.states_differ(home) == 0
    with pytest.raises(UsageError):
        free_bundled_items(home, "nobody")


def test_a_bundle_has_only_own_earlier_answers(home: Project, tmp_path: Path) -> None:
    with closing(AnnotationSession(home, "ann")) as session:
        item = session.next()
        assert item is not None
        session.submit(item, Answer(subtype="B1"))
        session.flag(item, True)
        session.release(item.completion)
    with closing(AnnotationSession(home, "bob")) as session:
        other = session.next()
        assert other is not None
        session.submit(other, Answer(verdict="correct", subtype="C1"))
    bundle(home, tmp_path / "ann.db", annotator="ann")
    with closing(open_project(tmp_path / "ann.db")) as bundled:
        text = "SELECT kind, subtype, name FROM label_events JOIN annotators"
        rows = bundled.database.reader().execute(text).fetchall()
    assert sorted(rows) == [("flag", None, "ann"), ("label", "B1", "ann")]
    report = merge(home, tmp_path / "ann.db")
    assert (report.events_new, report.unchanged, report.refused) == (0, 2, [])


def test_a_bundle_has_the_current_guidelines(home: Project, tmp_path: Path) -> None:
    text = add_version(home, "Be kind.")
    bundle(home, tmp_path / "ann.db", annotator="ann")
    with closing(open_project(tmp_path / "ann.db")) as bundled:
        assert current(bundled).version == text.version
    assert merge(home, tmp_path / "ann.db").guidelines == []


def test_a_bundle_has_only_the_selected_items(home: Project, tmp_path: Path) -> None:
    chosen = Selection((Condition("question_id", "=", "q3"),))
    assert bundle(home, tmp_path / "ann.db", annotator="ann", selection=chosen).written == 2
    assert [row[0] for row in _away(home)] == [7, 8]


def test_an_empty_bundle_is_not_written(home: Project, tmp_path: Path) -> None:
    add_annotators(home, ["eve"])
    (tmp_path / "there.db").touch()
    with pytest.raises(AnnotationError, match="There are no items to bundle for eve"):
        bundle(home, tmp_path / "eve.db", annotator="eve")
    with pytest.raises(StoreError, match="exists"):
        bundle(home, tmp_path / "there.db", annotator="ann")
    with pytest.raises(StoreError, match="belongs to the database"):
        bundle(home, home.path, annotator="ann", force=True)
    with pytest.raises(UsageError, match="no annotator"):
        bundle(home, tmp_path / "new.db", annotator="nobody")
    assert sorted(file.name for file in tmp_path.glob("*.db*") if not file.name.startswith("p.db")) == ["there.db"]
    assert "away" not in slots(home)
