"""Installing the core, and the whole, into clean environments by pip, up to a first verdict: time and size.

Usage: python -m bench.installing [--rounds 3]

Packages come from the index pip knows, or from its cache; the median of the rounds counts. One JSON line per metric.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.figures import left_out, report
from tests.parts import APP, CORE, ROOT, build_wheel

PARTS = {"core": CORE, "whole": APP}
FIRST = r'import workbench; assert workbench.judge("2", r"\boxed{2}").outcome.word == "correct"'


def main() -> None:
    """Build both parts, install each into separate environments, print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        for part in ("core", "app"):
            build_wheel(ROOT / "parts" / part, Path(folder))
        for part, name in PARTS.items():
            try:
                found = [installed(Path(folder), name) for _ in range(rounds)]
            except subprocess.CalledProcessError as error:
                left_out(f"install_{part}", f"not installed: {error.stderr.strip().splitlines()[-1][:200]}")
                continue
            for figure, unit in (
                ("seconds", "s"),
                ("packages", "packages"),
                ("megabytes", "MB"),
                ("first_verdict", "s"),
            ):
                report(f"install_{part}_{figure}", statistics.median(one[figure] for one in found), unit)


def installed(wheels: Path, name: str) -> dict[str, float]:
    """Return the measurements of one installation."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python, libraries = f"{folder}/bin/python", Path(folder, "lib")
        empty = size(libraries)
        seconds = timed([python, "-m", "pip", "install", "--quiet", "--find-links", str(wheels), name])
        listed = subprocess.check_output([python, "-m", "pip", "list", "--format", "json"], stderr=subprocess.DEVNULL)
        packages = {one["name"] for one in json.loads(listed)} - {"pip", "setuptools"}
        return {
            "seconds": seconds,
            "packages": len(packages),
            "megabytes": (size(libraries) - empty) / 1e6,
            "first_verdict": timed([python, "-c", FIRST]),
        }


def timed(command: list[str]) -> float:
    """Return the seconds that a program takes."""
    started = time.perf_counter()
    subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    return time.perf_counter() - started


def size(folder: Path) -> int:
    """Return the bytes of its files."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
