"""Helpers for tests of background runs: a plug-in, waiting, and runners that end with the test."""

from __future__ import annotations

import importlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest

from tests.helpers import make_project, numbered
from workbench.core.project import Project
from workbench.runs.lease import look
from workbench.runs.run_status import wait
from workbench.runs.verifying import start

PLUGIN = Path(__file__).resolve().parent / "plugin"
PATIENCE_S = 120.0
"""Time limit for any single wait, generous enough for a busy machine."""


def install_plugin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the verifiers of ``tests/plugin`` for this process and those it starts."""
    metadata = folder / "site" / "trying_verifiers-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: trying-verifiers\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[workbench.verifiers]\n"
        "slow = trying_verifiers:Slow\n"
        "slow-apart = trying_verifiers:SlowApart\n"
        "staged = trying_verifiers:Staged\n"
        "reading = trying_verifiers:Reading\n"
        "moody = trying_verifiers:Moody\n"
        "moody-inline = trying_verifiers:MoodyInline\n"
        "always-correct = probed_verifiers:AlwaysCorrect\n"
        "naive = probed_verifiers:Naive\n"
        "fragile = probed_verifiers:Fragile\n"
        "asker = asking_verifiers:Asker\n"
    )
    places = [str(metadata.parent), str(PLUGIN)]
    monkeypatch.setattr(sys, "path", [*places, *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))
    monkeypatch.setenv("HURRY", str(folder / "hurry"))
    importlib.invalidate_caches()


def hurry() -> None:
    """Stop the delays of the slow verifiers of ``tests/plugin``."""
    Path(os.environ["HURRY"]).touch()


def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(0.01)


def stored(project: Project, run: int) -> set[int]:
    """Return the row ids of the items for which a run has stored verdicts."""
    rows = project.database.reader().execute("SELECT completion_id FROM verdicts WHERE run_id = ?", (run,))
    return {row[0] for row in rows}


def runner_pid(project: Project) -> int | None:
    """Return the process id of the live runner."""
    notice, lives = look(project.path)
    return notice.pid if lives else None


def until_writing(project: Project, run: int, total: int) -> int:
    """Wait until verdicts arrive; return the process that stores them."""
    before = len(stored(project, run))
    until(lambda: before < len(stored(project, run)) < total)
    pid = runner_pid(project)
    assert pid is not None
    return pid


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal and wait until the process has ended."""
    process = psutil.Process(pid)
    os.kill(pid, number)
    until(lambda: _ended(process))


def _ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextmanager
def runner_ends(project: Project) -> Iterator[Project]:
    """Close the project at the end of the block, after ending its runner if one is alive."""
    try:
        yield project
    finally:
        until(lambda: _end(project))
        project.close()


def _end(project: Project) -> bool:
    pid = runner_pid(project)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
    return pid is None


def stopped_between_writes(project: Project, pid: int) -> bool:
    """Stop a process and return whether it holds no write lock; if it holds one, let it continue."""
    os.kill(pid, signal.SIGSTOP)
    with closing(sqlite3.connect(project.path, timeout=0.2, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
            return True
        except sqlite3.OperationalError:
            os.kill(pid, signal.SIGCONT)
            return False


def check_suspended_runner(folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Suspend a working runner and try to start others in every way: it remains the only one."""
    install_plugin(folder, monkeypatch)
    with runner_ends(make_project(folder, numbered(600))) as project:
        info = start(project, "slow-apart", workers=2)
        still = until_writing(project, info.run, 600)
        until(lambda: stopped_between_writes(project, still))
        try:
            until(lambda: psutil.Process(still).status() == psutil.STATUS_STOPPED)
            before, end = len(stored(project, info.run)), time.monotonic() + seconds
            while True:
                shown = start(project, "slow-apart", workers=2)
                assert (shown.run, shown.state, shown.alive) == (info.run, "running", True)
                # A runner started by hand finds that another one is working and exits.
                command = [sys.executable, "-m", "workbench.runs.runner", str(project.path)]
                subprocess.run(command, check=True, timeout=PATIENCE_S)
                assert runner_pid(project) == still
                assert len(stored(project, info.run)) == before
                if time.monotonic() > end:
                    break
                time.sleep(min(seconds, 5.0))
        finally:
            os.kill(still, signal.SIGCONT)
        hurry()
        ended = wait(project, info.run)
        assert (ended.state, ended.done, ended.waiting) == ("complete", 600, None)
        log = (folder / "p.db.runner.log").read_text()
        assert "taken over" not in log
        assert log.count(" begins") - log.count("run 1: ") <= 1
