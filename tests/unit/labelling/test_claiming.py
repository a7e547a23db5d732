"""Assignment of items: exact with several processes, and for any annotators, caps and items."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.claiming import assigned, labelled, quotas, work
from tests.helpers import make_project, numbered
from workbench.config.settings import AnnotationPolicy
from workbench.core.label import LabelLine
from workbench.core.project import Project
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.labels import put_lines
from workbench.labelling.people import assign

PLAIN = AnnotationPolicy(check_rate=0, repeat_share=0)


def test_four_processes_fill_every_quota_exactly(tmp_path: Path) -> None:
    """They skip, undo, and leave items and come back at the same time."""
    project = assigned(tmp_path, 24, 4)
    work(project, 4, restless=True)
    assert labelled(project) == 24
    assert quotas(project) == {(2, 2)}
    assert quotas(project, "type") == {(2, 2)}
    reader = project.database.reader()
    slots = reader.execute("SELECT task, state, count(*) FROM assignments GROUP BY 1, 2 ORDER BY 1").fetchall()
    assert slots == [("correctness", "done", 48), ("type", "done", 24)]
    project.close()


def holders(project: Project) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for subject, person in project.database.reader().execute(
        "SELECT subject, annotator_id FROM assignments WHERE task = 'correctness' AND annotator_id IS NOT NULL"
    ):
        found.setdefault(subject, []).append(person)
    return found


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_quotas_and_caps_hold_for_any_annotators_and_items(data: st.DataObject) -> None:
    people = data.draw(st.integers(2, 5), "people")
    per_item = data.draw(st.integers(1, people), "per item")
    items = data.draw(st.integers(1, 12), "items")
    names = [f"p{number}" for number in range(people)]
    caps = data.draw(st.dictionaries(st.sampled_from(names), st.integers(1, 6)), "caps")
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(Path(folder), numbered(items))
        assign(project, names, per_item=per_item, caps=caps)
        sessions = {name: AnnotationSession(project, name, policy=PLAIN) for name in names}
        at_work = list(names)
        while at_work:
            name = data.draw(st.sampled_from(at_work), "next")
            promised = sessions[name].progress()
            item = sessions[name].next()
            assert (item is None) == (promised.left == 0)
            if item is None:
                at_work.remove(name)
                continue
            sessions[name].submit(item, Answer(verdict="correct"))
        found = holders(project)
        done = Counter(person for subject in found.values() for person in subject)
        ids = {session.person.id: name for name, session in sessions.items()}
        assert all(len(held) == len(set(held)) <= per_item for held in found.values())
        assert all(done[person] <= caps.get(name, items) for person, name in ids.items())
        # Items are left over only because of a cap.
        free = [person for person, name in ids.items() if name not in caps or done[person] < caps[name]]
        for item_id in range(1, items + 1):
            held = found.get(item_id, [])
            assert len(held) == per_item or set(free) <= set(held)
        for session in sessions.values():
            session.close()
        project.close()


@pytest.mark.parametrize("settled_first", [True, False])
def test_a_resolved_type_is_not_requested(tmp_path: Path, settled_first: bool) -> None:
    """As if proposals were accepted before or after the assignment."""
    project = make_project(tmp_path, numbered(4, types="labelled"))
    line = LabelLine(question_id="q0", dataset=None, annotator="lead", answer_subtype="A1")
    line.role = "adjudicator"

    def settle() -> None:
        put_lines(project, [line])

    if settled_first:
        settle()
    done = assign(project, ["amira", "ben"], per_item=2)
    assert done.type_slots == (2 if settled_first else 4)
    if not settled_first:
        settle()
    for name in ("amira", "ben"):
        session = AnnotationSession(project, name)
        asked = dict[str, bool]()
        while (item := session.next()) is not None:
            asked[item.question_id] = asked.get(item.question_id, False) or item.wants_type
            answer = Answer(verdict="correct", subtype="B1" if item.wants_type else None)
            session.submit(item, answer)
        session.close()
        assert asked == {"q0": False, "q1": True}
    found = project.database.reader().execute("SELECT subtype, decided_by FROM task_states WHERE task = 'type'")
    assert sorted(found.fetchall()) == [("A1", "adjudicated"), ("B1", "agreed")]
