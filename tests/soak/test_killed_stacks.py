"""A stack's run killed before and after each commit and at each call of each judge; resumed, and killed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.killed_runner import Commit
from tests.killed_stacks import CHEAP, DEAR, Place, check_budget, check_killed, check_pause, scenario
from workbench.config.file import FOLDER_VARIABLE


@pytest.mark.soak
def test_a_stacks_run_killed_at_every_point_is_the_run_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    with scenario(tmp_path) as made:
        wanted, commits = made.uninterrupted()
        kills = 0
        for number in range(1, commits + 1):
            for after in (False, True):
                kills += check_killed(made, wanted, Commit(number, after))
        for server, calls in (("cheap", CHEAP), ("dear", DEAR)):
            for call in range(1, calls + 1):
                kills += check_killed(made, wanted, killed=Place(server, call))
        for again in range(1, commits):
            kills += check_killed(made, wanted, killed=Place("dear", 1 + again % DEAR), again=again)
        # How many commits there are differs a little from run to run.
        assert kills > 2 * (commits - 6) + CHEAP + DEAR + commits


@pytest.mark.soak
def test_budgets_and_pauses_hold_over_kills_at_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    with scenario(tmp_path) as made:
        wanted, _ = made.uninterrupted()
        for call in (1, 2, 3):
            check_budget(made, wanted, call)
        for call in range(1, DEAR):
            for later in (1, DEAR):
                check_pause(made, wanted, call, later)
