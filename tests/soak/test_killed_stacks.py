"""A stack's run is killed before and after each commit and at each call of each judge, resumed, and killed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.killed_runner import Commit
from tests.killed_stacks import CHEAP, DEAR, Place, check_budget, check_killed, check_pause, scenario
from workbench.config.file import FOLDER_VARIABLE


@pytest.mark.soak
def test_run_killed_at_every_point_equals_an_uninterrupted_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    with scenario(tmp_path) as setup:
        expected, commits = setup.uninterrupted()
        kills = 0
        for number in range(1, commits + 1):
            for after in (False, True):
                kills += check_killed(setup, expected, Commit(number, after))
        for server, calls in (("cheap", CHEAP), ("dear", DEAR)):
            for call in range(1, calls + 1):
                kills += check_killed(setup, expected, killed=Place(server, call))
        for again in range(1, commits):
            kills += check_killed(setup, expected, killed=Place("dear", 1 + again % DEAR), again=again)
        # The number of commits varies slightly from run to run.
        assert kills > 2 * (commits - 6) + CHEAP + DEAR + commits


@pytest.mark.soak
def test_budgets_and_pauses_survive_kills_at_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    with scenario(tmp_path) as setup:
        expected, _ = setup.uninterrupted()
        for call in (1, 2, 3):
            check_budget(setup, expected, call)
        for call in range(1, DEAR):
            for later in (1, DEAR):
                check_pause(setup, expected, call, later)
