"""Give up rights, and make sure that processes end."""

from __future__ import annotations

import contextlib
import os
import signal

from .system import PR_SET_KEEPCAPS, PR_SET_PDEATHSIG, keep_capabilities, prctl

_READ_ANYWHERE = 1 << 2
"""``CAP_DAC_READ_SEARCH``: read below folders that are closed to other users; Landlock still applies."""

_SWEEPS = 200
_MOST_DESCRIPTORS = 1024


def become(user: int | None, read: list[str]) -> None:
    """Become an unused user, if this process is root, and keep only the right to read these paths.

    Args:
        user: An unused user and group id; None keeps the current one.
        read: Paths that must stay readable; the right to pass closed folders is kept only if one requires it.

    Raises:
        OSError: The user can't be used here, or a path can't be kept readable.
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
    """Have the kernel kill this process when its parent ends; exit if it has already ended.

    Args:
        parent: The parent's process id as seen from here; 0 for one outside of the process namespace.
    """
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def only_keep(job: int, to_results: int, results: int) -> None:
    """Make the job's pipe standard input, move the results' pipe to a fixed descriptor, and close all others but 1 and
    2."""
    os.dup2(job, 0)
    os.dup2(to_results, results)
    os.closerange(results + 1, _MOST_DESCRIPTORS)


def end_strays(child: int, known: set[int]) -> None:
    """Kill processes that an ended child left behind: its process group, and orphans reparented to this process.

    Args:
        child: The leader of the session.
        known: Children of this process to keep.
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
