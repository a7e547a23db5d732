"""When a problem has enough distinct scores."""

from __future__ import annotations

import pytest

from workbench.coding.synthesis.solutions import ScoreCollector


def test_scores_are_distinguished_by_two_decimals() -> None:
    found = ScoreCollector(3)
    assert found.ran("p" * 200) == 1.0
    assert found.ran("p" * 199 + "f") == 0.99 == round(0.995, 2)
    assert found.ran("p" * 198 + "ff") == 0.99
    assert (found.scores, found.reached) == ({1.0, 0.99}, False)
    assert found.ran("f" * 200) == 0.0
    assert found.reached


@pytest.mark.parametrize("outcomes", ["e", "esxt", "s" * 9, ""])
def test_a_solution_with_only_errors_has_no_score(outcomes: str) -> None:
    found = ScoreCollector(1)
    assert found.ran(outcomes) is None
    assert not found.reached


def test_a_new_solution_is_code_that_is_not_there() -> None:
    found = ScoreCollector(5)
    found.know("def f(): return 1\n")
    replies = ["def f(): return 2", "def f(): return 2\n", "def f(): return 1", " ", "I can't do that.", "def f(" * 99]
    assert [found.takes(code) for code in replies] == [True, False, False, False, False, False]
    assert (found.written, found.repeated, found.empty) == (1, 2, 3)
