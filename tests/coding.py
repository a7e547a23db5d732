"""Small projects of code for tests: problems, tests and solutions are inserted directly into the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import pytest
from msgspec import structs

from tests.helpers import CREATED, add_items, make_project
from workbench.core.code import CodeTest, Execution, Level, Problem, Program, Provenance
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.runs import runner
from workbench.runs.lease import Lease
from workbench.runs.run_status import run_info
from workbench.runs.runner import Runner
from workbench.runs.verifying import EVERYTHING, start
from workbench.verifiers.execution.settings import PoolSettings

K = TypeVar("K")

ADD = Problem(
    task_id="add",
    prompt="def add(a, b):\n",
    canonical="def add(a, b):\n    return a + b\n",
    entry_point="add",
    setup="candidate = add",
    suites={
        "base": (
            CodeTest(form="expression", source="assert candidate(1, 2) == 3"),
            CodeTest(form="expression", source="assert candidate(0, 0) == 0"),
        ),
        "plus": (CodeTest(form="expression", source="assert candidate('a', 'b') == 'ab'"),),
    },
)
"""A custom problem with two suites."""

DOUBLE = Problem(
    task_id="double",
    canonical="def double(a):\n    return 2 * a\n",
    entry_point="double",
    suites={"base": (CodeTest(form="expression", source="assert double(4) == 8"),)},
)
"""A problem with one suite."""


def make_code_project(
    folder: Path, solutions: Mapping[str, Sequence[Mapping[str, Any]]], *problems: Problem
) -> Project:
    """Create a project of these problems, `ADD` and `DOUBLE` by default.

    Args:
        solutions: Problem's id -> its solutions, ``add/0``, ``add/1`` …: fields as with `add_items`, and ``form``;
            solutions under any other id are items without code.
    """
    project = make_project(folder)
    chosen = problems or (ADD, DOUBLE)
    texts = {one.task_id: {"question": one.prompt, "reference": one.canonical} for one in chosen}
    rows = [
        {
            "dataset": "code",
            "question_id": task_id,
            "completion_id": f"{task_id}/{number}",
            **texts.get(task_id, {}),
            **row,
        }
        for task_id, rows in solutions.items()
        for number, row in enumerate(rows)
    ]
    items = add_items(project.database, rows)
    with project.database.write() as connection:
        for problem in chosen:
            _put_problem(connection, problem)
        connection.executemany(
            "INSERT INTO code_solutions (completion_id, form) VALUES (?, ?)",
            [(item, row["form"]) for item, row in zip(items, rows, strict=True) if "form" in row],
        )
    return project


def _put_problem(connection: Any, problem: Problem) -> None:
    found = connection.execute("SELECT id, dataset_id FROM questions WHERE key = ?", (problem.task_id,)).fetchone()
    if found is None:
        return
    question, dataset = found
    connection.execute(
        "INSERT INTO code_problems (question_id, entry_point, setup, language, seconds) VALUES (?, ?, ?, ?, ?)",
        (question, problem.entry_point, problem.setup, problem.language, problem.seconds),
    )
    for name, tests in problem.suites.items():
        connection.execute(
            "INSERT OR IGNORE INTO suites (dataset_id, name, origin, created_at) VALUES (?, ?, 'imported', ?)",
            (dataset, name, CREATED),
        )
        (suite,) = connection.execute(
            "SELECT id FROM suites WHERE dataset_id = ? AND name = ?", (dataset, name)
        ).fetchone()
        connection.executemany(
            "INSERT INTO tests (question_id, suite_id, position, form, source, expected) VALUES (?, ?, ?, ?, ?, ?)",
            [(question, suite, place, test.form, test.source, test.expected) for place, test in enumerate(tests)],
        )


class ScriptedSandbox:
    """A sandbox that runs nothing: a function supplies the outcome of each program.

    Attributes:
        settings: The settings it was opened with.
        ran: Sources of the programs, in the order they were submitted.
        closed: Whether it was closed.
    """

    def __init__(
        self, level: Level, workers: int, settings: PoolSettings, outcome: Callable[[Program, int], Execution]
    ) -> None:
        self.level = level
        self.workers = workers
        self.settings = settings
        self.ran: list[str] = []
        self.closed = False
        self._outcome = outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed = True

    def run(
        self, jobs: Iterable[tuple[K, Program]], raise_if_cancelled: Callable[[], None] | None = None
    ) -> Iterator[tuple[K, Execution]]:
        for key, program in jobs:
            self.ran.append(program.source)
            if raise_if_cancelled is not None:
                raise_if_cancelled()
            yield key, structs.replace(self._outcome(program, self.settings.hash_seed), level=self.level)

    def provenance(self) -> Provenance:
        return Provenance(
            interpreter="CPython 3.11.0 (scripted)",
            flags=(),
            packages="",
            hash_seed=self.settings.hash_seed,
            level=self.level,
            limits={},
            extractor="",
        )


def ran(project: Project, kind: str, name: str, selection: Selection = EVERYTHING, **options: str) -> int:
    """Run a verifier over the selected items in this process; return the id of the complete run."""
    lease = Lease.acquire(project.database)
    assert lease is not None
    info = start(project, kind, options, name, selection)
    with pytest.MonkeyPatch.context() as patch:
        # No other run is queued.
        patch.setattr(runner, "_IDLE_S", 0.0)
        Runner(project.database, lease).work()
    ended = run_info(project, info.run)
    assert ended.state == "complete", ended.message
    return info.run
