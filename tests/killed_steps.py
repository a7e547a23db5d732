"""Verbs that are killed at a step or a moment chosen by chance, in processes forked from one that has loaded them.

A step is a call of anything written in C: a statement, a rename, a sync. A moment may lie within such a call.
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
from workbench.interchange.merging import merge_runs
from workbench.labelling.bundling import bundle


class Done(NamedTuple):
    """What became of a verb.

    Attributes:
        killed: It did not come to its end.
        steps: Its steps, and how long it took; only of one that came to its end.
    """

    killed: bool
    steps: int = 0
    seconds: float = 0.0


class When(NamedTuple):
    """When a verb is killed: at its step of that number, or after so many seconds."""

    step: int = 0
    moment: float = 0.0


EVER = When()
"""A verb comes to its end."""


class Killer:
    """Runs verbs; see `killer`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, verb: str, *arguments: object, when: When = EVER) -> Done:
        """Run a verb until it is killed."""
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([verb, list(map(str, arguments)), *when]), file=self._process.stdin, flush=True)
        return Done(*json.loads(self._process.stdout.readline()))


@contextmanager
def killer() -> Iterator[Killer]:
    """A process that runs verbs."""
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


def _merge_runs(database: str, file: str) -> None:
    with opened_project(database) as project:
        merge_runs(project, [Path(file)])


VERBS: dict[str, Callable[..., None]] = {"bundle": _bundle, "merge": _merge, "merge runs": _merge_runs}


def _child(verb: str, arguments: list[str], step: int, moment: float, told: int) -> None:
    steps = 0

    def count(_frame: Any, event: str, _what: Any) -> None:
        nonlocal steps
        if event == "c_call":
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    if moment:
        # Whose default action ends the process wherever it is.
        signal.setitimer(signal.ITIMER_REAL, moment)
    else:
        sys.setprofile(count)
    began = time.monotonic()
    VERBS[verb](*arguments)
    sys.setprofile(None)
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.write(told, json.dumps([False, steps, time.monotonic() - began]).encode())
    os._exit(0)


def main() -> None:
    """Run the verbs that are asked for on standard input."""
    for line in sys.stdin:
        verb, arguments, step, moment = json.loads(line)
        told, telling = os.pipe()
        child = os.fork()
        if not child:
            try:
                _child(verb, arguments, step, moment, telling)
            finally:
                os._exit(1)
        os.close(telling)
        _, status = os.waitpid(child, 0)
        with os.fdopen(told) as pipe:
            said = pipe.read()
        killed = os.WIFSIGNALED(status)
        print(said if said and not killed else json.dumps([killed]), flush=True)


if __name__ == "__main__":
    main()
