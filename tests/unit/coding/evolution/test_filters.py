"""Shown and kept tests: thresholds, groups, the split, and excluded problems."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from workbench.coding.evolution.growing import (
    adversarial_tests,
    columns,
    count_perfect,
    discriminative_tests,
    is_split,
    rate,
    snapshot_after,
)
from workbench.coding.records.evolution import EvolutionSettings

SETTINGS = EvolutionSettings(model="m")
MATRICES = st.tuples(st.integers(1, 8), st.integers(0, 14)).flatmap(
    lambda sizes: st.lists(st.text("01", min_size=sizes[1], max_size=sizes[1]), min_size=sizes[0], max_size=sizes[0])
)


def test_columns_are_tests() -> None:
    assert columns(["110", "010"]) == ["10", "11", "00"]
    assert columns(["", ""]) == []


def test_a_tenth_is_enough_and_less_is_not() -> None:
    tests = ["1" + "0" * 9, "1" + "0" * 10, "0" * 10, "1" * 10]
    assert [place for place, column in enumerate(tests) if rate(column) >= 0.1] == [0, 3]
    assert adversarial_tests(tests, SETTINGS) == [0, 3]


def test_easy_tests_are_shown_by_default() -> None:
    tests = ["1111", "1110", "1100"]
    assert adversarial_tests(tests, SETTINGS) == [0, 1, 2]
    assert adversarial_tests(tests, structs.replace(SETTINGS, easiest=1.0)) == [1, 2]
    assert adversarial_tests(tests, structs.replace(SETTINGS, easiest=0.75)) == [2]
    assert adversarial_tests(tests, structs.replace(SETTINGS, easiest=0.5)) == [0, 1, 2]


def test_one_of_similar_tests_is_shown_chosen_by_seed() -> None:
    tests = ["10", "10", "01", "10", "00"]
    shown = {tuple(discriminative_tests(tests, SETTINGS, Random(seed))) for seed in range(40)}
    assert shown == {(0, 2), (1, 2), (2, 3)}


def test_a_split_needs_one_that_passes_and_one_that_fails() -> None:
    assert is_split("0010")
    assert not is_split("1111")
    assert not is_split("000")


def test_exactly_a_tenth_stays() -> None:
    rows = ["11111111", *["00000000"] * 9]
    assert len(snapshot_after(0, rows, SETTINGS, Random(0)).kept) == 5
    assert snapshot_after(0, [*rows, "00000000"], SETTINGS, Random(0)).below == 8
    assert discriminative_tests(columns(rows), SETTINGS, Random(0)) != []


def test_at_most_five_similar_tests_stay_and_a_problem_needs_five() -> None:
    kept = snapshot_after(2, ["1111111000", "0000000111"], SETTINGS, Random(1))
    assert (kept.round, len(kept.kept), kept.below, kept.alike, kept.left_out) == (2, 8, 0, 2, None)
    assert {7, 8, 9} <= set(kept.kept)
    few = snapshot_after(0, ["1111", "0000"], SETTINGS, Random(1))
    assert few.left_out == "few_tests"


def test_a_problem_is_left_out_only_if_more_than_60_of_64_solve_it() -> None:
    rows = ["11111"] * 60 + ["01111"] * 4
    assert snapshot_after(0, rows, SETTINGS, Random(0)).left_out is None
    assert snapshot_after(0, ["11111"] * 61 + ["01111"] * 3, SETTINGS, Random(0)).left_out == "too_easy"
    assert snapshot_after(0, ["11111"] * 15 + ["01111"], SETTINGS, Random(0)).left_out is None
    assert snapshot_after(0, ["11111"] * 16, SETTINGS, Random(0)).left_out == "too_easy"


def test_perfect_solutions_pass_all_kept_tests() -> None:
    assert count_perfect(["110", "100", "111"], [0, 1]) == 2


@given(MATRICES, st.integers(0, 3))
def test_kept_tests_satisfy_every_threshold(rows: list[str], seed: int) -> None:
    found = snapshot_after(0, rows, SETTINGS, Random(seed))
    tests = columns(rows)
    kept = Counter(tests[place] for place in found.kept)
    assert all(rate(column) >= 0.1 for column in kept)
    assert all(count == min(5, tests.count(column)) for column, count in kept.items())
    assert set(kept) == {column for column in tests if rate(column) >= 0.1}
    assert len(found.kept) + found.below + found.alike == len(tests)
    assert found == snapshot_after(0, rows, SETTINGS, Random(seed))


@given(MATRICES, st.integers(0, 14))
def test_more_tests_never_let_more_solutions_through(rows: list[str], fewer: int) -> None:
    first = [row[:fewer] for row in rows]
    before, after = snapshot_after(0, first, SETTINGS, Random(0)), snapshot_after(1, rows, SETTINGS, Random(1))
    assert count_perfect(rows, after.kept) <= count_perfect(first, before.kept)
