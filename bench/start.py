"""The time of ``workbench --help``, and the packages it must not import.

Usage: python -m bench.start
"""

from __future__ import annotations

import subprocess
import sys
import time

from bench.figures import median, report
from bench.terminal import workbench

HEAVY = ("textual", "pandas", "scipy", "sympy", "numpy", "sqlite_utils")
"""Packages that must not be imported at start."""

_GOAL_MS = 150.0
_ROUNDS = 15
_LOOK = (
    "import sys\nfrom workbench.app.cli import root\n"
    "try:\n    root(['--help'])\nexcept SystemExit:\n    pass\n"
    f"sys.stderr.write(' '.join(name for name in {HEAVY!r} if name in sys.modules))"
)


def main() -> None:
    """Measure and print.

    Raises:
        AssertionError: A heavy package was imported.
    """
    found = subprocess.run([sys.executable, "-c", _LOOK], capture_output=True, text=True, check=True).stderr
    assert not found, f"workbench --help imports {found}"
    report("help_heavy_imports", 0, "packages", 0)
    times = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        subprocess.run(workbench("--help"), capture_output=True, check=True)
        times.append((time.perf_counter() - began) * 1000)
    report("help_median", median(times), "ms", _GOAL_MS)
    report("help_best", min(times), "ms")


if __name__ == "__main__":
    main()
