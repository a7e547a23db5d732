"""Reopening and excluding: with a reason, by a coordinator, and without loss of labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, numbered
from workbench.core.errors import UsageError
from workbench.core.label import LabelVerdict
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.labelling import ledger
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.coordinating import exclude, lift, reopen
from workbench.labelling.excluded import candidate_items, excluded_items
from workbench.labelling.people import assign
from workbench.measuring.briefing import status


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path, numbered(4, types="labelled"))
    assign(made, ["amira", "ben"], per_item=2)
    yield made
    made.close()


def where(text: str) -> Selection:
    return Selection((parse_condition(text),))


def label(
    project: Project, name: str, verdict: LabelVerdict, *, subtype: str | None = "A1", **answer: Any
) -> list[int]:
    """Label everything there is for a person; returns the items."""
    session, items = AnnotationSession(project, name), []
    while (item := session.next()) is not None:
        typed = subtype if item.wants_type else None
        session.submit(item, Answer(verdict=verdict, subtype=typed, **answer))
        items.append(item.completion)
    session.close()
    return items


def events_of(project: Project, kind: str) -> list[tuple[Any, ...]]:
    query = (
        "SELECT e.task, e.subject, a.name, a.role, e.round, e.note, e.exclusion_reason FROM label_events AS e "
        "JOIN annotators AS a ON a.id = e.annotator_id WHERE e.kind = ? ORDER BY e.id"
    )
    return project.database.reader().execute(query, (kind,)).fetchall()


def slots(project: Project, task: str, subject: int) -> list[tuple[int, str]]:
    query = "SELECT round, state FROM assignments WHERE task = ? AND subject = ? ORDER BY round, slot"
    return project.database.reader().execute(query, (task, subject)).fetchall()


def test_a_reopened_item_is_labelled_again_with_the_same_overlap(project: Project) -> None:
    label(project, "amira", "correct")
    label(project, "ben", "correct")
    assert status(project).states["final"] == 4
    done = reopen(project, where("completion_id=c1"), reason=" the reference was corrected ", by="dora")
    assert (done.reopened, done.skipped) == (1, 0)
    assert events_of(project, "reopen") == [
        ("correctness", 2, "dora", "coordinator", 2, "the reference was corrected", None)
    ]
    assert slots(project, "correctness", 2) == [(1, "past"), (1, "past"), (2, "open"), (2, "open")]
    assert status(project).states["labelled"] == 1, "the type of its question still stands"
    assert label(project, "amira", "incorrect") == label(project, "ben", "incorrect") == [2]
    gold = dict(project.database.reader().execute("SELECT completion_id, gold FROM gold").fetchall())
    assert gold == {1: 1, 2: 0, 3: 1, 4: 1}
    assert ledger.states_differ(project) == 0


def test_only_items_with_current_labels_are_reopened(project: Project) -> None:
    label(project, "amira", "correct")
    first = reopen(project, where("question_id=q0"), reason="why")
    assert (first.reopened, first.skipped) == (2, 0)
    again = reopen(project, Selection(), reason="why")
    assert (again.reopened, again.skipped) == (2, 2)
    assert reopen(project, Selection(), reason="why").reopened == 0
    assert {row[2:5] for row in events_of(project, "reopen")} == {("coordinator", "coordinator", 2)}


def test_the_type_of_a_question_is_reopened_once_for_all_its_items(project: Project) -> None:
    label(project, "amira", "correct")
    label(project, "ben", "correct")
    assert reopen(project, [1, 2], reason="types changed", task="type").reopened == 1
    assert reopen(project, [1, 2], reason="all of it", task="both").reopened == 2
    assert [row[:2] for row in events_of(project, "reopen")] == [("type", 1), ("correctness", 1), ("correctness", 2)]
    assert status(project).states == {"unlabelled": 2, "labelled": 0, "conflict": 0, "final": 2, "excluded": 0}


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_reopening_needs_a_reason(project: Project, reason: str) -> None:
    with pytest.raises(UsageError, match="reason"):
        reopen(project, [1], reason=reason)


def test_labels_before_a_reopening_cannot_be_undone(project: Project) -> None:
    session = AnnotationSession(project, "amira")
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="correct", subtype="A1"))
    reopen(project, [item.completion], reason="why", task="both")
    assert session.undo() is None
    assert events_of(project, "retraction") == []
    session.close()


def test_an_excluded_item_is_listed_but_not_counted(project: Project) -> None:
    label(project, "amira", "correct")
    label(project, "ben", "correct")
    done = exclude(project, where("completion_id=c0"), reason="proof", note="asks why", by="dora")
    assert (done.excluded, done.skipped) == (1, 0)
    assert status(project).states["excluded"] == 1
    assert project.database.reader().execute("SELECT gold FROM gold WHERE completion_id = 1").fetchone() == (None,)
    (listed,) = excluded_items(project)
    assert (listed.completion_id, listed.reason, listed.how) == ("c0", "proof", "coordinator")
    assert (listed.people, listed.notes) == (("dora",), ("asks why",))


def test_a_repeated_exclusion_stores_nothing_unless_its_reason_differs(project: Project) -> None:
    exclude(project, [1], reason="proof")
    assert exclude(project, [1], reason="proof").skipped == 1
    assert exclude(project, [1], reason="truncated", by="dora").excluded == 1
    assert [(item.reason, item.people) for item in excluded_items(project)] == [("truncated", ("dora",))]
    assert len(events_of(project, "exclusion")) == 2


def test_any_coordinator_lifts_an_exclusion_and_labels_count_again(project: Project) -> None:
    label(project, "amira", "correct")
    label(project, "ben", "correct")
    exclude(project, [1, 2], reason="proof", by="dora")
    lifted = lift(project, Selection(), by="emil", note="it asks for a number as well")
    assert (lifted.lifted, lifted.skipped) == (2, 2)
    assert excluded_items(project) == []
    assert status(project).states["final"] == 4
    assert {row[2] for row in events_of(project, "retraction")} == {"emil"}


def test_exclusions_are_listed_with_author_and_reason(project: Project) -> None:
    label(project, "amira", "unsuitable", reason="truncated", note="ends early", subtype=None)
    label(project, "ben", "unsuitable", reason="proof", subtype=None)
    found = excluded_items(project, where("completion_id=c3"))
    assert [(item.completion_id, item.how, item.people) for item in found] == [("c3", "agreed", ("amira", "ben"))]
    assert found[0].notes == ("ends early", "")
    assert lift(project, Selection()).lifted == 0, "what people agreed on is reopened, not lifted"


def test_other_needs_a_note(project: Project) -> None:
    with pytest.raises(UsageError, match="note"):
        exclude(project, [1], reason="other")
    with pytest.raises(UsageError, match="reason"):
        exclude(project, [1], reason="nonsense")


def test_candidates_skip_excluded_items(tmp_path: Path) -> None:
    rows = [{"question": "Prove that 1 = 1."}, {"question": "What is 3 + 4?"}, {"question": "Show that 2 = 2."}]
    project = make_project(tmp_path, rows)
    found = list(candidate_items(project))
    assert [(item.completion_id, item.reason) for item in found] == [("c0", "proof"), ("c2", "proof")]
    exclude(project, where("completion_id=c0"), reason="proof")
    assert [item.completion_id for item in candidate_items(project)] == ["c2"]
    assert list(candidate_items(project, where("completion_id=c1"))) == []
