"""Which process is which: told by the kernel's own start times and boots, never by the clock on the wall.

A clock may be set back by an hour, and a machine may sleep; the ticks at which a process started and the id of the
boot it belongs to stay. Where there is no ``/proc`` (macOS), a process's start as the system wrote it down stands for
both: it isn't rewritten when the clock is set.
"""

from __future__ import annotations

import hashlib
import os
import platform
import time
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from workbench.beside.processes import ticks_of

PROC = Path("/proc")

Life = Literal["lives", "gone", "elsewhere"]
"""``elsewhere``: it belongs to another machine or another container, where its number says nothing here."""


class Process(Struct, frozen=True, array_like=True):
    """What tells a process from every other one.

    Attributes:
        started: Ticks from the boot to its start; in milliseconds since the epoch where there is no ``/proc``.
        boot: The id of the boot it belongs to; empty where there is none.
        spaces: The namespaces in which its number and its clocks mean something; empty where there are none.
        machine: The machine it runs on.
    """

    pid: int
    started: int
    boot: str
    spaces: str
    machine: str

    def encode(self) -> str:
        """The process as a column holds it."""
        return msgspec.json.encode(self).decode()


def decoded(text: str | None) -> Process | None:
    """A process from a column; None for what is none, such as a row of an earlier version."""
    try:
        return None if text is None else msgspec.json.decode(text, type=Process)
    except msgspec.MsgspecError:
        return None


def this_process() -> Process:
    """The process that calls."""
    pid = os.getpid()
    return Process(pid, _started(pid) or 0, boot_id(), spaces(), machine())


def life(process: Process) -> Life:
    """Whether a process lives, as far as it can be seen from here.

    One that is stopped, hangs, or waits for a disk lives.
    """
    if process.boot != boot_id():
        # The machine has been started anew since, unless it is another one.
        return "gone" if process.boot and boot_id() and process.machine == machine() else "elsewhere"
    # A host may be renamed while it runs.
    if process.spaces != spaces() or not (process.boot or process.machine == machine()):
        return "elsewhere"
    return "lives" if _started(process.pid) == process.started else "gone"


def is_stopped(process: Process) -> bool:
    """Whether a process that lives here has been stopped by a signal or a debugger."""
    # A process's name may hold anything, a closing bracket and blanks among it.
    return _text(PROC / str(process.pid) / "stat").rpartition(")")[2].split()[:1] in (["T"], ["t"])


def uptime() -> float:
    """Seconds on a clock that nobody sets, and that stands still while the machine sleeps; the same in one boot."""
    return time.monotonic()


def wall() -> float:
    """Seconds since the epoch, as the clock on the wall has them."""
    return time.time()


@cache
def boot_id() -> str:
    """The id of this boot; empty where the system gives none."""
    return _text(PROC / "sys/kernel/random/boot_id")


@cache
def machine() -> str:
    """A digest of what this machine, or container, is called: images of containers share the one name or the other."""
    names = f"{_text(Path('/etc/machine-id'))} {platform.node()}"
    return hashlib.sha256(f"workbench {names}".encode()).hexdigest()[:16]


def spaces() -> str:
    """The namespaces of this process's numbers and clocks."""
    try:
        if os.readlink(PROC / "self") != str(os.getpid()):
            # This /proc is another namespace's: numbers in it are not ours.
            return f"unknown {os.getpid()}"
        return " ".join(os.readlink(PROC / "self/ns" / kind) for kind in ("pid", "time") if _has(kind))
    except OSError:
        return ""


def _has(kind: str) -> bool:
    return (PROC / "self/ns" / kind).is_symlink()


def _started(pid: int) -> int | None:
    """When a process started; None when it has ended, also when nobody has collected it yet."""
    if (PROC / "self/stat").exists():
        return ticks_of(pid)
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else round(1000 * process.create_time())
    except psutil.Error:
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
