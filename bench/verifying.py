"""Speed and memory of the verifier ``rules``; Math-Verify, used as its README shows, judges the same rows.

Usage: python -m bench.verifying [--rows 1080] [--more 32400] [--many 200000]

Both are timed as whole jobs, including the start of their processes. The rows are the real ones in the shared data if
available, otherwise synthetic ones with long completions. Real rows are repeated with another question each time: the
comparisons are the same, but none is in the cache.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import count, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.figures import report
from bench.synthetic import released_rows
from workbench.core.project import open_project
from workbench.core.run import RunInfo
from workbench.core.verdict import VerifierInput
from workbench.runs.run_status import wait
from workbench.runs.verifying import start
from workbench.verifiers.base import Pending
from workbench.verifiers.judging import peak_of_process
from workbench.verifiers.rules.verifier import Rules

REAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "verifybench_hard_dev.jsonl"
VERIFIER = "rules"

_RATIO = 3.0
_QUICK_PER_SECOND = 5_000.0
_AGAIN_RATIO = 20.0
_MEMORY_RATIO = 1.1
_QUICK_S = 3.0
_FEW = 10
"""The small size of the memory measurement is the large one divided by this."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_080)
    parser.add_argument("--more", type=int, default=32_400)
    parser.add_argument("--many", type=int, default=200_000)
    options, _ = parser.parse_known_args()
    rows = list(islice(_rows(), options.rows))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        source = _write(place / "rows.jsonl", rows)
        _against_math_verify(place, source, rows)
        _quick(rows)
        _again(place, _write(place / "more.jsonl", islice(_rows(), options.more)))
        _memory(place, options.many)


def _rows() -> Iterator[dict[str, Any]]:
    """Yield real rows endlessly, each time with another question, or synthetic ones."""
    if not REAL.is_file():
        yield from released_rows(100_000, pad=4_200)
        return
    real = [json.loads(line) for line in REAL.read_text(encoding="utf-8").splitlines()]
    for turn in count():
        for row in real:
            own = {name: f"{row[name]}-{turn}" for name in ("question_id", "completion_id")}
            yield {**row, **own, "question": f"Question {turn}. {row['question']}"}


def _against_math_verify(place: Path, source: Path, rows: list[dict[str, Any]]) -> None:
    pairs = [(row["answer"], row["completion"]) for row in rows]
    for processes in (1, 2):
        theirs = _direct(pairs, processes)
        database = _imported(place / f"versus-{processes}.db", source)
        began = time.perf_counter()
        _judge(database, processes)
        ours = time.perf_counter() - began
        report(f"math_verify_rows_per_second_{processes}", len(rows) / theirs, "rows/s")
        report(f"rules_rows_per_second_{processes}", len(rows) / ours, "rows/s")
        report(f"rules_vs_math_verify_{processes}", theirs / ours, "x", _RATIO, at_least=True)


def _direct(pairs: list[tuple[str, str]], processes: int) -> float:
    """Return the seconds that Math-Verify itself takes, without our code."""
    began = time.perf_counter()
    with get_context("spawn").Pool(processes) as pool:
        for _ in pool.imap_unordered(math_verify, pairs):
            pass
    return time.perf_counter() - began


def math_verify(pair: tuple[str, str]) -> bool:
    """Return Math-Verify's verdict on a completion; its own timeouts stay enabled."""
    from math_verify import parse, verify

    reference, completion = pair
    return bool(verify(parse(f"${reference}$"), parse(completion)))


def _quick(rows: Iterable[dict[str, Any]]) -> None:
    """Measure the first stage alone, on one core."""
    verifier = Rules()
    items = [
        VerifierInput(
            item=number,
            question=row["question"],
            reference=row["answer"],
            completion=row["completion"],
            subtype=row["answer_type"].split()[0],
        )
        for number, row in enumerate(rows)
    ]
    pending = sum(isinstance(verifier.quick(item), Pending) for item in items)
    judged = 0
    began = time.perf_counter()
    while time.perf_counter() - began < _QUICK_S:
        for item in items:
            verifier.quick(item)
        judged += len(items)
    seconds = time.perf_counter() - began
    report("rules_quick_rows_per_second", judged / seconds, "rows/s", _QUICK_PER_SECOND, at_least=True)
    report("rules_left_to_workers", 100 * pending / len(items), "%")


def _again(place: Path, source: Path) -> None:
    """Run the same command twice, then the same rows under another name, with all comparisons cached."""
    database = _imported(place / "again.db", source)
    verify = ["verify", str(database), VERIFIER]
    first, second = _workbench(*verify), _workbench(*verify)
    _workbench("import", str(database), str(source), "--dataset", "again")
    renamed = _workbench(*verify)
    report("verify_seconds", first, "s")
    report("verify_again_ratio", first / second, "x", _AGAIN_RATIO, at_least=True)
    report("verify_another_dataset_ratio", first / renamed, "x")


def _memory(place: Path, many: int) -> None:
    """Measure the runner's peak memory at two sizes; one comparison in 51 goes to a worker."""
    peaks = []
    for size in (many // _FEW, many):
        source = _write(place / f"{size}.jsonl", released_rows(size, far=51))
        database = _imported(place / f"{size}.db", source)
        began = time.perf_counter()
        peaks.append(_judge(database, 2) / 1e6)
        report(f"verify_rows_per_second_{size}", size / (time.perf_counter() - began), "rows/s")
        report(f"runner_peak_rss_{size}", peaks[-1], "MB")
    report("runner_peak_rss_ratio", peaks[1] / peaks[0], "x", _MEMORY_RATIO)


def _judge(database: Path, workers: int) -> int:
    """Carry out a run; return the runner's peak memory in bytes."""
    peak = 0

    def look(info: RunInfo) -> None:
        nonlocal peak
        peak = max(peak, peak_of_process(info.pid or 0))

    project = open_project(database)
    try:
        ended = wait(project, start(project, VERIFIER, workers=workers).run, look)
    finally:
        project.close()
    if ended.state != "complete":
        raise SystemExit(f"the run is {ended.state}: {ended.message}")
    return peak


def _imported(database: Path, source: Path) -> Path:
    _workbench("import", str(database), str(source))
    return database


def _workbench(*arguments: str) -> float:
    """Return the seconds of one command."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "workbench", *arguments], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


if __name__ == "__main__":
    main()
