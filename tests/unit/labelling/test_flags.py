"""Flags reach the coordinator, and the answer reaches only the annotator who raised them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import add_items, make_project, merge, numbered
from workbench.core.database.selection import chosen_ids
from workbench.core.errors import UsageError
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection, parse_condition
from workbench.data.store.reading import ItemText, item_text
from workbench.labelling import coordinating, ledger
from workbench.labelling.annotating import AnnotationItem, AnnotationSession, Answer
from workbench.labelling.bundling import bundle
from workbench.labelling.label_export import export_labels
from workbench.labelling.labels import import_labels
from workbench.labelling.people import annotators, assign
from workbench.measuring.briefing import status
from workbench.measuring.browsing import detail


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path, numbered(4))
    assign(made, ["amira", "ben"], per_item=2)
    return made


def the_next(session: AnnotationSession, *beside: int) -> AnnotationItem:
    item = session.next(beside)
    assert item is not None
    return item


def flagged(project: Project, word: str) -> list[int]:
    return chosen_ids(project.database.reader(), Selection((parse_condition(f"flagged={word}"),)))


def test_a_flag_is_open_then_answered_then_read(project: Project) -> None:
    amira, ben = AnnotationSession(project, "amira"), AnnotationSession(project, "ben")
    item = the_next(amira)
    amira.flag(item, True, " Is 7 the same as 7.0? ")
    (flag,) = coordinating.flags(project)
    assert (flag.completion, flag.annotator, flag.asked, flag.is_open) == (
        item.completion, "amira", "Is 7 the same as 7.0?", True,
    )  # fmt: skip
    assert (status(project).flags, flagged(project, "open"), flagged(project, "answered")) == (1, [item.completion], [])
    answered = coordinating.answer(project, item.completion, "Yes.", by="dora")
    assert (answered.flags, answered.to) == (1, ("amira",))
    assert {person.name: person.role for person in annotators(project)}["dora"] == "coordinator"
    assert (status(project).flags, flagged(project, "open"), flagged(project, "answered")) == (0, [], [item.completion])
    assert len(flagged(project, "none")) == 3
    assert ben.answers() == [], "the answer is to amira alone"
    (answer,) = amira.answers()
    assert (answer.answer, answer.asked, answer.heard) == ("Yes.", "Is 7 the same as 7.0?", False)
    opened = amira.open(item.completion)
    assert opened.answer == answer
    amira.mark_answer_read(answer)
    assert [one.heard for one in amira.answers()] == [True]
    amira.mark_answer_read(amira.answers()[0])
    looks = "SELECT count(*) FROM label_events WHERE kind = 'reveal' AND view = 'answer'"
    assert project.database.reader().execute(looks).fetchone() == (1,), "a look at an answer is recorded once"
    amira.submit(opened, Answer(verdict="correct"))
    ben.submit(ben.open(item.completion) if ben.next() is None else the_next(ben), Answer(verdict="correct"))
    rows = project.database.reader().execute(
        "SELECT a.name, e.unblinded FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
        "WHERE e.kind = 'label' ORDER BY 1"
    )
    assert rows.fetchall() == [("amira", 1), ("ben", 0)], "what was answered may have decided the label"
    assert ledger.states_differ(project) == 0


def test_an_answer_is_to_every_open_flag_and_a_second_one_corrects_it(project: Project) -> None:
    amira, ben = AnnotationSession(project, "amira"), AnnotationSession(project, "ben")
    for session in (amira, ben):
        session.flag(AnnotationItem.of(_text(project, 1), asks_type=False), True, session.person.name)
    assert coordinating.answer(project, 1, "Look again.").to == ("amira", "ben")
    amira.mark_answer_read(amira.answers()[0])
    assert coordinating.answer(project, 1, "No: it is wrong.").flags == 2
    assert [one.heard for one in amira.answers()] == [True, False]
    assert [flag.answer for flag in coordinating.flags(project, "all")] == ["No: it is wrong."] * 2
    item = AnnotationItem.of(_text(project, 1), asks_type=False)
    amira.flag(item, False)
    assert [flag.annotator for flag in coordinating.flags(project, "all")] == ["ben"]
    amira.flag(item, True, "and now?")
    assert [flag.asked for flag in coordinating.flags(project)] == ["and now?"]


def _text(project: Project, completion: int) -> ItemText:
    return item_text(project.database.reader(), completion)


def test_an_impossible_answer_is_rejected_with_a_message(project: Project) -> None:
    with pytest.raises(UsageError, match="No flag on the item is open"):
        coordinating.answer(project, 1, "Yes.")
    with pytest.raises(UsageError, match="empty"):
        coordinating.answer(project, 1, " \n")
    with pytest.raises(UsageError, match="Nobody has flagged 'c0'"):
        coordinating.flagged_item(project, "c0")
    add_items(project.database, [{**numbered(1)[0], "dataset": "other"}])
    amira = AnnotationSession(project, "amira")
    for row in (1, 5):
        amira.flag(AnnotationItem.of(_text(project, row), asks_type=False), True)
    with pytest.raises(UsageError, match="flagged in 2 places"):
        coordinating.flagged_item(project, "c0")
    assert coordinating.flagged_item(project, "c0", "other") == 5
    with pytest.raises(UsageError, match="not a valid state of a flag"):
        flagged(project, "yes")


def test_flags_and_answers_travel_in_files_bundles_and_merges(project: Project, tmp_path: Path) -> None:
    amira, ben = AnnotationSession(project, "amira"), AnnotationSession(project, "ben")
    item = the_next(amira)
    for session in (amira, ben):
        session.flag(item, True, f"{session.person.name} asks")
    coordinating.answer(project, item.completion, "Round it.", by="dora")
    before = coordinating.flags(project, "all")
    export_labels(project, tmp_path / "all.jsonl", history=True)
    (tmp_path / "copy").mkdir()
    copy = make_project(tmp_path / "copy", numbered(4))
    assert import_labels(copy, tmp_path / "all.jsonl").refusals == []
    assert coordinating.flags(copy, "all") == before
    assert import_labels(copy, tmp_path / "all.jsonl").imported == 0
    amira.release(item.completion)
    bundle(project, tmp_path / "amira.db", annotator="amira")
    raw = (tmp_path / "amira.db").read_bytes()
    assert b"Round it." in raw
    assert not any(hidden in raw for hidden in (b"dora", b"ben asks"))
    with_amira = open_project(tmp_path / "amira.db")
    away = AnnotationSession(with_amira, "amira")
    (answer,) = away.answers()
    away.mark_answer_read(answer)
    other = the_next(away)
    if other.completion == answer.completion:
        other = the_next(away, answer.completion)
    away.flag(other, True, "from afar")
    away.close()
    with_amira.close()
    report = merge(project, tmp_path / "amira.db")
    assert (report.refused, report.events_new) == ([], 2)
    assert [flag.asked for flag in coordinating.flags(project)] == ["from afar"]
    assert {(flag.annotator, flag.heard) for flag in coordinating.flags(project, "answered")} == {
        ("amira", True), ("ben", False),
    }  # fmt: skip
    assert merge(project, tmp_path / "amira.db").events_new == 0


def test_the_item_page_shows_the_current_flag_and_its_answer(project: Project) -> None:
    amira = AnnotationSession(project, "amira")
    item = the_next(amira)
    for on in (True, False, True):
        amira.flag(item, on, "why?")
    coordinating.answer(project, item.completion, "so", by="dora")
    said = [(label.annotator, label.kind, label.note) for label in detail(project, item.completion).labels]
    assert said == [("amira", "flag", "why?"), ("dora", "answer", "so")]


def test_a_flag_raised_again_keeps_the_earlier_answer(project: Project) -> None:
    amira = AnnotationSession(project, "amira")
    item = the_next(amira)
    amira.flag(item, True, "Round?")
    coordinating.answer(project, item.completion, "Only where asked.", by="dora")
    assert amira.open(item.completion).answer is not None
    amira.flag(item, True, "And units?")
    opened = amira.open(item.completion)
    assert (opened.asked, opened.answer) == ("And units?", None), "the new question is not answered by the old answer"
    assert [(one.asked, one.answer, one.stands) for one in amira.answers()] == [("Round?", "Only where asked.", False)]
    (flag,) = coordinating.flags(project)
    assert (flag.asked, flag.is_open) == ("And units?", True)
    assert [(one.asked, one.answer, one.answered_by) for one in flag.earlier] == [
        ("Round?", "Only where asked.", "dora")
    ]
    coordinating.answer(project, item.completion, "Not needed.", by="dora")
    (flag,) = coordinating.flags(project, "answered")
    assert (flag.answer, len(flag.earlier)) == ("Not needed.", 1)
    answer = amira.open(item.completion).answer
    assert answer is not None
    assert answer.answer == "Not needed."
