"""Picks: exact numbers of correct and incorrect completions, drawn reproducibly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.benchmarks.building.rule_questions import question
from workbench.benchmarks.capping import LACKS, pick, shortage


@pytest.mark.parametrize(
    ("said", "each", "expected"),
    [
        ("++--", 2, None),
        ("+-", 1, None),
        ("", 1, "no_verdict"),
        ("???", 2, "no_verdict"),
        ("+--", 2, "too_few_correct"),
        ("++-?", 2, "too_few_incorrect"),
        ("+-??", 2, "too_few_of_both"),
        ("--", 1, "too_few_correct"),
    ],
)
def test_questions_without_enough_completions_have_a_reason(said: str, each: int, expected: str | None) -> None:
    assert shortage(question(1, said), each) == expected
    assert expected is None or LACKS[expected]


@given(st.text("+-?", max_size=12), st.integers(1, 3), st.integers(0, 9))
def test_a_question_that_lacks_nothing_gives_exactly_so_many_of_each(said: str, each: int, seed: int) -> None:
    asked = question(1, said)
    if shortage(asked, each) is not None:
        assert min(said.count("+"), said.count("-")) < each
        return
    picked = pick(asked, each, seed, "step")

    assert [one.correct for one in picked] == [True] * each + [False] * each
    assert len(set(picked)) == 2 * each
    assert set(picked) <= set(asked.completions)


@given(st.text("+-?", min_size=4, max_size=10), st.text("?", max_size=6))
def test_what_is_neither_changes_no_pick(said: str, more: str) -> None:
    asked, with_more = question(1, said), question(1, said + more)
    if shortage(asked, 1) is None:
        assert pick(asked, 1, 3, "step") == pick(with_more, 1, 3, "step")


def test_a_pick_is_the_same_everywhere() -> None:
    picked = [one.key for number in range(4) for one in pick(question(number, "+++---"), 1, 0, "picks")]
    assert picked == ["c0", "c3", "c1", "c4", "c1", "c3", "c0", "c4"]
