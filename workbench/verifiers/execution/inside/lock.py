"""Give up rights, limit resources, and make sure that processes end."""

from __future__ import annotations

import contextlib
import math
import os
import resource
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


# -- Resource limits of a child, enforced by the kernel.


_LAST_WORDS = 32 * 2**20
"""Additional bytes for a process out of memory to report that."""

_OPEN_FILES = 64


def limit_all(memory_bytes: int, processes: int | None, file_bytes: int = 0) -> None:
    _limit(resource.RLIMIT_AS, memory_bytes, memory_bytes + _LAST_WORDS)
    _limit(resource.RLIMIT_FSIZE, file_bytes, file_bytes)
    _limit(resource.RLIMIT_CORE, 0, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES)
    _limit(resource.RLIMIT_MEMLOCK, 0, 0)
    if processes is not None:
        _limit(resource.RLIMIT_NPROC, processes, processes)


def limit_cpu(seconds: float) -> None:
    """Have the kernel end this process after ``seconds`` of computing, as a last resort."""
    whole = math.ceil(seconds)
    _limit(resource.RLIMIT_CPU, whole, whole + 1)


def grant_last_words() -> None:
    """Raise the memory limit slightly, to report an error."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _limit(limit: int, soft: int, hard: int) -> None:
    _, most = resource.getrlimit(limit)
    if most != resource.RLIM_INFINITY:
        soft, hard = min(soft, most), min(hard, most)
    resource.setrlimit(limit, (soft, hard))
