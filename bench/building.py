"""Build a hard set's queue from 1.45M candidates by five judges' verdicts: time, and memory in addition to the columns.

Usage: python -m bench.building [--items 1450000]

The candidates' votes are counted, those split 2 against 3 are divided among domains and sources, 2,000 of them are
drawn and frozen. The columns are first read from the database, as in a fresh process. A second measurement uses a tenth
of the candidates: memory in addition to the columns must not grow with their number.
"""

from __future__ import annotations

import argparse
import resource
import time
import tracemalloc
from typing import Final

from msgspec.structs import replace

from bench.figures import report
from bench.synthetic import FULL, cached, verifier
from workbench.benchmarks.building.hard import build_hard
from workbench.benchmarks.options import HardOptions
from workbench.core.project import Project, open_project
from workbench.measuring.columns import columns

_JUDGES: Final = 5
_GOAL_S: Final = 60.0
_KEPT_MB: Final = 300.0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=FULL)
    options, _ = parser.parse_known_args()
    path = cached(options.items, runs=_JUDGES)
    hard_options = HardOptions(judges=tuple(verifier(run) for run in range(1, _JUDGES + 1)))
    began = time.perf_counter()
    project = open_project(path)
    found = build_hard(project, replace(hard_options, dry_run=True))
    report("hard_queue_s", time.perf_counter() - began, "s", _GOAL_S)
    report("hard_queue_candidates", found.stages["candidates"], "items")
    report("hard_queue_split", found.stages["split"], "items")
    report("hard_queue_sampled", found.stages["sampled"], "items")
    report("hard_queue_peak_mb", _peak_mb(project, hard_options), "MB", _KEPT_MB)
    report("hard_queue_process_mb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB")
    project.close()


def _peak_mb(project: Project, hard_options: HardOptions) -> float:
    """Return the peak memory in addition to the columns while a queue is built, as Python and numpy count it."""
    known = columns(project)
    for run in range(1, _JUDGES + 1):
        known.outcome(run)
    tracemalloc.start()
    build_hard(project, replace(hard_options, dry_run=True))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


if __name__ == "__main__":
    main()
