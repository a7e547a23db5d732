"""Whether a database's file stands where it was opened, under one name, where SQLite works; and who has it open."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from workbench.core.errors import Cause, StoreError
from workbench.core.files import require_plain


class _FileIdentity(NamedTuple):
    device: int
    inode: int


class Place:
    """Where a database was opened, and which file was there; asked before every write, so it costs microseconds.

    Raises (on creation):
        OSError: There is no such file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # Its log stands beside the file itself, not beside a link to it.
        self._log = Path(f"{path.resolve()}-wal")
        found = os.stat(path)
        self._file = _FileIdentity(found.st_dev, found.st_ino)
        self._log_file: _FileIdentity | None = None

    def require(self) -> None:
        """Make sure that the path still leads to the file that was opened, with its log beside it.

        Raises:
            StoreError: The file, or its log, was moved, deleted or replaced.
        """
        found = _mark(self._path)
        if found is None:
            raise self._error("moved", f"{self._path} was moved or deleted while it was open: put it back.")
        if found != self._file:
            raise self._error(
                "replaced",
                f"{self._path} is another file than the one that was opened: that one was moved away or replaced.",
                "Put the one that was opened back. ",
            )
        if self._log_file is not None and _mark(self._log) != self._log_file:
            raise self._error(
                "replaced",
                f"{self._log} was moved, deleted or replaced while {self._path.name} was open.",
                "Put the one that was there back. ",
            )

    def hold_log(self) -> None:
        """The log is held open from now on, by a transaction: it must stay the one it is."""
        if self._log_file is None:
            self._log_file = _mark(self._log)

    def forget_log(self) -> None:
        """Nothing holds the log open any more: the next one may be another."""
        self._log_file = None

    def _error(self, cause: Cause, message: str, first: str = "") -> StoreError:
        return StoreError(message, f"{first}Nothing is written meanwhile. {self._about_log()}", cause)

    def _about_log(self) -> str:
        try:
            size = self._log.stat().st_size
        except OSError:
            return f"Its log, {self._log.name}, belongs beside it."
        if size:
            return f"{self._log} holds what is not in the file yet: leave it there."
        return "All that was saved is in the file."


def _mark(path: Path) -> _FileIdentity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return _FileIdentity(found.st_dev, found.st_ino)


# -- Looking into a database's file beside SQLite.


Inode = tuple[int, int]
OPENING = threading.RLock()
"""Held while SQLite opens a database, so that none is opened between looking for open files and closing one."""
_KEPT: list[tuple[Inode, Callable[[], None]]] = []


@contextmanager
def opened_beside(path: Path) -> Iterator[int]:
    """A descriptor for reading a database's file; no lock of this process is lost by it.

    Raises:
        OSError: It can't be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        yield descriptor
    finally:
        close_beside(_inode(descriptor), lambda: os.close(descriptor))


def close_beside(inode: Inode, close: Callable[[], None]) -> None:
    """Close what has one descriptor of a file, now or when nothing else in this process has the file open."""
    with OPENING:
        _KEPT.append((inode, close))
        release()


def release() -> None:
    """Close what was kept open for the sake of connections that are closed by now."""
    with OPENING:
        if not _KEPT:
            return
        free = {inode for inode, count in _others().items() if not count}
        closed = [close for inode, close in _KEPT if inode in free]
        _KEPT[:] = [entry for entry in _KEPT if entry[0] not in free]
        for close in closed:
            close()


def open_here(inode: Inode) -> int:
    """How many descriptors of a file this process has besides those kept open here."""
    return _others()[inode]


def written_here(path: Path) -> bool:
    """Whether this process has a file open for writing, under whichever name; False where there is none."""
    try:
        there = os.stat(path)
    except OSError:
        return False
    return any(inode == (there.st_dev, there.st_ino) for inode in _written())


def _written() -> Iterator[Inode]:
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            if fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
                yield _inode(int(name))


def _others() -> Counter[Inode]:
    """How many descriptors of each file this process has besides those kept open here; one look for all."""
    found: Counter[Inode] = Counter()
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            found[_inode(int(name))] += 1
    found.subtract(inode for inode, _ in _KEPT)
    return found


def _inode(descriptor: int) -> Inode:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


# -- A database that has several names (hard links): SQLite keeps a log beside the name that it is given.


_LOCK = struct.Struct("hhqqi4x")
"""Linux's ``struct flock``."""
_SHARED = (0x40000002, 510)
"""Bytes that SQLite locks in a file as long as it has it open with a log."""
_IN_USE = (128, 1)
"""The same in the index of a log."""
_BEGINNINGS = {
    "-wal": (bytes.fromhex("377f0682"), bytes.fromhex("377f0683")),
    "-shm": ((3007000).to_bytes(4, "little"), (3007000).to_bytes(4, "big")),
}


def count(path: Path) -> int:
    """How many names the file has."""
    return os.stat(path).st_nlink


def require_not_open_elsewhere(path: Path) -> None:
    """Refuse a file that another process has open under another name; it costs next to nothing where it has only one.

    Raises:
        StoreError: One has.
    """
    real = Path(os.path.realpath(path))
    try:
        if sys.platform != "linux" or count(real) == 1 or (process := _holder(real, _SHARED)) is None:
            return
        index = Path(f"{real}-shm")
        if index.exists() and _holder(index, _IN_USE) is not None:
            return
    except OSError:
        # Whoever opens it is told what is wrong with it.
        return
    raise StoreError(
        f"{path} is open under another name (a hard link), by process {process}. Nothing was read or written.",
        "Open it under that name, or end that process first. For a copy: workbench backup",
    )


def require_logs(path: Path) -> None:
    """Refuse what SQLite would write through to something else: a link, or a second name of what is no log.

    A tree of snapshots made of hard links holds second names of a log, too.

    Raises:
        OSError: There is such a thing where it keeps a log.
    """
    for end in ("-wal", "-shm", "-journal"):
        place = Path(f"{os.path.realpath(path)}{end}")
        if not _is_linked_log(place, _BEGINNINGS.get(end, ())):
            require_plain(place)


def _is_linked_log(place: Path, beginnings: tuple[bytes, ...]) -> bool:
    if not beginnings or place.is_symlink() or not place.is_file() or count(place) == 1:
        return False
    with opened_beside(place) as file:
        begins = os.pread(file, 4, 0)
    return begins in (*beginnings, b"", bytes(4))


def _holder(path: Path, locked: tuple[int, int]) -> int | None:
    """Another process that holds a lock on these bytes."""
    with opened_beside(path) as file:
        asked = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, *locked, 0)
        kind, _, _, _, process = _LOCK.unpack(fcntl.fcntl(file, fcntl.F_GETLK, asked))
    return None if kind == fcntl.F_UNLCK else process


# -- Where a database may live: WAL needs shared memory, which network file systems do not give.


MOUNTS = Path("/proc/self/mounts")
NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "afpfs", "ncpfs", "ceph", "glusterfs", "lustre", "gpfs"}
    | {"beegfs", "orangefs", "davfs", "webdav", "sshfs", "s3fs"}
)


def file_system(folder: Path) -> str:
    """The type of the file system that holds a folder (``"ext4"``, ``"nfs4"``), or ``"unknown"``."""
    resolved = str(folder.resolve())
    best, kind = "", "unknown"
    for point, name in _mounts():
        inside = resolved == point or resolved.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, name
    return kind.removeprefix("fuse.")


def is_network(kind: str) -> bool:
    """Whether a file system type is one on which WAL does not work."""
    return kind in NETWORK


def require_local(folder: Path) -> None:
    """Refuse a folder on a network file system.

    Raises:
        StoreError: The folder is on one.
    """
    kind = file_system(folder)
    if is_network(kind):
        raise StoreError(
            f"{folder} is on a network file system ({kind}), where several writers would corrupt a database.",
            "Put the database on a local disk.",
        )


def _mounts() -> list[tuple[str, str]]:
    if MOUNTS.exists():
        rows = [line.split(" ") for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()]
        return [(row[1].replace("\\040", " "), row[2]) for row in rows if len(row) > 2]
    import psutil

    return [(part.mountpoint, part.fstype) for part in psutil.disk_partitions(all=True)]


# -- Who has a database open, so that its file is not taken from under them.


ENDS = ("", "-wal", "-shm", "-journal")
"""What a database's files are called, after its name."""
_PROCESSES = Path("/proc")
_LOCKED = {"": (0x40000000, 512), "-shm": (120, 9)}
"""Where in which file SQLite locks, and how many bytes: whoever has read from a database holds one of them."""


def beside(path: Path, end: str) -> Path:
    """One of a database's files."""
    return path.with_name(path.name + end)


def users(path: Path) -> list[int]:
    """The processes that have one of a database's files open, as far as they can be seen; this one too."""
    files = {_inode_at(file) for end in ENDS if (file := beside(path, end)).exists()}
    release()
    others = (process for process in _processes() if process.name != str(os.getpid()))
    found = {int(process.name) for process in others if any(inode in files for inode in _open_files(process))}
    return sorted(found | ({os.getpid()} if any(map(open_here, files)) else set()))


def require_unused(path: Path) -> None:
    """Refuse a database that somebody has open.

    Raises:
        StoreError: A process has; it is named where it can be seen.
    """
    if found := users(path):
        numbers = ", ".join(map(str, found[:5])) + (" and more" if len(found) > 5 else "")
        raise StoreError(f"{path} is open in process {numbers}.", "Close the app, the runner or the server first.")


@contextmanager
def unused(path: Path) -> Iterator[None]:
    """While inside, nobody has the database open, and whoever opens it waits.

    Raises:
        StoreError: Somebody has it open.
    """
    require_unused(path)
    with ExitStack() as held:
        for end in _LOCKED:
            with suppress(FileNotFoundError):
                held.enter_context(_locked(beside(path, end), path, end))
        yield


@contextmanager
def waited_for(file: Path, path: Path) -> Iterator[None]:
    """While inside, whoever opens a database's file waits, also once it has another name.

    Args:
        path: What it is called in messages.

    Raises:
        StoreError: Somebody has it open.
    """
    with _locked(file, path, ""):
        yield


@contextmanager
def _locked(file: Path, path: Path, end: str) -> Iterator[None]:
    """Hold SQLite's locks on a file; they are lost as soon as this process closes that file anywhere."""
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:
        # Nobody can write to what may not be written to.
        yield
        return
    try:
        begin, size = _LOCKED[end]
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, size, begin)
            there = _inode_at(file)
        except OSError as error:
            raise StoreError(f"{path} is in use.", "Close the app, the runner or the server first.") from error
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) != there:
            raise StoreError(f"{path} was replaced just now.", "Look at it, then try again.")
        yield
    finally:
        os.close(descriptor)


def _inode_at(file: Path) -> Inode:
    status = file.stat()
    return status.st_dev, status.st_ino


def _processes() -> list[Path]:
    with suppress(OSError):
        return [place for place in _PROCESSES.iterdir() if place.name.isdecimal()]
    return []


def _open_files(process: Path) -> Iterator[Inode]:
    with suppress(OSError):
        for number in os.listdir(process / "fd"):
            # A process may close a file, or end, while it is looked at.
            with suppress(OSError):
                yield _inode_at(process / "fd" / number)
