"""A small file system of its own that can be filled to the last byte, and emptied again."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MEGABYTES = 40


class SmallDisk:
    """A mounted file system.

    Attributes:
        path: Where it is mounted.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def fill(self, left: int = 0) -> None:
        """Take all room but so many bytes, give or take a page."""
        self.empty()
        with self._ballast.open("wb", buffering=0) as file:
            free = os.statvfs(self.path)
            size = free.f_bavail * free.f_frsize - left
            try:
                for _ in range(0, size, 1 << 16):
                    file.write(bytes(min(1 << 16, size - file.tell())))
                while not left:
                    file.write(bytes(4096))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def empty(self) -> None:
        """Give all room back."""
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """Mount one of 40 MB; the test is skipped where that can't be done."""
    place = folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no program to mount file systems with")
    if done.returncode:
        pytest.skip(f"{done.stderr.strip()} (run the tests as root, or under: unshare --user --map-root-user --mount)")
    try:
        yield SmallDisk(place)
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
