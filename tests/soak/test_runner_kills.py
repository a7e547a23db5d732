"""The runner is killed fifty times, each time while verdicts are being stored, and suspended once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.background import (
    check_suspended_runner,
    hurry,
    install_plugin,
    kill,
    runner_ends,
    stored,
    until_writing,
)
from tests.helpers import make_project, numbered
from workbench.runs.run_status import wait
from workbench.runs.verifying import start

KILLS = 50
ITEMS = 25_000


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["slow", "slow-apart", "staged"])
def test_fifty_kills_lose_and_repeat_nothing_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    install_plugin(tmp_path, monkeypatch)
    journal = tmp_path / "journal"
    options = {"ms": "5", "journal": str(journal)}
    rows = [{**row, "completion": f"later {number}"} for number, row in enumerate(numbered(ITEMS))]
    with runner_ends(make_project(tmp_path, rows)) as project:
        stored_before: set[int] = set()
        read = 0
        for _ in range(KILLS):
            info = start(project, kind, options, workers=2)
            kill(until_writing(project, info.run, ITEMS))
            requests = journal.read_bytes().split(b"\n")
            assert not stored_before & {int(item) for item in requests[read:-1]}
            now = stored(project, info.run)
            assert stored_before < now
            stored_before, read = now, len(requests) - 1
        hurry()
        ended = wait(project, start(project, kind, options, workers=2).run)
        assert (ended.state, ended.done, len(stored(project, ended.run))) == ("complete", ITEMS, ITEMS)
        reader = project.database.reader()
        assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert reader.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_runner_suspended_for_a_minute_stays_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_suspended_runner(tmp_path, monkeypatch, seconds=60.0)
