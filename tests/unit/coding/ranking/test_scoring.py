"""Rounding of scores, and solutions that fail only by errors."""

from __future__ import annotations

import pytest

from workbench.coding.ranking.scores import as_scored, letters_of, only_errors, only_stderr, stderrs_of
from workbench.core.code import Failure


def test_the_released_rule_rounds_to_two_decimals_and_the_paper_does_not() -> None:
    assert as_scored(2 / 3, "released") == 0.67
    assert as_scored(2 / 3, "formula") == 2 / 3
    assert as_scored(999 / 1000, "released") == 1.0


@pytest.mark.parametrize(
    ("outcomes", "dropped"),
    [("", False), ("eets", True), ("xxx", True), ("eef", False), ("eep", False), ("een", False), ("ssss", True)],
)
def test_only_errors(outcomes: str, dropped: bool) -> None:
    assert only_errors(outcomes) is dropped


@pytest.mark.parametrize(
    ("stderrs", "dropped"),
    [
        ([], False),
        (["AssertionError('no')", "TypeError()"], True),
        (["AssertionError()", "TypeError()"], False),
        (["", "TypeError()"], False),
        (["warning: it passes, and writes"], True),
        ([" AssertionError()\n"], False),
    ],
    ids=["none", "message", "bare", "passed", "warning", "space"],
)
def test_the_released_filter_reads_standard_error(stderrs: list[str], dropped: bool) -> None:
    assert only_stderr(stderrs) is dropped


def test_only_the_released_filter_counts_messages_as_errors() -> None:
    said = (Failure(position=0, outcome="f", error="AssertionError", message="no"),)
    assert stderrs_of("fe", said) == ["AssertionError('no')", "Error()"]
    assert only_stderr(stderrs_of("fe", said))
    assert not only_stderr(stderrs_of("fe", ()))
    assert not only_errors("fe")


def test_a_test_that_was_not_run_wrote_nothing() -> None:
    assert stderrs_of("pn", ()) == ["", ""]


def test_letters_distinguish_assertions_from_other_errors() -> None:
    assert letters_of(["", "AssertionError('a')", " AssertionError()", "ValueError()"]) == "pffe"
