"""Draws: items equally likely, questions evenly covered, deterministic by seed, and prefixes of longer draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.data.store.reading import SamplingFrame, draw_items, in_order, sampling_positions

SIZES = (1, 1, 2, 3, 10, 40, 143)


def frame(sizes: list[int] | tuple[int, ...]) -> SamplingFrame:
    """Questions of so many items, one after the other in the order of import."""
    return SamplingFrame(np.arange(1, sum(sizes) + 1), np.repeat(np.arange(1, len(sizes) + 1), sizes))


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=20), st.integers(0, 2**63 - 1), st.data())
def test_a_draw_takes_of_each_question_its_share_and_holds_every_shorter_one(
    sizes: list[int], seed: int, data: st.DataObject
) -> None:
    found = frame(sizes)
    most = data.draw(st.integers(0, len(found.item)))
    taken = draw_items(found, most, seed)
    assert len(set(taken.item.tolist())) == most
    assert in_order(found, seed).item[:most].tolist() == taken.item.tolist()
    ends = np.sort(sampling_positions(found, seed))
    share = ends[most - 1] if most else 0.0
    for question, size in enumerate(sizes, 1):
        assert abs(int((taken.question == question).sum()) - size * share) <= 1 + 1e-9


def test_every_item_is_equally_likely() -> None:
    found = frame(SIZES)
    draws = 2_000
    often = np.zeros(len(found.item) + 1)
    for seed in range(draws):
        often[draw_items(found, 50, seed).item] += 1
    expected = 50 / len(found.item)
    # Five standard errors of a share.
    assert np.abs(often[1:] / draws - expected).max() < 5 * np.sqrt(expected * (1 - expected) / draws)


def test_a_draw_covers_far_more_questions_than_the_first_items() -> None:
    found = frame([181] * 80)
    assert len(set(found.question[:200].tolist())) == 2
    taken = draw_items(found, 200)
    assert len(set(taken.question.tolist())) == 80
    assert np.bincount(taken.question).max() <= 3


def test_a_seed_draws_the_same_and_another_one_other_items() -> None:
    found = frame([10] * 50)
    first, again, other = (set(draw_items(found, 40, seed).item.tolist()) for seed in (3, 3, 4))
    assert first == again
    assert len(first & other) < 20


def test_later_items_do_not_change_the_draw_of_earlier_ones() -> None:
    # Row ids alone decide: a question's start does not depend on what else there is.
    found = frame([5, 5])
    alone = SamplingFrame(found.item[:5], found.question[:5])
    assert sampling_positions(found)[:5].tolist() == pytest.approx(sampling_positions(alone).tolist())
