"""A database file's location: whether it is still there, whether SQLite works there, and which processes use it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from workbench.core.database.failures import go_back
from workbench.core.errors import StoreError
from workbench.core.files import require_plain

Inode = tuple[int, int]
LOGS = ("-wal", "-journal")
"""Suffixes of the logs next to a database."""


class Place:
    """A database's path and the file that was opened there. The check runs before every write and takes microseconds.

    Raises (on creation):
        OSError: There is no such file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _inode_at(path)

    def require(self) -> None:
        """Check that the path still leads to the file that was opened.

        Raises:
            StoreError: The file was moved, deleted or replaced.
        """
        with suppress(OSError):
            if _inode_at(self._path) == self._file:
                return
        # The log is next to the file itself, not next to a link to the file.
        raise StoreError(
            f"{self._path} was moved, deleted or replaced while it was open: put back the file that was opened.",
            f"Nothing is written until then. Leave {self._path.name}-wal where it is: it may hold what is not in the "
            "file yet.",
            "moved",
        )


def require_bytes(path: Path) -> None:
    """Check that a file is not empty.

    Raises:
        StoreError: The file has 0 bytes.
    """
    if not path.stat().st_size:
        logged = any(sidecar_path(path, end).exists() for end in LOGS)
        raise StoreError(
            f"{path} has 0 bytes: it is not a database, or not any more.",
            "Nothing was written; its log is kept. " * logged
            + f"{go_back(path)} For a new database remove the empty file first.",
        )


def require_plain_logs(path: Path) -> None:
    """Check that none of SQLite's log files is a link or similar, through which SQLite would write elsewhere.

    Raises:
        OSError: A log is a link or similar.
    """
    for end in ENDS[1:]:
        log = Path(f"{os.path.realpath(path)}{end}")
        if log.is_symlink() or not log.is_file():
            require_plain(log)


def require_nothing(target: Path) -> None:
    """Check that a path doesn't exist.

    Raises:
        StoreError: The path exists.
    """
    if os.path.lexists(target):
        raise StoreError(f"{target} exists.", "A new database is written: name another file.")


# -- File systems for databases: WAL needs shared memory, which network file systems don't provide.


MOUNTS = Path("/proc/self/mounts")
NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "afpfs", "ncpfs", "ceph", "glusterfs", "lustre", "gpfs"}
    | {"beegfs", "orangefs", "davfs", "webdav", "sshfs", "s3fs"}
)


def file_system(folder: Path) -> str:
    """Return the type of the file system that holds a folder (``"ext4"``, ``"nfs4"``), or ``"unknown"``."""
    resolved = str(folder.resolve())
    best, kind = "", "unknown"
    for point, name in _mounts():
        inside = resolved == point or resolved.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, name
    return kind.removeprefix("fuse.")


def is_network(kind: str) -> bool:
    return kind in NETWORK


def require_local(folder: Path) -> None:
    """Check that a folder exists, and is not on a network file system.

    Raises:
        StoreError: It doesn't exist, or is on one.
    """
    if not folder.is_dir():
        raise StoreError(f"{folder}: there is no such folder.", "Make it first.")
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


# -- Processes that have a database open, so that its file is not replaced under them.


ENDS = ("", "-wal", "-shm", "-journal")
"""Suffixes of a database's files."""
_PROCESSES = Path("/proc")
_LOCKED = {"": (0x40000000, 512), "-shm": (120, 9)}
"""Offset and length of SQLite's locks by file suffix; a process that has read from a database holds one of them."""


def sidecar_path(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def processes_using(path: Path) -> list[int]:
    """Return the ids of visible processes (also of this one) that have one of a database's files open."""
    files = {_inode_at(file) for end in ENDS if (file := sidecar_path(path, end)).exists()}
    folders = {int(process.name): process / "fd" for process in _processes()} | {os.getpid(): Path("/dev/fd")}
    return sorted(number for number, folder in folders.items() if any(map(files.__contains__, _open_files(folder))))


def require_unused(path: Path) -> None:
    """Check that no process has a database open.

    Raises:
        StoreError: A process has it open; it is named if visible.
    """
    if found := processes_using(path):
        numbers = ", ".join(map(str, found[:5])) + (" and more" if len(found) > 5 else "")
        raise StoreError(f"{path} is open in process {numbers}.", "Close the app, the runner or the server first.")


@contextmanager
def ensured_unused(path: Path) -> Iterator[None]:
    """Check that no process has the database open; processes that open it in the meantime wait until the block ends.

    Raises:
        StoreError: A process has it open.
    """
    require_unused(path)
    with ExitStack() as held:
        for end in _LOCKED:
            with suppress(FileNotFoundError):
                held.enter_context(_locked(sidecar_path(path, end), path, end))
        yield


@contextmanager
def holding_off_openers(file: Path, path: Path) -> Iterator[None]:
    """Make processes that open a database's file wait until the block ends, even after it is renamed.

    Args:
        path: The database's path, for messages.

    Raises:
        StoreError: A process has it open.
    """
    with _locked(file, path, ""):
        yield


@contextmanager
def _locked(file: Path, path: Path, end: str) -> Iterator[None]:
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:
        # No process can write to a read-only file.
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
            raise StoreError(f"{path} has just been replaced.", "Check it, then try again.")
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


def _open_files(folder: Path) -> Iterator[Inode]:
    with suppress(OSError):
        for number in os.listdir(folder):
            # A process may close a file, or end, during the check.
            with suppress(OSError):
                yield _inode_at(folder / number)
