"""A folder that a program may write in: a file system in memory, whose size and number of files the kernel limits.

It is mounted by the walls, for one process, and gone with it. Nothing in it can be executed; other objects than files
and folders (a link, a device, a socket, a FIFO) can't be made there.
"""

from __future__ import annotations

import os

from .system import checked, keep_capabilities, libc

FOLDER = "/tmp"
"""Where programs look for such a folder."""

FILE_BYTES = 4096
"""The folder may hold one file, or folder, for each so many bytes of it; an inode is memory of the kernel."""

_BECOME = 1 << 6 | 1 << 7
"""``CAP_SETGID`` and ``CAP_SETUID``."""
_DEVICES = (os.devnull, "/dev/urandom")
_READ_ONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND = 1, 2, 4, 8, 32, 4096


def set_up(size: int) -> None:
    """Limit the folder's files; afterwards no right that this took is left, except root's to become a user.

    The devices keep their timestamps, which the calls that the folder needs could change.

    Args:
        size: Its capacity in bytes.

    Raises:
        OSError: The kernel refuses.
    """
    options = f"size={size},nr_inodes={size // FILE_BYTES}".encode()
    checked(libc.mount(b"tmpfs", FOLDER.encode(), b"tmpfs", _REMOUNT | _NOSUID | _NODEV | _NOEXEC, options))
    for device in _DEVICES:
        checked(libc.mount(None, device.encode(), None, _REMOUNT | _BIND | _READ_ONLY | _NOSUID, None))
    keep_capabilities(0 if os.geteuid() else _BECOME)


def enter() -> None:
    """Change into the folder, and let programs find it."""
    os.chdir(FOLDER)
    os.environ.update(HOME=FOLDER, TMPDIR=FOLDER)
