"""Near-duplicate problems: no two kept ones are similar, and each dropped one is similar to a kept one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.coding.duplicates import duplicates, neighbour_means, overlaps
from workbench.data.alike import ROWS, Similarities, find_similar


def of_angles(degrees: Sequence[float]) -> Similarities:
    turns = np.deg2rad(np.array(degrees, dtype=float))
    return Similarities(np.stack([np.cos(turns), np.sin(turns)], axis=1) * 3)


def test_a_chain_keeps_problems_dissimilar_to_kept_ones() -> None:
    found = find_similar(of_angles([0, 20, 40, 90]), 0.9)
    assert {place: [other for other, _ in others] for place, others in found.items()} == {0: [1], 1: [0, 2], 2: [1]}
    gone = {seed: [one.place for one in duplicates(found, 4, seed)] for seed in range(30)}
    assert {tuple(places) for places in gone.values()} == {(1,), (0, 2)}
    assert duplicates(found, 4, 3) == duplicates(found, 4, 3)


def test_a_similarity_equal_to_the_threshold_is_no_duplicate() -> None:
    similarities = Similarities(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]))
    (cosine,) = similarities.rows(np.array([0]), np.array([1]))[0]
    assert list(find_similar(similarities, cosine)) == []
    assert list(find_similar(similarities, cosine - 1e-9)) == [0, 1]


def test_a_vector_without_direction_is_rejected() -> None:
    for bad in ([0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]):
        with pytest.raises(ValueError, match="vector 2 has no direction"):
            Similarities(np.array([[1.0, 0.0], bad]))


@pytest.mark.parametrize("rows", [2, ROWS])
def test_means_are_over_the_ten_nearest_or_all_there_are(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr("workbench.coding.duplicates.ROWS", rows)
    assert neighbour_means(of_angles([0, 90, 180]), [0, 1, 2]) == pytest.approx([-0.5, 0.0, -0.5])
    assert neighbour_means(of_angles([0, 0, 90]), [0, 2]) == pytest.approx([0.0, 0.0])
    assert neighbour_means(of_angles([0]), [0]) == []
    crowd = of_angles([0] * 11 + [90])
    assert neighbour_means(crowd, range(12))[0] == pytest.approx(1.0)


def test_sources_overlap_by_the_share_of_their_problems() -> None:
    found = find_similar(of_angles([0, 5, 90, 180]), 0.9)
    assert overlaps(found, ["a", "b", "a", "b"]) == {"a": {"a": 1.0, "b": 0.5}, "b": {"a": 0.5, "b": 1.0}}


@given(st.lists(st.integers(0, 90), min_size=1, max_size=25), st.integers(0, 3))
def test_each_dropped_problem_is_similar_to_a_kept_one(degrees: list[int], seed: int) -> None:
    similarities = of_angles(degrees)
    gone = duplicates(find_similar(similarities, 0.95), len(degrees), seed)
    away = {one.place for one in gone}
    kept = [place for place in range(len(degrees)) if place not in away]
    cosines = similarities.rows(np.array(kept), np.array(kept))
    assert not np.any(np.triu(cosines > 0.95, 1))
    assert all(one.of in kept and one.similarity > 0.95 for one in gone)
