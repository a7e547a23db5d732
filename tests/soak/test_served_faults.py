"""Runs on model servers, the full form: a server that fails one call in five, kills, and a suspended runner."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.background import install_plugin, kill, runner_ends, until_writing
from tests.helpers import make_project
from tests.served_runs import VERIFIER, check_kills, check_sums, options, rows, stored_requests
from tests.servers.faulty import launched
from workbench.runs.run_status import run_costs, run_info, wait
from workbench.runs.verifying import start

AT_ONCE = 64
KILLS = 5


@pytest.mark.soak
def test_20_percent_faults_lose_and_repeat_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch)
    with runner_ends(make_project(tmp_path, rows(2_000))) as project, launched(latency=0.2, faulty=True) as stub:
        ended = wait(project, start(project, VERIFIER, options(stub.url, concurrency=AT_ONCE, timeout=5)).run)
        counts = stub.counts()
        assert (ended.state, ended.reasons) == ("complete", {"asked": 2_000})
        assert (counts["served"], counts["unique"], counts["repeated"]) == (2_000, 2_000, 0)
        assert counts["most_in_flight"] <= AT_ONCE
        assert run_costs(project, ended).ambiguous == []
        check_sums(project, ended)


@pytest.mark.soak
def test_kills_repeat_only_calls_in_flight_and_list_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch)
    items = 3_000
    with runner_ends(make_project(tmp_path, rows(items))) as project, launched(latency=1.0) as stub:
        stored_counts: dict[str, int] = {}
        for _ in range(KILLS):
            begun = start(project, VERIFIER, options(stub.url, concurrency=AT_ONCE))
            kill(until_writing(project, begun.run, items))
            seen = stub.counts()["requests_by_hash"]
            now = {request: seen[request] for request in stored_requests(project)}
            assert stored_counts.items() < now.items()
            stored_counts = now
        ended = wait(project, start(project, VERIFIER, options(stub.url, concurrency=AT_ONCE)).run)
        assert (ended.state, ended.done) == ("complete", items)
        check_kills(project, ended.run, stub, stored_counts, KILLS * AT_ONCE)
        assert run_info(project, ended.run).usage is not None
        assert project.database.reader().execute("PRAGMA integrity_check").fetchone() == ("ok",)
