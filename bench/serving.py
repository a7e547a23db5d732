"""Whole runs on a model server: verdicts per second, CPU and memory, everything included.

Usage: python -m bench.serving [--rounds 30] [--many 100000] [--texts FILE] [--long-only]

Long texts are compared with an obvious hand-written script with openai and SQLite; `--texts` reads them from a file in
VerifyBench's format.

The server is a stub in a separate process with a latency of ±50 %. The runner is the real one in its process: it
reads items, asks, reads replies, and commits attempts, requests, responses and verdicts to a real database. Rates are
from the run's start to its end as the database has them; the stub, the runner and this process share the cores.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
from msgspec import Struct

from bench.calling import measured_client
from bench.figures import report
from bench.load import LONG
from tests.helpers import make_project
from tests.servers.faulty import launched
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.runs.run_status import wait
from workbench.runs.verifying import start
from workbench.verifiers.judging import peak_of_process

_WORDS = "The solution was compared with the reference. " * 30
_FIELDS = {"question": "question", "reference": "answer", "completion": "completion"}
_FEW = 1_000
_SHARES = {(64, 0.05): 80.0, (256, 1.0): 95.0}
_CPU_MS = 1.2
_SHARE_LONG = 85.0
_CPU_LONG_MS = 1.5
_CPU_RATIO = 1.2
_GROWTH_MB = 10.0
_PER_SECOND = 1_000.0
_QUICK_S = 0.05


class Figures(Struct):
    """The measurements of one run."""

    seconds: float
    cpu_ms: float
    peak_mb: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="items are so many times the calls at once")
    parser.add_argument("--many", type=int, default=100_000, help="items of the memory figure")
    parser.add_argument("--texts", type=Path, help="a VerifyBench file, whose texts are the long ones")
    parser.add_argument("--long-only", action="store_true")
    options, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_CONFIG_DIR"] = str(Path(folder) / "configuration")
        _long(Path(folder), options.texts, options.rounds)
        if options.long_only:
            return
        for (at_once, latency), share in _SHARES.items():
            items = at_once * options.rounds * (8 if latency < 1 else 1)
            found = _measured(Path(folder) / f"{at_once}", items, at_once, latency)
            name = f"serving_c{at_once}_{latency:g}s"
            report(f"{name}_verdicts_per_second", items / found.seconds, "verdicts/s")
            report(
                f"{name}_share_of_theory", 100 * items / found.seconds * latency / at_once, "%", share, at_least=True
            )
            report(f"{name}_cpu", found.cpu_ms, "ms/verdict", _CPU_MS)
        few = _measured(Path(folder) / "few", _FEW, 256, _QUICK_S)
        narrow = _measured(Path(folder) / "narrow", options.many // 4, 64, _QUICK_S)
        many = _measured(Path(folder) / "many", options.many, 256, _QUICK_S)
        name = f"serving_c256_{_QUICK_S:g}s"
        report(f"{name}_verdicts_per_second", options.many / many.seconds, "verdicts/s", _PER_SECOND, at_least=True)
        report(f"{name}_cpu", many.cpu_ms, "ms/verdict", _CPU_MS)
        report("serving_cpu_ratio_256_to_64", many.cpu_ms / narrow.cpu_ms, "x", _CPU_RATIO)
        report("serving_peak_rss", many.peak_mb, "MB")
        report("serving_peak_rss_growth", many.peak_mb - few.peak_mb, "MB", _GROWTH_MB)


def _long(folder: Path, file: Path | None, rounds: int) -> None:
    """Measure a run on long texts, and the plain script with the same prompts."""
    at_once, latency = 64, 0.2
    items = at_once * rounds
    rows = [{"completion": LONG}] if file is None else [json.loads(line) for line in file.open(encoding="utf-8")]
    found = _measured(folder / "long", items, at_once, latency, rows)
    theory = at_once / latency
    report("serving_long_share_of_theory", 100 * items / found.seconds / theory, "%", _SHARE_LONG, at_least=True)
    report("serving_long_cpu", found.cpu_ms, "ms/verdict", _CPU_LONG_MS)
    texts = folder / "texts.jsonl"
    texts.write_text("".join(json.dumps("\n".join(_texts_of(row).values())) + "\n" for row in rows))
    with launched(latency=latency) as stub:
        plain = measured_client("openai_sqlite", stub, at_once, items, str(texts))
    if plain is not None:
        report("serving_long_openai_sqlite_share_of_theory", 100 * plain.rate / theory, "%")
        report("serving_long_openai_sqlite_cpu", plain.cpu_ms, "ms/call")


def _measured(folder: Path, items: int, at_once: int, latency: float, long: Sequence[dict[str, Any]] = ()) -> Figures:
    """Measure one run, then judge its replies again under another name, without a call."""
    folder.mkdir()
    project = make_project(folder, _rows(items, long))
    try:
        with launched(latency=latency) as stub:
            settings = {
                "base_url": stub.url,
                "server": "vllm",
                "model": "stub",
                "strategy": "verifybench",
                "concurrency": str(at_once),
            }
            found = _run(project, settings, "judge")
            if items > _FEW and latency > _QUICK_S and not long:
                again = _run(project, settings | {"parser": "verifybench@1"}, "again")
                report(f"serving_reused_{items}_verdicts_per_second", items / again.seconds, "verdicts/s")
            if (made_requests := stub.counts(full=False)["requests"]) != items:
                raise SystemExit(f"{made_requests} requests for {items} items")
    finally:
        project.close()
    return found


def _run(project: Project, options: dict[str, str], name: str) -> Figures:
    looks: list[tuple[int, float]] = []
    peak = 0

    def look(info: RunInfo) -> None:
        nonlocal peak
        if info.pid is not None and psutil.pid_exists(info.pid):
            times = psutil.Process(info.pid).cpu_times()
            looks.append((info.done, times.user + times.system))
            peak = max(peak, peak_of_process(info.pid))

    ended = wait(project, start(project, "llm-judge", options, name).run, look)
    if ended.state != "complete" or ended.started_at is None or ended.finished_at is None:
        raise SystemExit(f"the run is {ended.state}: {ended.message}")
    first, last = looks[min(1, len(looks) - 1)], looks[-1]
    return Figures(
        seconds=(_time(ended.finished_at) - _time(ended.started_at)).total_seconds(),
        cpu_ms=1000 * (last[1] - first[1]) / max(1, last[0] - first[0]),
        peak_mb=peak / 1e6,
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _rows(items: int, long: Sequence[dict[str, Any]] = ()) -> Iterator[dict[str, Any]]:
    for number in range(items):
        names = {"question_id": f"q{number // 8}", "completion_id": f"c{number}"}
        texts = _texts_of(long[number % len(long)]) if long else {"completion": _WORDS}
        yield texts | names | {"completion": f"{number} {texts['completion']}"}


def _texts_of(row: dict[str, Any]) -> dict[str, Any]:
    return {name: str(row[field]) for name, field in _FIELDS.items() if field in row}


if __name__ == "__main__":
    main()
