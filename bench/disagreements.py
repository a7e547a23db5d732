"""Speed of the queues of disagreements at full size: 1.45M items, five verifiers.

Usage: python -m bench.disagreements [--items 1450000] [--repeat 5]

A queue is open when all its ids are ranked and the first page of rows is loaded. The columns are in memory, as they are
after any metric was shown; the first opening in a process, from the file of columns, is measured separately.
"""

from __future__ import annotations

import argparse
import time
from typing import Final

from bench.figures import median, report
from bench.synthetic import FULL, cached
from workbench.core.project import Project, open_project
from workbench.measuring.columns import columns
from workbench.measuring.records.review import Queue
from workbench.measuring.reviewing.queues import queue

_RUNS: Final = 5
_PAGE: Final = 50
_SPLIT_MS: Final = 200.0
_OTHERS: Final[tuple[Queue, ...]] = ("verifiers", "verifier-gold", "suspect-gold", "flips", "annotators")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=FULL)
    parser.add_argument("--repeat", type=int, default=5)
    options, _ = parser.parse_known_args()
    path = cached(options.items, runs=_RUNS)
    _warm(open_project(path))
    project = open_project(path)
    report("queue_split_from_file_ms", _open(project, "split"), "ms")
    report("queue_split_ms", _median(project, "split", options.repeat), "ms", _SPLIT_MS)
    report("queue_split_items", len(queue(project, "split")), "items")
    for name in _OTHERS:
        report(f"queue_{name}_ms", _median(project, name, options.repeat), "ms")
    project.close()


def _warm(project: Project) -> None:
    """Let the file of columns be written, and read by the operating system."""
    known = columns(project)
    for run in range(1, _RUNS + 1):
        known.outcome(run)
    project.close()


def _median(project: Project, name: Queue, repeat: int) -> float:
    return median([_open(project, name) for _ in range(repeat)])


def _open(project: Project, name: Queue) -> float:
    """Return the milliseconds until the first page is loaded."""
    began = time.perf_counter()
    found = queue(project, name)
    found.rows(found.ids[:_PAGE])
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main()
