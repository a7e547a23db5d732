"""The solutions shown to a model: as released, drawn by seed, possibly fewer than five."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.coding.evolution.representatives import choose_adversarial, choose_discriminative, distance

VECTORS = st.integers(0, 6).flatmap(
    lambda length: st.lists(st.text("01", min_size=length, max_size=length), max_size=12)
)


@pytest.fixture(scope="module")
def cases(shared_data: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((shared_data / "code/evolve_select_cases.json").read_text())
    return found


@pytest.mark.real_data
def test_the_released_functions_choose_the_same_with_equal_seeds(cases: dict[str, dict[str, Any]]) -> None:
    assert len(cases) == 6
    for name, case in cases.items():
        choose = choose_adversarial if name.startswith("adversarial") else choose_discriminative
        assert choose(case["vectors"], Random(0)) == case["selected"], name


@pytest.mark.real_data
def test_the_objective_chooses_the_company_of_the_best_two(cases: dict[str, dict[str, Any]]) -> None:
    vectors = cases["adversarial_1"]["vectors"]
    assert choose_adversarial(vectors, Random(0), "released") == [0, 1, 2, 5, 6]
    assert choose_adversarial(vectors, Random(0), "max-min") == [0, 1, 2, 5, 7]
    assert choose_adversarial(vectors, Random(0), "max-sum") == [0, 1, 2, 3, 7]


def test_rates_of_0_4_are_in_the_middle_and_of_0_9_are_not() -> None:
    vectors = ["1111111111", "1111111111", "1111111110", "1111000000", "0000001111", "1111100000"]
    assert choose_adversarial(vectors, Random(0)) == [0, 1, 3, 4, 5]


def test_without_a_middle_three_that_pass_more_than_a_tenth_are_drawn_by_seed() -> None:
    vectors = ["1111111111"] * 8 + ["1000000000", "0000000000"]
    drawn = {tuple(choose_adversarial(vectors, Random(seed))) for seed in range(60)}
    assert all(found[:2] == (0, 1) and set(found[2:]) <= set(range(2, 8)) for found in drawn)
    assert len(drawn) == 20
    assert choose_adversarial(vectors, Random(7)) == choose_adversarial(vectors, Random(7))


def test_fewer_than_five_solutions_are_allowed() -> None:
    assert choose_adversarial([], Random(0)) == []
    assert choose_adversarial(["11"], Random(0)) == [0]
    assert choose_adversarial(["11", "00", "00"], Random(0)) == [0, 1]
    assert choose_discriminative([], Random(0)) == []
    assert choose_discriminative(["11", "00"], Random(0)) == [0, 1]
    assert choose_discriminative(["11", "11", "00"], Random(0)) == [0, 1, 2]


def test_similar_solutions_are_drawn_more_often_from_larger_groups() -> None:
    vectors = ["10"] * 9 + ["01", "01"]
    counts = [0, 0]
    for seed in range(300):
        found = choose_discriminative(vectors, Random(seed))
        counts[9 in found and 10 in found] += 1
    assert counts[0] > 3 * counts[1] > 0


def test_a_small_group_is_filled_up_with_the_nearest() -> None:
    vectors = ["1111", "1111", "0000", "1110", "0111", "0011"]
    assert choose_discriminative(vectors, Random(0)) == [0, 1, 3, 4, 5]


@given(VECTORS, st.integers(0, 3))
def test_the_diverse_choice_is_optimal(vectors: list[str], seed: int) -> None:
    found = choose_adversarial(vectors, Random(seed), "max-min")
    assert found == sorted(set(found))
    assert len(found) == min(5, len(vectors))
    best = sorted(range(len(vectors)), key=lambda place: -vectors[place].count("1"))[:2]
    others = [place for place in range(len(vectors)) if place not in best]
    if len(others) > 3:
        chosen = tuple(place for place in found if place not in best)
        assert chosen == max(combinations(others, 3), key=lambda three: _distances(vectors, three))


def _distances(vectors: list[str], three: tuple[int, ...]) -> tuple[int, int]:
    distances = [distance(vectors[one], vectors[other]) for one, other in combinations(three, 2)]
    return min(distances), sum(distances)


@given(VECTORS, st.integers(0, 3))
def test_similar_solutions_are_five_or_all_and_deterministic(vectors: list[str], seed: int) -> None:
    found = choose_discriminative(vectors, Random(seed))
    assert found == sorted(set(found)) == choose_discriminative(vectors, Random(seed))
    assert len(found) == min(5, len(vectors))
