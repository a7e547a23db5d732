"""Describes runs in words: the isolation of programs, the work of cluster nodes, and timeouts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from workbench.core.code import Level, Provenance
from workbench.core.run import ClusterUse, RunInfo
from workbench.core.text.figures import counted

LEVELS: Final[dict[Level, str]] = {
    "L3": "namespaces, Landlock and seccomp",
    "L2": "Landlock and seccomp",
    "L1": "limits alone",
}
"""Isolation mechanisms at each level."""


def isolation_lines(run: RunInfo) -> Iterator[str]:
    if run.isolations:
        counts = (f"{level} {count:,} ({LEVELS[level]})" for level, count in run.isolations.items())
        yield f"isolation: {', '.join(counts)}"
    for found in run.provenance:
        yield from _provenance_lines(found)


def _provenance_lines(found: Provenance) -> Iterator[str]:
    yield f"interpreter: {' '.join((found.interpreter, *found.flags))}"
    yield f"PYTHONHASHSEED={found.hash_seed}, packages {found.packages[:12]}, code of replies by {found.extractor}"
    limits = ", ".join(f"{name} {limit:,.12g}" for name, limit in found.limits.items())
    if limits:
        yield f"limits: {limits}"


def node_lines(cluster: ClusterUse | None) -> Iterator[str]:
    for node in [] if cluster is None else cluster.nodes:
        if node.refused:
            yield f"node {node.name}: rejected: {node.refused}"
            continue
        rate = "–" if node.rate is None else f"{node.rate:,.1f}"
        yield (
            f"node {node.name}: {counted(node.workers, 'worker')}, {node.judged:,} results, {rate} a second; "
            f"died {counted(node.deaths, 'time')}, {node.lost:,} repeated on other nodes"
        )


def timeout_words(counts: Mapping[str, int]) -> str:
    """Describe the number of timeouts and their kinds; "" if there are none.

    Args:
        counts: Number of timeouts by kind of limit: ``cpu``, ``wall`` or ``unknown``.
    """
    whole = sum(counts.values())
    if not whole:
        return ""
    parts = ", ".join(f"{count:,} {cause}" for cause, count in counts.items())
    return f"timeouts: {counted(whole, 'item')} had no more time ({parts})"
