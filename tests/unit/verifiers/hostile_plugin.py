"""A plugin verifier that does to its worker whatever the completion requests."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import Any, ClassVar, cast

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation


class Hostile:
    description: ClassVar[str] = "Does what the completion says"
    options: ClassVar[dict[str, str]] = {
        "start": "what to do when made: nothing, raise or exit",
        "spare": "the process id that survives start=exit",
    }
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "hostile"
    version: str = "1"
    isolation: Isolation = "process"

    def __init__(self, start: str = "nothing", spare: str = "0") -> None:
        if start not in ("nothing", "raise", "exit"):
            raise ValueError(f"start can't be {start}")
        if start != "nothing" and os.getpid() != int(spare):
            if start == "exit":
                os._exit(3)
            raise RuntimeError("no licence found")
        self.start = start

    def config(self) -> dict[str, object]:
        return {"start": self.start}

    def verify(self, item: VerifierInput) -> Verdict:
        deeds = {
            "hang": _hang,
            "compute": _compute,
            "sleep": _sleep,
            "compute in children": _compute_in_children,
            "compute a while": _compute_a_while,
            "segfault": _segfault,
            "memory": _memory,
            "hide memory": _hide_memory,
            "fork": os.fork,
            "daemon": _daemon,
            "print": _print,
            "talk": _talk,
            "grow": _grow,
            "exit": sys.exit,
            "raise": _raise,
        }
        if item.completion == "nonsense":
            return cast("Verdict", "correct")
        if item.completion == "unsendable":
            return Verdict(outcome=Outcome.CORRECT, detail="\ud800")
        if item.completion == "wrong type":
            return Verdict(outcome=Outcome.CORRECT, score=cast("Any", "high"))
        deeds.get(item.completion, lambda: None)()
        return Verdict(outcome=Outcome.CORRECT, score=float(len(item.completion)), detail=str(os.getpid()))


def _hang() -> None:
    while True:
        pass


def _compute() -> None:
    """Stays inside one C call that no Python signal handler or thread can interrupt."""
    9 ** (9**9)


def _sleep() -> None:
    time.sleep(600)


def _compute_in_children() -> None:
    """Compute in child processes, one after the other, while this process only waits."""
    while True:
        child = os.fork()
        if child == 0:
            _burn(0.04)
            os._exit(0)
        os.waitpid(child, 0)


def _compute_a_while() -> None:
    """Takes longer than it may in the tests, and answers if it is let."""
    _burn(0.4)


def _burn(seconds: float) -> None:
    ends = time.process_time() + seconds
    while time.process_time() < ends:
        pass


def _segfault() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _memory() -> None:
    chunks = []
    while True:
        chunks.append(bytearray(b"x") * 20_000_000)


def _hide_memory() -> None:
    """Takes all memory there is, page by page, and never says that it has run out."""
    chunks = []
    while True:
        with contextlib.suppress(MemoryError):
            chunks.append(bytearray(4096))


def _daemon() -> None:
    """Leaves a process behind that has left the worker's process group."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
        os._exit(0)


def _print() -> None:
    for descriptor in (1, 2):
        os.write(descriptor, b"noise" * 10)


def _talk() -> None:
    raise RuntimeError("x" * 1_000_000)


def _grow() -> None:
    len(bytearray(b"x") * 200_000_000)


def _raise() -> None:
    raise RuntimeError("broken on purpose")
