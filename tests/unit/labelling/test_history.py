"""The exported history of a project is complete and round-trips, for any history."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import make_project, numbered
from tests.unit.labelling.canonical import canonical
from workbench.core.database import events, people
from workbench.core.errors import AnnotationError, UsageError
from workbench.core.label import EXCLUSION_REASONS, TAGS, EventKind, LabelEvent, LabelLine, Task
from workbench.core.project import Project, open_project
from workbench.labelling import ledger
from workbench.labelling.label_export import export_labels
from workbench.labelling.labels import import_labels
from workbench.labelling.ledger import history

PEOPLE = ("ann", "bob", "cy [b]", "dora")
SAYING = ("label", "adjudication", "repeat", "check")
KINDS: tuple[EventKind, ...] = (
    "label", "adjudication", "retraction", "flag", "reveal", "repeat", "check", "reopen", "exclusion"
)  # fmt: skip
some_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)
some_number = st.none() | st.integers(0, 2**63 - 1)


@st.composite
def an_event(draw: st.DrawFn, earlier: list[LabelEvent]) -> LabelEvent:
    """One event of any kind, with anything in its fields."""
    kind = draw(st.sampled_from(KINDS))
    task: Task = "correctness" if kind == "exclusion" else draw(st.sampled_from(["correctness", "type"]))
    person, subject = draw(st.integers(1, len(PEOPLE))), draw(st.integers(1, 2))
    own = [e.uuid for e in earlier if (e.annotator, e.task, e.subject) == (person, task, subject)]
    # A label supersedes an earlier event of the same person and subject; other events may refer to any.
    named = own if kind in events.ANSWERS else [event.uuid for event in earlier]
    verdict = draw(st.sampled_from(["correct", "incorrect", "unsuitable"])) if kind in SAYING else None
    verdict = "unsuitable" if kind == "exclusion" else verdict if task == "correctness" else None
    fields: dict[str, Any] = {
        "uuid": str(UUID(int=len(earlier) + 1)),
        "created_at": f"2025-01-01T00:00:{draw(st.integers(0, 59)):02}.000000Z",
        "round": draw(st.integers(2, 3) if kind == "reopen" else st.integers(1, 3)),
        "verdict": verdict,
        "exclusion_reason": draw(st.sampled_from(list(EXCLUSION_REASONS))) if verdict == "unsuitable" else None,
        "subtype": draw(st.sampled_from(["A1", "C4"])) if task == "type" and kind in SAYING else None,
        "tags": tuple(draw(st.lists(st.sampled_from(list(TAGS)), unique=True, max_size=2))),
        "partial": draw(st.none() | st.floats(0, 1)),
        "note": draw(some_text if kind == "reopen" else st.none() | some_text),
        "supersedes": draw(st.sampled_from([None, *own])) if kind != "reopen" else None,
        "seen": tuple(draw(st.lists(st.sampled_from(named), unique=True))) if named else (),
        "guideline": draw(st.none() | some_text),
        "schema": draw(st.integers(1, 3)),
        "content_hash": draw(st.none() | st.binary(min_size=16, max_size=16)),
        "view": draw(st.none() | some_text),
        **{name: draw(some_number) for name in ("open_ms", "focused_ms", "wait_ms", "keys")},
        **{name: draw(st.booleans()) for name in ("unsure", "flagged", "unblinded", "merged")},
    }
    return LabelEvent(kind=kind, task=task, subject=subject, annotator=person, **fields)


@st.composite
def lives(draw: st.DrawFn) -> list[LabelEvent]:
    """A project's events, one after the other."""
    found: list[LabelEvent] = []
    for _ in range(draw(st.integers(1, 12))):
        found.append(draw(an_event(found)))
    return found


def fresh(folder: Path) -> Project:
    folder.mkdir()
    return make_project(folder, numbered(4, types="labelled"))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed database: copying one is faster than making one."""
    project = fresh(tmp_path_factory.mktemp("template") / "made")
    project.close()
    return project.path


def copied(template: Path, path: Path) -> Project:
    copyfile(template, path)
    return open_project(path)


def live(project: Project, life: list[LabelEvent]) -> None:
    """Let this happen; what the database refuses does not."""
    with project.database.write("full") as connection:
        for number, name in enumerate(PEOPLE):
            people.add(connection, name, "coordinator" if number == 3 else "annotator")
    for event in life:
        try:
            with project.database.write("full") as connection:
                ledger.record(connection, event)
        except AnnotationError:
            continue


@pytest.mark.soak
@settings(max_examples=40)
@given(life=lives())
def test_a_history_round_trips_into_a_new_database(
    tmp_path_factory: pytest.TempPathFactory, template: Path, life: list[LabelEvent]
) -> None:
    folder = tmp_path_factory.mktemp("history")
    here, there = copied(template, folder / "here.db"), copied(template, folder / "there.db")
    live(here, life)
    written = export_labels(here, folder / "one.jsonl", history=True)
    report = import_labels(there, folder / "one.jsonl")
    assert (report.imported, report.unchanged, report.refusals) == (written, 0, [])
    assert export_labels(there, folder / "two.jsonl", history=True) == written
    assert (folder / "two.jsonl").read_bytes() == (folder / "one.jsonl").read_bytes()
    assert canonical(there) == canonical(here)
    assert ledger.states_differ(there) == 0
    again = import_labels(there, folder / "one.jsonl")
    assert (again.imported, again.unchanged, again.refusals) == (0, written, [])
    home = import_labels(here, folder / "two.jsonl")
    assert (home.imported, home.refusals) == (0, [])
    here.close()
    there.close()


def test_a_history_names_every_field_of_an_event() -> None:
    carried = {field.name for field in msgspec.structs.fields(LabelLine)}
    renamed = {"subject": "completion_id", "exclusion_reason": "reason", "subtype": "answer_subtype"}
    exported = {renamed.get(field.name, field.name) for field in msgspec.structs.fields(LabelEvent)}
    assert exported - carried == {"merged"}, "how an event came here says nothing of the event"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path, numbered(4))
    with made.database.write("full") as connection:
        for name in PEOPLE:
            people.add(connection, name)
        for number, (person, subject, task) in enumerate(
            ((1, 1, "correctness"), (2, 1, "type"), (1, 3, "correctness"))
        ):
            ledger.record(connection, label_event(number, person, subject, task))  # type: ignore[arg-type]
    return made


def label_event(number: int, person: int, subject: int, task: Task, **fields: Any) -> LabelEvent:
    return LabelEvent(
        uuid=str(UUID(int=number)),
        kind="label",
        task=task,
        subject=subject,
        annotator=person,
        created_at=f"2025-01-01T00:00:{59 - number:02}.000000Z",
        verdict="correct" if task == "correctness" else None,
        subtype="A1" if task == "type" else None,
        **fields,
    )


def test_history_by_item_and_by_annotator(project: Project) -> None:
    assert [(line.annotator, line.completion_id) for line in history(project)] == [
        ("ann", "c2"), ("bob", "c0"), ("ann", "c0"),
    ]  # fmt: skip
    assert [(line.annotator, line.task) for line in history(project, item="c1")] == [("bob", "type")]
    assert [line.completion_id for line in history(project, annotator="ann")] == ["c2", "c0"]
    assert [line.task for line in history(project, item="c0", annotator="ann")] == ["correctness"]


def test_an_unknown_item_or_person_is_named(project: Project) -> None:
    with pytest.raises(UsageError, match="no item 'c9'"):
        history(project, item="c9")
    with pytest.raises(UsageError, match="no annotator 'eve'"):
        history(project, annotator="eve")


def test_the_canonical_form_does_not_depend_on_arrival_order(tmp_path: Path) -> None:
    found = []
    for name, order in (("one", (1, 2)), ("two", (2, 1))):
        project = fresh(tmp_path / name)
        with project.database.write("full") as connection:
            for number in order:
                ledger.record(connection, label_event(number, people.add(connection, PEOPLE[number]), 1, "correctness"))
        found.append(canonical(project))
        with project.database.write("full") as connection:
            first = next(events.all_events(connection))
            ledger.record(connection, msgspec.structs.replace(first, uuid=str(UUID(int=9)), kind="flag"))
        assert canonical(project) != found[-1]
    assert found[0] == found[1]
