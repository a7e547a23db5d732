"""A small file system of its own that can be filled to the last byte, and emptied again."""

from __future__ import annotations

import errno
import os
import resource
import shutil
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


class FewFiles(SmallDisk):
    """One on which files run out, not bytes."""

    def fill(self, left: int = 0) -> None:
        """Leave room for so many files."""
        self.empty()
        folder = self.path / "files"
        folder.mkdir()
        for number in range(os.statvfs(self.path).f_ffree - left):
            (folder / str(number)).touch()

    def empty(self) -> None:
        """Give all room back."""
        shutil.rmtree(self.path / "files", ignore_errors=True)


class SmallFiles(SmallDisk):
    """One on which this process may write no large file, as under ``ulimit -f``."""

    def fill(self, left: int = 0) -> None:
        """Allow files of so many bytes."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (left, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    def empty(self) -> None:
        """Allow any."""
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@contextmanager
def small_disk(folder: Path, kind: type[SmallDisk] = SmallDisk) -> Iterator[SmallDisk]:
    """Mount one of 40 MB; the test is skipped where that can't be done."""
    place = folder / "disk"
    place.mkdir()
    options = f"size={MEGABYTES}m" + (",nr_inodes=80" if kind is FewFiles else "")
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no program to mount file systems with")
    if done.returncode:
        pytest.skip(f"{done.stderr.strip()} (run the tests as root, or under: unshare --user --map-root-user --mount)")
    try:
        yield kind(place)
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
