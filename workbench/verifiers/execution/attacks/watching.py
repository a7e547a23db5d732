"""Attack a level and observe the effects: each attack ends with a list of its successes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from workbench.core.code import Level
from workbench.core.errors import VerifierError
from workbench.verifiers.execution.attacks.attack import (
    ANY,
    VARIABLE,
    Attack,
    AttackResult,
    PreparedScene,
    set_up_scene,
)
from workbench.verifiers.execution.attacks.harness import Order, Report

_WORKERS: Final = 4
_MAX_SILENCE_S: Final = 20.0
"""Seconds without a report after which the attacked process counts as hanging."""

_MAX_GROWTH_BYTES: Final = 2**28
"""Maximum growth of the attacked process over one attack, in bytes."""

_BOOT: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from workbench.verifiers.execution.attacks import harness; harness.main(int(sys.argv[1]))"
)


class UnusableLevelError(VerifierError):
    """A level can't be used on this machine: a requirement is missing."""


class _AttacksSeen(Struct):
    outcomes: dict[str, str] = {}
    wrong: dict[str, list[str]] = msgspec.field(default_factory=lambda: defaultdict(list))


def run_attacks(level: Level, attacks: Sequence[Attack], *, scratch: int = 0) -> list[AttackResult]:
    """Run attacks at a level; effects of unknown origin are reported for all.

    Args:
        scratch: Size of a writable folder in bytes; 0 for none.

    Raises:
        UnusableLevelError: The level doesn't start here.
    """
    seen = _AttacksSeen()
    with set_up_scene() as stage:
        waiting = [attack for attack in attacks if level in attack.levels]
        while waiting:
            _run_and_record(level, waiting, stage, seen, scratch)
            waiting = _blame_first_unanswered(waiting, seen)
        for name, traces in stage.traces().items():
            seen.wrong[name] += traces
    everywhere = seen.wrong.pop(ANY, [])
    return [
        AttackResult(
            name=attack.name,
            level=level,
            outcomes=seen.outcomes[attack.name],
            wrong=(*seen.wrong[attack.name], *everywhere),
        )
        for attack in attacks
        if level in attack.levels
    ]


def _blame_first_unanswered(attacks: list[Attack], seen: _AttacksSeen) -> list[Attack]:
    waiting = [attack for attack in attacks if attack.name not in seen.outcomes]
    if waiting:
        culprit, *waiting = waiting
        seen.outcomes[culprit.name] = ""
        seen.wrong[culprit.name].append("the process that runs solutions died or hung")
    return waiting


def _run_and_record(
    level: Level, attacks: list[Attack], stage: PreparedScene, seen: _AttacksSeen, scratch: int
) -> None:
    by_name = {attack.name: attack for attack in attacks}
    ours, theirs = socket.socketpair()
    with ours, tempfile.TemporaryFile() as output:
        with theirs:
            process = _start_harness(theirs, stage, output.fileno())
        try:
            order = Order(names=[*by_name], level=level, workers=_WORKERS, scene=stage.scene, scratch=scratch)
            for report in _reports(ours, order):
                if report.unusable is not None:
                    raise UnusableLevelError(report.unusable)
                _record_report(report, by_name, stage, seen)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if output.seek(0, os.SEEK_END):
            seen.wrong[ANY].append("output of programs came out of the process that runs them")


def _start_harness(connection: socket.socket, stage: PreparedScene, output: int) -> subprocess.Popen[bytes]:
    descriptor = connection.fileno()
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _BOOT, str(descriptor), json.dumps(sys.path)],
        stdin=stage.terminal,
        stdout=output,
        stderr=output,
        pass_fds=(descriptor,),
        env={**os.environ, VARIABLE: stage.scene.secret},
        start_new_session=True,
    )


def _reports(connection: socket.socket, order: Order) -> Iterator[Report]:
    connection.settimeout(_MAX_SILENCE_S)
    with contextlib.suppress(OSError):
        connection.sendall(msgspec.json.encode(order) + b"\n")
        with connection.makefile("rb") as lines:
            for line in lines:
                yield msgspec.json.decode(line, type=Report)


def _record_report(report: Report, attacks: dict[str, Attack], stage: PreparedScene, seen: _AttacksSeen) -> None:
    if report.name is None:
        if report.left:
            seen.wrong[ANY].append(f"processes outlived the pool: {report.left}")
        return
    wrong = seen.wrong[report.name]
    if report.after is not None:
        wrong.append(f"the next program came out as {report.after}")
    if report.execution is not None:
        seen.outcomes[report.name] = report.execution.outcomes
        wrong += attacks[report.name].passes(stage.scene, report.execution)
        if report.execution.harness_killed:
            wrong.append("the process that runs solutions died")
    if report.grown > _MAX_GROWTH_BYTES:
        wrong.append(f"the harness grew by {report.grown / 2**20:.0f} MiB")
