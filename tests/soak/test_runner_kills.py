"""The runner killed fifty times, each proven to fall while verdicts were being stored, and one that stands still."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from tests.background import hurry, install_plugin, kill, runner_ends, runner_pid, stored, until, until_writing
from tests.helpers import make_project, numbered
from workbench.services.running.verifying import start, wait

KILLS = 50
ITEMS = 25_000


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["slow", "slow-apart", "staged"])
def test_fifty_kills_lose_and_repeat_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    install_plugin(tmp_path, monkeypatch)
    journal = tmp_path / "journal"
    options = {"ms": "5", "journal": str(journal)}
    rows = [{**row, "completion": f"later {number}"} for number, row in enumerate(numbered(ITEMS))]
    with runner_ends(make_project(tmp_path, rows)) as project:
        kept: set[int] = set()
        read = 0
        for _ in range(KILLS):
            info = start(project, kind, options, workers=2)
            kill(until_writing(project, info.run, ITEMS))
            asked = journal.read_bytes().split(b"\n")
            assert not kept & {int(item) for item in asked[read:-1]}
            now = stored(project, info.run)
            assert kept < now
            kept, read = now, len(asked) - 1
        hurry()
        ended = wait(project, start(project, kind, options, workers=2).run)
        assert (ended.state, ended.done, len(stored(project, ended.run))) == ("complete", ITEMS, ITEMS)
        reader = project.database.reader()
        assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert reader.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.soak
def test_a_runner_that_stands_still_is_replaced_and_stores_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_plugin(tmp_path, monkeypatch)
    with runner_ends(make_project(tmp_path, numbered(2_000))) as project:
        info = start(project, "slow-apart", workers=2)
        still = until_writing(project, info.run, 2_000)
        os.kill(still, signal.SIGSTOP)
        until(lambda: runner_pid(project) is None)
        start(project, "slow-apart", workers=2)
        until_writing(project, info.run, 2_000)
        assert runner_pid(project) not in (still, None)
        os.kill(still, signal.SIGCONT)
        until(lambda: not psutil.pid_exists(still) or psutil.Process(still).status() == psutil.STATUS_ZOMBIE)
        assert "another process has taken over" in (tmp_path / "p.db.runner.log").read_text()
        hurry()
        ended = wait(project, info.run)
        assert (ended.state, ended.done) == ("complete", 2_000)
