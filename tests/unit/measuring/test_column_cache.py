"""The cache of columns is bounded in bytes, skips abandoned work and computes nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.helpers import make_project, numbered
from tests.tui.stage import add_run
from workbench.core.progress import Listener, Stopped, listening_with
from workbench.core.project import Project
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.measuring import column_memory
from workbench.measuring.accuracy import accuracy
from workbench.measuring.column_memory import Remembered, bytes_of
from workbench.measuring.columns import Groups, columns
from workbench.measuring.entries import BASELINES
from workbench.runs.store import verdicts
from workbench.statistics import accuracy as counting

RUNS = 5


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with closing(make_project(tmp_path, numbered(40))) as made:
        for run in range(RUNS):
            add_run(made, f"v{run}", dict.fromkeys(range(1, 41), OutcomeCode(run % 2).outcome))
        yield made


def array(size: int) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    return np.zeros(size, dtype=np.int8)


def test_nested_arrays_count_towards_the_size() -> None:
    groups = Groups(code=array(100), names=("a",), parts=(("a",),))
    assert bytes_of(groups) == 100
    assert bytes_of({"a": (array(3), (array(4),)), "b": groups, "c": "text"}) == 107


def test_the_oldest_entries_are_evicted_and_recomputed_on_demand() -> None:
    held, made = Remembered(10, 250), list[str]()

    def get(name: str, size: int = 100) -> None:
        def make() -> object:
            made.append(name)
            return array(size)

        held.get(name, (), make)

    for name in ("a", "b", "a", "c", "a"):
        get(name)
    assert made == ["a", "b", "c"]
    assert held.bytes == 200
    get("b")
    assert made == ["a", "b", "c", "b"]
    # An entry larger than the limit is kept alone, because it was just requested.
    get("large", 1000)
    get("large", 1000)
    assert made[4:] == ["large"]
    assert held.bytes == 1000


def test_a_recomputed_entry_counts_once() -> None:
    held = Remembered(10, 1000)
    for _ in range(5):
        held.get("a", (object(),), lambda: array(100))
    assert held.bytes == 100


def test_verdicts_of_many_runs_are_bounded_and_correct(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    one = bytes_of(columns(project)._verdict_table(1))
    monkeypatch.setattr(column_memory, "VERDICTS_BYTES", 2 * one)
    known = columns(project)
    known._verdicts = Remembered(RUNS, 2 * one)
    for _ in range(2):
        for run in range(1, RUNS + 1):
            assert set(known.outcome(run).tolist()) == {(run - 1) % 2}
            assert len(known._verdicts._held) <= 2
            assert len([kept for kept in known.memory._kept if kept is not None]) <= 2


def test_abandoned_work_is_not_computed() -> None:
    stopped = Listener()
    stopped.stop()
    held = Remembered(10, 1000)
    with listening_with(stopped), pytest.raises(Stopped):
        held.get("a", (), lambda: array(1))
    assert held.bytes == 0


def test_verdicts_are_counted_once_for_rows_and_tests(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """All verifiers and baselines are counted, then only those of a changed run."""
    counted: list[int] = []
    real = counting.count_clusters

    def watched(columns: counting.AccuracyColumns) -> counting.ClusterCounts:
        # The comparison with a constant verdict takes them by question alone.
        counted.extend([len(columns.gold)] if columns.group is not None else [])
        return real(columns)

    monkeypatch.setattr(counting, "count_clusters", watched)
    for expected in (RUNS + len(BASELINES), 0):
        counted.clear()
        accuracy(project, by="type", seed=None)
        assert len(counted) == expected
    with project.database.write() as connection:
        connection.execute("DELETE FROM verdicts WHERE run_id = 2 AND completion_id = 7")
        verdicts.put(connection, 2, [(7, Verdict(outcome=Outcome.ERROR))])
    counted.clear()
    accuracy(project, by="type", seed=None)
    assert len(counted) == 1
