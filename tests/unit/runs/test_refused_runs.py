"""Runs on servers that reject calls, by the server's own count; small here, full in soak."""

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

ITEMS = 200
AT_ONCE = 10
"""Calls in flight, which may all be refused before anybody knows."""


@pytest.mark.soak
def test_a_temporarily_overloaded_server_is_waited_for(tmp_path: Path) -> None:
    with refused_run(tmp_path, Refusing(overloaded_for(90), speed=20), ITEMS) as run:
        run.check_whole(run.start(concurrency=str(AT_ONCE)))
        assert 0 < run.refusing.wasted <= AT_ONCE + 15


@pytest.mark.soak
def test_a_rate_limit_per_minute_is_detected_and_respected(tmp_path: Path) -> None:
    with refused_run(tmp_path, Refusing(fifty_every(60), speed=60), ITEMS) as run:
        run.check_whole(run.start(concurrency=str(AT_ONCE)))
        assert 0 < run.refusing.wasted <= AT_ONCE + ITEMS // 20


@pytest.mark.parametrize(
    ("refuses", "words"), [(served_a_day(70), "requests per day"), (revoked_after(100), "key has been revoked")]
)
def test_a_permanent_rejection_pauses_the_run(
    tmp_path: Path, refuses: Refuses, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refused_run(tmp_path, Refusing(refuses, speed=20), ITEMS) as run:
        paused = run.start(concurrency=str(AT_ONCE))
        run.check_paused(paused, words)
        assert 0 < run.refusing.wasted <= 2 * AT_ONCE
        monkeypatch.setenv("JUDGE_KEY", NEW_KEY)
        run.check_whole(run.start())


def test_truncated_replies_are_repeated_and_counted_as_paid(tmp_path: Path) -> None:
    with refused_run(tmp_path, Refusing(never, cuts=33, speed=20), ITEMS) as run:
        run.check_whole(run.start())
        assert 0 < run.refusing.wasted <= ITEMS // 20 + 5


def test_queued_items_of_a_paused_run_have_no_verdict(tmp_path: Path) -> None:
    with refused_run(tmp_path, Refusing(revoked_after(0), speed=20), ITEMS) as run:
        paused = run.start(concurrency="100")
        run.check_paused(paused, "key has been revoked")
        assert paused.done == 0
