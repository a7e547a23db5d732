"""Rewards equal the verdicts of a run, bit for bit: outcome, score, reason and rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import workbench
from workbench.core.project import open_project
from workbench.core.verdict import VerifierInput
from workbench.interchange.importing import import_files, plan_import
from workbench.runs import runner
from workbench.runs.lease import Lease
from workbench.runs.runner import Runner
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import start

SAMPLE = Path(__file__).resolve().parents[3] / "sample_data" / "tuples.jsonl"

VerdictRecord = tuple[str, float | None, str | None, str | None]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    monkeypatch.setattr(runner, "_POLL_S", 0.0)


def by_run(file: Path, database: Path, verifier: str) -> dict[str, VerdictRecord]:
    """Return the verdicts of ``workbench verify`` by completion id."""
    project = open_project(database, create=True)
    import_files(project, plan_import([file]), dataset="d")
    lease = Lease.acquire(project.database)
    assert lease is not None
    start(project, verifier, workers=1)
    Runner(project.database, lease).work()
    lines = list(verdict_lines(project, verifier))
    project.close()
    return {line.completion_id: (line.verdict, line.score, line.reason, line.rule) for line in lines}


def by_reward(rows: list[dict[str, Any]], verifier: str) -> dict[str, VerdictRecord]:
    """Return the verdicts of the reward function, with subtypes."""
    items = [
        VerifierInput(
            item=0,
            question=row["question"],
            reference=row["answer"],
            completion=row["completion"],
            subtype=row["answer_type"].split(" ")[0] if "answer_type" in row else None,
        )
        for row in rows
    ]
    with workbench.reward(verifier, workers=1) as reward:
        verdicts = reward.verdicts(items)
    return {
        row["completion_id"]: (verdict.outcome.word, verdict.score, verdict.reason, verdict.rule)
        for row, verdict in zip(rows, verdicts, strict=True)
    }


@pytest.mark.few(2)
@pytest.mark.parametrize("verifier", ["rules", "chrf"])
def test_the_sample_s_rewards_are_a_run_s_verdicts(tmp_path: Path, verifier: str) -> None:
    rows = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    assert by_reward(rows, verifier) == by_run(SAMPLE, tmp_path / "p.db", verifier)


@pytest.mark.real_data
def test_real_rows_rewards_are_a_run_s_verdicts(tmp_path: Path, real_rows: list[dict[str, Any]]) -> None:
    some = real_rows[::3]
    file = tmp_path / "some.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in some), encoding="utf-8")
    assert by_reward(some, "rules") == by_run(file, tmp_path / "p.db", "rules")
