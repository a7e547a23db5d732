"""Process identity: by the kernel's own start times and boots, never by wall-clock time.

A clock may be set back by an hour, and a machine may sleep; the ticks at which a process started and the id of the
boot it belongs to stay. Without ``/proc`` (macOS), a process's start time as the system recorded it replaces both: it
isn't rewritten when the clock is set.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import time
from abc import ABC, abstractmethod
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal, Self

import msgspec
from msgspec import Struct, structs

PROC = Path("/proc")

Life = Literal["lives", "gone", "elsewhere"]
"""``elsewhere``: it belongs to another machine, container or user, so its state is unknown here."""

IN_NAMES: Final = r"(?P<pid>\d{1,10})-(?P<started>\d{1,20})(?:-(?P<place>[0-9a-f]{8}))?"
"""A process in the name of a file, written by `Process.in_name`; earlier versions wrote no place."""

_UNKNOWN: Final = "unknown"


class Process(Struct, frozen=True, array_like=True):
    """The unique identity of a process.

    Attributes:
        started: Ticks from the boot to its start; in milliseconds since the epoch without ``/proc``.
        boot: The id of the boot it belongs to; "" if there is none.
        spaces: The namespaces in which its number and its clocks are valid; "" if there are none.
        machine: The machine it runs on.
        file: The file it works on, by device and number; "" if unknown.
    """

    pid: int
    started: int
    boot: str
    spaces: str
    machine: str
    file: str = ""

    def encode(self) -> str:
        return msgspec.json.encode(self).decode()

    @property
    def in_name(self) -> str:
        return f"{self.pid}-{self.started}-{_place(self.boot, self.spaces, self.machine)}"


def decoded(text: str | None) -> Process | None:
    """Parse a process from a column; None for anything else, such as a row of an earlier version."""
    try:
        return None if text is None else msgspec.json.decode(text, type=Process)
    except msgspec.MsgspecError:
        return None


def this_process() -> Process:
    pid = os.getpid()
    return Process(pid, _own_start(pid), boot_id(), spaces(), machine())


def this_process_on(path: Path) -> Process:
    return structs.replace(this_process(), file=file_id(path))


def life_at(process: Process, path: Path) -> Life:
    """Return whether a process that works on a file lives; a process named by a copy of its file is elsewhere."""
    found, there = life(process), file_id(path)
    copied = process.file and there and process.file != there
    return "elsewhere" if found == "lives" and copied else found


def life(process: Process) -> Life:
    """Return whether a process lives, as far as it can be seen from here.

    A process that is stopped, hangs, or waits for a disk lives.
    """
    if process.boot != boot_id():
        # The machine has been rebooted since, unless it is another one.
        return "gone" if process.boot and boot_id() and process.machine == machine() else "elsewhere"
    # A host may be renamed while it runs.
    if process.spaces != spaces() or not (process.boot or process.machine == machine() != ""):
        return "elsewhere"
    return _life_here(process.pid, process.started)


def life_named(name: re.Match[str]) -> Life:
    place, began = name["place"], int(name["started"])
    if place is None:
        # Earlier versions wrote no place: the number is valid here.
        return _life_here(int(name["pid"]), began)
    if place != _place(boot_id(), spaces(), machine()):
        return "elsewhere"
    return _life_here(int(name["pid"]), began)


def file_id(path: Path) -> str:
    """Return the identity of a file on this machine; "" without one."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}"


def uptime() -> float:
    """Return seconds on a clock that can't be set, and that pauses while the machine sleeps; the same in one boot."""
    return time.monotonic()


def wall() -> float:
    return time.time()


def boot_id() -> str:
    """Return the id of this boot; "" if the system gives none at the moment."""
    try:
        return _boot_seen()
    except OSError:
        return ""


def machine() -> str:
    """Return a digest of the name of this machine or container: container images may share parts of the name.

    Empty if it can't be determined just now.
    """
    try:
        return _machine_seen()
    except OSError:
        return ""


def spaces() -> str:
    try:
        if os.readlink(PROC / "self") != str(os.getpid()):
            # This /proc belongs to another namespace: its numbers are not ours, and ours don't occur in it.
            return f"{_UNKNOWN} {_token(os.getpid())}"
        return " ".join(os.readlink(PROC / "self/ns" / kind) for kind in ("pid", "time") if _has(kind))
    except OSError:
        return ""


def started(pid: int) -> int | None:
    """Return when a process started; None if it has ended, even if it is still a zombie.

    Raises:
        OSError: The process is not visible from here.
    """
    if not (PROC / "self/stat").exists():
        return _started_elsewise(pid)
    try:
        # The name in brackets may contain anything; the number is the 22nd field (proc(5)).
        fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        return None if fields[0] in (b"Z", b"X", b"x") else int(fields[19])
    except (FileNotFoundError, ProcessLookupError):
        if _is_there(pid):
            # Other users' processes may be hidden.
            raise OSError(f"process {pid} can't be seen") from None
        return None
    except (ValueError, IndexError) as error:
        raise OSError(f"/proc/{pid}/stat can't be understood") from error


def _life_here(pid: int, began: int) -> Life:
    try:
        found = started(pid)
    except OSError:
        return "elsewhere"
    return "gone" if found is None or began not in (0, found) else "lives"


def _is_there(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _started_elsewise(pid: int) -> int | None:
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else round(1000 * process.create_time())
    except psutil.AccessDenied as error:
        raise OSError(f"process {pid} can't be seen") from error
    except (psutil.Error, ValueError, OverflowError):
        return None


def _own_start(pid: int) -> int:
    try:
        return _own_start_seen(pid)
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _own_start_seen(pid: int) -> int:
    return started(pid) or 0


@lru_cache(maxsize=4)
def _place(boot: str, spaces: str, machine: str) -> str:
    return hashlib.sha256(f"{boot}\n{spaces}\n{machine}".encode()).hexdigest()[:8]


@lru_cache(maxsize=1)
def _token(pid: int) -> str:
    return f"{pid} {secrets.token_hex(8)}"


@cache
def _boot_seen() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""


@cache
def _machine_seen() -> str:
    try:
        name = Path("/etc/machine-id").read_text(encoding="ascii", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        name = ""
    return hashlib.sha256(f"workbench {name} {platform.node()}".encode()).hexdigest()[:16]


def _has(kind: str) -> bool:
    return (PROC / "self/ns" / kind).is_symlink()


class Closing(ABC):
    """A context manager that closes itself at its end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Release what it holds."""
