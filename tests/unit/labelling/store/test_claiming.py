"""The queue: order of slots, what excludes an item, and indexed queries only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, numbered
from workbench.config.settings import AnnotationPolicy
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.labelling import coordinating, people, serving
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.labels import import_labels
from workbench.labelling.store import claiming
from workbench.measuring.briefing import briefed, status

PLAIN = AnnotationPolicy(check_rate=0, repeat_share=0)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Twelve items, two labels each by three people in rotating pairs."""
    made = make_project(tmp_path, numbered(12))
    people.assign(made, ["a", "b", "c"], per_item=2)
    yield made
    made.close()


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    return project.database.reader().execute(sql, parameters).fetchall()


def meant(project: Project, person: int) -> set[int]:
    return {row[0] for row in rows(project, "SELECT subject FROM assignments WHERE meant_for = ?", person)}


def label_all(project: Project, name: str) -> list[int]:
    session, order = AnnotationSession(project, name, policy=PLAIN), []
    while (item := session.next()) is not None:
        session.submit(item, Answer(verdict="correct"))
        order.append(item.completion)
    session.close()
    return order


def test_own_slots_are_served_before_those_meant_for_others(project: Project) -> None:
    mine = meant(project, 1)
    assert len(mine) == 8
    order = label_all(project, "a")
    assert set(order[:8]) == mine
    assert len(order) == 12
    # b finds her own eight, then one slot of each other item that neither she nor a has.
    assert set(label_all(project, "b")) == set(range(1, 13))
    assert label_all(project, "c") == []


def test_unreserved_slots_are_served_before_those_of_others(project: Project) -> None:
    others = set(range(1, 13)) - meant(project, 1)
    one = min(others)
    with project.database.write() as connection:
        connection.execute("UPDATE assignments SET meant_for = NULL WHERE subject = ? AND slot = 1", (one,))
    assert label_all(project, "a")[8] == one


def test_the_type_slot_is_claimed_with_the_item(project: Project) -> None:
    assert rows(project, "SELECT count(*) FROM assignments WHERE task = 'type' AND meant_for IS NOT NULL") == [(0,)]
    session = AnnotationSession(project, "a", policy=PLAIN)
    item = session.next()
    assert item is not None
    assert item.asks_type
    session.close()


def test_an_excluded_item_is_not_served_until_readmitted(project: Project) -> None:
    session = AnnotationSession(project, "a", policy=PLAIN)
    items = Selection((parse_condition("completion_id=c3"),))
    coordinating.exclude(project, items, reason="proof")
    assert session.progress().left == 11
    coordinating.lift(project, items)
    assert session.progress().left == 12
    coordinating.exclude(project, items, reason="proof")
    session.close()
    assert 4 not in label_all(project, "a")


def test_a_retracted_and_released_label_can_be_given_again(project: Project) -> None:
    session = AnnotationSession(project, "a", policy=PLAIN)
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="correct"))
    again = session.undo()
    assert again is not None
    session.release(again.completion)
    assert session.progress() == serving.Progress(0, 12)
    found = session.next()
    assert found is not None
    assert found.completion == item.completion
    session.close()


PLANS = {
    "first in lane": claiming.FIRST_IN_LANE,
    "next lane": claiming.NEXT_LANE,
    "open items": claiming.OPEN_ITEMS,
    "barred": claiming.BARRED,
    "put off": claiming.PUT_OFF,
    "own skipped": claiming.OWN_SKIPPED,
    "meant": claiming.MEANT,
    "open types": claiming.OPEN_TYPES,
    "own types": claiming.OWN_TYPES,
    "own slots": claiming.OWN_SLOTS.replace("?", ":person"),
}


@pytest.mark.parametrize("query", PLANS.values(), ids=PLANS)
def test_queue_queries_scan_no_table(project: Project, query: str) -> None:
    values = {"person": 1, "batch": 1, "lane": 2, "batches": "[1]"}
    connection: sqlite3.Connection = project.database.reader()
    plan = [row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + query, values)]
    scanned = [step for step in plan if step.startswith("SCAN") and "json_each" not in step]
    # Only results of subqueries are scanned, never a table of more than a few rows.
    few = ("SCAN barred", "SCAN (subquery-2)", "SCAN (subquery-1)", "SCAN datasets")
    assert all(step in few for step in scanned), plan
    assert not [step for step in plan if "ORDER BY" in step], plan
    if query not in (claiming.OPEN_ITEMS, claiming.MEANT, claiming.OPEN_TYPES):
        # Own work is looked up by its person: only the count of open items walks them all.
        assert not [step for step in plan if step.endswith("assignments_state (state=? AND task=?)")], plan


def left(project: Project) -> dict[str, tuple[int, int]]:
    """Map each annotator to the numbers of remaining verdicts and types in the status."""
    return {person.name: (person.left, person.types_left) for person in status(project).people}


def test_shared_work_is_counted_once(tmp_path: Path) -> None:
    """Three annotators with 60 open labels have 20 each, and working ahead reduces the share of the others."""
    project = make_project(tmp_path, [row | {"question_id": f"q{place}"} for place, row in enumerate(numbered(30))])
    people.assign(project, ["amira", "ben", "chen"], per_item=2)
    assert left(project) == dict.fromkeys(("amira", "ben", "chen"), (20, 0))
    people.pause(project, "chen", "")
    assert left(project) == {"amira": (30, 0), "ben": (30, 0), "chen": (0, 0)}
    people.resume(project, "chen")
    session = AnnotationSession(project, "amira", policy=AnnotationPolicy(repeat_share=0))
    for _ in range(30):
        item = session.next()
        assert item is not None
        session.submit(item, Answer(verdict="correct"))
    found = left(project)
    assert found.pop("amira") == (0, 0)
    assert sum(verdicts for verdicts, _ in found.values()) == 30
    people.assign(project, ["dora"], per_item=2)
    coordinating.exclude(project, [1, 2, 3], reason="proof")
    assert sum(verdicts for verdicts, _ in left(project).values()) == 27
    session.close()


def test_types_are_counted_until_labelled(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(12, types="labelled"))
    people.assign(project, ["amira", "ben", "chen"], per_item=2, adjudicator="dora")
    assert left(project) == dict.fromkeys(("amira", "ben", "chen"), (8, 4)) | {"dora": (0, 0)}
    lines = [
        {"completion_id": f"c{number}", "annotator": name, "verdict": "correct"}
        for number in range(12)
        for name in ("amira", "ben")
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert import_labels(project, labels).imported == 24
    assert [verdicts for verdicts, _ in left(project).values()] == [0, 0, 0, 0]
    assert sum(types for _, types in left(project).values()) == 12
    (matter,) = [one for one in briefed(project).briefing if one.kind == "progress"]
    assert matter.sentence == "24 of 24 labels that were asked for are there; 12 answer types wait for labels."
    lines = [
        {"question_id": f"q{number}", "annotator": name, "answer_subtype": "A1"}
        for number in range(6)
        for name in ("amira", "ben")
    ]
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert import_labels(project, labels).imported == 12
    assert set(left(project).values()) == {(0, 0)}
    assert not [one for one in briefed(project).briefing if one.kind == "progress"]


@pytest.mark.parametrize(
    ("slots", "offered", "found"),
    [
        ({1: 20, 2: 20, 3: 20}, {1: 30, 2: 30, 3: 30}, {1: 20, 2: 20, 3: 20}),
        ({1: 8, 2: 2}, {1: 0, 2: 10}, {1: 0, 2: 10}),
        ({None: 10}, {1: 2, 2: 9, 3: 9}, {1: 2, 2: 4, 3: 4}),
        ({None: 10}, {1: 3}, {1: 3}),
        ({}, {1: 3}, {1: 0}),
        ({1: 5}, {}, {}),
    ],
)
def test_unreserved_slots_are_shared(
    slots: dict[int | None, int], offered: dict[int, int], found: dict[int, int]
) -> None:
    assert claiming.distribute_slots(slots, offered) == found
