"""A Ray cluster on this machine: a head that runs no tasks, and single-processor nodes on loopback addresses."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
SMALL: Final = {"include_dashboard": False, "object_store_memory": 80_000_000}
"""Options that switch off reporting and keep the object store small."""
_ACTORS: Final = ("ray::ReadingNode", "ray::SandboxNode")
_RUN: Final = "JOIN runs AS r ON r.id = x.run_id JOIN verifiers AS v ON v.id = r.verifier_id"
_OF_RUNS: Final = (
    "SELECT v.name, v.kind, v.config, v.config_hash, r.version, r.selection, r.state, r.items FROM runs AS r "
    "JOIN verifiers AS v ON v.id = r.verifier_id ORDER BY 1",
    f"SELECT v.name, completion_id, sample, outcome, score, reason FROM verdicts AS x {_RUN} ORDER BY 1, 2, 3",
    "SELECT v.name, completion_id, sample, reference_final, candidate_final, span_start, span_end, detail, rule, "
    f"reference_start, reference_end FROM verdict_evidence AS x {_RUN} ORDER BY 1, 2, 3",
    f"SELECT v.name, completion_id, suite, outcomes, isolation, forgeable, failures FROM test_results AS x {_RUN} "
    "ORDER BY 1, 2, 3",
    f"SELECT v.name, completion_id, trace FROM verdict_traces AS x {_RUN} ORDER BY 1, 2",
    f"SELECT v.name, completion_id, position, q.body, y.body, step, role, reused FROM verdict_calls AS x {_RUN} "
    "JOIN responses AS y ON y.id = x.response_id JOIN requests AS q ON q.id = y.request_id ORDER BY 1, 2, 3",
    f"SELECT v.name, x.completion_id, x.key, x.state FROM attempts AS x {_RUN} ORDER BY 1, 2, 3",
    f"SELECT v.name, document FROM provenance AS x {_RUN} ORDER BY 1",
)


class Nodes:
    """A head that runs no tasks, and single-processor nodes.

    Args:
        count: The initial number of nodes.
    """

    def __init__(self, ray_cluster: Any, count: int) -> None:
        self._cluster = ray_cluster
        self._next = 3
        self.address: str = ray_cluster.address
        self.nodes: list[Any] = []
        for _ in range(count):
            self.add()

    def add(self, *, core: int | None = None) -> None:
        """Add a node; pin all its processes to one core of this machine if ``core`` is given."""
        node = self._cluster.add_node(num_cpus=1, node_ip_address=f"127.0.0.{self._next}", **SMALL)
        self.nodes.append(node)
        self._next += 1
        if core is not None:
            raylet = psutil.Process(self.raylet(node))
            for process in (raylet, *raylet.children(recursive=True)):
                process.cpu_affinity([core])

    def kill(self) -> None:
        """Kill the oldest node without warning and start a new one."""
        node = self.nodes.pop(0)
        os.kill(self.raylet(node), signal.SIGKILL)
        self._cluster.remove_node(node, allow_graceful=False)
        self.add()

    def remove(self) -> None:
        """Shut down the newest node gracefully."""
        self._cluster.remove_node(self.nodes.pop())

    def actors(self) -> list[psutil.Process]:
        """Return the processes that work for runs on the nodes."""
        found = []
        for node in self.nodes:
            for child in psutil.Process(self.raylet(node)).children(recursive=True):
                try:
                    # A process that is ending has an empty command line.
                    if (child.cmdline() or [""])[0].startswith(_ACTORS):
                        found.append(child)
                except psutil.Error:
                    continue
        return found

    @property
    def head(self) -> int:
        """Return the process of the head that manages its children."""
        return self.raylet(self._cluster.head_node)

    @staticmethod
    def raylet(node: Any) -> int:
        """Return the process of a node that starts its workers."""
        (process,) = node.all_processes["raylet"]
        return int(process.process.pid)


@contextmanager
def cluster(count: int = 2) -> Iterator[Nodes]:
    """Start a cluster that ``--on ray`` of this process and its children uses; skip where Ray is not installed."""
    pytest.importorskip("ray", reason="Ray is heavy, and no part of what tests need: pip install ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", str(ROOT))
        from ray.cluster_utils import Cluster

        ray_cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "node_ip_address": "127.0.0.2", **SMALL}
        )
        patch.setenv("RAY_ADDRESS", ray_cluster.address)
        try:
            yield Nodes(ray_cluster, count)
        finally:
            ray_cluster.shutdown()  # type: ignore[no-untyped-call,unused-ignore]


def dump(path: Path) -> list[tuple[Any, ...]]:
    """Return the rows of all runs except times; addresses of objects are removed, since they differ by process."""
    with closing(sqlite3.connect(path)) as connection:
        found = [row for query in _OF_RUNS for row in connection.execute(query)]
    return [tuple(re.sub("0x[0-9a-f]+", "0x", one) if isinstance(one, str) else one for one in row) for row in found]
