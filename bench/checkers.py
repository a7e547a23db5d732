"""Other ways to run solutions against tests, each in a separate process; imports nothing of this project.

Usage: PYTHON -m bench.checkers evalplus|subprocess FILE PROCESSES ROUNDS

The file has one JSON line per solution: ``code``, ``entry_point`` and ``tests``, pairs of arguments and the expected
value as Python literals. Prints a JSON line per round with its seconds and the number of passed tests. This
runs unreviewed code in a scratch folder.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

PACKAGES = {"evalplus": ("evalplus==0.3.1",)}
"""The packages to install."""

_SECONDS = 3.0

Check = Callable[[dict[str, Any]], int]
"""Runs a solution; returns the number of passed tests."""


def evalplus(row: dict[str, Any]) -> int:
    """EvalPlus' ``untrusted_check``: one process per solution, with all its tests."""
    checker: Any = importlib.import_module("evalplus.eval")
    _, details = checker.untrusted_check(
        "",
        row["code"],
        [list(arguments) for arguments, _ in row["tests"]],
        row["entry_point"],
        [expected for _, expected in row["tests"]],
        0,
        [_SECONDS] * len(row["tests"]),
        min_time_limit=_SECONDS,
        gt_time_limit_factor=1.0,
    )
    return sum(map(bool, details))


def subprocess_per_test(row: dict[str, Any]) -> int:
    """A separate interpreter for every test, the obvious implementation."""
    passed = 0
    for arguments, expected in row["tests"]:
        called = ", ".join(map(repr, arguments))
        program = f"{row['code']}\nassert {row['entry_point']}({called}) == {expected!r}\n"
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
            )
            passed += done.returncode == 0
    return passed


CHECKERS: dict[str, Check] = {"evalplus": evalplus, "subprocess": subprocess_per_test}


def rounds(check: Check, rows: list[dict[str, Any]], processes: int, count: int) -> Iterator[tuple[float, int]]:
    """Return seconds and passed tests of each round; worker processes are started before the clock."""
    if processes == 1:
        for _ in range(count):
            began = time.perf_counter()
            passed = sum(map(check, rows))
            yield time.perf_counter() - began, passed
        return
    with ProcessPoolExecutor(processes) as pool:
        list(pool.map(check, rows[: 4 * processes]))
        for _ in range(count):
            began = time.perf_counter()
            passed = sum(pool.map(check, rows))
            yield time.perf_counter() - began, passed


def _rows(path: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["tests"] = [tuple(map(ast.literal_eval, test)) for test in row["tests"]]
    return rows


def main() -> None:
    """Measure and print."""
    name, path, processes, count = sys.argv[1:5]
    rows = _rows(path)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for seconds, passed in rounds(CHECKERS[name], rows, int(processes), int(count)):
            print(json.dumps({"seconds": seconds, "passed": passed}), flush=True)


if __name__ == "__main__":
    main()
