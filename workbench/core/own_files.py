"""Opening files of one's own: plain ones with one name, no links followed, for their owner alone.

Whatever is wrong is an `OSError` whose ``strerror`` says it in words, so that it is told like any other trouble.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO, Final

PRIVATE: Final = 0o600

_SAFELY: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""No link is followed, no pipe waited for, and no terminal becomes this process's."""

_KINDS: Final = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class NotOwnFileError(OSError):
    """What stands there is no plain file of one's own."""


class TooLargeError(OSError):
    """The file is larger than any that belongs there."""


def open_own(path: Path) -> IO[bytes]:
    """A file for reading.

    Raises:
        NotOwnFileError: It is none of one's own.
        OSError: It isn't there, or can't be opened.
    """
    return os.fdopen(_opened(path, os.O_RDONLY), "rb")


def read_own(path: Path, most: int) -> bytes:
    """All of a file.

    Raises:
        NotOwnFileError: It is none of one's own.
        TooLargeError: It has more than ``most`` bytes.
        OSError: It isn't there, or can't be read.
    """
    with open_own(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise TooLargeError(errno.EFBIG, f"it is larger than {most:,} bytes", os.fspath(path))
    return content


def append_own(path: Path, most: int) -> IO[bytes]:
    """A file to write at the end of, made if need be; one of more than ``most`` bytes begins anew.

    Raises:
        NotOwnFileError: It is none of one's own.
        OSError: It can't be opened.
    """
    descriptor = _opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        if os.fstat(descriptor).st_size > most:
            os.ftruncate(descriptor, 0)
        os.fchmod(descriptor, PRIVATE)
        return os.fdopen(descriptor, "ab")
    except BaseException:
        os.close(descriptor)
        raise


def require_own_folder(path: Path) -> None:
    """Refuse what is no folder of one's own; nothing there is fine.

    Raises:
        NotOwnFileError: It is none of one's own.
    """
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(about.st_mode):
        raise _refused(_KINDS.get(stat.S_IFMT(about.st_mode), "a file"), path)
    _require_owner(about, path)


def require_plain(path: Path) -> None:
    """Refuse what is no plain file with one name, whoever it belongs to; nothing there is fine.

    Raises:
        NotOwnFileError: It is a link, a pipe, a device or the like.
    """
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return
    _require_plain(about, path)


def require_own(path: Path) -> None:
    """Refuse what is no plain file of one's own; nothing there is fine.

    Raises:
        NotOwnFileError: It is none of one's own.
    """
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return
    _require(about, path)


def _opened(path: Path, flags: int) -> int:
    # A device may do something as it is opened: what it is, is looked at before, and again on what was opened.
    require_own(path)
    try:
        descriptor = os.open(path, flags | _SAFELY, PRIVATE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _refused(_KINDS[stat.S_IFLNK], path) from error
        raise
    try:
        _require(os.fstat(descriptor), path)
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _require(about: os.stat_result, path: Path) -> None:
    _require_plain(about, path)
    _require_owner(about, path)


def _require_plain(about: os.stat_result, path: Path) -> None:
    kind = _KINDS.get(stat.S_IFMT(about.st_mode))
    if kind is not None:
        raise _refused(kind, path)
    if about.st_nlink > 1:
        raise _refused("a file that has a second name (a hard link)", path)


def _require_owner(about: os.stat_result, path: Path) -> None:
    # Whoever owns the folder can put anything there, and may share it with us.
    if about.st_uid not in (os.geteuid(), os.stat(path.parent).st_uid):
        raise _refused("another user's", path)


def _refused(what: str, path: Path) -> NotOwnFileError:
    return NotOwnFileError(
        errno.EPERM, f"it is {what}, where the program keeps a file of its own: remove it", str(path)
    )
