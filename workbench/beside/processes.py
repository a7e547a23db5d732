"""Which process something belongs to: its number, and when it began, for numbers are given out again."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """A process of this machine.

    Attributes:
        pid: Its number.
        ticks: When it began, in the system's ticks since it was started; None where that is not known.
    """

    pid: int
    ticks: int | None

    def lives(self) -> bool:
        """Whether it still runs; of one whose beginning isn't known, whether any of its number does."""
        began = ticks_of(self.pid)
        return began is not None and (self.ticks is None or began in (self.ticks, 0))


def this_process() -> Process:
    """The one that asks."""
    return Process(os.getpid(), _own_ticks(os.getpid()))


@lru_cache(maxsize=1)
def _own_ticks(pid: int) -> int:
    return ticks_of(pid) or 0


def ticks_of(pid: int) -> int | None:
    """When a process began; None when there is none of this number, 0 where this can't be told."""
    try:
        # The name in brackets may hold anything; the number is the 22nd field (proc(5)).
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return None if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, ValueError, IndexError):
        return _without_proc(pid)


def _without_proc(pid: int) -> int | None:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return None
    except OSError:
        return 0
    return None if Path("/proc/self/stat").exists() else 0
