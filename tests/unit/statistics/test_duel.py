"""Win rates of comparisons in both orders."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.statistics.clustered import by_hand
from workbench.statistics.compare import duel_row
from workbench.statistics.records.probe import Winner

WINNERS = st.lists(st.sampled_from(["a", "b", "tie", None]), max_size=40)


def test_a_win_rate_leaves_ties_out_and_has_an_interval_by_question() -> None:
    won: list[Winner | None] = ["a", "a", "a", "b"]
    winners = [*won * 5, "tie", "tie", None]
    row = duel_row("logic", winners, [False] * 20 + [True, False, False], range(23))
    assert (row.n, row.a, row.b, row.ties, row.flipped) == (22, 15, 5, 2, 1)
    assert row.win_rate == 0.75
    # G / (G - 1) is the design effect of clusters of one.
    assert row.ci == pytest.approx(by_hand([True] * 15 + [False] * 5, range(20)))


def test_completions_of_one_question_count_less_than_those_of_many() -> None:
    winners: Sequence[Winner | None] = ["a", "a", "a", "b", "b", "b"] * 4
    apart = duel_row("overall", winners, [False] * 24, range(24))
    together = duel_row("overall", winners, [False] * 24, [place // 3 for place in range(24)])
    assert apart.ci is not None
    assert together.ci is not None
    assert together.ci[0] < apart.ci[0] < 0.5 < apart.ci[1] < together.ci[1]


@given(WINNERS)
def test_figures_are_of_all_items_and_within_bounds(winners: list[Winner | None]) -> None:
    row = duel_row("overall", winners, [False] * len(winners), [place // 2 for place in range(len(winners))])
    assert row.n + winners.count(None) == len(winners)
    if row.a + row.b:
        assert row.win_rate is not None
        decided = {place // 2 for place, winner in enumerate(winners) if winner in ("a", "b")}
        if len(decided) < 2:
            assert row.ci is None
        elif len(decided) > 3:
            assert row.ci is not None
            assert 0 <= row.ci[0] <= row.win_rate <= row.ci[1] <= 1
    else:
        assert (row.win_rate, row.ci) == (None, None)
