"""Paired comparison: statsmodels and full enumeration as oracles, manual values, and invariances."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import sqrt
from random import Random
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import structs
from scipy.special import stdtrit
from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar as oracle

from tests.unit.statistics.clustered import by_hand
from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.accuracy import AccuracyColumns, count_clusters
from workbench.statistics.compare import (
    compare,
    compare_counted,
    compare_graded,
    difference_deff,
    difference_interval,
    mcnemar,
    permutation,
    power,
    quadrants,
)
from workbench.statistics.confusion import Graded, grade
from workbench.statistics.intervals import wilson
from workbench.statistics.records.comparison import PairedFigures

ITEMS = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 6)), min_size=1, max_size=60)


def figures(items: list[tuple[bool, bool, int]]) -> PairedFigures:
    a, b, question = (np.array(column) for column in zip(*items, strict=True))
    return compare(quadrants(a, b), question)


@settings(deadline=None)
@given(ITEMS)
def test_the_detectable_difference_is_that_of_the_comparison(items: list[tuple[bool, bool, int]]) -> None:
    a, b, question = (np.array(column) for column in zip(*items, strict=True))
    everything = np.ones(len(a), dtype=np.bool_)
    whole, part = figures(items), power(Graded(everything, a), Graded(everything, b), question)
    assert part == (whole.n, (whole.only_a + whole.only_b) / whole.n, whole.detectable)


@settings(deadline=None)
@given(ITEMS, st.randoms())
def test_items_counted_for_only_one_verifier_are_excluded(items: list[tuple[bool, bool, int]], draw: Random) -> None:
    a, b, question = (np.array(column) for column in zip(*items, strict=True))
    counted_a, counted_b = (np.array([draw.random() < 0.8 for _ in items]) for _ in range(2))
    both = counted_a & counted_b
    graded = Graded(counted_a, a & counted_a), Graded(counted_b, b & counted_b)
    found, could = compare_graded(*graded, question), power(*graded, question)
    if not both.any():
        assert found is None
        assert could is None
        return
    assert found == compare(quadrants(a[both], b[both]), question[both])
    everything = np.ones(int(both.sum()), dtype=np.bool_)
    assert could == power(Graded(everything, a[both]), Graded(everything, b[both]), question[both])


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 1), st.integers(0, 6)), min_size=1, max_size=60),
    st.sampled_from((OutcomeCode.INCORRECT, OutcomeCode.CORRECT)),
    st.sampled_from(get_args(Protocol3)),
)
def test_a_constant_verdict_is_compared_by_counts_as_by_items(
    items: list[tuple[int, int, int]], said: OutcomeCode, protocol: Protocol3
) -> None:
    outcome, gold = (np.array(column, dtype=np.int8) for column in list(zip(*items, strict=True))[:2])
    question = np.array([one for *_, one in items])
    counts = count_clusters(AccuracyColumns(outcome=outcome, gold=gold, question=question))
    one, other = (grade(each, gold, protocol) for each in (outcome, np.full(len(gold), said, dtype=np.int8)))
    assert compare_counted(counts.paired_counts(said, protocol)) == compare_graded(one, other, question)


def test_mcnemar_golden_value() -> None:
    assert mcnemar(24, 26) == pytest.approx(0.887724827341, abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 3000), st.integers(0, 3000))
def test_mcnemar_equals_statsmodels(only_a: int, only_b: int) -> None:
    expected = oracle([[5, only_a], [only_b, 7]], exact=True).pvalue if only_a + only_b else 1.0
    assert mcnemar(only_a, only_b) == pytest.approx(min(1.0, expected), rel=1e-9, abs=1e-280)


def test_mcnemar_is_exact_at_the_size_of_the_largest_sets() -> None:
    from scipy.stats import binomtest

    assert mcnemar(700_000, 702_000) == pytest.approx(binomtest(700_000, 1_402_000).pvalue, abs=1e-9)
    assert mcnemar(0, 1_450_000) == 0


def put_together(items: list[tuple[bool, bool, int]]) -> tuple[float, float]:
    """The interval of a difference as its definition says it, from intervals of both shares counted by hand."""
    questions = [question for *_, question in items]
    alone = [[a and not b for a, b, _ in items], [b and not a for a, b, _ in items]]
    b, c = (sum(one) / len(items) for one in alone)
    ends = [by_hand(one, questions) for one in alone]
    assert ends[0] is not None
    assert ends[1] is not None
    apart = [
        [
            sum(one - share for one, own in zip(hits, questions, strict=True) if own == question)
            for question in sorted(set(questions))
        ]
        for hits, share in zip(alone, (b, c), strict=True)
    ]
    spread = sqrt(sum(x * x for x in apart[0]) * sum(x * x for x in apart[1]))
    r = min(0.0, sum(x * y for x, y in zip(*apart, strict=True)) / spread) if spread else 0.0
    sizes = Counter(questions).values()
    effective = sum(size**2 for size in sizes) ** 2 / sum(size**4 for size in sizes)
    seldom = min(b, 1 - b, c, 1 - c) * effective < 3
    sides = (ends[0][0], ends[1][1]), (ends[0][1], ends[1][0])
    reach = []
    for at_b, at_c in sides:
        u, v = abs(b - at_b), abs(c - at_c)
        odds = [end / (1 - end) if end < 1 else 1e12 for end in (at_b, at_c)]
        opposite = min(r, -min(sqrt(odds[0] * odds[1]), 1.0)) if seldom else r
        reach.append(sqrt(u * u + v * v - 2 * opposite * u * v))
    return max(b - c - reach[0], -1.0), min(b - c + reach[1], 1.0)


@settings(deadline=None)
@given(ITEMS)
def test_the_difference_interval_is_put_together_from_both_shares(items: list[tuple[bool, bool, int]]) -> None:
    sizes = Counter(question for *_, question in items).values()
    assume(sum(sizes) ** 2 / sum(size**2 for size in sizes) >= 2)
    assert figures(items).ci == pytest.approx(put_together(items), abs=1e-9)


def test_independent_items_have_newcombes_interval() -> None:
    # 20 right by A alone and 8 by B alone, of 100: Wilson's intervals of 99 with t, the correlation of a multinomial.
    found = figures([(number < 20, 20 <= number < 28, number) for number in range(100)]).ci
    t = float(stdtrit(99, 0.975))
    (low, high), (lowest, highest) = wilson(20 * 0.99, 99, t), wilson(8 * 0.99, 99, t)
    r = -sqrt(0.2 * 0.08 / (0.8 * 0.92))
    down = sqrt((0.2 - low) ** 2 + (highest - 0.08) ** 2 - 2 * r * (0.2 - low) * (highest - 0.08))
    up = sqrt((high - 0.2) ** 2 + (0.08 - lowest) ** 2 - 2 * r * (high - 0.2) * (0.08 - lowest))
    assert found == pytest.approx((0.12 - down, 0.12 + up), abs=1e-12)
    assert found == pytest.approx((0.0169, 0.2185), abs=1e-2)  # Agresti and Min's


def test_one_question_that_differs_makes_no_absurd_interval() -> None:
    """One discordant item of 76 had ± .52, as Student's t has it of a single question; none had ± .05."""
    low, high = figures([(number > 0, True, number) for number in range(76)]).ci
    most = 1 - 0.025 ** (1 / 76)
    assert -0.075 < low < -1 / 76 < 0 < high < most + 1e-9
    assert {type(low), type(high)} == {float}
    never = figures([(True, True, number) for number in range(76)]).ci
    assert never == pytest.approx((-most, most))


def test_questions_that_never_differ_count_as_questions_and_not_as_items() -> None:
    same = [(True, True, number // 20) for number in range(100)]
    most = 1 - 0.025 ** (1 / 5)
    assert figures(same).ci == pytest.approx((-most, most))


@pytest.mark.few(5)
@pytest.mark.parametrize("discordance", [0.01, 0.1, 0.3])
@pytest.mark.parametrize(("questions", "together"), [(10, 0.7), (50, 0.3), (200, 0.7)])
def test_intervals_of_differences_hold_the_truth(questions: int, together: float, discordance: float) -> None:
    generator, held, tries, sharp = np.random.default_rng([questions, 7]), 0, 400, (1 - together) / together
    for _ in range(tries):
        sizes = generator.geometric(0.25, questions)
        differ = generator.binomial(sizes, generator.beta(discordance * sharp, (1 - discordance) * sharp, questions))
        only_a = generator.binomial(differ, 0.8)
        low, high = difference_interval(sizes, only_a, differ - only_a)
        held += low <= 0.6 * discordance <= high
    assert held / tries >= 0.925  # .94 to 1; at .93 one standard error is .012


def test_the_design_effect_follows_its_formula() -> None:
    # Three questions of 2, 2 and 1 items with differences +2, -1 and 0: d = 1/5, b + c = 3.
    sizes, sums = np.array([2, 2, 1]), np.array([2, -1, 0])
    squares = (2 - 0.4) ** 2 + (-1 - 0.4) ** 2 + (0 - 0.2) ** 2
    clustered = sqrt(3 / 2 * squares) / 5
    plain = sqrt((3 / 5 - 0.04) / 5)
    assert difference_deff(sizes, sums, 2, 1) == pytest.approx((clustered / plain) ** 2)


def test_a_whole_comparison_worked_by_hand() -> None:
    items = [(True, True, 1), (True, False, 1), (True, False, 2), (True, False, 2), (False, True, 3), (False, False, 3)]
    found = figures(items)
    assert (found.both_right, found.only_a, found.only_b, found.both_wrong) == (1, 3, 1, 1)
    assert (found.n, found.questions) == (6, 3)
    assert found.difference == pytest.approx(1 / 3)
    assert found.mcnemar_p is None  # both differ on two items of the second question
    assert mcnemar(3, 1) == 0.625  # 2 (1 + 4) / 16
    assert found.permutation_p == pytest.approx(6 / 8)  # of ±1 ±2 ±1, six reach 2 or -2 and beyond
    squares = (1 - 2 / 3) ** 2 + (2 - 2 / 3) ** 2 + (-1 - 2 / 3) ** 2
    deff = max(1.0, 1.5 * squares / (4 - 6 / 9))
    assert found.deff == pytest.approx(deff)
    assert found.ci == pytest.approx(put_together(items))
    assert found.detectable is None  # three questions are too few to say


@settings(deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=11))
def test_the_permutation_test_equals_full_enumeration(sums: list[int]) -> None:
    observed = abs(sum(sums))
    reached = [
        abs(sum(sign * size for sign, size in zip(signs, sums, strict=True))) >= observed
        for signs in product((1, -1), repeat=len(sums))
    ]
    assert permutation(np.array(sums)) == pytest.approx(sum(reached) / len(reached), abs=1e-9)


@settings(deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_with_one_item_a_question_the_permutation_test_is_mcnemars(only_a: int, only_b: int) -> None:
    sums = np.repeat([1, -1, 0], [only_a, only_b, 3])
    assert permutation(sums) == pytest.approx(max(mcnemar(only_a, only_b), 1e-12), rel=1e-6, abs=1e-11)


def test_completions_that_go_together_make_the_difference_less_sure() -> None:
    alone = [(True, False, number) for number in range(12)] + [(False, True, number) for number in range(12, 16)]
    together = [(a, b, number // 4) for a, b, number in alone]
    assert figures(alone).mcnemar_p == mcnemar(12, 4)
    assert figures(together).mcnemar_p is None
    assert figures(together).permutation_p > figures(alone).permutation_p
    assert figures(together).ci[0] < figures(alone).ci[0]
    assert figures(together).deff > 2


def test_too_few_clusters_have_no_test_of_independent_items() -> None:
    """The design effect, estimated from few questions, is 1 where they happen to go alike: .48 of p were below .05."""
    one = [(True, False, 0)] * 7 + [(False, True, 0)] * 2
    alike = [(True, False, number // 5) for number in range(10)]
    for items in (one, alike):
        found = figures(items)
        assert (found.deff, found.mcnemar_p) == (1.0, None)
    apart = [(True, False, 0), (True, True, 0), (False, True, 1), (False, False, 1), (True, False, 2)]
    assert figures(apart).mcnemar_p == figures(apart).permutation_p == 1.0


@pytest.mark.parametrize(("questions", "share"), [(2, 0.6), (5, 0.6), (10, 0.78), (20, 0.88)])
def test_verifiers_that_always_differ_have_valid_intervals(questions: int, share: float) -> None:
    """A's gains are B's losses: treated as independent, their errors gave coverage of only .83 to .92."""
    held = 0.0
    for only_a in range(questions + 1):
        items = [(place < only_a, place >= only_a, place) for place in range(questions)]
        low, high = figures(items).ci
        held += binom.pmf(only_a, questions, share) * (low <= 2 * share - 1 <= high)
    assert held >= 0.95


@settings(deadline=None)
@given(ITEMS, st.randoms(use_true_random=False))
def test_order_and_names_change_nothing_and_swapping_turns_the_sign(
    items: list[tuple[bool, bool, int]], random: Random
) -> None:
    found = figures(items)
    assert found.both_right + found.only_a + found.only_b + found.both_wrong == found.n == len(items)
    assert -1 <= found.ci[0] <= found.difference <= found.ci[1] <= 1
    assert found.questions == len({question for *_, question in items})
    shuffled = list(items)
    random.shuffle(shuffled)
    renamed = [(a, b, 10**12 - 7 * question) for a, b, question in shuffled]
    again = structs.asdict(figures(renamed))
    assert all(again[name] == pytest.approx(value) for name, value in structs.asdict(found).items())
    swapped = figures([(b, a, question) for a, b, question in items])
    assert (swapped.only_a, swapped.only_b) == (found.only_b, found.only_a)
    assert swapped.difference == -found.difference
    assert swapped.ci == pytest.approx((-found.ci[1], -found.ci[0]))
    assert (swapped.mcnemar_p, swapped.permutation_p) == (found.mcnemar_p, found.permutation_p)


def test_doubling_every_item_inside_its_question_leaves_the_standard_error() -> None:
    items = [(number % 9 < 6, number % 15 < 9, number // 3) for number in range(90)]
    once, twice = figures(items), figures(items * 2)
    assert once.deff > 1
    assert twice.n / twice.deff == pytest.approx(once.n / once.deff)
    assert twice.difference == once.difference
    assert twice.permutation_p == pytest.approx(once.permutation_p)
    assert twice.ci == pytest.approx(once.ci)


def test_a_comparison_on_no_items_is_rejected() -> None:
    nothing = np.array([], dtype=bool)
    with pytest.raises(ValueError, match="no items"):
        compare(quadrants(nothing, nothing), np.array([], dtype=np.int64))


@pytest.mark.parametrize("only_a", [30, 34, 37])
def test_a_tiny_p_has_no_digits_of_the_transforms_rounding(only_a: int) -> None:
    assert permutation(np.ones(only_a, dtype=np.int64)) == max(round(2.0 ** (1 - only_a), 14), 1e-12)
