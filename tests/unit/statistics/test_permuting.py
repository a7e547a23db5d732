"""The permutation test: the full Fourier transform as the oracle, and the number of evaluated angles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.statistics.compare import angles, permutation
from workbench.statistics.confusion import IntArray

WITHIN = 1e-12


def every_angle(sums: IntArray) -> float:
    """The same test by the inverse transform of the product at every angle."""
    sizes, counts = np.unique(np.abs(sums[sums != 0]), return_counts=True)
    observed, largest = abs(int(sums.sum())), int((sizes * counts).sum())
    if observed == 0:
        return 1.0
    points = 1 << (2 * largest).bit_length()
    angle = np.arange(points // 2 + 1) * (2 * np.pi / points)
    transform = np.ones(len(angle))
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        transform *= np.cos(size * angle) ** count
    chance = np.fft.irfft(transform, points)
    return float(np.clip(2 * chance[observed : largest + 1].sum(), 1e-12, 1))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(-40, 40), min_size=1, max_size=60), st.sampled_from([1, 2, 3, 7]))
def test_few_questions_have_the_p_of_the_whole_transform(sums: list[int], factor: int) -> None:
    values = np.array(sums) * factor
    assert permutation(values) == pytest.approx(every_angle(values), abs=WITHIN)


@pytest.mark.parametrize("scale", [1, 5, pytest.param(30, marks=pytest.mark.soak)])
@pytest.mark.parametrize("shift", [0.0, 0.02, 0.2])
@pytest.mark.parametrize("factor", [1, 6])
def test_many_questions_have_the_p_of_the_whole_transform(scale: int, shift: float, factor: int) -> None:
    draw = np.random.default_rng([scale, int(100 * shift), factor])
    for questions in (100, 1_000, 3_000) if scale * factor <= 10 else (100, 1_000):
        sums = np.rint(draw.normal(shift, 1, questions) * scale).astype(np.int64) * factor
        # One odd question between even ones changes the whole lattice.
        for values in (sums, np.append(sums, 1)):
            assert permutation(values) == pytest.approx(every_angle(values), abs=WITHIN)


@pytest.mark.parametrize("size", [1, 2, 5, 181])
def test_questions_of_one_size_have_the_p_of_the_whole_transform(size: int) -> None:
    for a, b in ((1, 0), (3, 1), (700, 640), (2_000, 1_900)):
        sums = np.repeat([size, -size], [a, b])
        assert permutation(sums) == pytest.approx(every_angle(sums), abs=WITHIN)


def test_a_huge_question_among_small_ones_has_the_exact_p() -> None:
    sums = np.array([90_001, *np.random.default_rng(0).integers(-3, 4, 500)])
    assert permutation(sums) == pytest.approx(every_angle(sums), abs=WITHIN)


def test_many_questions_need_few_angles() -> None:
    sizes, counts = np.arange(1, 41), np.full(40, 200)
    points = 1 << int(2 * sizes @ counts).bit_length()
    found = angles(sizes, counts, points)
    assert 0 < len(found) < points / 500
    # A stretch is only left out where nothing in it counts.
    whole = np.arange(points // 2 + 1)
    turns = np.abs(np.cos(np.outer(whole, sizes) * 2 * np.pi / points))
    product = np.log(turns + 1e-300) @ counts
    assert set(np.flatnonzero(product > np.log(1e-18)).tolist()) <= set(found.tolist())
