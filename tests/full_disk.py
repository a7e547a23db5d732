"""A small file system that can be filled to the last byte and emptied again."""

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
        path: The mount point.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def fill(self, left: int = 0) -> None:
        """Fill the disk except for about ``left`` bytes (within a page)."""
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
        """Free all space."""
        self._ballast.unlink(missing_ok=True)


class FewFiles(SmallDisk):
    """A disk that runs out of files (inodes) instead of bytes."""

    def fill(self, left: int = 0) -> None:
        """Leave room for ``left`` files."""
        self.empty()
        folder = self.path / "files"
        folder.mkdir()
        for number in range(os.statvfs(self.path).f_ffree - left):
            (folder / str(number)).touch()

    def empty(self) -> None:
        """Free all space."""
        shutil.rmtree(self.path / "files", ignore_errors=True)


class SmallFiles(SmallDisk):
    """A disk on which this process may not write large files, as under ``ulimit -f``."""

    def fill(self, left: int = 0) -> None:
        """Limit the size of files to ``left`` bytes."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (left, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    def empty(self) -> None:
        """Remove the limit."""
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@contextmanager
def small_disk(folder: Path, kind: type[SmallDisk] = SmallDisk) -> Iterator[SmallDisk]:
    """Mount a disk of 40 MB; skip the test where mounting is not possible."""
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
