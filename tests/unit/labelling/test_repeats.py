"""Repeated items and new rounds: blind to the earlier label and stored separately."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, numbered
from workbench.config.settings import AnnotationPolicy
from workbench.core.errors import AnnotationError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.labelling import coordinating, people
from workbench.labelling.annotating import AnnotationItem, AnnotationSession, Answer
from workbench.labelling.ledger import states_differ

PLAIN = AnnotationPolicy(check_rate=0, repeat_share=0)
AGAIN = AnnotationPolicy(check_rate=0, repeat_share=1, repeat_after_hours=0)
"""As long as an own item may be repeated, the next one is that."""

FULL = Answer(verdict="correct", subtype="A1", note="sure of it", tags=("guessed",), partial=0.5)
OTHER = Answer(verdict="incorrect", subtype="B1")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Three items of three questions whose types people settle, labelled by amira and ben."""
    rows = [{**row, "question_id": f"q{n}"} for n, row in enumerate(numbered(3, types="labelled"))]
    made = make_project(tmp_path, rows)
    people.assign(made, ["amira", "ben"], per_item=2)
    yield made
    made.close()


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    return project.database.reader().execute(sql, parameters).fetchall()


def following(at_work: AnnotationSession) -> AnnotationItem:
    item = at_work.next()
    assert item is not None
    return item


def labelled_once(project: Project) -> tuple[AnnotationItem, AnnotationSession]:
    """Amira has labelled and flagged one item; the next that she is served is that one once more."""
    first = AnnotationSession(project, "amira", policy=PLAIN)
    item = following(first)
    first.flag(item, True)
    first.submit(item, FULL)
    first.close()
    return item, AnnotationSession(project, "amira", policy=AGAIN)


def test_a_repeat_shows_no_trace_of_the_earlier_answer(project: Project) -> None:
    before, at_work = labelled_once(project)
    left = at_work.progress()
    again = following(at_work)
    assert again == before
    assert (again.verdict, again.subtype, again.note, again.tags, again.partial, again.flagged) == (
        None, None, "", (), None, False,
    )  # fmt: skip
    assert again.wants_type
    assert at_work.history() == []
    assert at_work.progress() == left
    at_work.close()


def test_a_repeat_is_stored_separately_from_label_and_quota(project: Project) -> None:
    item, at_work = labelled_once(project)
    states = rows(project, "SELECT * FROM task_states")
    at_work.submit(following(at_work), OTHER)
    assert rows(project, "SELECT task, kind, coalesce(verdict, subtype) FROM label_events WHERE kind <> 'flag'") == [
        ("correctness", "label", "correct"),
        ("type", "label", "A1"),
        ("correctness", "repeat", "incorrect"),
        ("type", "repeat", "B1"),
    ]
    assert rows(project, "SELECT * FROM task_states") == states
    assert states_differ(project) == 0
    assert rows(project, "SELECT purpose, state, count(*) FROM assignments WHERE annotator_id = 1 GROUP BY 1, 2") == [
        ("quota", "done", 2),
        ("repeat", "done", 2),
    ]
    assert at_work.progress().done == 2
    # Each item is repeated once and listed once in the history.
    assert following(at_work).completion != item.completion
    (entry,) = at_work.history()
    assert (entry.completion, entry.verdict, entry.subtype) == (item.completion, "incorrect", "B1")
    at_work.close()


def test_only_labels_that_are_old_enough_are_repeated(project: Project) -> None:
    item, at_work = labelled_once(project)
    at_work.close()
    patient = AnnotationSession(
        project, "amira", policy=AnnotationPolicy(check_rate=0, repeat_share=1, repeat_after_hours=1)
    )
    assert following(patient).completion != item.completion
    patient.close()


def test_repeats_end_with_the_fresh_items(project: Project) -> None:
    at_work = AnnotationSession(project, "amira", policy=AGAIN)
    order = []
    while (item := at_work.next()) is not None:
        at_work.submit(item, FULL)
        order.append(item.completion)
    # The last fresh item is never repeated: nothing is left that it could come ahead of.
    assert len(order) == 5
    assert at_work.progress().left == 0
    at_work.close()


def test_undo_and_edit_work_on_a_repeat(project: Project) -> None:
    item, at_work = labelled_once(project)
    at_work.submit(following(at_work), OTHER)
    at_work.submit(at_work.open(item.completion), Answer(verdict="unsuitable", reason="proof", subtype="B1"))
    back = at_work.undo()
    assert back is not None
    assert (back.completion, back.verdict) == (item.completion, "incorrect")
    back = at_work.undo()
    assert back is not None
    assert (back.completion, back.verdict, back.subtype, back.note) == (item.completion, None, None, "")
    assert rows(project, "SELECT kind FROM label_events WHERE task = 'correctness' AND kind <> 'flag' ORDER BY id") == [
        ("label",), ("repeat",), ("repeat",), ("repeat",), ("retraction",),
    ]  # fmt: skip
    back = at_work.undo()
    assert back is not None
    assert rows(project, "SELECT count(*) FROM assignments WHERE purpose = 'repeat' AND task = 'correctness'") == [(0,)]
    at_work.submit(back, OTHER)
    assert rows(project, "SELECT kind FROM label_events WHERE task = 'correctness' ORDER BY id DESC LIMIT 1") == [
        ("label",)
    ]
    at_work.close()


def test_a_repeat_with_an_expired_lease_does_not_replace_the_label(project: Project) -> None:
    _, at_work = labelled_once(project)
    again = following(at_work)
    with project.database.write() as connection:
        connection.execute(
            "UPDATE assignments SET state = 'open', annotator_id = NULL, expires_at = NULL WHERE state = 'leased'"
        )
    at_work.submit(again, OTHER)
    kinds = rows(project, "SELECT kind, verdict FROM label_events WHERE task = 'correctness' AND kind <> 'flag'")
    assert kinds == [("label", "correct"), ("repeat", "incorrect")]
    at_work.close()


def test_a_correction_after_releasing_the_repeat_is_a_label(project: Project) -> None:
    item, at_work = labelled_once(project)
    at_work.release(following(at_work).completion)
    shown = at_work.open(item.completion)
    assert shown.verdict == "correct"
    at_work.submit(shown, OTHER)
    kinds = rows(project, "SELECT kind, verdict FROM label_events WHERE task = 'correctness' AND kind <> 'flag'")
    assert kinds == [("label", "correct"), ("label", "incorrect")]
    at_work.close()


def reopened(project: Project, completion: int) -> None:
    """Begin a new round of both tasks of an item."""
    key = f"c{completion - 1}"
    chosen = Selection((parse_condition(f"completion_id={key}"),))
    coordinating.reopen(project, chosen, reason="look again", task="both")


def both_label(project: Project) -> AnnotationItem:
    """Amira and ben have labelled all; returns amira's first."""
    first = None
    for name in ("amira", "ben"):
        at_work = AnnotationSession(project, name, policy=PLAIN)
        while (item := at_work.next()) is not None:
            at_work.submit(item, FULL)
            first = first or item
        at_work.close()
    assert first is not None
    return first


def test_a_new_round_is_blind_and_only_its_labels_count(project: Project) -> None:
    first = both_label(project)
    reopened(project, first.completion)
    at_work = AnnotationSession(project, "amira", policy=PLAIN)
    item = following(at_work)
    assert (item.completion, item.verdict, item.subtype, item.note, item.tags) == (first.completion, None, None, "", ())
    at_work.submit(item, OTHER)
    events = rows(project, "SELECT kind, round, verdict FROM label_events WHERE task = 'correctness' AND subject = ? "
                  "AND annotator_id = 1", first.completion)  # fmt: skip
    assert events == [("label", 1, "correct"), ("label", 2, "incorrect")]
    assert at_work.next() is None
    at_work.close()


def test_a_label_of_a_past_round_cannot_be_changed(project: Project) -> None:
    first = both_label(project)
    reopened(project, first.completion)
    at_work = AnnotationSession(project, "amira", policy=PLAIN)
    old = at_work.open(first.completion)
    assert old.verdict == "correct"
    with pytest.raises(AnnotationError, match="reopened after"):
        at_work.submit(old, OTHER)
    for _ in range(2):
        back = at_work.undo()
        assert back is not None
        assert back.completion != first.completion
    assert at_work.undo() is None
    at_work.close()


def test_an_expired_lease_of_a_new_round_is_renewed(project: Project) -> None:
    first = both_label(project)
    reopened(project, first.completion)
    at_work = AnnotationSession(project, "amira", policy=PLAIN)
    item = following(at_work)
    with project.database.write() as connection:
        connection.execute(
            "UPDATE assignments SET state = 'open', annotator_id = NULL, expires_at = NULL WHERE state = 'leased'"
        )
    assert len(at_work.submit(item, OTHER)) == 2
    at_work.close()


def test_a_new_round_prefers_annotators_new_to_the_item(project: Project) -> None:
    people.assign(project, ["amira", "ben", "chen"], per_item=2)
    first = both_label(project)
    reopened(project, first.completion)
    meant = rows(project, "SELECT meant_for FROM assignments WHERE task = 'correctness' AND round = 2 ORDER BY slot")
    assert meant == [(3,), (None,)]
    people.assign(project, ["amira", "ben", "chen", "dora"], per_item=2)
    chen = AnnotationSession(project, "chen", policy=PLAIN)
    assert following(chen).completion == first.completion
    chen.close()
