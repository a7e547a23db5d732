"""Reserving items: labels per second of 1 to 16 concurrent annotators, and an annotator's waits among 100,000 items.

Usage: python -m bench.claiming
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.figures import median, report
from tests.claiming import assigned, rank, team, verifying, work
from tests.helpers import make_project, numbered
from workbench.config.settings import AnnotationPolicy
from workbench.core.database import states
from workbench.core.project import Project
from workbench.labelling import serving
from workbench.labelling.people import assign
from workbench.measuring.briefing import status

_PEOPLE = (1, 2, 8, 16)
_ITEMS, _LARGE, _TIMES = 300, 100_000, 20
_ROWS_A_SECOND = 20_000
_SLOWEST_MS, _LOOK_MS = 100.0, 50.0


def main() -> None:
    """Measure and print."""
    for people in _PEOPLE:
        at_once(people)
    during_a_run()
    among_many()


def at_once(people: int) -> None:
    """Let all annotators label as fast as they can."""
    with tempfile.TemporaryDirectory() as folder:
        project = assigned(Path(folder), _ITEMS, max(people, 2))
        began = time.perf_counter()
        times = work(project, people)
        seconds = time.perf_counter() - began
        submits = [one for person in times for one in person["submit"]]
        busy = max(sum(person["submit"]) + sum(person["next"]) for person in times) / 1000
        report(f"labels_per_second_{people}", len(submits) / min(busy, seconds), "1/s")
        report(f"claim_label_p99_ms_{people}", rank(submits, 0.99), "ms", _SLOWEST_MS)
        project.close()


def during_a_run() -> None:
    """Let sixteen annotators label while a verifier stores verdicts."""
    with tempfile.TemporaryDirectory() as folder:
        project = assigned(Path(folder), _ITEMS, 16, others=_ROWS_A_SECOND - _ITEMS)
        with verifying(project, _ROWS_A_SECOND) as pace:
            times = work(project, 16)
        submits = [one for person in times for one in person["submit"]]
        report("claim_label_p99_ms", rank(submits, 0.99), "ms", _SLOWEST_MS)
        report("claim_label_p50_ms", median(submits), "ms")
        report("verdicts_beside_labels", pace["rows_a_second"], "1/s")
        project.close()


def among_many() -> None:
    """Measure the time of a reservation and of the counts with 100,000 items of two slots each."""
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(Path(folder), numbered(_LARGE))
        assign(project, team(6), per_item=2)
        report("next_item_100k_ms", median([_claim(project) for _ in range(_TIMES)]), "ms", _LOOK_MS)
        report("progress_100k_ms", median(_timed(lambda: _progress(project))), "ms", _LOOK_MS)
        report("state_counts_100k_ms", median(_timed(lambda: states.count_by_state(project.database))), "ms", _LOOK_MS)
        report("status_100k_6_people_ms", median(_timed(lambda: status(project))), "ms")
        project.close()


def _claim(project: Project) -> float:
    began = time.perf_counter()
    with project.database.write("normal") as connection:
        serving.serve(connection, 1, AnnotationPolicy(), time.time())
    return (time.perf_counter() - began) * 1000


def _progress(project: Project) -> object:
    return serving.progress(project.database.reader(), 1, AnnotationPolicy(), time.time())


def _timed(action: Callable[[], object]) -> list[float]:
    times = []
    for _ in range(_TIMES):
        began = time.perf_counter()
        action()
        times.append((time.perf_counter() - began) * 1000)
    return times


if __name__ == "__main__":
    main()
