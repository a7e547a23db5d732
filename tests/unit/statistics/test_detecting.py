"""The minimum detectable difference of a paired comparison: its power, and when it is undefined."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from workbench.statistics.compare import permutation
from workbench.statistics.confusion import IntArray
from workbench.statistics.detecting import DIFFERING, FEWEST, detectable


def drawn(
    size: IntArray, difference: float, discordance: float, correlation: float, generator: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw the numbers of items per question that only A, and only B, judges correctly."""
    share, sharp = max(discordance, difference), (1 - correlation) / correlation
    differ = generator.binomial(size, generator.beta(share * sharp, (1 - share) * sharp, len(size)))
    only_a = generator.binomial(differ, (1 + difference / share) / 2)
    return only_a, differ - only_a


@pytest.mark.parametrize(
    ("questions", "discordance"),
    [(60, 0.1), *(pytest.param(*one, marks=pytest.mark.soak) for one in ((60, 0.3), (150, 0.1)))],
)
def test_the_detectable_difference_is_found_in_four_of_five_cases(questions: int, discordance: float) -> None:
    generator = np.random.default_rng([22, questions])
    found: list[bool] = []
    while len(found) < 500:
        size = generator.geometric(0.25, questions)
        at = detectable(size, *drawn(size, 0.0, discordance, 0.3, generator))
        if at is not None:
            only_a, only_b = drawn(size, at, discordance, 0.3, generator)
            found.append(permutation(only_a - only_b) <= 0.05)
    # One standard error is .018. By (z.975 + z.8) times the standard error of such data it is .67 to .76.
    assert 0.765 <= np.mean(found) <= 0.845


def singles(n: int, only_a: int, only_b: int) -> tuple[IntArray, IntArray, IntArray]:
    """So many questions of an item each."""
    place = np.arange(n)
    return (
        np.ones(n, np.int64),
        (place < only_a).astype(int),
        ((place >= only_a) & (place < only_a + only_b)).astype(int),
    )


@pytest.mark.parametrize(("discordance", "points"), [(0.05, 2.0), (0.1, 2.8), (0.2, 4.0), (0.3, 4.9)])
def test_a_thousand_items_agree_with_connor_to_first_order(discordance: float, points: float) -> None:
    half = round(500 * discordance)
    found = detectable(*singles(1000, half, half))
    assert found is not None
    assert 100 * found == pytest.approx(points, abs=0.11)
    assert found == pytest.approx(2.8016 * sqrt(discordance / 1000), rel=0.04)


def test_few_discordant_items_take_a_difference_of_more() -> None:
    # Eight items that all point one way are found, fewer than six never: as many as that are there in four of five
    # cases where they are 7.9 in the mean (Poisson).
    found = detectable(*singles(200, 4, 3))
    assert found is not None
    assert 7.5 <= 200 * found <= 9


def test_too_few_questions_have_no_detectable_difference() -> None:
    def of(questions: int) -> float | None:
        return detectable(np.full(questions, 4), np.full(questions, 1), np.arange(questions) % 2)

    assert of(FEWEST) is not None
    assert of(FEWEST - 1) is None
    sizes = np.append(np.full(50, 4), 400)
    assert detectable(sizes, np.full(51, 1), np.arange(51) % 2) is None


def test_verifiers_that_differ_on_few_questions_have_no_estimate() -> None:
    n = 100
    few = [detectable(*singles(n, number - 1, 1)) for number in (DIFFERING - 1, DIFFERING)]
    assert few[0] is None
    assert few[1] is not None
    assert detectable(np.ones(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)) is None
    # Many discordant items, but of few questions.
    size, only_a = np.full(n, 10), np.where(np.arange(n) < DIFFERING - 1, 10, 0)
    assert detectable(size, only_a, 0 * only_a) is None


def test_a_few_dominant_questions_give_no_estimate() -> None:
    size = np.append(np.full(300, 2), np.full(3, 60))
    lead = np.append(np.arange(300) < 10, np.zeros(3)).astype(int)
    back = np.append((np.arange(300) >= 10) & (np.arange(300) < 20), np.zeros(3)).astype(int)
    lead[-3:], back[-3:] = [30, 1, 0], [10, 0, 1]
    # Whether a large one is discordant, and which way, outweighs all the others; alike in every respect but that, not.
    assert detectable(size, lead, back) is None
    lead[-3:], back[-3:] = [2, 1, 1], [1, 1, 2]
    assert detectable(size, lead, back) is not None
