"""Merging databases is a union of their events in any order; rejected events are listed and harmless."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import make_project, merge, numbered
from tests.unit.labelling.canonical import canonical
from workbench.core.database import events, people
from workbench.core.errors import StoreError
from workbench.core.label import LabelEvent, Task
from workbench.core.project import Project, open_project
from workbench.labelling import ledger
from workbench.labelling.guidelines import add_version, current
from workbench.labelling.merging import Merged, merge_reports
from workbench.labelling.people import assign

PEOPLE = ("ann", "bob", "eve")


def uuid(number: int) -> str:
    return str(UUID(int=number))


def label_event(number: int, person: str, **fields: Any) -> tuple[str, LabelEvent]:
    """Return an event on completion 1 (c0), one second later than the event with the previous number."""
    event = LabelEvent(
        **{
            "uuid": uuid(number),
            "kind": "label",
            "task": "correctness",
            "subject": 1,
            "annotator": 0,
            "created_at": f"2025-01-01T00:00:{number:02}Z",
            "verdict": "correct" if fields.get("task") != "type" else None,
            **fields,
        }
    )
    return person, event


def copy(project: Project, folder: Path) -> Project:
    folder.mkdir(parents=True, exist_ok=True)
    project.close()
    return open_project(shutil.copyfile(project.path, folder / "p.db"))


def add(project: Project, *given: tuple[str, LabelEvent]) -> Project:
    """Put events into a project as they are, and derive its states."""
    with project.database.write() as connection:
        for name, event in given:
            person = people.add(connection, name)
            events.append(connection, LabelEvent(**{**_fields(event), "annotator": person, "merged": True}))
    ledger.recompute(project)
    return project


def _fields(event: LabelEvent) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__struct_fields__}


def change(project: Project, *statements: str, values: tuple[object, ...] = ()) -> None:
    """Do to a database what this program never does; the last statement takes the values."""
    project.close()
    with closing(sqlite3.connect(project.path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        named = "SELECT sql FROM sqlite_master WHERE name = 'label_events_no_update'"
        (trigger,) = connection.execute(named).fetchone()
        connection.execute("DROP TRIGGER label_events_no_update")
        for statement in statements:
            connection.execute(statement, values if statement == statements[-1] else ())
        if connection.execute("SELECT type FROM sqlite_master WHERE name = 'label_events'").fetchone() == ("table",):
            connection.execute(trigger)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def taken(report: Merged) -> tuple[int, int, list[str]]:
    return report.events_new, report.unchanged, [f"{row.what} {row.field}" for row in report.refused]


@pytest.fixture
def home(tmp_path: Path) -> Project:
    return make_project(tmp_path, numbered(6))


@pytest.fixture
def other(home: Project, tmp_path: Path) -> Project:
    return copy(home, tmp_path / "other")


def merged(home: Project, other: Project) -> Merged:
    other.close()
    before = other.path.read_bytes()
    report = merge(home, other.path, whole=True)
    assert other.path.read_bytes() == before
    assert ledger.states_differ(home) == 0
    return report


def test_labels_of_two_databases_resolve_an_item(home: Project, other: Project) -> None:
    add(home, label_event(1, "ann"))
    add(other, label_event(2, "bob"))
    report = merged(home, other)
    assert taken(report) == (1, 0, [])
    assert report.people == {"bob": 1}
    assert b'"final","correct",null,null,"agreed"' in canonical(home)
    assert taken(merged(home, other)) == (0, 1, [])


@st.composite
def history(draw: st.DrawFn) -> list[tuple[str, LabelEvent]]:
    """Events as people at work make them: each supersedes only the same person's earlier ones on the same subject."""
    made: list[tuple[str, LabelEvent]] = []
    for number in range(1, draw(st.integers(2, 12)) + 1):
        person = draw(st.sampled_from(PEOPLE))
        task: Task = draw(st.sampled_from(("correctness", "type")))
        subject = draw(st.integers(1, 2))
        kind = draw(st.sampled_from(("label", "label", "label", "adjudication", "flag", "reopen", "retraction")))
        same = [event for _, event in made if (event.task, event.subject) == (task, subject)]
        own = [event.uuid for name, event in made if name == person and event in same]
        begun = max([1, *(event.round for event in same if event.kind == "reopen")])
        fields: dict[str, Any] = {
            "kind": kind,
            "task": task,
            "subject": subject,
            "verdict": None,
            "created_at": f"2025-01-01T00:00:{draw(st.integers(0, 20)):02}Z",
            "supersedes": draw(st.sampled_from([None, *own])),
            "round": begun + 1 if kind == "reopen" else draw(st.integers(1, begun)),
        }
        if kind in ("label", "adjudication") and task == "correctness":
            fields["verdict"] = draw(st.sampled_from(("correct", "incorrect", "unsuitable")))
            fields["exclusion_reason"] = "proof" if fields["verdict"] == "unsuitable" else None
        elif kind in ("label", "adjudication"):
            fields["subtype"] = draw(st.sampled_from(("A1", "B2")))
        if kind == "adjudication":
            fields["seen"] = tuple(event.uuid for event in same if event.kind == "label")
        made.append(label_event(number, person, **fields))
    return made


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("empty"), numbered(6))
    project.close()
    return project


@settings(max_examples=5)
@given(made=history(), split=st.lists(st.sets(st.integers(0, 2), min_size=1), min_size=12, max_size=12))
def test_any_order_and_grouping_gives_the_same(
    empty: Project,
    tmp_path_factory: pytest.TempPathFactory,
    made: list[tuple[str, LabelEvent]],
    split: list[set[int]],
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    # A reopening is where its rounds are.
    reopened = [row for row in made if row[1].kind == "reopen"]
    parts = [
        add(
            copy(empty, folder / f"part{number}"),
            *[row for row, where in zip(made, split, strict=False) if number in where or row in reopened],
        )
        for number in range(3)
    ]
    whole = canonical(add(copy(empty, folder / "whole"), *made))
    for number, order in enumerate(permutations(range(3))):
        target = copy(empty, folder / f"target{number}")
        first, second, third = (parts[place] for place in order)
        if number % 2:
            merged(target, first)
            merged(target, second)
        else:
            both = copy(first, folder / f"both{number}")
            merged(both, second)
            merged(target, both)
        merged(target, third)
        assert canonical(target) == whole
        assert merged(target, third).events_new == 0
        assert canonical(target) == whole


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("kind", "verdict"),
        ("task", "type"),
        ("verdict", "maybe"),
        ("verdict", None),
        ("exclusion_reason", "proof"),
        ("subtype", "A1"),
        ("round", 10**9),
        ("round", -1),
        ("unsure", 7),
        ("tags", '["hacked"]'),
        ("tags", "[[[["),
        ("partial", 1.5),
        ("note", "x" * 200_000),
        ("note", "a\0b"),
        ("seen", "not JSON"),
        ("seen", "[1]"),
        ("schema", 0),
        ("content_hash", b"short"),
        ("content_hash", b"0123456789abcdef"),
        ("open_ms", -5),
        ("created_at", "yesterday"),
        ("created_at", "2025-01-01T00:00:00+02:00"),
        ("created_at", "20250101T000000Z"),
        ("supersedes", uuid(1)),
        ("subject", 999),
        ("annotator_id", 999),
        ("uuid", ""),
    ],
    ids=lambda value: value[:12].replace("\0", "NUL") if isinstance(value, str) else str(value),
)
def test_a_malformed_event_is_rejected_and_the_rest_merged(
    home: Project, other: Project, column: str, value: object
) -> None:
    add(other, label_event(1, "bob"), label_event(2, "ann"), label_event(3, "eve"))
    change(other, f"UPDATE label_events SET {column} = ? WHERE uuid = ?", values=(value, uuid(2)))
    report = merged(home, other)
    assert (report.events_new, len(report.refused)) == (2, 1)
    assert report.refused[0].what == (uuid(2) if column != "uuid" else "row 2")
    assert report.refused[0].message
    assert report.people == {"bob": 1, "eve": 1}


@pytest.mark.few(2)
@pytest.mark.parametrize("form", [str.upper, "{{{}}}".format, lambda text: text.replace("-", ""), "urn:uuid:{}".format])
def test_another_form_of_a_uuid_is_the_same_event(home: Project, other: Project, form: Callable[[str], str]) -> None:
    name = "0d5b9c1e-abcd-4000-8000-00000000000a"
    add(
        other,
        label_event(1, "ann", uuid=name),
        label_event(2, "ann", supersedes=name, verdict="incorrect"),
        label_event(3, "bob"),
    )
    copied = copy(other, other.path.parent / "copied")
    assert merged(home, open_project(other.path)).events_new == 3
    before = canonical(home)
    change(copied, "UPDATE label_events SET uuid = ? WHERE uuid LIKE '0d%'", values=(form(name),))
    change(copied, "UPDATE label_events SET supersedes = ? WHERE supersedes LIKE '0d%'", values=(form(name),))
    report = merged(home, copied)
    assert (report.events_new, report.unchanged, report.refused) == (0, 3, [])
    assert canonical(home) == before


@pytest.mark.few(3)
@pytest.mark.parametrize("strange", ["０d5b9c1eabcd40008000000000000000a", "_d5b9c1eabcd4000800000000000000a", "mine"])
@pytest.mark.parametrize("column", ["uuid", "supersedes", "seen"])
def test_an_invalid_uuid_is_rejected(home: Project, other: Project, column: str, strange: str) -> None:
    add(other, label_event(1, "bob"), label_event(2, "ann"))
    value = json.dumps([strange]) if column == "seen" else strange
    ann = "(SELECT id FROM annotators WHERE name = 'ann')"
    change(other, f"UPDATE label_events SET {column} = ? WHERE annotator_id = {ann}", values=(value,))
    report = merged(home, other)
    assert (report.events_new, [row.field for row in report.refused]) == (1, [column])


def test_events_on_unknown_items_or_texts_are_rejected(home: Project, tmp_path: Path) -> None:
    rows = numbered(6)
    rows[1]["completion"] = "something else"
    rows[2]["completion_id"] = "unknown"
    rows[4]["question"] = "another question"
    (tmp_path / "apart").mkdir()
    other = make_project(tmp_path / "apart", rows)
    labels = [label_event(number, "bob", subject=number) for number in range(1, 7)]
    typed = [label_event(number + 10, "bob", task="type", subject=number, subtype="A1") for number in (1, 3)]
    add(other, *labels, *typed)
    report = merged(home, other)
    assert taken(report) == (3, 0, [f"{uuid(number)} subject" for number in (2, 3, 5, 6, 13)])
    assert "its item has a different text here" in report.refused[0].message
    assert "not in this database" in report.refused[1].message


def test_a_uuid_with_two_contents_keeps_the_local_one(home: Project, other: Project) -> None:
    add(home, label_event(1, "ann"), label_event(2, "ann", subject=2), label_event(3, "ann", subject=3))
    add(
        other,
        label_event(1, "ann", verdict="incorrect"),
        label_event(2, "bob", subject=2),
        label_event(3, "ann", subject=4),
    )
    before = canonical(home)
    report = merged(home, other)
    assert taken(report) == (0, 0, [f"{uuid(number)} uuid" for number in (1, 2, 3)])
    assert canonical(home) == before


def test_an_event_merged_before_is_recognised(home: Project, other: Project, tmp_path: Path) -> None:
    with home.database.write() as connection:
        person = people.add(connection, "ann")
        _, event = label_event(1, "ann")
        ledger.record(connection, LabelEvent(**{**_fields(event), "annotator": person}))
    add(other, label_event(1, "ann"))
    assert taken(merged(home, other)) == (0, 1, [])


def test_heads_surplus_and_reopened_items_are_listed(home: Project, other: Project) -> None:
    assign(home, ["ann", "bob"], per_item=2)
    add(
        home,
        label_event(1, "ann"),
        label_event(2, "bob"),
        label_event(3, "ann", subject=2),
        label_event(4, "bob", subject=2, verdict="incorrect"),
    )
    add(home, label_event(5, "eve", kind="adjudication", subject=2, seen=(uuid(3), uuid(4))))
    assign(home, ["ann", "bob"], per_item=2)
    add(other, label_event(7, "ann", verdict="incorrect"), label_event(8, "zoe", subject=2))
    report = merged(home, other)
    assert taken(report) == (2, 0, [])
    assert [(row.completion_id, row.annotator, row.uuids) for row in report.heads] == [
        ("c0", "ann", (uuid(1), uuid(7)))
    ]
    assert [(row.completion_id, row.annotator, row.uuid) for row in report.surplus] == [("c1", "zoe", uuid(8))]
    assert [row.completion_id for row in report.reopened] == ["c0", "c1"]


def test_a_label_retracted_elsewhere_reopens_its_slot(home: Project, other: Project) -> None:
    assign(home, ["ann", "bob"], per_item=2)
    add(home, label_event(1, "ann"))
    assign(home, ["ann", "bob"], per_item=2)
    add(other, label_event(1, "ann"), label_event(2, "ann", kind="retraction", verdict=None, supersedes=uuid(1)))
    assert _states(home) == ["done", "open"]
    merged(home, other)
    assert _states(home) == ["open", "open"]
    add(other, label_event(3, "ann"))
    merged(home, other)
    assert _states(home) == ["done", "open"]


def _states(project: Project) -> list[str]:
    query = "SELECT state FROM assignments WHERE task = 'correctness' AND subject = 1 ORDER BY state"
    return [row[0] for row in project.database.reader().execute(query)]


def test_a_ruling_by_an_annotator_of_the_item_is_stored_but_void(home: Project, other: Project) -> None:
    add(home, label_event(1, "ann"), label_event(2, "bob", verdict="incorrect"))
    add(other, label_event(3, "ann", kind="adjudication", seen=(uuid(1), uuid(2))))
    assert taken(merged(home, other)) == (1, 0, [])
    assert b'"conflict"' in canonical(home)


def test_annotators_keep_their_local_role(home: Project, other: Project) -> None:
    add(home, label_event(1, "ann"))
    add(other, label_event(2, "ann", subject=2), label_event(3, "zoe"))
    change(other, "UPDATE annotators SET role = 'coordinator'")
    merged(home, other)
    assert {person.name: person.role for person in people.all_people(home.database)} == {
        "ann": "annotator",
        "zoe": "coordinator",
    }


@pytest.mark.parametrize("name", ["", "two\nlines", "x" * 101], ids=["empty", "lines", "long"])
def test_an_annotator_without_a_name_is_rejected(home: Project, other: Project, name: str) -> None:
    add(other, label_event(1, "ann"))
    change(other, "UPDATE annotators SET name = ?", values=(name,))
    assert taken(merged(home, other)) == (0, 0, [f"{uuid(1)} annotator"])
    assert people.all_people(home.database) == []


def test_guidelines_travel_and_one_version_has_one_text(home: Project, other: Project) -> None:
    add_version(other, "Ours and theirs.", by="zoe")
    report = merged(home, other)
    assert report.guidelines == [current(other).version]
    assert merge_reports([report, Merged(file="x.db")]).guidelines == report.guidelines
    assert current(home).text == "Ours and theirs.\n"
    assert merged(home, other).guidelines == []
    change(other, "UPDATE guidelines SET text = 'Something else.'")
    report = merged(home, other)
    assert [(row.what, row.field) for row in report.refused] == [(f"guideline {current(home).version}", "text")]
    assert current(home).text == "Ours and theirs.\n"


def test_a_round_started_in_both_databases_is_one_round(home: Project, other: Project) -> None:
    assign(home, ["ann", "bob"], per_item=1)
    add(home, label_event(1, "ann"), label_event(2, "ann", kind="reopen", round=2, verdict=None))
    add(
        other,
        label_event(1, "ann"),
        label_event(3, "bob", kind="reopen", round=2, verdict=None),
        label_event(4, "bob", round=2),
    )
    assert taken(merged(home, other)) == (2, 1, [])
    assert b'"final","correct",null,null,"agreed",2' in canonical(home)


HOSTILE = {
    "a view for a table": ("ALTER TABLE label_events RENAME TO real", "CREATE VIEW label_events AS SELECT * FROM real"),
    "a virtual table": ("ALTER TABLE datasets RENAME TO real", "CREATE VIRTUAL TABLE datasets USING fts5(id, name)"),
    "a generated column": (
        "PRAGMA foreign_keys = OFF",
        "ALTER TABLE annotators DROP COLUMN role",
        "ALTER TABLE annotators ADD COLUMN role TEXT AS (upper(name)) VIRTUAL",
    ),
    "a column less": ("PRAGMA legacy_alter_table = ON", "ALTER TABLE questions RENAME COLUMN key TO lock"),
    "a table less": ("DROP TABLE question_text",),
    "a newer version": ("PRAGMA user_version = 99",),
    "another application": ("PRAGMA application_id = 7",),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_foreign_schema_is_rejected(home: Project, other: Project, kind: str) -> None:
    add(other, label_event(1, "bob"))
    change(other, *HOSTILE[kind])
    with pytest.raises(StoreError):
        merged(home, other)
    assert canonical(home) == b""


def test_foreign_triggers_and_views_are_never_run(home: Project, other: Project) -> None:
    add(other, label_event(1, "bob"))
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    change(other, f"CREATE VIEW extra AS {endless}")
    assert taken(merged(home, other)) == (1, 0, [])
    change(other, "CREATE TRIGGER extra_trigger BEFORE INSERT ON annotators BEGIN SELECT count(*) FROM extra; END")
    with pytest.raises(StoreError, match="trigger extra_trigger is not workbench's"):
        merged(home, other)


@pytest.mark.parametrize("damage", ["text", "empty", "header", "schema", "page"])
def test_damaged_files_and_other_formats_are_rejected(
    home: Project, other: Project, tmp_path: Path, damage: str
) -> None:
    add(other, *[label_event(number, "bob", note="x" * 3000) for number in range(1, 40)])
    other.close()
    raw = bytearray(other.path.read_bytes())
    if damage == "header":
        raw[100:4096] = b"\xff" * 3996
    elif damage == "schema":
        raw = raw.replace(b"CREATE VIEW", b"CREATE VI\xff\xff")
    elif damage == "page":
        raw[4096 * 8 :] = b"\xff" * (len(raw) - 4096 * 8)
    path = tmp_path / "damaged.db"
    path.write_bytes({"text": b"no database", "empty": b""}.get(damage, bytes(raw)))
    with pytest.raises(StoreError):
        merge(home, path, whole=True)
    assert canonical(home) == b""


def test_missing_files_and_the_database_itself_are_rejected(home: Project, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.db"):
        with pytest.raises(StoreError):
            merge(home, path, whole=True)
    with pytest.raises(StoreError, match="belongs to the database itself"):
        merge(home, home.path)


def test_a_database_that_was_not_closed_is_read_with_its_log(home: Project, other: Project, tmp_path: Path) -> None:
    add(other, label_event(1, "bob"))
    copied = tmp_path / "copied"
    copied.mkdir()
    for file in other.path.parent.glob("p.db*"):
        shutil.copyfile(file, copied / file.name)
    (copied / "p.db-shm").unlink()
    before = {file: file.read_bytes() for file in copied.iterdir()}
    assert taken(merge(home, copied / "p.db", whole=True)) == (1, 0, [])
    # SQLite rebuilds the index of the WAL.
    assert {file: file.read_bytes() for file in before} == before


def test_ids_that_are_no_text_match_no_item(home: Project, other: Project) -> None:
    add(other, label_event(1, "bob"), label_event(2, "bob", subject=2), label_event(3, "ann", subject=3))
    change(
        other,
        "UPDATE completions SET key = CAST(x'ff80' AS TEXT) WHERE id = 1",
        "UPDATE label_events SET note = CAST(x'ff80' AS TEXT) WHERE subject = 2",
    )
    assert taken(merged(home, other)) == (1, 0, [f"{uuid(2)} note", f"{uuid(1)} subject"][::-1])


@pytest.mark.soak
def test_a_killed_and_repeated_merge_equals_an_uninterrupted_one(home: Project, other: Project, tmp_path: Path) -> None:
    kill_merges(home, other, tmp_path, items=6, labels=2_500, kills=3)


def kill_merges(home: Project, other: Project, folder: Path, *, items: int, labels: int, kills: int) -> None:
    """Kill merges after their first transactions, again and again, until one has come to its end."""
    made = [
        label_event(
            number, PEOPLE[number % 3], subject=number % items + 1, created_at=f"2025-01-01T00:00:00.{number:06}Z"
        )
        for number in range(labels)
    ]
    add(other, *made)
    other.close()
    whole = copy(home, folder / "whole")
    merge(whole, other.path, whole=True)
    home.close()
    for _ in range(kills):
        before = _events(home)
        with subprocess.Popen(
            [sys.executable, "-m", "workbench", "merge", home.path, other.path, "--whole"]
        ) as process:
            while process.poll() is None and _events(home) == before:
                time.sleep(0.001)
            process.kill()
        assert _events(home) > before
    merge(home, other.path, whole=True)
    assert canonical(home) == canonical(whole)
    assert ledger.states_differ(home) == 0


def _events(project: Project) -> int:
    row: tuple[int] = project.database.reader().execute("SELECT count(*) FROM label_events").fetchone()
    return row[0]
