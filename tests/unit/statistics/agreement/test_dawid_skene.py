"""The Dawid-Skene model recovers the true labels and annotators, deterministically."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.unit.statistics.agreement.tables import drawn, grids, of_cells
from workbench.statistics.agreement.figures import consensus, modelled, with_others
from workbench.statistics.agreement.ratings import Ratings

ACCURACY = (0.98, 0.95, 0.93, 0.9, 0.88, 0.7)


def test_it_recovers_truth_and_people() -> None:
    generator = np.random.default_rng(1)
    truth = (generator.random(2_000) < 0.291).astype(int)
    ratings = drawn(truth, ACCURACY, 4, 2, seed=2)
    found = consensus(ratings)
    votes = np.zeros((2_000, 2))
    np.add.at(votes, (ratings.item, ratings.value), 1)
    majority = votes.argmax(axis=1)
    assert (found.labels == truth).mean() > max(0.96, (majority == truth).mean())
    hits = np.diagonal(found.confusion, axis1=1, axis2=2)
    assert np.abs(hits - np.array(ACCURACY)[:, None]).max() < 0.04
    assert found.share[1] == pytest.approx(0.291, abs=0.03)


def test_the_direction_of_annotator_errors_is_estimated() -> None:
    """A person who accepts too much has a low specificity, not a low sensitivity."""
    generator = np.random.default_rng(3)
    truth = generator.integers(2, size=1_500)
    sensitivity, specificity = (0.97, 0.95, 0.98), (0.96, 0.94, 0.75)
    cells = []
    for item, true in enumerate(truth.tolist()):
        for person in range(3):
            hit = generator.random() < (sensitivity, specificity)[1 - true][person]
            cells.append((item, person, true if hit else 1 - true))
    found = modelled(of_cells(cells, 1_500, 3, 2), np.arange(1_500))
    assert found is not None
    assert found.hit[:, 1] == pytest.approx(sensitivity, abs=0.04)
    assert found.hit[:, 0] == pytest.approx(specificity, abs=0.04)


@settings(deadline=None)
@given(grids())
def test_estimates_are_probabilities(ratings: Ratings) -> None:
    found = consensus(ratings)
    assert found.probability.sum(axis=1) == pytest.approx(1)
    assert found.confusion.sum(axis=2) == pytest.approx(1)
    assert found.share.sum() == pytest.approx(1)
    assert (consensus(ratings).probability == found.probability).all()


@settings(deadline=None)
@given(grids())
def test_names_of_people_change_nothing(ratings: Ratings) -> None:
    turned = Ratings(
        item=ratings.item,
        annotator=ratings.annotators - 1 - ratings.annotator,
        value=ratings.value,
        items=ratings.items,
        annotators=ratings.annotators,
        categories=ratings.categories,
    )
    assert consensus(turned).probability == pytest.approx(consensus(ratings).probability, abs=1e-6)


def test_full_agreement_is_believed() -> None:
    cells = [(item, person, item % 3) for item in range(12) for person in range(3)]
    found = consensus(of_cells(cells, 12, 3, 3))
    assert (found.labels == np.arange(12) % 3).all()
    assert found.confusion == pytest.approx(np.stack([np.eye(3)] * 3), abs=1e-6)


def test_two_people_have_no_consensus() -> None:
    assert modelled(drawn(np.arange(50) % 2, (0.9, 0.9), 2, 2, seed=1), np.arange(50)) is None


def test_a_class_unseen_by_an_annotator_has_no_estimate() -> None:
    cells = [(item, person, 1) for item in range(20) for person in range(3)]
    cells += [(item, person, 0) for item in range(20, 40) for person in (0, 1, 3)]
    found = modelled(of_cells(cells, 40, 4, 2), np.arange(40))
    assert found is not None
    assert np.isnan(found.hit[2, 0])
    assert np.isnan(found.hit[3, 1])
    assert found.hit[0] == pytest.approx([1, 1], abs=1e-6)


def test_agreement_with_the_others_is_a_mean_of_shares() -> None:
    cells = [(0, 0, 1), (0, 1, 1), (0, 2, 0), (1, 0, 1), (1, 1, 0), (2, 2, 1)]
    found = with_others(of_cells(cells, 3, 3, 2), np.arange(3))
    assert [share.n for share in found] == [2, 2, 1]
    assert [share.share for share in found] == pytest.approx([0.25, 0.25, 0.0])
