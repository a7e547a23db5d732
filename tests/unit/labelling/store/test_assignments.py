"""Slots: exact quotas under many processes, expiring leases, skips, released items."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, numbered, open_slots_to_all
from workbench.config.settings import AnnotationPolicy
from workbench.core.project import Project
from workbench.labelling import people, serving
from workbench.labelling.store import assignments, claiming

ITEMS = 12


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Twelve items of six questions; two slots each for a, b and c."""
    made = make_project(tmp_path, numbered(ITEMS))
    people.assign(made, ["a", "b", "c"], per_item=2)
    open_slots_to_all(made)
    yield made
    made.close()


def rows(project: Project, sql: str, *parameters: object) -> list[Any]:
    return project.database.reader().execute(sql, parameters).fetchall()


def claim(project: Project, person: int, at: float | None = None) -> int | None:
    with project.database.write() as connection:
        return serving.serve(connection, person, AnnotationPolicy(), time.time() if at is None else at)


def take(project: Project, completion: int, person: int) -> bool:
    with project.database.write() as connection:
        return assignments.take(connection, "correctness", completion, person)


def left(project: Project, person: int) -> tuple[int, int]:
    counts = claiming.counts(project.database.reader(), person)
    return counts.done, counts.leased + counts.fresh + counts.skipped


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


def test_items_are_served_once_and_only_within_the_batch(project: Project) -> None:
    people.add_annotators(project, ["stranger"])
    assert claim(project, 4) is None
    claimed = [claim(project, 1) for _ in range(ITEMS)]
    assert len(set(claimed)) == ITEMS
    assert claim(project, 1) is None


def test_a_full_quota_serves_no_third_person(project: Project) -> None:
    completion = claim(project, 1)
    assert completion is not None
    assert [take(project, completion, person) for person in (1, 2, 3)] == [True, True, False]


def test_a_claim_leases_the_question_s_type_slot_once(project: Project) -> None:
    for _ in range(ITEMS):
        claim(project, 1)
    assert rows(project, "SELECT count(*), count(DISTINCT subject) FROM assignments WHERE task = 'type' "
                "AND state = 'leased'") == [(6, 6)]  # fmt: skip


def test_a_leased_item_is_not_served_to_others(project: Project) -> None:
    start = 1_000_000.0
    first = claim(project, 1, start)
    assert claim(project, 2, start) == first
    assert claim(project, 3, start + assignments.LEASE_SECONDS - 1) != first


def test_leases_expire_unless_renewed_by_a_heartbeat(project: Project) -> None:
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
        assert claiming.leased(connection, 1, time.time()) == [completion]
    assert left(project, 1) == (0, ITEMS)


def test_a_skipped_item_is_served_last_and_to_others_before(project: Project) -> None:
    skipped = claim(project, 1)
    assert skipped is not None
    with project.database.write() as connection:
        assignments.skip(connection, skipped, 1, time.time())
    assert claim(project, 2) == skipped
    order = [claim(project, 1) for _ in range(ITEMS)]
    assert order[-1] == skipped
    assert claim(project, 1) is None


def test_the_type_slot_stays_while_the_question_has_open_items(project: Project) -> None:
    held = [claim(project, 1) for _ in range(ITEMS)]
    first, second = (item for item in held if item in (1, 2))
    assert first is not None
    assert second is not None
    sql = "SELECT count(*) FROM assignments WHERE task = 'type' AND subject = 1 AND state = 'leased'"
    for completion, left in ((first, 1), (second, 0)):
        with project.database.write() as connection:
            assignments.give_back(connection, completion, 1)
        assert rows(project, sql) == [(left,)]


def test_progress_counts_done_and_available_items(project: Project) -> None:
    assert left(project, 1) == (0, ITEMS)
    completion = claim(project, 1)
    assert completion is not None
    assert left(project, 1) == (0, ITEMS)
    take(project, completion, 1)
    assert left(project, 1) == (1, ITEMS - 1)
