"""Projects of code with complete test runs: outcomes are inserted directly into the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.coding import make_code_project
from workbench.core.code import CodeTest, Execution, Problem
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import OutcomeCode, Verdict
from workbench.runs.configuring import bound_run
from workbench.runs.store import runs, verdicts
from workbench.runs.store.verdicts import TestResult
from workbench.verifiers.execution.verifier import ExecutionVerifier

Outcomes = Mapping[str, Mapping[str, str]]
"""Task id -> solution id -> one letter per test, with a bar between the suites base and plus."""


def real_solutions(shared_data: Path) -> list[dict[str, Any]]:
    text = (shared_data / "code" / "solutions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def outcomes_of(rows: Sequence[Mapping[str, Any]]) -> Outcomes:
    """Return the recorded outcomes of real solutions."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        found.setdefault(row["task_id"], {})[row["solution_id"]] = f"{row['per_test']}|{row['plus']}"
    return found


def scored_project(
    folder: Path,
    outcomes: Outcomes,
    *,
    ms: Mapping[str, float] | None = None,
    flagged: Sequence[str] = (),
    rows: Mapping[str, Mapping[str, Any]] | None = None,
) -> Project:
    """Create a project with a complete run of ``execution`` on both suites.

    Args:
        ms: Mean milliseconds per test by ``task/solution``; the default is 1.
        flagged: Ground-truth solutions, as ``task/solution``.
        rows: Additional fields of solutions, by ``task/solution``.
    """
    ms, rows = ms or {}, rows or {}
    problems = [_problem(task, max(found.values(), key=len)) for task, found in outcomes.items()]
    solutions = {
        task: [
            {
                "completion_id": f"{task}/{name}",
                "completion": f"# {name}",
                "form": "program",
                **rows.get(f"{task}/{name}", {}),
            }
            for name in found
        ]
        for task, found in outcomes.items()
    }
    project = make_code_project(folder, solutions, *problems)
    with project.database.write() as connection:
        items = dict(connection.execute("SELECT key, id FROM completions"))
        connection.executemany(
            "UPDATE code_solutions SET ground_truth = 1 WHERE completion_id = ?", [(items[key],) for key in flagged]
        )
        run = complete_run(connection, "execution", "base,plus")
        verdicts.put_outcomes(connection, run, list(_results(outcomes, items, ms)))
    return project


def complete_run(connection: Any, name: str, suite: str) -> int:
    """Insert a complete run without results."""
    run = bound_run(connection, name, ExecutionVerifier(suite=suite), {"suite": suite})
    runs.queue(connection, run, Selection(), 1, 1)
    runs.complete(connection, run, 1)
    return run


def put_scores(project: Project, name: str, scores: Mapping[str, float | None], suite: str = "whole") -> int:
    """Insert a complete run of a verifier with these scores, by ``task/solution``."""
    with project.database.write() as connection:
        items = dict(connection.execute("SELECT key, id FROM completions"))
        run = complete_run(connection, name, suite)
        verdicts.put(
            connection,
            run,
            [
                (items[key], Verdict(outcome=OutcomeCode(int(score == 1)).outcome, score=score))
                for key, score in scores.items()
            ],
        )
    return run


def _problem(task: str, longest: str) -> Problem:
    suites = dict(zip(("base", "plus"), longest.split("|"), strict=False))
    tests = {
        name: tuple(CodeTest(form="statement", source=f"check({place})") for place in range(len(letters)))
        for name, letters in suites.items()
    }
    return Problem(task_id=task, prompt=f"# {task}", canonical=f"# {task}\npass", entry_point="f", suites=tests)


def _results(outcomes: Outcomes, items: Mapping[str, int], ms: Mapping[str, float]) -> Any:
    for task, found in outcomes.items():
        for name, outcomes_of_task in found.items():
            key = f"{task}/{name}"
            for suite, letters in zip(("base", "plus"), outcomes_of_task.split("|"), strict=False):
                if letters:
                    execution = Execution(outcomes=letters, level="L3", ms=ms.get(key, 1.0))
                    yield TestResult(items[key], suite, execution)
