"""Speed of the paper's table 5: accuracy by subtype with intervals, deltas, p- and q-values, from the database.

Usage: python -m bench.subtypes [--items 2000] [--verifiers 20]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from bench import synthetic
from bench.figures import report
from workbench.core.project import open_project
from workbench.measuring.accuracy import accuracy

_LABELLED = 10
_LIMIT_S = 1.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=2_000)
    parser.add_argument("--verifiers", type=int, default=20)
    options, _ = parser.parse_known_args()
    built = synthetic.cached(options.items, runs=options.verifiers, labelled=_LABELLED)
    with tempfile.TemporaryDirectory() as folder:
        # A copy has no columns in memory or next to it.
        project = open_project(Path(shutil.copy(built, folder)))
        began = time.perf_counter()
        found = accuracy(project, by="subtype")
        took = time.perf_counter() - began
        project.close()
    assert found.tests is not None
    cells = sum(row.q is not None for row in found.rows)
    figure = f"table 5 of {options.items:,} items and {options.verifiers} verifiers, {cells} q-values"
    report(figure, took, "s", _LIMIT_S)


if __name__ == "__main__":
    main()
