"""The sandbox pool: order, deaths, external deadlines, and no surviving processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator

import psutil
import pytest

from tests.background import until
from tests.unit.verifiers.execution.conftest import one
from workbench.core.code import CodeTest, Level, Program
from workbench.core.code_tests.assertion import form_of
from workbench.core.errors import VerifierError
from workbench.verifiers.execution import box
from workbench.verifiers.execution.case import SolutionProgress
from workbench.verifiers.execution.inside.server import AHEAD
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.settings import DEFAULTS, PoolSettings

ONE = CodeTest(form="expression", source="assert 1 == 1")
HANGS = Program(source="import time\ntime.sleep(100)\n", tests=(ONE,), seconds=0.05)
ENDLESS = Program(source=HANGS.source, tests=(ONE, ONE), seconds=100)
LEAVES_A_PROCESS = """
import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        time.sleep(1000)
    os._exit(0)
"""


def asking(*sources: str) -> tuple[CodeTest, ...]:
    return tuple(CodeTest(form="expression", source=source) for source in sources)


def is_active(process: psutil.Process) -> bool:
    """Return whether a process is still active; a zombie is not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def within(pool: SandboxPool) -> list[psutil.Process]:
    """The pool's processes and all that came of them."""
    servers = [psutil.Process(pid) for pid in pool.pids]
    return servers + [process for server in servers for process in server.children(recursive=True)]


def numbered(count: int) -> list[tuple[int, Program]]:
    """Programs of different results and lengths."""
    source = "def f(x):\n    return sorted({str(n) for n in range(x)})\n"
    return [
        (n, Program(source=source, tests=asking(f"assert f({n}) == {[*map(str, range(n))]}"))) for n in range(count)
    ]


def test_results_do_not_depend_on_the_number_of_workers(level: Level) -> None:
    found = []
    for workers, times in ((1, 1), (2, 2)):
        with SandboxPool(level, workers) as pool:
            found += [dict(pool.run(numbered(13))) for _ in range(times)]
    letters = [{key: execution.outcomes for key, execution in one.items()} for one in found]
    assert letters[0] == letters[1] == letters[2]
    # Strings of one digit are in order when sorted, longer ones aren't.
    assert [letters[0][n] for n in range(13)] == ["p"] * 11 + ["f"] * 2


def test_jobs_are_pulled_as_sandboxes_become_free() -> None:
    taken = []

    def jobs() -> Iterator[tuple[int, Program]]:
        for key, program in numbered(20):
            taken.append(key)
            yield key, program

    with SandboxPool("L1", 2) as pool:
        running = pool.run(jobs())
        assert taken == []
        next(running)
        assert len(taken) <= 4
        running.close()
        assert [key for key, _ in pool.run(numbered(3))] != []


def test_waiting_can_be_interrupted() -> None:
    calls = []
    with SandboxPool("L1", 1) as pool:
        list(pool.run([(0, HANGS)], lambda: calls.append(time.monotonic())))
    assert len(calls) >= 2


def test_waiting_can_be_cancelled(level: Level) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with SandboxPool(level, 1) as pool:
        with pytest.raises(KeyboardInterrupt):
            list(pool.run([(0, HANGS)], interrupt))
        assert one(pool, numbered(2)[1][1]).outcomes == "p"


def test_no_process_survives_close(level: Level) -> None:
    processes: list[psutil.Process] = []

    def close() -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            processes[:] = within(pool)
        if len(processes) >= 6:
            pool.close()
            raise KeyboardInterrupt

    pool = SandboxPool(level, 2)
    with pytest.raises(KeyboardInterrupt):
        list(pool.run([(0, ENDLESS), (1, ENDLESS)], close))
    assert not [process for process in processes if is_active(process)]
    assert pool.pids == []


def test_an_abandoned_loop_starts_nothing_after_close(monkeypatch: pytest.MonkeyPatch) -> None:
    with SandboxPool("L1", 1) as pool:
        running = pool.run([(0, numbered(2)[1][1]), (1, ENDLESS)])
        next(running)
    assert isinstance(running, Generator)
    started: list[object] = []
    monkeypatch.setattr(box, "ServerProcess", lambda *given: started.append(given))
    running.close()
    assert started == []


def test_an_unresponsive_server_is_killed(level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box, "_STOP_S", 0.1)
    pool = SandboxPool(level, 1)
    assert one(pool, numbered(2)[1][1]).outcomes == "p"
    processes = within(pool)
    psutil.Process(pool.pids[0]).suspend()
    pool.close()
    until(lambda: not any(map(is_active, processes)))


OWNER = """
import psutil
import sys
from tests.unit.verifiers.execution.test_pool import ENDLESS, within
from workbench.verifiers.execution.inside.server import AHEAD
from workbench.verifiers.execution.pool import SandboxPool

pool = SandboxPool(sys.argv[1], 2)
said = False

def tell():
    global said
    try:
        pids = [process.pid for process in within(pool)]
    except psutil.NoSuchProcess:
        return
    if not said and len(pids) >= 6:
        said = True
        print(*pids, flush=True)

for _ in pool.run([(0, ENDLESS), (1, ENDLESS)], tell):
    pass
"""


@pytest.mark.few(2)
def test_no_process_survives_a_killed_owner(level: Level) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER, level], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        try:
            processes = [psutil.Process(int(pid)) for pid in owner.stdout.readline().split()]
        finally:
            owner.kill()
        assert len(processes) >= 6
        until(lambda: not any(map(is_active, processes)))


def test_a_server_that_dies_is_replaced(level: Level) -> None:
    with SandboxPool(level, 1) as pool:
        assert one(pool, numbered(2)[1][1]).outcomes == "p"
        (server,) = pool.pids

        since = time.monotonic()

        def kill() -> None:
            nonlocal since
            # Should it not have come to the solution by now, it will the next time.
            if time.monotonic() > since + 0.3:
                since = time.monotonic()
                os.kill(pool.pids[0], signal.SIGKILL)

        ((_, lost),) = pool.run([(0, ENDLESS)], kill)
        assert (lost.outcomes, lost.harness_killed, lost.forgeable) == ("nn", True, 0)
        assert pool.pids != [server]
        assert not psutil.pid_exists(server)
        assert [execution.outcomes for _, execution in pool.run(numbered(3))] == ["p"] * 3


def test_a_server_that_dies_idle_loses_no_solution(level: Level) -> None:
    with SandboxPool(level, 1) as pool:
        assert one(pool, numbered(2)[1][1]).outcomes == "p"
        until(lambda: len(within(pool)) == 1 + AHEAD)
        server, *others = within(pool)
        server.kill()
        # Those it has made ready die with it, a moment later; a solution given to one of them in between is lost.
        until(lambda: not any(map(is_active, [server, *others])))
        after = one(pool, numbered(2)[1][1])
        assert (after.outcomes, after.harness_killed) == ("p", False)


def test_leftover_processes_are_killed_before_the_next_program() -> None:
    with SandboxPool("L1", 1) as pool:
        source = LEAVES_A_PROCESS
        assert one(pool, Program(source=source, tests=asking("assert 1 == 1"))).outcomes == "p"
        assert one(pool, numbered(2)[1][1]).outcomes == "p"
        until(lambda: len(within(pool)) == 1 + AHEAD)


def test_a_server_that_never_starts_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box, "_BOOT", "import sys; sys.exit('no luck')")
    with SandboxPool("L1", 1) as pool, pytest.raises(VerifierError, match="no luck"):
        one(pool, HANGS)


def test_an_interpreter_that_never_starts_is_an_error() -> None:
    with pytest.raises(VerifierError, match="/nowhere/python"):
        SandboxPool("L1", 1, settings=PoolSettings(python="/nowhere/python"))


def test_level_l3_needs_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(VerifierError, match="bubblewrap"):
        SandboxPool("L3", 1)


def test_another_interpreter_may_import_its_packages(level: Level) -> None:
    asked = asking("assert names() == 'Struct'")
    program = Program(source="def names():\n    import msgspec\n    return msgspec.Struct.__name__\n", tests=asked)
    with SandboxPool(level, 1) as pool:
        assert one(pool, program).failures[0].error == "ModuleNotFoundError"
        own = pool.provenance()
    with SandboxPool(level, 1, settings=PoolSettings(python=sys.executable)) as pool:
        assert one(pool, program).outcomes == "p"
        other = pool.provenance()
    assert other.packages != own.packages
    assert (own.level, own.hash_seed, own.interpreter) == (level, 0, other.interpreter)


@pytest.mark.parametrize("seed", [0, 1])
def test_hash_seed(seed: int) -> None:
    drawing = f"import random; print(hash('a'), random.Random({seed}).random())"
    said = subprocess.run(
        [sys.executable, "-c", drawing], env={"PYTHONHASHSEED": str(seed)}, capture_output=True, check=True
    )
    with SandboxPool("L1", 1, settings=PoolSettings(hash_seed=seed)) as pool:
        first, drawn = said.stdout.split()
        asked = asking(f"assert hash('a') == {first.decode()}", f"assert random.random() == {drawn.decode()}")
        for _ in range(2):
            assert one(pool, Program(source="import random\n", tests=asked)).outcomes == "pp"
        assert pool.provenance().hash_seed == seed


KEPT = {
    "no environment": "__import__('os').environ.copy() == {}",
    "no arguments": "__import__('sys').argv == ['']",
    "no way into the harness": "[name for name in __import__('sys').modules if 'inside' in name] == []",
    "no open descriptors": "[n for n in range(1000) if there(n)] == [0, 1, 2, 3]",
    "nothing on standard input": "__import__('os').read(0, 1) == b''",
}
DESCRIPTORS = """
import os
def there(n):
    try:
        os.fstat(n)
    except OSError:
        return False
    return True
"""


def test_the_environment_of_a_program(pool: SandboxPool) -> None:
    asked = asking(*(f"assert {test}" for test in KEPT.values()))
    execution = one(pool, Program(source=DESCRIPTORS, tests=asked))
    assert [name for name, letter in zip(KEPT, execution.outcomes, strict=True) if letter != "p"] == []


REFUSED = {
    "a file": "open('/tmp/written-by-a-program', 'w')",
    "reading": "open('/etc/passwd')",
    "a socket": "__import__('socket').socket()",
    "a process": "__import__('os').fork()",
    "a signal": "__import__('os').kill(1, 0)",
    "listing": "__import__('os').listdir('/etc')",
}


def test_operations_denied_to_a_program(pool: SandboxPool, level: Level) -> None:
    if level == "L1":
        pytest.skip("limits alone refuse nothing")
    asked = asking(*(f"assert {call} == 0" for call in REFUSED.values()))
    execution = one(pool, Program(source="", tests=asked))
    assert execution.outcomes == "e" * len(REFUSED)
    assert {failure.error for failure in execution.failures} <= {"PermissionError", "FileNotFoundError"}


def test_threads_are_allowed_but_not_many(pool: SandboxPool) -> None:
    source = """
import threading
def run(count):
    stop = threading.Event()
    threads = [threading.Thread(target=stop.wait) for _ in range(count)]
    try:
        for thread in threads:
            thread.start()
    finally:
        stop.set()
    return count
"""
    execution = one(pool, Program(source=source, tests=asking("assert run(4) == 4", "assert run(500) == 500")))
    assert execution.outcomes == "pe"


def test_asyncio_and_threads_work(pool: SandboxPool) -> None:
    source = """\
import asyncio, threading

async def later(x):
    await asyncio.sleep(0)
    return await asyncio.get_running_loop().run_in_executor(None, lambda: x + 1)

def f(x):
    thread = threading.Thread(target=print)
    thread.start()
    thread.join()
    return asyncio.run(later(x))
"""
    program = Program(source=source, tests=(CodeTest(form="expression", source="assert f(1) == 2"),), seconds=5)
    assert one(pool, program).outcomes == "p"


def test_tests_compared_outside_run_before_statements(pool: SandboxPool) -> None:
    sources = ("x = f(1)\nassert x == 1", "assert f(1) == 1")
    tests = tuple(CodeTest(form=form_of(source), source=source) for source in sources)
    program = Program(source="def f(x):\n    return x\n", tests=tests, seconds=5)
    case = SolutionProgress(program, "L1", DEFAULTS, "")
    assert case.batch().places == (1,)
    assert one(pool, program).outcomes == "pp"


def test_a_test_too_deep_to_send_affects_only_its_problem(pool: SandboxPool) -> None:
    deep = "x = " + "lambda:" * 1_000 + "2"
    programs = [
        (place, Program(source="def f(x):\n    return x\n", tests=(CodeTest(form="statement", source=source),)))
        for place, source in enumerate((deep, "assert f(1) == 1"))
    ]
    assert dict(pool.run(programs))[1].outcomes == "p"
