"""Calibration: the error counted by hand, mappings against scikit-learn, intervals against the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.statistics.calibration import (
    calibration_error,
    calibration_interval,
    cross_fitted,
    equal_mass,
    fit_map,
    fold_of,
    isotonic,
    odds,
    platt,
    reliability,
)
from workbench.statistics.confusion import FloatArray, IntArray
from workbench.statistics.scores import pair_row, pair_up, pairwise_within


def drawn(n: int, *, sure: float, seed: int = 0) -> tuple[FloatArray, IntArray]:
    """Chances, and gold that comes true ``sure`` times less (below 1) or more sharply than they say."""
    random = np.random.default_rng(seed)
    chance = random.uniform(0.02, 0.98, n)
    truth = 1 / (1 + np.exp(-sure * odds(chance)))
    return chance, (random.random(n) < truth).astype(np.int8)


def test_the_error_is_the_mean_distance_of_tenths() -> None:
    chance = np.array([0.1, 0.1, 0.3, 0.5, 0.9, 0.9, 0.7, 1.0])
    gold = np.array([0, 1, 0, 1, 1, 1, 0, 1], dtype=np.int8)
    part = equal_mass(chance, 2)
    assert part.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    # |1.0 - 2| and |3.5 - 3|, of eight items.
    assert calibration_error(chance, gold, part) == pytest.approx(1.5 / 8)
    found = reliability(chance, gold, part)
    assert [(one.n, round(one.mean, 9), one.rate) for one in found] == [(4, 0.25, 0.5), (4, 0.875, 0.75)]
    assert calibration_error(chance[:0], gold[:0], part[:0]) is None


@given(st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=1, max_size=60), st.integers(1, 12))
def test_equal_chances_are_never_parted_and_parts_rise(values: list[float], bins: int) -> None:
    chance = np.array(values)
    part = equal_mass(chance, bins)
    assert set(part.tolist()) == set(range(int(part.max()) + 1))
    assert part.max() < bins
    order = np.argsort(chance, kind="stable")
    assert (np.diff(part[order])[np.diff(chance[order]) == 0] == 0).all()
    assert (np.diff(part[order]) >= 0).all()


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([0, 1]), st.sampled_from([-0.5, 0.0, 0.25, 1.0])), max_size=40
    )
)
def test_pairs_within_questions_are_counted_one_by_one(rows: list[tuple[int, int, float]]) -> None:
    question, gold, score = (np.array(column) for column in zip(*rows, strict=True)) if rows else [np.array([])] * 3
    shares = []
    for one in {row[0] for row in rows}:
        couples = [
            better > worse
            for asked, label, better in rows
            for other, wrong, worse in rows
            if asked == other == one and label == 1 and wrong == 0
        ]
        shares += [sum(couples) / len(couples)] if couples else []
    found, questions = pairwise_within(score.astype(float), gold.astype(np.int8), question.astype(np.int64))
    assert questions == len(shares)
    assert found == (pytest.approx(sum(shares) / len(shares)) if shares else None)


def test_where_every_question_has_one_of_each_it_is_the_accuracy_of_pairs() -> None:
    random = np.random.default_rng(4)
    gold = np.tile(np.array([0, 1], dtype=np.int8), 100)
    question, score = np.repeat(np.arange(100), 2), random.integers(0, 5, 200) / 4
    pairs = pair_row(None, pair_up(score, gold, question))
    found, questions = pairwise_within(score, gold, question)
    assert questions == 100
    assert found == pytest.approx(pairs.accuracy)


def test_isotonic_is_scikit_learns() -> None:
    sklearn = pytest.importorskip("sklearn.isotonic")
    random = np.random.default_rng(1)
    for _ in range(20):
        score = random.integers(0, 30, 200) / 7
        gold = (random.random(200) < score / 5).astype(np.int8)
        theirs = sklearn.IsotonicRegression(out_of_bounds="clip").fit(score, gold)
        at = np.linspace(-1, 6, 300)
        assert isotonic(score, gold)(at) == pytest.approx(theirs.predict(at), abs=1e-9)


def test_platt_is_scikit_learns() -> None:
    sklearn = pytest.importorskip("sklearn.calibration")
    chance, gold = drawn(500, sure=0.4)
    for score in (odds(chance), 1e6 * chance, chance - 40):
        a, b = sklearn._sigmoid_calibration((score - score.mean()) / score.std(), gold)
        theirs = 1 / (1 + np.exp(a * (score - score.mean()) / score.std() + b))
        assert platt(score, gold)(score) == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_a_map_is_rising_and_gives_chances(method: str) -> None:
    for score in (np.zeros(20), np.arange(20.0), np.array([1e300, -1e300] * 10)):
        gold = np.array([0, 1, 1, 0, 1] * 4, dtype=np.int8)
        made = fit_map(score, gold, method)(np.sort(score))  # type: ignore[arg-type]
        assert ((made >= 0) & (made <= 1)).all()
    separable = fit_map(np.arange(20.0), (np.arange(20) > 9).astype(np.int8), method)(np.arange(20.0))  # type: ignore[arg-type]
    assert (np.diff(separable) >= 0).all()
    assert (separable[:10] < 0.5).all()
    assert (separable[10:] > 0.5).all()


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_calibration_corrects_overconfident_scores(method: str) -> None:
    chance, gold = drawn(4000, sure=0.3)
    fold = np.arange(4000) % 5
    before = calibration_error(chance, gold, equal_mass(chance))
    value = odds(chance) if method == "platt" else chance
    made = cross_fitted(value, gold, fold, method)  # type: ignore[arg-type]
    assert made is not None
    after = calibration_error(made, gold, equal_mass(made))
    assert before is not None
    assert after is not None
    assert before > 0.12
    assert after < 0.03


def test_no_chance_rests_on_its_own_fold() -> None:
    chance, gold = drawn(300, sure=0.3)
    fold = np.arange(300) % 3
    turned = np.where(fold == 0, 1 - gold, gold)
    for method in ("platt", "isotonic"):
        one, other = (cross_fitted(chance, labels, fold, method) for labels in (gold, turned))
        assert one is not None
        assert other is not None
        assert (one[fold == 0] == other[fold == 0]).all()
        assert (one[fold == 1] != other[fold == 1]).any()
    assert cross_fitted(chance, (fold == 0).astype(np.int8), fold, "platt") is None


def test_the_interval_is_of_questions_and_holds_the_error() -> None:
    chance, gold = drawn(600, sure=0.3)
    part = equal_mass(chance)
    single = calibration_interval(chance, gold, part, np.arange(600), 1).ends
    error = calibration_error(chance, gold, part)
    assert single is not None
    assert error is not None
    assert single[0] < error < single[1]
    thrice = (np.tile(chance, 3), np.tile(gold, 3), np.tile(part, 3), np.tile(np.arange(600), 3))
    assert calibration_interval(*thrice, 1).ends == pytest.approx(single)
    nothing = np.empty(0)
    assert calibration_interval(nothing, gold[:0], part[:0], part[:0], 1).ends is None


def test_folds_keep_questions_whole_and_are_even() -> None:
    question = np.repeat(np.arange(23) * 1_000_003, 3)
    fold = fold_of(question, 5)
    assert all(len(set(fold[question == one].tolist())) == 1 for one in set(question.tolist()))
    assert sorted(np.bincount(fold).tolist()) == [12, 12, 15, 15, 15]
    assert (fold == fold_of(question, 5)).all()
    assert (fold != fold_of(question, 5, seed=1)).any()
