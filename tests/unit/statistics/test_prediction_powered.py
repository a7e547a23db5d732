"""Prediction-powered estimates: the formulas of the paper by hand, and the limits of predictions."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from scipy.special import stdtrit
from scipy.stats import beta, chi2_contingency

from tests.unit.statistics.clustered import by_hand
from workbench.statistics.confusion import FloatArray, IntArray
from workbench.statistics.intervals import Ends, wilson
from workbench.statistics.prediction_powered import FEWEST, estimate_share, mix_p

ROWS = st.lists(
    st.tuples(st.sampled_from([-1, -1, 0, 1]), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 12)),
    min_size=2,
    max_size=60,
).filter(lambda rows: any(row[0] >= 0 for row in rows))

Rows = list[tuple[int, float, int]]


def ends(ci: Ends | None) -> Ends:
    assert ci is not None
    return ci


def columns(rows: Rows) -> tuple[IntArray, FloatArray, IntArray]:
    truth, predicted, question = zip(*rows, strict=True)
    return np.array(truth), np.array(predicted, dtype=float), np.array(question)


def drawn(seed: int, items: int = 2_000, labelled: int = 200) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """All gold, gold where it is known, a good prediction, one question an item."""
    generator = np.random.default_rng(seed)
    gold = (generator.random(items) < 0.8).astype(int)
    predicted = np.where(generator.random(items) < 0.9, gold, 1 - gold).astype(float)
    truth = np.full(items, -1)
    known = generator.permutation(items)[:labelled]
    truth[known] = gold[known]
    return gold, truth, predicted, np.arange(items)


def test_the_formulas_of_ppi_plus_plus() -> None:
    """arXiv 2311.01453, example 6.1: the mean with lambda = Cov(Y, f) / ((1 + n / N) Var(f))."""
    _, truth, predicted, question = drawn(1)
    known = truth >= 0
    y, f, others = truth[known], predicted[known], predicted[~known]
    n, rest = len(y), len(others)
    covariance = float(np.mean((y - y.mean()) * (f - f.mean())))
    power = covariance / n / (f.var() / n + others.var() / rest + 0.5 / n**2)
    estimate = y.mean() + power * (others.mean() - f.mean())
    found = estimate_share(truth, predicted, question)
    assert found.power == pytest.approx(power)
    assert found.power == pytest.approx(covariance / (predicted.var() * (1 + n / rest)), rel=0.1)
    assert found.estimate == pytest.approx(estimate)
    before = y.var() / n + 0.5 / n**2
    after = before - 2 * power * covariance / n + power**2 * (f.var() / n + others.var() / rest + 0.5 / n**2)
    left = after / before * (n - 1) / (n - 2)
    assert found.effective == pytest.approx(n / left)
    size = n / (n / (n - 1)) / left
    assert found.ci == pytest.approx(wilson(estimate * size, size, float(stdtrit(n - 1, 0.975))))


def test_the_interval_is_near_the_normal_one_where_labels_are_many() -> None:
    """theta ± z sqrt(Var(Y - lambda f) / n + lambda² Var(f) / N), as the paper gives it."""
    _, truth, predicted, question = drawn(2, items=40_000, labelled=8_000)
    known = truth >= 0
    found = estimate_share(truth, predicted, question)
    off = truth[known] - found.power * predicted[known]
    spread = off.var() / known.sum() + found.power**2 * predicted[~known].var() / (~known).sum()
    half = 1.959963984540054 * float(np.sqrt(spread))
    assert found.ci == pytest.approx((found.estimate - half, found.estimate + half), abs=2e-4)


def test_it_agrees_with_ppi_python() -> None:
    """ppi-python 0.2.3 on these rows: `ppi_mean_pointestimate` and `ppi_mean_ci` with power tuning.

    It is no dependency of the tests: it brings numba and a downloader.
    """
    cells = [720, 80, 30, 170]
    truth = np.concatenate([np.repeat([1, 1, 0, 0], cells), np.full(20_000, -1)])
    predicted = np.concatenate([np.repeat([1.0, 0, 1, 0], cells), np.repeat([1.0, 0], [15_200, 4_800])])
    found = estimate_share(truth, predicted, np.arange(21_000))
    assert found.estimate == pytest.approx(0.8062568794810516, abs=5e-4)
    assert found.ci == pytest.approx((0.78799566, 0.8245181), abs=2e-3)


@settings(deadline=None)
@given(ROWS, st.sampled_from([0.0, 0.3, 1.0]))
def test_a_constant_prediction_gives_the_classical_estimate(rows: Rows, constant: float) -> None:
    truth, _, question = columns(rows)
    found = estimate_share(truth, np.full(len(truth), constant), question)
    known = truth >= 0
    expected = by_hand((truth[known] == 1).tolist(), question[known].tolist())
    for estimate, ci in ((found.estimate, found.ci), (found.classical, found.classical_ci)):
        assert estimate == pytest.approx((truth[known] == 1).mean())
        assert ci == (None if expected is None else pytest.approx(expected, abs=1e-9))
    assert found.effective == pytest.approx(known.sum())


def test_a_perfect_prediction_narrows_it_and_finds_the_share_of_all() -> None:
    gold, truth, _, question = drawn(3)
    found = estimate_share(truth, gold.astype(float), question)
    assert found.effective > 3 * 200
    assert ends(found.ci)[1] - ends(found.ci)[0] < 0.6 * (ends(found.classical_ci)[1] - ends(found.classical_ci)[0])
    assert abs(found.estimate - gold.mean()) < 0.3 * abs(found.classical - gold.mean())


def test_a_prediction_without_meaning_costs_next_to_nothing() -> None:
    _, truth, _, question = drawn(4)
    noise = np.random.default_rng(5).integers(2, size=len(truth)).astype(float)
    found = estimate_share(truth, noise, question)
    assert found.power < 0.2
    assert found.estimate == pytest.approx(found.classical, abs=0.02)


def test_a_bias_of_the_predictions_is_corrected() -> None:
    gold, truth, _, question = drawn(6, items=40_000, labelled=4_000)
    # Every completion is predicted to be right, but half of the wrong ones.
    rosy = np.where(np.random.default_rng(7).random(len(gold)) < 0.5, 1, gold).astype(float)
    assert rosy.mean() > gold.mean() + 0.05
    found = estimate_share(truth, rosy, question)
    assert ends(found.ci)[0] < gold.mean() < ends(found.ci)[1]
    assert found.effective > 4_000 * 1.2


def test_completions_that_go_together_make_it_less_sure() -> None:
    gold, truth, predicted, question = drawn(8)
    together = question // 4
    for place in range(0, len(gold), 4):
        # Labels of a question are either all right or all wrong.
        truth[place : place + 4] = gold[place] if place < 800 else -1
        predicted[place : place + 4] = predicted[place]
    alone, clustered = estimate_share(truth, predicted, question), estimate_share(truth, predicted, together)
    assert clustered.estimate == pytest.approx(alone.estimate, abs=0.01)
    assert ends(clustered.ci)[1] - ends(clustered.ci)[0] > 1.6 * (ends(alone.ci)[1] - ends(alone.ci)[0])


def test_few_perfectly_predicted_labels_give_no_certainty() -> None:
    truth = np.array([1] * 28 + [0] * 2 + [-1] * 2_000)
    predicted = np.where(np.arange(len(truth)) % 10 == 0, 0.0, 1.0)
    predicted[:30] = truth[:30]
    found = estimate_share(truth, predicted, np.arange(len(truth)))
    # Without the halves in the cells there would be no error left at all.
    assert found.effective < 30 * 6
    assert ends(found.ci)[1] - ends(found.ci)[0] > 0.05


def test_everything_labelled_is_the_classical_estimate() -> None:
    gold, _, predicted, question = drawn(9)
    found = estimate_share(gold, predicted, question // 2)
    assert found.estimate == pytest.approx(gold.mean())
    assert (found.power, found.effective) == (0, len(gold))
    assert found.ci == found.classical_ci


@pytest.mark.parametrize("others", [1, 2, FEWEST - 1])
def test_few_items_without_labels_move_nothing(others: int) -> None:
    """Equal predictions are no certainty: 20 items cannot be right to 95 % if 5 of 19 are wrong."""
    truth = np.array([1] * 14 + [0] * 5 + [-1] * others)
    predicted = np.array([0.9] * 14 + [0.1] * 5 + [0.9] * others)
    found = estimate_share(truth, predicted, np.arange(len(truth)))
    assert (found.power, found.estimate, found.effective) == (0, found.classical, 19)
    assert found.ci == found.classical_ci
    assert estimate_share(truth.repeat(10), predicted.repeat(10), np.arange(10 * len(truth))).power > 0


def test_two_labelled_questions_do_not_use_predictions() -> None:
    truth = np.array([1, 1, 0, 0, *[-1] * 40])
    predicted = np.array([1.0, 1, 0, 0, *[1.0] * 40])
    question = np.array([0, 0, 1, 1, *range(2, 42)])
    found = estimate_share(truth, predicted, question)
    assert (found.power, found.estimate, found.effective) == (0, 0.5, 4)
    assert estimate_share(truth, predicted, np.arange(44)).power > 0


@pytest.mark.parametrize("label", [0, 1])
def test_equal_labels(label: int) -> None:
    truth = np.array([label] * 20 + [-1] * 100)
    found = estimate_share(truth, np.random.default_rng(0).random(120), np.arange(120))
    assert found.estimate == found.classical == label
    assert found.ci == pytest.approx(by_hand([bool(label)] * 20, range(20)))


def test_strata_weigh_groups_by_their_items() -> None:
    """Worked by hand: 30 items of one kind, 10 of another, which has most of the labels."""
    truth = np.array([1, 0, *[-1] * 28, 1, 1, 1, 1, 1, 1, 1, 0, -1, -1])
    stratum = np.array([0] * 30 + [1] * 10)
    found = estimate_share(truth, np.full(40, 0.5), np.arange(40), stratum)
    assert found.classical == pytest.approx(30 / 40 * 1 / 2 + 10 / 40 * 7 / 8)
    assert estimate_share(truth, np.full(40, 0.5), np.arange(40)).classical == pytest.approx(8 / 10)
    # Variance: each label counts 30/40/2 or 10/40/8, off by 1/2, by 1/8 seven times and by 7/8.
    variance = 2 * (0.375 / 2) ** 2 + (0.25 / 8) ** 2 * (7 / 64 + 49 / 64)
    share = found.classical
    # Two labels of .375 and eight of .03125 are as few as these would be, were all alike, or did all differ.
    squares, fourths = 2 * 0.375**2 + 8 * 0.03125**2, 2 * 0.375**4 + 8 * 0.03125**4
    # And as few as 2 / (30 / 40), if all errors are of the kind that has two labels.
    size = min(10 / max(1, 10 / 9 * variance / (share * (1 - share) / 10)), 1 / squares, 2 / 0.75)
    assert (1 - share) * squares**2 / fourths < 3
    wrong = (1 - share) * size
    exact = beta.ppf(0.025, share * size, wrong + 1), beta.ppf(0.975, share * size + 1, wrong)
    assert found.classical_ci == pytest.approx(exact)


@pytest.mark.few(3)
@pytest.mark.parametrize(("items", "rates"), [(300, (0.925, 0.975)), (600, (0.955, 0.985)), (300, (0.96, 1.0))])
def test_few_labels_for_many_items_keep_the_interval_wide(items: int, rates: tuple[float, float]) -> None:
    """Half of the items have a sixth of the labels, and errors are so rare that these often show none."""
    generator = np.random.default_rng(3)
    stratum, question = np.arange(items) % 2, np.arange(items)
    held = 0
    for _ in range(600):
        gold = (generator.random(items) < np.where(stratum, rates[0], rates[1])).astype(int)
        predicted = np.where(generator.random(items) < 0.9, gold, 1 - gold).astype(float)
        truth = np.where(generator.random(items) < np.where(stratum, 1 / 6, 1 / 2), gold, -1)
        low, high = ends(estimate_share(truth, predicted, question, stratum).ci)
        held += low <= sum(rates) / 2 <= high
    assert held / 600 >= 0.93


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("items", "labels", "rates"),
    # Half of the items, or nine tenths, have few labels, and errors of their own: they may show none, or one or two.
    [((1000, 1000), (75, 25), (1.0, 0.9)), ((200, 1800), (100, 20), (0.3, 0.95))],
)
def test_a_stratum_of_few_labels_makes_an_interval_as_wide_as_these_are_few(
    items: tuple[int, int], labels: tuple[int, int], rates: tuple[float, float]
) -> None:
    generator = np.random.default_rng(22)
    stratum = np.repeat([0, 1], items)
    share = sum(number * rate for number, rate in zip(items, rates, strict=True)) / sum(items)
    held = 0
    for _ in range(500):
        gold = (generator.random(len(stratum)) < np.array(rates)[stratum]).astype(int)
        predicted = np.where(generator.random(len(stratum)) < 0.9, gold, 1 - gold).astype(float)
        truth = np.full(len(stratum), -1)
        for kind, number in enumerate(labels):
            known = generator.choice(np.flatnonzero(stratum == kind), number, replace=False)
            truth[known] = gold[known]
        low, high = ends(estimate_share(truth, predicted, np.arange(len(stratum)), stratum).ci)
        held += low <= share <= high
    assert held / 500 >= 0.93  # .85 and .92 if all labels are weighted equally


def test_predictions_of_one_giant_question_without_labels_are_left_aside() -> None:
    question = np.append(np.arange(40), np.repeat([40, *range(41, 41 + FEWEST)], [400, *[4] * FEWEST]))
    truth = np.where(question < 40, question % 5 > 0, -1)
    predicted = np.where(question < 40, question % 5 > 0, question % 7 > 2).astype(float)
    giant = estimate_share(truth, predicted, question)
    assert (giant.power, giant.estimate, giant.ci) == (0, giant.classical, giant.classical_ci)
    even = question != 40
    assert estimate_share(truth[even], predicted[even], question[even]).power > 0


def test_strata_correct_a_mix_that_differs() -> None:
    generator = np.random.default_rng(11)
    stratum = generator.integers(2, size=20_000)
    gold = (generator.random(20_000) < np.where(stratum == 1, 0.95, 0.6)).astype(int)
    predicted = np.where(generator.random(20_000) < 0.9, gold, 1 - gold).astype(float)
    # Four times as many of the easy kind are labelled.
    known = generator.random(20_000) < np.where(stratum == 1, 0.2, 0.05)
    truth = np.where(known, gold, -1)
    plain, stratified = (estimate_share(truth, predicted, np.arange(20_000), strata) for strata in (None, stratum))
    assert plain.classical - gold.mean() > 0.05
    assert ends(stratified.ci)[0] < gold.mean() < ends(stratified.ci)[1]
    assert not ends(plain.classical_ci)[0] < gold.mean()


def test_strata_all_of_whose_items_are_labelled_need_no_prediction() -> None:
    truth = np.array([1, 0, 1, -1, -1, 1, 1, 0, 0]).repeat(10)
    stratum = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1]).repeat(10)
    predicted = np.array([1.0, 0, 1, 1, 0, 0.0, 1, 0, 1]).repeat(10)
    changed = np.where(stratum == 1, 1 - predicted, predicted)
    one, other = (estimate_share(truth, known, np.arange(90), stratum) for known in (predicted, changed))
    assert one.power > 0
    assert structs.asdict(one) == structs.asdict(other)


@settings(deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_order_and_names_change_nothing(rows: Rows, random: Random) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)
    one = estimate_share(*columns(rows))
    other = estimate_share(
        *columns([(truth, predicted, 10**12 - 3 * question) for truth, predicted, question in shuffled])
    )
    for name, value in structs.asdict(one).items():
        assert getattr(other, name) == pytest.approx(value, abs=1e-9)
    low, high = one.ci or (0.0, 1.0)
    assert low - 1e-9 <= one.estimate <= high + 1e-9
    assert 0 <= one.power <= 1
    assert one.effective >= sum(row[0] >= 0 for row in rows) - 1e-9


@settings(deadline=None)
@given(ROWS)
def test_turning_labels_and_predictions_turns_the_estimate(rows: Rows) -> None:
    one = estimate_share(*columns(rows))
    turned = [(truth if truth < 0 else 1 - truth, 1 - predicted, question) for truth, predicted, question in rows]
    other = estimate_share(*columns(turned))
    assert other.estimate == pytest.approx(1 - one.estimate)
    turned_ci = None if one.ci is None else pytest.approx((1 - one.ci[1], 1 - one.ci[0]))
    assert other.ci == turned_ci
    assert other.effective == pytest.approx(one.effective)


def test_an_estimate_needs_labels_in_every_stratum() -> None:
    truth, predicted = np.array([1, 0, -1]), np.array([1.0, 0, 1])
    with pytest.raises(ValueError, match="labels"):
        estimate_share(truth, predicted, np.arange(3), np.array([0, 0, 1]))
    with pytest.raises(ValueError, match="labels"):
        estimate_share(np.full(3, -1), predicted, np.arange(3))


def test_the_mix_of_unclustered_items_is_tested_as_in_scipy() -> None:
    """To first order: Pearson's covariance is of both sides together, and there are many questions."""
    labelled, others = np.array([1200, 3000, 800]), np.array([1400, 3100, 890])
    group = np.repeat([0, 1, 2] * 2, [*labelled, *others])
    known = np.arange(len(group)) < labelled.sum()
    expected = chi2_contingency(np.stack([labelled, others]), correction=False).pvalue
    assert mix_p(known, group, np.arange(len(group))) == pytest.approx(expected, rel=0.05)
    assert mix_p(known, np.zeros_like(group), np.arange(len(group))) is None
    assert mix_p(known | True, group, np.arange(len(group))) is None


@pytest.mark.parametrize("whole", [True, False], ids=["questions", "items"])
def test_labels_at_random_are_seldom_called_uneven(*, whole: bool) -> None:
    """Completions of a question are all of its type; Pearson's test of items calls a third of these uneven."""
    chance = np.random.default_rng(0)
    question = np.repeat(np.arange(150), 4)
    found = []
    for _ in range(400):
        group = chance.choice(4, 150, p=[0.4, 0.3, 0.2, 0.1])[question]
        drawn = chance.permutation(150 if whole else 600)[: 40 if whole else 160]
        known = np.isin(question if whole else np.arange(600), drawn)
        found.append((mix_p(known, group, question) or 1) < 0.05)
    assert np.mean(found) <= 0.06


def test_the_mix_of_many_questions_is_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(1)
    question = np.repeat(np.arange(150), 4)
    group, known = chance.choice(4, 600, p=[0.4, 0.3, 0.2, 0.1]), chance.random(600) < 0.3
    expected = mix_p(known, group, question)
    monkeypatch.setattr("workbench.statistics.prediction_powered._BATCH_QUESTIONS", 40)
    assert mix_p(known, group, question) == pytest.approx(expected, rel=1e-9)
