"""Label files: idempotent imports, rejection by line and field, adjudications last, round trips."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, numbered
from workbench.core.errors import FormatError
from workbench.core.project import Project
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.coordinating import exclude, reopen
from workbench.labelling.label_export import export_labels
from workbench.labelling.labels import import_labels
from workbench.labelling.people import assign
from workbench.measuring.briefing import status

FIRST = "01890000-0000-7000-8000-000000000001"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, numbered(6, subtype="A1", type="A"))


def write(tmp_path: Path, *lines: dict[str, Any] | str) -> Path:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def label(completion: str, annotator: str, verdict: str = "correct", **more: Any) -> dict[str, Any]:
    return {"completion_id": completion, "annotator": annotator, "verdict": verdict, **more}


def dump(project: Project) -> list[str]:
    return list(project.database.reader().iterdump())


def test_agreement_conflict_adjudication_and_exclusion(project: Project, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        label("c1", "dora", "incorrect", role="adjudicator"),
        label("c0", "ann"),
        label("c0", "bob"),
        label("c1", "ann"),
        label("c1", "bob", "incorrect"),
        label("c2", "ann"),
        label("c2", "bob", "incorrect"),
        label("c3", "ann", "unsuitable", reason="proof"),
        label("c3", "bob", "unsuitable", reason="proof"),
        label("c4", "ann"),
    )
    report = import_labels(project, path)
    assert (report.imported, report.unchanged, report.refused) == (10, 0, 0)
    assert status(project).states == {"unlabelled": 1, "labelled": 1, "conflict": 1, "final": 2, "excluded": 1}
    gold = dict(project.database.reader().execute("SELECT completion_id, gold_from FROM gold").fetchall())
    assert gold == {1: "agreed", 2: "adjudicated", 3: None, 4: None, 5: "imported", 6: "imported"}


def test_importing_twice_changes_no_byte(project: Project, tmp_path: Path) -> None:
    path = write(tmp_path, label("c0", "ann", answer_subtype="A1"), label("c0", "bob", note="[b]x[/b]"))
    import_labels(project, path)
    before = dump(project)
    report = import_labels(project, path)
    assert (report.imported, report.unchanged) == (0, 2)
    assert dump(project) == before


def test_export_and_import_elsewhere_gives_the_same_states(project: Project, tmp_path: Path) -> None:
    lines = [label("c0", "ann", answer_subtype="A2"), label("c0", "bob", answer_subtype="A2")]
    lines += [label("c1", "ann"), label("c1", "bob", "incorrect"), label("c1", "cy", role="adjudicator")]
    import_labels(project, write(tmp_path, *lines))
    out = tmp_path / "out.jsonl"
    assert export_labels(project, out) == 5
    (tmp_path / "other").mkdir()
    other = make_project(tmp_path / "other", numbered(6, subtype="A1", type="A"))
    assert import_labels(other, out).imported == 5
    query = "SELECT * FROM item_states ORDER BY completion_id"
    assert other.database.reader().execute(query).fetchall() == project.database.reader().execute(query).fetchall()
    again = tmp_path / "again.jsonl"
    export_labels(other, again)
    assert again.read_bytes() == out.read_bytes()
    assert import_labels(project, again).unchanged == 5


@pytest.mark.parametrize("history", [False, True])
def test_csv_with_round_unsure_and_tags_round_trips(tmp_path: Path, history: bool) -> None:
    project = make_project(tmp_path, numbered(6, types="labelled"))
    more: dict[str, Any] = {"unsure": True, "tags": ["guessed", "degenerate"], "partial": 0.5, "note": 'one, "two"\n=3'}
    lines = [label("c0", "ann", answer_subtype="A2", **more), label("c0", "bob", answer_subtype="A2")]
    lines += [label("c1", "ann"), label("c1", "bob", "incorrect"), label("c1", "cy", role="adjudicator")]
    import_labels(project, write(tmp_path, *lines, label("c3", "ann", "unsuitable", reason="proof")))
    reopen(project, [2], reason="another reference", by="dora")
    import_labels(project, write(tmp_path, label("c1", "ann", "incorrect", uuid=FIRST, focused_ms=900)))
    exclude(project, [3], reason="proof", by="dora")
    out, whole = tmp_path / "out.csv", tmp_path / "whole.jsonl"
    written = export_labels(project, out, history=history)
    with out.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert len(found) == written == (11 if history else 6)
    first = next(row for row in found if row["completion_id"] == "c0" and row["annotator"] == "ann")
    assert (first["round"], first["unsure"], first["tags"], first["partial"], first["note"]) == (
        *("1", "true", "guessed degenerate", "0.5"),
        more["note"],
    )
    assert [row["round"] for row in found if row["annotator"] == "ann" and row["completion_id"] == "c1"][-1] == "2"
    (tmp_path / "other").mkdir()
    other = make_project(tmp_path / "other", numbered(6, types="labelled"))
    report = import_labels(other, out)
    assert (report.imported, report.refused) == (written, 0), report.refusals
    assert status(other).states == status(project).states
    export_labels(project, whole, history=history)
    again = tmp_path / "again.jsonl"
    export_labels(other, again, history=history)
    assert again.read_bytes() == whole.read_bytes()


def test_other_tables_are_rejected_as_labels(project: Project, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="not written as xlsx"):
        export_labels(project, tmp_path / "out.xlsx")


def test_history_has_every_event_and_round_trips(project: Project, tmp_path: Path) -> None:
    import_labels(project, write(tmp_path, label("c0", "ann"), label("c0", "ann", "incorrect", revision=2)))
    out = tmp_path / "history.jsonl"
    assert export_labels(project, out, history=True) == 2
    (tmp_path / "other").mkdir()
    other = make_project(tmp_path / "other", numbered(6, subtype="A1", type="A"))
    assert import_labels(other, out).imported == 2
    events = "SELECT uuid, kind, verdict, supersedes FROM label_events ORDER BY id"
    assert other.database.reader().execute(events).fetchall() == project.database.reader().execute(events).fetchall()


def test_history_round_trips_byte_for_byte(project: Project, tmp_path: Path) -> None:
    lines = [
        label("c0", "ann", uuid=FIRST, unblinded=True, unsure=True, note="n", answer_subtype="A2"),
        label("c0", "bob", "incorrect"),
        label("c0", "cy", role="adjudicator"),
        {"completion_id": "c1", "annotator": "ann", "kind": "flag", "flagged": True},
        {"completion_id": "c0", "annotator": "ann", "kind": "retraction", "supersedes": FIRST, "revision": 2},
    ]
    assert import_labels(project, write(tmp_path, *lines)).refusals == []
    out = tmp_path / "history.jsonl"
    export_labels(project, out, history=True)
    (tmp_path / "other").mkdir()
    other = make_project(tmp_path / "other", numbered(6, subtype="A1", type="A"))
    assert import_labels(other, out).refused == 0
    events = (
        "SELECT uuid, kind, task, subject, annotator_id, verdict, subtype, unsure, flagged, note, supersedes, seen, "
        "unblinded, created_at FROM label_events ORDER BY id"
    )
    before = project.database.reader().execute(events).fetchall()
    assert other.database.reader().execute(events).fetchall() == before
    assert {row[8] for row in before} == {row[12] for row in before} == {0, 1}


def test_unblinded_marks_in_files_are_stored(project: Project, tmp_path: Path) -> None:
    import_labels(project, write(tmp_path, label("c0", "ann", unblinded=True)))
    export_labels(project, tmp_path / "out.jsonl")
    assert json.loads((tmp_path / "out.jsonl").read_text())["unblinded"] is True


def test_times_are_stored_in_utc(project: Project, tmp_path: Path) -> None:
    times = ("2025-01-01T00:00:00+05:30", "2025-01-01T00:00:00", "2025-01-01T00:00:00Z", "20250101T000000Z")
    lines = [label(f"c{number}", "ann", created_at=time) for number, time in enumerate(times)]
    import_labels(project, write(tmp_path, *lines))
    kept = project.database.reader().execute("SELECT created_at FROM label_events ORDER BY subject").fetchall()
    assert [time for (time,) in kept] == [
        "2024-12-31T18:30:00.000000Z",
        "2025-01-01T00:00:00.000000Z",
        "2025-01-01T00:00:00Z",
        "2025-01-01T00:00:00.000000Z",
    ]


def test_labels_of_others_cannot_be_replaced(project: Project, tmp_path: Path) -> None:
    lines = [label("c0", "ann", uuid=FIRST), label("c0", "eve", "incorrect", supersedes=FIRST)]
    report = import_labels(project, write(tmp_path, *lines))
    assert [(refusal["line"], refusal["field"]) for refusal in report.refusals] == [(2, "supersedes")]


def test_a_byte_order_mark_and_compression_are_accepted(project: Project, tmp_path: Path) -> None:
    line = json.dumps(label("c0", "ann")).encode() + b"\r\n"
    path = tmp_path / "labels.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + line)
    assert import_labels(project, path).imported == 1
    path.write_bytes(gzip.compress(line))
    assert import_labels(project, path).unchanged == 1


def test_a_later_revision_replaces_the_label(project: Project, tmp_path: Path) -> None:
    import_labels(project, write(tmp_path, label("c0", "ann"), label("c0", "bob", "incorrect")))
    assert status(project).states["conflict"] == 1
    import_labels(project, write(tmp_path, label("c0", "bob", "correct", revision=2)))
    assert status(project).states["final"] == 1


def test_a_late_label_reopens_an_adjudicated_item(project: Project, tmp_path: Path) -> None:
    lines = [label("c0", "ann"), label("c0", "bob", "incorrect"), label("c0", "cy", role="adjudicator")]
    import_labels(project, write(tmp_path, *lines))
    assert status(project).states["final"] == 1
    import_labels(project, write(tmp_path, label("c0", "dan", "incorrect")))
    assert status(project).states["conflict"] == 1


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{not json", None),
        ("[1, 2]", None),
        ({"completion_id": "c0", "verdict": "correct"}, "annotator"),
        (label("c0", "ann", "rightly"), "verdict"),
        (label("c0", "ann", "unsuitable"), "reason"),
        (label("c0", "ann", "correct", reason="proof"), "reason"),
        (label("c0", "ann", answer_subtype="Q"), "answer_subtype"),
        (label("c0", "ann", uuid="no"), "uuid"),
        (label("nowhere", "ann"), "completion_id"),
        (label("c0", "ann", revision=0), "revision"),
        (label("c0", "\x1b[31m"), "annotator"),
        ({"completion_id": "c0", "annotator": "ann"}, "verdict"),
        ({"completion_id": "c0", "annotator": "ann", "kind": "label"}, "verdict"),
        (label("c0", "ann", task="type"), "answer_subtype"),
        (label("c0", "ann", created_at="yesterday"), "created_at"),
        (label("c0", "ann", created_at=""), "created_at"),
        (label("c0", "ann", note="a\0b"), "note"),
        (label("c0", "ann", note="x" * 100_001), "note"),
        (label("c0", "ann", kind="label", uuid=FIRST, guideline="v" * 101), "guideline"),
        (label("c0", "ann", kind="label", uuid=FIRST, supersedes=FIRST), "supersedes"),
        (label("c0", "ann", kind="label", uuid=FIRST, seen=[""]), "seen"),
        (label("c0", "ann", kind="label", uuid=FIRST, content_hash="00"), "content_hash"),
        (label("c0", "ann", kind="label", uuid=FIRST, answer_subtype="A1"), "subtype"),
        (label("c0", "ann", kind="label", uuid=FIRST, task="type", answer_subtype="A1"), "verdict"),
    ],
    ids=range(24),
)
def test_bad_lines_are_rejected_with_their_field(
    project: Project, tmp_path: Path, line: dict[str, Any] | str, field: str | None
) -> None:
    report = import_labels(project, write(tmp_path, label("c2", "ann"), line, label("c3", "ann")))
    assert (report.imported, report.refused) == (2, 1)
    assert report.refusals[0]["line"] == 2
    assert report.refusals[0]["field"] == field


def test_same_uuid_with_other_content_is_rejected(project: Project, tmp_path: Path) -> None:
    import_labels(project, write(tmp_path, label("c0", "ann")))
    report = import_labels(project, write(tmp_path, label("c0", "ann", "incorrect")))
    assert (report.imported, report.refused, report.refusals[0]["field"]) == (0, 1, "uuid")


def test_the_adjudicator_is_not_one_of_the_annotators(project: Project, tmp_path: Path) -> None:
    lines = [label("c0", "ann"), label("c0", "bob", "incorrect"), label("c0", "bob", role="adjudicator")]
    report = import_labels(project, write(tmp_path, *lines))
    assert report.refused == 1
    assert "adjudicator" in str(report.refusals[0]["message"])
    assert status(project).states["conflict"] == 1


def test_contradicting_types_of_one_annotator_are_rejected(project: Project, tmp_path: Path) -> None:
    lines = [label("c0", "ann", answer_subtype="A1"), label("c1", "ann", answer_subtype="B1")]
    report = import_labels(project, write(tmp_path, *lines))
    assert report.refused == 1
    assert report.refusals[0]["field"] == "answer_subtype"
    kept = project.database.reader().execute("SELECT count(*) FROM label_events").fetchone()
    assert kept == (2,)


def test_an_ambiguous_id_is_rejected_until_a_dataset_is_named(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2, dataset="one") + numbered(2, dataset="two"))
    report = import_labels(project, write(tmp_path, label("c0", "ann"), label("c0", "ann", dataset="two")))
    assert (report.imported, report.refused) == (1, 1)
    assert "ambiguous" in str(report.refusals[0]["message"])


def test_labels_from_a_file_fill_slots_opened_before_or_after(project: Project, tmp_path: Path) -> None:
    import_labels(project, write(tmp_path, label("c0", "ann"), label("c0", "bob")))
    assert assign(project, ["ann", "bob", "cy"], per_item=2, final_too=True).assigned == 12
    import_labels(project, write(tmp_path, label("c1", "ann")))
    rows = project.database.reader().execute(
        "SELECT subject, count(*) FROM assignments WHERE task = 'correctness' AND state = 'done' GROUP BY subject"
    )
    assert rows.fetchall() == [(1, 2), (2, 1)]


def test_items_wait_until_their_types_are_final(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2, types="labelled"))
    import_labels(project, write(tmp_path, label("c0", "ann"), label("c0", "bob")))
    assert status(project).states["labelled"] == 1
    typed = [label("c1", "ann", answer_subtype="A1"), label("c1", "bob", answer_subtype="A1")]
    import_labels(project, write(tmp_path, *typed))
    assert status(project).states["final"] == 2
    subtypes = project.database.reader().execute("SELECT DISTINCT subtype FROM item_states").fetchall()
    assert subtypes == [("A1",)]


# -- the order of files ----------------------------------------------------------------------------

EARLY, LATE = "2025-01-01T10:00:00Z", "2025-01-01T12:00:00Z"


def differing(at: str | None = None) -> list[dict[str, Any]]:
    more = {"created_at": at} if at else {}
    return [label("c0", "ann", **more), label("c0", "bob", "incorrect", **more)]


def events_of(project: Project) -> int:
    count: int = project.database.reader().execute("SELECT count(*) FROM label_events").fetchone()[0]
    return count


def test_an_adjudication_resolves_labels_that_are_not_later(project: Project, tmp_path: Path) -> None:
    import_labels(project, write(tmp_path, label("c0", "cy", role="adjudicator", created_at=LATE)))
    import_labels(project, write(tmp_path, *differing(EARLY)))
    assert status(project).states["final"] == 1
    import_labels(project, write(tmp_path, label("c0", "dan", created_at="2025-01-01T13:00:00Z")))
    assert status(project).states["conflict"] == 1


def test_without_times_an_adjudication_file_can_be_imported_again(project: Project, tmp_path: Path) -> None:
    ruling = label("c0", "cy", role="adjudicator", note="as the book says")
    import_labels(project, write(tmp_path, ruling))
    import_labels(project, write(tmp_path, *differing()))
    assert status(project).states["conflict"] == 1
    again = import_labels(project, write(tmp_path, ruling))
    assert (again.imported, again.unchanged, status(project).states["final"]) == (1, 0, 1)
    before = dump(project)
    assert import_labels(project, write(tmp_path, ruling, *differing())).unchanged == 3
    assert dump(project) == before


def test_with_times_an_adjudication_can_be_imported_again(project: Project, tmp_path: Path) -> None:
    ruling = label("c0", "cy", role="adjudicator", created_at=LATE)
    first, second = differing(EARLY)
    import_labels(project, write(tmp_path, first))
    import_labels(project, write(tmp_path, ruling))
    import_labels(project, write(tmp_path, second))
    assert status(project).states["labelled"] + status(project).states["conflict"] == 1
    assert import_labels(project, write(tmp_path, ruling)).imported == 1
    assert status(project).states["final"] == 1
    assert import_labels(project, write(tmp_path, ruling)).unchanged == 1


def test_importing_an_old_file_again_resolves_no_late_label(project: Project, tmp_path: Path) -> None:
    for at in (None, EARLY):
        lines = [*differing(at), label("c0", "cy", role="adjudicator", **({"created_at": LATE} if at else {}))]
        import_labels(project, write(tmp_path, *lines))
        import_labels(project, write(tmp_path, label("c0", "dan", "incorrect")))
        before = events_of(project)
        import_labels(project, write(tmp_path, *lines[2:]))
        assert (events_of(project), status(project).states["conflict"]) == (before, 1)


def test_a_retracted_adjudication_is_not_imported_again(project: Project, tmp_path: Path) -> None:
    ruling = label("c0", "cy", role="adjudicator")
    import_labels(project, write(tmp_path, ruling))
    import_labels(project, write(tmp_path, {**ruling, "verdict": "incorrect", "revision": 2}))
    import_labels(project, write(tmp_path, *differing()))
    before = events_of(project)
    assert import_labels(project, write(tmp_path, ruling)).unchanged == 1
    assert (events_of(project), status(project).states["conflict"]) == (before, 1)


# -- what the coordinator decided ------------------------------------------------------------------


def test_exclusions_and_reopenings_round_trip_with_the_labels(project: Project, tmp_path: Path) -> None:
    import_labels(project, write(tmp_path, *[label(f"c{n}", name) for n in range(3) for name in ("ann", "bob")]))
    exclude(project, [1], reason="proof", by="dora")
    reopen(project, [2], reason="another reference", by="dora")
    import_labels(project, write(tmp_path, label("c1", "cy", "incorrect")))
    out = tmp_path / "out.jsonl"
    export_labels(project, out)
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [line["kind"] for line in lines if "kind" in line] == ["exclusion", "reopen"]
    assert {line["annotator"] for line in lines if "kind" not in line and line["completion_id"] == "c1"} == {"cy"}
    (tmp_path / "other").mkdir()
    other = make_project(tmp_path / "other", numbered(6, subtype="A1", type="A"))
    assert import_labels(other, out).refused == 0
    assert status(other).states == status(project).states
    assert import_labels(project, out).imported == 0


def test_verdict_and_type_of_different_rounds_stay_separate(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2, types="labelled"))
    import_labels(project, write(tmp_path, label("c0", "ann", answer_subtype="A1")))
    reopen(project, [1], reason="why")
    import_labels(project, write(tmp_path, label("c0", "ann", "incorrect", uuid=FIRST)))
    out = tmp_path / "out.jsonl"
    export_labels(project, out)
    (tmp_path / "other").mkdir()
    other = make_project(tmp_path / "other", numbered(2, types="labelled"))
    assert import_labels(other, out).refused == 0
    query = "SELECT task, round, coalesce(verdict, subtype) FROM label_events WHERE kind = 'label' ORDER BY 1"
    assert other.database.reader().execute(query).fetchall() == [("correctness", 2, "incorrect"), ("type", 1, "A1")]


def test_retracting_a_label_by_file_reopens_its_slot(project: Project, tmp_path: Path) -> None:
    assign(project, ["ann", "bob"], per_item=2)
    import_labels(project, write(tmp_path, label("c0", "ann", uuid=FIRST)))
    taken_back = {"completion_id": "c0", "annotator": "ann", "kind": "retraction", "supersedes": FIRST, "revision": 2}
    assert import_labels(project, write(tmp_path, taken_back)).imported == 1
    states = "SELECT state FROM assignments WHERE task = 'correctness' AND subject = 1"
    assert project.database.reader().execute(states).fetchall() == [("open",), ("open",)]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"kind": "exclusion"}, "verdict"),
        ({"kind": "reopen", "verdict": None, "round": 2}, "note"),
        ({"kind": "reopen", "verdict": None, "note": "why"}, "round"),
        ({"kind": "label", "content_hash": "xyz"}, "content_hash"),
        ({"kind": "label", "keys": -1}, "keys"),
        ({"kind": "label", "open_ms": 2**63}, "open_ms"),
        ({"round": 0}, "round"),
        ({"partial": 1.5}, "partial"),
        ({"tags": ["nonsense"]}, "tags"),
    ],
)
def test_bad_fields_of_a_history_are_rejected_by_name(
    project: Project, tmp_path: Path, fields: dict[str, Any], field: str
) -> None:
    report = import_labels(project, write(tmp_path, label("c0", "ann", **fields)))
    assert [(refusal["line"], refusal["field"]) for refusal in report.refusals] == [(1, field)]


def test_undoing_one_of_two_labels_keeps_the_other_and_its_slot(project: Project, tmp_path: Path) -> None:
    assign(project, ["ann"], per_item=1)
    session = AnnotationSession(project, "ann")
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="correct"))
    import_labels(project, write(tmp_path, label(item.completion_id, "ann", "incorrect", uuid=FIRST)))
    session.undo()
    assert session.open(item.completion).verdict == "correct"
    session.close()
    state = "SELECT state FROM assignments WHERE task = 'correctness' AND subject = ?"
    assert project.database.reader().execute(state, (item.completion,)).fetchall() == [("done",)]
