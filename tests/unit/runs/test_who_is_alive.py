"""Which process is alive, whatever hides it or has its number."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from msgspec import structs

from tests.helpers import make_project, numbered
from workbench.core import processes
from workbench.core.errors import StoreError
from workbench.core.processes import Process
from workbench.core.project import open_project
from workbench.data.store import importing


@pytest.fixture
def sleeper() -> Iterator[Process]:
    """Some other process that lives."""
    with subprocess.Popen(["sleep", "600"]) as process:
        began = processes.started(process.pid)
        assert began is not None
        yield structs.replace(processes.this_process(), pid=process.pid, started=began)
        process.kill()


NUMBERS = [0, -1, -(2**31), 1, 2**31, 2**63 - 1]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_process_of_any_number_is_a_dead_one(number: int) -> None:
    forged = structs.replace(processes.this_process(), pid=number)
    assert processes.life_of(forged) == "gone"
    assert processes.life_of(structs.replace(forged, started=0)) == ("lives" if number == 1 else "gone")


def test_a_process_that_other_users_may_not_see_is_not_gone(
    sleeper: Process, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """``hidepid``: another user's process has no place in /proc."""
    with monkeypatch.context() as hidden:
        hidden.setattr(processes, "PROC", _hiding(tmp_path, hidden))
        hidden.setattr(os, "kill", _forbidden)
        assert processes.life_of(sleeper) == "elsewhere"


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


def test_who_has_no_file_left_to_open_calls_nobody_dead(sleeper: Process) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 256), hard))
    try:
        with suppress(OSError):
            while True:
                opened.append(os.open("/dev/null", os.O_RDONLY))
        lives = processes.life_of(sleeper)
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert lives == "elsewhere"
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


def _run_sql(path: Path, text: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(text)


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


def test_two_namespaces_that_look_into_one_proc_are_not_taken_for_each_other() -> None:
    with elsewhere() as first, elsewhere() as second:
        outputs = [of.stdout for of in (first, second) if of.stdout]
        (one, _, own), (other, _, _) = (of.readline().rpartition(b" ") for of in outputs)
        assert own == b"lives\n"
        assert one != other
        a = processes.parse_process(one.decode())
        assert a is not None
        assert a.pid == 1
        assert processes.life_of(a) == "elsewhere"


def test_a_process_that_took_a_number_and_a_start_after_a_reboot_is_another(
    sleeper: Process,
) -> None:
    """Same number, same ticks, same machine, another boot."""
    before = structs.replace(sleeper, boot="the boot before")
    assert processes.life_of(before) == "gone"
    assert before.in_name != sleeper.in_name
