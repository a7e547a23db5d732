"""Runs on servers that reject calls, the full form: 2,000 items each, with at most 5 % of the calls wasted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.refused_runs import (
    NEW_KEY,
    Refuses,
    Refusing,
    fifty_every,
    never,
    overloaded_for,
    refused_run,
    revoked_after,
    served_a_day,
)

ITEMS = 2_000
IN_VAIN = ITEMS // 20


@pytest.mark.soak
@pytest.mark.parametrize(
    "refusing",
    [Refusing(overloaded_for(90), speed=1), Refusing(fifty_every(60), speed=40), Refusing(never, cuts=33)],
    ids=["overloaded", "fifty a minute", "malformed"],
)
def test_run_ends_with_all_verdicts(tmp_path: Path, refusing: Refusing) -> None:
    with refused_run(tmp_path, refusing, ITEMS) as run:
        run.check_whole(run.start())
        assert 0 < refusing.wasted <= IN_VAIN


@pytest.mark.soak
@pytest.mark.parametrize(
    ("refuses", "words"),
    [(served_a_day(700), "requests per day"), (revoked_after(1_000), "key has been revoked")],
    ids=["daily quota", "revoked key"],
)
def test_run_pauses_and_continues(
    tmp_path: Path, refuses: Refuses, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = Refusing(refuses)
    with refused_run(tmp_path, refusing, ITEMS) as run:
        paused = run.start()
        run.check_paused(paused, words)
        assert 0 < refusing.wasted <= IN_VAIN
        monkeypatch.setenv("JUDGE_KEY", NEW_KEY)
        run.check_whole(run.start())
