"""Completions of a plan with many models: the rate, memory, and a comparison with a plain client that writes JSON
lines.

Usage: python -m bench.completing [--questions 500] [--models 8] [--planned 8000]

The server is a stub in a separate process (±50 % of 50 ms, 1 kB per reply); ours is the whole command, which commits
every attempt before it is sent, every reply, and every completion in order. The peer is ``bench.plain_completing``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from bench.figures import report
from bench.load import prompt
from bench.load import report as print_load
from tests.drawn_pool import make_drawn_pool
from tests.servers.faulty import launched
from workbench.benchmarks.sampling.completing import complete
from workbench.benchmarks.sampling.planning import plan_in, planned
from workbench.core.project import opened_project

ROOT = Path(__file__).resolve().parents[1]

_LATENCY_S = 0.05
_AT_ONCE = 32
_OF_PLAIN = 50.0
_GROWTH_MB = 15.0
_DRY_RUN_S = 10.0
_MODELS = 22


class Load(Struct):
    """The measurements of one client."""

    rate: float
    cpu_ms: float
    rss_mb: float


def main() -> None:
    """Measure and print; with a plan, act as the measured client."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--models", type=int, default=8)
    parser.add_argument("--planned", type=int, default=8_000, help="questions of the dry run, for 22 models")
    parser.add_argument("--carry-out", type=Path, help=argparse.SUPPRESS)
    options, _ = parser.parse_known_args()
    if options.carry_out is not None:
        _carry_out(options.carry_out)
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_CONFIG_DIR"] = str(Path(folder) / "configuration")
        few = _ours(Path(folder) / "few", options.questions // 4, options.models)
        many = _ours(Path(folder) / "many", options.questions, options.models)
        plain = _plain(options.questions, options.models)
        report("completing_rate", many.rate, "completions/s")
        report("completing_cpu", many.cpu_ms, "ms/completion")
        report("completing_plain_rate", plain.rate, "completions/s")
        report("completing_of_plain", 100 * many.rate / plain.rate, "%", _OF_PLAIN, at_least=True)
        report("completing_peak_rss", many.rss_mb, "MB")
        report("completing_rss_growth_by_4", many.rss_mb - few.rss_mb, "MB", _GROWTH_MB)
        _dry_run(Path(folder) / "planned", options.planned)


def _ours(folder: Path, questions: int, models: int) -> Load:
    folder.mkdir()
    make_drawn_pool(folder, [prompt(number) for number in range(questions)]).close()
    with launched(latency=_LATENCY_S) as stub:
        _write_plan(folder, stub.url, models)
        return _run([sys.executable, "-m", "bench.completing", "--carry-out", os.fspath(folder)])


def _plain(questions: int, models: int) -> Load:
    with launched(latency=_LATENCY_S) as stub:
        numbers = [str(number) for number in (questions, models, _AT_ONCE)]
        return _run([sys.executable, "-m", "bench.plain_completing", stub.url, *numbers])


def _run(command: list[str]) -> Load:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return Load(**json.loads(done.stdout.splitlines()[-1]))


def _carry_out(folder: Path) -> None:
    with opened_project(folder / "p.db") as project:
        plan = plan_in(project, folder / "plan.toml")
        cpu, began = time.process_time(), time.perf_counter()
        found = complete(project, plan, trust=True)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    if found.missing:
        raise SystemExit(f"not complete: {found.missing}")
    print_load(seconds, cpu, found.written)


def _dry_run(folder: Path, questions: int) -> None:
    folder.mkdir()
    with closing(make_drawn_pool(folder, [prompt(number) for number in range(questions)])) as project:
        _write_plan(folder, "http://127.0.0.1:9/v1", _MODELS)
        began = time.perf_counter()
        found = planned(project, plan_in(project, folder / "plan.toml"))
        seconds = time.perf_counter() - began
    assert found.total.calls == questions * _MODELS
    report("completing_dry_run", seconds, "s", _DRY_RUN_S)


def _write_plan(folder: Path, url: str, models: int) -> None:
    head = (
        f'set = "draw"\n[defaults]\nbase_url = "{url}"\nserver = "vllm"\nconcurrency = {_AT_ONCE}\nmax_tokens = 512\n'
    )
    tables = "".join(f'[[models]]\nname = "m{number}"\n' for number in range(models))
    (folder / "plan.toml").write_text(head + tables, encoding="utf-8")


if __name__ == "__main__":
    main()
