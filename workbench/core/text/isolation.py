"""How the programs of a run were kept in and what their outcomes depend on, in lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workbench.core.code import Level, Provenance
from workbench.core.run import RunInfo

_LEVELS: Final[dict[Level, str]] = {
    "L3": "namespaces, Landlock and seccomp",
    "L2": "Landlock and seccomp",
    "L1": "limits alone",
}


def isolation_lines(run: RunInfo) -> Iterator[str]:
    """Lines on a run of programs; none for any other run."""
    if run.isolations:
        counts = (f"{level} {count:,} ({_LEVELS[level]})" for level, count in run.isolations.items())
        yield f"isolation: {', '.join(counts)}"
    for found in run.provenance:
        yield from _provenance(found)


def _provenance(found: Provenance) -> Iterator[str]:
    yield f"interpreter: {' '.join((found.interpreter, *found.flags))}"
    yield f"PYTHONHASHSEED={found.hash_seed}, packages {found.packages[:12]}, code of replies by {found.extractor}"
    limits = ", ".join(f"{name} {limit:,.12g}" for name, limit in found.limits.items())
    if limits:
        yield f"limits: {limits}"
