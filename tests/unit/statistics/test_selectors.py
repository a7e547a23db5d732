"""Best of n against an enumeration of all subsets."""

from __future__ import annotations

from itertools import combinations
from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import stdtrit

from tests.unit.statistics.clustered import by_hand, design_effect
from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.best_of import Picks, best_of, keys_of, mean_interval, pass_at, ranked
from workbench.statistics.intervals import wilson

NAN = float("nan")
QUESTION = st.lists(st.tuples(st.sampled_from([-1.5, 0.0, 0.25, 1.0, 7.0]), st.integers(0, 1)), min_size=1, max_size=7)


def picks_of(questions: list[list[tuple[float, int]]], n: int, order: list[int] | None = None) -> Picks:
    rows = [(key, gold, place) for place, question in enumerate(questions) for key, gold in question]
    key, gold, question = (
        np.array(column) for column in zip(*(rows[at] for at in order or range(len(rows))), strict=True)
    )
    return best_of(ranked(key.astype(float), gold, question * 10**9), n)


def enumerated(question: list[tuple[float, int]], n: int) -> tuple[float, float, float]:
    """Picked, random and oracle, by looking at every set."""
    picked, random, oracle = [], [], []
    for chosen in combinations(question, n):
        best = max(key for key, _ in chosen)
        tied = [gold for key, gold in chosen if key == best]
        picked.append(sum(tied) / len(tied))
        random.append(sum(gold for _, gold in chosen) / n)
        oracle.append(any(gold for _, gold in chosen))
    return tuple(sum(values) / len(values) for values in (picked, random, oracle))  # type: ignore[return-value]


@settings(deadline=None)
@given(st.lists(QUESTION, min_size=1, max_size=4), st.integers(1, 7))
def test_it_equals_full_enumeration(questions: list[list[tuple[float, int]]], n: int) -> None:
    found = picks_of(questions, n)
    enough = [question for question in questions if len(question) >= n]
    assert found.size.tolist() == [len(question) for question in enough]
    assert found.mixed.tolist() == [0 < sum(gold for _, gold in one) < len(one) for one in enough]
    for place, question in enumerate(enough):
        expected = enumerated(question, n)
        assert (found.picked[place], found.random[place], found.oracle[place]) == pytest.approx(expected)


@settings(deadline=None)
@given(st.lists(QUESTION, min_size=1, max_size=4))
def test_the_best_of_one_is_the_mean(questions: list[list[tuple[float, int]]]) -> None:
    found = picks_of(questions, 1)
    shares = [sum(gold for _, gold in question) / len(question) for question in questions]
    for part in (found.picked, found.random, found.oracle):
        assert part.tolist() == pytest.approx(shares)


@settings(deadline=None)
@given(st.lists(QUESTION, min_size=1, max_size=4), st.integers(1, 4), st.randoms(use_true_random=False))
def test_picks_ignore_the_order_and_never_beat_the_oracle(
    questions: list[list[tuple[float, int]]], n: int, random: Random
) -> None:
    order = list(range(sum(map(len, questions))))
    random.shuffle(order)
    found, again = picks_of(questions, n), picks_of(questions, n, order)
    assert found.picked.tolist() == pytest.approx(again.picked.tolist())
    assert (found.picked <= found.oracle + 1e-12).all()
    assert (found.random <= found.oracle + 1e-12).all()


def test_gold_as_the_score_is_the_oracle_and_a_constant_is_random() -> None:
    questions = [[(float(gold), gold) for gold in (1, 0, 0, 1, 0)], [(float(gold), gold) for gold in (0, 0, 1)]]
    found = picks_of(questions, 3)
    assert found.picked.tolist() == pytest.approx(found.oracle.tolist())
    flat = picks_of([[(3.0, gold) for _, gold in question] for question in questions], 3)
    assert flat.picked.tolist() == pytest.approx(flat.random.tolist())


def test_many_completions_are_handled() -> None:
    # 10,000 completions of which the best-scored one is the only correct one: it is among n with chance n / 10,000.
    found = picks_of([[(float(place), int(place == 9_999)) for place in range(10_000)]], 64)
    assert found.picked[0] == pytest.approx(0.0064)
    assert found.oracle[0] == pytest.approx(0.0064)


@pytest.mark.parametrize(
    ("protocol", "usable", "keys"),
    [
        ("forced", [1, 1, 1, 1, 0, 0], [1, 0, 0, 0]),
        ("strict", [1, 1, 1, 1, 0, 0], [1, 0, 0, 1]),
        ("decided", [1, 1, 0, 0, 0, 0], [1, 0]),
    ],
)
def test_the_ranking_of_verdicts(protocol: Protocol3, usable: list[int], keys: list[float]) -> None:
    outcome = np.array(
        [OutcomeCode.CORRECT, OutcomeCode.INCORRECT, OutcomeCode.ABSTAIN, OutcomeCode.ERROR, OutcomeCode.CORRECT, -1]
    )
    gold = np.array([0, 1, 1, 0, -1, 1])
    found, key = keys_of(outcome, None, gold, protocol)
    assert found.astype(int).tolist() == usable
    assert key[found].tolist() == keys


@pytest.mark.parametrize(
    ("protocol", "keys"),
    [("forced", [0.3, -np.inf, -np.inf]), ("strict", [0.3, -np.inf, np.inf]), ("decided", [0.3])],
)
def test_missing_scores_are_undecided(protocol: Protocol3, keys: list[float]) -> None:
    outcome = np.array([OutcomeCode.ABSTAIN, OutcomeCode.CORRECT, OutcomeCode.ERROR])
    found, key = keys_of(outcome, np.array([0.3, NAN, NAN]), np.array([0, 1, 0]), protocol)
    assert key[found].tolist() == keys


def test_no_rows_give_no_questions() -> None:
    nothing = np.array([], dtype=np.int64)
    assert len(best_of(ranked(nothing.astype(float), nothing, nothing), 2).picked) == 0


def with_t(share: float, items: float, questions: int) -> tuple[float, float]:
    return wilson(share * items, items, float(stdtrit(questions - 1, 0.975)))


def test_the_interval_of_one_completion_a_question_is_that_of_a_share() -> None:
    share = np.array([1.0] * 30 + [0.0] * 10)
    # s² has G - 1 below it: that of 39 of the 40.
    assert mean_interval(share, 40) == pytest.approx(with_t(0.75, 39, 40))
    assert mean_interval(share, 40) == pytest.approx(by_hand([one == 1 for one in share], range(40)))


def test_where_nearly_all_questions_are_right_they_are_so_many_trials() -> None:
    """Wilson's of five questions, all right, began at .566."""
    assert mean_interval(np.ones(5), 20) == pytest.approx((0.025 ** (1 / 5), 1.0))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_one_question_has_no_interval_however_many_its_completions(share: float) -> None:
    assert mean_interval(np.array([share]), 1_000) is None
    assert mean_interval(np.empty(0), 0) is None
    assert mean_interval(np.array([share, share]), 2_000) is not None


@pytest.mark.parametrize("questions", [10, 50])
@pytest.mark.parametrize("mean", [0.5, 0.97])
def test_the_interval_of_a_mean_holds_the_truth(questions: int, mean: float) -> None:
    """Wilson's, without t and trials, held .97 of fifty questions in .91 of such data."""
    draw, held = np.random.default_rng([questions, 3]), 0
    for _ in range(500):
        ends = mean_interval(draw.binomial(4, draw.beta(mean, 1 - mean, questions)) / 4, 4 * questions)
        held += ends is not None and ends[0] <= mean <= ends[1]
    assert held >= 0.93 * 500


def test_the_interval_of_equally_many_completions_is_the_clustered_one() -> None:
    generator = np.random.default_rng(3)
    correct = generator.random((60, 4)) < generator.beta(2, 1, size=(60, 1))
    question = np.repeat(np.arange(60), 4)
    assert design_effect(correct.ravel(), question) > 1
    assert mean_interval(correct.mean(axis=1), 240) == pytest.approx(
        by_hand(correct.ravel().tolist(), question.tolist())
    )


def test_equal_shares_are_as_sure_as_their_completions() -> None:
    assert mean_interval(np.full(50, 0.5), 200) == pytest.approx(with_t(0.5, 200, 50))
    nearly = np.array([0.5] * 49 + [0.52])
    assert mean_interval(nearly, 200) == pytest.approx(with_t(0.5004, 200, 50))


@given(st.integers(1, 80), st.data())
def test_pass_at_is_the_closed_form(size: int, data: st.DataObject) -> None:
    right, n = data.draw(st.integers(0, size)), data.draw(st.integers(1, size))
    expected = 1 - comb(size - right, n) / comb(size, n)
    assert pass_at(n, np.array([size]), np.array([right])) == pytest.approx(expected, abs=1e-12)


def test_pass_at_of_many_solutions_overflows_nowhere() -> None:
    found = [float(pass_at(k, np.array([64]), np.array([20]))[0]) for k in (1, 4, 8)]
    assert found == pytest.approx([0.3125, 0.786345, 0.959958], abs=1e-6)
    assert 0 < float(pass_at(500, np.array([100_000]), np.array([3]))[0]) < 1
