"""Adjudication: both labels without names, decisions and their undo, and never of one's own item."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.labelling.conflicting import judge, label_all, project_of, put, relabel, rows
from workbench.core.errors import AnnotationError, UsageError
from workbench.core.label import LabelVerdict
from workbench.core.project import Project
from workbench.labelling import people
from workbench.labelling.adjudicating import AdjudicationSession, Conflict
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.guidelines import add_case


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Three items; amira and ben differ on all of them."""
    made = project_of(tmp_path, 3, types="labelled")
    people.assign(made, ["amira", "ben"], per_item=2)
    people.add_annotators(made, ["chen"])
    label_all(made, "amira", Answer(verdict="correct", subtype="A1", note="same value", focused_ms=4000))
    label_all(made, "ben", Answer(verdict="incorrect", subtype="A1", unsure=True))
    yield made
    made.close()


@pytest.fixture
def chen(project: Project) -> AdjudicationSession:
    return AdjudicationSession(project, "chen")


def following(session: AdjudicationSession) -> Conflict:
    conflict = session.next()
    assert conflict is not None
    return conflict


def test_both_labels_are_shown_without_names(chen: AdjudicationSession) -> None:
    conflict = following(chen)
    assert [opinion.letter for opinion in conflict.opinions] == ["A", "B"]
    assert {opinion.value for opinion in conflict.opinions} == {"correct", "incorrect"}
    assert {(opinion.note, opinion.unsure, opinion.focused_ms) for opinion in conflict.opinions} == {
        ("same value", False, 4000),
        ("", True, None),
    }
    assert "amira" not in repr(conflict)
    assert "ben" not in repr(conflict)


def test_a_decision_resolves_the_item_and_records_the_labels_seen(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    assert chen.count_open() == 3
    chen.decide(conflict, Answer(verdict="incorrect", note="8 is not 7", open_ms=10, focused_ms=9, view="card"))
    assert chen.count_open() == 2
    assert rows(project, "SELECT state, verdict, decided_by FROM task_states WHERE task = 'correctness' "
                "AND subject = ?", conflict.subject) == [("final", "incorrect", "adjudicated")]  # fmt: skip
    (event,) = rows(project, "SELECT note, open_ms, focused_ms, view, guideline, seen FROM label_events "
                    "WHERE kind = 'adjudication'")  # fmt: skip
    assert event[:5] == ("8 is not 7", 10, 9, "card", None)
    assert all(uuid in event[5] for uuid in conflict.seen)


def test_annotators_cannot_adjudicate_their_own_items(project: Project, chen: AdjudicationSession) -> None:
    amira = AdjudicationSession(project, "amira")
    assert amira.next() is None
    assert amira.count_open() == 0
    with pytest.raises(AnnotationError, match="resolved"):
        amira.decide(following(chen), Answer(verdict="correct"))


def test_a_skipped_conflict_is_served_last(chen: AdjudicationSession) -> None:
    skipped = following(chen)
    chen.skip(skipped)
    order = []
    for _ in range(3):
        conflict = following(chen)
        order.append(conflict.subject)
        chen.decide(conflict, Answer(verdict="correct"))
    assert order[-1] == skipped.subject
    assert chen.next() is None


def test_undo_reopens_the_conflict(project: Project, chen: AdjudicationSession) -> None:
    assert chen.undo() is None
    conflict = following(chen)
    chen.decide(conflict, Answer(verdict="correct"))
    assert AdjudicationSession(project, "chen").undo() == conflict
    assert chen.count_open() == 3
    chen.decide(following(chen), Answer(verdict="correct"))


def test_a_changed_label_must_be_seen_before_the_decision(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(conflict.subject), Answer(verdict="unsuitable", reason="proof"))
    with pytest.raises(AnnotationError, match="changed in the meantime"):
        chen.decide(conflict, Answer(verdict="correct"))
    ben.close()


def test_a_late_label_reopens_the_item(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    chen.decide(conflict, Answer(verdict="correct"))
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(conflict.subject), Answer(verdict="unsuitable", reason="proof"))
    assert chen.count_open() == 3
    chen.decide(chen.open("correctness", conflict.subject), Answer(verdict="incorrect"))
    assert rows(project, "SELECT verdict FROM task_states WHERE task = 'correctness' AND subject = ?",
                conflict.subject) == [("incorrect",)]  # fmt: skip
    ben.close()


def test_a_decision_reopened_by_a_late_label_is_marked(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    assert conflict.earlier is None
    chen.decide(conflict, Answer(verdict="unsuitable", reason="proof"))
    relabel(project, "ben", conflict.subject, Answer(verdict="unsuitable", reason="truncated"))
    again = chen.open(conflict.task, conflict.subject)
    assert again.earlier is not None
    assert (again.earlier.value, again.earlier.reason) == ("unsuitable", "proof")
    chen.decide(again, Answer(verdict="correct"))
    assert chen.open(conflict.task, conflict.subject).earlier is None


def test_the_newer_of_two_merged_decisions_counts(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    chen.decide(conflict, Answer(verdict="correct"))
    for at, value in (("2001", "unsuitable"), ("2999", "incorrect")):
        put(project, f"p{at}", conflict.subject, value, at=f"{at}-01-01T00:00:00.000000Z", kind="adjudication",
            seen=conflict.seen, reason="proof" if value == "unsuitable" else None, merged=True)  # fmt: skip
    assert rows(project, "SELECT verdict FROM task_states WHERE task = 'correctness' AND subject = ?",
                conflict.subject) == [("incorrect",)]  # fmt: skip


def test_a_conflict_resolved_by_another_adjudicator_is_theirs(project: Project, chen: AdjudicationSession) -> None:
    """A decision from before a late label does not overrule one made after it."""
    people.add_annotators(project, ["dora"])
    first = following(chen)
    chen.decide(first, Answer(verdict="correct"))
    relabel(project, "ben", first.subject, Answer(verdict="unsuitable", reason="proof"))
    again = chen.open(first.task, first.subject)
    dora = AdjudicationSession(project, "dora")
    dora.decide(dora.open(first.task, first.subject), Answer(verdict="incorrect"))
    with pytest.raises(AnnotationError, match="resolved"):
        chen.decide(again, Answer(verdict="correct"))


def test_adjudicators_can_revise_their_decision(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    chen.decide(conflict, Answer(verdict="correct"))
    chen.decide(chen.open(conflict.task, conflict.subject), Answer(verdict="incorrect"))
    assert rows(project, "SELECT verdict FROM task_states WHERE task = 'correctness' AND subject = ?",
                conflict.subject) == [("incorrect",)]  # fmt: skip


def test_a_decision_records_the_guideline_version(project: Project, chen: AdjudicationSession) -> None:
    chen.guidelines.read("1")
    conflict = following(chen)
    version = add_case(project, "A number word counts as the number.", by="chen").version
    chen.decide(conflict, Answer(verdict="correct"))
    chen.decide(following(chen), Answer(verdict="correct"))
    assert rows(project, "SELECT guideline FROM label_events WHERE kind = 'adjudication' ORDER BY id") == [
        ("1",),
        (version,),
    ]


def test_a_draft_note_lasts_until_the_decision_and_returns_on_undo(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    chen.keep_note(conflict, "half a thought")
    later = AdjudicationSession(project, "chen")
    assert following(later).note == "half a thought"
    later.decide(conflict, Answer(verdict="correct", note="a whole thought"))
    assert chen.open(conflict.task, conflict.subject).note == ""
    again = later.undo()
    assert again is not None
    assert again.note == "a whole thought"


@pytest.mark.parametrize(
    ("verdict", "reason", "message"),
    [(None, None, "correct, incorrect or unsuitable"), ("unsuitable", None, "reason"), ("unsuitable", "other", "note")],
)
def test_a_ruling_needs_the_fields_of_its_task(
    chen: AdjudicationSession, verdict: LabelVerdict | None, reason: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        chen.decide(following(chen), Answer(verdict=verdict, reason=reason))


def test_types_are_resolved_by_a_subtype(project: Project, chen: AdjudicationSession) -> None:
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(2), Answer(subtype="B3"))
    ben.close()
    with pytest.raises(UsageError, match="subtype"):
        chen.decide(chen.open("type", 2), Answer(verdict="correct"))
    while (conflict := chen.next()) is not None and conflict.task == "correctness":
        chen.decide(conflict, Answer(verdict="correct"))
    assert conflict is not None
    assert {opinion.value for opinion in conflict.opinions} == {"A1", "B3"}
    chen.decide(conflict, Answer(subtype="B3"))
    assert rows(project, "SELECT state, subtype FROM item_states WHERE completion_id = 2") == [("final", "B3")]


def test_the_type_of_excluded_items_needs_no_decision(project: Project, chen: AdjudicationSession) -> None:
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(2), Answer(subtype="B3"))
    ben.close()
    assert chen.count_open() == 4
    chen.decide(chen.open("correctness", 2), Answer(verdict="unsuitable", reason="proof"))
    assert chen.count_open() == 2


def test_verdicts_are_revealed_after_the_decision_and_recorded(project: Project, chen: AdjudicationSession) -> None:
    judge(project)
    conflict = following(chen)
    with pytest.raises(AnnotationError, match="after the decision"):
        chen.verdicts_after(conflict)
    chen.decide(conflict, Answer(verdict="correct"))
    assert chen.verdicts_after(conflict) == [("rule", "correct")]
    assert rows(project, "SELECT kind, subject FROM label_events WHERE view = 'verdicts'") == [
        ("reveal", conflict.subject)
    ]
    chen.undo()
    chen.decide(conflict, Answer(verdict="incorrect"))
    marked = rows(project, "SELECT unblinded FROM label_events WHERE kind = 'adjudication' ORDER BY id")
    assert marked == [(0,), (1,)]


def test_no_verdicts_no_reveal(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    chen.decide(conflict, Answer(verdict="correct"))
    assert chen.verdicts_after(conflict) == []
    assert rows(project, "SELECT count(*) FROM label_events WHERE view = 'verdicts'") == [(0,)]


def test_the_second_adjudicator_learns_that_it_is_resolved(project: Project, chen: AdjudicationSession) -> None:
    people.add_annotators(project, ["dora"])
    dora = AdjudicationSession(project, "dora")
    same = following(dora)
    assert (following(chen).task, following(chen).subject) == (same.task, same.subject)
    chen.decide(following(chen), Answer(verdict="correct"))
    with pytest.raises(AnnotationError, match="resolved"):
        dora.decide(same, Answer(verdict="incorrect"))
    assert rows(project, "SELECT verdict FROM label_events WHERE kind = 'adjudication'") == [("correct",)]


def test_an_adjudicator_who_saw_both_labels_is_unblinded(tmp_path: Path) -> None:
    project = project_of(tmp_path, 1)
    people.assign(project, ["amira", "ben", "chen"], per_item=2)
    for name, verdict in (("amira", "correct"), ("ben", "incorrect")):
        session = AnnotationSession(project, name)
        item = session.next()
        assert item is not None
        session.submit(item, Answer(verdict="correct" if verdict == "correct" else "incorrect"))
        session.close()
    following(AdjudicationSession(project, "chen"))
    amira = AnnotationSession(project, "amira")
    amira.undo()
    amira.release(1)
    amira.close()
    chen = AnnotationSession(project, "chen")
    item = chen.next()
    assert item is not None
    chen.submit(item, Answer(verdict="correct"))
    chen.close()
    labelled = "SELECT unblinded FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
    assert rows(project, labelled + "WHERE a.name = 'chen' AND e.kind = 'label'") == [(1,)]
    project.close()


def test_undo_restores_the_replaced_decision(project: Project, chen: AdjudicationSession) -> None:
    first = following(chen)
    chen.decide(first, Answer(verdict="correct"))
    chen.decide(chen.open(first.task, first.subject), Answer(verdict="incorrect"))
    again = chen.undo()
    assert again is not None
    assert again.own is not None
    assert (again.subject, again.own.verdict) == (first.subject, "correct")
    assert rows(project, "SELECT state, verdict FROM task_states WHERE task = 'correctness' AND subject = ?",
                first.subject) == [("final", "correct")]  # fmt: skip
    again = chen.undo()
    assert again is not None
    assert (again.subject, again.own) == (first.subject, None)
    assert chen.undo() is None


def test_a_second_window_cannot_replace_an_unseen_decision(project: Project, chen: AdjudicationSession) -> None:
    other = AdjudicationSession(project, "chen")
    first = following(chen)
    stale = other.open(first.task, first.subject)
    chen.decide(first, Answer(verdict="correct"))
    with pytest.raises(AnnotationError, match="another window: correct"):
        other.decide(stale, Answer(verdict="incorrect"))
    assert rows(project, "SELECT count(*) FROM label_events WHERE kind = 'adjudication'") == [(1,)]
    other.decide(other.open(first.task, first.subject), Answer(verdict="incorrect"))
    assert chen.open(first.task, first.subject).own == Answer(verdict="incorrect")


def test_undo_after_a_skip_brings_the_skipped_conflict_back(project: Project, chen: AdjudicationSession) -> None:
    chen.decide(following(chen), Answer(verdict="correct"))
    skipped = following(chen)
    chen.skip(skipped)
    assert following(chen).subject != skipped.subject
    again = chen.undo()
    assert again is not None
    assert again.subject == skipped.subject
    assert rows(project, "SELECT count(*) FROM label_events WHERE kind = 'retraction'") == [(0,)]
    chen.undo()
    assert rows(project, "SELECT count(*) FROM label_events WHERE kind = 'retraction'") == [(1,)]
