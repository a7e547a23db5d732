"""The cluster benchmark compares driver, head and node on one core with an additional node on a second core."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from bench import cluster as bench
from tests.cluster import Nodes


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="it takes two cores")
def test_only_the_second_node_has_a_separate_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ray", reason="Ray is heavy, and no part of what tests need: pip install ray")
    on: list[list[set[int]]] = []
    turn, before = bench._turn, os.sched_getaffinity(0)

    def seen(folder: Path, kind: str, empty: Path, nodes: Nodes) -> Any:
        found = turn(folder, kind, empty, nodes)
        on.append([_cores(nodes.head), *map(_cores, map(nodes.raylet, nodes.nodes)), os.sched_getaffinity(0)])
        return found

    monkeypatch.setattr(bench, "_poll_nodes", seen)
    with bench.on_core(0):
        bench.speed(tmp_path, "rules", bench._rows_project(tmp_path, 3000), 1)
    assert on == [[{0}, {0}, {0}], [{0}, {0}, {1}, {0}]]
    assert os.sched_getaffinity(0) == before
    told = {line["figure"]: line["value"] for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert told["cluster_rules_per_second_1"] > 0
    assert told["cluster_rules_two_nodes"] > 0


def _cores(pid: int) -> set[int]:
    """The cores of a process and of what it has started."""
    process = psutil.Process(pid)
    return {core for one in (process, *process.children(recursive=True)) for core in one.cpu_affinity()}
