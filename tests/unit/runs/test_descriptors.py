"""A run on a model server opens a constant number of files, however many replies it gets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.served_runs import here
from tests.servers.scripted import Received, scripted
from workbench.runs import journal

ITEMS, FEW = 400, 60


def test_replies_and_other_readers_leak_no_descriptors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_WRITE_BACK_S", 0.0)
    counts: list[int] = []

    with here(tmp_path, ITEMS) as runs:

        def answer(_: Received) -> str:
            # As a front end that watches the run.
            runs.project.database.data_version()
            counts.append(sum("p.db" in name for name in map(_target, os.listdir("/proc/self/fd"))))
            return "Yes"

        with scripted(answer) as server:
            info = runs.start(server.url, concurrency=4)
    assert (info.state, len(counts)) == ("complete", ITEMS)
    assert max(counts[-FEW:]) <= max(counts[FEW : 2 * FEW]) + 2


def _target(name: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except FileNotFoundError:
        return ""
