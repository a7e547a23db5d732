"""Groups against the rest of their scope: brute force, other tests as oracles, and invariances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from math import sqrt
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, fisher_exact, hypergeom, permutation_test

from workbench.statistics import permutations as subgroups
from workbench.statistics.permutations import CellTest, Pieces, cell_tests, scope_of
from workbench.statistics.subgroups import across, benjamini_hochberg, tree

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
    return of_pieces(size, right, group, np.zeros(len(size), dtype=np.int64))


def of_pieces(*values: Any, seed: int | None = 0) -> dict[int, CellTest]:
    """The tests of pieces of which each is a question's only one: sizes, right items, groups, scopes."""
    size, right, group, scope = map(np.asarray, values)
    return cell_tests(Pieces(size, right, group, scope, np.arange(len(size))), seed)


@settings(deadline=None)
@given(PIECES)
def test_the_chance_is_that_of_all_ways_to_deal_out_the_label(pieces: list[tuple[int, int, int]]) -> None:
    found = by_group(pieces)
    groups = {group for _, _, group in pieces}
    assert set(found) == (groups if len(groups) > 1 else set())
    for group, test in found.items():
        drawn = [place for place, piece in enumerate(pieces) if piece[2] == group]
        apart = distance_of(pieces)
        ways = [apart(some) for some in combinations(range(len(pieces)), len(drawn))]
        assert test.how == "counted"
        assert test.p == pytest.approx(sum(way >= apart(drawn) - 1e-8 for way in ways) / len(ways), abs=1e-11)


def variances(pieces: list[tuple[int, int, int]]) -> list[float]:
    """Return the variance of right items in each piece, given the estimated correlation within pieces."""
    sizes, hits = [size for size, _, _ in pieces], [right for _, right, _ in pieces]
    share = sum(hits) / sum(sizes)
    pairs = sum(share * (1 - share) * m * (m - 1) for m in sizes)
    squares = sum((k - m * share) ** 2 for m, k in zip(sizes, hits, strict=True))
    alike = min(max((squares - share * (1 - share) * sum(sizes)) / pairs, 0.0), 1.0) if pairs else 0.0
    return [share * (1 - share) * m * (1 + (m - 1) * alike) for m in sizes]


def distance_of(pieces: list[tuple[int, int, int]]) -> Callable[[Sequence[int]], float]:
    """Return a function of pieces: their delta over the standard error for as many items of these sizes."""
    sizes, hits, spread = [size for size, _, _ in pieces], [right for _, right, _ in pieces], variances(pieces)
    share = sum(hits) / sum(sizes)

    def apart(some: Sequence[int]) -> float:
        items = sum(sizes[place] for place in some)
        variance = sum(spread[place] for place in some)
        if variance < 1e-9:
            return 0.0
        return abs(sum(hits[place] for place in some) / items - share) / (sqrt(variance) / items)

    return apart


@settings(deadline=None)
@given(PIECES, st.randoms(use_true_random=False))
def test_the_order_of_questions_changes_nothing(pieces: list[tuple[int, int, int]], random: Random) -> None:
    shuffled = list(pieces)
    random.shuffle(shuffled)
    assert by_group(shuffled) == by_group(pieces)


@settings(deadline=None)
@given(PIECES)
def test_doubling_every_item_inside_its_question_adds_no_evidence(pieces: list[tuple[int, int, int]]) -> None:
    pieces = [(4, right, group) for _, right, group in pieces]
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
    found = of_pieces(np.full(11, 3), right, group.astype(np.int64), np.zeros(11, dtype=np.int64))
    assert found[1].p == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize("several", [False, True], ids=["pairs", "sizes"])
@pytest.mark.parametrize("accuracy", [0.5, 0.8, 0.95])
def test_draws_and_the_normal_tail_approximate_enumeration(
    accuracy: float, several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(1)
    size = np.where(np.arange(1_000) < 5 * several, 1, 2)
    right = draw.binomial(size, draw.beta(accuracy * 4, (1 - accuracy) * 4, size=1_000))
    group, scope = (np.arange(1_000) < 250).astype(np.int64), np.zeros(1_000, dtype=np.int64)
    monkeypatch.setattr(subgroups, "MOST_WAYS", 1 << 21)
    exact = of_pieces(size, right, group, scope)[1]
    monkeypatch.setattr(subgroups, "MOST_WAYS", 1)
    normal, drawn = of_pieces(size, right, group, scope, seed=None)[1], of_pieces(size, right, group, scope)[1]
    assert (exact.how, normal.how, drawn.how) == ("counted", "normal", "drawn")
    assert normal.p == pytest.approx(exact.p, abs=0.1)  # steps of a lattice
    assert abs(drawn.p - exact.p) < 4 * sqrt(exact.p * (1 - exact.p) / 999) + 0.001
    assert of_pieces(size, right, group, scope)[1] == drawn


def test_a_difference_that_cannot_be_chance_has_the_smallest_chance_there_is() -> None:
    pieces = [(1, 1, 0)] * 500 + [(1, 0, 1)] * 500
    assert by_group(pieces)[0].p == 1e-12


def test_groups_lie_in_the_scope_of_all_their_items_or_in_none() -> None:
    group, scope = np.array([0, 0, 1, 1, 3]), np.array([5, 5, 2, 3, 0])
    assert scope_of(group, scope, 5).tolist() == [5, -1, -1, 0, -1]


def test_a_group_without_rest_or_in_several_scopes_has_no_test() -> None:
    size, right = np.array([1, 1, 1, 1, 1]), np.array([1, 0, 1, 1, 0])
    group, scope = np.array([0, 1, 2, 2, 3]), np.array([0, 0, 0, 1, 2])
    # Group 2 is in two scopes, group 3 is the only one in its scope.
    found = of_pieces(size, right, group, scope)
    assert set(found) == {0, 1}
    assert of_pieces(np.array([0, 0]), np.array([0, 0]), np.array([0, 1]), np.array([0, 0])) == {}


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


def test_published_types_of_two_subtypes_are_one_permutation_test() -> None:
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
    # The same five as with Fisher's test; 16 represents both subtypes of strings.
    assert low == {(8, 2), (9, 1), (14, 2), (16, 1), (16, 2)}


SHARED = st.lists(
    st.dictionaries(st.integers(0, 2), st.tuples(st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=3),
    min_size=1,
    max_size=5,
)


@settings(deadline=None, max_examples=40)
@given(SHARED)
@example([{0: (1, 1)}, {0: (1, 0), 1: (1, 0)}, {0: (1, 1), 1: (1, 0), 2: (1, 0)}, {0: (2, 1)}, {1: (1, 0)}])
def test_groups_that_share_questions_are_dealt_out_within_each(questions: list[dict[int, tuple[int, int]]]) -> None:
    """All deals by hand: one piece of each question that the group shares, as many of the others as it has."""
    rows = [
        (size, min(right, size), group, place)
        for place, own in enumerate(questions)
        for group, (size, right) in own.items()
    ]
    size, right, group, question = np.array(rows).T
    found = cell_tests(Pieces(size, right, group, np.zeros(len(size), dtype=np.int64), question), 3)
    singles = [place for place, row in enumerate(rows) if len(questions[row[3]]) == 1]
    alone = dict(zip(singles, variances([rows[place][:3] for place in singles]) if singles else (), strict=True))
    for name, test in found.items():
        shared = [place for place, own in enumerate(questions) if len(own) > 1 and name in own]
        if test.how == "counted":
            continue
        blocks = [[place for place, row in enumerate(rows) if row[3] == one] for one in shared]
        drawn = sum(rows[place][2] == name for place in singles)

        def totals(places: Sequence[int]) -> tuple[float, float]:
            """Right items less those to be expected by the question, or by all questions with one piece."""
            excess = variance = 0.0
            for place in places:
                size, right, _, one = rows[place]
                own = (
                    [row for row in rows if row[3] == one] if len(questions[one]) > 1 else [rows[at] for at in singles]
                )
                share = sum(row[1] for row in own) / sum(row[0] for row in own)
                items = sum(row[0] for row in own)
                excess += right - size * share
                if len(questions[one]) > 1:
                    variance += share * (1 - share) * size * (items - size) / (items - 1)
                else:
                    variance += alone[place]
            return excess, variance

        deals = [totals([*some, *each]) for some in combinations(singles, drawn) for each in product(*blocks)]
        excess, variance = totals([place for place, row in enumerate(rows) if row[2] == name])
        if any(spread < 1e-9 for _, spread in deals):
            continue
        own = excess**2 / variance
        expected = sum(one**2 / spread >= own - 1e-8 for one, spread in deals) / len(deals)
        assert abs(test.p - expected) < 5 * sqrt(expected * (1 - expected) / 999) + 0.002


def test_a_hard_question_that_all_models_share_makes_no_model_worse() -> None:
    """One model answers hard questions alone; among those it is as good as the others."""
    draw = np.random.default_rng(2)
    rows = []
    for question in range(400):
        hard = question < 200
        for model in (0, 1) if hard else (1,):
            rows.append((1, int(draw.random() < (0.3 if hard else 0.95)), model, question))
    size, right, group, question = np.array(rows).T
    pieces = Pieces(size, right, group, np.zeros(len(size), dtype=np.int64), question)
    assert cell_tests(pieces, 0)[0].p > 0.05
    assert cell_tests(pieces._replace(question=np.arange(len(size))), 0)[0].p < 1e-4


def test_a_p_value_is_never_zero_and_the_same_for_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subgroups, "MOST_WAYS", 1)
    values = (
        np.full(400, 2),
        np.repeat([2, 1, 0], [200, 100, 100]),
        np.repeat([0, 1], 200),
        np.zeros(400, dtype=np.int64),
    )
    found = of_pieces(*values)[0]
    assert found.p == 1 / 100_000
    noise = np.random.default_rng(0).integers(0, 3, 400)
    weak = [of_pieces(values[0], noise, *values[2:], seed=seed)[0].p for seed in (0, 0, 1)]
    assert weak[0] == weak[1] != weak[2]


def test_distant_groups_need_no_draws_for_the_same_p(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    size, group, scope = np.full(1_000, 2), np.repeat([0, 1], [300, 700]), np.zeros(1_000, dtype=np.int64)
    apart = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
    cases = [draw.binomial(size, np.where(group == 0, 0.6 + by, 0.6)) for by in apart]
    bounds, bound = list[float](), subgroups._tail_bound

    def noted(cell: Any) -> float:
        bounds.append(bound(cell))
        return bounds[-1]

    monkeypatch.setattr(subgroups, "_tail_bound", noted)
    monkeypatch.setattr(subgroups, "STAGES", ((99, 0),))
    monkeypatch.setattr(subgroups, "MOST_WAYS", 1)
    drawn = [of_pieces(size, right, group, scope)[1] for right in cases]
    monkeypatch.setattr(subgroups, "MOST_WAYS", 1 << 21)
    counted = [of_pieces(size, right, group, scope)[1].p for right in cases]
    assert all(p <= max(most, 1e-12) for p, most in zip(counted, bounds[1::2], strict=True))
    monkeypatch.setattr(subgroups, "MOST_WAYS", 1)
    monkeypatch.setattr(subgroups, "_draw_permutations", lambda *_: pytest.fail("drawn"))
    assert of_pieces(size, cases[-1], group, scope)[1] == drawn[-1]
    assert drawn[-1].p == 1 / 100


def test_in_a_tree_only_tests_in_significant_families_count() -> None:
    p = [0.001, 0.5, 0.04, 0.6, 0.2, 0.7]
    families = ["a", "a", "b", "b", "c", "c"]
    # Simes: .002, .08, .4; over three families: .006, .12, .4. One family is selected at 5 %.
    found = tree(p, families)
    assert found[0] == pytest.approx(0.006)
    assert min(found[2:]) > 0.05
    assert tree(p, [0] * 6) == pytest.approx(benjamini_hochberg(p))


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=30), st.floats(0.001, 0.999))
def test_q_in_a_tree_is_the_lowest_level_at_which_a_test_is_rejected(
    tests: list[tuple[float, int]], level: float
) -> None:
    p, families = [one for one, _ in tests], [family for _, family in tests]
    inside = {name: [one for one, family in tests if family == name] for name in set(families)}
    simes = {name: min(benjamini_hochberg(values)) for name, values in inside.items()}
    ranked = sorted(simes.values())
    selected = max((rank for rank, one in enumerate(ranked, 1) if one <= rank * level / len(ranked)), default=0)
    for q, (one, family) in zip(tree(p, families), tests, strict=True):
        own = benjamini_hochberg(inside[family])[inside[family].index(one)]
        rejected = simes[family] <= selected * level / len(ranked) and own <= selected * level / len(ranked)
        if abs(q - level) > 1e-9:
            assert (q <= level) == rejected


def test_tables_read_together_form_the_families_of_a_tree() -> None:
    tables = [[0.01, 0.3], [0.02], [0.9, 0.04, 0.5]]
    # Levels .03, .03, .04: all three are selected at 5 %, so that each is tested at 5 %.
    assert across(tables) == [[0.03, 0.3], [0.03], [0.9, 0.04, 0.5]]
    alone = across([[0.01, 0.3], [0.8], [0.9]])
    assert alone[0][0] == pytest.approx(0.03)
    assert across([[0.01, 0.3]]) == [[0.01, 0.3]]


def test_what_was_seen_counts_as_one_of_the_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every deal sets a group apart as far as one that isn't apart at all: then p is 1, with the one that was seen."""
    monkeypatch.setattr(subgroups, "MOST_WAYS", 1)
    right = np.tile([0, 1, 2], 40)
    found = of_pieces(np.full(120, 2), right, np.repeat([0, 1], 60), np.zeros(120, dtype=np.int64))[0]
    assert (found.how, found.p) == ("drawn", 1.0)
