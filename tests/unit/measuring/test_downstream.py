"""Downstream scores beside accuracy: like with like, ranks over benchmarks, and what three verifiers can't tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, add_run
from workbench.core.errors import FormatError, UsageError
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.measuring.accuracy import accuracy
from workbench.measuring.downstream import downstream, downstream_text
from workbench.statistics.records.combined import DownstreamReport, DownstreamRow

ITEMS = 40
RIGHT = {"best": 36, "middle": 30, "worst": 20}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = [{"question_id": f"q{item}", "gold": True, "type": "A" if item < 20 else "B"} for item in range(ITEMS)]
    project = make_project(tmp_path, rows)
    for name, right in RIGHT.items():
        add_run(project, name, {item: Outcome(int(item <= right)) for item in range(1, ITEMS + 1)})
    return project


def reported(project: Project, folder: Path, lines: list[dict[str, object]], by: str | None = None) -> DownstreamReport:
    path = folder / "scores.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return downstream(project, path, by=by)


def line(verifier: str, score: float, benchmark: str = "sums", **more: object) -> dict[str, object]:
    return {"verifier": verifier, "benchmark": benchmark, "score": score, **more}


def row(report: DownstreamReport, benchmark: str | None, group: str | None = None) -> DownstreamRow:
    (found,) = (one for one in report.rows if (one.benchmark, one.group) == (benchmark, group))
    return found


def test_three_in_order_can_not_settle_it(project: Project, tmp_path: Path) -> None:
    report = reported(project, tmp_path, [line("best", 61), line("middle", 58), line("worst", 57.5)])
    found = row(report, "sums")
    assert (found.verifiers, found.exact, found.permutations) == (3, True, 6)
    assert found.spearman.coefficient == found.kendall.coefficient == pytest.approx(1)
    assert found.spearman.p == pytest.approx(1 / 6)
    assert found.spearman.ci is None
    assert "ten" in (found.reason or "") or "10 verifiers" in (found.reason or "")
    assert [point.verifier for point in report.points] == ["best", "middle", "worst"]
    text = downstream_text(report)
    assert "can't be below 0.167" in text.replace("\n  ", " ")
    assert "so few can't settle it" in text


def test_accuracies_are_those_of_the_table_by_group(project: Project, tmp_path: Path) -> None:
    report = reported(project, tmp_path, [line(name, 1 + place) for place, name in enumerate(RIGHT)], by="type")
    table = {(one.verifier, one.group): one for one in accuracy(project, by="type").rows}
    for point in report.points:
        expected = table[point.verifier, None]
        assert (point.accuracy, point.ci, point.n) == (expected.accuracy, expected.ci, expected.n)
    assert row(report, "sums").kendall.coefficient == pytest.approx(-1)
    # All three are right on every item of type A.
    assert row(report, "sums", "A").spearman.coefficient is None
    assert row(report, "sums", "A").reason == "All accuracies or all scores are equal."
    assert row(report, "sums", "B").spearman.coefficient == pytest.approx(-1)


def test_only_steps_that_all_have_are_compared_and_seeds_are_averaged(project: Project, tmp_path: Path) -> None:
    report = reported(
        project,
        tmp_path,
        [
            *(line("best", score, step=100, seed=seed) for seed, score in enumerate((0.5, 0.7))),
            line("best", 0.8, step=200, seed=0),
            line("best", 0.99, step=300, seed=0),
            line("middle", 0.4, step=100),
            line("middle", 0.6, step=200),
        ],
    )
    assert row(report, "sums").steps == [100, 200]
    assert [(point.verifier, point.scores) for point in report.points] == [("best", 3), ("middle", 2)]
    assert [point.score for point in report.points] == pytest.approx([(0.6 + 0.8) / 2, 0.5])


def test_without_a_common_step_there_is_nothing_to_compare(project: Project, tmp_path: Path) -> None:
    report = reported(project, tmp_path, [line("best", 1, step=1), line("middle", 2, step=2)])
    found = row(report, "sums")
    assert (found.verifiers, found.spearman.coefficient) == (0, None)
    assert "No training step" in (found.reason or "")
    assert report.points == []
    assert "No training step" in downstream_text(report)


def test_over_all_benchmarks_it_is_the_mean_rank(project: Project, tmp_path: Path) -> None:
    scores = {"a": (3, 2, 1), "b": (200, 300, 100), "c": (0.1, 0.1, 0.3)}
    lines = [
        line(name, score, benchmark) for benchmark, of in scores.items() for name, score in zip(RIGHT, of, strict=True)
    ]
    report = reported(project, tmp_path, lines)
    assert [one.benchmark for one in report.rows] == ["a", "b", "c", None]
    ranks = {point.verifier: point.score for point in report.points if point.benchmark is None}
    assert ranks == {
        "best": pytest.approx((3 + 2 + 1.5) / 3),
        "middle": pytest.approx((2 + 3 + 1.5) / 3),
        "worst": pytest.approx((1 + 1 + 3) / 3),
    }
    some = reported(project, tmp_path, [*lines, line("worst", 5, "d"), line("best", 4, "d")])
    assert {point.verifier for point in some.points if point.benchmark is None} == {"best", "worst"}
    assert all(one.benchmark is not None for one in reported(project, tmp_path, lines[:3]).rows)


def test_shares_of_a_known_number_of_items_have_intervals(project: Project, tmp_path: Path) -> None:
    from statsmodels.stats.proportion import proportion_confint

    report = reported(project, tmp_path, [line("best", 0.6, n=500), line("middle", 0.5)])
    first, second = report.points
    assert first.score_ci == pytest.approx(proportion_confint(300, 500, method="wilson"))
    assert second.score_ci is None
    percent = reported(project, tmp_path, [line("best", 60, n=500), line("middle", 0.5, n=500)])
    assert [point.score_ci for point in percent.points] == [None, None]


def test_who_is_not_measured_here_is_named_and_left_out(project: Project, tmp_path: Path) -> None:
    report = reported(project, tmp_path, [line("best", 2), line("elsewhere", 3), line("always-incorrect", 1)])
    assert report.unmeasured == ["elsewhere"]
    assert {point.verifier: point.accuracy for point in report.points} == {"best": 0.9, "always-incorrect": 0.0}
    assert "left out: elsewhere" in downstream_text(report)
    with pytest.raises(UsageError, match="no verifier in it has a complete run here: elsewhere"):
        reported(project, tmp_path, [line("elsewhere", 3)])


def test_refused_lines_stand_in_the_report(project: Project, tmp_path: Path) -> None:
    report = reported(project, tmp_path, [line("best", 2), {"verifier": "best"}, line("middle", 1)])
    assert (report.lines, report.refused) == (2, 1)
    (refused,) = report.refusals
    assert (refused.line, refused.field) == (2, "benchmark")
    with pytest.raises(FormatError, match="none of which can be taken"):
        reported(project, tmp_path, [{"verifier": "best"}])
    with pytest.raises(FormatError, match="no line in it"):
        reported(project, tmp_path, [])


def test_names_are_only_text(project: Project, tmp_path: Path) -> None:
    hostile = HOSTILE[2]
    report = reported(project, tmp_path, [line("best", 2, hostile), line("middle", 1, hostile), line(hostile, 1)])
    text = downstream_text(report)
    assert "\x1b" not in text
    assert "␛[31m" in text


def test_with_many_verifiers_there_is_an_interval(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"question_id": f"q{item}", "gold": True} for item in range(ITEMS)])
    names = [f"v{place:02}" for place in range(12)]
    for place, name in enumerate(names):
        add_run(project, name, {item: Outcome(int(item <= 2 * place)) for item in range(1, ITEMS + 1)})
    mixed = reported(project, tmp_path, [line(name, (5 * place) % 12 + place) for place, name in enumerate(names)])
    found = row(mixed, "sums")
    assert (found.exact, found.permutations, found.reason) == (False, 10_000, None)
    assert found.spearman.ci is not None
    assert found.kendall.ci is not None
    assert "so few can't" not in downstream_text(mixed)
    perfect = row(reported(project, tmp_path, [line(name, place) for place, name in enumerate(names)]), "sums")
    assert perfect.spearman.ci is None
    assert "same order" in (perfect.reason or "")
