"""What one worker process may use, enforced by the kernel."""

from __future__ import annotations

import math
import resource
import sys
from pathlib import Path
from typing import Protocol, runtime_checkable

from msgspec import Struct

CPU_SLACK_S = 10
"""How much longer than its deadline a worker may compute before the kernel ends it, should its pool not look."""


class Allowance(Struct, frozen=True, kw_only=True):
    """What a verifier may use in a worker process.

    Attributes:
        start_s: Seconds it may take to load; its waits for a processor don't count where the kernel tells.
        deadline_s: Seconds of processor time an item may take, sending included; by the clock it may be ten times as
            many (`meter.PATIENCE`).
        memory_bytes: Resident memory a worker may use beyond what it had when it was loaded.
    """

    start_s: float = 60.0
    deadline_s: float = 1.0
    memory_bytes: int = 2**30


@runtime_checkable
class HeavyVerifier(Protocol):
    """What a verifier has besides, if it has much to load or takes its time.

    Attributes:
        allowance: What it may use in a worker process.
    """

    allowance: Allowance

    def prepare(self) -> None:
        """Load what ``verify`` needs; called once in each worker process, before its limits hold.

        Raises:
            WorkbenchError: It can't be loaded; no worker will start.
        """
        ...


def peak_kb() -> int:
    """The most resident memory this process has had, in kB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "linux" else peak // 1024


def peak_of_process(pid: int) -> int:
    """The most resident memory another process has had, in bytes; 0 where the kernel doesn't tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def limit_memory(resident_bytes: int) -> None:
    """Limit the address space so that resident memory stays below the limit; write no core files.

    Libraries reserve address space they never touch (some numpy builds hundreds of MB); what is reserved
    but not resident now is added to the limit.
    """
    statm = Path("/proc/self/statm")
    if statm.exists():
        size, resident = (int(pages) * resource.getpagesize() for pages in statm.read_text().split()[:2])
        _lower(resource.RLIMIT_AS, resident_bytes + size - resident)
    _lower(resource.RLIMIT_CORE, 0)


def lift_memory_limit() -> None:
    """Let this process have memory again, for its last words."""
    _lower(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)[1])


def limit_cpu(seconds: float) -> None:
    """Have the kernel end this process soon after so many more seconds of computing."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _lower(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime + seconds) + CPU_SLACK_S)


def _lower(limit: int, value: int) -> None:
    """Set a soft limit, no higher than the hard one."""
    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
