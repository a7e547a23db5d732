"""Outcome letters at every level: what a program does, and the results of its tests."""

from __future__ import annotations

import contextlib
import re
import time

import psutil
import pytest

from tests.unit.verifiers.execution.conftest import one
from workbench.core.code import CodeTest, Form, Level, Program
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.settings import PoolSettings

IDENTITY = "def f(x):\n    return x\n"
HANGS_AT_1 = "import time\n\ndef f(x):\n    if x == 1:\n        time.sleep(100)\n    return x\n"
COUNTER = "calls = 0\n\ndef f():\n    global calls\n    calls += 1\n    return calls\n"


FORGES = """
import os, struct
def f(x):
    if x == 0:
        os.write(3, struct.pack("=IcII", 0, b"p", 1, 0))
    return x
"""


def asking(*sources: str, form: Form = "expression") -> tuple[CodeTest, ...]:
    return tuple(CodeTest(form=form, source=source) for source in sources)


def echo(*values: int) -> tuple[CodeTest, ...]:
    """Tests that a function gives back what it gets."""
    return asking(*(f"assert f({value}) == {value}" for value in values))


def at(condition: str, action: str) -> str:
    """A function that gives its argument back, but does something else first where a condition holds."""
    return f"import os, sys\n\ndef f(x):\n    if {condition}:\n        {action}\n    return x\n"


CASES: dict[str, tuple[str, tuple[CodeTest, ...], str]] = {
    "values": (
        IDENTITY,
        asking("assert f(1) == 1", "assert f(1) == 2", "assert f(True) == 1", "assert f('1') == 1"),
        "pfpf",
    ),
    "messages": (
        IDENTITY,
        asking("assert f(1) == 1, 'no'", "assert f(1) == 2, 'no'", "assert f(1) == 2, f(1)[0]"),
        "pfe",
    ),
    "statements": (IDENTITY, asking("assert f(1)", "assert not f(1)", "f.x", "x = f(1", form="statement"), "pfes"),
    "wrongly called an expression": (IDENTITY, asking("assert f(1) > 0", "f(2).x"), "pe"),
    "assertions inside": ("def f(x):\n    assert x\n    return x\n", echo(1, 0), "pf"),
    "errors": (at("x == 1", "raise KeyError(x)"), echo(0, 1, 2), "pep"),
    "no Python": ("def f(:\n", echo(0, 1), "ss"),
    "null bytes": ("x = '\0'\n", echo(0), "s"),
    "nested too deeply": (f"x = {'(' * 500}0{')' * 500}\n", echo(0), "s"),
    "an error at the start": (f"{IDENTITY}raise ValueError\n", echo(0, 1), "ee"),
    "a failed assertion at the start": (f"{IDENTITY}assert False\n", echo(0, 1), "ee"),
    "an undefined name": ("g = 1\n", echo(0, 1), "ee"),
    "exit at the start": (f"{IDENTITY}import sys\nsys.exit(0)\n", echo(0, 1), "ee"),
    "exit": (at("x == 1", "sys.exit(0)"), echo(0, 1, 2), "pep"),
    "the builtin exit": (at("x == 1", "exit()"), echo(0, 1, 2), "pep"),
    "vanishing at the start": (f"{IDENTITY}import os\nos._exit(0)\n", echo(0, 1), "xx"),
    "vanishing": (at("x == 1", "os._exit(0)"), echo(0, 1, 2), "pxp"),
    "crashing": (at("x == 1", "import ctypes; ctypes.string_at(0)"), echo(0, 1, 2), "pxp"),
    "no memory": (at("x == 1", "bytearray(3 << 30)"), echo(0, 1, 2), "pep"),
    "no stack": (at("x == 1", "return f(x)"), echo(0, 1, 2), "pep"),
    "hanging": (HANGS_AT_1, echo(0, 1, 2), "ptp"),
    "looping in C": (at("x == 1", "sum(range(10**12))"), echo(0, 1, 2), "ptp"),
    "hanging at the start": (f"{IDENTITY}import time\ntime.sleep(100)\n", echo(0, 1), "tt"),
    "results cut off": (at("x == 1", "os.close(3)"), echo(0, 1, 2), "pxp"),
    "passes made up": (FORGES, echo(0, 1), "xp"),
    "results made up": (at("x == 1", "os.write(3, b'p' * 100)"), echo(0, 1, 2), "pxp"),
    "help is there": (f"{IDENTITY}help\nquit\ncopyright\n", echo(0), "p"),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", CASES)
def test_outcomes(pool: SandboxPool, name: str) -> None:
    source, asked, outcomes = CASES[name]
    # By the clock a sleeper has ten times as long.
    execution = one(pool, Program(source=source, tests=asked, seconds=0.1 if "hanging" in name else 1))
    assert execution.outcomes == outcomes
    assert [failure.outcome for failure in execution.failures] == [letter for letter in outcomes if letter != "p"]
    assert not execution.harness_killed


def test_failures_have_position_values_and_errors(pool: SandboxPool, level: Level) -> None:
    source = "def f(x):\n    if x == 3:\n        raise KeyError('gone')\n    return [x]\n"
    execution = one(pool, Program(source=source, tests=asking("assert f(1) == [2]", "assert f(3) == [3]")))
    wrong, error = execution.failures
    assert (wrong.position, wrong.got, wrong.expected) == (0, "[1]", "[2]")
    assert (error.position, error.error, error.message, error.line) == (1, "KeyError", "'gone'", 3)
    assert execution.level == level
    assert execution.ms > 0


def test_only_outcomes_decided_inside_are_forgeable(pool: SandboxPool) -> None:
    asked = echo(0) + asking("assert f(1)", form="statement") + asking("f(2)", "f.x", form="program")
    execution = one(pool, Program(source=IDENTITY, tests=asked))
    assert (execution.outcomes, execution.forgeable) == ("pppe", 2)


def test_a_whole_program_is_compiled_as_one(pool: SandboxPool) -> None:
    asked = asking("def check(c):\n    assert c(1) == 1\ncheck(c)", "assert c(1) == 2", "x = (", form="program")
    execution = one(pool, Program(source=IDENTITY, setup="c = f", tests=asked))
    assert execution.outcomes == "pfs"
    unfinished = one(
        pool, Program(source="def f(x):\n    return (x +", tests=asking("1)\nassert f(1) == 2", form="program"))
    )
    assert unfinished.outcomes == "p"


SUM = "import sys\nprint(sum(map(int, sys.stdin.read().split())))\n"
SCRIPTS = {
    "reads": (SUM, "1 2\n", "3", "p"),
    "trailing space and lines don't count": ("print('a  ')\nprint()\n", "", "a", "p"),
    "leading space does": ("print(' a')\n", "", "a", "f"),
    "by input": ("print(int(input()) + int(input()))\n", "1\n2\n", "3", "p"),
    "by descriptor": ("import os\nprint(len(os.read(0, os.fstat(0).st_size or 100)))\n", "12345", "5", "p"),
    "by open": ("print(open(0).read())\n", "x\ny\n", "x\ny", "p"),
    "no input": ("input()\n", "", "", "e"),
    "main": ("if __name__ == '__main__':\n    print(1)\n", "", "1", "p"),
    "exits": ("print(1)\nraise SystemExit\n", "", "1", "p"),
    "fails": ("print(1)\nraise SystemExit(2)\n", "", "1", "e"),
    "at its end": ("import atexit\natexit.register(print, 1)\n", "", "1", "p"),
    "in a thread": ("import threading\nthreading.Thread(target=print, args=(1,)).start()\n", "", "1", "p"),
    "no Python": ("print(\n", "", "", "s"),
    "hangs": ("import time\ntime.sleep(100)\n", "", "", "t"),
    "crashes": ("print(1, flush=True)\nimport ctypes\nctypes.string_at(0)\n", "", "1", "x"),
    "floods": ("while True: print('x' * 10**6)\n", "", "x", "x"),
    "a large input": ("import sys\nprint(len(sys.stdin.read()))\n", "x" * 3_000_000, "3000000", "p"),
    "a large output": ("print('x' * 3_000_000)\n", "", "x" * 3_000_000, "p"),
    "an input that is not read": ("print(1)\n", "x" * 3_000_000, "1", "p"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts(pool: SandboxPool, name: str) -> None:
    source, given, expected, outcome = SCRIPTS[name]
    asked = CodeTest(form="stdio", source=given, expected=expected)
    execution = one(pool, Program(source=source, tests=(asked,), seconds=0.1 if name == "hangs" else 1))
    assert execution.outcomes == outcome
    assert execution.forgeable == 0


def test_a_script_gets_a_process_for_each_test(pool: SandboxPool) -> None:
    asked = tuple(CodeTest(form="stdio", source=f"{n} 1", expected=str(n + 1)) for n in range(3))
    assert one(pool, Program(source=SUM, tests=asked)).outcomes == "ppp"
    failing = one(pool, Program(source=SUM, tests=(CodeTest(form="stdio", source="x", expected=""),)))
    assert (failing.failures[0].error, failing.failures[0].line) == ("ValueError", 2)


@pytest.mark.parametrize(
    ("settings", "outcomes"),
    [
        (PoolSettings(), "fpf"),
        (PoolSettings(fresh_namespace=True), "pff"),
        (PoolSettings(fresh_per_test=True), "pff"),
        (PoolSettings(stop_early=True), "fnn"),
    ],
)
def test_isolation_of_tests(settings: PoolSettings, outcomes: str) -> None:
    asked = asking("assert f() == 1", "assert f() == 2", "assert f() == 2")
    if settings.stop_early or settings == PoolSettings():
        asked = asking("assert f() == 2", "assert f() == 2", "assert f() == 2")
    with SandboxPool("L1", 1, settings=settings) as pool:
        assert one(pool, Program(source=COUNTER, tests=asked)).outcomes == outcomes


def test_a_message_is_evaluated_once_with_stop_early() -> None:
    asked = asking("assert f(1) == 2, f(1)[0]", "assert f(1) == 1")
    with SandboxPool("L1", 1, settings=PoolSettings(stop_early=True, seconds_total=1)) as pool:
        assert one(pool, Program(source=IDENTITY, tests=asked)).outcomes == "en"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("deed", "outcomes", "cause"),
    # How many fit in, the kernel's ticks have a word in.
    [("while True: pass", "t{2,4}n{2,4}", "cpu"), ("time.sleep(100)", "tnnnnn", "all tests together")],
)
def test_time_for_all_tests_is_limited(level: Level, deed: str, outcomes: str, cause: str) -> None:
    source = f"import time\n\ndef f(x):\n    {deed}\n"
    with SandboxPool(level, 1, settings=PoolSettings(seconds_total=0.5)) as pool:
        execution = one(pool, Program(source=source, tests=echo(*range(6)), seconds=0.2))
    assert len(execution.outcomes) == 6
    assert re.fullmatch(outcomes, execution.outcomes)
    assert f"timeout: {cause}" in (execution.failures[0].message or "")


@pytest.mark.soak
def test_tests_after_a_timeout_have_little_time() -> None:
    looping = at("x != 3", "while True: pass")
    with SandboxPool("L1", 1) as pool:
        execution = one(pool, Program(source=looping, tests=echo(*range(6)), seconds=1.0))
        once = one(pool, Program(source=at("x == 1", "while True: pass"), tests=echo(*range(6)), seconds=0.5))
    assert (execution.outcomes, once.outcomes) == ("ttnnnn", "ptpppp")
    assert "after a test over its time" in (execution.failures[1].message or "")


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("deed", "outcome", "cause"),
    [
        ("time.sleep(0.3)", "p", None),
        ("time.sleep(100)", "t", "wall"),
        ("while True: pass", "t", "cpu"),
        ("[i * i for i in range(10**8)]", "t", "cpu"),
        ("burn(0.5)", "t", "cpu"),
        ("spread(100)", "t", "cpu"),
    ],
)
@pytest.mark.parametrize("form", ["expression", "statement", "program", "stdio"])
def test_the_time_of_a_test_is_its_cpu_time(
    pool: SandboxPool, form: Form, deed: str, outcome: str, cause: str | None
) -> None:
    """A sleeping test has ten times as long; the work of its threads counts."""
    if form in ("statement", "program") and cause != "cpu":
        pytest.skip("they are watched as expressions are")
    source = f"""
import threading, time
def burn(seconds):
    ends = time.process_time() + seconds
    while time.process_time() < ends:
        pass
def spread(seconds):
    thread = threading.Thread(target=burn, args=(seconds,))
    thread.start()
    thread.join()
def f():
    {deed}
    return 1
"""
    if form == "stdio":
        source, test = source + "f()\nprint(1)\n", CodeTest(form=form, source="", expected="1")
    else:
        test = CodeTest(form=form, source="assert f() == 1")
    execution = one(pool, Program(source=source, tests=(test,), seconds=0.1))
    assert execution.outcomes == outcome
    assert [(failure.message or "")[:13].strip(",") for failure in execution.failures] == (
        [f"timeout: {cause}"[:13].strip(",")] if cause else []
    )


@pytest.mark.few(2)
def test_a_program_without_a_processor_keeps_its_time(level: Level) -> None:
    """Its process is stopped for longer than the time limit of a test."""
    source = "def f():\n    return sum(range(10**6))\n"
    program = Program(source=source, tests=asking("assert f() == sum(range(10**6))"), seconds=0.3)
    with SandboxPool(level, 1) as pool:
        assert one(pool, program).outcomes == "p"
        stopped: list[psutil.Process] = []
        while not stopped:
            # One that is just ending may be gone by now.
            for child in psutil.Process(pool.pids[0]).children():
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.suspend()
                    stopped.append(child)
        until = time.monotonic() + 1

        def go_on() -> None:
            if time.monotonic() > until:
                for child in stopped:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        child.resume()

        ((_, execution),) = pool.run([(0, program)], go_on)
    assert execution.outcomes == "p"


def test_a_program_without_tests(pool: SandboxPool) -> None:
    execution = one(pool, Program(source=IDENTITY, tests=()))
    assert (execution.outcomes, execution.score, execution.ms) == ("", None, 0.0)


GIVES = """
from fractions import Fraction
def f(x):
    given = [(i for i in [2, 1]), {2, 1}, 1.25, [Fraction(5, 4)]]
    return given[x] if type(x) is int and x < 4 else x
"""
CONVERTED = {
    "assert sorted(f(0)) == [1, 2]": ("p", 1),
    "assert sorted(f(1)) == [1, 2]": ("p", 0),
    "assert list(f('ab')) == ['a', 'b']": ("p", 0),
    "assert tuple(f([1, 2])) == tuple([1, 2])": ("p", 0),
    "assert set(f([2, 1, 2])) == set([1, 2])": ("p", 0),
    "assert set(f([3])) == {1}": ("f", 0),
    "assert len(f({1: 2})) == 1": ("p", 0),
    "assert sorted(f({2: 3, 1: 4})) == [1, 2]": ("p", 0),
    "assert str(f({1})) == '{1}'": ("p", 1),
    "assert str(f([1, (2,)])) == '[1, (2,)]'": ("p", 0),
    "assert round(f(2), 1) == 1.2": ("p", 0),
    "assert abs(f(2) - 1) < 0.3": ("p", 0),
    "assert abs(f(2) - 1) < 0.2": ("f", 0),
    "assert abs(f(None) - 1) < 0.2": ("e", 0),
    "assert sorted(f(7)) == [7]": ("e", 0),
    "assert set(f([[1]])) == {1}": ("e", 0),
    "assert float(f('inf')) == 1e400": ("p", 0),
    "assert int(f(2)) == 1": ("p", 0),
    "assert list(f(3)) == [1.25]": ("p", 1),
}


def test_operations_on_plain_values_are_evaluated_outside(pool: SandboxPool) -> None:
    found = {
        source: (execution.outcomes, execution.forgeable)
        for source, execution in pool.run(
            (source, Program(source=GIVES, tests=asking(source), seconds=5)) for source in CONVERTED
        )
    }
    assert found == CONVERTED


def test_expected_values_are_hidden_from_tests_compared_outside(pool: SandboxPool, level: Level) -> None:
    learns = (
        "known = {}\nclass Learner:\n    def __eq__(self, other):\n        known[0] = other\n        return True\n"
        "def f(x):\n    return known.get(0, Learner())\n"
    )
    asked = asking("assert (f(3) == 23757) == True", "assert f(3) == 23757", "assert not f(3) != 23757")
    for settings in (PoolSettings(), PoolSettings(stop_early=True)):
        with SandboxPool(level, 1, settings=settings) as fresh:
            execution = one(fresh, Program(source=learns, tests=asked, seconds=5))
        assert execution.outcomes[1] == "f"
