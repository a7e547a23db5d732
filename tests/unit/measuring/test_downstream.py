"""Downstream scores against accuracy: comparable scores, ranks over benchmarks, and the limits of three verifiers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, add_run
from workbench.core.errors import FormatError, UsageError
from workbench.core.project import Project
from workbench.core.verdict import Outcome, OutcomeCode, Protocol3
from workbench.labelling import coordinating
from workbench.measuring.accuracy import accuracy
from workbench.measuring.downstream import downstream, downstream_text, step_curves
from workbench.measuring.report.pictures import write_plots
from workbench.statistics.records.combined import DownstreamReport, DownstreamRow

ITEMS = 40
RIGHT = {"best": 36, "middle": 30, "worst": 20}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = [{"question_id": f"q{item}", "gold": True, "type": "A" if item < 20 else "B"} for item in range(ITEMS)]
    project = make_project(tmp_path, rows)
    for name, right in RIGHT.items():
        add_run(project, name, {item: OutcomeCode(int(item <= right)).outcome for item in range(1, ITEMS + 1)})
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


def test_three_verifiers_in_order_are_not_significant(project: Project, tmp_path: Path) -> None:
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
    assert "with so few verifiers the result can't be significant" in text


def test_shares_mixed_with_percentages_are_reported(project: Project, tmp_path: Path) -> None:
    mixed = [line("best", 0.61), line("middle", 58), line("worst", 57.5), line("best", 0.5, "other")]
    said = " ".join(downstream_text(reported(project, tmp_path, mixed)).split())
    assert "sums: 1 of 3 scores lie between 0 and 1, others above" in said
    assert "other: 1 of" not in said
    even = [line("best", 0.61), line("middle", 0.58), line("worst", 1.0)]
    assert "others above" not in downstream_text(reported(project, tmp_path, even))


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


def test_only_common_steps_are_compared_and_seeds_are_averaged(project: Project, tmp_path: Path) -> None:
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


def test_verifiers_without_a_common_step_are_not_compared(project: Project, tmp_path: Path) -> None:
    report = reported(project, tmp_path, [line("best", 1, step=1), line("middle", 2, step=2)])
    found = row(report, "sums")
    assert (found.verifiers, found.spearman.coefficient) == (0, None)
    assert "No training step" in (found.reason or "")
    assert report.points == []
    assert "No training step" in downstream_text(report)


def test_the_overall_score_is_the_mean_rank(project: Project, tmp_path: Path) -> None:
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
    report = reported(project, tmp_path, [line("best", 0.6, n=500), line("middle", 0.5)])
    first, second = report.points
    # Wilson's of 300 of 500 with Student's t of 499 degrees of freedom, 1.964729.
    assert first.score_ci == pytest.approx((0.556347, 0.642121), abs=1e-6)
    assert second.score_ci is None
    # Clopper and Pearson's where fewer than three items are wrong: of all of five, .025 to the fifth root of it.
    (sure,) = reported(project, tmp_path, [line("best", 1, n=5)]).points
    assert sure.score_ci == pytest.approx((0.025 ** (1 / 5), 1.0))
    (single,) = reported(project, tmp_path, [line("best", 1, n=1)]).points
    assert single.score_ci is None
    percent = reported(project, tmp_path, [line("best", 60, n=500), line("middle", 0.5, n=500)])
    assert [point.score_ci for point in percent.points] == [None, None]


def test_unmeasured_verifiers_are_named_and_excluded(project: Project, tmp_path: Path) -> None:
    report = reported(project, tmp_path, [line("best", 2), line("elsewhere", 3), line("always-incorrect", 1)])
    assert report.unmeasured == ["elsewhere"]
    assert {point.verifier: point.accuracy for point in report.points} == {"best": 0.9, "always-incorrect": 0.0}
    assert "left out: elsewhere" in downstream_text(report)
    with pytest.raises(UsageError, match="no verifier in it has a complete run here: elsewhere"):
        reported(project, tmp_path, [line("elsewhere", 3)])


def test_rejected_lines_are_listed_in_the_report(project: Project, tmp_path: Path) -> None:
    report = reported(project, tmp_path, [line("best", 2), {"verifier": "best"}, line("middle", 1)])
    assert (report.lines, report.refused) == (2, 1)
    (refused,) = report.refusals
    assert (refused.line, refused.field) == (2, "benchmark")
    with pytest.raises(FormatError, match="none of them valid"):
        reported(project, tmp_path, [{"verifier": "best"}])
    with pytest.raises(FormatError, match="has no lines"):
        reported(project, tmp_path, [])


def test_names_are_escaped(project: Project, tmp_path: Path) -> None:
    hostile = HOSTILE[2]
    report = reported(project, tmp_path, [line("best", 2, hostile), line("middle", 1, hostile), line(hostile, 1)])
    text = downstream_text(report)
    assert "\x1b" not in text
    assert "␛[31m" in text


def test_with_many_verifiers_there_is_an_interval(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"question_id": f"q{item}", "gold": True} for item in range(ITEMS)])
    names = [f"v{place:02}" for place in range(12)]
    for place, name in enumerate(names):
        add_run(project, name, {item: OutcomeCode(int(item <= 2 * place)).outcome for item in range(1, ITEMS + 1)})
    mixed = reported(project, tmp_path, [line(name, (5 * place) % 12 + place) for place, name in enumerate(names)])
    found = row(mixed, "sums")
    assert (found.exact, found.permutations, found.reason) == (False, 10_000, None)
    assert found.spearman.ci is not None
    assert found.kendall.ci is not None
    assert "so few verifiers the result" not in downstream_text(mixed)
    perfect = row(reported(project, tmp_path, [line(name, place) for place, name in enumerate(names)]), "sums")
    assert perfect.spearman.ci is None
    assert "same order" in (perfect.reason or "")


# -- Scores by step (VerifyBench, figure 3), and models measured by their completions (appendix D).


def test_the_curve_has_every_step_and_marks_common_ones(project: Project, tmp_path: Path) -> None:
    report = reported(
        project,
        tmp_path,
        [
            *(line("best", score, step=100, seed=seed) for seed, score in enumerate((0.5, 0.7))),
            line("best", 0.9, step=300),
            line("middle", 0.4, step=100),
            line("middle", 0.2, step=20),
            line("elsewhere", 0.9, step=7),
            line("best", 3, "riddles"),
        ],
    )
    assert [(one.benchmark, one.verifier, one.step, one.score, one.scores, one.compared) for one in report.steps] == [
        ("sums", "best", 100, pytest.approx(0.6), 2, True),
        ("sums", "best", 300, 0.9, 1, False),
        ("sums", "middle", 20, 0.2, 1, False),
        ("sums", "middle", 100, 0.4, 1, True),
        ("riddles", "best", None, 3, 1, True),
    ]


def test_the_curves_are_drawn(project: Project, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    report = reported(project, tmp_path, [line("best", step / 9, "../a b", step=step) for step in range(3)])
    paths = write_plots(tmp_path / "plots", step_curves(report.steps), force=False)
    assert sorted(path.name for path in paths) == [f"steps-1--a-b.{ending}" for ending in ("pdf", "png", "svg")]
    with pytest.raises(UsageError, match="no curve"):
        write_plots(tmp_path / "none", step_curves(report.steps[:1]), force=False)
    assert not (tmp_path / "none").exists()
    again = write_plots(tmp_path / "more", step_curves(report.steps), force=False)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in paths]


@pytest.fixture
def sampled(tmp_path: Path) -> Project:
    """Two models' samples of two benchmarks' questions: of ``old`` 4 a question, the last one of two."""
    shares = {("old", "sums"): ("+-+-", "++++", "+-"), ("new", "sums"): ("++++", "++++"), ("new", "riddles"): ("+.",)}
    rows = [
        {
            "dataset": dataset,
            "question_id": f"{dataset}-{place}",
            "completion_id": f"{model}-{dataset}-{place}-{sample}",
            "model": model,
            "gold": {"+": True, "-": False}.get(sign),
        }
        for (model, dataset), of in shares.items()
        for place, signs in enumerate(of)
        for sample, sign in enumerate(signs)
    ]
    project = make_project(tmp_path, rows)
    # Of the judge's verdicts on the first question the second is undecided and the third an error.
    said = {item: OutcomeCode(int(row["gold"] is True)).outcome for item, row in enumerate(rows, 1)}
    add_run(project, "judge", {**said, 2: Outcome.ABSTAIN, 3: Outcome.ERROR})
    return project


def test_a_model_scores_the_mean_accuracy_of_its_samples(sampled: Project, tmp_path: Path) -> None:
    report = reported(sampled, tmp_path, [trained("always-incorrect", "old", step=1), trained("judge", "new", step=1)])
    found = {(one.model, one.benchmark): one for one in report.averages}
    assert {key: (one.accuracy, one.questions, one.samples) for key, one in found.items()} == {
        ("old", "sums"): (pytest.approx((0.5 + 1 + 0.5) / 3), 3, (2, 4)),
        ("new", "sums"): (1.0, 2, (4, 4)),
        ("new", "riddles"): (1.0, 1, (1, 1)),
    }
    assert found["new", "riddles"].left_out == 1
    assert {(point.verifier, point.benchmark): point.score for point in report.points if point.benchmark == "sums"} == {
        ("always-incorrect", "sums"): pytest.approx(2 / 3),
        ("judge", "sums"): 1.0,
    }
    ends = found["old", "sums"].ci
    assert ends is not None
    assert 0 < ends[0] < 2 / 3 < ends[1] < 1
    # A single question says nothing of others.
    assert found["new", "riddles"].ci is None
    assert "avg@k" in downstream_text(report)


def test_a_verifier_can_replace_gold(sampled: Project, tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(json.dumps(trained("judge", "old")))

    def average(protocol: Protocol3) -> tuple[float, int, int]:
        (found,) = downstream(sampled, path, scored_by="judge", protocol=protocol).averages
        return found.accuracy, found.undecided, found.left_out

    assert average("forced") == average("strict")
    assert average("forced")[0] == pytest.approx((1 / 4 + 1 + 0.5) / 3)
    assert average("decided")[0] == pytest.approx((1 / 2 + 1 + 0.5) / 3)
    assert (average("forced")[1:], average("decided")[1:]) == ((2, 0), (2, 2))
    text = downstream_text(downstream(sampled, path, scored_by="judge"))
    assert "judge also rewarded some of them" in text.replace("\n", " ")
    with pytest.raises(UsageError, match="scored-by"):
        reported_by(sampled, tmp_path, [line("judge", 1)], "judge")
    with pytest.raises(UsageError, match="No complete run of 'nobody'"):
        reported_by(sampled, tmp_path, [trained("judge", "old")], "nobody")


def test_excluded_items_do_not_count(sampled: Project, tmp_path: Path) -> None:
    # The first of the new model's completions.
    coordinating.exclude(sampled, [11], reason="truncated")
    report = reported_by(sampled, tmp_path, [trained("judge", "new", benchmark="sums")], "judge")
    assert [(one.benchmark, one.samples) for one in report.averages] == [("sums", (3, 4))]


def test_unknown_models_and_duplicate_scores_are_rejected(sampled: Project, tmp_path: Path) -> None:
    report = reported(
        sampled,
        tmp_path,
        [
            trained("judge", "new"),
            trained("judge", "nobody"),
            trained("judge", "new", benchmark="nowhere"),
            line("judge", 0.5, "sums"),
            trained("judge", "old"),
            line("judge", 0.5, "sums", seed=3, model="a name beside a score is nothing"),
            {"verifier": "judge", "model": 7},
            {"model": "new"},
        ],
    )
    assert [(one.line, one.field) for one in report.refusals] == [
        (2, "model"),
        (3, "model"),
        (4, "verifier"),
        (5, "verifier"),
        (7, "model"),
        (8, "verifier"),
    ]
    # Rejected scores are not averaged.
    assert {one.model for one in report.averages} == {"new"}
    assert report.lines == 3


def trained(verifier: str, model: str, **more: object) -> dict[str, object]:
    return {"verifier": verifier, "model": model, **more}


def reported_by(project: Project, folder: Path, lines: list[dict[str, object]], scored_by: str) -> DownstreamReport:
    path = folder / "scores.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return downstream(project, path, scored_by=scored_by)
