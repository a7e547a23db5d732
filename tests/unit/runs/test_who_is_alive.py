"""Attacks on who is alive: claims and locks that somebody else wrote, copied, hid or replaced."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from msgspec import structs

from tests.background import runner_pid
from tests.helpers import make_project, numbered
from workbench.app.cli import root
from workbench.core import processes
from workbench.core.errors import StoreError
from workbench.core.processes import Process
from workbench.core.project import Project, open_project
from workbench.data.store import importing
from workbench.runs import lease as leases
from workbench.runs import run_status
from workbench.runs.lease import Lease, LeaseLost
from workbench.runs.liveness import Lock, Notice, is_alive, is_gone, lock_path, look
from workbench.runs.store import runs as stored
from workbench.runs.store.runs import LeaseRow
from workbench.runs.verifying import pause, runs, start


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path, numbered(4))
    yield made
    made.close()


@pytest.fixture
def sleeper() -> Iterator[Process]:
    """Some other process that lives."""
    with subprocess.Popen(["sleep", "600"]) as process:
        began = processes.started(process.pid)
        assert began is not None
        yield structs.replace(processes.this_process(), pid=process.pid, started=began)
        process.kill()


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "DEAD_AFTER_S", 0.1)
    monkeypatch.setattr(leases, "_PAUSE_S", 0.02)


def put(path: Path, process: Process, heartbeat: float | None = None, beat: float | None = None) -> LeaseRow:
    row = LeaseRow.of(process)
    row = structs.replace(row, heartbeat=row.heartbeat if heartbeat is None else heartbeat, beat=beat or row.beat)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT OR REPLACE INTO runner (id, pid, pid_started, heartbeat, process, beat) VALUES (1, ?, 0, ?, ?, ?)",
            (process.pid, row.heartbeat, process.encode(), row.beat),
        )
    return row


def working(project: Project, process: Process) -> int:
    """A run at which a process is at work."""
    put(project.path, process)
    info = start(project, "exact")
    with project.database.write() as connection:
        assert stored.take_next(connection) is not None
    return info.run


AWAY = {"boot": "b", "machine": "m"}
NUMBERS = [0, -1, -(2**31), 1, 2**31, 2**63 - 1]
TIMES = [1e300, -1e300, float("inf"), -62135596801.0, 253402300800.0, 0.0, 4294967296.0]


@pytest.mark.parametrize("heartbeat", TIMES)
def test_a_claim_of_any_time_is_told_in_words(project: Project, sleeper: Process, heartbeat: float) -> None:
    working(project, sleeper)
    put(project.path, structs.replace(sleeper, **AWAY), heartbeat, heartbeat)
    for words in (["runs"], ["status"], ["runs", "--json"]):
        ran = CliRunner().invoke(root, [words[0], str(project.path), *words[1:]])
        assert ran.exit_code == 0, ran.output
        assert "died" not in ran.output
    lease = Lease.acquire(project.database)
    assert lease is not None
    lease.end()


@pytest.mark.parametrize("number", NUMBERS)
def test_a_claim_of_any_number_is_a_dead_one(project: Project, number: int) -> None:
    forged = structs.replace(processes.this_process(), pid=number)
    row = put(project.path, forged)
    assert is_gone(row, project.path)
    assert processes.life_of(structs.replace(forged, started=0)) == ("lives" if number == 1 else "gone")


@pytest.mark.parametrize("text", ["", "[]", "null", "[1]", '["1",2,"","",""]', "[1,2,3,4,5]", "[" * 5000, '{"pid":1}'])
def test_a_claim_that_is_none_is_ignored(project: Project, text: str) -> None:
    with closing(sqlite3.connect(project.path)) as connection, connection:
        connection.execute("INSERT INTO runner VALUES (1, 1, 0, 0, ?, NULL)", (text,))
    assert stored.lease(project.database.reader()) is None
    lease = Lease.acquire(project.database)
    assert lease is not None
    lease.end()


def test_a_process_that_other_users_may_not_see_is_not_gone(
    project: Project, sleeper: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``hidepid``: another user's process has no place in /proc."""
    row = put(project.path, sleeper)
    with monkeypatch.context() as hidden:
        hidden.setattr(processes, "PROC", _hiding(project.path.parent, hidden))
        hidden.setattr(os, "kill", _forbidden)
        assert processes.life_of(sleeper) == "elsewhere"
        assert is_alive(row, project.path)
        assert not is_gone(structs.replace(row, heartbeat=0.0), project.path)


def _forbidden(_pid: int, _number: int) -> None:
    raise PermissionError(1, "Operation not permitted")


def _hiding(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A /proc in which other processes don't stand."""
    proc = folder / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "self/stat").touch()
    there = processes.spaces()
    monkeypatch.setattr(processes, "spaces", lambda: there)
    return proc


def test_who_has_no_file_left_to_open_calls_nobody_dead(project: Project, sleeper: Process) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    row, opened = put(project.path, sleeper), []
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 256), hard))
    try:
        with suppress(OSError):
            while True:
                opened.append(os.open("/dev/null", os.O_RDONLY))
        lives, alive, gone = processes.life_of(sleeper), is_alive(row, project.path), is_gone(row, project.path)
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (lives, alive, gone) == ("elsewhere", True, False)
    assert processes.life_of(sleeper) == "lives"


FORGETFUL = """
import os, resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
from workbench.core import processes
import platform; platform.node()
resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
assert processes.boot_id() == "", "boot"
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
first = processes.this_process()
assert first.boot and first.started and processes.life_of(first) == "lives", first
"""


def test_what_could_not_be_seen_once_is_looked_at_again() -> None:
    subprocess.run([sys.executable, "-c", FORGETFUL], check=True)


def test_a_process_whose_start_was_not_seen_lives_as_long_as_its_number(sleeper: Process) -> None:
    assert processes.life_of(structs.replace(sleeper, started=0)) == "lives"
    assert processes.life_of(structs.replace(sleeper, pid=2**22 + 1, started=0)) == "gone"


COPIES: dict[str, Callable[[Path, Path], object]] = {
    "cp": shutil.copy2,
    "VACUUM INTO": lambda path, copy: _run_sql(path, f"VACUUM INTO '{copy}'"),
    "workbench backup": lambda path, copy: CliRunner().invoke(root, ["backup", str(path), str(copy)]),
}


def _run_sql(path: Path, text: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(text)


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("locks", [True, False])
def test_the_runner_of_a_database_is_none_of_its_copies(
    tmp_path: Path, sleeper: Process, how: str, locks: bool
) -> None:
    with closing(make_project(tmp_path, numbered(4))) as project:
        process = structs.replace(sleeper, file=processes.file_id(project.path))
        working(project, process)
        # It stands still: a copy of what shows life is left alone for ten seconds.
        put(project.path, process, heartbeat=processes.wall_clock() - 20)
        lock = Lock.take(project.path, process) if locks else None
        path = project.path
        assert runner_pid(project) == sleeper.pid
    copy = tmp_path / "copy.db"
    COPIES[how](path, copy)
    with closing(open_project(copy)) as copied, closing(open_project(path)) as again:
        assert runner_pid(again) == sleeper.pid
        assert Lease.acquire(again.database) is None
        lease = Lease.acquire(copied.database)
        assert lease is not None
        lease.end()
    if lock is not None:
        lock.release()


def test_the_process_that_imports_into_a_database_imports_into_none_of_its_copies(
    tmp_path: Path, sleeper: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "_QUIET_SECONDS", 0.1)
    with closing(make_project(tmp_path, numbered(4))) as project:
        process = structs.replace(sleeper, file=processes.file_id(project.path))
        path = project.path
    _run_sql(path, "INSERT INTO datasets (id, name, created_at) VALUES (9, 'half', '2026-01-01T00:00:00Z')")
    values = f"9, 'f', 'tuples', '', 'running', 999, 999, {process.pid}, '2026-01-01T00:00:00Z', '{process.encode()}'"
    columns = "dataset_id, path, format, mapping, state, first_completion_id, first_question_id, pid, started_at"
    _run_sql(path, f"INSERT INTO imports ({columns}, process) VALUES ({values})")
    shutil.copy2(path, tmp_path / "copy.db")
    with closing(open_project(path)) as project, pytest.raises(StoreError, match="another import is running"):
        importing.discard_dead_imports(project.database)
    with closing(open_project(tmp_path / "copy.db")) as copied:
        assert importing.discard_dead_imports(copied.database) == 1


def test_a_database_put_in_place_of_the_one_that_a_runner_waits_for_gets_no_second_one(
    tmp_path: Path, sleeper: Process
) -> None:
    with closing(make_project(tmp_path, numbered(4))) as project:
        process = structs.replace(sleeper, file=processes.file_id(project.path))
        working(project, process)
        path = project.path
    lock = Lock.take(path, process)
    assert lock is not None
    shutil.copy2(path, tmp_path / "copy.db")
    (tmp_path / "copy.db").replace(path)
    with closing(open_project(path)) as project:
        assert Lease.acquire(project.database) is None
    lock.release()


def test_a_container_that_moved_to_another_machine_under_its_name_still_holds_its_lock(
    project: Project, sleeper: Process
) -> None:
    other = structs.replace(sleeper, boot="another node's boot", spaces="pid:[1]")
    row = put(project.path, other, heartbeat=0.0)
    assert is_gone(row, project.path)
    lock = Lock.take(project.path, other)
    assert lock is not None
    assert is_alive(row, project.path)
    assert Lease.acquire(project.database) is None
    lock.release()
    assert is_gone(row, project.path)


@pytest.mark.parametrize("what", ["deleted", "replaced", "emptied", "another's words", "no locks"])
def test_what_becomes_of_a_lock_makes_no_second_runner_here(
    project: Project, sleeper: Process, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = structs.replace(sleeper, file=processes.file_id(project.path))
    run = working(project, process)
    lock, place = Lock.take(project.path, process), lock_path(project.path)
    assert lock is not None
    words = Notice(structs.replace(process, pid=1), 1e300, "\x1b]0;x\x07" * 40)
    if what == "no locks":
        monkeypatch.setattr("fcntl.flock", _no_locks)
    elif what == "emptied":
        os.truncate(place, 0)
    elif what == "another's words":
        place.write_bytes(msgspec.json.encode(words).ljust(1024))
    else:
        place.unlink()
        if what == "replaced":
            other = Lock.take(project.path, words.process)
            assert other is not None
            other.say(words)
    assert Lease.acquire(project.database) is None
    (shown,) = runs(project)
    assert (shown.run, shown.alive, shown.pid) == (run, True, sleeper.pid)
    assert shown.waiting is None
    lock.release()


def _no_locks(_handle: int, _kind: int) -> None:
    raise OSError(37, "No locks available")


def test_words_on_a_lock_are_told_whatever_they_hold(project: Project, sleeper: Process) -> None:
    working(project, sleeper)
    notice = Notice(sleeper, 1e300, "\x1b[2J")
    lock_path(project.path).write_bytes(msgspec.json.encode(notice).ljust(1024))
    lock_path(project.path).chmod(0o600)
    ran = CliRunner().invoke(root, ["runs", str(project.path)])
    assert ran.exit_code == 0
    assert "\x1b" not in ran.output
    assert "an unknown time" in ran.output


def test_a_lock_that_everybody_looks_at_can_be_taken(project: Project) -> None:
    looker = (
        "import sys\nfrom pathlib import Path\nfrom workbench.runs.liveness import look\nprint(1, flush=True)\n"
        "while True: look(Path(sys.argv[1]))"
    )
    put(project.path, structs.replace(processes.this_process(), pid=2**22 + 1))
    lock_path(project.path).touch(0o600)
    with subprocess.Popen([sys.executable, "-c", looker, project.path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        taken = Lock.take(project.path, processes.this_process())
        process.kill()
    assert taken is not None
    taken.release()


def test_no_child_of_a_runner_inherits_its_lock(project: Project) -> None:
    lock = Lock.take(project.path, processes.this_process())
    assert lock is not None
    with subprocess.Popen(["sleep", "600"], close_fds=False) as child:
        lock.release()
        assert look(project.path)[1] is False
        child.kill()


@contextmanager
def elsewhere() -> Iterator[subprocess.Popen[bytes]]:
    """A process in a namespace of its own, with the machine's /proc; skips where that is not allowed."""
    words = ["unshare", "--pid", "--fork", "--kill-child"]
    if shutil.which("unshare") is None or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("namespaces can't be made here")
    code = (
        "import sys\nfrom workbench.core.processes import this_process, life_of\nus = this_process()\n"
        "print(us.encode(), life_of(us), flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [*words, sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield process
        process.kill()


def test_two_namespaces_that_look_into_one_proc_are_not_taken_for_each_other(project: Project) -> None:
    with elsewhere() as first, elsewhere() as second:
        outputs = [of.stdout for of in (first, second) if of.stdout]
        (one, _, own), (other, _, _) = (of.readline().rpartition(b" ") for of in outputs)
        assert own == b"lives\n"
        assert one != other
        a = processes.parse_process(one.decode())
        assert a is not None
        assert a.pid == 1
        assert processes.life_of(a) == "elsewhere"
        assert not is_gone(LeaseRow.of(a), project.path)


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "nonsense"])
def test_a_change_of_the_time_zone_changes_nobodys_life(
    project: Project, sleeper: Process, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    working(project, sleeper)
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        (shown,) = runs(project)
        assert (shown.alive, shown.waiting) == (True, None)
        assert Lease.acquire(project.database) is None
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("mtime", [0, 2**33, -(2**31)])
def test_the_times_of_files_tell_nobodys_life(project: Project, sleeper: Process, mtime: int) -> None:
    """The clock of the file system is another than the machine's."""
    lock = Lock.take(project.path, sleeper)
    assert lock is not None
    run = working(project, structs.replace(sleeper, file=processes.file_id(project.path)))
    for path in (project.path, lock_path(project.path)):
        os.utime(path, (mtime, mtime))
    assert Lease.acquire(project.database) is None
    assert [(shown.run, shown.alive) for shown in runs(project)] == [(run, True)]
    lock.release()


@pytest.mark.parametrize("shift", [3600.0, -3600.0, 5.0])
def test_a_runner_elsewhere_whose_clock_is_wrong_finds_that_its_run_was_taken_away(
    project: Project, shift: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can't be seen, and so is asked nothing: whatever is decided without it, it stores nothing afterwards."""
    lease = Lease.acquire(project.database)
    assert lease is not None
    info = start(project, "exact")
    assert lease.store(stored.take_next) is not None
    lease.release()
    away = structs.replace(processes.this_process(), **AWAY)
    put(project.path, away, heartbeat=processes.wall_clock() + shift)
    lease._row = LeaseRow.of(away)
    if abs(shift) < 10:
        assert pause(project, info.run).request == "pause"
        with pytest.raises(Exception, match="is active"):
            run_status.delete(project, info.run)
        return
    run_status.delete(project, info.run)
    with pytest.raises(LeaseLost), lease.write():
        pass
    assert runs(project) == []


def test_a_process_that_took_a_number_and_a_start_after_a_reboot_is_another(
    project: Project, sleeper: Process, tmp_path: Path
) -> None:
    """Same number, same ticks, same machine, another boot."""
    before = structs.replace(sleeper, boot="the boot before")
    assert is_gone(put(project.path, before), project.path)
    lease = Lease.acquire(project.database)
    assert lease is not None
    lease.end()
    assert before.in_name != sleeper.in_name


def test_a_runner_that_is_stopped_while_its_lease_is_stolen_stores_nothing(project: Project, sleeper: Process) -> None:
    lease = Lease.acquire(project.database)
    assert lease is not None
    os.kill(sleeper.pid, signal.SIGSTOP)
    thief = put(project.path, sleeper)
    with pytest.raises(LeaseLost), lease.write():
        pass
    assert is_alive(thief, project.path)
    lease.release()
    assert Lease.acquire(project.database) is None
