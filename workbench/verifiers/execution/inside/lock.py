"""Giving up rights, and making sure that processes end."""

from __future__ import annotations

import contextlib
import os
import signal

from .system import PR_SET_KEEPCAPS, PR_SET_PDEATHSIG, keep_capabilities, prctl

_READ_ANYWHERE = 1 << 2
"""``CAP_DAC_READ_SEARCH``: to read below folders that are closed to other users; landlock still holds."""

_SWEEPS = 200
_MOST_DESCRIPTORS = 1024


def become(user: int | None, read: list[str]) -> None:
    """Become an unused user, if this process is root, and keep no right but to read these paths.

    Args:
        user: An unused user and group id; None keeps the current one.
        read: Paths that must stay readable; the right to pass closed folders is kept only if one wouldn't be otherwise.

    Raises:
        OSError: There is no such user here, or a path can't be kept readable.
    """
    if user is None or os.geteuid():
        return
    there = [path for path in read if os.path.lexists(path)]
    prctl(PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    keep_capabilities(0 if all(os.access(path, os.R_OK) for path in there) else _READ_ANYWHERE)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends; end now if it has already.

    Args:
        parent: The parent's process id as seen from here; 0 for one outside of the process namespace.
    """
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def only_keep(job: int, to_results: int, results: int) -> None:
    """Make the job standard input, put the pipe for results in its place, and close all else but 1 and 2."""
    os.dup2(job, 0)
    os.dup2(to_results, results)
    os.closerange(results + 1, _MOST_DESCRIPTORS)


def end_strays(child: int, known: set[int]) -> None:
    """Kill processes that an ended child left behind: its process group, and orphans reparented to this process.

    Args:
        child: It led a session of its own.
        known: Children of this process that stay.
    """
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    for _ in range(_SWEEPS):
        strays = _children() - known
        if not strays:
            return
        for stray in strays:
            with contextlib.suppress(OSError):
                os.kill(stray, signal.SIGKILL)
                os.waitpid(stray, 0)


def _children() -> set[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return {int(word) for word in file.read().split()}
    except OSError:
        return set()
