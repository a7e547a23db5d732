"""The commands on servers that reject calls, by the server's own count; small here, full in soak."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.refused_runs import (
    NEW_KEY,
    Refuses,
    Refusing,
    never,
    overloaded_for,
    refused_command,
    revoked_after,
    served_a_day,
)

ITEMS = 120
AT_ONCE = 10


@pytest.mark.soak
def test_a_temporarily_overloaded_server_costs_few_calls(tmp_path: Path) -> None:
    refusing = Refusing(overloaded_for(3, after=10), speed=1)
    with refused_command(tmp_path, refusing, ITEMS, latency=0.1) as run:
        run.check_whole(run.start(concurrency=str(AT_ONCE)))
        assert 0 < refusing.wasted <= AT_ONCE + 8


@pytest.mark.soak
def test_truncated_replies_are_paid_for_and_no_verdicts(tmp_path: Path) -> None:
    refusing = Refusing(never, cuts=20, speed=1)
    with refused_command(tmp_path, refusing, ITEMS, latency=0.02) as run:
        run.check_whole(run.start())
        assert 0 < refusing.wasted <= ITEMS // 8


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("refuses", "words"), [(served_a_day(40), "requests per day"), (revoked_after(60), "key has been revoked")]
)
def test_a_server_error_exits_with_3_and_the_run_resumes_once_fixed(
    tmp_path: Path, refuses: Refuses, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = Refusing(refuses, speed=1)
    with refused_command(tmp_path, refusing, ITEMS, latency=0.02) as run:
        run.check_paused(run.start(concurrency=str(AT_ONCE)), words)
        assert 0 < refusing.wasted <= 2 * AT_ONCE
        monkeypatch.setenv("JUDGE_KEY", NEW_KEY)
        run.check_whole(run.start(concurrency=str(AT_ONCE)))
