"""Working time of a process, independent of the machine's load.

Processor time counts for a process and its children. Wall time excludes the process's waits for a processor, if the
kernel reports them (Linux, ``schedstat``): it is the same with a hundred other processes on the machine as without
them.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Final, Literal

import psutil
from msgspec import Struct

WALL_TIME_FACTOR: Final = 10.0
"""Allowed wall time as a multiple of the computing time: a process may sleep, or wait for a processor on systems that
don't report such waits.
"""

_SHORTEST_S: Final = 0.005
_POLL_S: Final = 0.5
"""Longest interval between two measurements of a process on several processors."""

_LINUX: Final = sys.platform == "linux"
_LONGEST: Final = 4096
_TICKS: Final = os.sysconf("SC_CLK_TCK")

Cause = Literal["cpu", "wall"]
"""The exceeded limit: computing time or wall time."""


class ProcessUsage(Struct, frozen=True):
    """The time a process has used since a moment.

    Attributes:
        cpu: Seconds of processor time.
        wall: Seconds of wall time, without waits for a processor if these are known.
        exact: Whether those waits are known.
    """

    cpu: float
    wall: float
    exact: bool

    def over(self, seconds: float) -> Cause | None:
        """Return the limit that is exceeded if ``seconds`` of computing are allowed; None if none is."""
        if self.cpu >= seconds:
            return "cpu"
        return "wall" if self.wall >= WALL_TIME_FACTOR * seconds else None

    @property
    def own(self) -> float:
        """Return the seconds to charge to a budget: processor time of all threads, or wall time without waits if that
        is more."""
        return max(self.cpu, self.wall if self.exact else self.wall / WALL_TIME_FACTOR)

    def left(self, seconds: float) -> float:
        """Return the seconds until the next check is worthwhile."""
        return max(_SHORTEST_S, min(seconds - self.cpu, WALL_TIME_FACTOR * seconds - self.wall, _POLL_S))


class Meter:
    """Measures a process from outside.

    A process that has ended keeps its last measurement; one with an unknown id has used nothing.

    Args:
        pid: The process id.
        tree: Whether to measure all its children; else only those it has waited for, unless `spent` is called with
            ``live``.
    """

    def __init__(self, pid: int | None, *, tree: bool = False) -> None:
        self._pid = pid
        self._tree = tree
        self._cpu = self._waited = 0.0
        self._exact = False
        self._stat, self._schedstat = _open_proc_file(pid, "stat"), _open_proc_file(pid, "schedstat")
        self.restart()

    def restart(self) -> None:
        self._update(live=self._tree)
        self._began, self._from_cpu, self._from_waited = time.monotonic(), self._cpu, self._waited

    def spent(self, *, live: bool = False) -> ProcessUsage:
        """Return its usage since `restart`.

        Args:
            live: Whether to include children that still run.
        """
        self._update(live=live or self._tree)
        wall = time.monotonic() - self._began
        waited = min(wall, max(0.0, self._waited - self._from_waited))
        return ProcessUsage(max(0.0, self._cpu - self._from_cpu), wall - waited, self._exact)

    def close(self) -> None:
        for descriptor in (self._stat, self._schedstat):
            if descriptor is not None:
                os.close(descriptor)
        self._stat = self._schedstat = None

    def _update(self, *, live: bool) -> None:
        if self._pid is None or (cpu := processor_time(self._pid)) is None:
            return
        waited = _waited(self._schedstat)
        self._exact = waited is not None
        self._cpu, self._waited = cpu + _ended_children_time(self._stat), waited or 0.0
        for process in _descendants(self._pid) if live else ():
            stat, schedstat = _open_proc_file(process, "stat"), _open_proc_file(process, "schedstat")
            self._cpu += (processor_time(process) or 0.0) + _ended_children_time(stat)
            self._waited += _waited(schedstat) or 0.0
            for descriptor in (stat, schedstat):
                if descriptor is not None:
                    os.close(descriptor)


def describe_timeout(cause: Cause, seconds: float) -> str:
    if cause == "cpu":
        return f"timeout: cpu, it computed for more than {seconds:g} s"
    return f"timeout: wall, it took more than {WALL_TIME_FACTOR * seconds:g} s, most of it asleep"


def processor_time(pid: int) -> float | None:
    """Return the computing seconds of all threads of a process, ended ones included; None if the process has ended."""
    if _LINUX:
        # The clock id that the C library's clock_getcpuclockid derives from a process id.
        with contextlib.suppress(OSError):
            return time.clock_gettime((~pid << 3) | 2)
    with contextlib.suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return float(times.user + times.system)
    return None


def _ended_children_time(stat: int | None) -> float:
    if stat is None:
        return 0.0
    with contextlib.suppress(OSError, ValueError, IndexError):
        # The name, which may contain anything, is in parentheses; the times are the 16th and 17th field.
        fields = os.pread(stat, _LONGEST, 0).rpartition(b")")[2].split()
        return (int(fields[13]) + int(fields[14])) / _TICKS
    return 0.0


def _descendants(pid: int) -> list[int]:
    with contextlib.suppress(psutil.Error):
        return [process.pid for process in psutil.Process(pid).children(recursive=True)]
    return []


def _open_proc_file(pid: int | None, name: str) -> int | None:
    with contextlib.suppress(OSError):
        return None if pid is None else os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    return None


def _waited(descriptor: int | None) -> float | None:
    """Return the seconds that a process (its first thread) has waited for a processor; None if unknown."""
    if descriptor is None:
        return None
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(os.pread(descriptor, _LONGEST, 0).split()[1]) / 1e9
    return None
