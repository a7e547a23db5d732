"""States depend only on the set of events, and adjudicators are never annotators of the item."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import make_project, numbered
from workbench.core.database import events, people
from workbench.core.errors import AnnotationError
from workbench.core.label import EventKind, LabelEvent, LabelVerdict, State, Task, TaskState
from workbench.core.project import Project
from workbench.core.states import current_exclusions, current_labels, item_state, task_state
from workbench.labelling import ledger

SUBJECTS = 200
VERDICTS: tuple[LabelVerdict, ...] = ("correct", "incorrect", "unsuitable")


def label(person: int, verdict: LabelVerdict, at: int = 0, **fields: Any) -> LabelEvent:
    return LabelEvent(
        **{
            "uuid": f"{person}-{verdict}-{at}",
            "kind": "label",
            "task": "correctness",
            "subject": 1,
            "annotator": person,
            "created_at": f"2025-01-01T00:00:{at:02}",
            "verdict": verdict,
            **fields,
        }
    )


def test_two_agreeing_labels_resolve_an_item() -> None:
    assert task_state([label(1, "correct"), label(2, "correct")]) == TaskState(
        state="final", verdict="correct", decided_by="agreed"
    )


def test_one_label_is_final_only_with_an_overlap_of_one() -> None:
    assert task_state([label(1, "correct")]).state == "labelled"
    assert task_state([label(1, "correct")], need=1).state == "final"


def test_two_differing_labels_are_a_conflict_until_adjudicated() -> None:
    labels = [label(1, "correct"), label(2, "incorrect")]
    assert task_state(labels).state == "conflict"
    seen = tuple(event.uuid for event in labels)
    ruling = label(3, "incorrect", 1, kind="adjudication", seen=seen)
    assert task_state([*labels, ruling]) == TaskState(state="final", verdict="incorrect", decided_by="adjudicated")


def test_a_late_label_reopens_an_adjudicated_item() -> None:
    labels = [label(1, "correct"), label(2, "incorrect")]
    ruling = label(3, "incorrect", 1, kind="adjudication", seen=tuple(event.uuid for event in labels))
    assert task_state([*labels, ruling, label(4, "correct", 2)]).state == "conflict"


def test_two_unsuitable_exclude_and_one_is_a_conflict() -> None:
    excluded = task_state([label(1, "unsuitable", exclusion_reason="proof"), label(2, "unsuitable")])
    assert (excluded.state, excluded.reason) == ("excluded", "proof")
    assert task_state([label(1, "unsuitable"), label(2, "correct")]).state == "conflict"


def test_an_edit_replaces_the_earlier_label() -> None:
    first, other = label(1, "correct"), label(2, "incorrect")
    edit = label(1, "incorrect", 1, supersedes=first.uuid)
    assert task_state([first, other, edit]).verdict == "incorrect"


def test_the_later_of_two_heads_counts() -> None:
    early, late = label(1, "correct", 1), label(1, "incorrect", 2)
    assert [event.verdict for event in current_labels([late, early])] == ["incorrect"]


def test_a_retracted_label_does_not_count() -> None:
    first = label(1, "correct")
    gone = label(1, "correct", 1, kind="retraction", supersedes=first.uuid)
    assert task_state([first, gone]).state == "unlabelled"


@pytest.mark.parametrize(
    ("correctness", "type_", "labelled", "public"),
    [
        ("excluded", "conflict", True, "excluded"),
        ("final", "conflict", True, "conflict"),
        ("conflict", "final", True, "conflict"),
        ("final", "final", True, "final"),
        ("final", "labelled", True, "labelled"),
        ("final", "unlabelled", False, "final"),
        ("unlabelled", "unlabelled", True, "unlabelled"),
        ("unlabelled", "labelled", True, "labelled"),
        ("labelled", "unlabelled", False, "labelled"),
    ],
)
def test_the_public_state_of_both_tasks(correctness: State, type_: State, labelled: bool, public: State) -> None:
    state = item_state(TaskState(state=correctness), TaskState(state=type_), types_labelled=labelled)
    assert state.state == public


@st.composite
def histories(draw: st.DrawFn) -> list[LabelEvent]:
    """Draw events of four annotators on one subject: labels, edits, retractions, adjudications of earlier events."""
    events: list[LabelEvent] = []
    for number in range(draw(st.integers(0, 12))):
        person = draw(st.integers(1, 4))
        kind: EventKind = draw(st.sampled_from(["label", "label", "label", "adjudication", "retraction"]))
        mine = [event.uuid for event in events if event.annotator == person]
        supersedes = draw(st.sampled_from([None, *mine])) if mine else None
        seen_events = draw(st.lists(st.sampled_from([event.uuid for event in events]), unique=True)) if events else []
        events.append(
            LabelEvent(
                uuid=f"u{number:02}",
                kind=kind,
                task="correctness",
                subject=1,
                annotator=person,
                created_at=f"2025-01-01T00:00:{draw(st.integers(0, 3)):02}",
                verdict=None if kind == "retraction" else draw(st.sampled_from(VERDICTS)),
                supersedes=supersedes,
                seen=tuple(seen_events) if kind == "adjudication" else (),
            )
        )
    return events


@given(events=histories(), need=st.integers(1, 3), random=st.randoms())
def test_the_order_of_events_does_not_matter(events: list[LabelEvent], need: int, random: Any) -> None:
    shuffled = list(events)
    random.shuffle(shuffled)
    assert task_state(shuffled, need) == task_state(events, need)
    assert task_state(events + shuffled, need) == task_state(events, need)


# -- the same at the database ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def ledgered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Many items, some of questions whose types people settle, and five people."""
    folder = tmp_path_factory.mktemp("ledger")
    project = make_project(folder, numbered(SUBJECTS, types="labelled"))
    with project.database.write() as connection:
        for name in "abcde":
            people.add(connection, name)
    yield project
    project.close()


steps = st.tuples(
    st.integers(1, 5),
    st.sampled_from(["label", "label", "adjudication", "retraction", "flag", "reveal"]),
    st.sampled_from(["correctness", "correctness", "type"]),
    st.sampled_from(VERDICTS),
    st.sampled_from(["A1", "B2"]),
)


def play(project: Project, subject: int, step: tuple[int, EventKind, Task, LabelVerdict, str]) -> bool:
    """Try to record an event as an app would; False when the database refuses it."""
    person, kind, task, verdict, subtype = step
    try:
        with project.database.write() as connection:
            seen_events = current_labels(events.events_of(connection, task, subject))
            mine = events.current_of(connection, task, subject, person, "label")
            ledger.record(
                connection,
                LabelEvent(
                    uuid=events.new_uuid(),
                    kind=kind,
                    task=task,
                    subject=subject,
                    annotator=person,
                    created_at=people.now(),
                    verdict=verdict if task == "correctness" and kind in ("label", "adjudication") else None,
                    subtype=subtype if task == "type" and kind in ("label", "adjudication") else None,
                    supersedes=mine.uuid if mine and kind in ("label", "retraction") else None,
                    seen=tuple(event.uuid for event in seen_events) if kind == "adjudication" else (),
                ),
            )
    except AnnotationError:
        return False
    return True


def dump(project: Project, table: str) -> list[Any]:
    return project.database.reader().execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()


@settings(max_examples=60, deadline=None)
@given(subject=st.integers(1, SUBJECTS // 2), played=st.lists(steps, max_size=12))
def test_no_annotator_adjudicates_and_states_can_be_recomputed(
    ledgered: Project, subject: int, played: list[tuple[int, EventKind, Task, LabelVerdict, str]]
) -> None:
    for step in played:
        play(ledgered, subject, step)
    both = ledgered.database.reader().execute(
        "SELECT task, subject, annotator_id FROM label_events AS e WHERE kind IN ('label', 'adjudication') "
        "AND NOT EXISTS (SELECT 1 FROM label_events AS x WHERE x.supersedes = e.uuid) "
        "GROUP BY task, subject, annotator_id, round HAVING count(DISTINCT kind) > 1"
    )
    assert both.fetchall() == []
    tables = ("task_states", "item_states")
    before = {table: dump(ledgered, table) for table in tables}
    assert ledger.states_differ(ledgered) == 0
    ledger.recompute(ledgered)
    assert {table: dump(ledgered, table) for table in tables} == before


@pytest.fixture
def one_label(tmp_path: Path) -> Iterator[Project]:
    project = make_project(tmp_path, numbered(1))
    with project.database.write() as connection:
        people.add(connection, "a")
        ledger.record(connection, label(1, "correct"))
    yield project
    project.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE label_events SET verdict = 'incorrect'",
        "UPDATE OR REPLACE label_events SET id = 7",
        "DELETE FROM label_events",
        "INSERT OR REPLACE INTO label_events SELECT * FROM label_events",
        "REPLACE INTO label_events (uuid, kind, task, subject, annotator_id, schema, created_at, verdict) "
        "SELECT uuid, kind, task, subject, annotator_id, schema, created_at, 'incorrect' FROM label_events",
        "REPLACE INTO label_events (id, uuid, kind, task, subject, annotator_id, schema, created_at) "
        "SELECT id, 'other', kind, task, subject, annotator_id, schema, created_at FROM label_events",
        "INSERT INTO label_events SELECT * FROM label_events WHERE true "
        "ON CONFLICT DO UPDATE SET verdict = 'incorrect'",
    ],
)
def test_label_events_cannot_be_changed(one_label: Project, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="append-only"), one_label.database.write() as connection:
        connection.execute(statement)
    assert [row[6:8] for row in dump(one_label, "label_events")] == [(1, "correct")]


def test_a_uuid_is_stored_once(one_label: Project) -> None:
    with pytest.raises(AnnotationError, match="append-only"), one_label.database.write() as connection:
        ledger.record(connection, label(1, "correct"))


def test_a_reopening_begins_a_round_in_which_earlier_labels_do_not_count() -> None:
    first = [label(1, "correct"), label(2, "correct")]
    reopened = label(9, "correct", 5, kind="reopen", round=2, note="the reference was corrected")
    assert task_state([*first, reopened]) == TaskState(state="unlabelled", round=2)
    second = [label(1, "incorrect", 6, round=2), label(3, "incorrect", 7, round=2)]
    assert task_state([*second, reopened, *first]) == TaskState(
        state="final", verdict="incorrect", decided_by="agreed", round=2
    )


def test_an_exclusion_lasts_until_retracted_or_a_new_round() -> None:
    labels = [label(1, "correct"), label(2, "correct")]
    out = label(9, "unsuitable", 5, kind="exclusion", exclusion_reason="proof")
    excluded = task_state([*labels, out])
    assert (excluded.state, excluded.reason, excluded.decided_by) == ("excluded", "proof", "coordinator")
    back = label(9, "unsuitable", 6, kind="retraction", supersedes=out.uuid)
    assert task_state([*labels, out, back]).state == "final"
    reopened = label(9, "correct", 7, kind="reopen", round=2)
    assert task_state([*labels, out, reopened]).state == "unlabelled"


def test_a_ruling_by_an_annotator_of_the_item_does_not_count() -> None:
    labels = [label(1, "correct"), label(2, "incorrect")]
    seen = tuple(event.uuid for event in labels)
    own = label(2, "incorrect", 3, kind="adjudication", seen=seen)
    assert task_state([*labels, own]).state == "conflict"


def test_repeats_and_checks_resolve_no_item() -> None:
    for kind in ("repeat", "check"):
        assert task_state([label(1, "correct", kind=kind), label(2, "correct", kind=kind)]).state == "unlabelled"


def test_any_coordinator_lifts_or_restates_an_exclusion() -> None:
    labels = [label(1, "correct"), label(2, "correct")]
    out = label(8, "unsuitable", 5, kind="exclusion", exclusion_reason="proof")
    restated = label(9, "unsuitable", 6, kind="exclusion", exclusion_reason="truncated", supersedes=out.uuid)
    assert task_state([*labels, out, restated]).reason == "truncated"
    lifted = label(7, "unsuitable", 7, kind="retraction", supersedes=restated.uuid)
    assert task_state([lifted, restated, out, *labels]).state == "final"


def test_every_exclusion_in_force_must_be_lifted() -> None:
    here = label(8, "unsuitable", 5, kind="exclusion", exclusion_reason="proof")
    there = label(8, "unsuitable", 6, kind="exclusion", exclusion_reason="truncated")
    assert current_exclusions([there, here]) == [here, there]
    lifted = label(8, "unsuitable", 7, kind="retraction", supersedes=there.uuid)
    assert task_state([here, there, lifted]).reason == "proof"


def test_labels_of_others_cannot_be_retracted() -> None:
    labels = [label(1, "correct"), label(2, "correct")]
    theirs = label(3, "correct", 3, kind="retraction", supersedes=labels[0].uuid)
    assert task_state([*labels, theirs]).state == "final"


def test_a_ruling_without_labels_resolves_those_that_are_not_later() -> None:
    labels = [label(1, "correct", 1), label(2, "incorrect", 3)]
    assert task_state([*labels, label(3, "incorrect", 3, kind="adjudication")]).decided_by == "adjudicated"
    assert task_state([*labels, label(3, "incorrect", 2, kind="adjudication")]).state == "conflict"
