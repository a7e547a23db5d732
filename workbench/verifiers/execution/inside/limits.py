"""Resource limits of a child, enforced by the kernel."""

from __future__ import annotations

import math
import resource

_LAST_WORDS = 32 * 2**20
"""Additional bytes for a process out of memory to report that."""

_OPEN_FILES = 64


def limit_all(memory_bytes: int, processes: int | None, file_bytes: int = 0) -> None:
    _limit(resource.RLIMIT_AS, memory_bytes, memory_bytes + _LAST_WORDS)
    _limit(resource.RLIMIT_FSIZE, file_bytes, file_bytes)
    _limit(resource.RLIMIT_CORE, 0, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES)
    _limit(resource.RLIMIT_MEMLOCK, 0, 0)
    if processes is not None:
        _limit(resource.RLIMIT_NPROC, processes, processes)


def limit_cpu(seconds: float) -> None:
    """Have the kernel end this process after ``seconds`` of computing, as a last resort."""
    whole = math.ceil(seconds)
    _limit(resource.RLIMIT_CPU, whole, whole + 1)


def grant_last_words() -> None:
    """Raise the memory limit slightly, to report an error."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _limit(limit: int, soft: int, hard: int) -> None:
    _, most = resource.getrlimit(limit)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(limit, (soft, hard))
