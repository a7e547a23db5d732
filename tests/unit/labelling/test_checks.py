"""Checks: which items can be checks, how they stay hidden, how they count, and their consequences."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, numbered
from tests.unit.labelling.recording import Record
from workbench.config.settings import AnnotationPolicy
from workbench.core.errors import AnnotationError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.data.store.reading import stream_items
from workbench.labelling import checks, people
from workbench.labelling.annotating import AnnotationItem, AnnotationSession, Answer, Progress
from workbench.labelling.ledger import recompute, states_differ
from workbench.labelling.store import claiming
from workbench.measuring.briefing import status
from workbench.measuring.columns import columns

EVERY = AnnotationPolicy(check_rate=1, repeat_share=0, check_minimum=100)
"""As long as there is a check, the next item is one."""

CORRECT, INCORRECT = Answer(verdict="correct"), Answer(verdict="incorrect")


def items(name: str) -> Selection:
    return Selection((parse_condition(f"completion_id={name}"),))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Six items of six questions whose types people settle; c0 (correct) and c1 (incorrect) are checks."""
    rows = [{**row, "question_id": f"q{n}"} for n, row in enumerate(numbered(6, types="labelled"))]
    made = make_project(tmp_path, rows)
    for name in ("c0", "c1"):
        assert checks.add_checks(made, items(name)).added == 1
    people.assign(made, ["amira", "ben"], per_item=2)
    yield made
    made.close()


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    return project.database.reader().execute(sql, parameters).fetchall()


def session(project: Project, policy: AnnotationPolicy = EVERY, name: str = "amira") -> AnnotationSession:
    return AnnotationSession(project, name, policy=policy)


def following(at_work: AnnotationSession) -> AnnotationItem:
    item = at_work.next()
    assert item is not None
    return item


def test_checks_get_no_slots_and_are_excluded_from_benchmarks(project: Project) -> None:
    assert rows(project, "SELECT count(DISTINCT subject) FROM assignments WHERE task = 'correctness'") == [(4,)]
    assert rows(project, "SELECT count(*) FROM assignments WHERE subject IN (1, 2)") == [(0,)]
    assert rows(project, "SELECT gold FROM gold WHERE completion_id IN (1, 2)") == [(None,), (None,)]
    found = status(project)
    assert (found.checks, sum(found.states.values()), found.people[0].left) == (2, 6, 4)


@pytest.mark.parametrize("choice", ["final", "people", "imported"])
def test_checks_have_no_gold_under_any_choice(project: Project, choice: Any) -> None:
    reader = project.database.reader()
    with_gold = 0 if choice == "people" else 4
    known = columns(project)
    assert (known.gold(choice) >= 0).sum() == with_gold
    exported = {item.completion_key: (item.gold, item.gold_from) for item in stream_items(reader, Selection(), choice)}
    assert exported["c0"] == exported["c1"] == (None, None)
    chosen = Selection((parse_condition("gold=none"),))
    found = known.chosen(chosen)
    assert found is not None
    assert found.sum() == 2


def test_a_check_looks_like_any_item_and_its_answer_changes_no_state(project: Project) -> None:
    at_work = session(project)
    before = at_work.progress()
    check = following(at_work)
    assert check.completion in (1, 2)
    assert (check.asks_type, check.wants_type, check.verdict) == (True, True, None)
    assert at_work.progress() == before
    at_work.submit(check, Answer(verdict="correct", subtype="A1"))
    assert at_work.progress() == Progress(before.done + 1, before.left - 1)
    assert rows(project, "SELECT DISTINCT kind FROM label_events") == [("check",)]
    assert rows(project, "SELECT count(*) FROM label_events") == [(2,)]
    assert rows(project, "SELECT count(*) FROM task_states") == [(0,)]
    assert rows(project, "SELECT count(*) FROM item_states") == [(0,)]
    assert [entry.completion for entry in at_work.history()] == [check.completion]
    assert at_work.open(check.completion).verdict == "correct"
    assert states_differ(project) == 0
    at_work.close()


def test_remaining_items_decrease_by_one_with_every_item(project: Project) -> None:
    at_work = session(project, AnnotationPolicy(check_rate=0.4, repeat_share=0, check_minimum=100))
    promised, served = at_work.progress().left, []
    while (item := at_work.next()) is not None:
        left = at_work.progress().left
        at_work.submit(item, Answer(verdict="correct", subtype="A1"))
        served.append(item.completion)
        assert at_work.progress() == Progress(len(served), left - 1)
    assert len(served) == promised
    assert len(set(served)) == len(served)
    at_work.close()


def test_a_skipped_check_is_served_last_like_any_item(project: Project) -> None:
    at_work = session(project)
    check = following(at_work)
    left = at_work.progress().left
    at_work.skip(check)
    assert at_work.progress().left == left
    order = []
    while (item := at_work.next()) is not None:
        at_work.submit(item, Answer(verdict="correct", subtype="A1"))
        order.append(item.completion)
    assert order[-1] == check.completion
    assert sorted(order) == [1, 2, 3, 4, 5, 6]
    at_work.close()


def test_a_released_check_is_served_again(project: Project) -> None:
    at_work = session(project)
    check = following(at_work)
    at_work.release(check.completion)
    again = session(project)
    assert following(again).completion == check.completion
    at_work.close()
    again.close()


def test_a_check_with_an_expired_lease_stays_a_check(project: Project) -> None:
    at_work = session(project)
    check = following(at_work)
    with project.database.write() as connection:
        connection.execute(
            "UPDATE assignments SET state = 'open', annotator_id = NULL, expires_at = NULL WHERE state = 'leased'"
        )
    at_work.submit(check, CORRECT)
    assert rows(project, "SELECT kind FROM label_events") == [("check",)]
    assert rows(project, "SELECT state, annotator_id FROM assignments WHERE purpose = 'check' AND task = 'correctness'"
                ) == [("done", 1)]  # fmt: skip
    at_work.close()


def test_undo_and_edit_work_on_a_check(project: Project) -> None:
    at_work = session(project)
    check = following(at_work)
    at_work.submit(check, CORRECT)
    at_work.submit(at_work.open(check.completion), INCORRECT)
    back = at_work.undo()
    assert back is not None
    assert (back.completion, back.verdict) == (check.completion, "correct")
    back = at_work.undo()
    assert back is not None
    assert (back.completion, back.verdict) == (check.completion, None)
    assert following(at_work).completion == check.completion
    assert rows(project, "SELECT kind FROM label_events ORDER BY id") == [
        ("check",),
        ("check",),
        ("check",),
        ("retraction",),
    ]
    at_work.submit(check, CORRECT)
    kept = rows(project, "SELECT * FROM task_states")
    recompute(project)
    assert rows(project, "SELECT * FROM task_states") == kept
    assert {row[2] for row in kept} == {"unlabelled"}
    at_work.close()


def test_an_unsuitable_check_needs_no_type(project: Project) -> None:
    at_work = session(project)
    check = following(at_work)
    at_work.submit(check, Answer(verdict="unsuitable", reason="proof"))
    assert following(at_work).completion != check.completion
    at_work.close()


def test_the_type_of_a_question_with_other_items_is_an_ordinary_label(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2, types="labelled"))
    checks.add_checks(project, items("c0"))
    people.assign(project, ["amira", "ben"])
    at_work = session(project)
    check = following(at_work)
    assert check.completion == 1
    at_work.submit(check, Answer(verdict="correct", subtype="A1"))
    assert rows(project, "SELECT kind, task FROM label_events ORDER BY id") == [
        ("check", "correctness"),
        ("label", "type"),
    ]
    at_work.close()


def test_an_assigned_question_needs_a_type_despite_its_check(tmp_path: Path) -> None:
    project = make_project(tmp_path, [*numbered(2, types="labelled"), {"question_id": "q9", "types": "labelled"}])
    checks.add_checks(project, items("c0"))
    people.assign(project, ["amira"], per_item=1, selection=Selection((parse_condition("question_id=q9"),)))
    at_work = session(project)
    at_work.submit(following(at_work), Answer(verdict="correct", subtype="A1"))
    at_work.submit(following(at_work), Answer(verdict="correct", subtype="A1"))
    people.assign(project, ["amira"], per_item=1)
    item = following(at_work)
    assert (item.completion, item.subtype, item.wants_type) == (2, None, True)
    at_work.submit(item, Answer(verdict="incorrect", subtype="B1"))
    assert rows(project, "SELECT kind, subtype FROM label_events WHERE task = 'type' AND subject = 1 ORDER BY id") == [
        ("check", "A1"),
        ("label", "B1"),
    ]
    assert at_work.next() is None
    at_work.close()


def test_items_with_labels_slots_or_no_gold_are_rejected(project: Project) -> None:
    found = checks.add_checks(project, Selection())
    assert (found.added, found.unchanged, found.refused) == (0, 2, 4)
    assert found.refusals == [{"items": 4, "message": checks.AT_WORK}]
    assert checks.add_checks(project, items("c3"), "people").refusals[0]["message"] == checks.NO_ANSWER


def test_a_resolved_item_can_become_a_check_for_others(project: Project) -> None:
    for name in ("amira", "ben"):
        at_work = session(project, AnnotationPolicy(check_rate=0, repeat_share=0), name)
        for _ in range(4):
            at_work.submit(following(at_work), Answer(verdict="incorrect", subtype="A1"))
        at_work.close()
    assert rows(project, "SELECT gold, gold_from FROM gold WHERE completion_id = 3") == [(0, "agreed")]
    assert checks.add_checks(project, items("c2"), "people").added == 1
    assert rows(project, "SELECT gold, gold_from FROM gold WHERE completion_id = 3") == [(None, None)]
    people.add_annotators(project, ["chen"])
    with project.database.write() as connection:
        assert 3 not in claiming.unanswered_checks(connection, 1)
        assert 3 in claiming.unanswered_checks(connection, 3)


def test_checks_are_read_from_a_file(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    file = tmp_path / "known.jsonl"
    lines = [
        {"completion_id": "c0", "verdict": "unsuitable"},
        {"completion_id": "c1", "verdict": "correct", "dataset": "sample", "question_id": "q0"},
        {"completion_id": "c9", "verdict": "correct"},
        {"completion_id": "c2", "verdict": "maybe"},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{\n")
    found = checks.import_checks(project, file)
    assert (found.added, found.refused) == (2, 3)
    assert [(refusal["line"], refusal["field"]) for refusal in found.refusals] == [
        (3, "completion_id"),
        (4, "verdict"),
        (5, None),
    ]
    assert checks.import_checks(project, file).unchanged == 2
    assert [(check.completion_id, check.verdict) for check in checks.checks(project)] == [
        ("c0", "unsuitable"),
        ("c1", "correct"),
    ]


def test_a_removed_check_is_an_ordinary_item_for_other_annotators(project: Project) -> None:
    at_work = session(project)
    check = following(at_work)
    at_work.submit(check, Answer(verdict="correct", subtype="A1"))
    open_one = following(at_work)
    assert {check.completion, open_one.completion} == {1, 2}
    assert checks.remove_checks(project, Selection()) == 2
    assert checks.remove_checks(project, Selection()) == 0
    people.assign(project, ["amira", "ben"], per_item=2)
    served = []
    while (item := at_work.next()) is not None:
        at_work.submit(item, Answer(verdict="correct", subtype="A1"))
        served.append(item.completion)
    # The answered item is served last, for its type only: the answer to a check is no label.
    assert sorted(served) == [1, 2, 3, 4, 5, 6]
    assert served[-1] == check.completion
    labels = "SELECT task FROM label_events WHERE kind = 'label' AND subject = ?"
    assert rows(project, labels, check.completion) == [("type",)]
    at_work.close()


def test_the_report_counts_current_answers(project: Project) -> None:
    at_work = session(project)
    for _ in range(2):
        at_work.submit(following(at_work), Answer(verdict="correct", subtype="A1"))
    (score,) = checks.report(project)
    assert (score.annotator, score.n, score.right, score.accuracy, score.paused) == ("amira", 2, 1, 0.5, False)
    # Clopper and Pearson's of half a success in one trial: the design effect of two questions that differ is 2.
    assert (score.lo, score.hi) == pytest.approx((0.000386, 0.999614), abs=1e-6)
    at_work.submit(at_work.open(2), Answer(verdict="incorrect", subtype="A1"))
    (score,) = checks.report(project)
    assert (score.n, score.right) == (2, 2)
    assert [(check.answered, check.right) for check in checks.checks(project)] == [(1, 1), (1, 1)]
    at_work.close()


def test_checks_of_a_single_question_have_no_interval(tmp_path: Path) -> None:
    """Twelve checks of six questions are not twelve trials; computed by hand as in test_agreement."""
    made = make_project(tmp_path, numbered(12))
    record = Record(made)
    with made.database.write() as connection:
        connection.execute("INSERT INTO check_items SELECT id, 'correct', '2025-01-01' FROM completions")
    for item in (1, 2):
        record.say("ann", item, "c", kind="check")
    (score,) = checks.report(made)
    assert (score.n, score.accuracy, score.lo, score.hi) == (2, 1.0, None, None)
    for item in range(3, 13):
        record.say("ann", item, "c" if item < 7 else "i", kind="check")
    (score,) = checks.report(made)
    assert (score.n, score.right) == (12, 6)
    assert (score.lo, score.hi) == pytest.approx((0.122754, 0.877246), abs=1e-6)
    made.close()


def test_too_many_wrong_checks_pause_in_the_same_transaction(project: Project) -> None:
    strict = AnnotationPolicy(check_rate=1, repeat_share=0, check_minimum=2, check_threshold=0.7)
    at_work = session(project, strict)
    at_work.submit(following(at_work), Answer(verdict="incorrect", subtype="A1"))
    assert at_work.paused() == ""
    last = following(at_work)
    ahead = at_work.next(beside=(last.completion,))
    assert ahead is not None
    at_work.submit(last, INCORRECT)
    assert "coordinator" in at_work.paused()
    assert "check" not in at_work.paused()
    assert at_work.next() is None
    assert rows(project, "SELECT count(*) FROM assignments WHERE state = 'leased'") == [(0,)]
    with pytest.raises(AnnotationError, match="speak with you"):
        at_work.submit(ahead, CORRECT)
    assert rows(project, "SELECT count(*) FROM label_events WHERE task = 'correctness'") == [(2,)]
    (score,) = checks.report(project)
    assert (score.paused, score.why) == (True, "1 of 2 checks right, below 70%")
    people.resume(project, "amira")
    # Earlier answers no longer count: another wrong answer is only the first.
    at_work.submit(at_work.open(1), Answer(verdict="incorrect", note="again"))
    assert at_work.paused() == ""
    assert following(at_work).completion in (3, 4, 5, 6)
    at_work.close()
