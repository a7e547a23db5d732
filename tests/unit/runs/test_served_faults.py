"""Failing model servers and killed runners, by the server's own count; small here, full in soak."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.background import install_plugin, kill, runner_ends, stored, until, until_writing
from tests.helpers import make_project
from tests.served_runs import (
    VERIFIER,
    check_kills,
    check_sums,
    here,
    options,
    rows,
    stored_requests,
)
from tests.servers.faulty import launched
from tests.servers.scripted import Received, Scripted, scripted
from workbench.core.project import Project
from workbench.llm import gate
from workbench.runs.run_status import run_costs, run_info, wait
from workbench.runs.verifying import start

ITEMS = 400
AT_ONCE = 8


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    install_plugin(tmp_path, monkeypatch)
    with runner_ends(make_project(tmp_path, rows(ITEMS))) as made:
        yield made


def test_a_server_that_fails_one_call_in_five_loses_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "_MAX_BACKOFF_S", 0.05)
    with here(tmp_path, 150) as runs, launched(latency=0.002, faulty=True, retry_after=0.01) as stub:
        ended = runs.start(stub.url, timeout=10, concurrency=64)
        counts = stub.counts()
        assert ended.reasons == {"asked": 150}
        assert (counts["served"], counts["unique"], counts["repeated"]) == (150, 150, 0)
        assert ended.usage is not None
        assert (ended.usage.calls, ended.usage.answered) == (counts["requests"], 150)
        faults = counts["faults"]
        assert len(faults) == 5
        assert sum(ended.usage.errors.values()) == sum(faults.values())
        assert ended.usage.unsure == faults["hang"] + faults["malformed"] + faults["truncated"]
        assert run_costs(runs.project, ended).ambiguous == []
        check_sums(runs.project, ended)


@pytest.mark.soak
def test_a_killed_runner_repeats_no_committed_response_and_lists_the_rest(project: Project) -> None:
    with launched(latency=0.05) as stub:
        begun = start(project, VERIFIER, options(stub.url, concurrency=AT_ONCE))
        kill(until_writing(project, begun.run, ITEMS))
        seen = stub.counts()["requests_by_hash"]
        kept = {request: seen[request] for request in stored_requests(project)}
        assert kept
        assert run_costs(project, run_info(project, begun.run)).ambiguous
        start(project, VERIFIER, options(stub.url, concurrency=64))
        ended = wait(project, begun.run)
        assert (ended.state, ended.done) == ("complete", ITEMS)
        check_kills(project, begun.run, stub, kept, AT_ONCE)


@pytest.mark.soak
def test_a_terminated_runner_stores_the_calls_in_flight(project: Project) -> None:
    with launched(latency=0.05) as stub:
        begun = start(project, VERIFIER, options(stub.url, concurrency=AT_ONCE))
        kill(until_writing(project, begun.run, ITEMS), signal.SIGTERM)
        left = run_info(project, begun.run)
        assert left.state == "queued"
        assert len(stored(project, begun.run)) == len(stored_requests(project)) == stub.counts()["requests"]
        assert run_costs(project, left).ambiguous == []
        start(project, VERIFIER, options(stub.url, concurrency=64))
        assert wait(project, begun.run).done == ITEMS
        assert stub.counts()["requests"] == ITEMS


@pytest.mark.soak
def test_a_runner_stays_alive_while_every_call_waits(project: Project) -> None:
    go = threading.Event()

    def answer(received: Received) -> Scripted:
        return Scripted(hold=go, status=400, body={"error": {"message": "no"}})

    with scripted(answer) as server:
        begun = start(project, VERIFIER, options(server.url, concurrency=AT_ONCE))
        until(lambda: len(server.received) == AT_ONCE)
        first = run_info(project, begun.run)
        assert first.usage is not None
        until(lambda: (run_info(project, begun.run).heartbeat or "") > (first.heartbeat or ""))
        until(lambda: (used := run_info(project, begun.run).usage) is not None and used.in_flight == AT_ONCE)
        now = run_info(project, begun.run)
        assert (now.alive, now.done) == (True, 0)
        assert run_costs(project, now).attempts["sent"] == AT_ONCE
        assert run_costs(project, now).ambiguous == []
        go.set()
        ended = wait(project, begun.run)
    assert (ended.state, ended.done, "HTTP 400: no" in (ended.message or "")) == ("paused", 0, True)
