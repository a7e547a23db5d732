"""Sweeps from a server to the report, in real background runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.background import runner_ends
from tests.helpers import make_project, numbered
from tests.servers.scripted import ScriptedServer, scripted
from tests.unit.verifiers.judges.modelled import modelled
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.selection import Selection
from workbench.measuring.accuracy import accuracy
from workbench.measuring.studies import (
    point_name,
    start_sweep,
    sweep_points,
    sweep_report,
    sweep_text,
)
from workbench.runs import run_status, verifying
from workbench.runs.verifying import EVERYTHING

ITEMS = 4
SMALL = {
    "strategy": "mcts",
    "model": "m",
    "seed": "7",
    "delta": "1",
    "gamma": "1",
    "beta": "1",
    "reward_tests": "per_rollout",
}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(modelled) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    rows = [{**row, "completion": f"print({number})"} for number, row in enumerate(numbered(ITEMS))]
    with runner_ends(make_project(tmp_path, rows)) as project:
        yield project


def run(
    project: Project, server: ScriptedServer, name: str, selection: Selection = EVERYTHING, /, **options: str
) -> RunInfo:
    given = {"model": "m", "base_url": server.url, **options}
    started = verifying.start(project, "llm-judge", given, name, selection)
    ended = run_status.wait(project, started.run)
    assert ended.state == "complete", ended.message
    return ended


def test_points_vary_one_option_at_a_time_or_all_together() -> None:
    vary = {"depth": ["3", "9", "3"], "rollouts": ["4"]}
    assert sweep_points(vary, grid=False) == [{"depth": "3"}, {"depth": "9"}, {"rollouts": "4"}]
    assert sweep_points(vary, grid=True) == [{"depth": "3", "rollouts": "4"}, {"depth": "9", "rollouts": "4"}]
    assert point_name("mcts", {"depth": "3", "rollouts": "4"}) == "mcts/depth-3/rollouts-4"
    with pytest.raises(UsageError, match="needs an option to vary"):
        sweep_points({}, grid=True)
    with pytest.raises(UsageError, match="has 900 points"):
        sweep_points({name: [str(number) for number in range(30)] for name in ("depth", "delta")}, grid=True)


def test_nothing_starts_if_one_point_is_invalid(project: Project, server: ScriptedServer) -> None:
    options = {**SMALL, "base_url": server.url}
    with pytest.raises(UsageError, match="depth: it is a whole number from 1 to 9"):
        start_sweep(project, "llm-judge", [{"depth": "2"}, {"depth": "12"}], options)
    assert run_status.runs(project) == []
    assert server.received == []


def test_a_sweep_pays_only_for_new_points_and_resumes(project: Project, server: ScriptedServer) -> None:
    options = {**SMALL, "base_url": server.url}
    points = sweep_points({"rollouts": ["1", "2"]}, grid=False)

    def swept() -> list[int]:
        started = start_sweep(project, "llm-judge", points, options)
        assert {run_status.wait(project, info.run).state for info in started} == {"complete"}
        return [info.run for info in started]

    runs = swept()
    sent = len(server.received)
    assert swept() == runs
    assert len(server.received) == sent
    report = sweep_report(project, "llm-judge", points, runs)
    one, two = report.points
    assert [point.verifier for point in report.points] == ["llm-judge/rollouts-1", "llm-judge/rollouts-2"]
    # Rollout 1 is the same in both; so the longer search costs what the second rollout adds.
    parts = {part: used.calls for part, used in two.consumption.items()}
    tests_once = parts["tests"] * ITEMS / 2
    assert sent == (parts["judging"] + parts["execution"]) * ITEMS + tests_once
    assert one.consumption["judging"].calls < parts["judging"]
    assert parts["execution"] == 2 * 2 * 1 * 1
    assert one.consumption["execution"].completion_tokens == 20 * one.consumption["execution"].calls
    for point in report.points:
        assert point.accuracy == next(
            row for row in accuracy(project, verifiers=(point.verifier,)).rows if row.verifier == point.verifier
        )
    assert "rollouts=2" in sweep_text(report)
    assert max(map(len, sweep_text(report).splitlines())) <= 80


@pytest.mark.soak
def test_the_commands(project: Project, server: ScriptedServer) -> None:
    path = str(project.path)
    options = [word for name, value in {**SMALL, "base_url": server.url}.items() for word in ("-o", f"{name}={value}")]
    swept = CliRunner().invoke(
        root, ["sweep", path, "llm-judge", "--vary", "depth=1", "--vary", "depth=2", *options, "--json"]
    )
    assert swept.exit_code == 0, swept.stderr
    assert f"calls for {2 * ITEMS} items" in swept.stderr
    points = json.loads(swept.stdout)["points"]
    assert [(point["settings"], point["state"]) for point in points] == [
        ({"depth": "1"}, "complete"),
        ({"depth": "2"}, "complete"),
    ]
    wrong = CliRunner().invoke(root, ["sweep", path, "llm-judge", "--vary", "depth"])
    assert (wrong.exit_code, "--vary" in wrong.stderr) == (2, True)
