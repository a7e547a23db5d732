"""A solution's score, and what of its tests keeps it out of a set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from workbench.core.code import ASSERTION, BROKEN, NOT_RUN, PASS, Failure
from workbench.statistics.records.candidates import Rules

DECIMALS: Final = 2
"""Scores are rounded to so many before solutions of equal score are sought."""

BARE_ASSERTION: Final = "AssertionError()"
"""What the released code sees on standard error of an assertion without a message."""


def score_of(passed: int, total: int, rules: Rules) -> float:
    """The share of tests that passed: rounded to two decimals as the released code does, whole in the paper.

    For the "+" sets ``total`` is of base and plus tests together.
    """
    return as_scored(passed / total, rules)


def as_scored(share: float, rules: Rules) -> float:
    """A share of tests as the key by which solutions are told apart."""
    return round(share, DECIMALS) if rules == "released" else share


def only_errors(outcomes: str) -> bool:
    """Whether every test failed, and none by an assertion: syntax, time and kills count as errors.

    Without tests it is False, and so it is where a test was not run.
    """
    letters = set(outcomes) - {BROKEN}
    return bool(letters) and not letters & {PASS, ASSERTION, NOT_RUN}


def only_stderr(stderrs: Sequence[str]) -> bool:
    """Whether every test wrote to standard error, and something else than a bare assertion's name.

    The released code drops such solutions (``combine_solutions.py``), so that a failed assertion with a message counts
    as an error, and so does a test that passes and warns. Without tests it is False.
    """
    return bool(stderrs) and all(text.strip() not in ("", BARE_ASSERTION) for text in stderrs)


def letters_of(stderrs: Sequence[str]) -> str:
    """What standard error tells of tests as outcome letters: nothing there is a pass, any assertion an assertion."""
    return "".join(map(_letter, stderrs))


def _letter(stderr: str) -> str:
    text = stderr.strip()
    return PASS if not text else ASSERTION if text.startswith("AssertionError") else "e"


def stderrs_of(outcomes: str, failures: Iterable[Failure]) -> list[str]:
    """What the released code would have seen of tests on standard error, as far as outcomes tell.

    What a test wrote there without failing is not known, nor the message of an assertion whose failure isn't kept.
    """
    messages = {failure.position: failure.message for failure in failures if failure.outcome == ASSERTION}
    letters = ((position, letter) for position, letter in enumerate(outcomes) if letter != BROKEN)
    return [_stderr(letter, messages.get(position)) for position, letter in letters]


def _stderr(letter: str, message: str | None) -> str:
    if letter in (PASS, NOT_RUN):
        return ""
    if letter != ASSERTION:
        return "Error()"
    return f"AssertionError({message!r})" if message else BARE_ASSERTION
