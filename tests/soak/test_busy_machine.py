"""Verdicts next to four busy loops: the same file in every run, and the recorded outcomes of real programs.

``RUNS`` sets the number of runs; 30 by default.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from workbench.coding.problems import results
from workbench.core.errors import VerifierError
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection, parse_condition
from workbench.interchange.importing import import_files, plan_import
from workbench.runs import runner
from workbench.runs.lease import Lease
from workbench.runs.run_status import run_info
from workbench.runs.runner import Runner
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import start
from workbench.verifiers.execution.levels import best_level

LOOPS = 4
RUNS = int(os.environ.get("RUNS", "30"))


@contextmanager
def busy() -> Iterator[None]:
    """Run processes that only compute, whatever the load of the machine."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(LOOPS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run(project: Project, kind: str, conditions: tuple[str, ...] = (), **options: str) -> Counter[str]:
    """Run a verifier to its end with two workers; return the number of items that timed out."""
    lease = Lease.acquire(project.database)
    assert lease is not None
    selection = Selection(tuple(parse_condition(text) for text in conditions))
    info = start(project, kind, options, selection=selection, workers=2)
    Runner(project.database, lease).work()
    ended = run_info(project, info.run)
    assert ended.state == "complete"
    return Counter(ended.timeouts)


def digest(project: Project, kind: str) -> str:
    """Return a hash of a run's output without times."""
    found = hashlib.sha256()
    for line in verdict_lines(project, kind):
        found.update(msgspec.json.encode(structs.replace(line, ms=0.0)) + b"\n")
    return found.hexdigest()


@pytest.mark.soak
def test_verdicts_on_a_busy_machine_are_one_file(
    real_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    files: dict[str, Counter[str]] = {"math-verify": Counter(), "rules": Counter()}
    late: Counter[str] = Counter()
    with busy():
        for number in range(RUNS):
            project = open_project(tmp_path / f"{number}.db", create=True)
            import_files(project, plan_import([real_file]))
            for kind, found in files.items():
                late += run(project, kind)
                found[digest(project, kind)] += 1
            project.close()
            print(number + 1, {kind: dict(found) for kind, found in files.items()}, dict(late), flush=True)
    assert {kind: len(found) for kind, found in files.items()} == {"math-verify": 1, "rules": 1}, late


@pytest.mark.soak
def test_program_outcomes_on_a_busy_machine_match_the_recorded(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs time out exactly where it was recorded; one solution's outcomes depend on the hash seed."""
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    try:
        best_level()
    except VerifierError as error:
        pytest.skip(str(error))
    rows = [msgspec.json.decode(line) for line in (shared_data / "code" / "solutions.jsonl").read_bytes().splitlines()]
    recorded = {f"{row['task_id']}/{row['solution_id']}": row["per_test"] for row in rows}
    with busy():
        for number in range(max(1, RUNS // 10)):
            project = open_project(tmp_path / f"code{number}.db", create=True)
            import_files(project, plan_import([shared_data / "code" / f"{n}.jsonl" for n in ("problems", "solutions")]))
            run(project, "execution")
            found = {line.completion_id: line.outcomes for line in results(project, "execution")}
            differing = {key for key in recorded if found[key] != recorded[key]}
            print(number + 1, len(found), sorted(differing), flush=True)
            assert len(found) == len(recorded)
            assert len(differing) <= 1
            project.close()
