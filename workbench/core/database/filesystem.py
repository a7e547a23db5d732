"""Where a database may live: WAL needs shared memory, which network file systems do not give."""

from __future__ import annotations

from pathlib import Path

from workbench.core.errors import StoreError

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
