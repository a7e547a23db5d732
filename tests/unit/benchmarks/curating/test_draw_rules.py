"""Draws of so many per type: exact or short with a reason, seeded, and stable when questions are added."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.benchmarks.curating.drawing import Drawable, draw_questions
from workbench.benchmarks.curating.types import NamedType, current_type, why_untyped
from workbench.measuring.records.curation import PoolQuestion

QUOTAS = {"A": 5, "B": 5}


def pool(count: int, types: str = "AB", first: int = 0) -> list[Drawable]:
    return [
        Drawable(number, "pool", f"q{number}", types[number % len(types)], f"source-{number % 3}")
        for number in range(first, first + count)
    ]


def test_quotas_are_met_exactly_and_seeds_differ() -> None:
    drawn = draw_questions(pool(60), QUOTAS, seed=0)
    assert Counter(one.type for one in drawn.taken) == QUOTAS
    assert drawn.shortfall == ()
    assert [(one.name, one.population, one.quota, one.taken) for one in drawn.strata] == [
        ("A", 30, 5, 5),
        ("B", 30, 5, 5),
    ]
    assert draw_questions(pool(60), QUOTAS, seed=0) == drawn
    assert draw_questions(pool(60), QUOTAS, seed=1).taken != drawn.taken


def test_rows_and_their_order_do_not_matter_but_names_do() -> None:
    usual = draw_questions(pool(60), QUOTAS, seed=0).taken
    moved = [one._replace(question=one.question + 1000) for one in reversed(pool(60))]
    assert [one.key for one in draw_questions(moved, QUOTAS, seed=0).taken] == [one.key for one in usual]
    # Known by heart: another program, or another Python, draws the same.
    assert [one.key for one in usual][:4] == ["q14", "q21", "q51", "q48"]


@given(st.integers(0, 30), st.integers(0, 5))
def test_more_questions_push_out_only_as_many(more: int, seed: int) -> None:
    before = {one.key for one in draw_questions(pool(60), QUOTAS, seed).taken}
    after = {one.key for one in draw_questions(pool(60 + more), QUOTAS, seed).taken}
    new = {f"q{number}" for number in range(60, 60 + more)}
    assert after - before <= new
    assert len(before - after) == len(after - before)


def test_shortages_are_reported_and_not_filled() -> None:
    drawn = draw_questions(pool(9, "AAAB"), {"A": 5, "B": 5, "C": 1}, seed=0)
    assert Counter(one.type for one in drawn.taken) == {"A": 5, "B": 2}
    assert [(one.stratum, one.wanted, one.available, one.taken) for one in drawn.shortfall] == [
        ("B", 5, 2, 2),
        ("C", 1, 0, 0),
    ]
    assert drawn.shortfall[0].why == "the pool has no more than 2 of this type"


def test_a_source_gives_no_more_than_its_cap() -> None:
    drawn = draw_questions(pool(60), {"A": 10, "B": 10}, seed=0, cap_source=4)
    assert Counter(one.source for one in drawn.taken) == {f"source-{number}": 4 for number in range(3)}
    assert {short.stratum for short in drawn.shortfall} == {"A", "B"}
    assert all("sources that have given 4 already" in short.why for short in drawn.shortfall)
    unnamed = [one._replace(source=None) for one in pool(60)]
    assert not draw_questions(unnamed, {"A": 10, "B": 10}, seed=0, cap_source=4).shortfall


def question(**said: object) -> PoolQuestion:
    usual: dict[str, object] = {
        "id": 1, "dataset": "pool", "key": "q", "source": None, "domain": None, "licence": None, "file_type": None,
        "people_type": None, "said_alone": None, "disputed": False, "proposed": None, "outside": None, "out": None,
        "complete": 0,
    }  # fmt: skip
    return msgspec.convert({**usual, **said}, PoolQuestion)


@pytest.mark.parametrize(
    ("said", "counts", "confirmed", "why"),
    [
        pytest.param(
            {"people_type": "A1", "file_type": "B1", "proposed": "C1"}, NamedType("A1", "people"), True, "", id="all"
        ),
        pytest.param({"file_type": "B1", "proposed": "C1"}, NamedType("B1", "file"), True, "", id="file"),
        pytest.param(
            {"said_alone": "D1", "file_type": "B1"}, NamedType("B1", "file"), True, "", id="file and one person"
        ),
        pytest.param(
            {"said_alone": "D1", "proposed": "C1"}, NamedType("D1", "one person"), False, "one person", id="one"
        ),
        pytest.param({"proposed": "C1"}, NamedType("C1", "model"), False, "model", id="model"),
        pytest.param({"file_type": "B1", "disputed": True}, None, False, "disputed", id="disputed"),
        pytest.param({"outside": "proof"}, None, False, "proposed proof", id="outside"),
        pytest.param({}, None, False, "none", id="nobody"),
    ],
)
def test_people_go_before_files_and_files_before_models(
    said: dict[str, object], counts: NamedType | None, *, confirmed: bool, why: str
) -> None:
    found = question(**said)
    assert current_type(found) == counts
    assert (current_type(found, confirmed=True) is not None) is confirmed
    assert why in ("", why_untyped(found))
