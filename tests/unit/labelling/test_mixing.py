"""Mixing in checks and repeats: the configured share, equal in every process, and predicted exactly."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config.settings import AnnotationPolicy
from workbench.labelling.serving import kind_of_next, remaining_items

SECRET = b"k" * 32


def test_shares_are_as_set_and_differ_between_people() -> None:
    policy = AnnotationPolicy(check_rate=0.1, repeat_share=0.05)
    kinds = {person: [kind_of_next(SECRET, person, n, policy) for n in range(4000)] for person in (1, 2)}
    for found in kinds.values():
        assert 0.08 < found.count("check") / 4000 < 0.12
        assert 0.035 < found.count("repeat") / 4000 < 0.065
    assert kinds[1] != kinds[2]
    assert kinds[1] != [kind_of_next(b"other", 1, n, policy) for n in range(4000)]


def test_zero_shares_mix_nothing_in() -> None:
    policy = AnnotationPolicy(check_rate=0, repeat_share=0)
    assert {kind_of_next(SECRET, 1, n, policy) for n in range(500)} == {"fresh"}
    assert remaining_items(SECRET, 1, 0, policy, fresh=100_000, checks=50, repeats=50) == 100_000


@settings(max_examples=100, deadline=None)
@given(
    rates=st.tuples(st.floats(0, 0.5), st.floats(0, 0.5)),
    left=st.tuples(st.integers(0, 30), st.integers(0, 8), st.integers(0, 8)),
    start=st.integers(0, 1000),
)
def test_remaining_items_decrease_by_one_with_every_item(
    rates: tuple[float, float], left: tuple[int, int, int], start: int
) -> None:
    policy = AnnotationPolicy(check_rate=rates[0], repeat_share=rates[1])
    amounts = dict(zip(("fresh", "checks", "repeats"), left, strict=True))
    coming, served = remaining_items(SECRET, 7, start, policy, **amounts), start
    while amounts["fresh"]:
        name = {"check": "checks", "repeat": "repeats", "fresh": "fresh"}[kind_of_next(SECRET, 7, served, policy)]
        amounts[name if amounts[name] else "fresh"] -= 1
        served += 1
        assert remaining_items(SECRET, 7, served, policy, **amounts) == coming - 1
        coming -= 1
    assert coming == 0
