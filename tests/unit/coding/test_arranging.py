"""The layout of a pass matrix."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.coding.matrix import arrange, distinguishing_tests

VECTORS = st.integers(0, 5).flatmap(
    lambda tests: st.tuples(
        st.just(tests), st.lists(st.text("pfen", min_size=tests, max_size=tests) | st.just(""), max_size=8)
    )
)


def test_best_solutions_first_and_similar_ones_together() -> None:
    laid = arrange(["ppf", "fff", "ppf", "", "ppp", "pfp"], 3)
    assert [cluster.members for cluster in laid.clusters] == [(4,), (0, 2), (5,), (1,), (3,)]
    assert laid.columns == (0, 1, 2)
    assert laid.rates == (4 / 5, 3 / 5, 2 / 5)


def test_columns_by_falling_pass_rate_or_in_order() -> None:
    assert arrange(["fpn", "fpn"], 3).columns == (1, 0, 2)
    assert arrange(["fpn", "fpn"], 3, by_rate=False).columns == (0, 1, 2)
    assert arrange(["fpn"], 3).rates == (0.0, 1.0, None)


@given(VECTORS)
def test_every_solution_and_test_has_its_place_once(drawn: tuple[int, list[str]]) -> None:
    tests, outcomes = drawn
    laid = arrange(outcomes, tests)
    assert sorted(laid.columns) == list(range(tests))
    assert sorted(member for cluster in laid.clusters for member in cluster.members) == list(range(len(outcomes)))
    assert len({cluster.outcomes for cluster in laid.clusters}) == len(laid.clusters)
    scores = [cluster.outcomes.count("p") for cluster in laid.clusters if cluster.outcomes]
    assert scores == sorted(scores, reverse=True)


def test_short_outcomes_count_as_not_run_beyond_their_end() -> None:
    assert arrange(["p"], 2).rates == (1.0, None)


def test_distinguishing_tests_of_two_solutions() -> None:
    assert distinguishing_tests("ppfen", "pffpp") == [1, 3]
    assert distinguishing_tests("", "pp") == []
