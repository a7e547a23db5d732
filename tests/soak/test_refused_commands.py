"""2,000 items by the command, on five servers that reject calls, in real time: at most 5 % of the calls are wasted.

Waits are those that the server requests: its minute has six seconds, its overload lasts 90.
"""

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
    refused_command,
    revoked_after,
    served_a_day,
)

ITEMS = 2_000
IN_VAIN = ITEMS // 20


@pytest.mark.soak
@pytest.mark.parametrize(
    "refusing",
    [
        Refusing(overloaded_for(90), speed=1),
        Refusing(fifty_every(6), speed=1),
        Refusing(never, cuts=33, speed=1),
    ],
    ids=["overloaded", "fifty a minute", "malformed"],
)
def test_run_ends_with_all_verdicts(tmp_path: Path, refusing: Refusing) -> None:
    with refused_command(tmp_path, refusing, ITEMS) as run:
        run.check_whole(run.start())
        print(f"{refusing.requests} calls, {refusing.wasted} in vain, {refusing.cost:.4f} dollars")
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
    refusing = Refusing(refuses, speed=1)
    with refused_command(tmp_path, refusing, ITEMS) as run:
        run.check_paused(run.start(), words)
        print(f"{refusing.requests} calls, {refusing.wasted} in vain until it paused")
        assert 0 < refusing.wasted <= IN_VAIN
        monkeypatch.setenv("JUDGE_KEY", NEW_KEY)
        run.check_whole(run.start())
        print(f"{refusing.requests} calls, {refusing.wasted} in vain, {refusing.cost:.4f} dollars")
