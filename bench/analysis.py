"""The breakdown by subtype of five runs over 1.45M items: warm, from the cache file, cold, and after changes.

Each state is measured in a separate process, after its imports, through ``accuracy(project, by="subtype")``. Its
metrics are compared with a plain SQL join of all 7.25M verdicts. Usage: python -m bench.analysis
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench.figures import median, report
from bench.synthetic import FULL, cached, verifier
from workbench.core.files import cache_folder
from workbench.core.project import Project, open_project
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.measuring.accuracy import accuracy
from workbench.measuring.columns import columns
from workbench.runs.store import verdicts
from workbench.statistics.records.report import AccuracyReport

RUNS = 5
BY = "subtype"

_WARM_MS, _FILE_MS, _COLD_S, _DRAWN_S = 50.0, 250.0, 2.0, 20.0
_ROUNDS = 7
_VERDICTS = 500

_JOIN = """SELECT v.run_id, coalesce(i.subtype, q.subtype), q.id,
    CASE WHEN i.gold_from IS NOT NULL THEN i.gold ELSE c.imported_gold END AS truth, v.outcome, count(*)
    FROM verdicts AS v JOIN completions AS c ON c.id = v.completion_id JOIN questions AS q ON q.id = c.question_id
    LEFT JOIN item_states AS i ON i.completion_id = c.id
    WHERE v.sample = 0 AND truth IS NOT NULL AND coalesce(i.state, '') NOT IN ('conflict', 'excluded')
    GROUP BY 1, 2, 3, 4, 5"""

Cell = tuple[str, str | None]
"""A verifier and a subtype; None for all items."""


def main() -> None:
    """Measure and print."""
    with _copy(cached(FULL, runs=RUNS)) as path:
        shutil.rmtree(cache_folder(path), ignore_errors=True)
        cold = _in_a_process(path, "first")
        report("breakdown_cold", cold["seconds"], "s", _COLD_S)
        report("breakdown_drawn", _in_a_process(path, "drawn")["seconds"], "s", _DRAWN_S)
        report("breakdown_cold_memory", cold["megabytes"], "MB")
        from_file = [_in_a_process(path, "first") for _ in range(_ROUNDS)]
        report("breakdown_from_file", median([1000 * found["seconds"] for found in from_file]), "ms", _FILE_MS)
        size = sum(file.stat().st_size for file in cache_folder(path).iterdir())
        report("breakdown_file_size", size / 2**20, "MiB")
        changed = _in_a_process(path, "changes")
        report("breakdown_warm", changed["warm"], "ms", _WARM_MS)
        report(f"breakdown_after_{_VERDICTS}_verdicts", changed["verdicts"], "ms", _WARM_MS)
        report("breakdown_after_a_label", changed["label"], "ms")
        report(f"columns_patch_{_VERDICTS}_verdicts", changed["columns_verdicts"], "ms")
        report("columns_patch_a_label", changed["columns_label"], "ms")
        report("breakdown_memory", changed["megabytes"], "MB")
        report("breakdown_differs_from_join", _against_join(path), "cells", 0)


@contextmanager
def _copy(path: Path) -> Iterator[Path]:
    """Return a copy of the database for writing."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copy(path, Path(folder) / "p.db"))


def _in_a_process(path: Path, what: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.analysis", what, str(path)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found | {"megabytes": found["kilobytes"] / 1024}


def _first(path: Path) -> dict[str, float]:
    """Return the time of a process's first table, including opening the database."""
    return {"seconds": _timed(lambda: _once(path))}


def _drawn(path: Path) -> dict[str, float]:
    """Return the time of the table with intervals, after the table without them."""
    with closing(open_project(path)) as project:
        _table(project)
        return {"seconds": _timed(lambda: accuracy(project, by=BY))}


def _once(path: Path) -> None:
    with closing(open_project(path)) as project:
        _table(project)


def _changes(path: Path) -> dict[str, float]:
    """Return milliseconds, medians of several rounds: no change, new verdicts of one run, another gold label."""
    found: dict[str, list[float]] = {}

    def measured(name: str, work: Callable[[], object]) -> None:
        found.setdefault(name, []).append(1000 * _timed(work))

    with closing(open_project(path)) as project:
        _table(project)
        for round_ in range(_ROUNDS):
            measured("warm", partial(_table, project))
            for place, (prefix, look) in enumerate((("columns_", _columns), ("", _table))):
                first = 1 + (2 * round_ + place) * FULL // (2 * _ROUNDS)
                _judge_again(project, range(first, first + _VERDICTS))
                measured(f"{prefix}verdicts", partial(look, project))
                _label(project, round_)
                measured(f"{prefix}label", partial(look, project))
                _table(project)
    return {name: median(times) for name, times in found.items()}


def _table(project: Project) -> object:
    return accuracy(project, by=BY, seed=None)


def _columns(project: Project) -> object:
    found = columns(project)
    return [found.outcome(run) for run in range(1, RUNS + 1)]


def _judge_again(project: Project, items: range) -> None:
    with project.database.write() as connection:
        connection.execute(
            "DELETE FROM verdicts WHERE run_id = 3 AND completion_id BETWEEN ? AND ?", (items[0], items[-1])
        )
        verdicts.put(connection, 3, [(item, Verdict(outcome=Outcome.CORRECT)) for item in items])


def _label(project: Project, number: int) -> None:
    with project.database.write() as connection:
        connection.execute(
            "UPDATE item_states SET gold = 1 - gold WHERE completion_id = "
            "(SELECT completion_id FROM item_states WHERE state = 'final' LIMIT 1 OFFSET ?)",
            (number,),
        )


def _against_join(path: Path) -> int:
    """Return the cells of the table that differ from those counted by SQL; both are timed."""
    with closing(open_project(path)) as project:
        began = time.perf_counter()
        rows = project.database.reader().execute(_JOIN).fetchall()
        report("breakdown_by_join", time.perf_counter() - began, "s")
        return _differing(accuracy(project, by=BY, protocol="forced"), rows)


def _differing(table: AccuracyReport, rows: list[tuple[int, str, int, int, int, int]]) -> int:
    cells: dict[Cell, dict[tuple[int, int], int]] = {}
    questions: dict[Cell, dict[int, list[int]]] = {}
    for run, subtype, question, gold, outcome, number in rows:
        own: list[Cell] = [(verifier(run), subtype), (verifier(run), None)]
        for cell in own:
            counts = cells.setdefault(cell, {})
            counts[gold, outcome] = counts.get((gold, outcome), 0) + number
            of_question = questions.setdefault(cell, {}).setdefault(question, [0, 0])
            of_question[0] += number
            of_question[1] += number * (outcome == gold or (outcome >= OutcomeCode.ABSTAIN and gold == 0))
    shown = {(row.verifier, row.group): row for row in table.rows if row.kind == "verifier"}
    differing = len(cells.keys() ^ shown.keys())
    for cell, row in shown.items():
        counts, of_questions = cells[cell], list(questions[cell].values())
        number, right = (sum(column) for column in zip(*of_questions, strict=True))
        expected: dict[str, Any] = {
            "n": number,
            "questions": len(of_questions),
            "tp": counts.get((1, 1), 0),
            "fp": counts.get((0, 1), 0),
            "abstain": sum(counts.get((gold, int(OutcomeCode.ABSTAIN)), 0) for gold in (0, 1)),
            "error": sum(counts.get((gold, int(OutcomeCode.ERROR)), 0) for gold in (0, 1)),
        }
        exact = all(getattr(row, name) == value for name, value in expected.items())
        held = row.ci is not None and row.ci[0] <= right / number <= row.ci[1]
        differing += not (exact and held and row.accuracy == right / number)
    return differing


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _child(what: str, path: Path) -> None:
    """Measure one state in this process and print it as JSON; a small table first imports everything."""
    _once(cached(400, runs=2, labelled=40))
    found = {"first": _first, "drawn": _drawn, "changes": _changes}[what](path)
    print(json.dumps(found | {"kilobytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _child(sys.argv[1], Path(sys.argv[2]))
    else:
        main()
