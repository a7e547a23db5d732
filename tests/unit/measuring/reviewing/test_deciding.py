"""Review decisions: confirm, mark an error, send back, retract; each is stored completely or not at all."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from tests.helpers import make_project, numbered
from tests.unit.measuring.reviewing.desk import add_run, label, voted
from workbench.core.database import events
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection, parse_condition
from workbench.labelling import checks
from workbench.labelling.people import add_annotators, assign, pause
from workbench.measuring.records.review import LONGEST_NOTE, ErrorCategory, Review
from workbench.measuring.reviewing.deciding import (
    UndecidableError,
    confirm,
    current_reviews,
    error_counts,
    mark_error,
    reviews_of,
    send_back,
    take_back,
)
from workbench.measuring.reviewing.triage import cause_lines
from workbench.measuring.store import reviews


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two items: ``a`` is wrong on the first and ``b`` on the second; gold is correct, then incorrect."""
    return voted(tmp_path, "-+", "-+", gold="+-")


def kinds(project: Project, item: int = 1) -> list[tuple[str, str | None]]:
    return [(review.kind, review.category) for review in reviews_of(project, item)]


def stored(project: Project) -> list[Review]:
    return list(reviews.every(project.database.reader()))


def slots(project: Project, item: int) -> int:
    row = project.database.reader().execute(
        "SELECT count(*) FROM assignments WHERE task = 'correctness' AND subject = ? AND state = 'open'", (item,)
    )
    return int(row.fetchone()[0])


def test_a_confirmation_records_reviewer_item_queue_and_time(project: Project) -> None:
    made = confirm(project, 1, by="  chris ", queue="split", note=" looked twice ")
    assert reviews_of(project, 1) == [made]
    assert (made.kind, made.gold, made.reviewer, made.queue, made.note) == (
        "confirmed",
        "correct",
        "chris",
        "split",
        "looked twice",
    )
    assert made.created_at.endswith("Z")


def test_deciding_the_same_again_changes_nothing(project: Project) -> None:
    add_annotators(project, ["ann", "ben"])
    first = [
        confirm(project, 1, by="chris"),
        mark_error(project, 1, 1, "format", by="chris"),
        send_back(project, 2, reason="look", by="chris"),
    ]
    again = [
        confirm(project, 1, by="chris"),
        mark_error(project, 1, 1, "format", by="chris", queue="split"),
        send_back(project, 2, reason="look closer", by="dana"),
    ]
    assert again == first
    assert len(stored(project)) == 3


def test_a_newer_mark_on_the_same_verifier_replaces_the_older(project: Project) -> None:
    mark_error(project, 1, 1, "format", by="chris")
    newer = mark_error(project, 1, 1, "extraction", by="dana")
    assert kinds(project) == [("error", "extraction")]
    assert error_counts(project)[0].marked == 1
    take_back(project, newer.uuid, by="chris")
    assert kinds(project) == [("error", "format")]


def test_marks_on_two_verifiers_and_a_confirmation_coexist(tmp_path: Path) -> None:
    project = voted(tmp_path, "--", gold="+")
    mark_error(project, 1, 1, "format", by="chris")
    mark_error(project, 1, 2, "units", by="chris")
    confirm(project, 1, by="chris")
    assert kinds(project) == [("error", "format"), ("error", "units"), ("confirmed", None)]


def test_sending_back_replaces_a_confirmation(project: Project) -> None:
    add_annotators(project, ["ann", "ben"])
    confirm(project, 1, by="chris")
    send_back(project, 1, reason="the reference is partial", by="chris")
    assert kinds(project) == [("reannotate", None)]


def test_a_retraction_is_an_event_and_a_second_one_changes_nothing(project: Project) -> None:
    made = confirm(project, 1, by="chris")
    gone = take_back(project, made.uuid, by="dana")
    assert (gone.kind, gone.supersedes, gone.reviewer) == ("retraction", made.uuid, "dana")
    assert take_back(project, made.uuid, by="chris") == gone
    assert [review.uuid for review in stored(project)] == [made.uuid, gone.uuid]
    assert reviews_of(project, 1) == []
    confirm(project, 1, by="chris")
    assert kinds(project) == [("confirmed", None)]


@pytest.mark.parametrize("which", ["nonsense", "the retraction"])
def test_only_decisions_can_be_retracted(project: Project, which: str) -> None:
    gone = take_back(project, confirm(project, 1, by="chris").uuid, by="chris")
    with pytest.raises(UsageError, match="There is no decision"):
        take_back(project, gone.uuid if which == "the retraction" else which, by="chris")


def test_sending_back_starts_a_new_round_and_reopens_the_slots(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2, gold=None))
    assign(project, ["ann", "ben", "cy"])
    label(project, 1, {"ann": "correct", "ben": "correct"})
    made = send_back(project, 1, reason="the reference says otherwise", by="chris")
    reader = project.database.reader()
    assert events.round_of(reader, "correctness", 1) == 2
    assert reviews.gold_of(reader, [1])[1].word == "none"
    assert made.gold == "correct"
    reopened = [event for event in events.events_of(reader, "correctness", 1) if event.kind == "reopen"]
    assert [event.note for event in reopened] == ["the reference says otherwise"]


def test_a_resolved_item_can_be_sent_back_again(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2, gold=None))
    add_annotators(project, ["ann", "ben"])
    label(project, 1, {"ann": "correct", "ben": "correct"})
    first = send_back(project, 1, reason="look", by="chris")
    label(project, 1, {"ann": "incorrect"})
    assert send_back(project, 1, reason="look", by="chris") == first
    label(project, 1, {"ben": "incorrect"})
    second = send_back(project, 1, reason="look", by="chris")
    assert second != first
    assert second.gold == "incorrect"
    assert events.round_of(project.database.reader(), "correctness", 1) == 3


def test_an_unassigned_item_gets_two_slots_and_keeps_its_imported_gold(project: Project) -> None:
    add_annotators(project, ["ann", "ben", "paused"])
    pause(project, "paused", "")
    send_back(project, 1, reason="look", by="chris")
    assert slots(project, 1) == 2
    assert slots(project, 2) == 0
    reader = project.database.reader()
    assert reviews.gold_of(reader, [1])[1] == ("correct", "imported", 0)
    team = {
        row[0]
        for row in reader.execute(
            "SELECT a.name FROM batch_annotators AS b JOIN annotators AS a ON a.id = b.annotator_id"
        )
    }
    assert team == {"ann", "ben"}


def test_an_item_with_open_slots_gets_no_more_slots(project: Project) -> None:
    assign(project, ["ann", "ben", "cy"], per_item=3)
    send_back(project, 1, reason="look", by="chris")
    assert slots(project, 1) == 3


@pytest.mark.parametrize("names", [[], ["ann"], ["ann", "chris"]])
def test_sending_back_needs_two_annotators_besides_the_reviewer(project: Project, names: list[str]) -> None:
    add_annotators(project, names)
    with pytest.raises(UsageError, match="2 annotators must label it again"):
        send_back(project, 1, reason="look", by="chris")
    assert stored(project) == []


def test_a_check_is_not_sent_back(project: Project) -> None:
    add_annotators(project, ["ann", "ben"])
    checks.add_checks(project, Selection((parse_condition("completion_id=c0"),)))
    with pytest.raises(UndecidableError, match="is a check"):
        send_back(project, 1, reason="look", by="chris")
    with pytest.raises(UndecidableError, match="no gold to confirm"):
        confirm(project, 1, by="chris")


def test_a_verdict_that_gold_agrees_with_is_no_error(project: Project) -> None:
    with pytest.raises(UndecidableError, match="so does gold"):
        mark_error(project, 1, 2, "format", by="chris")


def test_an_abstention_may_be_an_error(tmp_path: Path) -> None:
    project = voted(tmp_path, "?", gold="+")
    assert mark_error(project, 1, 1, "extraction", by="chris").verifier == "a"


def test_a_run_without_a_verdict_on_the_item_has_no_error(tmp_path: Path) -> None:
    project = voted(tmp_path, "-", ".", gold="++")
    with pytest.raises(UndecidableError, match="Run 1 has no verdict on this item"):
        mark_error(project, 2, 1, "format", by="chris")
    with pytest.raises(UndecidableError, match="Run 9 has no verdict"):
        mark_error(project, 1, 9, "format", by="chris")


@pytest.mark.parametrize(
    ("category", "note", "message"),
    [
        ("nonsense", "", "not a valid kind of error"),
        ("other", "  ", "needs a note"),
        ("units", "x" * (LONGEST_NOTE + 1), "100,000"),
    ],
)
def test_an_error_needs_a_kind_and_a_valid_note(
    project: Project, category: ErrorCategory, note: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        mark_error(project, 1, 1, category, by="chris", note=note)
    assert stored(project) == []


@pytest.mark.parametrize("by", ["", "  ", "a\nb", "x" * 101])
def test_a_decision_needs_a_reviewer_name(project: Project, by: str) -> None:
    with pytest.raises(UsageError, match="not a valid annotator name"):
        confirm(project, 1, by=by)


def test_an_unknown_item_is_rejected(project: Project) -> None:
    with pytest.raises(UndecidableError, match="no item with row id 99"):
        confirm(project, 99, by="chris")


def test_sending_back_needs_a_reason(project: Project) -> None:
    with pytest.raises(UsageError, match="needs a reason"):
        send_back(project, 1, reason=" ", by="chris")


def test_a_reviewer_is_a_coordinator_and_has_seen_the_item(project: Project) -> None:
    confirm(project, 1, by="chris")
    reader = project.database.reader()
    person, role = reader.execute("SELECT id, role FROM annotators WHERE name = 'chris'").fetchone()
    assert role == "coordinator"
    assert events.was_revealed(reader, person, "correctness", 1)
    assert events.was_revealed(reader, person, "type", 1)
    assert not events.was_revealed(reader, person, "correctness", 2)


@pytest.mark.parametrize(
    "note", ["\x1b[31mred", "[bold]x[/]", "a\nb\tc", "=cmd()", "'; DROP TABLE reviews; --", "\u202e"]
)
def test_any_note_text_survives_a_round_trip(project: Project, note: str) -> None:
    assert confirm(project, 1, by="chris", note=note).note == note.strip()
    assert reviews_of(project, 1)[0].note == note.strip()


def test_reviews_are_append_only(project: Project) -> None:
    confirm(project, 1, by="chris")
    for statement in ("UPDATE reviews SET note = 'x'", "DELETE FROM reviews"):
        with pytest.raises(Exception, match="append-only"), project.database.write() as connection:
            connection.execute(statement)


class TestCounts:
    def test_errors_are_counted_by_verifier_group_and_kind(self, tmp_path: Path) -> None:
        rows = [
            {"completion_id": f"c{number}", "gold": True, "subtype": subtype}
            for number, subtype in enumerate(["A1", "A1", "B2", None])
        ]
        project = make_project(tmp_path, rows)
        add_run(project, "a", "----")
        add_run(project, "b", "----")
        categories: tuple[ErrorCategory, ...] = ("format", "format", "units", "other")
        for item, category in enumerate(categories, 1):
            mark_error(project, item, 1, category, by="chris", note="x")
        mark_error(project, 1, 2, "units", by="chris")
        assert [(row.verifier, row.group, row.category, row.count, row.marked) for row in error_counts(project)] == [
            ("a", None, "format", 2, 4),
            ("a", None, "units", 1, 4),
            ("a", None, "other", 1, 4),
            ("b", None, "units", 1, 1),
        ]
        by_subtype = error_counts(project, ("a",), "subtype")
        assert [(row.group, row.category, row.count) for row in by_subtype] == [
            ("A1", "format", 2),
            ("B2", "units", 1),
            ("untyped", "other", 1),
        ]
        assert [row.group for row in error_counts(project, ("b",), "type")] == ["A"]

    def test_a_mark_is_outdated_once_gold_agrees_with_the_verdict(self, project: Project) -> None:
        mark_error(project, 1, 1, "format", by="chris")
        mark_error(project, 2, 2, "format", by="chris")
        label(project, 1, {"ann": "incorrect", "ben": "incorrect"})
        assert [(row.verifier, row.count, row.outdated) for row in error_counts(project)] == [("b", 1, 0)]
        assert [(line.verifier, line.n) for line in cause_lines(project, ("a", "b"))] == [("b", 1)]
        label(project, 1, {"ann": "correct", "ben": "correct"})

    def test_a_current_review_has_its_gold_then_and_now(self, project: Project) -> None:
        confirm(project, 1, by="chris")
        label(project, 1, {"ann": "incorrect", "ben": "incorrect"})
        review = current_reviews(project)[0]
        assert (review.completion_id, review.gold, review.gold_now) == ("c0", "correct", "incorrect")


class TestInterruptions:
    def test_a_failed_decision_is_rolled_back(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        add_annotators(project, ["ann", "ben"])
        label(project, 1, {"ann": "correct", "ben": "correct"})
        before = list(project.database.reader().iterdump())

        def broken(*_: object) -> NoReturn:
            raise KeyboardInterrupt

        monkeypatch.setattr(reviews, "append", broken)
        decisions: tuple[Callable[[], Review], ...] = (
            lambda: send_back(project, 1, reason="look", by="chris"),
            lambda: send_back(project, 2, reason="look", by="chris"),
            lambda: mark_error(project, 1, 1, "format", by="chris"),
            lambda: confirm(project, 1, by="chris"),
        )
        for decide in decisions:
            with pytest.raises(KeyboardInterrupt):
                decide()
        assert list(project.database.reader().iterdump()) == before

    def test_a_crash_keeps_the_earlier_decisions(self, project: Project) -> None:
        add_annotators(project, ["ann", "ben"])
        script = (
            "import os, sys\n"
            "from workbench.core.project import open_project\n"
            "from workbench.measuring.reviewing import deciding\n"
            "project = open_project(sys.argv[1])\n"
            "deciding.confirm(project, 1, by='chris')\n"
            "deciding.reviews.append = lambda *_: os._exit(9)\n"
            "deciding.send_back(project, 2, reason='look', by='chris')\n"
        )
        done = subprocess.run([sys.executable, "-c", script, str(project.path)], check=False)
        assert done.returncode == 9
        assert [review.kind for review in stored(project)] == ["confirmed"]
        assert slots(project, 2) == 0
        assert send_back(project, 2, reason="look", by="chris").kind == "reannotate"

    def test_two_reviewers_at_once_send_an_item_back_once(self, project: Project) -> None:
        add_annotators(project, ["ann", "ben"])
        label(project, 1, {"ann": "correct", "ben": "correct"})
        start, made = threading.Barrier(2), list[str]()

        def decide(name: str) -> None:
            own = open_project(project.path)
            start.wait()
            made.append(send_back(own, 1, reason="look", by=name).uuid)
            mark_error(own, 1, 1, "format" if name == "chris" else "units", by=name)
            own.close()

        threads = [threading.Thread(target=decide, args=(name,)) for name in ("chris", "dana")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 2
        assert len(set(made)) == 1
        assert events.round_of(project.database.reader(), "correctness", 1) == 2
        assert len([kind for kind, _ in kinds(project) if kind == "error"]) == 1
