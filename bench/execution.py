"""Running solutions: the sandbox against EvalPlus' checker, and against a separate interpreter for every test.

Usage: python -m bench.execution [--solutions 240] [--rounds 3]

The sandbox uses the best level available here and compares values outside it. The solutions are the first real ones in
the shared data, of problems without recorded timeouts: their loops would dominate the measurement. The tests are those
that call the function on literals and compare with one, the only form that EvalPlus supports. Both are timed in
separate processes, alternating, as whole jobs after a warm-up.
"""

from __future__ import annotations

import argparse
import ast
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from bench.checkers import PACKAGES
from bench.environments import environment
from bench.figures import left_out, report
from workbench.core.code import CodeTest, Level, Program
from workbench.core.code_tests.assertion import assertion_of
from workbench.verifiers.execution.levels import best_level
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.settings import PoolSettings

ROOT = Path(__file__).resolve().parents[1]
REAL = ROOT.parent / "shared" / "data" / "code"

_RATIO = 2.0
_MS = 4.0
_PER_TEST_RATIO = 30.0
_NAIVE_SOLUTIONS = 8
_WARM = 8


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solutions", type=int, default=240)
    parser.add_argument("--rounds", type=int, default=3)
    options, _ = parser.parse_known_args()
    if not REAL.is_dir():
        left_out("execution", "the real data folder ../shared/data is not here")
        return
    rows = list(_rows(options.solutions))
    level = best_level()
    with tempfile.TemporaryDirectory() as folder:
        _against_evalplus(rows, level, Path(folder), options.rounds)
        _against_subprocesses(rows[:: len(rows) // _NAIVE_SOLUTIONS], level, Path(folder))


def _rows(count: int) -> Iterator[dict[str, Any]]:
    """Return solutions with their tests as pairs of literals, in the order of the file."""
    problems = {row["task_id"]: row for row in _lines(REAL / "problems.jsonl")}
    tests = {name: _pairs([*row["tests"], *row["plus_tests"]]) for name, row in problems.items()}
    solutions = list(_lines(REAL / "solutions.jsonl"))
    slow = {row["task_id"] for row in solutions if "t" in row["per_test"] + row["plus"]}
    for row in solutions:
        if count and row["task_id"] not in slow:
            problem = problems[row["task_id"]]
            yield {"code": row["code"], "entry_point": problem["entry_point"], "tests": tests[row["task_id"]]}
            count -= 1


def _pairs(tests: list[str]) -> list[tuple[str, str]]:
    """Return arguments and expected value of the tests that consist of nothing else."""
    pairs = []
    for test in tests:
        sides = assertion_of(test)
        call = ast.parse(sides.left, mode="eval").body if sides else None
        if sides and isinstance(call, ast.Call) and not call.keywords:
            arguments = ast.unparse(ast.Tuple(call.args, ast.Load()))
            if _is_literal(arguments) and _is_literal(sides.right):
                pairs.append((arguments, sides.right))
    return pairs


def _is_literal(source: str) -> bool:
    try:
        ast.literal_eval(source)
    except ValueError:
        return False
    return True


def _against_evalplus(rows: list[dict[str, Any]], level: Level, folder: Path, rounds: int) -> None:
    python = environment("evalplus", PACKAGES["evalplus"], "execution_evalplus")
    tests = sum(len(row["tests"]) for row in rows)
    report("execution_tests", tests, f"tests of {len(rows)} solutions at {level}")
    for workers in (1, 2):
        theirs: list[float] = []
        ours: list[float] = []
        cpu: list[float] = []
        with SandboxPool(level, workers) as pool:
            _run(pool, rows[:_WARM])
            for _ in range(rounds):
                if python:
                    theirs += _peer(python, "evalplus", rows, workers, folder)
                before = _cpu()
                ours.append(_run(pool, rows))
                cpu.append(_cpu() - before)
        ms = 1000 * median(ours) / len(rows)
        report(f"execution_solutions_per_second_{workers}", len(rows) / median(ours), "solutions/s")
        report(f"execution_ms_per_solution_{workers}", ms, "ms", _MS if workers == 1 else None)
        report(f"execution_tests_per_second_{workers}", tests / median(ours), "tests/s")
        report(f"execution_outside_cpu_{workers}", 1000 * median(cpu) / len(rows), "ms/solution")
        if theirs:
            report(f"execution_evalplus_solutions_per_second_{workers}", len(rows) / median(theirs), "solutions/s")
            report(f"execution_vs_evalplus_{workers}", median(theirs) / median(ours), "x", _RATIO, at_least=True)


def _against_subprocesses(rows: list[dict[str, Any]], level: Level, folder: Path) -> None:
    """Scoring Verifiers' protocol: the program is executed again before each test, one test at a time on both sides."""
    tests = sum(len(row["tests"]) for row in rows)
    (theirs,) = _peer(Path(sys.executable), "subprocess", rows, 1, folder)
    with SandboxPool(level, 1, settings=PoolSettings(fresh_namespace=True)) as pool:
        _run(pool, rows)
        ours = median(_run(pool, rows) for _ in range(5))
    with SandboxPool(level, 1, settings=PoolSettings(fresh_per_test=True)) as pool:
        _run(pool, rows[:1])
        sandbox_seconds = _run(pool, rows)
    report("execution_subprocess_ms_per_test", 1000 * theirs / tests, "ms")
    report("execution_fresh_namespace_ms_per_test", 1000 * ours / tests, "ms")
    report("execution_fresh_process_ms_per_test", 1000 * sandbox_seconds / tests, "ms")
    report("execution_vs_subprocess_per_test", theirs / ours, "x", _PER_TEST_RATIO, at_least=True)


def _peer(python: Path, name: str, rows: list[dict[str, Any]], processes: int, folder: Path) -> list[float]:
    """Return the seconds of another checker, in a separate process."""
    source = folder / "rows.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [str(python), "-m", "bench.checkers", name, str(source), str(processes), "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [json.loads(line)["seconds"] for line in done.stdout.splitlines()]


def _run(pool: SandboxPool, rows: list[dict[str, Any]]) -> float:
    """Return the seconds of the sandbox."""
    programs = [_program(row) for row in rows]
    began = time.perf_counter()
    for _ in pool.run(enumerate(programs)):
        pass
    return time.perf_counter() - began


def _program(row: dict[str, Any]) -> Program:
    return Program(source=row["code"], tests=_tests(row["entry_point"], tuple(row["tests"])))


@cache
def _tests(entry_point: str, pairs: tuple[tuple[str, str], ...]) -> tuple[CodeTest, ...]:
    """Return a problem's tests, the same objects for all its solutions, as if loaded from a store."""
    calls = [(f"{entry_point}(*{arguments})", expected) for arguments, expected in pairs]
    return tuple(CodeTest(form="expression", source=f"assert {call} == {expected}") for call, expected in calls)


def _cpu() -> float:
    """Return the processor seconds outside the sandbox."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


if __name__ == "__main__":
    main()
