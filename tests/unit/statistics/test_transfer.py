"""Accuracy at another prevalence: values of the specification, simulation, and edge cases."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.statistics.agreement.ceiling import accuracy_behind, remaining_errors
from workbench.statistics.intervals import share_interval
from workbench.statistics.rates import Rates, accuracy_at, accuracy_without_label_errors, best, rates, true_rate

SHARE = st.floats(0, 1)


def known(tpr: float, tnr: float) -> Rates:
    return Rates(tpr=tpr, tnr=tnr, tpr_ci=(tpr / 2, (1 + tpr) / 2), tnr_ci=(tnr / 2, (1 + tnr) / 2), correlation=0.0)


@pytest.mark.parametrize(("prevalence", "expected"), [(0.291, 0.722), (0.5, 0.745), (0.9, 0.789)])
def test_golden_values_of_the_specification(prevalence: float, expected: float) -> None:
    assert accuracy_at(prevalence, known(0.80, 0.69))[0] == pytest.approx(expected, abs=5e-4)


def test_rates_are_shares_of_each_class_with_their_clustered_intervals() -> None:
    right = np.array([True, True, False, False, True, False, True, True])
    gold, question = np.array([1, 1, 1, 1, 0, 0, 0, 0]), np.array([7, 7, 9, 9, 7, 9, 9, 7])
    found = rates(right, gold, question)
    assert found is not None
    assert [found.tpr, found.tnr] == pytest.approx([1 / 2, 3 / 4])
    assert found.tpr_ci == share_interval(right[:4], question[:4])
    assert found.tnr_ci == share_interval(right[4:], question[4:])
    # Sums of differences from both shares: (1, -1) and (1/2, -1/2) by question.
    assert found.correlation == pytest.approx(1)


def test_transfer_needs_both_classes() -> None:
    everything = np.ones(3, dtype=bool)
    assert rates(everything, np.ones(3, dtype=np.int8), np.arange(3)) is None
    assert rates(everything, np.zeros(3, dtype=np.int8), np.arange(3)) is None
    assert rates(everything[:0], np.zeros(0, dtype=np.int8), np.arange(0)) is None


@settings(deadline=None)
@given(SHARE, SHARE)
def test_at_the_ends_it_is_one_of_both_shares_with_its_own_interval(tpr: float, tnr: float) -> None:
    found = known(tpr, tnr)
    for prevalence, share, ends in ((1.0, found.tpr, found.tpr_ci), (0.0, found.tnr, found.tnr_ci)):
        expected, interval = accuracy_at(prevalence, found)
        assert expected == pytest.approx(share)
        assert interval == pytest.approx(ends, abs=1e-12)


@settings(deadline=None)
@given(SHARE, SHARE, SHARE, st.floats(-1, 1))
def test_the_interval_holds_the_estimate_and_is_a_share(tpr: float, tnr: float, pi: float, correlation: float) -> None:
    expected, (low, high) = accuracy_at(pi, known(tpr, tnr)._replace(correlation=correlation))
    assert 0 <= low <= expected + 1e-12
    assert expected - 1e-12 <= high <= 1


@pytest.mark.few(3)
@pytest.mark.parametrize("prevalence", [0.2, 0.5, 0.8])
def test_intervals_cover_correlated_completions(prevalence: float) -> None:
    """One correct and one incorrect completion a question; a lenient question accepts both."""
    draw = np.random.default_rng(11)
    held, simulations, questions = 0, 1_000, 250
    gold, question = np.tile([1, 0], questions), np.repeat(np.arange(questions), 2)
    for _ in range(simulations):
        lenient = draw.normal(size=questions)
        accepts = np.stack([lenient + draw.normal(size=questions) > -1.4, lenient + draw.normal(size=questions) > 1.2])
        found = rates((accepts.T.ravel() == gold), gold, question)
        assert found is not None
        low, high = accuracy_at(prevalence, found)[1]
        held += low <= prevalence * 0.8389 + (1 - prevalence) * 0.8019 <= high
    assert 0.93 <= held / simulations <= 0.97


def test_the_true_rate_behind_an_accept_rate() -> None:
    # Of 1,000 with 291 correct such a verifier accepts 232.8 of the correct and 219.79 of the incorrect ones.
    assert true_rate(0.45259, known(0.80, 0.69)) == pytest.approx(0.291)
    assert true_rate(0.0, known(0.80, 0.69)) == 0
    assert true_rate(1.0, known(0.80, 0.69)) == 1
    assert true_rate(0.5, known(0.3, 0.7)) is None
    assert true_rate(0.5, known(0.2, 0.7)) is None


@settings(deadline=None)
@given(SHARE, SHARE, SHARE)
def test_the_true_rate_inverts_the_verifier(tpr: float, tnr: float, prevalence: float) -> None:
    found = known(tpr, tnr)
    back = true_rate(prevalence * tpr + (1 - prevalence) * (1 - tnr), found)
    if tpr + tnr > 1 + 1e-6:
        assert back == pytest.approx(prevalence, abs=1e-6)


def test_the_best_verifier_by_prevalence() -> None:
    constant, other, between, worse = known(0, 1), known(1, 0), known(0.8, 0.9), known(0.7, 0.8)
    found = best([between, constant, other, worse])
    assert [one.place for one in found] == [1, 0, 2]
    assert [one.low for one in found] == pytest.approx([0, 1 / 9, 9 / 11])
    assert [one.high for one in found] == pytest.approx([1 / 9, 9 / 11, 1])
    assert best([]) == []
    assert [tuple(one) for one in best([between, between])] == [(0, 0.0, 1.0)]


@settings(deadline=None)
@given(st.lists(st.tuples(SHARE, SHARE), min_size=1, max_size=6), SHARE)
def test_no_verifier_beats_the_best_one(shares: list[tuple[float, float]], prevalence: float) -> None:
    everyone = [known(*share) for share in shares]
    found = best(everyone)
    assert (found[0].low, found[-1].high) == (0, 1)
    assert all(one.high == other.low for one, other in pairwise(found))
    (ahead, *_) = [one.place for one in found if one.low <= prevalence <= one.high]
    heights = [accuracy_at(prevalence, one)[0] for one in everyone]
    assert heights[ahead] == pytest.approx(max(heights), abs=1e-9)


def test_accuracy_without_noise_covers_where_labels_are_wrong() -> None:
    """Two people of .93 who agree or don't tell how noisy gold is; the plain interval holds nothing."""
    draw, held, plain, simulations, items = np.random.default_rng(3), 0, 0, 400, 800
    for _ in range(simulations):
        truth = draw.random(items) < 0.4
        people = truth ^ (draw.random((3, items)) > 0.93)
        gold = np.where(people[0] == people[1], people[0], people[2])
        right = (truth ^ (draw.random(items) > 0.97)) == gold
        agreed = share_interval(people[0] == people[1], np.arange(items))
        ci = share_interval(right, np.arange(items))
        assert agreed is not None
        assert ci is not None
        wrong, *ends = (
            remaining_errors(accuracy_behind(one)).wrong for one in ((people[0] == people[1]).mean(), *agreed[::-1])
        )
        found = accuracy_without_label_errors(float(right.mean()), ci, wrong, (ends[0], ends[1]))
        assert found is not None
        held += found[1][0] <= 0.97 <= found[1][1]
        plain += ci[0] <= 0.97 <= ci[1]
    assert held / simulations >= 0.93
    assert plain / simulations < 0.8


def test_of_labels_without_error_accuracy_is_what_was_measured() -> None:
    share, ends = accuracy_without_label_errors(0.8, (0.7, 0.9), 0.0, (0.0, 0.0)) or (0.0, (1.0, 0.0))
    assert (share, *ends) == pytest.approx((0.8, 0.7, 0.9))
    assert accuracy_without_label_errors(0.8, (0.7, 0.9), 0.2, (0.1, 0.5)) is None
    _, (low, high) = accuracy_without_label_errors(0.8, (0.7, 0.9), 0.05, (0.02, 0.09)) or (0, (1.0, 0.0))
    assert low < (0.7 - 0.05) / 0.9 < (0.9 - 0.05) / 0.9 < high


@pytest.mark.parametrize("measured", [0.5, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("wrong", [0.01, 0.05, 0.2])
def test_noise_makes_intervals_wider_however_little_of_it_is_sure(measured: float, wrong: float) -> None:
    plain = (measured - 0.04, measured + 0.03)
    for within in (0.0, wrong / 2):
        found = accuracy_without_label_errors(measured, plain, wrong, (wrong - within, wrong + within))
        if found is not None and found[1][1] < 1:
            assert found[1][1] - found[1][0] > 0.07


def test_agreement_beyond_the_label_noise_is_not_called_perfect() -> None:
    """The estimate would be [1, 1], because shared errors count as agreement."""
    assert accuracy_without_label_errors(0.99, (0.97, 1.0), 0.05, (0.02, 0.1)) is None
    assert accuracy_without_label_errors(0.01, (0.0, 0.03), 0.05, (0.04, 0.06)) is None
    assert accuracy_without_label_errors(1.0, (1.0, 1.0), 0.0, (0.0, 0.0)) == (1.0, (1.0, 1.0))
