"""Missing scores: refusing gains nothing, and a small run affects no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scored_code import put_scores, scored_project
from workbench.coding.ranking.measuring import compare_verifiers
from workbench.coding.ranking.scores import truth_of
from workbench.coding.ranking.tables import ranking_as
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.statistics.records.ranking import Missing, RankingReport

TASKS = {f"t{number}": {"a": "pppp|", "b": "ppff|", "c": "ffff|"} for number in range(4)}
SCORES = {"a": 0.9, "b": 0.5, "c": 0.1}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A verifier that scores all as it should, one that refuses two problems, and one that was run on one alone."""
    project = scored_project(tmp_path, TASKS)
    every = {f"{task}/{name}": score for task in TASKS for name, score in SCORES.items()}
    put_scores(project, "careful", every)
    put_scores(project, "refuses", {key: None if key < "t2" else score for key, score in every.items()})
    put_scores(project, "small", {key: score for key, score in every.items() if key < "t1"})
    return project


def report_of(project: Project, *verifiers: str, missing: Missing = "zero", k: int | None = None) -> RankingReport:
    return compare_verifiers(project, truth_of(project), verifiers, missing=missing, k=k, samples=0).report


def figures(report: RankingReport) -> dict[str, tuple[int, float | None, float | None]]:
    return {row.verifier: (row.problems, row.spearman, row.coverage) for row in report.rows}


def test_a_refused_score_is_the_lowest_and_takes_no_problem_away(project: Project) -> None:
    report = report_of(project)
    assert figures(report) == {"careful": (4, 1.0, 1.0), "refuses": (4, 0.5, 0.5)}
    assert (report.left_out, report.filled, report.missing) == (0, {"refuses": 6}, "zero")
    assert [row.top1 for row in report.rows] == pytest.approx([1.0, (1 + 1 + 1 / 3 + 1 / 3) / 4])


def test_dropped_problems_are_dropped_for_all_and_reported(project: Project) -> None:
    report = report_of(project, missing="drop")
    assert figures(report) == {"careful": (2, 1.0, 1.0), "refuses": (2, 1.0, 0.5)}
    assert (report.left_out, report.lacking, report.filled) == (2, {"refuses": 2}, {})


def test_a_verifier_that_has_judged_too_little_is_left_out_by_name(project: Project) -> None:
    report = report_of(project)
    (one,) = report.partial
    assert (one.verifier, one.judged, one.solutions) == ("small", 3, 12)
    text = ranking_as(report, TableForm(), by_problem=False)
    assert "small has judged 3 of 12 solutions" in " ".join(text.split())
    assert "coverage" in text


@pytest.mark.parametrize("missing", ["zero", "drop"])
def test_a_named_verifier_is_measured_on_its_problems(project: Project, missing: Missing) -> None:
    report = report_of(project, "small", "careful", missing=missing)
    assert figures(report) == {"careful": (1, 1.0, 1.0), "small": (1, 1.0, 0.25)}
    assert (report.partial, report.left_out, report.lacking) == ([], 3, {"small": 3})


def test_no_verifier_is_excluded_if_none_covers_enough(tmp_path: Path) -> None:
    project = scored_project(tmp_path, TASKS)
    put_scores(project, "small", {"t0/a": 1.0, "t0/b": 0.5, "t0/c": 0.0})
    assert figures(report_of(project)) == {"small": (1, 1.0, 0.25)}


def test_a_failure_is_not_a_refusal(project: Project) -> None:
    with project.database.write() as connection:
        (run,) = connection.execute(
            "SELECT r.id FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id WHERE v.name = 'refuses'"
        ).fetchone()
        connection.execute(
            "UPDATE verdicts SET outcome = ? WHERE run_id = ? AND score IS NULL", (Outcome.ERROR.code, run)
        )
    assert [one.verifier for one in report_of(project).partial] == ["refuses", "small"]


def test_a_score_without_a_unit_has_its_own_lowest(tmp_path: Path) -> None:
    project = scored_project(tmp_path, TASKS)
    scores = {f"{task}/{name}": 10 * score - 20 for task in TASKS for name, score in SCORES.items()}
    put_scores(project, "reward", scores | {"t0/a": None})
    report = report_of(project)
    assert (report.filled, report.rows[0].problems, report.rows[0].normalised) == ({"reward": 1}, 4, True)
    assert report.rows[0].top1 == 0.75


def test_listed_solutions_are_those_counted_by_the_metrics(project: Project) -> None:
    for k in (None, 2):
        found = compare_verifiers(project, truth_of(project), k=k, samples=0)
        sizes = {problem.task_id: len(problem.solutions) for problem in found.problems}
        assert sizes == {row.task_id: row.solutions for row in found.report.problems}
        assert set(sizes.values()) == {3 if k is None else 2}
