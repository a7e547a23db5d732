"""Real problems and completions, imported and run as a user would, reproduce their recorded outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.coding.problems import results
from workbench.core.errors import VerifierError
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection, parse_condition
from workbench.interchange.importing import import_files, plan_import
from workbench.runs import runner
from workbench.runs.lease import Lease
from workbench.runs.run_status import run_info
from workbench.runs.runner import Runner
from workbench.runs.verifying import start
from workbench.verifiers.execution.levels import best_level


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> dict[str, dict[str, Any]]:
    """Map the id of each completion to its recorded row."""
    lines = (shared_data / "code" / "solutions.jsonl").read_text(encoding="utf-8").splitlines()
    return {f"{row['task_id']}/{row['solution_id']}": row for row in map(json.loads, lines)}


@pytest.fixture
def project(shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    try:
        best_level()
    except VerifierError as error:
        pytest.skip(str(error))
    made = open_project(tmp_path / "p.db", create=True)
    files = [shared_data / "code" / name for name in ("problems.jsonl", "solutions.jsonl")]
    import_files(made, plan_import(files), dataset="real")
    yield made
    made.close()


def outcomes(project: Project, name: str, workers: int, where: str = "dataset=real", **options: str) -> Any:
    """Run solutions; their outcomes by suite and completion."""
    lease = Lease.acquire(project.database)
    assert lease is not None
    info = start(project, "execution", options, name, Selection((parse_condition(where),)), workers)
    Runner(project.database, lease).work()
    ended = run_info(project, info.run)
    assert (ended.state, (ended.verdicts or {})["error"]) == ("complete", 0)
    found: dict[str, dict[str, str]] = {}
    for line in results(project, name):
        found.setdefault(line.suite, {})[line.completion_id] = line.outcomes
    return found


def passing(found: dict[str, str]) -> set[str]:
    return {completion for completion, letters in found.items() if set(letters) == {"p"}}


def right(recorded: dict[str, dict[str, Any]]) -> set[str]:
    assert [row for row in recorded.values() if row["excluded"] is not None] == []
    return {completion for completion, row in recorded.items() if row["recorded_pass"]}


def equal(found: dict[str, str], recorded: dict[str, dict[str, Any]], column: str) -> int:
    """Count the completions with the recorded outcomes; a problem without tests in a suite has none."""
    return sum(found.get(completion, "") == row[column] for completion, row in recorded.items())


@pytest.mark.soak
@pytest.mark.real_data
def test_outcomes_of_800_completions_equal_the_recorded_ones(
    project: Project, recorded: dict[str, dict[str, Any]]
) -> None:
    base = outcomes(project, "execution", 2)["base"]
    assert len(base) == 800
    assert passing(base) == right(recorded)
    # One row follows the seed of string hashes; ours is fixed, and so are its letters.
    assert equal(base, recorded, "per_test") >= 799
    again = outcomes(project, "again", 1, "question_id=HumanEval/148", suite="base,whole")
    assert len(again["base"]) == 20
    assert again["base"].items() <= base.items()
    assert passing(again["whole"]) == passing(again["base"])


@pytest.mark.real_data
@pytest.mark.soak
def test_other_suites_and_worker_counts_give_the_recorded_outcomes(
    project: Project, recorded: dict[str, dict[str, Any]]
) -> None:
    one, two = (outcomes(project, f"by-{n}", n, suite="base,whole") for n in (1, 2))
    assert one == two == outcomes(project, "twice", 2, suite="base,whole")
    assert len(one["whole"]) == 800
    assert passing(one["base"]) == passing(one["whole"]) == right(recorded)
    plus = outcomes(project, "plus", 2, suite="plus", timeout="1")["plus"]
    # Where time runs out depends on the machine: 7 rows.
    assert equal(plus, recorded, "plus") >= 792
