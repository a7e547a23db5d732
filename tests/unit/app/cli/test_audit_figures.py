"""``workbench audit-figures``: its exit codes, and what scripts read."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.commands import Call, in_process
from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.app.schemas import schema
from workbench.core.verdict import Outcome, Verdict


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def test_a_difference_ends_with_3_and_is_printed(
    tmp_path: Path, workbench: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path, numbered(12))
    add_complete_run(project, "judge", [(item, Verdict(outcome=Outcome(item % 2))) for item in range(1, 13)])
    project.close()
    code, out, _ = workbench("audit-figures", project.path, "--family", "accuracy", "--json")
    assert code == 0
    found = json.loads(out)
    jsonschema.validate(found, schema("audit-figures"))
    assert (found["differences"], found["families"][0]["family"]) == ([], "accuracy")
    monkeypatch.setattr("workbench.statistics.accuracy.mcc", lambda counts: 0.5)
    code, out, _ = workbench("audit-figures", project.path, "--family", "accuracy")
    assert code == 3
    assert "forced | judge | all | mcc" in out
    code, _, error = workbench("audit-figures", project.path, "--family", "prices")
    assert (code, "no family of figures" in error) == (2, True)
