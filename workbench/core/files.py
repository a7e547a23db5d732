"""Atomic writes, and temporary files and folders, which are removed after their process has ended.

A temporary file is called ``.NAME.PROCESS.part``, after its final name and the process that writes it, and this process
holds a lock on it. A file is removed as a leftover only if both the process in its name is gone and the lock is free:
the process id is not reliable in a folder shared by machines or containers, nor the lock on a file system without
locks.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import chain, count
from pathlib import Path
from typing import IO, Final

from workbench.core.processes import IN_NAMES, life_named, this_process

STANDARD_INPUT: Final = "standard input"
"""The displayed name of a file that is a copy of standard input."""

# -- Opening this user's own files: regular files without links or second names, accessible only to the owner.


PRIVATE: Final = 0o600
_SAFELY: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Flags with which no link is followed, no pipe is waited for, and no terminal becomes the controlling terminal."""
_KINDS: Final = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class NotOwnFileError(OSError):
    """The path is not a regular file that belongs to this user."""


class TooLargeError(OSError):
    """The file is larger than permitted."""


def open_own(path: Path) -> IO[bytes]:
    """Open a file of this user's for reading.

    Raises:
        NotOwnFileError: It is not a regular file of this user's.
        OSError: It doesn't exist, or can't be opened.
    """
    return os.fdopen(opened_own(path, os.O_RDONLY), "rb")


def read_own(path: Path, most: int) -> bytes:
    """Read a whole file of this user's.

    Raises:
        NotOwnFileError: It is not a regular file of this user's.
        TooLargeError: It has more than ``most`` bytes.
        OSError: It doesn't exist, or can't be read.
    """
    with open_own(path) as file:
        return read_at_most(file, path, most)


def read_at_most(file: IO[bytes], path: Path, most: int) -> bytes:
    """Read a whole open file; TooLargeError if it has more than ``most`` bytes."""
    content = file.read(most + 1)
    if len(content) > most:
        raise TooLargeError(errno.EFBIG, f"it is larger than {most:,} bytes", os.fspath(path))
    return content


def append_own(path: Path, most: int) -> IO[bytes]:
    """Open a file of this user's for appending, creating it if needed; a file of more than ``most`` bytes is emptied
    first.

    Raises:
        NotOwnFileError: It is not a regular file of this user's.
        OSError: It can't be opened.
    """
    descriptor = opened_own(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        if os.fstat(descriptor).st_size > most:
            os.ftruncate(descriptor, 0)
        os.fchmod(descriptor, PRIVATE)
        return os.fdopen(descriptor, "ab")
    except BaseException:
        os.close(descriptor)
        raise


def free_name(path: Path) -> Path:
    """Return the path, or the first unused one with a number after its stem."""
    numbered = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(one for one in chain([path], numbered) if not os.path.lexists(one))


def cache_folder(database: Path) -> Path:
    """Return the folder for what is derived from a database; it is safe to delete at any time."""
    return Path(f"{database.resolve()}.columns")


def read_cached(path: Path, most: int) -> bytes:
    """Read a file of a cache folder; see `read_own`."""
    require_own(path.parent, folder=True)
    return read_own(path, most)


@contextmanager
def cached_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file of a cache folder, which is created if it is missing; see `whole_file`."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    require_own(path.parent, folder=True)
    with whole_file(path, durable=False) as file:
        yield file


def require_own(path: Path, *, folder: bool = False, anyones: bool = False) -> None:
    """Check that a path is a regular file of this user's, or a folder; a missing one is accepted.

    Args:
        anyones: Accept a file of another user.

    Raises:
        NotOwnFileError: It is something else, such as a link or a file with a second name, or another user's.
    """
    with suppress(FileNotFoundError):
        _require_own(os.lstat(path), path, folder=folder, anyones=anyones)


def opened_own(path: Path, flags: int) -> int:
    """Open a file of this user's; return its descriptor.

    Raises:
        NotOwnFileError: It is not a regular file of this user's.
        OSError: It can't be opened.
    """
    # The type is checked before opening, because opening a device may have effects, and again on the opened file.
    require_own(path)
    try:
        descriptor = os.open(path, flags | _SAFELY, PRIVATE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _not_own_error(_KINDS[stat.S_IFLNK], path) from error
        raise
    try:
        _require_own(os.fstat(descriptor), path)
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _require_own(about: os.stat_result, path: Path, *, folder: bool = False, anyones: bool = False) -> None:
    kind = _KINDS.get(stat.S_IFMT(about.st_mode), "a file")
    if kind != ("a folder" if folder else "a file"):
        raise _not_own_error(kind, path)
    if not folder and about.st_nlink > 1:
        raise _not_own_error("a file that has a second name (a hard link)", path)
    # The folder's owner can put anything there, and may share it with us.
    if not anyones and about.st_uid not in (os.geteuid(), os.stat(path.parent).st_uid):
        raise _not_own_error("another user's", path)


def _not_own_error(what: str, path: Path) -> NotOwnFileError:
    return NotOwnFileError(errno.EPERM, f"it is {what}, where the program keeps its own file: remove it", str(path))


_PART: Final = re.compile(rf"\..+\.{IN_NAMES}\.part(?:-wal|-shm|-journal)?", re.DOTALL | re.ASCII)
_MADE: Final = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
_MAX_NAME_BYTES: Final = 180
"""Maximum bytes of a file name before its suffixes are added; longer names are hashed. File systems allow 255."""
_FOLDER: Final = "workbench-"
_TEMPORARY: Final = re.compile(rf"{_FOLDER}[a-z]+-{IN_NAMES}-\w+", re.ASCII)
_MARK: Final = "attack"
_MARKED: Final = re.compile(rf"(?:[\w-]+-)?{_MARK}{IN_NAMES}-[0-9a-f]{{8}}(?:\.\w+)?", re.ASCII)
_UNLINKABLE: Final = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)


@contextmanager
def whole_file(path: Path, *, private: bool = True, replace: bool = True, durable: bool = True) -> Iterator[IO[bytes]]:
    """Write a file atomically: it appears complete or not at all.

    Args:
        private: Make a new file readable only by its owner, and any file writable only by its owner; otherwise use the
            user's default permissions. A file that replaces another one keeps that one's read permissions.
        replace: Replace an existing file; a link is replaced, not its target.
        durable: Flush to disk, so that the file survives a power cut as soon as it exists.

    Raises:
        FileExistsError: The path exists, and ``replace`` is not set.
        OSError: It can't be written.
    """
    part = _part_path(path)
    descriptor, mode = _create_part(part)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), _mode_of(path, PRIVATE) & ~0o022 if private else _mode_of(path, mode))
            if durable:
                os.fsync(file.fileno())
            # While the lock is held, so that it isn't mistaken for a leftover.
            if replace:
                os.replace(part, path)
            else:
                try:
                    os.link(part, path)
                except OSError as error:
                    if error.errno not in _UNLINKABLE:
                        raise
                    # A file system without hard links: the name is reserved first.
                    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, PRIVATE))
                    os.replace(part, path)
    finally:
        _remove(part)


@contextmanager
def part_folder(path: Path) -> Iterator[Path]:
    """Create a private temporary folder next to ``path``, for content that is renamed to ``path`` in the end.

    Raises:
        OSError: It can't be created.
    """
    part = _part_path(path)
    part.mkdir(mode=0o700)
    try:
        with _held(part):
            yield part
    finally:
        _remove(part)


@contextmanager
def temporary_folder(what: str) -> Iterator[Path]:
    """Create a folder among the system's temporary files, which is removed after use; leftovers are removed first.

    Args:
        what: The folder's purpose, in lower-case letters; it becomes part of the name.
    """
    remove_leftovers(Path(tempfile.gettempdir()))
    prefix = f"{_FOLDER}{what}-{this_process().in_name}-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name, _held(Path(name)):
        yield Path(name)


def new_file_mark() -> str:
    """Return a random mark for the names of files that attempted sandbox escapes create, so that they can be found and
    removed.
    """
    return f"{_MARK}{this_process().in_name}-{secrets.token_hex(4)}"


def remove_marked(folder: Path, mark: str) -> None:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if mark in entry.name:
                _remove(Path(entry.path))


def remove_leftovers(folder: Path) -> int:
    """Remove this user's leftovers (temporary files and folders, files with a mark) whose process is gone; return their
    number.

    Files with other names or owners, and files that can't be removed, are kept.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        return sum(
            _remove_if_left(Path(entry.path), found) for entry in entries if (found := _match_leftover(entry.name))
        )
    return 0


def _part_path(path: Path) -> Path:
    remove_leftovers(path.parent)
    raw = os.fsencode(path.name)
    name = path.name if len(raw) <= _MAX_NAME_BYTES else blake2b(raw, digest_size=8).hexdigest()
    return path.with_name(f".{name}.{this_process().in_name}.part")


def _match_leftover(name: str) -> re.Match[str] | None:
    return _PART.fullmatch(name) if name.startswith(".") else _TEMPORARY.fullmatch(name) or _MARKED.fullmatch(name)


def _remove_if_left(path: Path, form: re.Match[str]) -> bool:
    if life_named(form) == "lives":
        return False
    with suppress(OSError):
        if not _is_ours(about := os.lstat(path)):
            return False
        if stat.S_ISLNK(about.st_mode):
            path.unlink()
            return True
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not _is_ours(os.fstat(descriptor)):
                return False
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
        finally:
            os.close(descriptor)
        return not os.path.lexists(path)
    return False


def _is_ours(about: os.stat_result) -> bool:
    return stat.S_IFMT(about.st_mode) in _MADE and about.st_uid == os.geteuid()


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except IsADirectoryError:
        shutil.rmtree(path, ignore_errors=True)
    except OSError:
        # The earlier failure has been reported already.
        return


def _create_part(part: Path) -> tuple[int, int]:
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        os.fchmod(descriptor, PRIVATE)
    except BaseException:
        os.close(descriptor)
        raise
    _lock(descriptor)
    return descriptor, mode


def _lock(descriptor: int) -> None:
    # On a file system without locks only the name identifies the owner.
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _mode_of(path: Path, otherwise: int) -> int:
    with suppress(OSError):
        about = os.lstat(path)
        if stat.S_ISREG(about.st_mode):
            return stat.S_IMODE(about.st_mode) & 0o777
    return otherwise
