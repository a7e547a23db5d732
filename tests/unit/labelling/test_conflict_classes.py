"""Batch adjudication of similar conflicts: permissions, shown data, selection, undo."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.labelling.conflicting import disputed, judge, project_of, put, rows
from workbench.core.errors import AnnotationError, UsageError
from workbench.core.project import Project
from workbench.core.selection import Condition
from workbench.labelling import people
from workbench.labelling.adjudicating import AdjudicationSession
from workbench.labelling.answers import Answer
from workbench.labelling.conflict_classes import ConflictClasses, NotSettled, OpenClass
from workbench.labelling.coordinating import exclude

CORRECT = Answer(verdict="correct", note="the same value")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Six items, each of another question; on the first four amira and ben differ."""
    made = project_of(tmp_path, 6, question="What is it? [b]", reference=r"So \boxed{7}", completion=r"\boxed{\frac12}")
    people.add_annotators(made, ["chen"])
    for item in (1, 2, 3):
        put(made, "amira", item, "correct", note="half" if item == 1 else None)
        put(made, "ben", item, "incorrect", unsure=item == 1)
    put(made, "amira", 4, "incorrect")
    put(made, "ben", 4, "unsuitable", reason="proof")
    for name in ("amira", "ben"):
        put(made, name, 5, "correct")
    put(made, "amira", 1, "A1", task="type")
    put(made, "ben", 1, "A7", task="type")
    yield made
    made.close()


@pytest.fixture
def chen(project: Project) -> ConflictClasses:
    return ConflictClasses(project, "chen")


def names(classes: ConflictClasses) -> list[tuple[str, str, int]]:
    return [(kind.name, kind.task, kind.count) for kind in classes.classes()]


def rulings(project: Project) -> list[tuple[int, str]]:
    return rows(project, "SELECT subject, verdict FROM label_events WHERE kind = 'adjudication' ORDER BY id")


def states(project: Project) -> list[str]:
    found = rows(project, "SELECT state FROM task_states WHERE task = 'correctness' ORDER BY subject")
    return [row[0] for row in found]


def test_conflicts_are_grouped_by_their_values(project: Project, chen: ConflictClasses) -> None:
    assert names(chen) == [
        ("correct/incorrect", "correctness", 3),
        ("A1/A7", "type", 1),
        ("incorrect/unsuitable:proof", "correctness", 1),
    ]
    assert rows(project, "SELECT count(*) FROM label_events WHERE kind = 'reveal'") == [(0,)]


def test_three_labels_make_one_kind_with_two(project: Project, chen: ConflictClasses) -> None:
    put(project, "dora", 2, "incorrect", note="no")
    assert names(chen)[0] == ("correct/incorrect", "correctness", 3)
    (row,) = chen.rows(chen.open("correct/incorrect"), [2])
    assert [(side.value, side.count, side.notes) for side in row.sides] == [
        ("correct", 1, ()),
        ("incorrect", 2, ("no",)),
    ]


def test_the_newer_of_two_merged_labels_counts(project: Project, chen: ConflictClasses) -> None:
    put(project, "ben", 2, "unsuitable", reason="proof", at="2026-01-01T00:00:00.000000Z", merged=True)
    assert ("correct/unsuitable:proof", "correctness", 1) in names(chen)
    opened = chen.open("correct/unsuitable:proof")
    assert chen.settle(opened, [2], CORRECT).settled == 1


def test_a_kind_lists_its_items_and_records_the_view(project: Project, chen: ConflictClasses) -> None:
    opened = chen.open("correct/incorrect")
    assert list(opened.cases) == [1, 2, 3]
    first = chen.rows(opened, [3, 1])[1]
    assert (first.completion_id, first.question_id, first.dataset) == ("c0", "q0", "sample")
    assert (first.question, first.reference, first.answer) == ("What is it? [b]", "7", r"\frac12")
    assert [(side.value, side.unsure, side.notes) for side in first.sides] == [
        ("correct", 0, ("half",)),
        ("incorrect", 1, ()),
    ]
    looks = "SELECT task, subject, view FROM label_events WHERE kind = 'reveal' ORDER BY subject"
    assert rows(project, looks) == [("correctness", item, "labels") for item in (1, 2, 3)]
    chen.open("correct/incorrect")
    assert len(rows(project, looks)) == 3


def test_names_dates_and_verifiers_are_hidden(tmp_path: Path) -> None:
    marks = {"model": "MARKMODEL", "source": "MARKSOURCE", "domain": "MARKDOMAIN", "subtype": "D2"}
    project = disputed(tmp_path, 3, **{**marks, "gold": True})
    judge(project)
    asked: list[str] = []
    project.database.reader().set_trace_callback(asked.append)
    classes = ConflictClasses(project, "chen")
    opened = classes.open("correct/incorrect")
    shown = repr((classes.classes(), classes.rows(opened, list(opened.cases))))
    assert not [sql for sql in asked if "verdicts" in sql or "imported_gold" in sql]
    assert not [mark for mark in ("amira", "ben", "MARK", "D2", "20") if mark in shown]
    project.close()


def test_only_the_selected_conflicts_are_resolved(project: Project, chen: ConflictClasses) -> None:
    done = chen.settle(chen.open("correct/incorrect"), [1, 3], CORRECT)
    assert (done.settled, done.left_out) == (2, ())
    assert rulings(project) == [(1, "correct"), (3, "correct")]
    assert states(project) == ["final", "conflict", "final", "conflict", "final"]
    stored = rows(project, "SELECT DISTINCT view, note, created_at FROM label_events WHERE kind = 'adjudication'")
    assert [row[:2] for row in stored] == [("bulk", "the same value")]
    hashes = rows(project, "SELECT count(content_hash) FROM label_events WHERE kind = 'adjudication'")
    assert hashes == [(2,)]
    assert names(chen)[0][2] == 1


def test_types_are_resolved_in_the_same_way(project: Project, chen: ConflictClasses) -> None:
    assert chen.settle(chen.open("A1/A7"), [1], Answer(subtype="A7")).settled == 1
    assert rows(project, "SELECT state, subtype FROM task_states WHERE task = 'type'") == [("final", "A7")]


def test_a_ruling_needs_the_fields_of_its_kind(project: Project, chen: ConflictClasses) -> None:
    opened = chen.open("correct/incorrect")
    for ruling, message in ((Answer(subtype="A1"), "correct, incorrect"), (Answer(verdict="unsuitable"), "reason")):
        with pytest.raises(UsageError, match=message):
            chen.settle(opened, [1], ruling)
    assert rulings(project) == []


def test_changed_conflicts_are_skipped_and_listed(project: Project, chen: ConflictClasses) -> None:
    opened = chen.open("correct/incorrect")
    people.add_annotators(project, ["dora"])
    dora = AdjudicationSession(project, "dora")
    dora.decide(dora.open("correctness", 1), Answer(verdict="incorrect"))
    put(project, "ben", 2, "correct", at="2025-02-01T00:00:00.000000Z")
    done = chen.settle(opened, [1, 2, 3], CORRECT)
    assert done.settled == 1
    assert done.left_out == (
        NotSettled(completion_id="c0", why="Someone else has resolved this conflict, or is assigned to it."),
        NotSettled(completion_id="c1", why="A label of this item has changed in the meantime."),
    )
    assert rulings(project) == [(1, "incorrect"), (3, "correct")]


def test_excluded_items_are_skipped(project: Project, chen: ConflictClasses) -> None:
    opened = chen.open("correct/incorrect")
    exclude(project, [2], reason="proof")
    assert [left.completion_id for left in chen.settle(opened, [1, 2], CORRECT).left_out] == ["c1"]


def test_annotators_cannot_adjudicate_their_own_items(project: Project, chen: ConflictClasses) -> None:
    amira = ConflictClasses(project, "amira")
    assert amira.classes() == []
    with pytest.raises(UsageError, match=r"no conflict 'correct/incorrect' for amira") as error:
        amira.open("correct/incorrect")
    assert error.value.hint == "Kinds: none."
    # Even with a list that another person has opened.
    done = amira.settle(chen.open("correct/incorrect"), [1, 2, 3], CORRECT)
    assert (done.settled, len(done.left_out)) == (0, 3)
    assert rulings(project) == []


def test_an_unknown_kind_is_rejected_with_the_known_ones(chen: ConflictClasses) -> None:
    with pytest.raises(UsageError, match="no conflict 'A1/B2'") as error:
        chen.open("A1/B2")
    assert error.value.hint == "Did you mean 'A1/A7'? Kinds: A1/A7, correct/incorrect, incorrect/unsuitable:proof."


def test_undo_retracts_the_whole_last_decision(project: Project, chen: ConflictClasses) -> None:
    one = AdjudicationSession(project, "chen")
    one.decide(one.open("correctness", 4), Answer(verdict="incorrect"))
    chen.settle(chen.open("correct/incorrect"), [1, 2, 3], CORRECT)
    with pytest.raises(AnnotationError, match="resolved 3 conflicts at once"):
        one.undo()
    assert chen.undo() == 3
    assert states(project) == ["conflict", "conflict", "conflict", "final", "final"]
    assert chen.undo() == 1
    assert states(project)[3] == "conflict"
    assert chen.undo() == 0


def test_undo_skips_revised_decisions(project: Project, chen: ConflictClasses) -> None:
    opened = chen.open("correct/incorrect")
    chen.settle(opened, [1, 2], CORRECT)
    one = AdjudicationSession(project, "chen")
    one.decide(one.open("correctness", 1), Answer(verdict="incorrect"))
    assert chen.undo() == 1
    assert states(project)[:2] == ["final", "final"], "what it had replaced is in force again"
    assert [chen.undo(), chen.undo()] == [1, 1]
    assert states(project)[:2] == ["conflict", "conflict"]


def test_more_conflicts_than_fit_in_a_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.labelling.conflict_classes.AT_ONCE", 2)
    project = disputed(tmp_path, 5)
    chen = ConflictClasses(project, "chen")
    opened = chen.open("correct/incorrect")
    assert chen.settle(opened, list(opened.cases), CORRECT).settled == 5
    assert states(project) == ["final"] * 5
    assert len(rows(project, "SELECT DISTINCT created_at FROM label_events WHERE kind = 'adjudication'")) == 1
    assert chen.undo() == 5
    project.close()


@pytest.mark.parametrize(
    ("condition", "subjects"),
    [
        (Condition("completion_id", "=", "c1"), [2]),
        (Condition("question_id", "!=", "q1"), [1, 3]),
        (Condition("dataset", "=", "sample"), [1, 2, 3]),
    ],
)
def test_items_of_a_kind_are_selected_by_id(chen: ConflictClasses, condition: Condition, subjects: list[int]) -> None:
    assert chen.among(chen.open("correct/incorrect"), [condition]) == subjects


def test_the_type_of_a_question_is_selected_by_its_completions(chen: ConflictClasses) -> None:
    opened = chen.open("A1/A7")
    assert chen.among(opened, [Condition("completion_id", "=", "c0")]) == [1]
    assert chen.among(opened, [Condition("completion_id", "=", "c1")]) == []


@pytest.mark.few(3)
@pytest.mark.parametrize("field", ["gold", "model", "verdict:rule", "state", "subtype", "source"])
def test_conflicts_cannot_be_selected_by_hidden_fields(chen: ConflictClasses, field: str) -> None:
    opened: OpenClass = chen.open("correct/incorrect")
    with pytest.raises(UsageError, match=f"by {field}"):
        chen.among(opened, [Condition(field, "=", "correct")])
