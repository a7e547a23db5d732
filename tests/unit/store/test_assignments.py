"""Slots: exact quotas under many processes, leases that run out, skips, what is given back."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, numbered
from workbench.model.selection import Selection, parse_condition
from workbench.services.project import Project
from workbench.store import assignments, people

ITEMS = 12


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Twelve items of six questions; two slots each for a, b and c."""
    made = make_project(tmp_path, numbered(ITEMS))
    with made.database.write() as connection:
        names = [people.add(connection, name) for name in "abc"]
        assignments.open_batch(connection, names, 2, None, Selection(), "seed")
    yield made
    made.close()


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    return project.database.reader().execute(sql, parameters).fetchall()


def claim(project: Project, person: int, at: float | None = None) -> int | None:
    with project.database.write() as connection:
        return assignments.claim(connection, person, time.time() if at is None else at)


def take(project: Project, completion: int, person: int) -> bool:
    with project.database.write() as connection:
        return assignments.take(connection, "correctness", completion, person)


def test_slots_are_opened_once(project: Project) -> None:
    with project.database.write() as connection:
        again = assignments.open_batch(connection, [1, 2, 3], 2, None, Selection(), "seed")
        more = assignments.open_batch(connection, [1, 2, 3], 3, None, Selection(limit=4), "seed")
    assert again == (0, 0)
    assert more == (4, 2)


def test_only_the_selected_items_get_slots(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(ITEMS))
    with project.database.write() as connection:
        person = people.add(connection, "a")
        chosen = Selection((parse_condition("gold=correct"),))
        opened = assignments.open_batch(connection, [person], 1, None, chosen, "seed")
    assert opened == (6, 6)
    project.close()


def test_the_order_is_random_and_the_same_for_everyone(project: Project) -> None:
    orders = []
    for person in (1, 2):
        order = []
        while (completion := claim(project, person)) is not None:
            take(project, completion, person)
            order.append(completion)
        orders.append(order)
    assert orders[0] == orders[1]
    assert sorted(orders[0]) == list(range(1, ITEMS + 1))
    assert orders[0] != sorted(orders[0])


def test_nobody_gets_an_item_twice_or_outside_their_batch(project: Project) -> None:
    with project.database.write() as connection:
        stranger = people.add(connection, "stranger")
    assert claim(project, stranger) is None
    claimed = [claim(project, 1) for _ in range(ITEMS)]
    assert len(set(claimed)) == ITEMS
    assert claim(project, 1) is None


def test_a_third_person_finds_the_quota_full(project: Project) -> None:
    completion = claim(project, 1)
    assert completion is not None
    assert [take(project, completion, person) for person in (1, 2, 3)] == [True, True, False]


def test_a_claim_leases_the_question_s_type_slot_once(project: Project) -> None:
    for _ in range(ITEMS):
        claim(project, 1)
    assert rows(project, "SELECT count(*), count(DISTINCT subject) FROM assignments WHERE task = 'type' "
                "AND state = 'leased'") == [(6, 6)]  # fmt: skip


def test_an_item_under_lease_is_nobody_elses(project: Project) -> None:
    start = 1_000_000.0
    first = claim(project, 1, start)
    assert claim(project, 2, start) == first
    assert claim(project, 3, start + assignments.LEASE_SECONDS - 1) != first


def test_leases_run_out_and_a_heartbeat_keeps_them(project: Project) -> None:
    start = 1_000_000.0
    first = claim(project, 1, start)
    assert claim(project, 2, start) == first
    with project.database.write() as connection:
        assignments.renew(connection, 2, start + assignments.LEASE_SECONDS - 1)
    assert claim(project, 3, start + assignments.LEASE_SECONDS + 1) == first
    holders = rows(project, "SELECT annotator_id FROM assignments WHERE task = 'correctness' AND subject = ?", first)
    assert sorted(holders) == [(2,), (3,)]


def test_an_undone_label_is_leased_again(project: Project) -> None:
    completion = claim(project, 1)
    assert completion is not None
    take(project, completion, 1)
    with project.database.write() as connection:
        assignments.lease_again(connection, "correctness", completion, 1, time.time())
    with project.database.write() as connection:
        assert assignments.leased(connection, 1, time.time()) == [completion]
    assert assignments.progress(project.database.reader(), 1) == (0, ITEMS)


def test_a_skipped_item_comes_last_and_serves_others_meanwhile(project: Project) -> None:
    skipped = claim(project, 1)
    assert skipped is not None
    with project.database.write() as connection:
        assignments.skip(connection, skipped, 1, time.time())
    assert claim(project, 2) == skipped
    order = [claim(project, 1) for _ in range(ITEMS)]
    assert order[-1] == skipped
    assert claim(project, 1) is None


def test_the_type_slot_stays_while_another_completion_of_the_question_is_open(project: Project) -> None:
    held = [claim(project, 1) for _ in range(ITEMS)]
    first, second = (item for item in held if item in (1, 2))
    assert first is not None
    assert second is not None
    sql = "SELECT count(*) FROM assignments WHERE task = 'type' AND subject = 1 AND state = 'leased'"
    for completion, left in ((first, 1), (second, 0)):
        with project.database.write() as connection:
            assignments.give_back(connection, completion, 1)
        assert rows(project, sql) == [(left,)]


def test_progress_counts_done_and_what_may_still_come(project: Project) -> None:
    assert assignments.progress(project.database.reader(), 1) == (0, ITEMS)
    completion = claim(project, 1)
    assert completion is not None
    assert assignments.progress(project.database.reader(), 1) == (0, ITEMS)
    take(project, completion, 1)
    assert assignments.progress(project.database.reader(), 1) == (1, ITEMS - 1)


WORKER = """
import sys, time
from pathlib import Path
from workbench.services.labelling.annotating import AnnotationSession, Answer
from workbench.services.project import open_project
project = open_project(sys.argv[1])
session = AnnotationSession(project, sys.argv[2])
while not Path(sys.argv[1] + ".go").exists():
    time.sleep(0.001)
number = 0
while (item := session.next()) is not None:
    number += 1
    if number % 7 == 3:
        session.skip(item)
        continue
    verdict = "correct" if number % 3 else "incorrect"
    session.submit(item, Answer(verdict=verdict, subtype="A1" if item.asks_type else None))
    if number % 11 == 5:
        session.undo()
project.close()
"""


def test_quotas_are_exact_with_several_processes(tmp_path: Path) -> None:
    """People in their own processes claim, label, skip and undo at the same time."""
    names, items = ("a", "b", "c", "d"), 120
    project = make_project(tmp_path, numbered(items))
    with project.database.write() as connection:
        ids = [people.add(connection, name) for name in names]
        assignments.open_batch(connection, ids, 2, None, Selection(), "seed")
    root = Path(__file__).parents[3]
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(project.path), name], cwd=root) for name in names]
    time.sleep(0.5)
    Path(f"{project.path}.go").touch()
    assert [worker.wait(timeout=100) for worker in workers] == [0] * len(names)
    current = (
        "SELECT subject, count(*), count(DISTINCT annotator_id) FROM label_events AS e WHERE kind = 'label' "
        "AND task = ? AND NOT EXISTS (SELECT 1 FROM label_events AS x WHERE x.supersedes = e.uuid) GROUP BY subject"
    )
    for task, subjects in (("correctness", items), ("type", items // 2)):
        counted = rows(project, current, task)
        assert len(counted) == subjects
        assert {row[1:] for row in counted} == {(2, 2)}
    slots = rows(project, "SELECT task, state, count(*) FROM assignments GROUP BY 1, 2 ORDER BY 1")
    assert slots == [("correctness", "done", 2 * items), ("type", "done", items)]
    project.close()
