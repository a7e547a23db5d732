"""The third person: sees both sides without names, decides, takes back; never settles an item of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, numbered
from workbench.errors import AnnotationError, UsageError
from workbench.model.label import LabelVerdict
from workbench.services.labelling import people
from workbench.services.labelling.adjudicating import AdjudicationSession, Conflict, Ruling
from workbench.services.labelling.annotating import AnnotationSession, Answer
from workbench.services.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Three items; amira and ben differ on all of them."""
    rows = [{**row, "question_id": f"q{number}"} for number, row in enumerate(numbered(3, types="labelled"))]
    made = make_project(tmp_path, rows)
    people.assign(made, ["amira", "ben"], per_item=2)
    people.add_annotators(made, ["chen"])
    label_all(made, "amira", Answer(verdict="correct", subtype="A1", note="same value", focused_ms=4000))
    label_all(made, "ben", Answer(verdict="incorrect", subtype="A1", unsure=True))
    yield made
    made.close()


@pytest.fixture
def chen(project: Project) -> AdjudicationSession:
    return AdjudicationSession(project, "chen")


def label_all(project: Project, name: str, answer: Answer) -> None:
    session = AnnotationSession(project, name)
    while (item := session.next()) is not None:
        session.submit(item, answer)
    session.close()


def following(session: AdjudicationSession) -> Conflict:
    conflict = session.next()
    assert conflict is not None
    return conflict


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    return project.database.reader().execute(sql, parameters).fetchall()


def judge(project: Project) -> None:
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO verifiers (name, kind, config, config_hash, created_at) VALUES ('rule', '', '', '', '')"
        )
        connection.execute(
            "INSERT INTO runs (verifier_id, version, selection, workers, state, items, created_at, completed_at) "
            "VALUES (1, '1', '', 1, 'complete', 3, '', 'x')"
        )
        connection.executemany("INSERT INTO verdicts VALUES (1, ?, 0, 1, NULL, NULL, 1.0)", [(1,), (2,), (3,)])


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


def test_the_order_of_a_and_b_says_nothing_and_stays(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(40))
    people.assign(project, ["amira", "ben"], per_item=2)
    label_all(project, "amira", Answer(verdict="correct"))
    label_all(project, "ben", Answer(verdict="incorrect"))
    people.add_annotators(project, ["chen"])
    session = AdjudicationSession(project, "chen")
    first = [session.open("correctness", item).opinions[0].value for item in range(1, 41)]
    assert 5 < first.count("correct") < 35
    assert first == [session.open("correctness", item).opinions[0].value for item in range(1, 41)]
    project.close()


def test_a_decision_settles_the_item_and_names_what_it_saw(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    assert chen.left() == 3
    chen.decide(conflict, Ruling(verdict="incorrect", note="8 is not 7", open_ms=10, focused_ms=9, view="card"))
    assert chen.left() == 2
    assert rows(project, "SELECT state, verdict, decided_by FROM task_states WHERE task = 'correctness' "
                "AND subject = ?", conflict.subject) == [("final", "incorrect", "adjudicated")]  # fmt: skip
    (event,) = rows(project, "SELECT note, open_ms, focused_ms, view, guideline, seen FROM label_events "
                    "WHERE kind = 'adjudication'")  # fmt: skip
    assert event[:5] == ("8 is not 7", 10, 9, "card", "1")
    assert all(uuid in event[5] for uuid in conflict.seen)


def test_nobody_settles_what_they_labelled(project: Project, chen: AdjudicationSession) -> None:
    amira = AdjudicationSession(project, "amira")
    assert amira.next() is None
    assert amira.left() == 0
    with pytest.raises(AnnotationError, match="settle"):
        amira.decide(following(chen), Ruling(verdict="correct"))


def test_a_batch_that_names_an_adjudicator_leaves_its_items_to_that_person(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    people.assign(project, ["amira", "ben"], per_item=2, adjudicator="dora")
    people.add_annotators(project, ["chen"])
    label_all(project, "amira", Answer(verdict="correct"))
    label_all(project, "ben", Answer(verdict="incorrect"))
    assert AdjudicationSession(project, "chen").next() is None
    assert AdjudicationSession(project, "dora").left() == 2
    project.close()


def test_a_skipped_conflict_comes_again_at_the_end(chen: AdjudicationSession) -> None:
    skipped = following(chen)
    chen.skip(skipped)
    order = []
    for _ in range(3):
        conflict = following(chen)
        order.append(conflict.subject)
        chen.decide(conflict, Ruling(verdict="correct"))
    assert order[-1] == skipped.subject
    assert chen.next() is None


def test_undo_opens_the_conflict_again(project: Project, chen: AdjudicationSession) -> None:
    assert chen.undo() is None
    conflict = following(chen)
    chen.decide(conflict, Ruling(verdict="correct"))
    again = AdjudicationSession(project, "chen").undo()
    assert again == conflict
    assert chen.left() == 3
    chen.decide(following(chen), Ruling(verdict="correct"))


def test_a_label_that_changed_meanwhile_is_looked_at_first(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(conflict.subject), Answer(verdict="unsuitable", reason="proof"))
    with pytest.raises(AnnotationError, match="changed meanwhile"):
        chen.decide(conflict, Ruling(verdict="correct"))
    ben.close()


def test_a_late_label_opens_the_item_again(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    chen.decide(conflict, Ruling(verdict="correct"))
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(conflict.subject), Answer(verdict="unsuitable", reason="proof"))
    assert chen.left() == 3
    chen.decide(chen.open("correctness", conflict.subject), Ruling(verdict="incorrect"))
    assert rows(project, "SELECT verdict FROM task_states WHERE task = 'correctness' AND subject = ?",
                conflict.subject) == [("incorrect",)]  # fmt: skip
    ben.close()


@pytest.mark.parametrize(
    ("verdict", "reason", "message"),
    [(None, None, "correct, incorrect or unsuitable"), ("unsuitable", None, "reason"), ("unsuitable", "other", "note")],
)
def test_a_ruling_has_what_its_task_needs(
    chen: AdjudicationSession, verdict: LabelVerdict | None, reason: str | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        chen.decide(following(chen), Ruling(verdict=verdict, reason=reason))


def test_types_are_settled_by_a_subtype(project: Project, chen: AdjudicationSession) -> None:
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(2), Answer(subtype="B3"))
    ben.close()
    with pytest.raises(UsageError, match="subtype"):
        chen.decide(chen.open("type", 2), Ruling(verdict="correct"))
    while (conflict := chen.next()) is not None and conflict.task == "correctness":
        chen.decide(conflict, Ruling(verdict="correct"))
    assert conflict is not None
    assert {opinion.value for opinion in conflict.opinions} == {"A1", "B3"}
    chen.decide(conflict, Ruling(subtype="B3"))
    assert rows(project, "SELECT state, subtype FROM item_states WHERE completion_id = 2") == [("final", "B3")]


def test_the_type_of_excluded_items_needs_no_decision(project: Project, chen: AdjudicationSession) -> None:
    ben = AnnotationSession(project, "ben")
    ben.submit(ben.open(2), Answer(subtype="B3"))
    ben.close()
    assert chen.left() == 4
    chen.decide(chen.open("correctness", 2), Ruling(verdict="unsuitable", reason="proof"))
    assert chen.left() == 2


def test_verdicts_are_shown_after_the_decision_and_the_look_is_recorded(
    project: Project, chen: AdjudicationSession
) -> None:
    judge(project)
    conflict = following(chen)
    with pytest.raises(AnnotationError, match="after the decision"):
        chen.verdicts_after(conflict)
    chen.decide(conflict, Ruling(verdict="correct"))
    assert chen.verdicts_after(conflict) == [("rule", "correct")]
    assert rows(project, "SELECT kind, subject FROM label_events WHERE view = 'verdicts'") == [
        ("reveal", conflict.subject)
    ]
    chen.undo()
    chen.decide(conflict, Ruling(verdict="incorrect"))
    marked = rows(project, "SELECT unblinded FROM label_events WHERE kind = 'adjudication' ORDER BY id")
    assert marked == [(0,), (1,)]


def test_no_verdicts_no_reveal(project: Project, chen: AdjudicationSession) -> None:
    conflict = following(chen)
    chen.decide(conflict, Ruling(verdict="correct"))
    assert chen.verdicts_after(conflict) == []
    assert rows(project, "SELECT count(*) FROM label_events WHERE view = 'verdicts'") == [(0,)]


def test_the_second_of_two_people_is_told_that_it_is_settled(project: Project, chen: AdjudicationSession) -> None:
    people.add_annotators(project, ["dora"])
    dora = AdjudicationSession(project, "dora")
    same = following(dora)
    assert (following(chen).task, following(chen).subject) == (same.task, same.subject)
    chen.decide(following(chen), Ruling(verdict="correct"))
    with pytest.raises(AnnotationError, match="settled"):
        dora.decide(same, Ruling(verdict="incorrect"))
    assert rows(project, "SELECT verdict FROM label_events WHERE kind = 'adjudication'") == [("correct",)]


def test_whoever_has_seen_both_labels_is_not_blind_any_more(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(1))
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


def test_nothing_is_shown_before_a_decision_but_texts_and_labels(tmp_path: Path) -> None:
    marks = {"model": "MARKMODEL", "source": "MARKSOURCE", "domain": "MARKDOMAIN", "subtype": "A8", "type": "A"}
    project = make_project(tmp_path, [{**row, **marks, "gold": True} for row in numbered(3)])
    people.assign(project, ["MARKONE", "MARKTWO"], per_item=2)
    people.add_annotators(project, ["chen"])
    label_all(project, "MARKONE", Answer(verdict="correct"))
    label_all(project, "MARKTWO", Answer(verdict="incorrect"))
    judge(project)
    session = AdjudicationSession(project, "chen")
    conflict = following(session)
    seen = repr((conflict, session.left()))
    assert "MARK" not in seen
    assert "A8" not in seen
    with pytest.raises(AnnotationError, match="after"):
        session.verdicts_after(conflict)
    project.close()
