"""Ranking metrics over a database: covered problems, kinds of scores, and formats."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.scored_code import put_scores, scored_project
from workbench.coding.ranking import measuring
from workbench.coding.ranking.measuring import compare_verifiers
from workbench.coding.ranking.scores import truth_of
from workbench.coding.ranking.tables import ranking_as
from workbench.core.errors import UsageError
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.statistics.records.ranking import RankingReport, RankingRow, SelectedProblems

OUTCOMES = {
    "t": {"a": "pppp|", "b": "pppp|", "c": "ppff|", "d": "ffff|"},
    "u": {"e": "pppp|", "f": "pfff|"},
}
TRUE = {"t/a": 1.0, "t/b": 1.0, "t/c": 0.5, "t/d": 0.0, "u/e": 1.0, "u/f": 0.25}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return scored_project(tmp_path, OUTCOMES)


def report(project: Project, *verifiers: str, **how: Any) -> RankingReport:
    return compare_verifiers(project, truth_of(project), verifiers, samples=50, **how).report


def figures(row: RankingRow) -> tuple[float | None, ...]:
    return row.top1, row.bottom1, row.spearman, row.kendall, row.mae, row.r2


def test_a_perfect_verifier_has_perfect_metrics(project: Project) -> None:
    put_scores(project, "same", TRUE)
    (row,) = report(project).rows
    assert figures(row) == pytest.approx((1, 1, 1, 1, 0, 1))
    assert (row.dataset, row.problems, row.solutions, row.normalised) == ("code", 2, 6, False)


def test_ties_at_the_top_share(project: Project) -> None:
    put_scores(project, "flat", dict.fromkeys(TRUE, 0.5))
    (row,) = report(project).rows
    assert row.top1 == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert row.bottom1 == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert (row.spearman, row.spearman_undefined) == (0, 2)


def test_scores_beyond_0_to_1_are_stretched_in_each_problem(project: Project) -> None:
    put_scores(project, "points", {key: 4 * score for key, score in TRUE.items()})
    put_scores(project, "shares", TRUE, suite="other")
    points, shares = report(project).rows
    assert (points.normalised, shares.normalised) == (True, False)
    assert points.mae == pytest.approx(0.25 / 6)


def test_scores_of_reward_models_are_rescaled(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    put_scores(project, "reward", {key: score / 2 for key, score in TRUE.items()})
    monkeypatch.setattr(measuring, "REWARDS", ("execution",))
    (row,) = report(project).rows
    assert row.normalised
    assert row.mae == pytest.approx(0.25 / 6)


def test_only_problems_scored_by_every_verifier_count(project: Project) -> None:
    put_scores(project, "all", TRUE)
    put_scores(project, "some", {key: score for key, score in TRUE.items() if key != "t/b"}, suite="other")
    found = report(project, "all", "some")
    assert [(row.verifier, row.problems) for row in found.rows] == [("all", 1), ("some", 1)]
    assert (found.left_out, found.lacking) == (1, {"some": 1})
    assert report(project, "all").left_out == 0
    assert "Left out: 1 problem in which a score is missing" in ranking_as(found, TableForm(), by_problem=False)


def test_a_missing_true_score_leaves_the_problem_out(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp|", "b": "pn|"}})
    put_scores(project, "judge", {"t/a": 1.0, "t/b": 0.0})
    found = report(project)
    assert (found.lacking, found.rows[0].problems, found.rows[0].top1) == ({"truth": 1}, 0, None)


def test_only_selected_solutions_are_measured_on_request(project: Project) -> None:
    put_scores(project, "judge", TRUE)
    found = report(project, k=3)
    assert [(one.task_id, one.solutions) for one in found.problems] == [("t", 3), ("u", 2)]
    assert found.k == 3


STOOD_IN = "Ground truth not known: 2 problems of 2; the fastest perfect solution replaces it."


def test_stand_ins_for_the_ground_truth_are_counted(tmp_path: Path) -> None:
    outcomes = OUTCOMES | {"v": {"g": "ppff|", "h": "ffff|"}, "w": {"i": "pn|", "j": "nn|"}}
    project = scored_project(tmp_path, outcomes)
    scores = {f"{task}/{key}": 0.5 for task, some in outcomes.items() for key in some}
    put_scores(project, "judge", scores)
    assert report(project).selected is None
    found = report(project, k=3)
    assert found.selected == SelectedProblems(
        problems=2, stand_ins=2, without_ground_truth=1, without_scores=1, fewer=1
    )
    for by_problem in (False, True):
        said = ranking_as(found, TableForm(), by_problem=by_problem)
        for sentence in (
            STOOD_IN,
            "Left out: 1 problem with neither a known ground truth nor a perfect solution.",
            "workbench code select DB --write FILE runs their reference solutions",
            "Left out: 1 problem without a solution that has a true score.",
            "Fewer than 3 solutions are selected in 1 problem of 2.",
        ):
            assert sentence in " ".join(said.split()), sentence
    assert "replaces it" not in ranking_as(report(project), TableForm(), by_problem=False)


def test_a_known_ground_truth_has_no_stand_in(tmp_path: Path) -> None:
    project = scored_project(tmp_path, OUTCOMES, flagged=["t/a"])
    put_scores(project, "judge", TRUE)
    found = report(project, k=3)
    assert found.selected is not None
    assert (found.selected.problems, found.selected.stand_ins) == (2, 1)


def test_runs_of_the_truth_are_not_a_verifier(project: Project) -> None:
    put_scores(project, "judge", TRUE)
    assert {row.verifier for row in report(project).rows} == {"judge"}


@pytest.mark.parametrize("verifiers", [(), ("nobody",)], ids=["none", "unknown"])
def test_without_scores_there_is_nothing_to_measure(project: Project, verifiers: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="no complete run with scores"):
        report(project, *verifiers)


def test_every_format_has_a_line_a_verifier_or_a_problem(project: Project) -> None:
    put_scores(project, "=judge[bold]", TRUE)
    found = report(project)
    rows = list(csv.DictReader(io.StringIO(ranking_as(found, TableForm(format="csv"), by_problem=False))))
    assert [(row["verifier"], row["top1"], row["truth"]) for row in rows] == [("'=judge[bold]", "1.0", "execution")]
    by_problem = list(csv.DictReader(io.StringIO(ranking_as(found, TableForm(format="csv"), by_problem=True))))
    assert [row["task_id"] for row in by_problem] == ["t", "u"]
    assert "100.0" in ranking_as(found, TableForm(), by_problem=True)
    assert "=judge" in ranking_as(found, TableForm(format="markdown"), by_problem=False)
    assert r"\toprule" in ranking_as(found, TableForm(format="latex"), by_problem=False)
