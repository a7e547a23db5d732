"""Commands at full size: 1.45M completions of 22 models, five runs, six for pairs; each in a separate process.

Usage: python -m bench.full_size [--only NAME[;NAME]] [--items 1450000]

CPU seconds (user and system), wall seconds and the peak of resident memory of whole commands, the start of Python
included, with the columns in their files. Commands that write do so on a copy of the database.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from bench.figures import report
from bench.synthetic import FULL, cached, verifier

_RUNS: Final = 6
_MODELS: Final = 22
_FIVE: Final = [word for run in range(1, 6) for word in ("--verifier", verifier(run))]
_TABLE_S, _ALL_PAIRS_S, _REPORT_S = 2.0, 3.0, 8.0
_WORK_S, _WORK_MB = 3.0, 300.0


class Case(NamedTuple):
    """A command: its words after ``workbench``, with DB and OUT for the database and a folder.

    Attributes:
        changes: Whether it writes to the database.
        ends: The expected exit code.
    """

    words: list[str]
    seconds: float | None = None
    megabytes: float | None = None
    changes: bool = False
    ends: int = 0


CASES: Final = {
    "accuracy": Case(["accuracy", "DB"], _TABLE_S),
    "accuracy by subtype": Case(["accuracy", "DB", "--by", "subtype"], _TABLE_S),
    "accuracy by model": Case(["accuracy", "DB", "--by", "model"], _TABLE_S),
    "accuracy by type,domain": Case(["accuracy", "DB", "--by", "type,domain"], _TABLE_S),
    "compare of two": Case(["compare", "DB", "rules", "rules-2"], _TABLE_S),
    "compare of two by model": Case(["compare", "DB", "rules", "rules-2", "--by", "model"], _TABLE_S),
    "compare of six": Case(["compare", "DB", "--all"], _ALL_PAIRS_S),
    "validity": Case(["validity", "DB"], _TABLE_S),
    "best-of": Case(["best-of", "DB"], _TABLE_S),
    "disagreements": Case(["disagreements", "DB"], _TABLE_S),
    "disagreements of all": Case(["disagreements", "DB", "--queue", "verifiers"], _TABLE_S),
    "suspects": Case(["disagreements", "DB", "--queue", "suspect-gold"], _TABLE_S),
    "compare errors": Case(["compare", "DB", "--errors"], _TABLE_S),
    "tables": Case(["tables", "DB", "--paper"], _TABLE_S),
    "status": Case(["status", "DB"], _TABLE_S),
    "estimate": Case(["estimate", "DB", "rules", "--json"], _WORK_S, _WORK_MB),
    "estimate by model": Case(["estimate", "DB", "rules", "--by", "model", "--json"], _WORK_S, _WORK_MB),
    "plan": Case(["plan", "DB"], _WORK_S, _WORK_MB),
    "plan by type, one verifier": Case(["plan", "DB", "--by", "type", "--verifier", "rules"], _WORK_S, _WORK_MB),
    "build": Case(
        ["build", "DB", "hard", *(word for run in range(1, 6) for word in ("--judge", verifier(run))), "--dry-run"],
        _WORK_S,
        _WORK_MB,
    ),
    "build balanced": Case(["build", "DB", "balanced", "--quota", "verifybench", "--dry-run"], _WORK_S, _WORK_MB),
    "build picks": Case(["build", "DB", "picks", "--judge", "rules", "--dry-run"], _WORK_S, _WORK_MB),
    "assign of 10000": Case(
        ["assign", "DB", "--annotators", "a,b,c", "--limit", "10000"], _WORK_S, _WORK_MB, changes=True
    ),
    "assign by disagreement": Case(
        ["assign", "DB", "--annotators", "a,b,c", "--order", "disagreement", "--limit", "10000"],
        _WORK_S,
        _WORK_MB,
        changes=True,
    ),
    "checks add": Case(["checks", "DB", "add", "--limit", "200"], _WORK_S, _WORK_MB, changes=True),
    "report": Case(["report", "DB", "-o", "OUT/report.html"], _REPORT_S),
    "export": Case(["export", "DB", "OUT/export.jsonl", "--format", "jsonl"]),
    "backup": Case(["backup", "DB", "OUT/backup.db"]),
    # The synthetic rows have no valid digests and states, which doctor reports: its checks take no longer path.
    "doctor": Case(["doctor", "DB"], ends=1),
}
"""Cases by name; those without a goal are only measured."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=lambda text: text.split(";"))
    parser.add_argument("--items", type=int, default=FULL)
    options, _ = parser.parse_known_args()
    path = cached(options.items, runs=_RUNS, models=_MODELS)
    _run(["compare", str(path), "--all"])
    for name in options.only or CASES:
        _measure(name, CASES[name], path)


def _measure(name: str, case: Case, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        database = path
        if case.changes:
            database = Path(shutil.copy(path, folder))
            _run(["accuracy", str(database)])
        words = [word.replace("OUT", folder) if word != "DB" else str(database) for word in case.words]
        cpu, wall, peak, code = _run(words)
    if code != case.ends:
        raise SystemExit(f"{' '.join(words)} ended with {code}")
    report(f"{name}: CPU", cpu, "s", case.seconds)
    report(f"{name}: wall", wall, "s")
    report(f"{name}: peak RSS", peak, "MB", case.megabytes)


def _run(words: list[str]) -> tuple[float, float, float, int]:
    """Return CPU seconds, wall seconds, peak memory in MB, and the exit code."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench", *words], stdout=subprocess.DEVNULL, stderr=output
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            sys.stderr.write(output.read().decode(errors="replace"))
    wall = time.perf_counter() - began
    return used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, process.returncode


if __name__ == "__main__":
    main()
