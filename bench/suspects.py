"""Recall of the queue of suspect labels for labels that were flipped on purpose, on the 108 real rows.

Usage: python -m bench.suspects [--seeds 50]

Each seed flips 10 labels, and the queue is opened as a reviewer would open it, over rules, math-verify, exact and
always-incorrect. Recall is the share of the flipped labels among its first 20; the baselines are the same rows in
random order, and the consensus of Dawid and Skene with gold as one more annotator, which the queue shows but does not
rank by. Real labels that were already wrong count as false positives.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from bench.figures import left_out, report
from workbench.core.project import Project, open_project
from workbench.interchange.importing import import_files, plan_import
from workbench.measuring.columns import columns
from workbench.measuring.judged import judged
from workbench.measuring.reviewing.queues import queue
from workbench.runs.run_status import wait
from workbench.runs.verifying import start
from workbench.statistics.disagreement import label_error_probability

ROWS: Final = Path(__file__).resolve().parents[2] / "shared" / "data" / "verifybench_hard_dev.jsonl"
VERIFIERS: Final = ("rules", "math-verify", "exact", "always-incorrect")
FLIPPED: Final = 10
FIRST: Final = 20
_GOAL: Final = 0.7


class Recall(NamedTuple):
    """The share of flipped labels among the first `FIRST` of one seed, by order of review."""

    queue: float
    consensus: float
    random: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    options, _ = parser.parse_known_args()
    if not ROWS.is_file():
        left_out("recall of flipped labels", f"the real rows are not here: {ROWS}")
        return
    with tempfile.TemporaryDirectory() as folder:
        project = _judged(Path(folder) / "p.db")
        found = [recall(project, seed) for seed in range(options.seeds)]
        project.close()
    shown = {order: [one[place] for one in found] for place, order in enumerate(Recall._fields)}
    report("suspects_recall", statistics.mean(shown["queue"]), "share", _GOAL, at_least=True)
    report("suspects_recall_worst_seed", min(shown["queue"]), "share")
    report("suspects_recall_dawid_skene", statistics.mean(shown["consensus"]), "share")
    report("suspects_recall_random_order", statistics.mean(shown["random"]), "share")


def _judged(path: Path) -> Project:
    project = open_project(path, create=True)
    import_files(project, plan_import([ROWS]))
    for name in VERIFIERS:
        wait(project, start(project, name).run)
    return project


def recall(project: Project, seed: int) -> Recall:
    """Flip labels, rank them, and flip them back."""
    chance = random.Random(seed)
    items = columns(project).item.tolist()
    flipped = set(chance.sample(items, FLIPPED))
    _flip(project, flipped)
    found = set(queue(project, "suspect-gold", verifiers=VERIFIERS).ids[:FIRST])
    known = judged(project, VERIFIERS)
    order = np.argsort(-label_error_probability(known.outcomes, known.gold.astype(np.int64)), kind="stable")[:FIRST]
    _flip(project, flipped)
    shares = (found, set(known.item[order].tolist()), set(chance.sample(items, FIRST)))
    return Recall(*(len(flipped & one) / FLIPPED for one in shares))


def _flip(project: Project, items: Iterable[int]) -> None:
    with project.database.write() as connection:
        connection.executemany(
            "UPDATE completions SET imported_gold = 1 - imported_gold WHERE id = ?", [(item,) for item in items]
        )
        connection.executemany(
            "INSERT INTO changes (first_id, last_id) VALUES (?, ?)", [(item, item) for item in items]
        )


if __name__ == "__main__":
    main()
