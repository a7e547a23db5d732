"""Atomic writes, temporary files, which are removed after their process has ended, and files that the user names.

A temporary file is called ``.NAME.TOKEN.part``, after its final name, and the process that writes it holds a lock on
it. A file whose lock is free is a leftover. A file of the open project is never read as an input, whatever its name or
link.
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
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import chain, count
from pathlib import Path
from typing import IO, Final

from workbench.core.errors import FormatError, UsageError

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


# -- Locks between processes: the system releases them when a process ends, however it ends.


class FileLock:
    """A lock on a file of its own, until it is released or this process ends; no child of this process keeps it."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor
        _LOCKS.add(self)

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def descriptor(self) -> int | None:
        """Return the open file; None once the lock is released."""
        return self._descriptor

    @property
    def is_held(self) -> bool:
        """Return whether the lock is held, and its file is where others look for it."""
        return self._descriptor is not None and _is_at(self._descriptor, self._path)

    def release(self) -> None:
        """Release the lock, and remove its file."""
        if self._descriptor is not None:
            if self.is_held:
                self._path.unlink(missing_ok=True)
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            self.forget()

    def forget(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


_LOCKS: Final = weakref.WeakSet[FileLock]()


def _forget_locks() -> None:
    for lock in list(_LOCKS):
        lock.forget()


os.register_at_fork(after_in_child=_forget_locks)


def take_lock(path: Path) -> FileLock | None:
    """Take the lock on a file, which is created if it is missing; return None if it is held already.

    Raises:
        OSError: The file can't be locked.
    """
    while True:
        descriptor = opened_own(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, path):
                return FileLock(path, descriptor)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        # Its last holder has removed it in the meantime.
        os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock on a file, or may hold it: another user's file can't be read."""
    try:
        with open_own(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


# -- Temporary files and folders.


_TOKEN: Final = "[0-9a-f]{16}"
_PART: Final = re.compile(rf"\..+\.{_TOKEN}\.part", re.DOTALL | re.ASCII)
_MADE: Final = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
_MAX_NAME_BYTES: Final = 180
"""Maximum bytes of a file name before its suffixes are added; longer names are hashed. File systems allow 255."""
_FOLDER: Final = "workbench-"
_TEMPORARY: Final = re.compile(rf"{_FOLDER}[a-z]+-{_TOKEN}", re.ASCII)
_MARK: Final = "attack"
_MARKED: Final = re.compile(rf"(?:[\w-]+-)?{_MARK}{_TOKEN}(?:\.\w+)?", re.ASCII)
_MARKED_S: Final = 3600.0
"""Files with a mark are leftovers after this time: nobody holds a lock on them."""
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
    part, descriptor, mode = _create_part(path)
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
    with _locked_folder(lambda: _part_path(path)) as part:
        yield part


@contextmanager
def temporary_folder(what: str) -> Iterator[Path]:
    """Create a folder among the system's temporary files, which is removed after use; leftovers are removed first.

    Args:
        what: The folder's purpose, in lower-case letters; it becomes part of the name.
    """
    remove_leftovers(Path(tempfile.gettempdir()))
    with _locked_folder(lambda: Path(tempfile.gettempdir(), f"{_FOLDER}{what}-{_new_token()}")) as folder:
        yield folder


def new_file_mark() -> str:
    """Return a random mark for the names of files that attempted sandbox escapes create, so that they can be found and
    removed.
    """
    return f"{_MARK}{_new_token()}"


def remove_marked(folder: Path, mark: str) -> None:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if mark in entry.name:
                _remove(Path(entry.path))


def remove_leftovers(folder: Path) -> int:
    """Remove this user's temporary files and folders, and files with a mark, of processes that have ended; return their
    number.

    Files with other names or owners, and files that can't be removed, are kept.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        return sum(_remove_if_left(Path(entry.path), entry.name) for entry in entries)
    return 0


def _part_path(path: Path) -> Path:
    remove_leftovers(path.parent)
    raw = os.fsencode(path.name)
    name = path.name if len(raw) <= _MAX_NAME_BYTES else blake2b(raw, digest_size=8).hexdigest()
    return path.with_name(f".{name}.{_new_token()}.part")


def _new_token() -> str:
    return secrets.token_hex(8)


def _remove_if_left(path: Path, name: str) -> bool:
    is_marked = _MARKED.fullmatch(name) is not None
    if not (is_marked or (_PART if name.startswith(".") else _TEMPORARY).fullmatch(name)):
        return False
    with suppress(OSError):
        if not _is_ours(about := os.lstat(path)) or (is_marked and time.time() - about.st_mtime < _MARKED_S):
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


def _create_part(path: Path) -> tuple[Path, int, int]:
    while True:
        part = _part_path(path)
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            os.fchmod(descriptor, PRIVATE)
            if _lock(descriptor, part):
                return part, descriptor, mode
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


@contextmanager
def _locked_folder(new_path: Callable[[], Path]) -> Iterator[Path]:
    locked = False
    while not locked:
        folder = new_path()
        folder.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            locked = _lock(descriptor, folder)
            if not locked:
                os.close(descriptor)
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> bool:
    """Lock a new file or folder; return False if another process has just removed it as a leftover."""
    # On a file system without locks no leftover is removed.
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return _is_at(descriptor, path)


def _mode_of(path: Path, otherwise: int) -> int:
    with suppress(OSError):
        about = os.lstat(path)
        if stat.S_ISREG(about.st_mode):
            return stat.S_IMODE(about.st_mode) & 0o777
    return otherwise


def require_input(path: Path) -> None:
    """Check that this process doesn't have a file open for writing, such as a database, its log or an output.

    Closing a file releases all of the process's locks on it, also those of other descriptors. SQLite would go on
    without its locks on an open database, and another process could believe to be the last user and delete the log.

    Raises:
        FormatError: This process has the file open.
    """
    with suppress(OSError):
        there = os.stat(path)
        if any(os.path.samestat(one, there) for one in _open_for_writing()):
            raise FormatError(f"{path}: it belongs to the project that is open, or is being written.", "Name another.")


def read_small_file(path: Path, what: str, limit: int, hint: str) -> bytes:
    """Return the bytes of a file such as "a prompt".

    Args:
        what: What the file is, for the message.
        limit: Maximum size in bytes.
        hint: The message's hint if there is no such file.

    Raises:
        UsageError: The file can't be read, or is too large.
    """
    try:
        # Reading from a pipe could block for ever.
        if not path.is_file():
            raise UsageError(f"{path}: there is no such file.", hint)
        require_input(path)
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from error
    if len(data) > limit:
        raise UsageError(f"{path}: {what} has at most {limit // 1024} KiB.")
    return data


def _open_for_writing() -> Iterator[os.stat_result]:
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            if fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
                yield os.fstat(int(name))
