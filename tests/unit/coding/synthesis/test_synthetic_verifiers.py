"""Synthetic verifiers against the true tests: a generated suite, one written with the solution, a reward model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.coding import ADD, ScriptedSandbox, make_code_project, ran
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received
from workbench.coding.options import SuiteOptions
from workbench.coding.problems import results
from workbench.coding.ranking.measuring import compare_verifiers
from workbench.coding.ranking.scores import truth_of
from workbench.coding.synthesis.tests import write_tests
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.code import Execution, Program
from workbench.core.project import Project
from workbench.runs import executing, runner
from workbench.runs.generation import models_from
from workbench.statistics.records.ranking import RankingRow
from workbench.verifiers.execution import levels

RIGHT, WRONG = ADD.canonical, "def add(a, b):\n    return a - b\n"


def outcome(program: Program, _: int) -> Execution:
    """The wrong solution passes every test with only zeros and those of its own writer."""
    letters = "".join(
        "p" if program.source == RIGHT or "0, 0" in test.source or "== -1" in test.source else "f"
        for test in program.tests
    )
    return Execution(outcomes=letters, level="L3")


def answer(received: Received) -> str | list[float]:
    if received.path.endswith("/score"):
        return [5.5 if "a + b" in received.body["text_2"][0] else -3.0]
    words = received.body["messages"][0]["content"]
    tests = ["assert add(0, 0) == 0", "assert add(1, 2) == -1" if "a - b" in words else "assert add(1, 2) == 3"]
    return "".join(f"<assertion>{test}</assertion>" for test in tests)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(answer) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    monkeypatch.setattr(
        executing, "SandboxPool", lambda level, workers, settings: ScriptedSandbox(level, workers, settings, outcome)
    )
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe: "L3")
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    made = make_code_project(tmp_path, {"add": [{"completion": RIGHT}, {"completion": WRONG}]}, ADD)
    yield made
    made.close()


def test_each_is_ranked_against_the_truth(project: Project, server: ScriptedServer) -> None:
    ran(project, "execution", "truth", suite="base,plus")
    models = models_from(project, ["m"], {"base_url": server.url})
    write_tests(project, "utg", SuiteOptions(), models)
    write_tests(project, "seen", SuiteOptions(with_solution=True), models)
    ran(project, "execution", "utg-m", suite="utg")
    ran(project, "execution", "seen-m", suite="seen")
    ran(project, "reward-model", "rm", base_url=server.url, model="rm")
    rows = {row.verifier: row for row in compare_verifiers(project, truth_of(project)).report.rows}
    assert {name: figures(row) for name, row in rows.items()} == {
        "utg-m": (1.0, 1.0, pytest.approx((0 + 1 / 6) / 2), False),
        # Its writer believed the code: both solutions pass their own tests.
        "seen-m": (0.5, 0.0, pytest.approx((0 + 2 / 3) / 2), False),
        "rm": (1.0, 1.0, pytest.approx((0 + 1 / 3) / 2), True),
    }


def figures(row: RankingRow) -> tuple[Any, ...]:
    return row.top1, row.spearman, row.mae, row.normalised


def test_each_solution_meets_its_own_tests(project: Project, server: ScriptedServer) -> None:
    write_tests(
        project, "seen", SuiteOptions(with_solution=True), models_from(project, ["m"], {"base_url": server.url})
    )
    ran(project, "execution", "seen-m", suite="seen,base")
    lines = {(line.solution_id, line.suite): line.outcomes for line in results(project, "seen-m")}
    assert lines == {("0", "seen"): "pp", ("0", "base"): "pp", ("1", "seen"): "pp", ("1", "base"): "fp"}


def test_a_reward_model_is_shown_the_problem_and_the_code(project: Project, server: ScriptedServer) -> None:
    form = "Complete the function.\n\n{question}"
    ran(project, "reward-model", "rm", base_url=server.url, model="rm", format=form)
    assert sorted((body["text_1"], *body["text_2"]) for body in server.bodies) == [
        (f"Complete the function.\n\n{ADD.prompt}", code) for code in sorted([RIGHT, WRONG])
    ]
