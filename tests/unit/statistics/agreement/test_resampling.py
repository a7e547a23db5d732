"""Bootstrap intervals: deterministic by seed, whole clusters, undefined samples reported."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.statistics.agreement.tables import KRIPPENDORFF, by_person, drawn, grids, of_cells, of_two
from workbench.statistics import bootstrap
from workbench.statistics.agreement.coefficients import alpha, percent
from workbench.statistics.agreement.ratings import Ratings, units
from workbench.statistics.bootstrap import Interval
from workbench.statistics.confusion import IntArray


def of_alpha(ratings: Ratings, cluster: IntArray | None = None, *, samples: int = 400, seed: int = 0) -> Interval:
    found = units(ratings)
    by_item = np.arange(ratings.items) if cluster is None else cluster
    values = np.arange(float(ratings.categories))
    figures = {"alpha": lambda weights: alpha(found, weights, "nominal", values)}
    return bootstrap.intervals(found.kind, len(found.sizes), by_item, figures, samples=samples, seed=seed)["alpha"]


def test_a_seed_fixes_the_result() -> None:
    ratings = by_person(KRIPPENDORFF, 5)
    assert of_alpha(ratings) == of_alpha(ratings)
    assert of_alpha(ratings) != of_alpha(ratings, seed=1)


def test_it_is_the_interval_of_resampling_item_by_item() -> None:
    """The very distribution that drawing items one by one gives, within what a thousand samples leave open."""
    ratings = drawn(np.arange(60) % 3, (0.9, 0.7, 0.8), 2, 3, seed=2)
    generator, values = np.random.default_rng(9), []
    for _ in range(1_000):
        chosen = generator.integers(60, size=60)
        cells = [
            (place, int(person), int(value))
            for place, item in enumerate(chosen.tolist())
            for person, value in zip(
                ratings.annotator[ratings.item == item], ratings.value[ratings.item == item], strict=True
            )
        ]
        found = units(of_cells(cells, 60, 3, 3))
        values.append(alpha(found, found.often, "nominal", np.arange(3.0))[0])
    ends = of_alpha(ratings, samples=4_000).ends
    assert ends == pytest.approx(tuple(np.quantile(values, (0.025, 0.975))), abs=0.02)


@pytest.mark.parametrize("few", [True, False])
def test_both_ways_of_drawing_draw_as_many_clusters_as_there_are(few: bool) -> None:
    often = np.array([500, 300, 200]) if few else np.ones(400, dtype=int)
    drawn_ = bootstrap._draw_multiplicities(often, 300, np.random.default_rng(0))
    assert (drawn_.sum(axis=1) == often.sum()).all()
    assert drawn_.mean(axis=0) == pytest.approx(often, rel=0.25)
    expected = often * (1 - often / often.sum())
    assert drawn_.var(axis=0).mean() == pytest.approx(expected.mean(), rel=0.2)


def test_completions_of_one_question_add_no_information() -> None:
    """Four copies of each item in one cluster: the interval is that of the items, not half as wide."""
    ratings = drawn(np.arange(80) % 2, (0.85, 0.85, 0.85), 2, 2, seed=4)
    cells = [
        (item * 4 + copy, person, value)
        for copy in range(4)
        for item, person, value in zip(
            ratings.item.tolist(), ratings.annotator.tolist(), ratings.value.tolist(), strict=True
        )
    ]
    copied = of_cells(cells, 320, 3, 2)
    once, by_item, by_cluster = (
        of_alpha(ratings).ends,
        of_alpha(copied).ends,
        of_alpha(copied, np.arange(320) // 4).ends,
    )
    assert once
    assert by_item
    assert by_cluster
    widths = [high - low for low, high in (once, by_item, by_cluster)]
    assert widths[2] == pytest.approx(widths[0], rel=0.15)
    assert widths[1] == pytest.approx(widths[0] / 2, rel=0.15)


@settings(deadline=None, max_examples=25)
@given(grids(), st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_items_and_people_changes_nothing(ratings: Ratings, random: object, by_two: bool) -> None:
    generator = np.random.default_rng(getattr(random, "randrange")(1 << 30))  # noqa: B009
    items, people = generator.permutation(ratings.items), generator.permutation(ratings.annotators)
    rows = generator.permutation(len(ratings.item))
    other = Ratings(
        item=items[ratings.item][rows],
        annotator=people[ratings.annotator][rows],
        value=ratings.value[rows],
        items=ratings.items,
        annotators=ratings.annotators,
        categories=ratings.categories,
    )
    cluster = np.arange(ratings.items) // (2 if by_two else 1)
    moved = np.empty_like(cluster)
    moved[items] = cluster
    assert of_alpha(ratings, cluster, samples=50) == of_alpha(other, moved, samples=50)


def test_undefined_samples_are_counted_and_too_many_leave_no_interval() -> None:
    rare = of_two([[30, 1], [0, 0]])
    found = of_alpha(rare)
    assert found.ends is None
    assert 0.2 < found.undefined / 400 < 0.5
    common = of_alpha(of_two([[20, 3], [2, 20]]))
    assert common.ends is not None
    assert common.undefined == 0


def test_equal_samples_give_no_interval() -> None:
    assert of_alpha(of_two([[9, 0], [0, 8]])) == Interval(None, 0)


def test_without_ratings_there_is_nothing_to_draw() -> None:
    nobody = of_cells([], 3, 1, 2)
    assert of_alpha(nobody) == Interval(None, 0)


def test_items_without_ratings_are_not_drawn() -> None:
    ratings = by_person(KRIPPENDORFF, 5)
    wider = of_cells(list(zip(ratings.item, ratings.annotator, ratings.value, strict=True)), 40, 4, 5)
    assert of_alpha(wider) == of_alpha(ratings)


def test_blocks_of_samples_are_one_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = by_person(KRIPPENDORFF, 5)
    whole = of_alpha(ratings)
    monkeypatch.setattr(bootstrap, "_BLOCK", 100)
    assert of_alpha(ratings) == whole


def test_coverage_of_a_share_is_about_95_percent() -> None:
    """A sanity check of the whole way: percent agreement over 200 data sets of known agreement."""
    inside = 0
    for seed in range(200):
        ratings = drawn(np.zeros(150, dtype=int), (0.9, 0.9), 2, 2, seed=seed)
        found = units(ratings)
        figures = {"percent": lambda weights, found=found: percent(found, weights)}
        ends = bootstrap.intervals(found.kind, len(found.sizes), np.arange(150), figures, samples=200, seed=seed)[
            "percent"
        ].ends
        assert ends is not None
        inside += ends[0] <= 0.82 <= ends[1]
    assert 0.90 <= inside / 200 <= 0.985
