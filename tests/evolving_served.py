"""Evolutions with a real model server on the loopback interface, whose replies consist of tests known to be correct."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.evolving import limited, own_project, tops
from tests.servers.scripted import ScriptedServer, chat_reply, scripted
from tests.servers.wire import Received, Scripted
from workbench.core.errors import VerifierError
from workbench.core.project import Project, open_project
from workbench.interchange.importing import import_files, plan_import
from workbench.verifiers.execution.levels import best_level

NEXT = 4
"""Good tests per reply."""

USELESS = [
    "assert candidate(",
    "assert False",
    "assert True",
    "x = 1",
    "assert __import__('os').kill(1, 9) == candidate",
    "assert (candidate := 1)",
    "import os; os._exit(0)",
]


def need_a_sandbox() -> None:
    """Skip a test where no sandbox isolates programs."""
    try:
        best_level()
    except VerifierError as error:
        pytest.skip(str(error))


def real_project(shared: Path, folder: Path, problems: int, solutions: int) -> tuple[Project, dict[str, list[str]]]:
    """Return ``problems`` real problems with ``solutions`` solutions each, and correct tests missing from their suites,
    by prompt.

    Problems and solutions come first of which more tests say something else; solutions that loop for ever on one of
    them are left out: they would take all the time.
    """
    pools: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(shared / "code/solutions.jsonl"):
        if "t" not in row["plus"]:
            pools.setdefault(row["task_id"], []).append(row)
    for pool in pools.values():
        pool.sort(key=lambda row: not fooled(row))
    able = [row for row in rows_of(shared / "code/problems.jsonl") if len(row["plus_tests"]) > 10]
    chosen = sorted(able, key=lambda row: -sum(map(fooled, pools[row["task_id"]])))[:problems]
    # Modules in the test's folder would be imported from there.
    for name, rows in (
        ("problems.jsonl", chosen),
        ("solutions.jsonl", [one for row in chosen for one in pools[row["task_id"]][:solutions]]),
    ):
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    project = open_project(folder / "p.db", create=True)
    import_files(project, plan_import([folder / "problems.jsonl", folder / "solutions.jsonl"]), dataset="real")
    return project, {row["prompt"]: row["plus_tests"] for row in chosen}


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def fooled(row: dict[str, Any]) -> bool:
    """Return whether a solution passes its problem's own tests, but not all other correct tests."""
    return set(row["per_test"]) == {"p"} and set(row["plus"]) > {"p"}


def own_tests(count: int) -> dict[str, list[str]]:
    """Return correct tests for the problems of `own_project`, by a part of the prompt."""
    numbers = [9, -3, 0, 2, 100, -1, 7, 12, 15, 11, 14, -50, 10, 8]
    return {
        f"Write clip{top}(x)": [f"assert candidate({number}) == {limited(number, top)}" for number in numbers]
        for top in tops(count)
    }


def answering(more: Mapping[str, Sequence[str]]) -> Callable[[Received], str]:
    """Reply with the next correct tests that the request does not show, and with tests that must be rejected.

    A reply depends on the request alone, so a repeated request gets the same reply.
    """

    def answer(received: Received) -> str:
        words = received.body["messages"][-1]["content"]
        tests = next(tests for part, tests in more.items() if part in words)
        new = [test for test in tests if test not in words][:NEXT]
        wrong = [f"{test.rpartition('==')[0]}== 'nobody returns this'" for test in new[:1]]
        reply_text = json.dumps({"tests": [*new, *new[:1], *tests[:1], *USELESS, *wrong]})
        return (
            reply_text if "hardly tells" in words else f"<think>Where do they fail?</think>\n```json\n{reply_text}\n```"
        )

    return answer


@contextmanager
def own_served(
    folder: Path, count: int = 2, waits: int | None = None, until: Event | None = None
) -> Iterator[tuple[Project, ScriptedServer]]:
    """Create custom problems and start a server for them.

    Args:
        waits: From this request on, replies wait.
        until: Set when replies need not wait any longer.
    """
    project = own_project(folder, count)
    answer, requests = answering(own_tests(count)), itertools.count(1)

    def slowly(received: Received) -> Scripted:
        late = waits is not None and next(requests) >= waits
        return Scripted(body=chat_reply(answer(received)), hold=until if late else None)

    try:
        with scripted(slowly) as server:
            yield project, server
    finally:
        project.close()


def command(project: Project, server: ScriptedServer, *more: str) -> list[str]:
    """Return the command line that evolves a project."""
    called = [sys.executable, "-m", "workbench", "code", "evolve", str(project.path), "--name", "grown", "--model", "m"]
    return [*called, "-o", f"base_url={server.url}", *more]


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, check=False)
