"""Clustered intervals by question: width, absence for too few questions, and coverage."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs

from bench.agreeing import Setting, covered
from tests.unit.statistics.agreement.tables import drawn, of_cells, of_two
from workbench.statistics.agreement import clustered
from workbench.statistics.agreement.coefficients import ac1, alpha
from workbench.statistics.agreement.cohen import pairs
from workbench.statistics.agreement.figures import Rated, figures
from workbench.statistics.agreement.ratings import Ratings, units
from workbench.statistics.confusion import IntArray
from workbench.statistics.records.agreement import Figures


def rated(ratings: Ratings, cluster: IntArray) -> Rated:
    names = [f"c{category}" for category in range(ratings.categories)]
    values = np.arange(float(ratings.categories))
    return Rated(ratings=ratings, names=names, values=values, level="nominal", cluster=cluster)


def of(ratings: Ratings, cluster: IntArray | None = None) -> Figures:
    return figures(rated(ratings, np.arange(ratings.items) if cluster is None else cluster))


def copied(ratings: Ratings, times: int) -> Ratings:
    cells = [
        (item * times + copy, person, value)
        for copy in range(times)
        for item, person, value in zip(
            ratings.item.tolist(), ratings.annotator.tolist(), ratings.value.tolist(), strict=True
        )
    ]
    return of_cells(cells, ratings.items * times, ratings.annotators, ratings.categories)


def test_the_jackknife_leaves_out_one_cluster_at_a_time() -> None:
    """The same by counting anew without each cluster."""
    ratings = drawn(np.arange(60) % 3, (0.9, 0.7, 0.8), 2, 3, seed=2)
    cluster = np.arange(60) // 4
    found = units(ratings)
    errors = clustered.jackknife(found.kind, len(found.sizes), cluster, {"ac1": lambda weights: ac1(found, weights)})
    without = []
    for one in range(15):
        part = units(ratings.of(cluster != one))
        without.append(ac1(part, part.often)[0])
    assert errors["ac1"] == pytest.approx(np.sqrt(14 / 15 * ((without - np.mean(without)) ** 2).sum()))


def test_many_clusters_of_many_kinds_are_left_out_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = drawn(np.arange(4_000) % 3, (0.9, 0.7, 0.8), 2, 3, seed=2)
    found = units(ratings)
    figure = {"alpha": lambda weights: alpha(found, weights, "nominal", np.arange(3.0))}
    asked = found.kind, len(found.sizes), np.arange(4_000) // 2
    whole = clustered.jackknife(*asked, figure)["alpha"]
    monkeypatch.setattr(clustered, "_MAX_CELLS", 10)
    assert clustered.jackknife(*asked, figure)["alpha"] == pytest.approx(whole, rel=0.1)
    assert clustered.jackknife(*asked, figure) == clustered.jackknife(*asked, figure)


def test_completions_of_one_question_add_no_information() -> None:
    """Four copies of each item in one question: intervals are those of the items, not half as wide."""
    ratings = drawn(np.arange(160) % 2, (0.85, 0.85), 2, 2, seed=4)
    again, question = copied(ratings, 4), np.arange(640) // 4
    ends = []
    for kept, each in ((ratings, np.arange(160)), (again, np.arange(640)), (again, question)):
        found = of(kept, each)
        ends.append([found.alpha_ci, found.ac1_ci, found.fleiss_ci, pairs(kept, each).interval(0)])
    for of_items, of_copies, of_questions in zip(*ends, strict=True):
        assert of_items
        assert of_copies
        assert of_questions
        width, narrow, same = (high - low for low, high in (of_items, of_copies, of_questions))
        assert same == pytest.approx(width, rel=0.15)
        assert narrow == pytest.approx(width / 2, rel=0.15)


def test_blocks_of_pairs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = drawn(np.arange(300) % 3, (0.9, 0.7, 0.8, 0.6), 3, 3, seed=2)
    question = np.arange(300) // 3
    whole = pairs(ratings, question)
    monkeypatch.setattr("workbench.statistics.agreement.cohen._BLOCK", 20)
    for here, there in zip(pairs(ratings, question).errors[:3], whole.errors[:3], strict=True):
        assert here == pytest.approx(there)


def test_too_few_differing_questions_give_no_interval() -> None:
    truth = np.arange(100) % 2
    said = truth.copy()
    said[:3] = 1 - said[:3]
    cells = [(item, who, int(value)) for who, labels in ((0, truth), (1, said)) for item, value in enumerate(labels)]
    few = of_cells(cells, 100, 2, 2)
    found = of(few)
    assert (found.differing, found.alike, found.rarer) == (3, 48, 51)
    assert found.alpha_ci is found.ac1_ci is found.fleiss_ci is pairs(few, np.arange(100)).interval(0) is None
    more = of_cells([*cells[:-1], (99, 1, 0)], 100, 2, 2)
    assert of(more).alpha_ci is not None
    assert of(more, np.arange(100) // 25).alpha_ci is None


@pytest.mark.parametrize(
    ("table", "enough"),
    [
        ([[50, 3], [2, 4]], True),
        ([[50, 3], [3, 3]], False),
        ([[50, 3], [0, 4]], False),
        ([[50, 4], [0, 3]], False),
        ([[4, 3], [2, 50]], True),
    ],
)
def test_an_interval_needs_enough_differing_and_rarer_questions(table: list[list[int]], enough: bool) -> None:
    ratings = of_two(table)
    found, of_pair = of(ratings), pairs(ratings, np.arange(ratings.items))
    for ends in (found.alpha_ci, found.ac1_ci, found.fleiss_ci, of_pair.interval(0)):
        assert (ends is not None) is enough
    known = of_pair.errors.known
    assert [part[0] for part in known[:3]] == [found.differing, found.alike, found.rarer]


def test_equally_common_labels_have_no_majority() -> None:
    ratings = of_two([[6, 4], [4, 6]])
    found, of_pair = of(ratings), pairs(ratings, np.arange(ratings.items))
    assert (found.differing, found.alike, found.rarer) == (8, 12, 20)
    assert [part[0] for part in of_pair.errors.known[:3]] == [8, 12, 20]


def test_near_values_need_not_be_equal() -> None:
    """Measurements are hardly ever the same: alpha of their distances has an interval, AC1 of equal ones none."""
    generator = np.random.default_rng(3)
    truth = generator.normal(size=60)
    measured = np.argsort(np.argsort((truth[:, None] + generator.normal(0, 0.1, (60, 2))).ravel())).reshape(60, 2)
    ratings = of_cells([(item, who, int(measured[item, who])) for item in range(60) for who in (0, 1)], 60, 2, 120)
    asked = structs.replace(rated(ratings, np.arange(60)), level="interval")
    found = figures(asked)
    assert found.alike == 0
    assert found.alpha_ci is not None
    assert found.ac1_ci is None


def test_kappas_error_leaves_out_one_cluster_at_a_time() -> None:
    """The same by counting anew without each cluster, for three categories and three people."""
    ratings = drawn(np.arange(60) % 3, (0.9, 0.7, 0.8), 3, 3, seed=2)
    cluster = np.arange(60) // 4
    found = pairs(ratings, cluster)
    for place in range(3):
        kept = [(ratings.of(cluster != one), cluster[cluster != one]) for one in range(15)]
        without = np.array([pairs(*part).kappa[place] for part in kept])
        expected = np.sqrt(14 / 15 * ((without - without.mean()) ** 2).sum())
        assert found.errors.clustered[place] == pytest.approx(expected)


def test_the_order_of_items_and_people_changes_nothing() -> None:
    ratings = drawn(np.arange(120) % 3, (0.9, 0.7, 0.8), 2, 3, seed=5)
    question = np.arange(120) // 3
    turn = np.random.default_rng(0).permutation(120)
    moved = Ratings(
        item=turn[ratings.item],
        annotator=2 - ratings.annotator,
        value=ratings.value,
        items=120,
        annotators=3,
        categories=3,
    )
    other = np.empty_like(question)
    other[turn] = question
    here, there = of(ratings, question), of(moved, other)
    assert here.alpha_ci == pytest.approx(there.alpha_ci)
    assert here.ac1_ci == pytest.approx(there.ac1_ci)


@pytest.mark.soak
@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(Setting(10, "equal", 0.0, 0.05, 0.2), marks=pytest.mark.soak),
        pytest.param(Setting(14, "geometric", 0.3, 0.05, 0.2), marks=pytest.mark.soak),
        pytest.param(Setting(20, "equal", 0.3, 0.5, 0.03), marks=pytest.mark.soak),
        Setting(20, "geometric", 0.3, 0.5, 0.2),
        pytest.param(Setting(50, "heavy", 0.3, 0.3, 0.1), marks=pytest.mark.soak),
    ],
    ids=str,
)
def test_intervals_cover_where_there_are_any(setting: Setting) -> None:
    """600 data sets each; ``bench.coverage`` has all settings and more of them."""
    for row in covered(setting, 600, [7]):
        assert row["value"] >= 0.93, row
        # Where hardly an item is judged wrongly, nothing says how errors go together.
        assert row["too_few"] < 0.97 or (row["figure"], setting.error) == ("coverage of phi", 0.03), row


@pytest.mark.soak
def test_intervals_cover_where_questions_are_of_very_unlike_size() -> None:
    """Sizes from 1 to 60: a few questions hold most of what is rare."""
    for row in covered(Setting(200, "heavy", 0.3, 0.05, 0.1), 300, [7]):
        assert row["value"] >= 0.93, row
        assert row["too_few"] < 0.05, row
