"""A database file's location: whether SQLite works there, and whether the file may be replaced."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from workbench.core.database.failures import go_back
from workbench.core.errors import StoreError
from workbench.core.files import require_own

ENDS = ("", "-wal", "-shm", "-journal")
"""Suffixes of a database's files."""
LOGS = ("-wal", "-journal")
"""Suffixes of the logs next to a database."""


def sidecar_path(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


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
            require_own(log, anyones=True)


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


# -- A database that is open elsewhere is not replaced.


@contextmanager
def held_alone(path: Path) -> Iterator[None]:
    """Write a database's log back, and hold SQLite's exclusive lock on its file: others wait until the block ends.

    Raises:
        StoreError: It is open elsewhere, in this process or another.
    """
    address = f"{path.absolute().as_uri()}?mode=rw"
    with ExitStack() as held:
        # A damaged or lost file, or one that can't be written, has no log that could be written back.
        try:
            connection = held.enter_context(
                closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=0))
            )
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StoreError(f"{path} is in use.", "Close the app, the runner or the server first.") from error
        yield
