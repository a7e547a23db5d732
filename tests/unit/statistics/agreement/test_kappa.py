"""Kappa: golden values, statsmodels as the oracle, the prevalence paradox, and many annotators."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from tests.unit.statistics.agreement.tables import FLEISS, KRIPPENDORFF, by_counts, by_person, drawn, grids, of_two
from workbench.statistics.agreement.coefficients import ac1, fleiss, pabak
from workbench.statistics.agreement.cohen import LabelPairs, pairs
from workbench.statistics.agreement.ratings import Ratings, units


def cohen(table: list[list[int]]) -> LabelPairs:
    ratings = of_two(table)
    return pairs(ratings, np.arange(ratings.items))


@pytest.mark.parametrize(
    ("table", "kappa", "ends", "adjusted"),
    [
        ([[40, 9], [6, 45]], 0.699519230769, (0.559590340751, 0.839448120788), 0.70),
        ([[80, 10], [5, 5]], 0.318181818182, None, 0.70),
    ],
)
def test_cohen_golden_values(
    table: list[list[int]], kappa: float, ends: tuple[float, float] | None, adjusted: float
) -> None:
    found = cohen(table)
    assert found.items.tolist() == [100]
    assert found.agreement[0] == pytest.approx(0.85, abs=1e-12)
    assert found.kappa[0] == pytest.approx(kappa, abs=1e-9)
    assert pabak(float(found.agreement[0]), 2) == pytest.approx(adjusted, abs=1e-12)
    if ends is not None:
        assert found.interval(0) == pytest.approx(ends, abs=1e-9)


def test_one_class_is_undefined_not_0_and_not_1() -> None:
    found = cohen([[7, 0], [0, 0]])
    assert isnan(found.kappa[0])
    assert isnan(found.errors.independent[0])
    assert found.agreement[0] == 1


def test_constant_raters_have_no_agreement_beyond_chance() -> None:
    assert cohen([[0, 7], [0, 0]]).kappa[0] == 0


@settings(deadline=None, max_examples=25)
@given(st.lists(st.lists(st.integers(0, 12), min_size=3, max_size=3), min_size=3, max_size=3))
def test_cohen_equals_statsmodels(table: list[list[int]]) -> None:
    counts = np.array(table)
    assume(counts.sum() > 1)
    share = counts / counts.sum()
    assume((share.sum(axis=0) * share.sum(axis=1)).sum() < 0.999)
    with np.errstate(all="ignore"):  # # its z values, which are not used
        expected = cohens_kappa(counts)
    found = cohen(table)
    assert found.kappa[0] == pytest.approx(expected.kappa, abs=1e-9)
    assert found.errors.independent[0] ** 2 == pytest.approx(expected.var_kappa, abs=1e-12)


@settings(deadline=None)
@given(grids())
def test_every_pair_equals_the_single_computation(ratings: Ratings) -> None:
    found = pairs(ratings, np.arange(ratings.items))
    seen = []
    for place, (a, b) in enumerate(zip(found.a.tolist(), found.b.tolist(), strict=True)):
        said = [
            dict(zip(ratings.item[ratings.annotator == who], ratings.value[ratings.annotator == who], strict=True))
            for who in (a, b)
        ]
        common = said[0].keys() & said[1].keys()
        table = np.zeros((4, 4), dtype=int)
        for item in common:
            table[said[0][item], said[1][item]] += 1
        alone = cohen(table.tolist())
        assert found.items[place] == len(common) > 0
        assert found.agreement[place] == pytest.approx(alone.agreement[0])
        assert found.kappa[place] == pytest.approx(alone.kappa[0], nan_ok=True)
        for errors, its in zip(found.errors[:2], alone.errors[:2], strict=True):
            assert errors[place] == pytest.approx(its[0], nan_ok=True)
        seen.append((a, b))
    assert seen == sorted(seen)


def test_a_zero_standard_error_gives_no_interval() -> None:
    """They never differed, or one of them always said the same: that is no certainty."""
    for table in ([[3, 0], [0, 2]], [[0, 7], [0, 0]], [[7, 0], [0, 0]]):
        found = cohen(table)
        assert found.interval(0) is None


def test_fleiss_golden_value() -> None:
    found = units(by_counts(FLEISS))
    assert fleiss(found, found.often)[0] == pytest.approx(0.209930704422, abs=1e-9)


def test_fleiss_equals_statsmodels() -> None:
    ratings = drawn(np.arange(60) % 3, (0.9, 0.8, 0.7, 0.85), 4, 3, seed=5)
    table = np.zeros((60, 3), dtype=int)
    np.add.at(table, (ratings.item, ratings.value), 1)
    found = units(ratings)
    assert fleiss(found, found.often)[0] == pytest.approx(fleiss_kappa(table), abs=1e-12)


def test_fleiss_is_undefined_where_label_counts_differ() -> None:
    found = units(by_person(KRIPPENDORFF, 5))
    assert isnan(fleiss(found, found.often)[0])


def test_fleiss_is_undefined_with_one_category() -> None:
    found = units(of_two([[4, 0], [0, 0]]))
    assert isnan(fleiss(found, found.often)[0])


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("prevalence", "kappa", "by_gwet"),
    [(0.5, 0.810, 0.810), (0.291, 0.779, 0.834), (0.203, 0.734, 0.852), (0.05, 0.448, 0.885)],
)
def test_the_kappa_paradox(prevalence: float, kappa: float, by_gwet: float) -> None:
    """Two people, 95 % sensitive and specific: they agree on 90.5 % throughout, and kappa falls with prevalence."""
    right, items = 0.95, 400_000
    said = np.array([[right, 1 - right], [1 - right, right]])
    table = sum(share * np.outer(row, row) for share, row in zip((prevalence, 1 - prevalence), said, strict=True))
    ratings = of_two(np.rint(items * table).astype(int).tolist())
    found, together = pairs(ratings, np.arange(ratings.items)), units(ratings)
    assert found.agreement[0] == pytest.approx(0.905, abs=1e-5)
    assert found.kappa[0] == pytest.approx(kappa, abs=6e-4)
    assert ac1(together, together.often)[0] == pytest.approx(by_gwet, abs=6e-4)


def test_pabak_of_more_categories_is_0_at_chance() -> None:
    assert pabak(1 / 3, 3) == pytest.approx(0)
    assert pabak(1, 3) == 1
    assert isnan(pabak(1, 1))
