"""Speed and memory of ``workbench import`` against the ``sqlite-utils`` command line on one synthetic file.

Usage: python -m bench.import_speed [--rows 200000] [--rounds 3]

Both run as processes, including their start, alternating; the median of the rounds counts. One JSON line per metric.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.figures import report

BIN = Path(sys.executable).parent
PER_QUESTION = 22
ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789\\${}^_="
TYPES = (
    ("A1 - Integer", "A - Numeric Values"),
    ("B5 - Matrix", "B - Expressions"),
    ("C1 - Single Choice", "C - Multi-choice"),
    ("D1 - Specific", "D - String"),
)


def main() -> None:
    """Write the file, run both programs, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        source = place / "synthetic.jsonl"
        write_rows(source, options.rows)
        ours, theirs, memory = [], [], []
        for number in range(options.rounds):
            seconds, peak = run(["workbench", "import", str(place / f"w{number}.db"), str(source), "--json"])
            ours.append(seconds)
            memory.append(peak)
            seconds, _ = run(["sqlite-utils", "insert", str(place / f"s{number}.db"), "t", str(source), "--nl"])
            theirs.append(seconds)
            for database in place.glob("*.db*"):
                database.unlink()
        size = source.stat().st_size / 1e6
    seconds = statistics.median(ours)
    ratio = statistics.median(theirs) / seconds
    report("import_vs_sqlite_utils", ratio, "x", 1.5, at_least=True)
    report("import_rows_per_second", options.rows / seconds, "rows/s")
    report("import_megabytes_per_second", size / seconds, "MB/s")
    report("import_seconds", seconds, "s")
    report("sqlite_utils_seconds", statistics.median(theirs), "s")
    report("import_peak_rss", max(memory), "MB", 400)


def write_rows(path: Path, rows: int) -> None:
    """Write a file in the released schema: completions of 600 to 1,500 characters, 22 per question."""
    draw = random.Random(1)
    words = ["".join(draw.choices(ALPHABET, k=draw.randint(2, 9))) for _ in range(3_000)] + ["答案", "é", "\n", '"']
    pool = " ".join(draw.choices(words, k=200_000))

    def text(low: int, high: int) -> str:
        start = draw.randrange(len(pool) - high)
        return pool[start : start + draw.randint(low, high)]

    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            question, position = divmod(number, PER_QUESTION)
            if position == 0:
                subtype, kind = draw.choice(TYPES)
                shared = {"question": text(150, 600), "answer": text(1, 200)}
                source = f"math_reasoning/set-{draw.randrange(40)}"
            row = {
                "question_id": f"{question:032x}",
                "completion_id": f"{draw.getrandbits(128):032x}",
                **shared,
                "completion": text(600, 1_500),
                "gold_correct": draw.random() < 0.4,
                "completion_model": f"model-{position}",
                "source": source,
                "answer_type": subtype,
                "answer_subtype": kind,
                "annotator": [f"a{draw.randrange(5)}", "b"],
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def run(command: list[str]) -> tuple[float, float]:
    """Return the seconds and the peak memory (MB) of a program."""
    began = time.perf_counter()
    process = subprocess.Popen([str(BIN / command[0]), *command[1:]], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} exited with {process.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
