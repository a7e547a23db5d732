"""``calibrate`` compares a judge's verdicts, P(Yes) and calibrated scores, in tables and plots."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from schemas.documents import schema
from tests.helpers import make_project, numbered
from tests.served_runs import HereRunner, here
from tests.servers.scripted import Scripted, chat_reply, scripted
from tests.servers.wire import Received
from tests.unit.measuring.scored_runs import add_complete_run, scores
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.measuring.calibrating import calibrate
from workbench.runs.verifying import start

ITEMS = 400


def judge(project: Project, *, sure: float) -> None:
    """A run whose chances say ``sure`` times the odds that come true."""
    rng = random.Random(7)
    found = []
    for item in range(1, ITEMS + 1):
        truth = rng.gauss(1.0 if item % 2 else -1.0, 1.0) * 2
        chance = 1 / (1 + math.exp(-sure * truth))
        outcome = Outcome.CORRECT if chance >= 0.5 else Outcome.INCORRECT
        found.append((item, Verdict(outcome=outcome, score=chance)))
    add_complete_run(project, "judge", found, kind="llm-judge")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path, numbered(ITEMS))
    judge(made, sure=4)
    return made


def test_calibrated_scores_match_gold_and_rank_better_than_verdicts(project: Project) -> None:
    report = calibrate(project, "judge", gold="imported")
    verdict, score, platt, isotonic = report.rows
    assert [row.reading for row in report.rows] == ["verdict", "score", "platt", "isotonic"]
    assert (report.n, report.folds, report.unscored) == (ITEMS, 5, 0)
    assert [sum(one.n for one in row.bins) for row in report.rows] == [ITEMS] * 4
    for row in (platt, isotonic):
        assert score.ece is not None
        assert row.ece is not None
        assert row.brier is not None
        assert score.brier is not None
        assert row.ece < score.ece / 1.5
        assert row.brier < score.brier
    assert score.auroc is not None
    assert verdict.auroc is not None
    assert score.auroc > verdict.auroc + 0.03
    assert (score.pairs, verdict.pairs) == (ITEMS // 2, ITEMS // 2)
    assert score.pairwise is not None
    assert verdict.pairwise is not None
    # A verdict that is the same for both decides no pair.
    assert score.pairwise > verdict.pairwise
    assert platt.ece_ci is not None
    assert score.ece_ci is not None
    assert platt.ece_ci[0] < score.ece_ci[0] < (score.ece or 0.0) < score.ece_ci[1]


def test_scores_outside_0_to_1_have_no_calibration_error_until_mapped(project: Project) -> None:
    items = [row[0] for row in project.database.reader().execute("SELECT id FROM completions ORDER BY id")]
    add_complete_run(project, "rm", scores({item: 1e8 * (item % 2) - item for item in items[:-3]}))
    report = calibrate(project, "rm", gold="imported")
    assert [row.reading for row in report.rows] == ["score", "platt", "isotonic"]
    assert (report.rows[0].ece, report.rows[0].brier, report.rows[0].bins) == (None, None, [])
    assert all(row.ece is not None for row in report.rows[1:])
    add_complete_run(project, "halves", scores({item: 0.5 * (item % 2) for item in items}))
    assert calibrate(project, "halves", gold="imported").rows[0].accuracy == 1, "one half counts as correct"
    add_complete_run(project, "few", scores(dict.fromkeys(items[:12], 0.5)))
    with pytest.raises(UsageError, match="few can't be calibrated: with a score and gold there are 6 correct and 6"):
        calibrate(project, "few", gold="imported")


def call(project: Project, *arguments: str) -> Any:
    project.close()
    return CliRunner().invoke(root, ["calibrate", str(project.path), "judge", "--gold", "imported", *arguments])


def test_the_command_prints_text_and_json(project: Project) -> None:
    jsonschema.validate(json.loads(call(project, "--json").stdout), schema("calibrate"))
    said = call(project).stdout
    assert "Platt's sigmoid" in said
    assert "each of 5 folds of questions uses maps fitted to the others" in " ".join(said.split())


@pytest.mark.real_data
def test_recorded_scores_are_calibrated_within_their_questions(tmp_path: Path, shared_data: Path) -> None:
    """ICE-Score's own replies: twenty solutions a problem, of which pairs are made within the problem."""
    lines = (shared_data / "judges" / "ice_score_java.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = [row for row in map(json.loads, lines) if row["judge"] == "nswr"]
    project = make_project(
        tmp_path,
        [
            {
                "question_id": f"q{row['item']}",
                "completion_id": f"c{row['item']}-{row['sample']}",
                "completion": f"sample {row['sample']}",
                "gold": row["gold"],
            }
            for row in recorded
        ],
    )
    found = [
        (item, Verdict(outcome=Outcome.CORRECT if score == 4 else Outcome.INCORRECT, score=score / 4))
        for item, score in enumerate((row["score_reparsed"] for row in recorded), start=1)
    ]
    add_complete_run(project, "ice", found, kind="llm-judge")
    verdict, score, platt, isotonic = calibrate(project, "ice", gold="imported").rows
    assert score.pairs == 116
    assert score.auroc == pytest.approx(0.751, abs=0.001)
    # A word of two ties more often than a score of five, and a tie is wrong.
    assert (verdict.pairwise or 0) + 0.05 < (score.pairwise or 0)
    for row in (platt, isotonic):
        assert (row.ece or 1) < 0.07 < min(score.ece or 0, verdict.ece or 0)


@pytest.mark.soak
def test_every_reading_has_a_reliability_plot(project: Project, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert call(project, "--figures", str(tmp_path / "plots")).exit_code == 0
    names = {path.name for path in (tmp_path / "plots").iterdir()}
    assert {f"reliability-judge-{reading}.png" for reading in ("verdict", "score", "platt", "isotonic")} < names
    assert "exists" in str(call(project, "--figures", str(tmp_path / "plots")).exception)


# -- From a server's logprobs to chances.


def graded(received: Received) -> Scripted:
    """Overconfident: it says Yes with 0.999 or No with 0.01, by the answer it is shown."""
    chance = 0.999 if "It is 1" in received.body["messages"][-1]["content"] else 0.01
    said, other = ("Yes", "No") if chance > 0.5 else ("No", "Yes")
    top: list[dict[str, Any]] = [
        {"token": said, "logprob": math.log(max(chance, 1 - chance)), "bytes": None},
        {"token": other, "logprob": math.log(min(chance, 1 - chance)), "bytes": None},
    ]
    logprobs = {"content": [{**top[0], "top_logprobs": top}] if received.body.get("logprobs") else None}
    return Scripted(body=chat_reply(said, logprobs=logprobs))


def test_log_probabilities_of_the_server_become_the_score(tmp_path: Path) -> None:
    with here(tmp_path, 20) as runs, scripted(graded) as server:
        options = {"base_url": server.url, "model": "m", "strategy": "vanilla", "top_logprobs": "5"}
        assert verdicts(runs, options, "graded") == {
            ("correct", 0.999): 11,
            ("incorrect", 0.01): 9,
        }
        asked = len(server.received)
        # Another threshold reads stored replies.
        assert verdicts(runs, {**options, "threshold": "0.005"}, "lenient") == {
            ("correct", 0.999): 11,
            ("correct", 0.01): 9,
        }
        assert len(server.received) == asked == 20


def verdicts(runs: HereRunner, options: dict[str, str], name: str) -> dict[tuple[str, float], int]:
    runs.claim()
    run = start(runs.project, "llm-judge", options, name).run
    runs.work(run)
    found = runs.sql(
        "SELECT outcome, round(score, 6), count(*) FROM verdicts WHERE run_id = ? AND sample = 0 GROUP BY 1, 2", run
    )
    return {(OutcomeCode(outcome).word, score): count for outcome, score, count in found}
