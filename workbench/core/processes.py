"""Identifies processes by the kernel's start times and boot ids, not by wall-clock time.

A clock may be set back, and a machine may sleep; the tick at which a process started and the id of its boot don't
change. Without ``/proc`` (on macOS) the start time that the system recorded is used instead of both; it does not change
when the clock is set.
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
"""Whether a process is alive. ``elsewhere``: it belongs to another machine, container or user, so its
state is unknown.
"""

IN_NAMES: Final = r"(?P<pid>\d{1,10})-(?P<started>\d{1,20})-(?P<place>[0-9a-f]{8})"
"""Pattern of a process in a file's name, as `Process.in_name` writes it."""

_UNKNOWN: Final = "unknown"


class Process(Struct, frozen=True, array_like=True):
    """The unique identity of a process.

    Attributes:
        started: Clock ticks from the boot to the process's start; without ``/proc``, milliseconds since the epoch.
        boot: The id of the machine's boot; "" if there is none.
        spaces: The namespaces in which its process id and its clocks are valid; "" if there are none.
        machine: A digest of the name of the machine it runs on, see `machine`.
        file: The database file it works on, as device and inode number; "" if unknown.
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
        return f"{self.pid}-{self.started}-{_place_digest(self.boot, self.spaces, self.machine)}"


def parse_process(text: str | None) -> Process | None:
    """Parse a process stored as text; None if the text does not describe one."""
    try:
        return None if text is None else msgspec.json.decode(text, type=Process)
    except msgspec.MsgspecError:
        return None


def this_process() -> Process:
    pid = os.getpid()
    return Process(pid, _own_start_or_zero(pid), boot_id(), spaces(), machine())


def this_process_on(path: Path) -> Process:
    return structs.replace(this_process(), file=file_id(path))


def life_at(process: Process, path: Path) -> Life:
    """Return whether a process that works on a database file is alive; "elsewhere" if the file is a copy of the one
    that the process works on.
    """
    found, there = life_of(process), file_id(path)
    copied = process.file and there and process.file != there
    return "elsewhere" if found == "lives" and copied else found


def life_of(process: Process) -> Life:
    """Return whether a process is alive, gone, or can't be seen from here ("elsewhere").

    A process that is stopped, hangs, or waits for a disk counts as alive.
    """
    if process.boot != boot_id():
        # The boot id differs: this machine has been rebooted since, or it is another machine.
        return "gone" if process.boot and boot_id() and process.machine == machine() else "elsewhere"
    # A host may be renamed while it runs.
    if process.spaces != spaces() or not (process.boot or process.machine == machine() != ""):
        return "elsewhere"
    return _life_in_this_boot(process.pid, process.started)


def life_named(name: re.Match[str]) -> Life:
    if name["place"] != _place_digest(boot_id(), spaces(), machine()):
        return "elsewhere"
    return _life_in_this_boot(int(name["pid"]), int(name["started"]))


def file_id(path: Path) -> str:
    """Return a file's device and inode number, which identify it on this machine; "" if there is no such file."""
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{found.st_dev}:{found.st_ino}"


def uptime() -> float:
    """Return seconds on the monotonic clock, which can't be set and pauses while the machine sleeps; all processes of a
    boot share it."""
    return time.monotonic()


def wall_clock() -> float:
    return time.time()


def boot_id() -> str:
    """Return the id of the current boot; "" if it can't be read at the moment."""
    try:
        return _read_boot_id()
    except OSError:
        return ""


def machine() -> str:
    """Return a digest of this machine's or container's id and name; two containers of one image may share the id.

    The result is "" if they can't be read at the moment.
    """
    try:
        return _read_machine()
    except OSError:
        return ""


def spaces() -> str:
    try:
        if os.readlink(PROC / "self") != str(os.getpid()):
            # This /proc is that of another namespace, with other process ids.
            return f"{_UNKNOWN} {_random_token(os.getpid())}"
        return " ".join(
            os.readlink(PROC / "self/ns" / kind) for kind in ("pid", "time") if (PROC / "self/ns" / kind).is_symlink()
        )
    except OSError:
        return ""


def started(pid: int) -> int | None:
    """Return a process's start time (see `Process`); None if it has ended, even if it is still a zombie.

    Raises:
        OSError: The process is not visible from here.
    """
    if not (PROC / "self/stat").exists():
        return _started_without_proc(pid)
    try:
        # The name in brackets may contain anything; the number is the 22nd field (proc(5)).
        fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        return None if fields[0] in (b"Z", b"X", b"x") else int(fields[19])
    except (FileNotFoundError, ProcessLookupError):
        if _exists(pid):
            # Other users' processes may be hidden.
            raise OSError(f"process {pid} can't be seen") from None
        return None
    except (ValueError, IndexError) as error:
        raise OSError(f"/proc/{pid}/stat can't be understood") from error


def _life_in_this_boot(pid: int, began: int) -> Life:
    try:
        found = started(pid)
    except OSError:
        return "elsewhere"
    return "gone" if found is None or began not in (0, found) else "lives"


def _exists(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _started_without_proc(pid: int) -> int | None:
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else round(1000 * process.create_time())
    except psutil.AccessDenied as error:
        raise OSError(f"process {pid} can't be seen") from error
    except (psutil.Error, ValueError, OverflowError):
        return None


def _own_start_or_zero(pid: int) -> int:
    try:
        return _own_start_seen(pid)
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _own_start_seen(pid: int) -> int:
    return started(pid) or 0


@lru_cache(maxsize=4)
def _place_digest(boot: str, spaces: str, machine: str) -> str:
    return hashlib.sha256(f"{boot}\n{spaces}\n{machine}".encode()).hexdigest()[:8]


@lru_cache(maxsize=1)
def _random_token(pid: int) -> str:
    return f"{pid} {secrets.token_hex(8)}"


@cache
def _read_boot_id() -> str:
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""


@cache
def _read_machine() -> str:
    try:
        name = Path("/etc/machine-id").read_text(encoding="ascii", errors="replace").strip()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        name = ""
    return hashlib.sha256(f"workbench {name} {platform.node()}".encode()).hexdigest()[:16]


class Closing(ABC):
    """A context manager whose exit calls `close`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Release all resources."""
