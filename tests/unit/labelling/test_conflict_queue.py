"""The conflict queue: its order per adjudicator, and excluded adjudicators."""

from __future__ import annotations

from pathlib import Path

from tests.unit.labelling.conflicting import label_all, project_of, put, rows
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.labelling import people
from workbench.labelling.adjudicating import AdjudicationSession
from workbench.labelling.annotating import Answer
from workbench.labelling.coordinating import reopen


def test_a_batch_that_names_an_adjudicator_leaves_its_items_to_that_person(tmp_path: Path) -> None:
    project = project_of(tmp_path, 2)
    people.assign(project, ["amira", "ben"], per_item=2, adjudicator="dora")
    people.add_annotators(project, ["chen"])
    label_all(project, "amira", Answer(verdict="correct"))
    label_all(project, "ben", Answer(verdict="incorrect"))
    assert AdjudicationSession(project, "chen").next() is None
    assert AdjudicationSession(project, "dora").count_open() == 2
    project.close()


def test_two_batches_that_name_different_people_leave_the_item_to_both(tmp_path: Path) -> None:
    project = project_of(tmp_path, 1)
    people.assign(project, ["amira", "ben"], per_item=2, adjudicator="dora")
    people.assign(project, ["amira", "ben", "carl"], per_item=3, adjudicator="emil")
    people.add_annotators(project, ["chen"])
    for name, value in (("amira", "correct"), ("ben", "incorrect"), ("carl", "incorrect")):
        put(project, name, 1, value)
    assert [AdjudicationSession(project, name).count_open() for name in ("chen", "dora", "emil")] == [0, 1, 1]
    project.close()


def test_an_adjudicator_of_an_own_item_leaves_it_to_others(tmp_path: Path) -> None:
    project = project_of(tmp_path, 1)
    people.assign(project, ["amira", "ben"], per_item=2, adjudicator="dora")
    people.add_annotators(project, ["chen"])
    put(project, "amira", 1, "correct")
    put(project, "dora", 1, "incorrect")
    assert [AdjudicationSession(project, name).count_open() for name in ("chen", "dora")] == [1, 0]
    project.close()


def test_conflicts_of_a_named_adjudicator_are_served_to_them_first(tmp_path: Path) -> None:
    project = project_of(tmp_path, 3)
    people.assign(project, ["amira", "ben"], per_item=2, adjudicator="chen", selection=one_of(project, "c2"))
    for item in (1, 2, 3):
        put(project, "amira", item, "correct")
        put(project, "ben", item, "incorrect")
    assert order_of(AdjudicationSession(project, "chen")) == [3, 1, 2]
    project.close()


def one_of(project: Project, key: str) -> Selection:
    return Selection((Condition("completion_id", "=", key),))


def test_an_annotator_of_an_earlier_round_gets_its_conflict_last(tmp_path: Path) -> None:
    project = project_of(tmp_path, 2)
    people.add_annotators(project, ["chen"])
    put(project, "amira", 1, "correct")
    put(project, "ben", 1, "correct")
    reopen(project, [1], reason="the reference was wrong")
    for item, number in ((1, 2), (2, 1)):
        put(project, "dora", item, "correct", round=number)
        put(project, "emil", item, "incorrect", round=number)
    assert order_of(AdjudicationSession(project, "chen")) == [1, 2]
    amira = AdjudicationSession(project, "amira")
    assert order_of(amira) == [2, 1]
    assert AdjudicationSession(project, "dora").count_open() == 0
    conflict = amira.open("correctness", 1)
    assert conflict.round == 2
    amira.decide(conflict, Answer(verdict="correct"))
    assert rows(project, "SELECT round, verdict, decided_by FROM task_states WHERE subject = 1") == [
        (2, "correct", "adjudicated")
    ]
    project.close()


def order_of(session: AdjudicationSession) -> list[int]:
    found: list[int] = []
    while (conflict := session.next()) is not None and conflict.subject not in found:
        found.append(conflict.subject)
        session.skip(conflict)
    return found
