"""A Ray cluster on this machine: a head that does no work, and nodes of one processor each, on loopback addresses."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
SMALL: Final = {"include_dashboard": False, "object_store_memory": 80_000_000}
"""Nothing is reported of nodes, and little is kept for them."""
_ACTORS: Final = ("ray::ReadingNode", "ray::SandboxNode")


class Nodes:
    """A head that does no work, and nodes of one processor each.

    Args:
        count: How many nodes there are at first.
    """

    def __init__(self, made: Any, count: int) -> None:
        self._made = made
        self._next = 3
        self.address: str = made.address
        self.nodes: list[Any] = []
        for _ in range(count):
            self.add()

    def add(self, *, core: int | None = None) -> None:
        """One more; all of it on one core of this machine, where that is said."""
        node = self._made.add_node(num_cpus=1, node_ip_address=f"127.0.0.{self._next}", **SMALL)
        self.nodes.append(node)
        self._next += 1
        if core is not None:
            raylet = psutil.Process(self.raylet(node))
            for process in (raylet, *raylet.children(recursive=True)):
                process.cpu_affinity([core])

    def kill(self) -> None:
        """End the oldest at once, and let another come."""
        node = self.nodes.pop(0)
        os.kill(self.raylet(node), signal.SIGKILL)
        self._made.remove_node(node, allow_graceful=False)
        self.add()

    def remove(self) -> None:
        """End the newest in good order."""
        self._made.remove_node(self.nodes.pop())

    def actors(self) -> list[psutil.Process]:
        """What works for runs on the nodes."""
        found = []
        for node in self.nodes:
            for child in psutil.Process(self.raylet(node)).children(recursive=True):
                try:
                    # One that ends has no words any more.
                    if (child.cmdline() or [""])[0].startswith(_ACTORS):
                        found.append(child)
                except psutil.Error:
                    continue
        return found

    @property
    def head(self) -> int:
        """The process of the head that looks after its own."""
        return self.raylet(self._made.head_node)

    @staticmethod
    def raylet(node: Any) -> int:
        """The process of a node that starts what works there."""
        (process,) = node.all_processes["raylet"]
        return int(process.process.pid)


@contextmanager
def cluster(count: int = 2) -> Iterator[Nodes]:
    """So many nodes, to which ``--on ray`` of this process and its children means; skips where Ray is not installed."""
    pytest.importorskip("ray", reason="Ray is heavy, and no part of what tests need: pip install ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", str(ROOT))
        from ray.cluster_utils import Cluster

        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "node_ip_address": "127.0.0.2", **SMALL})
        patch.setenv("RAY_ADDRESS", made.address)
        try:
            yield Nodes(made, count)
        finally:
            made.shutdown()  # type: ignore[no-untyped-call,unused-ignore]
