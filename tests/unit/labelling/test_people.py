"""Annotators and assignment."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import make_project, numbered
from tests.unit.labelling.conflicting import disputed
from workbench.config.settings import AnnotationPolicy
from workbench.core.errors import AnnotationError, UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.labelling import people
from workbench.labelling.adjudicating import AdjudicationSession
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.assigning import Ordering
from workbench.labelling.rulings import offers
from workbench.labelling.store import assignments

PLAIN = AnnotationPolicy(check_rate=0, repeat_share=0)


def test_slots_are_opened_once_and_missing_ones_added(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    first = people.assign(project, ["a", "b", "c"], per_item=2)
    assert (first.assigned, first.type_slots) == (8, 4)
    assert people.assign(project, ["a", "b", "c"], per_item=2).assigned == 0
    assert people.assign(project, ["a", "b", "c"], per_item=3).assigned == 4


def test_only_the_selected_items_get_slots(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    chosen = Selection((parse_condition("completion_id=c1"),))
    assert people.assign(project, ["a", "b"], per_item=2, selection=chosen).assigned == 2


@pytest.mark.parametrize(
    ("names", "per_item", "adjudicator"),
    [(["a"], 2, None), (["a", "a"], 2, None), (["a", "b"], 0, None), (["a", "b"], 2, "b"), (["a", ""], 2, None)],
)
def test_impossible_assignments_are_rejected(
    tmp_path: Path, names: list[str], per_item: int, adjudicator: str | None
) -> None:
    project = make_project(tmp_path, numbered(2))
    with pytest.raises(UsageError):
        people.assign(project, names, per_item=per_item, adjudicator=adjudicator)
    assert project.database.reader().execute("SELECT count(*) FROM assignments").fetchone() == (0,)


def test_an_unknown_annotator_is_reported_with_the_known_ones(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    people.add_annotators(project, ["ann"])
    with pytest.raises(UsageError, match="ann"):
        people.require_annotator(project, "bob")


def test_confusable_spellings_of_a_name_are_one_person(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    people.add_annotators(project, ["zo\u00eb", " zoe\u0308 "])
    assert [person.name for person in people.annotators(project)] == ["zo\u00eb"]
    people.require_annotator(project, "zoe\u0308")
    with pytest.raises(UsageError, match="label and adjudicate"):
        people.assign(project, ["zo\u00eb", "ann"], adjudicator="zoe\u0308 ")


def slots(project: Project, where: str = "1") -> list[tuple[int, int | None]]:
    query = f"SELECT subject, meant_for FROM assignments WHERE task = 'correctness' AND {where} ORDER BY subject, slot"
    return project.database.reader().execute(query).fetchall()


def label_all(project: Project, name: str) -> int:
    session, count = AnnotationSession(project, name, policy=PLAIN), 0
    while (item := session.next()) is not None:
        promised = session.progress().left
        session.submit(item, Answer(verdict="correct"))
        assert session.progress().left == promised - 1
        count += 1
    session.close()
    return count


def test_pairs_are_balanced_in_every_source(tmp_path: Path) -> None:
    rows = [{**row, "question_id": f"q{n}", "source": f"s{n % 3}"} for n, row in enumerate(numbered(30))]
    project = make_project(tmp_path, rows)
    people.assign(project, ["a", "b", "c", "d"], per_item=2)
    pairs: dict[int, set[int | None]] = {}
    for subject, person in slots(project):
        pairs.setdefault(subject, set()).add(person)
    for source in range(3):
        of_it = Counter(frozenset(pair) for subject, pair in pairs.items() if (subject - 1) % 3 == source)
        assert len(of_it) == 6
        assert set(of_it.values()) <= {1, 2}
    assert set(Counter(map(frozenset, pairs.values())).values()) == {5}


def test_no_annotator_exceeds_their_cap(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(10))
    people.assign(project, ["a", "b", "c"], per_item=2, caps={"a": 3, "b": 5})
    assert Counter(person for _, person in slots(project))[1] == 3
    session = AnnotationSession(project, "a", policy=PLAIN)
    assert session.progress().left == 3
    session.close()
    # Two items are the pair of both: they need no third person.
    assert [label_all(project, name) for name in "abc"] == [3, 5, 8]
    assert label_all(project, "a") == 0


def test_slots_beyond_all_caps_are_unreserved(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    done = people.assign(project, ["a", "b"], per_item=2, caps=3)
    assert (done.assigned, done.beyond_caps) == (8, 2)
    assert [label_all(project, name) for name in "ab"] == [3, 3]


def test_a_cap_can_be_changed(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    people.assign(project, ["a", "b"], per_item=2, caps={"a": 1})
    assert label_all(project, "a") == 1
    people.assign(project, ["a", "b"], per_item=2)
    assert label_all(project, "a") == 0
    people.assign(project, ["a", "b"], per_item=2, caps={"a": 3})
    assert label_all(project, "a") == 2


def test_an_expired_lease_is_not_renewed_beyond_the_cap(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    people.assign(project, ["a", "b"], per_item=2, caps={"a": 1})
    session = AnnotationSession(project, "a", policy=PLAIN)
    held = session.next()
    assert held is not None
    with project.database.write() as connection:
        connection.execute("UPDATE assignments SET expires_at = 1 WHERE state = 'leased'")
        assignments.free_expired(connection, 2)
        connection.execute("INSERT INTO skips VALUES (1, ?, 1)", (held.completion,))
    other = session.next()
    assert other is not None
    assert other.completion != held.completion
    with pytest.raises(AnnotationError, match="your maximum number of items in this batch"):
        session.submit(held, Answer(verdict="correct"))
    session.close()


@pytest.mark.parametrize("caps", [{"a": 0}, {"stranger": 3}, 0])
def test_impossible_caps_are_rejected(tmp_path: Path, caps: dict[str, int] | int) -> None:
    project = make_project(tmp_path, numbered(2))
    with pytest.raises(UsageError, match="cap"):
        people.assign(project, ["a", "b"], caps=caps)


def test_late_annotators_can_claim_open_slots(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    people.assign(project, ["a", "b"], per_item=2)
    assert label_all(project, "a") == 6
    late = people.assign(project, ["chen"], per_item=2)
    assert (late.assigned, late.joined) == (0, 1)
    assert label_all(project, "chen") == 6
    assert label_all(project, "b") == 0
    assert project.database.reader().execute("SELECT count(*) FROM batches").fetchone() == (1,)


def test_a_larger_overlap_adds_slots_for_other_annotators(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    people.assign(project, ["a", "b"], per_item=2)
    more = people.assign(project, ["a", "b", "chen", "dora"], per_item=3)
    assert more.assigned == 6
    assert {person for _, person in slots(project, "batch_id = 2")} == {3, 4}
    assert [label_all(project, name) for name in ("a", "b")] == [6, 6]
    assert label_all(project, "chen") + label_all(project, "dora") == 6
    session = AnnotationSession(project, "dora", policy=PLAIN)
    assert session.progress().left == 0
    session.close()


def test_a_single_late_annotator_cannot_fill_new_items(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    with pytest.raises(UsageError, match="at least 2"):
        people.assign(project, ["a"], per_item=2)
    people.assign(project, ["a", "b"], per_item=2, adjudicator="dora")
    with pytest.raises(UsageError, match="the adjudicator of these items"):
        people.assign(project, ["dora"], per_item=2)


def test_an_ordering_determines_the_first_item(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(5))
    backwards = Ordering("backwards", ranked=lambda found, seed: np.argsort(-found.item))
    people.assign(project, ["a", "b"], per_item=2, ordering=backwards)
    session = AnnotationSession(project, "a", policy=PLAIN)
    first = session.next()
    assert first is not None
    assert first.completion == 5
    assert project.database.reader().execute("SELECT ordering FROM batches").fetchone() == ("backwards",)
    session.close()


def test_a_paused_annotator_gets_a_message_and_no_items(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    people.assign(project, ["a", "b"], per_item=2)
    session = AnnotationSession(project, "a", policy=PLAIN)
    first = session.next()
    assert first is not None
    session.submit(first, Answer(verdict="correct"))
    held = session.next()
    assert held is not None
    assert session.paused() == ""
    people.pause(project, "a", "too fast")
    assert session.next() is None
    assert "speak with you" in session.paused()
    assert "too fast" not in session.paused()
    assert slots(project, "state = 'leased'") == []
    with pytest.raises(AnnotationError, match="speak with you"):
        session.submit(held, Answer(verdict="correct"))
    with pytest.raises(AnnotationError, match="speak with you"):
        session.undo()
    assert [(person.paused, person.why) for person in people.annotators(project)] == [(True, "too fast"), (False, "")]
    people.resume(project, "a")
    assert session.paused() == ""
    assert session.submit(held, Answer(verdict="correct")) != []
    session.close()


def test_annotators_cannot_adjudicate_their_own_items(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    people.assign(project, ["ann", "ben"], per_item=2)
    label_all(project, "ann")
    with pytest.raises(UsageError, match=r"has labelled 4 of these items.*Name a third person"):
        people.assign(project, ["cy", "dora"], per_item=3, adjudicator="ann")
    assert people.assign(project, ["cy", "dora"], per_item=3, adjudicator="eve").assigned == 4


def test_removing_an_annotator_without_labels_frees_their_slots(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    people.assign(project, ["amira", "ben", "Benn"], per_item=2, adjudicator="chen")
    slip = AnnotationSession(project, "Benn", policy=PLAIN)
    assert slip.next() is not None
    slip.close()
    people.remove(project, "Benn")
    people.remove(project, "chen")
    assert [person.name for person in people.annotators(project)] == ["amira", "ben"]
    for name in ("amira", "ben"):
        session = AnnotationSession(project, name, policy=PLAIN)
        while (item := session.next()) is not None:
            session.submit(item, Answer(verdict="correct", subtype="A1"))
        session.close()
    assert Counter(project.database.reader().execute("SELECT state FROM assignments WHERE task = 'correctness'")) == {
        ("done",): 8
    }
    with pytest.raises(UsageError, match="no annotator 'Benn'"):
        people.remove(project, "Benn")


def test_a_removed_adjudicator_with_reveals_is_hidden_and_can_return(tmp_path: Path) -> None:
    project = disputed(tmp_path, 2)
    people.add_annotators(project, [":j"])
    assert AdjudicationSession(project, ":j").next() is not None
    people.remove(project, ":j")
    assert ":j" not in {person.name for person in people.annotators(project)}
    assert [offer.name for offer in offers(project, "adjudicator")] == ["chen"]
    looks = "SELECT count(*) FROM label_events WHERE kind = 'reveal'"
    assert project.database.reader().execute(looks).fetchone() == (1,)
    with pytest.raises(UsageError, match="no annotator ':j'"):
        AdjudicationSession(project, ":j")
    people.add_annotators(project, [":j"])
    assert not next(person for person in people.annotators(project) if person.name == ":j").paused


def test_an_annotator_with_labels_cannot_be_removed(tmp_path: Path) -> None:
    project = disputed(tmp_path, 2)
    with pytest.raises(UsageError, match=r"Only annotators without labels.*pause"):
        people.remove(project, "amira")
    assert "amira" in {person.name for person in people.annotators(project)}
