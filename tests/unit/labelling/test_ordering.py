"""Orderings of batches: disagreement first, quotas per subtype, and no trace for annotators."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project
from tests.tui.stage import add_run
from tests.unit.measuring.scored_runs import add_complete_run, scores
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome
from workbench.data.store import reading
from workbench.labelling import people
from workbench.labelling.annotating import AnnotationSession
from workbench.labelling.store import blind
from workbench.measuring.planning import ordering_by
from workbench.statistics.records.report import BatchOrder

YES, NO, UNDECIDED, ERROR = Outcome.CORRECT, Outcome.INCORRECT, Outcome.ABSTAIN, Outcome.ERROR
ITEMS = 12


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Twelve items of three subtypes and none."""
    made = make_project(
        tmp_path,
        [
            {
                "question_id": f"q{number}",
                "completion_id": f"c{number}",
                "subtype": ("A1", "B2", "C1", None)[number % 4],
            }
            for number in range(ITEMS)
        ],
    )
    yield made
    made.close()


def run(project: Project, name: str, outcomes: Sequence[Outcome], **fields: Any) -> int:
    """A run with verdicts on the first items."""
    return add_run(project, name, dict(enumerate(outcomes, 1)), **fields)


def served(project: Project) -> list[int]:
    """The items that have slots, in the order of their places."""
    rows = project.database.reader().execute(
        "SELECT subject FROM assignments WHERE task = 'correctness' GROUP BY subject ORDER BY min(position)"
    )
    return [row[0] for row in rows]


def assign(project: Project, order: BatchOrder, **fields: Any) -> list[int]:
    people.assign(project, ["amira", "ben"], ordering=ordering_by(project, order), **fields)
    return served(project)


def test_disagreements_come_first_then_random_order(project: Project) -> None:
    run(project, "one", [YES] * 4 + [NO] * 4)
    run(project, "two", [YES, NO, YES, NO, NO, UNDECIDED, ERROR, YES])
    order = assign(project, BatchOrder(name="disagreement"))
    assert set(order[:3]) == {2, 4, 8}
    assert len(order) == ITEMS
    rows = project.database.reader().execute("SELECT ordering FROM batches").fetchall()
    assert rows == [("disagreement",)]


def test_only_chosen_and_complete_runs_decide(project: Project) -> None:
    run(project, "one", [YES] * 4)
    run(project, "two", [YES, YES, YES, NO])
    run(project, "three", [YES, NO, YES, YES])
    run(project, "halted", [NO, YES, YES, YES], complete=False)
    assert assign(project, BatchOrder(name="disagreement", verifiers=("one", "two")))[0] == 4


@pytest.mark.parametrize("seed", [0, 7])
def test_equal_items_are_served_in_random_order(project: Project, seed: int) -> None:
    run(project, "one", [YES] * ITEMS)
    run(project, "two", [YES] * ITEMS)
    assign(project, BatchOrder(name="disagreement"), seed=seed)
    drawn = reading.in_order(reading.sampling_frame(project.database.reader(), Selection()), seed)
    assert served(project) == drawn.item.tolist() != list(range(1, ITEMS + 1))


def test_a_quota_of_each_subtype(project: Project) -> None:
    run(project, "one", [YES] * ITEMS)
    run(project, "two", [YES] * 8 + [NO] * 4)
    order = assign(project, BatchOrder(name="disagreement", per_subtype=2))
    assert set(order[:4]) == {9, 10, 11, 12}
    assert sorted((item - 1) % 4 for item in order) == sorted(2 * [0, 1, 2, 3])


def test_a_quota_by_chance_and_the_limit_after_it(project: Project) -> None:
    order = assign(project, BatchOrder(per_subtype=1, limit=3))
    assert len(order) == 3
    assert len({(item - 1) % 4 for item in order}) == 3


def test_the_limit_keeps_the_first_of_the_order(project: Project) -> None:
    run(project, "one", [YES] * ITEMS)
    run(project, "two", [YES] * 10 + [NO] * 2)
    assert set(assign(project, BatchOrder(name="disagreement", limit=2))) == {11, 12}


def test_only_selected_items_are_ordered(project: Project) -> None:
    run(project, "one", [YES] * ITEMS)
    run(project, "two", [NO] * ITEMS)
    order = assign(project, BatchOrder(name="disagreement"), selection=Selection((parse_condition("subtype=A1"),)))
    assert sorted(order) == [1, 5, 9]


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (BatchOrder(name="disagreement"), "can't disagree with itself"),
        (BatchOrder(name="disagreement", verifiers=("one", "nobody")), "No complete run of 'nobody'"),
    ],
    ids=["alone", "unknown"],
)
def test_an_invalid_ordering_is_rejected_without_opening_slots(project: Project, order: BatchOrder, words: str) -> None:
    run(project, "one", [YES] * ITEMS)
    add_complete_run(project, "type", scores({1: 3.0}), kind="answer-type")
    with pytest.raises(UsageError, match=words):
        assign(project, order)
    assert served(project) == []


def test_an_ordering_needs_runs(project: Project) -> None:
    with pytest.raises(UsageError, match="No complete run of any verifier"):
        assign(project, BatchOrder(name="disagreement"))


def test_an_annotator_sees_nothing_of_the_order(project: Project) -> None:
    run(project, "one", [YES] * ITEMS)
    run(project, "two", [YES] * 6 + [NO] * 6)
    assign(project, BatchOrder(name="disagreement", per_subtype=2))
    connection = blind.open_blind(project.database, 1)
    for query in (
        "SELECT position FROM own_slots",
        "SELECT position FROM assignments",
        "SELECT ordering FROM batches",
        "SELECT subject FROM assignments",
    ):
        with pytest.raises(sqlite3.DatabaseError):
            connection.execute(query)
    connection.close()
    session = AnnotationSession(project, "amira")
    item = session.next()
    session.close()
    assert item is not None
    assert "disagreement" not in repr(item)


def test_the_ordering_is_described_in_words() -> None:
    order = BatchOrder(name="disagreement", verifiers=("a", "b"), per_subtype=5, limit=9)
    assert str(order) == "disagreement, of a, b, at most 5 of a subtype, limit 9"
