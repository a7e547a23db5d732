"""A program in another language: confined as Python programs are, and watched by the process it is forked from.

In addition it may do what starting an interpreter requires: execute the named files, and make a few harmless calls.
"""

from __future__ import annotations

import os
import platform
import select
import signal
from typing import Any, NoReturn

from . import landlock, seccomp
from .lock import become, die_with, limit_all, limit_cpu
from .system import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, prctl

FOLDER = "/job"
"""The folder of the program's file, in which the compiler may write."""

UNCOMPILED = 70
"""The exit status for a program that didn't compile."""

_MORE_CALLS = ((59, 221), (158, None), (290, 19), (125, 90))
"""``execve``, ``arch_prctl``, ``eventfd2``, ``capget``, on x86_64 and aarch64."""

_WRITTEN_BYTES = 1 << 24
_KILLED = 128
_MOST_DESCRIPTORS = 1024


def main(config: dict[str, Any]) -> NoReturn:
    """Compile if the language requires it, and run; this is process 1 here, so that everything ends with it."""
    try:
        # Another user will write here.
        os.chmod(FOLDER, 0o777)
        become(config["user"], [])
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        prctl(PR_SET_DUMPABLE, 0)
        if config["compile"]:
            rights = landlock.ALL_FILES
            if _run_command(config, config["compile"], rights, _WRITTEN_BYTES, quiet=True):
                os._exit(UNCOMPILED)
        rights = landlock.READ_FILE | landlock.READ_DIR | landlock.EXECUTE
        os._exit(_run_command(config, config["run"], rights, 0, quiet=False))
    finally:
        os._exit(1)


def _run_command(config: dict[str, Any], command: list[str], rights: int, file_bytes: int, *, quiet: bool) -> int:
    child = os.fork()
    if not child:
        try:
            _exec_confined(config, command, rights, file_bytes, quiet=quiet)
        finally:
            os._exit(1)
    poller = select.poll()
    poller.register(config["lifeline"], select.POLLIN)
    poller.register(os.pidfd_open(child), select.POLLIN)
    if any(descriptor == config["lifeline"] for descriptor, _ in poller.poll()):
        os._exit(_KILLED + signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return _KILLED + status if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _exec_confined(
    config: dict[str, Any], command: list[str], rights: int, file_bytes: int, *, quiet: bool
) -> NoReturn:
    os.setsid()
    die_with(1)
    null = os.open(os.devnull, os.O_RDWR)
    if quiet:
        os.dup2(null, 0)
        os.dup2(null, 1)
    os.dup2(null, 2)
    os.closerange(3, _MOST_DESCRIPTORS)
    os.chdir(FOLDER)
    limit_all(config["memory"], config["processes"], file_bytes)
    limit_cpu(config["cpu"])
    runnable = [(path, landlock.READ_FILE | landlock.EXECUTE) for path in config["runnable"]]
    landlock.restrict(config["read"], config["list"], [os.devnull], landlock.version(), [*runnable, (FOLDER, rights)])
    machine = platform.machine()
    seccomp.Filter(seccomp.program(machine, _MORE_CALLS), machine).confine()
    os.execve(command[0], command, config["environment"])
