"""Recorded ICE-Score replies over HTTP give the metrics computed directly from the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.background import runner_ends
from tests.helpers import make_project
from tests.replaying import replay, write_lines
from workbench.core.project import Project
from workbench.measuring.accuracy import accuracy
from workbench.measuring.scores import correlate
from workbench.runs.run_status import wait
from workbench.runs.verifying import start

MEASURES = {"kendall": stats.kendalltau, "pearson": stats.pearsonr, "spearman": stats.spearmanr}


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> list[dict[str, Any]]:
    """The recorded rows; ``nsnr`` without, ``nswr`` with the reference."""
    file = shared_data / "judges" / "ice_score_java.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def completion(row: dict[str, Any]) -> str:
    """Return a placeholder that is no substring of another one."""
    return f"«solution {row['sample']} of {row['item']}»"


def reference(row: dict[str, Any]) -> str:
    return f"«reference of {row['item']}»"


def items(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "question_id": f"q{row['item']}",
            "completion_id": f"{row['item']}-{row['sample']}",
            "reference": reference(row),
            "completion": completion(row),
            "gold": bool(row["gold"]),
        }
        for row in rows
        if row["judge"] == "nsnr"
    ]


def judged(project: Project, url: str, name: str, sees_reference: bool) -> None:
    options = {
        "base_url": url,
        "model": "gpt-3.5-turbo",
        "strategy": "ice-score",
        "parser": "ice-score@1",
        "reference": str(sees_reference).lower(),
    }
    ended = wait(project, start(project, "llm-judge", options, name).run)
    assert (ended.state, ended.message) == ("complete", None)


@pytest.mark.soak
@pytest.mark.real_data
def test_recorded_scores_over_http_give_the_published_metrics(tmp_path: Path, recorded: list[dict[str, Any]]) -> None:
    lines = [
        {"match": [completion(row), reference(row)], "raw": row["raw"]} for row in recorded if row["judge"] == "nswr"
    ]
    lines += [{"match": completion(row), "raw": row["raw"]} for row in recorded if row["judge"] == "nsnr"]
    file = write_lines(tmp_path / "recorded.jsonl", lines)
    with runner_ends(make_project(tmp_path, items(recorded))) as project, replay(file) as server:
        for name in ("nsnr", "nswr"):
            judged(project, server.url, name, name == "nswr")
            rows = [row for row in recorded if row["judge"] == name]
            check_accuracy(project, name, rows)
            check_correlations(project, name, rows)


def check_accuracy(project: Project, name: str, rows: list[dict[str, Any]]) -> None:
    (found,) = [row for row in accuracy(project, verifiers=(name,)).rows if row.verifier == name]
    right = sum((row["score_reparsed"] == 4) == bool(row["gold"]) for row in rows)
    assert (found.n, found.accuracy) == (len(rows), right / len(rows))
    assert round(right / len(rows), 4) == {"nsnr": 0.5902, "nswr": 0.7279}[name]


def check_correlations(project: Project, name: str, rows: list[dict[str, Any]]) -> None:
    report = correlate(project, name)
    assert (report.n, report.unscored) == (len(rows), 0)
    score = np.array([row["score_reparsed"] for row in rows], dtype=float)
    gold = np.array([row["gold"] for row in rows])
    item = np.array([row["item"] for row in rows])
    for row in report.rows:
        measure = MEASURES[row.method]
        groups = [item == number for number in np.unique(item)]
        varied = [one for one in groups if np.ptp(score[one]) and np.ptp(gold[one])]
        own = [measure(score[one], gold[one]).statistic for one in varied]
        assert row.corpus == pytest.approx(measure(score, gold).statistic, abs=1e-12)
        assert (row.defined, row.questions) == (len(own), len(groups))
        assert row.per_question == pytest.approx(np.mean(own), abs=1e-12)
    kendall = next(row for row in report.rows if row.method == "kendall")
    published = {"nsnr": (0.330, 0.427, 113), "nswr": (0.412, 0.388, 115)}[name]
    assert (round(kendall.corpus or 0, 3), round(kendall.per_question or 0, 3), kendall.defined) == published
