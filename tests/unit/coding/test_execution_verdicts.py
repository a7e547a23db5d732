"""Execution verdicts work like any other: in one table with judges, compared, listed and exported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.coding import ScriptedSandbox, make_code_project, ran
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.code import Execution, Program
from workbench.core.project import Project
from workbench.measuring.accuracy import accuracy
from workbench.measuring.browsing import read
from workbench.measuring.reviewing.queues import queue
from workbench.runs import executing, runner
from workbench.verifiers.execution import levels

SOLUTIONS: dict[str, list[dict[str, Any]]] = {
    "add": [
        {"completion": "# pp\n", "gold": True, "source": "ours"},
        {"completion": "# pf\n", "gold": False},
        {"completion": "# fp\n", "gold": False},
    ],
    "double": [{"completion": "# p\n", "gold": True, "source": "theirs"}],
}


def outcome(program: Program, seed: int) -> Execution:
    letters = program.source[2:].strip()
    return Execution(outcomes=letters if seed == 0 else letters.replace("f", "p"), level="L3")


def judge(received: Received) -> str:
    """Takes the second solution of "add" for correct, and everything else, too, but the third."""
    return "0" if "# fp" in received.body["messages"][0]["content"] else "4"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(judge) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    monkeypatch.setattr(
        executing, "SandboxPool", lambda level, workers, settings: ScriptedSandbox(level, workers, settings, outcome)
    )
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe: "L3")
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    made = make_code_project(tmp_path, SOLUTIONS)
    yield made
    made.close()


def test_a_judge_and_execution_share_one_accuracy_table(project: Project, server: ScriptedServer) -> None:
    ran(project, "execution", "execution")
    ran(project, "llm-judge", "ice", base_url=server.url, model="m", strategy="ice-score")
    report = accuracy(project, by="source")
    rows = {(row.verifier, row.group): row for row in report.rows}
    whole = {name: rows[name, None] for name in ("execution", "ice")}
    assert {name: (row.n, row.accuracy) for name, row in whole.items()} == {"execution": (4, 1.0), "ice": (4, 0.75)}
    assert (rows["ice", "ours"].accuracy, rows["execution", "theirs"].accuracy) == (2 / 3, 1.0)


def test_differing_hash_seeds_are_in_the_queue_of_flips(project: Project) -> None:
    ran(project, "execution", "seeds", hash_seeds="2")
    flips = queue(project, "flips")
    rows = flips.rows(flips.ids)
    assert [row.completion_id for row in rows] == ["add/1", "add/2"]
    assert "of seeds's samples 1 say correct and 1 incorrect" in rows[0].why


def test_an_item_shows_the_first_failure(project: Project) -> None:
    ran(project, "execution", "execution")
    (verdict,) = read(project, 2).verdicts
    found = (verdict.verdict, verdict.reason, verdict.rule, verdict.score)
    assert found == ("incorrect", "assertion", "test.base.2", 0.5)
    assert json.dumps(verdict.detail) == '"base 2 of 2 \\u00b7 assert candidate(0, 0) == 0"'
