"""A stack run that is killed and resumed equals an uninterrupted run; at a few points here, at every point in soak."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.killed_runner import Commit
from tests.killed_stacks import (
    CHEAP,
    DEAR,
    Place,
    Scenario,
    check_budget,
    check_killed,
    check_pause,
    check_same,
    scenario,
)
from workbench.config.file import FOLDER_VARIABLE

COMMITS = 2


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scenario]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    with scenario(tmp_path) as made:
        yield made


def test_a_kill_at_any_point_repeats_no_answered_call(made: Scenario) -> None:
    expected, commits = made.uninterrupted()
    assert expected.requests.total() == CHEAP + DEAR
    kills = 0
    for number in range(COMMITS):
        commit = Commit(1 + number * (commits - 4) // COMMITS, after=number % 2 == 1)
        kills += check_killed(made, expected, commit)
    for place in (Place("cheap", CHEAP), Place("dear", 1), Place("dear", DEAR)):
        kills += check_killed(made, expected, killed=place)
    assert check_killed(made, expected, killed=Place("dear", 2), again=3) == 2
    assert kills == COMMITS + 3


@pytest.mark.soak
def test_a_stage_budget_and_a_pause_survive_a_kill(made: Scenario) -> None:
    expected, _ = made.uninterrupted()
    check_budget(made, expected, call=2)
    check_pause(made, expected, call=2, later=1)
    check_pause(made, expected, call=2, later=DEAR)


@pytest.mark.soak
def test_rejected_calls_are_repeated_with_retry_errors(made: Scenario) -> None:
    expected, _ = made.uninterrupted()
    with made.trial() as trial:
        assert trial.work(killed=Place("dear", DEAR)) is None
        trial.resume()
        assert trial.work() is not None
        check_same(trial.outcome(), expected)
        refused = {call: count for call, count in trial.requests().items() if call[1] == "c6"}
        assert sorted(refused.values()) == [1, 1]
        trial.resume(retry_errors=True)
        assert trial.work() is not None
        assert sorted({call: trial.requests()[call] for call in refused}.values()) == [1, 2]
