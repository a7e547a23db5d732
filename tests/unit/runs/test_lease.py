"""One runner per database: dead runners are replaced, replaced runners are harmless."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from click.testing import CliRunner

from tests.background import (
    PATIENCE_S,
    check_suspended_runner,
    hurry,
    install_plugin,
    runner_ends,
    runner_pid,
    until,
    until_writing,
)
from tests.helpers import make_project, numbered
from workbench.app.cli import root
from workbench.core.errors import Cause, RunError, StoreError
from workbench.core.project import Project, open_project
from workbench.runs import lease as leases
from workbench.runs.lease import (
    Lease,
    LeaseLost,
    Notice,
    claim_runner,
    ensure_runner,
    is_alive,
    lock_path,
    log_path,
    look,
)
from workbench.runs.run_status import removal, runs, wait
from workbench.runs.store import batches
from workbench.runs.store import runs as stored
from workbench.runs.verifying import pause, start


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path, numbered(4))
    yield made
    made.close()


@pytest.fixture
def sleeper(project: Project) -> Iterator[subprocess.Popen[bytes]]:
    """Some other process that is the runner: it holds the lock."""
    with holding(lock_path(project.path)) as process:
        yield process


@contextmanager
def holding(lock: Path) -> Iterator[subprocess.Popen[bytes]]:
    code = (
        "import fcntl, sys\nfile = open(sys.argv[1], 'a')\nfcntl.flock(file, fcntl.LOCK_EX)\nprint(flush=True)\n"
        "sys.stdin.read()"
    )
    lock.touch(0o600)
    with subprocess.Popen([sys.executable, "-c", code, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        lock.write_bytes(msgspec.json.encode(Notice(process.pid, time.time(), time.monotonic())))
        yield process
        process.kill()


def acquired(project: Project) -> Lease:
    lease = Lease.acquire(project.database)
    assert lease is not None
    return lease


def test_a_living_runner_is_left_unchanged(project: Project, sleeper: subprocess.Popen[bytes]) -> None:
    assert Lease.acquire(project.database) is None
    assert runner_pid(project) == sleeper.pid


def test_a_runner_whose_process_is_gone_is_replaced(project: Project) -> None:
    """Also if the process is a zombie."""
    with holding(lock_path(project.path)) as process:
        run = start_at_work(project)
        assert is_alive(project.path)
        process.kill()
        until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
        (shown,) = runs(project)
        assert (shown.run, shown.alive, shown.waiting) == (run, False, None)
        assert "its runner has died: resume it" in _words(project)
        acquired(project)
        assert runner_pid(project) == os.getpid()


def test_no_child_of_a_runner_keeps_its_lock(project: Project) -> None:
    lease = acquired(project)
    with subprocess.Popen(["sleep", "600"], close_fds=False) as child:
        forked = os.fork()
        if not forked:
            time.sleep(600)
        try:
            lease.release()
            assert look(project.path)[1] is False
        finally:
            os.kill(forked, signal.SIGKILL)
            os.waitpid(forked, 0)
            child.kill()


def test_a_lock_can_be_acquired_while_others_inspect_it(project: Project) -> None:
    looker = (
        "import sys\nfrom pathlib import Path\nfrom workbench.runs.lease import look\nprint(1, flush=True)\n"
        "while True: look(Path(sys.argv[1]))"
    )
    lock_path(project.path).touch(0o600)
    with subprocess.Popen([sys.executable, "-c", looker, project.path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        acquired(project)
        process.kill()


def test_a_copy_of_an_active_database_has_no_runner(
    project: Project, sleeper: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    start_at_work(project)
    with closing(sqlite3.connect(project.path)) as connection:
        connection.execute(f"VACUUM INTO '{tmp_path / 'copy.db'}'")
    with closing(open_project(tmp_path / "copy.db")) as copied:
        assert not runs(copied)[0].alive
        acquired(copied).end()
    assert runner_pid(project) == sleeper.pid


@pytest.mark.parametrize("text", [b"", b"null", b"[" * 5000, b'{"since":1e300,"cause":"\\u001b]0;x\\u0007"}'])
@pytest.mark.usefixtures("sleeper")
def test_any_bytes_in_a_lock_file_are_reported(project: Project, text: bytes) -> None:
    start_at_work(project)
    lock_path(project.path).write_bytes(text.ljust(1024))
    words = _words(project)
    assert "\x1b" not in words
    assert ("an unknown time" in words) == (b"since" in text)


CLOCKS = {
    "an hour on": {"time": 3600.0},
    "an hour back": {"time": -3600.0},
    "five seconds on": {"time": 5.0},
    "five seconds back": {"time": -5.0},
    "a night asleep": {"time": 9 * 3600.0},
    "stopped for a minute": {"time": 60.0, "monotonic": 60.0},
}
"""What the clocks have done since a runner's last sign of life; the second one stands still with the machine."""


@pytest.mark.few(3)
@pytest.mark.parametrize("what", CLOCKS)
def test_clock_changes_do_not_kill_a_live_runner(
    project: Project, sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    run = start_at_work(project)
    for name, seconds in CLOCKS[what].items():
        clock = getattr(time, name)
        monkeypatch.setattr(time, name, lambda clock=clock, seconds=seconds: clock() + seconds)
    assert Lease.acquire(project.database) is None
    assert runner_pid(project) == sleeper.pid
    (shown,) = runs(project)
    assert (shown.run, shown.state, shown.alive, shown.pid) == (run, "running", True, sleeper.pid)
    quiet = "monotonic" in CLOCKS[what]
    assert bool(shown.waiting) == quiet
    assert "died" not in _words(project)
    if quiet:
        since = f"{datetime.fromtimestamp(time.time() - 60):%H:%M}"
        earlier = f"{datetime.fromtimestamp(time.time() - 120):%H:%M}"
        assert shown.waiting in (f"without a sign of life since {since}", f"without a sign of life since {earlier}")
    ensure_runner(project.database)
    assert pause(project, run).request == "pause"
    assert runner_pid(project) == sleeper.pid


def start_at_work(project: Project) -> int:
    """A run at which the process that holds the lock is at work; returns its number."""
    info = start(project, "exact")
    with project.database.write() as connection:
        assert stored.take_next(connection) is not None
    return info.run


def _words(project: Project) -> str:
    ran = CliRunner().invoke(root, ["runs", str(project.path)])
    assert ran.exit_code == 0
    return ran.output


@pytest.mark.parametrize("kind", ["symlink", "hard link", "pipe", "folder"])
def test_an_invalid_lock_file_is_an_error(project: Project, tmp_path: Path, kind: str) -> None:
    victim, place = tmp_path / "victim", lock_path(project.path)
    victim.write_text("dear")
    {
        "symlink": lambda: place.symlink_to(victim),
        "hard link": lambda: place.hardlink_to(victim),
        "pipe": lambda: os.mkfifo(place),
        "folder": lambda: place.mkdir(),
    }[kind]()
    with pytest.raises(RunError, match=r"p\.db\.runner\.lock can't be locked"):
        Lease.acquire(project.database)
    assert victim.read_text() == "dear"
    assert look(project.path) == (Notice(), True)


def test_a_suspended_runner_keeps_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_suspended_runner(tmp_path, monkeypatch, seconds=0.0)


@pytest.mark.few(2)
@pytest.mark.parametrize("stands_there", [False, True], ids=["moved", "replaced"])
def test_a_moved_file_ends_the_runner_and_its_run_resumes_once_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stands_there: bool
) -> None:
    install_plugin(tmp_path, monkeypatch)
    (tmp_path / "other").mkdir()
    other = make_project(tmp_path / "other", numbered(2))
    other.close()
    with runner_ends(make_project(tmp_path, numbered(300))) as project:
        info = start(project, "slow-apart", workers=2)
        pid = until_writing(project, info.run, 300)
        away = project.path.rename(tmp_path / "away.db")
        if stands_there:
            shutil.copy(other.path, project.path)
        until(lambda: not psutil.pid_exists(pid))
        assert "was moved, deleted or replaced" in log_path(project.path).read_text()
        away.replace(project.path)
        hurry()
        assert not runs(project)[0].alive
        ended = wait(project, start(project, "slow-apart", workers=2).run)
        assert (ended.run, ended.state, ended.done) == (info.run, "complete", 300)


@pytest.mark.few(2)
@pytest.mark.parametrize("put_there", [None, "other.db"], ids=["moved", "replaced"])
def test_an_idle_runner_does_not_wait_for_a_missing_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put_there: str | None
) -> None:
    install_plugin(tmp_path, monkeypatch)
    with runner_ends(make_project(tmp_path, numbered(4))) as project:
        info = start(project, "exact")
        assert wait(project, info.run).state == "complete"
        pid = runner_pid(project)
        assert pid is not None
        away = project.path.rename(tmp_path / "away.db")
        if put_there:
            (tmp_path / put_there).write_bytes(away.read_bytes())
            (tmp_path / put_there).rename(project.path)
        until(lambda: not psutil.pid_exists(pid))
        away.replace(project.path)


def _fail(project: Project, times: int, error: StoreError, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have the next transactions of this project fail when they are committed."""
    left, write = [times], project.database.write

    @contextmanager
    def failing(*args: Any, **named: Any) -> Iterator[Any]:
        with write(*args, **named) as connection:
            yield connection
            if left[0]:
                left[0] -= 1
                raise error

    monkeypatch.setattr(project.database, "write", failing)
    return left


FULL = StoreError("p.db: database or disk is full.", "Make room.", "space")


def test_a_runner_on_a_full_disk_reports_it_and_stores_later(
    project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(leases, "_PAUSE_S", 0.01)
    lease = acquired(project)
    info = start(project, "exact")
    assert lease.store(stored.take_next) is not None
    left, seen, calls = _fail(project, 3, FULL, monkeypatch), [], []

    def work(connection: Any) -> str:
        calls.append(1)
        if len(calls) > 1:
            seen.append(runs(project)[0])
        connection.execute("UPDATE runs SET workers = workers + 1")
        return "stored"

    before = runs(project)[0].workers
    assert lease.store(work) == "stored"
    assert (len(calls), left[0]) == (4, 0)
    for shown in seen:
        assert shown.alive
        assert re.fullmatch(r"waiting for space since \d\d:\d\d", shown.waiting or "")
    (after,) = runs(project)
    assert (after.workers, after.waiting) == (before + 1, None)
    assert re.fullmatch(
        r"nothing could be stored from \S+ to \S+: p.db: database or disk is full.", after.trouble or ""
    )
    messages = [record.message for record in caplog.records if record.name == "workbench.runner"]
    assert len(messages) == 2
    assert messages[0].startswith("nothing can be stored: p.db: database or disk is full.")
    assert messages[1].startswith("stored again; nothing could be stored from ")
    assert after.run == info.run


def test_a_runner_reports_its_current_obstacle(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is replaced by a disk error; a busy database in between is not reported."""
    lease = acquired(project)
    met: list[tuple[Cause, str]] = [("space", "space"), ("disk", "disk"), ("busy", "disk")]
    for cause, shown_cause in met:
        _fail(project, 1, StoreError(f"it is {cause}", cause=cause), monkeypatch)
        with pytest.raises(StoreError), lease.write():
            pass
        notice = look(project.path)[0]
        assert notice.cause == shown_cause
        assert lease.trouble is not None
        assert lease.trouble.error.cause == shown_cause
    lease.store(lambda _: None)
    notice = look(project.path)[0]
    assert notice.since is None


@pytest.mark.parametrize("cause", ["moved", "access", "other"])
def test_a_permanent_error_ends_the_work(project: Project, monkeypatch: pytest.MonkeyPatch, cause: Cause) -> None:
    lease = acquired(project)
    left = _fail(project, 10, StoreError("torn", cause=cause), monkeypatch)
    with pytest.raises(StoreError, match="torn"):
        lease.store(lambda _: None)
    assert left == [9]


def test_an_ending_runner_does_not_wait_for_disk_space(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = acquired(project)
    lease.ending = True
    left = _fail(project, 10, FULL, monkeypatch)
    with pytest.raises(StoreError):
        lease.store(lambda _: None)
    assert left == [9]


def test_an_ending_runner_waits_for_other_writers(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its results are paid for, and the other writer is done in a moment."""
    monkeypatch.setattr(leases, "_PAUSE_S", 0.0)
    lease = acquired(project)
    lease.ending = True
    left = _fail(project, 3, StoreError("locked", cause="busy"), monkeypatch)
    lease.store(lambda _: None)
    assert left == [0]
    monkeypatch.setattr(leases, "_FINAL_WAIT_S", -1.0)
    _fail(project, 3, StoreError("locked", cause="busy"), monkeypatch)
    with pytest.raises(StoreError, match="locked"):
        lease.store(lambda _: None)


def test_a_run_whose_runner_is_dead_can_be_deleted(project: Project) -> None:
    with holding(lock_path(project.path)):
        run = start_at_work(project)
        with pytest.raises(RunError, match="is active"):
            removal(project, run)
    assert removal(project, run).run == run


@pytest.mark.parametrize("replaced", [False, True])
def test_a_runner_whose_lock_was_removed_can_store_nothing(project: Project, *, replaced: bool) -> None:
    lease = acquired(project)
    lock_path(project.path).unlink()
    other = acquired(project) if replaced else None
    with pytest.raises(LeaseLost), lease.write() as connection:
        connection.execute("DELETE FROM completion_text")
    for end in (lease.end, lease.end_if_idle):
        with pytest.raises(LeaseLost):
            end()
    assert project.database.reader().execute("SELECT count(*) FROM completion_text").fetchone() == (4,)
    lease.release()
    assert is_alive(project.path) == replaced
    if other is not None:
        assert other.end_if_idle()


def test_a_runner_has_a_heartbeat_once_a_second(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = acquired(project)
    lock_path(project.path).write_bytes(b"")
    lease.beat()
    assert look(project.path) == (Notice(), True)
    monkeypatch.setattr(leases, "_BEAT_S", 0.0)
    lease.beat()
    assert runner_pid(project) == os.getpid()


def test_a_run_queued_at_the_last_moment_keeps_the_runner(project: Project) -> None:
    lease = acquired(project)
    info = start(project, "exact")
    assert info.state == "queued"
    assert not lease.end_if_idle()
    assert pause(project, info.run).state == "paused"
    assert lease.end_if_idle()
    assert not is_alive(project.path)


def test_a_run_that_waits_for_a_batch_holds_up_no_other(project: Project) -> None:
    lease = acquired(project)
    waiting, other = start(project, "exact"), start(project, "rules")
    with lease.write() as connection:
        batch = batches.begin(connection, waiting.run, "judge", "https://h", "h", "token")
        batches.update(connection, batch, {"look_at": time.time() + 60})
        taken = stored.take_next(connection)
    assert taken is not None
    assert taken.id == other.run
    lease.release()


def test_a_runner_that_ends_leaves_its_run_to_the_next(project: Project) -> None:
    lease = acquired(project)
    info = start(project, "exact")
    with lease.write() as connection:
        taken = stored.take_next(connection)
    assert taken is not None
    assert runs(project)[0].state == "running"
    lease.end()
    assert [run.state for run in runs(project)] == ["queued"]
    assert not is_alive(project.path)
    assert info.run == taken.id


def test_a_run_queued_during_a_claim_has_a_runner_afterwards(project: Project) -> None:
    with runner_ends(project):
        with claim_runner(project.database):
            assert start(project, "exact").state == "queued"
        until(lambda: runs(project)[0].state == "complete")


def test_a_second_runner_process_ends_at_once(project: Project, sleeper: subprocess.Popen[bytes]) -> None:
    subprocess.run([sys.executable, "-m", "workbench.runs.runner", str(project.path)], check=True, timeout=PATIENCE_S)
    assert runner_pid(project) == sleeper.pid


def test_an_idle_runner_ends(project: Project) -> None:
    ensure_runner(project.database)
    pid = runner_pid(project)
    assert pid is not None
    until(lambda: not is_alive(project.path))
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_a_runner_that_cannot_start_shows_the_reason(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # A module of that name comes before the standard library's.
    (tmp_path / "logging.py").write_text("raise SystemExit('no logging today')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RunError, match=r"exit code 1: no logging today"):
        ensure_runner(project.database)
    assert "no logging today" in log_path(project.path).read_text()
