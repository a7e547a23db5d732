"""The server: a small warm interpreter that forks a child ahead for every solution.

On the control socket its pool names the child to end; the server answers with how that child ended and with the next
child, which waits, locked in, for its job. The server itself never reads a child's output.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import platform
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NoReturn

from . import landlock, scratch, seccomp
from .child import REHEARSALS, RESULTS, rehearse, work
from .lock import become, die_with, end_strays, limit_all, only_keep
from .system import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, prctl

ORDER = struct.Struct("=i")
"""The process id of a child to end; 0 for none."""

NEWS = struct.Struct("=iii")
"""The new child's process id, the one that ended, and its exit status as ``os.wait`` has it."""

AHEAD = 3
"""Initial number of children: one works while the next get ready."""

PRELOADED = (
    *("bisect", "cmath", "collections", "collections.abc", "contextlib", "copy", "dataclasses", "datetime", "decimal"),
    *("enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math", "numbers", "operator"),
    *("random", "re", "statistics", "string", "textwrap", "time", "typing"),
)
"""Modules that programs often import: a child has them without reading a file."""

_LINUX = sys.platform == "linux"


class Server:
    """The forking process.

    Args:
        config: The configuration that `workbench.verifiers.execution.box` writes.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self._control = socket.socket(fileno=config["control"])
        self._locked: bool = config["locked"]
        self._ahead: int = config["ahead"]
        self._filter: seccomp.Filter | None = None
        self._children: set[int] = set()
        self._pid = os.getpid()
        self._prepare(config)

    def _prepare(self, config: dict[str, Any]) -> None:
        if config["scratch"]:
            scratch.set_up(config["scratch"])
        sys.path[:] = config["path"]
        with _without_hooks():
            for name in PRELOADED:
                importlib.import_module(name)
        sys.modules["random"].seed(config["seed"])
        _restore_ordinary_names()
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
        if config["scratch"]:
            scratch.enter()
        if _LINUX:
            become(config["user"], config["read"])
            if self._locked:
                # Without a sandbox it has to outlive its parent for a moment, to end processes that programs left
                # behind.
                die_with(config["parent"])
            prctl(PR_SET_CHILD_SUBREAPER, 1)
            prctl(PR_SET_DUMPABLE, 0)
            prctl(PR_SET_NO_NEW_PRIVS, 1)
        limit_all(config["memory"], config["processes"], config["scratch"])
        if self._locked:
            calls = [*seccomp.SCRATCH.values()] if config["scratch"] else []
            code = seccomp.program(platform.machine(), calls, locks=config["scratch"] > 0)
            self._filter = seccomp.Filter(code, platform.machine())
            folders = [(scratch.FOLDER, landlock.SCRATCH)] if config["scratch"] else []
            landlock.restrict(config["read"], config["list"], [os.devnull], landlock.version(), folders)
        rehearse(REHEARSALS)
        gc.collect()
        gc.freeze()

    def serve(self) -> NoReturn:
        with contextlib.suppress(OSError):  # the pool has gone in the midst of it
            for _ in range(self._ahead):
                self._fork_and_announce(0, 0)
            while order := self._receive_order():
                status = self._end_child(order[0]) if order[0] else 0
                self._fork_and_announce(order[0], status)
        for child in list(self._children):
            self._end_child(child)
        os._exit(0)

    def _receive_order(self) -> tuple[int] | None:
        data = self._control.recv(ORDER.size, socket.MSG_WAITALL)
        return ORDER.unpack(data) if len(data) == ORDER.size else None

    def _end_child(self, child: int) -> int:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        self._children.discard(child)
        if not self._locked:
            end_strays(child, self._children)
        return status

    def _fork_and_announce(self, ended: int, status: int) -> None:
        job, to_job = os.pipe()
        results, to_results = os.pipe()
        child = os.fork()
        if not child:
            self._become_child(job, to_results)
        self._children.add(child)
        sent = [to_job, results]
        if hasattr(os, "pidfd_open"):
            # Inside a namespace a process has another id: this gives its id outside.
            sent.append(os.pidfd_open(child))
        socket.send_fds(self._control, [NEWS.pack(child, ended, status)], sent)
        for descriptor in (job, to_results, *sent):
            os.close(descriptor)

    def _become_child(self, job: int, to_results: int) -> NoReturn:
        try:
            os.setsid()
            only_keep(job, to_results, RESULTS)
            # A separate file description: flags of a shared one would persist for the next child.
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.dup2(1, 2)
            os.closerange(RESULTS + 1, RESULTS + 2)
            if _LINUX:
                die_with(self._pid)
            if self._filter:
                self._filter.confine()
            work()
        finally:
            os._exit(70)


@contextlib.contextmanager
def _without_hooks() -> Iterator[None]:
    register, os.register_at_fork = os.register_at_fork, lambda **hooks: None
    try:
        yield
    finally:
        os.register_at_fork = register


def _restore_ordinary_names() -> None:
    import site

    for install in (site.setquit, site.setcopyright, site.sethelper):
        install()
    package = __name__.rpartition(".")[0]
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[name]
    sys.modules["__main__"] = ModuleType("__main__")
    sys.argv[:] = [""]
    os.environ.clear()


def main(config: dict[str, Any]) -> NoReturn:
    """Serve, or report on the control socket why that is impossible."""
    try:
        server = Server(config)
    except BaseException:
        with socket.socket(fileno=os.dup(config["control"])) as control:
            control.sendall(NEWS.pack(-1, 0, 0) + json.dumps(traceback.format_exc()[-1000:]).encode())
        os._exit(1)
    server.serve()
