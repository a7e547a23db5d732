"""The view of the adjudicator: whole labels, without author, date or other opinions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.labelling.conflicting import disputed, judge, label_all, project_of, put, rows
from workbench.core.errors import AnnotationError
from workbench.labelling import people
from workbench.labelling.adjudicating import AdjudicationSession, Conflict, adopt_opinion
from workbench.labelling.annotating import AnnotationSession, Answer


def following(session: AdjudicationSession) -> Conflict:
    conflict = session.next()
    assert conflict is not None
    return conflict


def test_a_label_is_shown_without_author_and_date(tmp_path: Path) -> None:
    project = project_of(tmp_path, 1)
    people.assign(project, ["MARKONE", "MARKTWO"], per_item=2)
    people.add_annotators(project, ["chen"])
    label_all(project, "MARKONE", Answer(verdict="unsuitable", reason="proof"))
    session = AnnotationSession(project, "MARKTWO")
    item = session.next()
    assert item is not None
    answer = Answer(verdict="incorrect", tags=("guessed",), partial=0.5, open_ms=900, focused_ms=800, view="card raw")
    session.submit(item, answer)
    session.flag(item, True)
    session.close()
    conflict = following(AdjudicationSession(project, "chen"))
    by_value = {opinion.value: opinion for opinion in conflict.opinions}
    assert by_value["unsuitable"].reason == "proof"
    assert not by_value["unsuitable"].flagged
    said = by_value["incorrect"]
    assert (said.tags, said.partial, said.open_ms, said.focused_ms, said.view, said.flagged) == (
        ("guessed",), 0.5, 900, 800, "card raw", True,
    )  # fmt: skip
    created = rows(project, "SELECT created_at FROM label_events UNION SELECT created_at FROM annotators")
    assert not [mark for mark in ("MARK", *(row[0] for row in created)) if mark in repr(conflict)]
    project.close()


def first_values(session: AdjudicationSession, count: int) -> list[str]:
    return [session.open("correctness", item).opinions[0].value for item in range(1, count + 1)]


@pytest.mark.soak
def test_the_order_of_a_and_b_is_independent_of_the_author(tmp_path: Path) -> None:
    project = disputed(tmp_path, 300)
    people.add_annotators(project, ["dora"])
    chen, dora = (first_values(AdjudicationSession(project, name), 300) for name in ("chen", "dora"))
    # Amira was first with all of them: 300 throws of a coin are within 110 and 190 but once in 300,000.
    assert 110 < chen.count("correct") < 190
    assert 110 < sum(one == other for one, other in zip(chen, dora, strict=True)) < 190
    assert chen == first_values(AdjudicationSession(project, "chen"), 300)
    project.close()


def test_the_order_of_a_and_b_is_independent_of_the_uuids(tmp_path: Path) -> None:
    """The same labels have another order under the secret of another database."""
    project = disputed(tmp_path, 60)
    before = first_values(AdjudicationSession(project, "chen"), 60)
    with project.database.write() as connection:
        connection.execute("UPDATE secrets SET secret = ?", (bytes(32),))
    after = first_values(AdjudicationSession(project, "chen"), 60)
    assert 10 < sum(one != other for one, other in zip(before, after, strict=True)) < 50
    project.close()


def test_a_third_label_is_called_c(tmp_path: Path) -> None:
    project = project_of(tmp_path, 1)
    for name, value in (("amira", "correct"), ("ben", "incorrect"), ("dora", "incorrect")):
        put(project, name, 1, value)
    people.add_annotators(project, ["chen"])
    assert [one.letter for one in following(AdjudicationSession(project, "chen")).opinions] == ["A", "B", "C"]
    project.close()


def test_accepting_a_label_copies_all_of_it(tmp_path: Path) -> None:
    project = project_of(tmp_path, 1)
    put(project, "amira", 1, "correct", tags=("guessed",), partial=0.5, note="mine")
    put(project, "ben", 1, "unsuitable", reason="other", note="two questions in one")
    people.add_annotators(project, ["chen"])
    chen = AdjudicationSession(project, "chen")
    conflict = following(chen)
    said = {opinion.value: opinion for opinion in conflict.opinions}
    chen.decide(conflict, adopt_opinion("correctness", said["correct"], ""))
    chen.decide(chen.open("correctness", conflict.subject), adopt_opinion("correctness", said["unsuitable"], ""))
    stored = rows(project, "SELECT verdict, exclusion_reason, tags, partial, note FROM label_events "
                  "WHERE kind = 'adjudication' ORDER BY id")  # fmt: skip
    assert stored == [
        ("correct", None, '["guessed"]', 0.5, None),
        ("unsuitable", "other", None, None, "two questions in one"),
    ]
    assert adopt_opinion("type", said["correct"], "why") == Answer(subtype="correct", note="why")
    assert adopt_opinion("correctness", said["unsuitable"], "my own").note == "my own"
    project.close()


def test_only_texts_and_labels_are_shown_before_a_decision(tmp_path: Path) -> None:
    marks = {"model": "MARKMODEL", "source": "MARKSOURCE", "domain": "MARKDOMAIN", "subtype": "A8", "type": "A"}
    project = project_of(tmp_path, 3, **{**marks, "gold": True})
    people.assign(project, ["MARKONE", "MARKTWO"], per_item=2)
    people.add_annotators(project, ["chen"])
    label_all(project, "MARKONE", Answer(verdict="correct"))
    label_all(project, "MARKTWO", Answer(verdict="incorrect"))
    judge(project)
    session = AdjudicationSession(project, "chen")
    asked: list[str] = []
    project.database.reader().set_trace_callback(asked.append)
    conflict = following(session)
    assert not [sql for sql in asked if "verdicts" in sql or "runs" in sql or "imported_gold" in sql]
    seen = repr((conflict, session.count_open()))
    assert "MARK" not in seen
    assert "A8" not in seen
    with pytest.raises(AnnotationError, match="after"):
        session.verdicts_after(conflict)
    project.close()
