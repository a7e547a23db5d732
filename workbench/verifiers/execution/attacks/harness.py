"""The process that is attacked: it runs the attacks like any solutions, and reports the results.

It is a separate process so that an attack which kills it, or reads its environment, affects no other process.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import socket
import sys
import termios
import time
from collections.abc import Iterator

import msgspec
import psutil
from msgspec import Struct

from workbench.core.code import CodeTest, Execution, Level, Program
from workbench.core.errors import WorkbenchError
from workbench.verifiers.execution.attacks.attack import Attack, Scene, corpus
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.settings import PoolSettings

_PR_SET_CHILD_SUBREAPER = 36
_GRACE_S = 5.0
_HONEST = Program(
    source="def f(x):\n    return x + 1\n",
    tests=(
        CodeTest(form="expression", source="assert f(1) == 2"),
        CodeTest(form="expression", source="assert f(1) == 3"),
        CodeTest(form="statement", source="assert f(2) == 3"),
    ),
    seconds=5,
)
_HONEST_OUTCOMES = "pfp"


class Order(Struct, frozen=True):
    """A request to the harness: the attacks' names, the level, the scene, and the bytes that attacks may write."""

    names: list[str]
    level: Level
    workers: int
    scene: Scene
    scratch: int


class Report(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A report of the attacked process, one line each.

    Attributes:
        name: The attack's name; None in the last report, or if the level is unavailable.
        execution: The attack's result.
        after: The outcomes of an honest program that was run after it, if they are wrong.
        grown: Bytes by which the process grew.
        unusable: Why the level can't be used at all.
        left: Number of processes that survived the end of the pool.
    """

    name: str | None = None
    execution: Execution | None = None
    after: str | None = None
    grown: int = 0
    unusable: str | None = None
    left: int = 0


def main(descriptor: int) -> None:
    """Read an order from the socket ``descriptor``, and report on it there."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    with socket.socket(fileno=descriptor) as connection:
        connection.set_inheritable(False)
        with connection.makefile("rb") as lines:
            order = msgspec.json.decode(lines.readline(), type=Order)
        for report in _reports(order):
            connection.sendall(msgspec.json.encode(report) + b"\n")


def _reports(order: Order) -> Iterator[Report]:
    chosen = [attack for attack in (*corpus(), *corpus(scratch=True)) if attack.name in order.names]
    try:
        settings = PoolSettings(scratch_bytes=order.scratch)
        with SandboxPool(order.level, order.workers, settings=settings) as pool:
            yield from _run_attacks(pool, chosen, order.scene)
    except WorkbenchError as error:
        yield Report(unusable=str(error))
        return
    yield Report(left=_count_leftover_processes())


def _run_attacks(pool: SandboxPool, attacks: list[Attack], scene: Scene) -> Iterator[Report]:
    def jobs() -> Iterator[tuple[tuple[str, bool], Program]]:
        for attack in attacks:
            yield (attack.name, False), attack.staged(scene, os.getpid())
            yield (attack.name, True), _HONEST

    size = _peak_memory()
    for (name, honest), execution in pool.run(jobs()):
        if not honest:
            yield Report(name=name, execution=execution, grown=_peak_memory() - size)
            size = _peak_memory()
        elif execution.outcomes != _HONEST_OUTCOMES:
            yield Report(name=name, after=execution.outcomes)


def _peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _count_leftover_processes() -> int:
    until = time.monotonic() + _GRACE_S
    while True:
        left = [one for one in psutil.Process().children(recursive=True) if _is_alive(one)]
        if not left or time.monotonic() > until:
            return len(left)
        time.sleep(0.02)


def _is_alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
