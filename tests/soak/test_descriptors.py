"""Programs that run for minutes do not accumulate file descriptors."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.background import install_plugin, runner_ends, stored, until_writing
from tests.cluster import cluster
from tests.helpers import make_project, numbered
from tests.rewarding import launched, post_reward
from tests.served_app import labels, real_app, served, sign_in, tab
from tests.served_runs import VERIFIER, options, rows
from tests.servers import faulty
from tests.unit.runs.test_cluster import rows as answers
from workbench.labelling.people import assign
from workbench.runs.verifying import start

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

SETTLING_S, WATCHED_S = 20.0, 90.0
SPARE = 4
"""Tolerance for a connection, or a file that is being written."""


def held() -> int:
    """Return the number of descriptors of this process and its descendants."""
    me, found = psutil.Process(), 0
    for process in (me, *me.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            found += process.num_fds()
    return found


def most(pid: int, seconds: float) -> int:
    """Return the largest number of descriptors that a process has within a time."""
    process, found, until = psutil.Process(pid), 0, time.monotonic() + seconds
    while time.monotonic() < until:
        found = max(found, process.num_fds())
        time.sleep(0.2)
    return found


def test_run_on_a_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, monkeypatch)
    with runner_ends(make_project(tmp_path, rows(20_000))) as project, faulty.launched(latency=0.2) as model:
        info = start(project, VERIFIER, options(model.url, concurrency=8))
        pid = until_writing(project, info.run, 20_000)
        before = most(pid, SETTLING_S)
        after = most(pid, WATCHED_S)
    print("runner", before, after)
    assert after <= before + SPARE


def test_driver_of_nodes(tmp_path: Path) -> None:
    with cluster() as nodes, runner_ends(make_project(tmp_path, answers(400_000))) as project:
        assert nodes.nodes
        info = start(project, "rules", on="ray")
        pid = until_writing(project, info.run, 400_000)
        before = most(pid, SETTLING_S)
        after = most(pid, WATCHED_S)
        assert len(stored(project, info.run)) < 400_000, "it worked all the time"
    print("driver of nodes", before, after)
    assert after <= before + SPARE


def test_reward_server_with_a_database(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.close()
    with faulty.launched(latency=0.02) as model:
        arguments = ["--verifier", "llm-judge", "-o", f"base_url={model.url}", "-o", "model=m"]
        with launched(tmp_path, project.path, *arguments) as server:
            server.until_ready()

            def drive(seconds: float, kind: str) -> int:
                most_held, number, until = 0, 0, time.monotonic() + seconds
                while time.monotonic() < until:
                    number += 1
                    body = {"question": "q", "reference": "r", "completion": f"{kind} {number}"}
                    assert asyncio.run(post_reward(server.port, json.dumps(body).encode())).status == 200
                    most_held = max(most_held, psutil.Process(server.process.pid).num_fds())
                return most_held

            before = drive(SETTLING_S, "before")
            after = drive(WATCHED_S, "after")
    print("reward server", before, after)
    assert after <= before + SPARE


async def test_served_app_during_labelling(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4_000))
    assign(project, ["ann"], per_item=1)

    async with (
        served(project, real_app(project.path)) as address,
        sign_in(project, address, "ann") as client,
        tab(client, address) as page,
    ):

        async def drive(seconds: float) -> int:
            most_held, until = 0, time.monotonic() + seconds
            while time.monotonic() < until:
                await page.press("1")
                most_held = max(most_held, held())
                await asyncio.sleep(0.05)
            return most_held

        before = await drive(SETTLING_S)
        after = await drive(WATCHED_S)
    print("served app", before, after, len(labels(project)))
    assert labels(project)
    assert after <= before + SPARE
    project.close()
