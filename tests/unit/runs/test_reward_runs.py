"""Reward models and answer types from a server to the report, in real background runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.background import runner_ends
from tests.helpers import make_project, numbered
from tests.servers.scripted import Received, ScriptedServer, scripted
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import parse_condition
from workbench.measuring.scores import fit, pairs, save
from workbench.measuring.suggesting import type_reports
from workbench.runs import run_status, verifying
from workbench.runs.trust import NotTrustedError

ITEMS = 24


def answer(received: Received) -> list[float] | str:
    """A type for a question; for a completion the number it ends in, plus 100 where that is even."""
    if "messages" in received.body:
        return "Answer type: A1"
    number = int(received.body["text_2"][0].rpartition(" ")[2])
    return [number + (100.0 if number % 2 == 0 else 0.0)]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted(answer) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    rows = [
        {**row, "completion": f"It is {number}", "source": f"s{number // 2 % 2}", "subtype": "A1"}
        for number, row in enumerate(numbered(ITEMS))
    ]
    with runner_ends(make_project(tmp_path, rows)) as project:
        yield project


def run(project: Project, kind: str, name: str, server: ScriptedServer) -> int:
    number = verifying.start(project, kind, {"base_url": server.url, "model": "m"}, name).run
    assert run_status.wait(project, number).state == "complete"
    return number


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["rm", "reward-model"])
def test_a_saved_threshold_does_not_trust_a_foreign_database(
    project: Project, server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    run(project, "reward-model", name, server)
    report = fit(project, name)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "somebody-else"))
    with pytest.raises(NotTrustedError, match=server.url):
        save(project, report, "fitted")
    assert [one.verifier for one in run_status.runs(project)] == [name]
    assert save(project, report, "fitted", trust=True).verifier == "fitted"


def test_a_fitted_threshold_makes_verdicts_without_a_call(project: Project, server: ScriptedServer) -> None:
    run(project, "reward-model", "rm", server)
    assert len(server.received) == ITEMS
    report = fit(project, "rm", on=(parse_condition("source=s0"),))
    saved = save(project, report, "rm-fitted")
    assert run_status.wait(project, saved.run).verdicts == {"correct": 12, "incorrect": 12, "abstain": 0, "error": 0}
    assert len(server.received) == ITEMS
    assert (report.rest and report.rest.accuracy, pairs(project, "rm-fitted").rows[0].accuracy) == (1.0, 1.0)
    with pytest.raises(UsageError, match="another configuration"):
        save(project, report, "rm")


def test_the_type_of_each_question_is_requested_once(project: Project, server: ScriptedServer) -> None:
    run(project, "answer-type", "typist", server)
    assert len(server.received) == ITEMS // 2
    (report,) = type_reports(project)
    assert (report.questions, report.agree) == (ITEMS // 2, ITEMS // 2)
