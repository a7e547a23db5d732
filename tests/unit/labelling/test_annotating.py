"""Annotation sessions: one label per annotator, nothing lost or duplicated, and complete undo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, make_shared, numbered, open_slots_to_all
from workbench.core.errors import AnnotationError, AnsweredElsewhereError, UsageError
from workbench.core.label import coordinator_name
from workbench.core.project import Project
from workbench.labelling import ledger, people
from workbench.labelling.adjudicating import AdjudicationSession
from workbench.labelling.annotating import AnnotationItem, AnnotationSession, Answer, Progress
from workbench.labelling.labels import import_labels
from workbench.measuring.briefing import status
from workbench.measuring.browsing import detail

CORRECT = Answer(verdict="correct")
INCORRECT = Answer(verdict="incorrect")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Four items of four questions, whose types people settle; two labels each by amira, ben and chen."""
    made = make_shared(tmp_path, "amira", "ben", "chen")
    yield made
    made.close()


@pytest.fixture
def ben(project: Project) -> Iterator[AnnotationSession]:
    session = AnnotationSession(project, "ben")
    yield session
    session.close()


def following(session: AnnotationSession) -> AnnotationItem:
    item = session.next()
    assert item is not None
    return item


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    return project.database.reader().execute(sql, parameters).fetchall()


def state(project: Project, task: str, subject: int) -> Any:
    found = rows(project, "SELECT state, verdict FROM task_states WHERE task = ? AND subject = ?", task, subject)
    return found[0] if found else None


def test_unknown_annotators_are_rejected_by_name(project: Project) -> None:
    with pytest.raises(UsageError, match=r"no annotator 'zoe'.*amira"):
        AnnotationSession(project, "zoe")


def test_a_label_is_stored_with_its_context(project: Project, amira: AnnotationSession) -> None:
    item = following(amira)
    (uuid,) = amira.submit(
        item, Answer(verdict="incorrect", unsure=True, note="off by one", open_ms=900, focused_ms=800, view="card")
    )
    (row,) = rows(
        project,
        "SELECT uuid, kind, task, subject, verdict, unsure, note, open_ms, focused_ms, view, guideline, schema, "
        "content_hash, unblinded, supersedes FROM label_events",
    )
    assert row == (
        uuid, "label", "correctness", item.completion, "incorrect", 1, "off by one", 900, 800, "card", None, 2,
        item.content_hash, 0, None,
    )  # fmt: skip
    assert state(project, "correctness", item.completion) == ("labelled", None)


def test_tags_and_partial_credit_are_stored_with_the_verdict(project: Project, amira: AnnotationSession) -> None:
    item = following(amira)
    amira.submit(item, Answer(verdict="correct", tags=("reasoning_wrong",), partial=0.5, wait_ms=40, keys=3))
    again = amira.open(item.completion)
    assert (again.tags, again.partial) == (("reasoning_wrong",), 0.5)
    assert rows(project, "SELECT tags, partial, wait_ms, keys FROM label_events") == [
        ('["reasoning_wrong"]', 0.5, 40, 3)
    ]
    for odd in (Answer(verdict="correct", tags=("nonsense",)), Answer(verdict="correct", partial=1.5)):
        with pytest.raises(UsageError):
            amira.submit(item, odd)


def test_a_note_that_could_not_be_merged_is_rejected(project: Project, amira: AnnotationSession) -> None:
    with pytest.raises(AnnotationError, match="100,000"):
        amira.submit(following(amira), Answer(verdict="correct", note="n" * 100_001))
    for note in ("a\0b", "a\ud800b"):
        with pytest.raises(AnnotationError, match="The note"):
            amira.submit(following(amira), Answer(verdict="correct", note=note))
    assert rows(project, "SELECT count(*) FROM label_events") == [(0,)]


def test_verdict_and_type_are_stored_together(project: Project, amira: AnnotationSession) -> None:
    item = following(amira)
    assert item.asks_type
    assert item.wants_type
    assert len(amira.submit(item, Answer(verdict="correct", subtype="A1"))) == 2
    again = amira.open(item.completion)
    assert (again.verdict, again.subtype, again.wants_type) == ("correct", "A1", False)


def test_the_same_answer_again_stores_nothing(project: Project, amira: AnnotationSession) -> None:
    item = following(amira)
    amira.submit(item, CORRECT)
    assert amira.submit(item, CORRECT) == []
    assert rows(project, "SELECT count(*) FROM label_events") == [(1,)]


def test_an_edit_supersedes_and_keeps_the_slot(project: Project, amira: AnnotationSession) -> None:
    item = following(amira)
    (first,) = amira.submit(item, CORRECT)
    amira.submit(amira.open(item.completion), INCORRECT)
    assert rows(project, "SELECT supersedes, verdict FROM label_events ORDER BY id") == [
        (None, "correct"),
        (first, "incorrect"),
    ]
    assert rows(project, "SELECT count(*) FROM assignments WHERE state = 'done' AND task = 'correctness'") == [(1,)]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(verdict="unsuitable"), "needs a reason"),
        (Answer(verdict="unsuitable", reason="boring"), "needs a reason"),
        (Answer(verdict="unsuitable", reason="other"), "needs a note"),
        (Answer(verdict="unsuitable", reason="other", note="  "), "needs a note"),
    ],
)
def test_unsuitable_needs_a_reason(project: Project, amira: AnnotationSession, answer: Answer, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        amira.submit(following(amira), answer)
    assert rows(project, "SELECT count(*) FROM label_events") == [(0,)]


def test_the_next_item_differs_from_the_current_one(amira: AnnotationSession) -> None:
    first = following(amira)
    ahead = amira.next(beside=(first.completion,))
    assert ahead is not None
    assert ahead.completion != first.completion
    again = amira.next(beside=(first.completion,))
    assert again is not None
    assert again.completion == ahead.completion


def test_a_new_session_resumes_the_last_item(project: Project, amira: AnnotationSession) -> None:
    item = following(amira)
    later = AnnotationSession(project, "amira")
    assert following(later).completion == item.completion
    later.close()


def test_everyone_gets_every_item_until_the_quota_is_full(
    project: Project, amira: AnnotationSession, ben: AnnotationSession
) -> None:
    for session in (amira, ben):
        seen = set()
        while (item := session.next()) is not None:
            session.submit(item, Answer(verdict="correct", subtype="A1"))
            seen.add(item.completion)
        assert len(seen) == 4
        assert session.progress() == Progress(4, 0)
    chen = AnnotationSession(project, "chen")
    assert chen.next() is None
    assert rows(project, "SELECT DISTINCT state FROM item_states") == [("final",)]
    chen.close()


def test_skipped_items_are_served_last(amira: AnnotationSession) -> None:
    skipped = []
    for _ in range(2):
        found = following(amira)
        amira.skip(found)
        skipped.append(found.completion)
    order = []
    while (item := amira.next()) is not None:
        order.append(item.completion)
        amira.submit(item, Answer(verdict="correct", subtype="A1"))
    assert len(order) == 4
    assert order[-2:] == skipped


def test_undo_retracts_label_by_label(project: Project, amira: AnnotationSession) -> None:
    first = following(amira)
    amira.submit(first, Answer(verdict="correct", subtype="A1"))
    second = following(amira)
    amira.submit(second, Answer(verdict="incorrect", subtype="A1"))
    opened = amira.undo()
    assert opened is not None
    assert (opened.completion, opened.verdict, opened.subtype) == (second.completion, None, None)
    opened = amira.undo()
    assert opened is not None
    assert (opened.completion, opened.verdict) == (first.completion, None)
    assert amira.undo() is None
    assert state(project, "correctness", first.completion) == ("unlabelled", None)
    assert rows(project, "SELECT count(*) FROM assignments WHERE state = 'done'") == [(0,)]


def test_undo_of_an_edit_restores_the_earlier_answer(amira: AnnotationSession) -> None:
    first = following(amira)
    amira.submit(first, Answer(verdict="correct", subtype="A1"))
    second = following(amira)
    amira.submit(second, Answer(verdict="correct", subtype="A1"))
    amira.submit(amira.open(first.completion), INCORRECT)
    restored = amira.undo()
    assert restored is not None
    assert (restored.completion, restored.verdict) == (first.completion, "correct")
    opened = amira.undo()
    assert opened is not None
    assert opened.completion == second.completion
    opened = amira.undo()
    assert opened is not None
    assert (opened.completion, opened.verdict) == (first.completion, None)


def test_undo_of_a_single_type_opens_its_item(amira: AnnotationSession) -> None:
    item = following(amira)
    amira.submit(item, CORRECT)
    amira.submit(item, Answer(subtype="B2"))
    following(amira)
    opened = amira.undo()
    assert opened is not None
    assert (opened.completion, opened.verdict, opened.wants_type) == (item.completion, "correct", True)


def test_undo_of_a_label_keeps_its_note_as_a_draft(amira: AnnotationSession) -> None:
    item = following(amira)
    amira.submit(item, Answer(verdict="correct", subtype="A1", note="look again"))
    again = amira.undo()
    assert again is not None
    assert (again.completion, again.verdict, again.note) == (item.completion, None, "look again")


def test_undo_works_after_a_restart(project: Project, amira: AnnotationSession) -> None:
    item = following(amira)
    amira.submit(item, CORRECT)
    later = AnnotationSession(project, "amira")
    opened = later.undo()
    assert opened is not None
    assert (opened.completion, opened.verdict) == (item.completion, None)
    later.close()


def test_a_label_without_its_type_is_served_again_first(project: Project, amira: AnnotationSession) -> None:
    item = following(amira)
    amira.submit(item, CORRECT)
    again = following(amira)
    assert (again.completion, again.verdict, again.wants_type) == (item.completion, "correct", True)
    amira.submit(again, Answer(subtype="A1"))
    assert following(amira).completion != item.completion


def test_a_skipped_type_is_served_last(project: Project, amira: AnnotationSession) -> None:
    item = following(amira)
    amira.submit(item, CORRECT)
    amira.skip(item)
    order = []
    while (found := amira.next()) is not None:
        order.append(found.completion)
        amira.submit(found, Answer(verdict=None if found.verdict else "correct", subtype="A1"))
    assert order[-1] == item.completion
    assert len(order) == 4


def test_an_unsuitable_item_needs_no_type(project: Project, amira: AnnotationSession) -> None:
    item = following(amira)
    amira.submit(item, Answer(verdict="unsuitable", reason="proof"))
    assert rows(project, "SELECT count(*) FROM assignments WHERE task = 'type' AND state <> 'open'") == [(0,)]
    served = []
    while (found := amira.next()) is not None:
        served.append(found.completion)
        amira.submit(found, Answer(verdict="correct", subtype="A1"))
    assert item.completion not in served


def test_overruling_unsuitable_is_not_visible(
    project: Project, amira: AnnotationSession, ben: AnnotationSession, tmp_path: Path
) -> None:
    """The annotator is not asked for the type, because the adjudicator states it as well."""
    item = following(amira)
    amira.submit(item, Answer(verdict="unsuitable", reason="proof"))
    for session in (amira, ben):
        while (found := session.next()) is not None:
            session.submit(found, Answer(verdict="correct", subtype="A1" if found.wants_type else None))
    before = amira.progress()
    people.add_annotators(project, ["dora"])
    dora = AdjudicationSession(project, "dora")
    conflict = dora.next()
    assert conflict is not None
    assert (conflict.task, conflict.subject) == ("correctness", item.completion)
    dora.decide(conflict, Answer(verdict="correct"))
    assert amira.next() is None
    assert amira.progress() == before
    assert status(project).states["final"] == 3
    (question,) = rows(project, "SELECT key FROM questions WHERE id = ?", item.question)
    line = {"question_id": question[0], "annotator": "dora", "role": "adjudicator", "answer_subtype": "A1"}
    (tmp_path / "type.jsonl").write_text(json.dumps(line))
    assert import_labels(project, tmp_path / "type.jsonl").imported == 1
    assert status(project).states["final"] == 4
    assert ledger.states_differ(project) == 0


def test_an_expired_lease_is_reassigned_and_the_draft_stays(
    project: Project, amira: AnnotationSession, ben: AnnotationSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    chen = AnnotationSession(project, "chen")
    held = following(amira)
    amira.keep_draft(held, "half a thought")
    with project.database.write() as connection:
        connection.execute("UPDATE assignments SET expires_at = 1 WHERE state = 'leased'")
    for session in (ben, chen):
        item = following(session)
        assert item.completion == held.completion
        session.submit(item, Answer(verdict="correct", subtype="A1"))
    with pytest.raises(AnnotationError, match="Enough other annotators have labelled this item in the meantime"):
        amira.submit(held, CORRECT)
    assert rows(project, "SELECT note FROM drafts") == [("half a thought",)]
    chen.close()


def test_an_expired_lease_is_renewed_while_the_quota_is_open(
    project: Project, amira: AnnotationSession, ben: AnnotationSession
) -> None:
    held = following(amira)
    chen = AnnotationSession(project, "chen")
    for session in (ben, chen):
        with project.database.write() as connection:
            connection.execute("UPDATE assignments SET expires_at = 1 WHERE state = 'leased'")
        assert following(session).completion == held.completion
    with project.database.write() as connection:
        connection.execute("UPDATE assignments SET expires_at = 1 WHERE state = 'leased'")
    assert len(amira.submit(held, CORRECT)) == 1
    chen.close()


def test_prefetched_items_can_be_released(project: Project, amira: AnnotationSession) -> None:
    first = following(amira)
    ahead = amira.next(beside=(first.completion,))
    assert ahead is not None
    amira.release(ahead.completion)
    leased = rows(project, "SELECT task, subject FROM assignments WHERE state = 'leased' ORDER BY task")
    assert leased == [("correctness", first.completion), ("type", first.question)]


def test_items_of_others_cannot_be_opened(amira: AnnotationSession, ben: AnnotationSession) -> None:
    with pytest.raises(AnnotationError, match="not assigned to you"):
        ben.open(following(amira).completion)


def test_drafts_and_flags_stay_with_the_item(amira: AnnotationSession) -> None:
    item = following(amira)
    amira.keep_draft(item, "look at [b]this[/b]")
    amira.flag(item, True)
    again = following(amira)
    assert (again.note, again.flagged) == ("look at [b]this[/b]", True)
    amira.flag(item, False)
    amira.submit(item, Answer(verdict="correct", subtype="A1", note=again.note))
    assert amira.open(item.completion).flagged is False
    amira.keep_draft(item, "")
    assert [entry.note for entry in amira.history()] == ["look at [b]this[/b]"]


def test_history_shows_own_current_labels_newest_first(amira: AnnotationSession, ben: AnnotationSession) -> None:
    first = following(amira)
    amira.submit(first, Answer(verdict="correct", subtype="A1"))
    second = following(amira)
    amira.submit(second, Answer(verdict="unsuitable", reason="truncated"))
    amira.submit(amira.open(first.completion), INCORRECT)
    ben.submit(following(ben), CORRECT)
    assert [(entry.completion, entry.verdict, entry.reason, entry.subtype) for entry in amira.history()] == [
        (first.completion, "incorrect", "", "A1"),
        (second.completion, "unsuitable", "truncated", ""),
    ]


def test_a_label_after_a_reveal_is_marked_unblinded(project: Project, amira: AnnotationSession) -> None:
    name = coordinator_name()
    people.assign(project, [name, "dora", "eli"], per_item=3)
    session = AnnotationSession(project, name)
    item = following(session)
    detail(project, item.completion)
    session.submit(item, Answer(verdict="correct", subtype="A1"))
    assert rows(project, "SELECT DISTINCT unblinded FROM label_events WHERE kind = 'label'") == [(1,)]
    session.close()


def test_an_adjudicator_cannot_label_the_item(
    project: Project, amira: AnnotationSession, ben: AnnotationSession
) -> None:
    from workbench.labelling.adjudicating import AdjudicationSession

    item = following(amira)
    amira.submit(item, CORRECT)
    ben.submit(ben.open(following(ben).completion), INCORRECT)
    third = AdjudicationSession(project, "chen")
    conflict = third.next()
    assert conflict is not None
    third.decide(conflict, Answer(verdict="correct"))
    with project.database.write() as connection:
        connection.execute("UPDATE assignments SET state = 'open', annotator_id = NULL WHERE task = 'correctness'")
    chen = AnnotationSession(project, "chen")
    with pytest.raises(AnnotationError, match="none of the annotators"):
        chen.submit(item, CORRECT)
    chen.close()


def test_imported_labels_can_be_corrected_and_retracted(tmp_path: Path) -> None:
    import json

    from workbench.labelling.labels import import_labels

    project = make_project(tmp_path, numbered(2))
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps({"completion_id": "c0", "annotator": "amira", "verdict": "correct"}) + "\n")
    import_labels(project, path)
    session = AnnotationSession(project, "amira")
    session.submit(session.open(1), INCORRECT)
    assert [entry.verdict for entry in session.history()] == ["incorrect"]
    session.undo()
    session.undo()
    assert session.history() == []
    session.submit(session.open(1), CORRECT)
    assert [entry.verdict for entry in session.history()] == ["correct"]
    session.close()
    project.close()


def test_undo_retracts_no_label_of_another_question(tmp_path: Path) -> None:
    import json

    from workbench.labelling.labels import import_labels

    at = "2025-01-01T00:00:00.000000Z"
    project = make_project(tmp_path, numbered(4))
    path = tmp_path / "labels.jsonl"
    lines = [
        {"completion_id": "c0", "annotator": "amira", "answer_subtype": "A1", "created_at": at},
        {"completion_id": "c2", "annotator": "amira", "verdict": "correct", "created_at": at},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_labels(project, path)
    session = AnnotationSession(project, "amira")
    session.undo()
    assert rows(project, "SELECT task, subject FROM label_events WHERE kind = 'retraction'") == [("correctness", 3)]
    session.close()
    project.close()


def test_progress_equals_the_number_of_served_items(tmp_path: Path) -> None:
    from workbench.labelling.adjudicating import AdjudicationSession

    project = make_project(tmp_path, numbered(3))
    people.assign(project, ["amira", "ben", "chen"], per_item=2)
    open_slots_to_all(project)
    for name, answer in (("amira", CORRECT), ("ben", INCORRECT)):
        session = AnnotationSession(project, name)
        session.submit(following(session), answer)
        session.close()
    adjudication = AdjudicationSession(project, "chen")
    conflict = adjudication.next()
    assert conflict is not None
    adjudication.decide(conflict, Answer(verdict="correct"))
    people.assign(project, ["amira", "ben", "chen"], per_item=3)
    session = AnnotationSession(project, "chen")
    promised, served = session.progress().left, 0
    while (item := session.next()) is not None:
        session.submit(item, CORRECT)
        served += 1
    assert served == promised == 2
    session.close()
    project.close()


def test_a_coordinator_stays_unblinded_as_an_annotator(project: Project) -> None:
    session = AnnotationSession(project, "amira")
    item = following(session)
    detail(project, item.completion, ("amira",))
    session.submit(item, Answer(verdict="correct", subtype="A1"))
    assert rows(project, "SELECT DISTINCT unblinded FROM label_events WHERE kind = 'label'") == [(1,)]
    session.close()


def test_undo_after_a_skip_restores_the_item_and_keeps_labels(project: Project, amira: AnnotationSession) -> None:
    first = following(amira)
    amira.submit(first, Answer(verdict="correct", subtype="A1"))
    second = following(amira)
    amira.skip(second)
    third = following(amira)
    assert third.completion not in (first.completion, second.completion)
    again = amira.undo()
    assert again is not None
    assert (again.completion, again.verdict) == (second.completion, None)
    assert rows(project, "SELECT count(*) FROM label_events WHERE kind = 'retraction'") == [(0,)]
    amira.submit(again, Answer(verdict="incorrect", subtype="A1"))
    for item in (second, first):
        again = amira.undo()
        assert again is not None
        assert again.completion == item.completion


def test_undo_after_undo_and_skip_restores_the_skipped_item(project: Project, amira: AnnotationSession) -> None:
    first = following(amira)
    amira.submit(first, Answer(verdict="correct", subtype="A1"))
    second = following(amira)
    amira.submit(second, Answer(verdict="correct", subtype="A1"))
    again = amira.undo()
    assert again is not None
    amira.skip(again)
    back = amira.undo()
    assert back is not None
    assert back.completion == second.completion
    assert rows(project, "SELECT count(*) FROM label_events WHERE kind = 'retraction'") == [(2,)]


def test_a_second_window_cannot_replace_an_unseen_label(project: Project, amira: AnnotationSession) -> None:
    other = AnnotationSession(project, "amira")
    stale = following(other)
    amira.submit(amira.open(stale.completion), Answer(verdict="correct", note="see line 3"))
    with pytest.raises(AnsweredElsewhereError, match="another window: correct"):
        other.submit(stale, Answer(verdict="incorrect"))
    assert rows(project, "SELECT verdict, note FROM label_events") == [("correct", "see line 3")]
    other.submit(other.open(stale.completion), Answer(verdict="incorrect"))
    amira.submit(amira.open(stale.completion), Answer(verdict="correct"))
    assert rows(project, "SELECT verdict FROM label_events") == [("correct",), ("incorrect",), ("correct",)]
    other.close()
