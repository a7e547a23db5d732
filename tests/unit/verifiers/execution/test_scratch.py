"""The scratch folder of solutions: private, limited in size, empty for each process, and at L3 only."""

from __future__ import annotations

import ast
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.unit.verifiers.execution.conftest import missing, one
from workbench.core.code import CodeTest, Execution, Level, Program
from workbench.core.errors import RunError, VerifierError
from workbench.verifiers.execution import levels
from workbench.verifiers.execution.attacks.attack import SCRATCH_BYTES, AttackResult, corpus
from workbench.verifiers.execution.attacks.watching import UnusableLevelError, run_attacks
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.settings import PoolSettings

MEGABYTES = 2
SETTINGS = PoolSettings(scratch_bytes=MEGABYTES << 20)
OPEN_BY_DESIGN = {"disk-fill", "inode-storm", "standard-library"}
"""Attacks on a level that a folder lets through: they write a few megabytes, or a file, wherever they can."""


@pytest.fixture(scope="module")
def pool() -> Iterator[SandboxPool]:
    if why := missing("L3"):
        pytest.skip(why)
    with SandboxPool("L3", 1, settings=SETTINGS) as made:
        yield made


def run_tests(pool: SandboxPool, source: str, *tests: str) -> Execution:
    return one(pool, Program(source=source, tests=tuple(CodeTest(form="expression", source=test) for test in tests)))


USES = {
    "the working folder": ("import os", "os.getcwd()", "/tmp"),
    "the folder for temporary files": ("import tempfile", "tempfile.gettempdir()", "/tmp"),
    "home": ("import os", "os.path.expanduser('~')", "/tmp"),
    "a file": ("def use():\n    open('a', 'w').write('one')\n    return open('/tmp/a').read()", "use()", "one"),
    "a temporary file": (
        "import tempfile\ndef use():\n    with tempfile.NamedTemporaryFile('w+') as file:\n"
        "        file.write('one')\n        file.seek(0)\n        return file.read()",
        "use()",
        "one",
    ),
    "folders moved, copied and removed": (
        "import os, shutil, tempfile\ndef use():\n    os.makedirs('a/b')\n    open('a/b/c', 'w').close()\n"
        "    shutil.copytree('a', 'd')\n    shutil.copy2('a/b/c', 'e')\n    shutil.move('d/b', 'f')\n"
        "    shutil.rmtree('a')\n    with tempfile.TemporaryDirectory() as folder:\n        os.chdir(folder)\n"
        "    os.chdir('/tmp')\n    return sorted(os.path.join(top, name)[2:] for top, folders, files in os.walk('.')"
        " for name in folders + files)",
        "use()",
        ["d", "e", "f", "f/c"],
    ),
    "a database": (
        "import sqlite3\ndef use():\n    for turn in range(2):\n        with sqlite3.connect('own.db') as own:\n"
        "            own.execute('CREATE TABLE IF NOT EXISTS t (n)')\n"
        "            own.execute('INSERT INTO t VALUES (1)')\n"
        "    return own.execute('SELECT count(*) FROM t').fetchone()[0]",
        "use()",
        2,
    ),
    "an archive": (
        "import os, tarfile, zipfile\ndef use():\n    open('a', 'w').write('one')\n"
        "    with zipfile.ZipFile('a.zip', 'w') as archive:\n        archive.write('a')\n"
        "    with tarfile.open('a.tar', 'w') as archive:\n        archive.add('a.zip')\n"
        "    tarfile.open('a.tar').extractall('out')\n    return zipfile.ZipFile('out/a.zip').read('a').decode()",
        "use()",
        "one",
    ),
    "a log": (
        "import logging\ndef use():\n    logging.basicConfig(filename='own.log', force=True)\n"
        "    logging.error('one')\n    return open('own.log').read()",
        "use()",
        "ERROR:root:one\n",
    ),
}


@pytest.mark.parametrize("use", USES)
def test_programs_can_use_files(pool: SandboxPool, use: str) -> None:
    source, call, wanted = USES[use]
    source += f"\ndef f():\n    return {call}\n"
    execution = run_tests(pool, source, f"assert f() == {wanted!r}")
    assert (execution.outcomes, execution.failures) == ("p", ())


def test_a_package_can_map_files(pool: SandboxPool) -> None:
    source = (
        "import numpy as np\ndef f():\n    held = np.memmap('own.bin', dtype='int32', mode='w+', shape=(3,))\n"
        "    held[:] = 1\n    held.flush()\n    np.save('own.npy', held)\n    return int(np.load('own.npy').sum())\n"
    )
    settings = PoolSettings(scratch_bytes=1 << 20, python=sys.executable, memory_bytes=4 << 30)
    with SandboxPool("L3", 1, settings=settings) as packaged:
        tests = (CodeTest(form="expression", source="assert f() == 3"),)
        execution = one(packaged, Program(source=source, tests=tests, seconds=30))
    assert (execution.outcomes, execution.failures) == ("p", ())


FULL = """
import os
def size():
    written = 0
    try:
        with open('full', 'wb', buffering=0) as file:
            while True:
                written += file.write(bytes(4096))
    except OSError as error:
        return written, error.errno
def files():
    made = 0
    try:
        while True:
            open(str(made), 'w').close()
            made += 1
    except OSError as error:
        return made, error.errno
def listed():
    return os.listdir('.')
"""


def test_the_kernel_limits_size_and_number_of_files(pool: SandboxPool) -> None:
    """28 is ENOSPC, 27 EFBIG: a file cannot be larger than the folder. The folder itself counts as a file."""
    (full,) = run_tests(pool, FULL, "assert size() == 0").failures
    assert full.got in (f"({MEGABYTES << 20}, 27)", f"({MEGABYTES << 20}, 28)")
    (full,) = run_tests(pool, FULL, "assert files() == 0").failures
    assert full.got == f"({(MEGABYTES << 20) // 4096 - 1}, 28)"


def test_each_process_finds_an_empty_folder(pool: SandboxPool) -> None:
    for _ in range(2):
        assert run_tests(pool, FULL, "assert listed() == []", "assert files() == None").outcomes == "pf"
    leaves = "import os\ndef f(x):\n    found = os.listdir('/tmp')\n    open('left', 'w').close()\n    return found\n"
    tests = (
        CodeTest(form="expression", source="assert f(1) == []"),
        CodeTest(form="expression", source="assert f(2) == ['left']"),
        CodeTest(form="statement", source="if f(1): raise KeyError"),
        CodeTest(form="statement", source="if not f(1): raise KeyError"),
        CodeTest(form="program", source="assert not f(1)"),
        CodeTest(form="program", source="assert not f(1)"),
    )
    program = Program(source=leaves, tests=tests, entry_point="f")
    assert one(pool, program).outcomes == "pppppp", "tests of a process share what it writes, as all else"
    apart = PoolSettings(scratch_bytes=1 << 20, fresh_per_test=True)
    with SandboxPool("L3", 1, settings=apart) as fresh:
        assert one(fresh, program).outcomes == "pfpepp"


def test_a_program_after_a_timeout_gets_an_empty_folder(pool: SandboxPool) -> None:
    source = "import os, time\ndef f(x):\n    found = os.listdir('.')\n    open('left', 'w').close()\n"
    source += "    time.sleep(60 * x)\n    return found\n"
    tests = tuple(CodeTest(form="expression", source=f"assert f({x}) == []") for x in (1, 0))
    assert one(pool, Program(source=source, tests=tests, seconds=0.05)).outcomes == "tp"


def test_written_files_count_as_memory(pool: SandboxPool) -> None:
    source = "import mmap\ndef f(size):\n    return len(mmap.mmap(-1, size))\n"
    half = 1 << 29
    with SandboxPool("L3", 1, settings=PoolSettings(scratch_bytes=half)) as halved:
        assert run_tests(halved, source, f"assert f({half}) == {half}").outcomes == "e"
    assert run_tests(pool, source, f"assert f({half}) == {half}").outcomes == "p"


def test_without_a_folder_nothing_can_be_written() -> None:
    if why := missing("L3"):
        pytest.skip(why)
    with SandboxPool("L3", 1) as closed:
        found = run_tests(
            closed, FULL, "assert files() == (0, 13)", "assert files() == (0, 30)", "assert files() == (0, 2)"
        )
    assert "p" in found.outcomes


@pytest.mark.parametrize("level", ["L1", "L2"])
def test_levels_below_l3_have_no_folder(level: Level) -> None:
    with pytest.raises(VerifierError, match=f"Only isolation L3 has a scratch folder, not {level}"):
        SandboxPool(level, 1, settings=SETTINGS)


def test_a_box_is_used_once(pool: SandboxPool) -> None:
    """The files of a solution disappear with their namespace, so nothing has to be cleaned up."""
    run_tests(pool, FULL, "assert size() == 0")
    before = pool.pids
    run_tests(pool, FULL, "assert size() == 0")
    assert not set(before) & set(pool.pids)


def test_interrupts_and_dead_servers_leave_no_files(pool: SandboxPool) -> None:
    hangs = Program(
        source="import time\nopen('left', 'w').close()\ntime.sleep(100)\n",
        tests=(CodeTest(form="expression", source="assert f() == 1"),),
        seconds=100,
    )

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(pool.run([(0, hangs)], interrupt))
    assert run_tests(pool, FULL, "assert listed() == []").outcomes == "p"

    def end_server() -> None:
        if pool._slots[0]._running:
            os.kill(pool.pids[0], signal.SIGKILL)

    ((_, lost),) = pool.run([(0, hangs)], end_server)
    assert (lost.outcomes, lost.harness_killed) == ("n", True)
    assert run_tests(pool, FULL, "assert listed() == []").outcomes == "p"


def test_attacks_on_the_folder_are_held() -> None:
    try:
        results = levels.check_level("L3", scratch=True)
    except UnusableLevelError as error:
        pytest.skip(str(error))
    assert [result.name for result in results] == [attack.name for attack in corpus(scratch=True)]
    assert {result.name: result.wrong for result in results if not result.held} == {}


@pytest.mark.soak
def test_attacks_on_the_level_are_held_with_a_folder() -> None:
    attacks = [attack for attack in corpus() if attack.language == "python"]
    results = run_attacks("L3", attacks, scratch=SCRATCH_BYTES)
    assert {result.name for result in results if not result.held} == OPEN_BY_DESIGN


def test_attacks_on_the_folder_are_python_with_unique_names() -> None:
    assert len(corpus(scratch=True)) >= 10
    for attack in corpus(scratch=True):
        ast.parse(attack.program)
        assert attack.levels == ("L3",)
    assert not {attack.name for attack in corpus()} & {attack.name for attack in corpus(scratch=True)}


@dataclass
class Attacked:
    """Count the attacks on a folder and report whether it holds."""

    times: int = 0
    holds: bool = True

    def __call__(self, level: str, *, first_use: bool = False, scratch: bool = False) -> list[AttackResult]:
        self.times += 1
        return [AttackResult(name="scratch-fill", level="L3", wrong=() if self.holds else ("passed",))]


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attacked:
    found = Attacked()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe=False: "L3")
    monkeypatch.setattr(levels, "check_level", found)
    return found


def test_a_folder_is_attacked_once_before_its_first_use(held: Attacked) -> None:
    assert [levels.level_of("best", allow_unsafe=False, scratch=True) for _ in range(3)] == ["L3"] * 3
    assert held.times == 1
    levels.level_of("best", allow_unsafe=False)
    assert levels.survey_scratch().holds
    assert held.times == 2


def test_a_folder_that_fails_an_attack_is_rejected(held: Attacked) -> None:
    held.holds = False
    for _ in range(2):
        with pytest.raises(RunError, match="scratch folder can't be isolated"):
            levels.level_of("best", allow_unsafe=False, scratch=True)
    assert held.times == 4, "each time at the second try"
    assert levels.level_of("best", allow_unsafe=False) == "L3"


def test_a_lower_level_is_rejected_by_name(held: Attacked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe=False: "L2")
    with pytest.raises(VerifierError, match="Only isolation L3 has a scratch folder, not L2"):
        levels.level_of("best", allow_unsafe=False, scratch=True)
    assert held.times == 0


def test_a_folder_that_cannot_be_limited_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the kernel refuses to limit the files, there is no folder rather than an unlimited one."""
    if why := missing("L3"):
        pytest.skip(why)
    monkeypatch.setattr("workbench.verifiers.execution.box.SCRATCH_RIGHT", ())
    with SandboxPool("L3", 1, settings=SETTINGS) as pool, pytest.raises(VerifierError, match="not permitted"):
        run_tests(pool, FULL, "assert listed() == []")
