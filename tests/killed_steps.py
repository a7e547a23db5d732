"""Kill operations at a random step or moment, in processes forked from one that has loaded the program.

A step is a call of a C function: a statement, a rename, a sync. A moment may fall within such a call.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.helpers import merge
from workbench.core.project import opened_project
from workbench.labelling.bundling import bundle


class Done(NamedTuple):
    """The outcome of an operation.

    Attributes:
        killed: Whether it was killed before it finished.
        steps: The number of its steps, and the seconds it took; only if it finished.
    """

    killed: bool
    steps: int = 0
    seconds: float = 0.0


class When(NamedTuple):
    """When an operation is killed: at the step of that number, or after so many seconds."""

    step: int = 0
    moment: float = 0.0


NOT_KILLED = When()
"""The operation is not killed."""


class Killer:
    """Run operations; see `killer`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, verb: str, *arguments: object, when: When = NOT_KILLED) -> Done:
        """Run an operation until it ends or is killed."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([verb, list(map(str, arguments)), *when]), file=self._process.stdin, flush=True)
        return Done(*json.loads(self._process.stdout.readline()))


@contextmanager
def killer() -> Iterator[Killer]:
    """Start a process that runs operations."""
    command = [sys.executable, "-m", "tests.killed_steps"]
    root = Path(__file__).resolve().parents[1]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Killer(process)
        finally:
            assert process.stdin
            process.stdin.close()


def _bundle(database: str, file: str, annotator: str) -> None:
    with opened_project(database) as project:
        bundle(project, Path(file), annotator=annotator)


def _merge(database: str, file: str) -> None:
    with opened_project(database) as project:
        merge(project, Path(file))


VERBS: dict[str, Callable[..., None]] = {"bundle": _bundle, "merge": _merge}


def _child(verb: str, arguments: list[str], step: int, moment: float, reader: int) -> None:
    steps = 0

    def count(_frame: Any, event: str, _what: Any) -> None:
        nonlocal steps
        if event == "c_call":
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    if moment:
        # The default action of SIGALRM ends the process wherever it is.
        signal.setitimer(signal.ITIMER_REAL, moment)
    else:
        sys.setprofile(count)
    began = time.monotonic()
    VERBS[verb](*arguments)
    sys.setprofile(None)
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.write(reader, json.dumps([False, steps, time.monotonic() - began]).encode())
    os._exit(0)


def main() -> None:
    """Run the operations that are requested on standard input."""
    for line in sys.stdin:
        verb, arguments, step, moment = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                _child(verb, arguments, step, moment, writer)
            finally:
                os._exit(1)
        os.close(writer)
        _, status = os.waitpid(child, 0)
        with os.fdopen(reader) as pipe:
            reply = pipe.read()
        killed = os.WIFSIGNALED(status)
        print(reply if reply and not killed else json.dumps([killed]), flush=True)


if __name__ == "__main__":
    main()
