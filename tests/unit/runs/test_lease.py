"""One runner a database, dead ones replaced, replaced ones harmless."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.background import runner_pid, until
from tests.helpers import make_project, numbered
from workbench.errors import RunError
from workbench.runs import lease as leases
from workbench.runs.launch import ensure_runner, log_path
from workbench.runs.lease import Lease, LeaseLost, is_alive
from workbench.services.project import Project
from workbench.services.running.verifying import pause, runs, start
from workbench.store import runs as stored
from workbench.store.runs import LeaseRow


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path, numbered(4))
    yield made
    made.close()


@pytest.fixture
def sleeper() -> Iterator[LeaseRow]:
    """The lease row of some other process that lives."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield LeaseRow(process.pid, psutil.Process(process.pid).create_time(), time.time())
        process.kill()


def put(project: Project, row: LeaseRow) -> None:
    with project.database.write() as connection:
        stored.put_lease(connection, row)


def acquired(project: Project) -> Lease:
    lease = Lease.acquire(project.database)
    assert lease is not None
    return lease


def test_a_living_runner_is_left_alone(project: Project, sleeper: LeaseRow) -> None:
    put(project, sleeper)
    assert Lease.acquire(project.database) is None
    assert runner_pid(project) == sleeper.pid


@pytest.mark.parametrize("change", ["heartbeat", "start time", "gone"])
def test_a_dead_runner_is_replaced(project: Project, sleeper: LeaseRow, change: str) -> None:
    pid, started, heartbeat = sleeper.pid, sleeper.pid_started, sleeper.heartbeat
    rows = {
        "heartbeat": LeaseRow(pid, started, heartbeat - 11),
        "start time": LeaseRow(pid, started - 60, heartbeat),
        "gone": LeaseRow(2**22 + 1, started, heartbeat),
    }
    put(project, rows[change])
    acquired(project)
    assert runner_pid(project) == os.getpid()


def test_a_process_that_ended_but_was_not_collected_is_dead(project: Project) -> None:
    with subprocess.Popen(["true"]) as process:
        row = LeaseRow(process.pid, psutil.Process(process.pid).create_time(), time.time())
        until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
        assert not is_alive(row)


def test_a_replaced_runner_can_store_nothing(project: Project, sleeper: LeaseRow) -> None:
    lease = acquired(project)
    put(project, sleeper)
    with pytest.raises(LeaseLost), lease.write() as connection:
        connection.execute("DELETE FROM completion_text")
    for end in (lease.end, lease.end_if_idle):
        with pytest.raises(LeaseLost):
            end()
    assert project.database.reader().execute("SELECT count(*) FROM completion_text").fetchone() == (4,)
    assert runner_pid(project) == sleeper.pid


def test_a_runner_shows_life_once_a_second(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = acquired(project)
    put(project, LeaseRow(os.getpid(), _row(project).pid_started, 1.0))
    lease.beat()
    assert _row(project).heartbeat == 1.0
    monkeypatch.setattr(leases, "_BEAT_S", 0.0)
    lease.beat()
    assert _row(project).heartbeat > 1.0


def _row(project: Project) -> LeaseRow:
    row = stored.lease(project.database.reader())
    assert row is not None
    return row


def test_a_run_queued_at_the_last_moment_keeps_the_runner(project: Project) -> None:
    lease = acquired(project)
    info = start(project, "exact")
    assert info.state == "queued"
    assert not lease.end_if_idle()
    assert pause(project, info.run).state == "paused"
    assert lease.end_if_idle()
    assert _no_lease(project)


def _no_lease(project: Project) -> bool:
    return stored.lease(project.database.reader()) is None


def test_a_runner_that_ends_leaves_its_run_to_the_next(project: Project) -> None:
    lease = acquired(project)
    info = start(project, "exact")
    with lease.write() as connection:
        taken = stored.take_next(connection)
    assert taken is not None
    assert runs(project)[0].state == "running"
    lease.end()
    assert [run.state for run in runs(project)] == ["queued"]
    assert _no_lease(project)
    assert info.run == taken.id


def test_a_second_runner_process_ends_at_once(project: Project, sleeper: LeaseRow) -> None:
    put(project, sleeper)
    subprocess.run([sys.executable, "-m", "workbench.runs.runner", str(project.path)], check=True, timeout=60)
    assert runner_pid(project) == sleeper.pid


def test_an_idle_runner_ends(project: Project) -> None:
    ensure_runner(project.database)
    pid = runner_pid(project)
    assert pid is not None
    until(lambda: _no_lease(project))
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_a_runner_that_cannot_start_says_why(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A module of that name comes before the standard library's.
    (tmp_path / "logging.py").write_text("raise SystemExit('no logging today')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RunError, match=r"exit code 1: no logging today"):
        ensure_runner(project.database)
    assert "no logging today" in log_path(project.path).read_text()
