"""Checks cannot be distinguished from other items by remaining counts, requested fields or repetition."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered, open_slots_to_all
from workbench.config.settings import AnnotationPolicy
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.labelling import checks, people
from workbench.labelling.annotating import AnnotationItem, AnnotationSession, Answer, Progress
from workbench.labelling.bundling import bundle

FRESH = AnnotationPolicy(check_rate=0, repeat_share=0)
CHECKS = AnnotationPolicy(check_rate=1, repeat_share=0, check_minimum=100)
AGAIN = AnnotationPolicy(check_rate=0, repeat_share=1, repeat_after_hours=0)
TYPED = Answer(verdict="correct", subtype="A1")


def is_check(name: str) -> Selection:
    return Selection((parse_condition(f"completion_id={name}"),))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Six items, two a question; those of the last question are checks."""
    made = make_project(tmp_path, numbered(6, types="labelled"))
    for name in ("c4", "c5"):
        assert checks.add_checks(made, is_check(name)).added == 1
    yield made
    made.close()


def at_work(project: Project, name: str, policy: AnnotationPolicy) -> AnnotationSession:
    return AnnotationSession(project, name, policy=policy)


def following(session: AnnotationSession) -> AnnotationItem:
    item = session.next()
    assert item is not None
    return item


def label(project: Project, name: str, policy: AnnotationPolicy) -> tuple[AnnotationItem, Progress]:
    """Label the next item; return it and the progress afterwards under `AGAIN`."""
    session = at_work(project, name, policy)
    item = following(session)
    session.submit(item, TYPED)
    session.close()
    session = at_work(project, name, AGAIN)
    progress = session.progress()
    session.close()
    return item, progress


def test_a_check_changes_the_remaining_count_like_any_item(project: Project) -> None:
    people.assign(project, ["amira", "ben"], per_item=2)
    check, of_check = label(project, "amira", CHECKS)
    fresh, of_fresh = label(project, "ben", FRESH)
    assert (check.completion > 4, fresh.completion > 4) == (True, False)
    # Either may come once more: that one more is to come says nothing of it.
    assert (of_check.done, of_check.left - of_fresh.left) == (of_fresh.done, 1)


def test_a_check_is_served_once_more_like_any_item(project: Project) -> None:
    people.assign(project, ["amira", "ben"], per_item=2)
    check, _ = label(project, "amira", CHECKS)
    session = at_work(project, "amira", AGAIN)
    again = following(session)
    assert again == check
    session.submit(again, Answer(verdict="incorrect", subtype="B1"))
    said = "SELECT kind, coalesce(verdict, subtype) FROM label_events ORDER BY id"
    assert project.database.reader().execute(said).fetchall() == [
        ("check", "correct"),
        ("check", "A1"),
        ("repeat", "incorrect"),
        ("repeat", "B1"),
    ]
    # The first answer counts.
    assert [(score.n, score.right) for score in checks.report(project)] == [(1, int(check.completion == 5))]
    assert following(session).completion != check.completion
    session.close()


def test_a_skipped_and_released_item_is_served_again(project: Project) -> None:
    people.assign(project, ["amira", "ben"], per_item=2)
    session = at_work(project, "amira", CHECKS)
    check = following(session)
    session.skip(check)
    while (item := following(session)).completion != check.completion:
        session.submit(item, TYPED)
    left = session.progress()
    session.release(check.completion)
    assert session.progress() == left
    assert following(session).completion == check.completion
    session.submit(check, TYPED)
    assert session.progress().left == left.left - 1
    session.close()


def type_each_question(project: Project, name: str) -> None:
    """Label one item of each question and leave the other items to other annotators."""
    session = at_work(project, name, FRESH)
    typed_questions: set[int] = set()
    while (item := following(session)).question not in typed_questions or len(typed_questions) < 2:
        if item.question in typed_questions:
            session.skip(item)
        else:
            session.submit(item, TYPED)
            typed_questions.add(item.question)
    session.skip(item)
    session.close()


def test_a_check_requests_no_type_if_all_types_are_complete(project: Project, tmp_path: Path) -> None:
    people.assign(project, ["amira", "ben", "chidi"], per_item=2)
    open_slots_to_all(project)
    type_each_question(project, "amira")
    type_each_question(project, "ben")
    (tmp_path / "workbench.toml").write_text("[annotation]\ncheck_rate = 1\n")
    taken = bundle(project, tmp_path / "chidi.db", annotator="chidi", days=0)
    assert (taken.written > 2, taken.types) == (True, 0)
    session = at_work(project, "chidi", CHECKS)
    typed_questions = []
    while (item := session.next()) is not None:
        session.submit(item, Answer(verdict="correct"))
        typed_questions.append((item.completion > 4, item.asks_type))
    session.close()
    assert {is_one for is_one, _ in typed_questions} == {True, False}
    assert {asks for _, asks in typed_questions} == {False}
