"""Groups against the rest of their scope: brute force, other tests as oracles, and what must not matter."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, fisher_exact, hypergeom, permutation_test

from workbench.statistics import subgroups
from workbench.statistics.subgroups import CellTest, benjamini_hochberg, cell_tests, scope_of

# A piece: items, how many of them are right (at most as many), group.
PIECE = st.tuples(st.integers(1, 4), st.integers(0, 4), st.integers(0, 2)).map(lambda it: (it[0], min(it[:2]), it[2]))
PIECES = st.lists(PIECE, min_size=1, max_size=9)

# VerifyBench, arXiv 2505.15801, table 5: per cent right of four judges by type and, indented, subtype; the subtypes'
# sizes follow from the fractions, each type has 500 items.
TABLE_5 = """
97.60 94.80 88.80 65.80
 64 96.88 96.88 93.75 65.62
 64 96.88 95.31 92.19 70.31
 62 98.39 96.77 90.32 61.29
 62 98.39 95.16 87.10 75.81
 62 96.77 96.77 85.48 59.68
 62 96.77 96.77 93.55 66.13
 62 100 93.55 88.71 64.52
 62 96.77 87.10 79.03 62.90
94.00 90.20 77.80 63.60
 130 91.54 84.62 67.69 56.92
 64 87.50 78.12 70.31 60.94
 128 96.09 94.53 82.81 60.94
 50 98.00 98.00 78.00 60.00
 128 96.09 94.53 86.72 75.78
99.00 96.80 88.40 56.80
 164 99.39 98.17 92.07 59.15
 168 98.21 94.05 77.98 49.40
 168 99.40 98.21 95.24 61.90
92.60 90.80 78.00 57.60
 344 93.60 93.31 81.69 59.01
 156 90.38 85.26 69.87 54.49
"""


class Published(NamedTuple):
    """A cell of table 5 as counts: its subtype's and its type's."""

    subtype: int
    judge: int
    type: int
    right: int
    size: int
    type_right: int

    @property
    def below(self) -> bool:
        return self.right / self.size < self.type_right / 500


def published() -> list[Published]:
    cells, of_type, type_, subtype = list[Published](), list[int](), -1, 0
    for line in TABLE_5.strip("\n").split("\n"):
        numbers = [float(number) for number in line.split()]
        if not line.startswith(" "):
            of_type, type_ = [round(5 * share) for share in numbers], type_ + 1
            continue
        size = int(numbers[0])
        for judge, share in enumerate(numbers[1:]):
            right = round(size * share / 100)
            assert round(100 * right / size, 2) == pytest.approx(share, abs=0.0051)
            cells.append(Published(subtype, judge, type_, right, size, of_type[judge]))
        subtype += 1
    return cells


def by_group(pieces: list[tuple[int, int, int]]) -> dict[int, CellTest]:
    size, right, group = np.array(pieces, dtype=np.int64).T
    return cell_tests(size, right, group, np.zeros(len(size), dtype=np.int64))


@settings(deadline=None)
@given(PIECES)
def test_the_chance_is_that_of_all_ways_to_deal_out_the_label(pieces: list[tuple[int, int, int]]) -> None:
    found = by_group(pieces)
    n, right = sum(size for size, _, _ in pieces), sum(right for _, right, _ in pieces)
    residual = [n * own - right * size for size, own, _ in pieces]
    groups = {group for _, _, group in pieces}
    assert set(found) == (groups if len(groups) > 1 else set())
    for group, test in found.items():
        drawn = [place for place, piece in enumerate(pieces) if piece[2] == group]
        observed = abs(sum(residual[place] for place in drawn))
        ways = [sum(residual[place] for place in some) for some in combinations(range(len(pieces)), len(drawn))]
        assert test.exact
        assert test.p == pytest.approx(sum(abs(way) >= observed for way in ways) / len(ways), abs=1e-11)


@settings(deadline=None)
@given(PIECES, st.randoms(use_true_random=False))
def test_the_order_of_questions_changes_nothing(pieces: list[tuple[int, int, int]], random: Random) -> None:
    shuffled = list(pieces)
    random.shuffle(shuffled)
    assert by_group(shuffled) == by_group(pieces)


@settings(deadline=None)
@given(PIECES)
def test_doubling_every_item_inside_its_question_adds_no_evidence(pieces: list[tuple[int, int, int]]) -> None:
    once, twice = by_group(pieces), by_group([(2 * size, 2 * right, group) for size, right, group in pieces])
    assert set(once) == set(twice)
    for group, test in once.items():
        assert twice[group].p == pytest.approx(test.p, abs=1e-11)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=200))
def test_questions_with_one_completion_give_the_hypergeometric_test(items: list[tuple[bool, bool]]) -> None:
    found = by_group([(1, int(right), int(group)) for right, group in items])
    n, right, drawn = len(items), sum(right for right, _ in items), sum(group for _, group in items)
    if 0 < drawn < n:
        observed = sum(right for right, group in items if group)
        counts = np.arange(n + 1)
        as_far = np.abs(n * counts - drawn * right) >= abs(n * observed - drawn * right)
        expected = hypergeom.pmf(counts, n, right, drawn)[as_far].sum()
        assert found[1].p == pytest.approx(max(expected, 1e-12), abs=1e-9)
        assert found[0].p == pytest.approx(found[1].p)


def test_scipys_permutation_test_is_the_same_for_questions_of_one_size() -> None:
    draw = np.random.default_rng(5)
    right = draw.integers(0, 4, size=11)
    group = np.arange(11) % 3 == 0

    def apart(x: Any, y: Any, axis: int) -> Any:
        # In whole numbers, so that equal differences are equal.
        return abs(y.shape[axis] * x.sum(axis=axis) - x.shape[axis] * y.sum(axis=axis))

    expected = permutation_test(
        (right[group], right[~group]), apart, n_resamples=np.inf, alternative="greater", vectorized=True
    )
    found = cell_tests(np.full(11, 3), right, group.astype(np.int64), np.zeros(11, dtype=np.int64))
    assert found[1].p == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize("several", [False, True], ids=["pairs", "sizes"])
@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.95])
def test_where_counting_out_is_too_much_the_normal_tail_is_close(
    accuracy: float, several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(1)
    size = np.where(np.arange(1_000) < 5 * several, 1, 2)
    right = draw.binomial(size, draw.beta(accuracy * 4, (1 - accuracy) * 4, size=1_000))
    group, scope = (np.arange(1_000) < 250).astype(np.int64), np.zeros(1_000, dtype=np.int64)
    monkeypatch.setattr(subgroups, "MOST_WAYS", 1 << 21)
    exact = cell_tests(size, right, group, scope)[1]
    monkeypatch.setattr(subgroups, "MOST_WAYS", 1)
    normal = cell_tests(size, right, group, scope)[1]
    assert (exact.exact, normal.exact) == (True, False)
    assert normal.p == pytest.approx(exact.p, rel=0.06 if several else 0.01)


def test_a_difference_that_cannot_be_chance_has_the_smallest_chance_there_is() -> None:
    pieces = [(1, 1, 0)] * 500 + [(1, 0, 1)] * 500
    assert by_group(pieces)[0].p == 1e-12


def test_groups_lie_in_the_scope_of_all_their_items_or_in_none() -> None:
    group, scope = np.array([0, 0, 1, 1, 3]), np.array([5, 5, 2, 3, 0])
    assert scope_of(group, scope, 5).tolist() == [5, -1, -1, 0, -1]


def test_a_group_without_rest_or_in_several_scopes_has_no_test() -> None:
    size, right = np.array([1, 1, 1, 1, 1]), np.array([1, 0, 1, 1, 0])
    group, scope = np.array([0, 1, 2, 2, 3]), np.array([0, 0, 0, 1, 2])
    # Group 2 lies in two scopes, group 3 is all there is of its own.
    found = cell_tests(size, right, group, scope)
    assert set(found) == {0, 1}
    assert cell_tests(np.array([0, 0]), np.array([0, 0]), np.array([0, 1]), np.array([0, 0])) == {}


def test_two_groups_of_a_scope_are_one_test_and_three_are_three() -> None:
    two, three = [(1, 1, 4), (1, 0, 7), (2, 1, 7)], [(1, 1, 4), (1, 0, 7), (2, 1, 8)]
    assert {group: test.of for group, test in by_group(two).items()} == {4: 4, 7: 4}
    assert {group: test.of for group, test in by_group(three).items()} == {4: 4, 7: 7, 8: 8}


def test_fisher_and_the_published_counts_leave_five_of_eleven_low_cells() -> None:
    cells = published()
    chances = [
        fisher_exact(
            [[cell.right, cell.size - cell.right], [(rest := cell.type_right - cell.right), 500 - cell.size - rest]]
        )[1]
        for cell in cells
    ]
    assert (len(cells), sum(cell.below for cell in cells)) == (72, 34)
    assert sum(cell.below and p < 0.05 for cell, p in zip(cells, chances, strict=True)) == 11
    adjusted = benjamini_hochberg(chances)
    assert adjusted == pytest.approx(false_discovery_control(chances).tolist(), abs=1e-15)
    low = {(cell.subtype, cell.judge): q for cell, q in zip(cells, adjusted, strict=True) if cell.below and q < 0.05}
    # Judges: 1 is gpt-4o, 2 Llama-3.3-70B. Subtypes: 8 algebraic, 9 equation, 14 multiple choice, 17 semantic.
    assert low.pop((14, 2)) < 1e-4
    assert low == pytest.approx({(8, 2): 0.034, (9, 1): 0.034, (17, 2): 0.045, (17, 1): 0.049}, abs=6e-4)
    multiple_values = adjusted[[(cell.subtype, cell.judge) for cell in cells].index((7, 1))]
    assert multiple_values == pytest.approx(0.059, abs=5e-4)


def test_the_permutation_test_of_the_published_counts_takes_a_type_of_two_subtypes_as_one_test() -> None:
    distinct: dict[tuple[int, int], float] = {}
    below = dict[tuple[int, int], list[bool]]()
    for type_ in range(4):
        for judge in range(4):
            cells = [cell for cell in published() if (cell.type, cell.judge) == (type_, judge)]
            pieces = [(1, int(item < cell.right), cell.subtype) for cell in cells for item in range(cell.size)]
            for subtype, test in by_group(pieces).items():
                distinct[test.of, judge] = test.p
                (cell,) = (cell for cell in cells if cell.subtype == subtype)
                below.setdefault((test.of, judge), []).append(cell.below)
    assert len(distinct) == 68
    q = dict(zip(distinct, benjamini_hochberg(list(distinct.values())), strict=True))
    low = {cell for cell, value in q.items() if value < 0.05 and any(below[cell])}
    # The same five as with Fisher's test; 16 stands for the two subtypes of strings.
    assert low == {(8, 2), (9, 1), (14, 2), (16, 1), (16, 2)}
