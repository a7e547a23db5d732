"""Invariances of agreement metrics."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.statistics.agreement.tables import grids, of_cells
from workbench.statistics.agreement.figures import Rated, blocks, figures
from workbench.statistics.agreement.ratings import Ratings, alike, units
from workbench.statistics.records.agreement import Figures, Level

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")


def rated(ratings: Ratings, level: Level = "nominal") -> Rated:
    return Rated(
        ratings=ratings,
        names=[f"v{category}" for category in range(ratings.categories)],
        values=np.arange(1.0, ratings.categories + 1),
        level=level,
        cluster=np.arange(ratings.items),
    )


def turned(
    ratings: Ratings, items: list[int], people: list[int], rows: list[int], values: list[int] | None = None
) -> Ratings:
    """The same ratings under other numbers and in another order."""
    order = np.argsort(np.array(rows + list(range(len(rows), len(ratings.item))))[: len(ratings.item)], kind="stable")
    value = ratings.value if values is None else np.array(values)[ratings.value]
    return Ratings(
        item=np.array(items)[ratings.item][order],
        annotator=np.array(people)[ratings.annotator][order],
        value=value[order],
        items=ratings.items,
        annotators=ratings.annotators,
        categories=ratings.categories,
    )


def close(one: Figures, other: Figures, *, but: tuple[str, ...] = ()) -> None:
    for name in one.__struct_fields__:
        if name not in but:
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12), name


@pytest.mark.few(4)
@pytest.mark.parametrize("level", LEVELS)
@settings(deadline=None, max_examples=25)
@given(
    ratings=grids(),
    items=st.permutations(range(8)),
    people=st.permutations(range(5)),
    rows=st.permutations(range(40)),
)
def test_permuting_items_and_people_changes_nothing(
    level: Level, ratings: Ratings, items: list[int], people: list[int], rows: list[int]
) -> None:
    close(figures(rated(turned(ratings, items, people, rows), level)), figures(rated(ratings, level)))


@settings(deadline=None)
@given(ratings=grids(), values=st.permutations(range(4)))
def test_relabelling_categories_keeps_nominal_metrics(ratings: Ratings, values: list[int]) -> None:
    same = list(range(8)), list(range(5)), list(range(40))
    close(figures(rated(turned(ratings, *same, values))), figures(rated(ratings)), but=("prevalence",))


@pytest.mark.parametrize("level", ["ordinal", "interval"])
@settings(deadline=None)
@given(ratings=grids())
def test_reversing_the_scale_keeps_ordinal_metrics(level: Level, ratings: Ratings) -> None:
    same = list(range(8)), list(range(5)), list(range(40))
    close(
        figures(rated(turned(ratings, *same, [3, 2, 1, 0]), level)), figures(rated(ratings, level)), but=("prevalence",)
    )


@settings(deadline=None)
@given(ratings=grids(), level=st.sampled_from(LEVELS))
def test_full_agreement_is_1_and_nothing_is_more(ratings: Ratings, level: Level) -> None:
    found = figures(rated(ratings, level))
    coefficients = (found.percent_agreement, found.fleiss_kappa, found.krippendorff_alpha, found.gwet_ac1, found.pabak)
    assert all(value is None or value <= 1 + 1e-12 for value in coefficients)
    agreed = Ratings(
        item=ratings.item,
        annotator=ratings.annotator,
        value=ratings.item % 4,
        items=8,
        annotators=5,
        categories=4,
    )
    same = figures(rated(agreed, level))
    assert same.percent_agreement in (None, 1)
    assert same.krippendorff_alpha is None or same.krippendorff_alpha == pytest.approx(1, abs=1e-12)
    assert same.gwet_ac1 is None or same.gwet_ac1 == pytest.approx(1)


@settings(deadline=None)
@given(grids())
def test_single_labels_change_no_alpha(ratings: Ratings) -> None:
    cells = list(zip(ratings.item.tolist(), ratings.annotator.tolist(), ratings.value.tolist(), strict=True))
    more = of_cells([*cells, (8, 0, 0), (9, 1, 3)], 10, 5, 4)
    before, after = figures(rated(ratings)), figures(rated(more))
    assert after.krippendorff_alpha == pytest.approx(before.krippendorff_alpha)
    assert after.percent_agreement == pytest.approx(before.percent_agreement)
    assert (after.items, after.paired) == (before.items + 2, before.paired)


def test_chance_agreement_is_about_0() -> None:
    generator = np.random.default_rng(0)
    item = np.repeat(np.arange(20_000), 2)
    ratings = Ratings(
        item=item,
        annotator=np.tile([0, 1], 20_000),
        value=generator.integers(3, size=40_000),
        items=20_000,
        annotators=2,
        categories=3,
    )
    found = figures(rated(ratings))
    for value in (found.krippendorff_alpha, found.fleiss_kappa, found.gwet_ac1, found.pabak):
        assert value == pytest.approx(0, abs=0.015)


def test_no_ratings_give_no_metrics() -> None:
    found = figures(rated(of_cells([], 0, 0, 0)))
    assert (found.items, found.paired, found.labels) == (0, 0, 0)
    assert found.prevalence == {}
    assert found.percent_agreement is found.krippendorff_alpha is found.gwet_ac1 is found.fleiss_kappa is None
    assert (found.alpha_ci, found.differing, found.rarer) == (None, 0, 0)


def test_nothing_undefined_becomes_a_number_in_json() -> None:
    found = figures(rated(of_cells([(0, 0, 0), (0, 1, 0)], 1, 2, 1)))
    document = msgspec.json.decode(msgspec.json.encode(found))
    assert (
        document["krippendorff_alpha"] is document["gwet_ac1"] is document["fleiss_kappa"] is document["pabak"] is None
    )
    assert document["percent_agreement"] == 1


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=12))
def test_groups_are_equal_exactly_if_their_members_are(groups: list[list[int]]) -> None:
    group = np.array([place for place, members in enumerate(groups) for _ in members], dtype=np.int64)
    member = np.array([member for members in groups for member in members], dtype=np.int64)
    number, first = alike(group, member, len(groups))
    told = [tuple(sorted(members)) for members in groups]
    assert all((number[a] == number[b]) == (told[a] == told[b]) for a in range(len(told)) for b in range(len(told)))
    assert all((number[place] == -1) == (not members) for place, members in enumerate(groups))
    assert [number[place] for place in first.tolist()] == list(range(len(first)))


@settings(deadline=None)
@given(grids())
def test_kinds_hold_every_item(ratings: Ratings) -> None:
    found = units(ratings)
    dense = np.zeros((8, 4))
    np.add.at(dense, (ratings.item, ratings.value), 1)
    for item, row in enumerate(dense):
        kind = found.kind[item]
        assert (found.counts.toarray()[kind] == row).all() if kind >= 0 else not row.any()
    assert found.often.sum() == np.count_nonzero(dense.sum(axis=1))


def test_blocks_are_almost_equal_and_in_order() -> None:
    completed = [f"2025-01-{day:02d}" for day in (5, 1, 4, 2, 3, 6, 7)]
    assert [part.tolist() for part in blocks(completed, 3, 8)] == [[1, 3, 4, 2], [0, 5, 6]]
    assert len(blocks(completed, 5, 8)) == 1
    assert len(blocks(completed, 1, 3)) == 3
    assert blocks([], 3, 8) == []
