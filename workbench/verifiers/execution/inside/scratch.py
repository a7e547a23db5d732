"""A writable folder for programs: a file system in memory, whose size and number of files the kernel limits.

The sandbox mounts it for one process, and it disappears with that process. Files in it can't be executed; links,
devices, sockets and FIFOs can't be created there.
"""

from __future__ import annotations

import os

from .system import checked, keep_capabilities, libc

FOLDER = "/tmp"
"""The usual path of such a folder."""

FILE_BYTES = 4096
"""The folder may contain one file or folder for each of this many bytes; an inode takes memory of the kernel."""

_BECOME = 1 << 6 | 1 << 7
"""``CAP_SETGID`` and ``CAP_SETUID``."""
_DEVICES = (os.devnull, "/dev/urandom")
_READ_ONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND = 1, 2, 4, 8, 32, 4096


def set_up(size: int) -> None:
    """Limit the folder's files, then give up the rights that this needs; root keeps the right to become a user.

    The devices are mounted so that calls allowed for the folder can't change their timestamps.

    Args:
        size: Its capacity in bytes.

    Raises:
        OSError: The kernel rejects the request.
    """
    options = f"size={size},nr_inodes={size // FILE_BYTES}".encode()
    checked(libc.mount(b"tmpfs", FOLDER.encode(), b"tmpfs", _REMOUNT | _NOSUID | _NODEV | _NOEXEC, options))
    for device in _DEVICES:
        checked(libc.mount(None, device.encode(), None, _REMOUNT | _BIND | _READ_ONLY | _NOSUID, None))
    keep_capabilities(0 if os.geteuid() else _BECOME)


def enter() -> None:
    """Change into the folder, and set the environment so that programs find it."""
    os.chdir(FOLDER)
    os.environ.update(HOME=FOLDER, TMPDIR=FOLDER)
