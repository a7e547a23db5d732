"""Estimates from few labels: counted items, predictions, and messages about the sample."""

from __future__ import annotations

import random
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, add_run
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode, Protocol3
from workbench.measuring.accuracy import accuracy
from workbench.measuring.estimating import estimate, estimate_text, verdict
from workbench.statistics.prediction_powered import estimate_share
from workbench.statistics.records.combined import EstimateReport, EstimateRow, Quantity

ITEMS = 400
LABELLED = 100


def gold_of(item: int) -> bool:
    return item % 3 == 0


@pytest.fixture(scope="module")
def outcomes_by_verifier() -> dict[str, dict[int, Outcome]]:
    draw = random.Random(8)

    def outcome(item: int, right: float) -> Outcome:
        if draw.random() < 0.05:
            return OutcomeCode(draw.choice((2, 3))).outcome
        return OutcomeCode(int(gold_of(item)) if draw.random() < right else int(not gold_of(item))).outcome

    worth = {"judge": 0.8, "rules": 0.9, "other": 0.85}
    return {name: {item: outcome(item, right) for item in range(1, ITEMS + 1)} for name, right in worth.items()}


@pytest.fixture
def project(tmp_path: Path, outcomes_by_verifier: dict[str, dict[int, Outcome]]) -> Project:
    return filled(tmp_path, outcomes_by_verifier, set(range(1, ITEMS + 1, ITEMS // LABELLED)))


def filled(folder: Path, outcomes_by_verifier: dict[str, dict[int, Outcome]], labelled: set[int]) -> Project:
    """Two completions a question, the first half of them of type A."""
    rows = [
        {
            "question_id": f"q{(item - 1) // 2}",
            "completion_id": f"c{item}",
            "gold": gold_of(item) if item in labelled else None,
            "type": "A" if item <= ITEMS // 2 else "B",
        }
        for item in range(1, ITEMS + 1)
    ]
    project = make_project(folder, rows)
    for name, outcomes in outcomes_by_verifier.items():
        add_run(project, name, outcomes)
    return project


def row(
    report: EstimateReport, quantity: Quantity, group: str | None = None, *, stratified: bool = False
) -> EstimateRow:
    (found,) = (
        one for one in report.rows if (one.quantity, one.group, one.stratified) == (quantity, group, stratified)
    )
    return found


def vote(outcome: Outcome) -> float:
    return {Outcome.CORRECT: 1.0, Outcome.INCORRECT: 0.0}.get(outcome, 0.5)


@pytest.mark.parametrize("protocol", get_args(Protocol3))
def test_truth_and_predictions_follow_the_protocol(
    project: Project, outcomes_by_verifier: dict[str, dict[int, Outcome]], protocol: Protocol3
) -> None:
    """Computed item by item from the definitions of the protocols."""
    truth, predicted, question = [], [], []
    for item, own in outcomes_by_verifier["judge"].items():
        is_undecided = own.code >= OutcomeCode.ABSTAIN
        if is_undecided and protocol == "decided":
            continue
        correct = (vote(outcomes_by_verifier["rules"][item]) + vote(outcomes_by_verifier["other"][item])) / 2
        right = gold_of(item) == (own == Outcome.CORRECT)
        expected = correct if own == Outcome.CORRECT else 1 - correct
        if is_undecided and protocol == "strict":
            right, expected = False, 0.0
        truth.append(int(right) if item % 4 == 1 else -1)
        predicted.append(expected)
        question.append((item - 1) // 2)
    known = estimate_share(np.array(truth), np.array(predicted), np.array(question))
    found = row(estimate(project, "judge", protocol=protocol), "accuracy")
    assert found.estimate == pytest.approx(known.estimate)
    assert found.ci == pytest.approx(known.ci)
    assert found.power == pytest.approx(known.power)
    assert found.saved == pytest.approx(known.effective - truth.count(1) - truth.count(0))
    table = next(one for one in accuracy(project, verifiers=("judge",), protocol=protocol).rows if one.group is None)
    assert found.classical == pytest.approx(table.accuracy)
    assert found.classical_ci == pytest.approx(table.ci)


def test_an_estimate_is_closer_to_the_truth_and_narrower(
    project: Project, outcomes_by_verifier: dict[str, dict[int, Outcome]]
) -> None:
    found = row(estimate(project, "judge"), "accuracy")
    outcomes = outcomes_by_verifier["judge"]
    truth = sum(gold_of(item) == (outcomes[item] == Outcome.CORRECT) for item in outcomes) / ITEMS
    assert found.ci is not None
    assert found.classical_ci is not None
    assert found.ci[0] < truth < found.ci[1]
    assert found.ci[1] - found.ci[0] < 0.85 * (found.classical_ci[1] - found.classical_ci[0])
    assert (found.labelled, found.unlabelled, found.questions) == (LABELLED, ITEMS - LABELLED, LABELLED)


def test_few_labelled_questions_give_no_warning_about_intervals(tmp_path: Path) -> None:
    """Intervals of 5 to 20 questions cover the truth in 97 % or more; a single question has no interval."""
    outcomes_by_verifier = {name: dict.fromkeys(range(1, 41), Outcome.CORRECT) for name in ("judge", "other")}
    rows = [
        {"question_id": f"q{number // 2}", "completion_id": f"c{number}", "gold": True if number < 2 else None}
        for number in range(40)
    ]
    project = make_project(tmp_path, rows)
    for name, outcomes in outcomes_by_verifier.items():
        add_run(project, name, outcomes)
    text = " ".join(estimate_text(estimate(project, "judge")).split())
    assert "too few questions for an interval" in text
    assert "too narrow" not in text


@pytest.mark.parametrize("protocol", get_args(Protocol3))
def test_only_counted_items_enter_the_estimate(
    project: Project, outcomes_by_verifier: dict[str, dict[int, Outcome]], protocol: Protocol3
) -> None:
    decides = sum(outcome.code < OutcomeCode.ABSTAIN for outcome in outcomes_by_verifier["judge"].values())
    of = (
        f"of all {decides:,} items that it decides,"
        if protocol == "decided"
        else f"of all {ITEMS:,} items that it has judged,"
    )
    assert decides < ITEMS
    assert of in verdict(estimate(project, "judge", protocol=protocol))


def test_the_share_of_correct_completions_needs_no_protocol(project: Project) -> None:
    found = [row(estimate(project, "judge", protocol=protocol), "prevalence") for protocol in get_args(Protocol3)]
    assert found[0] == found[1] == found[2]
    assert found[0].ci is not None
    assert found[0].ci[0] < 1 / 3 < found[0].ci[1]
    assert (found[0].saved or 0) > LABELLED


def test_predictors_default_to_all_other_verifiers(project: Project) -> None:
    assert estimate(project, "judge").predictors == ["rules", "other"]
    assert estimate(project, "judge", ("other",)).predictors == ["other"]
    better = row(estimate(project, "judge", ("rules",)), "accuracy")
    assert better.estimate != row(estimate(project, "judge", ("other",)), "accuracy").estimate


def test_groups_and_the_estimate_weighted_by_them(project: Project) -> None:
    report = estimate(project, "judge", by="type")
    groups = [row(report, "accuracy", group) for group in ("A", "B")]
    stratified = row(report, "accuracy", stratified=True)
    assert [group.labelled for group in groups] == [LABELLED // 2] * 2
    assert sum(group.unlabelled for group in groups) == stratified.unlabelled
    assert stratified.classical == pytest.approx(sum(group.classical or 0 for group in groups) / 2)
    alone = estimate(project, "judge", selection=Selection((parse_condition("type=A"),)))
    assert row(alone, "accuracy").estimate == groups[0].estimate
    assert [one.group for one in report.rows] == [None, None, "A", "B"] * 2


def test_another_mix_of_types_is_reported(tmp_path: Path, outcomes_by_verifier: dict[str, dict[int, Outcome]]) -> None:
    project = filled(tmp_path, outcomes_by_verifier, set(range(1, 61)) | {301, 321, 341})
    report = estimate(project, "judge")
    assert [(one.group, one.labelled, one.unlabelled) for one in report.mix] == [("A", 30, 70), ("B", 3, 97)]
    assert report.uneven == ["type"]
    crossed = {"type,model", "type,length", "model,length"}
    assert {check.by for check in report.checks} == {"type", "model", "length"} | crossed
    assert report.checks[0].p is not None
    assert report.checks[0].p < 0.001
    text = " ".join(estimate_text(report).split())
    assert "The mix by type of labelled items differs from" in text
    assert report.headline is not None
    quoted = report.rows[report.headline]
    assert (quoted.strata, quoted.stratified) == ("type", True)
    assert f"{100 * (quoted.estimate or 0):.1f} % of all" in text
    assert "weighed by type" in text
    by_type = estimate(project, "judge", by="type")
    assert by_type.headline is not None
    assert by_type.rows[by_type.headline].estimate == quoted.estimate
    assert len(by_type.rows) == 8


def mixed(folder: Path, share: dict[str, float], *, whole: bool) -> Project:
    """200 questions with a completion by each of two models, of which one is judged better; labels not at random."""
    chance = random.Random(3)
    rows = [
        {
            "question_id": f"q{number // 2}",
            "completion_id": f"c{number}",
            "model": (model := "mn"[number // 100 % 2 if whole else number % 2]),
            "gold": number % 3 == 0 if chance.random() < share[model] else None,
        }
        for number in range(400)
    ]
    project = make_project(folder, rows)
    for name, right in (("judge", {"m": 0.95, "n": 0.6}), ("rules", {"m": 0.9, "n": 0.9})):
        models = [str(row["model"]) for row in rows]
        add_run(
            project,
            name,
            {n + 1: OutcomeCode(int((n % 3 == 0) == (chance.random() < right[models[n]]))).outcome for n in range(400)},
        )
    return project


@pytest.mark.parametrize("whole", [False, True], ids=["items", "questions"])
def test_labels_mostly_of_one_model_are_weighted_or_have_no_headline(tmp_path: Path, *, whole: bool) -> None:
    """A mean of labels is off by 12 points here; every question has labelled items of either model where items are
    drawn, so that counting questions would not tell."""
    report = estimate(mixed(tmp_path, {"m": 0.5, "n": 0.1}, whole=whole), "judge")
    assert report.uneven == ["model"]
    assert report.headline is not None
    assert abs((report.rows[report.headline].estimate or 0) - 0.775) < 0.06
    bare = tmp_path / "bare"
    bare.mkdir()
    none = estimate(mixed(bare, {"m": 0.5, "n": 0.0}, whole=whole), "judge")
    assert none.headline is None
    text = " ".join(estimate_text(none).split())
    assert "No estimate. The mix by model of labelled items differs from the others" in text
    assert "No labelled item in: n." in text


@pytest.mark.parametrize("second", ["model", "length"])
def test_label_rates_that_differ_only_in_crossed_cells_are_found(tmp_path: Path, second: str) -> None:
    """As many labels of each type and of each model, but of one type with one model most: 7 points too many."""
    chance = random.Random(4)
    rows, is_easy = [], []
    for number in range(800):
        kind, other = number // 2 % 2, number // 4 % 2
        is_easy.append(kind == other)
        has_gold = chance.random() < (0.5 if is_easy[-1] else 0.08)
        rows.append(
            {
                "question_id": f"q{number // 2}",
                "completion_id": f"c{number}",
                "subtype": ("A1", "B1")[kind],
                "model": "mn"[other] if second == "model" else "m",
                "completion": "x" * (2_000 if other and second == "length" else 50),
                "gold": number % 3 == 0 if has_gold else None,
            }
        )
    project = make_project(tmp_path, rows)
    right = [chance.random() < (0.95 if easy else 0.6) for easy in is_easy]
    add_run(project, "judge", {n + 1: OutcomeCode(int((n % 3 == 0) == right[n])).outcome for n in range(800)})
    add_run(
        project, "rules", {n + 1: OutcomeCode(int((n % 3 == 0) == (chance.random() < 0.9))).outcome for n in range(800)}
    )
    report = estimate(project, "judge")
    truth = sum(right) / 800
    assert (report.rows[0].estimate or 0) - truth > 0.04
    assert report.uneven == [f"type,{second}"]
    assert report.headline is not None
    quoted = report.rows[report.headline]
    assert quoted.ci is not None
    assert quoted.ci[0] <= truth <= quoted.ci[1]
    assert f"The mix by type and {second} of labelled items differs from others" in " ".join(
        estimate_text(report).split()
    )


def test_an_even_mix_is_not_reported(project: Project) -> None:
    report = estimate(project, "judge")
    assert (report.uneven, report.headline) == ([], 0)
    assert "The mix by" not in estimate_text(report)
    assert "hardly" not in estimate_text(report)
    assert "probably not random" not in estimate_text(report)


def test_a_group_without_labels_has_no_estimate_and_a_reason(
    tmp_path: Path, outcomes_by_verifier: dict[str, dict[int, Outcome]]
) -> None:
    report = estimate(filled(tmp_path, outcomes_by_verifier, set(range(1, 101))), "judge", by="type")
    for one in (row(report, "accuracy", "B"), row(report, "accuracy", stratified=True)):
        assert (one.estimate, one.ci, one.classical, one.saved) == (None, None, None, None)
        assert "No labelled item" in (one.reason or "")
    assert "No labelled item in: B." in estimate_text(report)
    assert row(report, "accuracy", "A").estimate is not None


def test_few_unlabelled_items_are_not_predicted(
    tmp_path: Path, outcomes_by_verifier: dict[str, dict[int, Outcome]]
) -> None:
    found = row(estimate(filled(tmp_path, outcomes_by_verifier, set(range(3, ITEMS + 1))), "judge"), "accuracy")
    assert (found.unlabelled, found.saved, found.estimate) == (2, 0, found.classical)
    assert found.reason == "Only 1 question without gold: predictions count from 10 on."


def test_a_fully_labelled_project_saves_no_labels(
    tmp_path: Path, outcomes_by_verifier: dict[str, dict[int, Outcome]]
) -> None:
    report = estimate(filled(tmp_path, outcomes_by_verifier, set(range(1, ITEMS + 1))), "judge")
    found = row(report, "accuracy")
    assert (found.unlabelled, found.saved) == (0, 0)
    assert (found.estimate, found.ci) == (found.classical, found.classical_ci)
    assert "nothing to predict" in (found.reason or "")
    assert {check.p for check in report.checks} == {None}


def test_items_excluded_in_conflict_and_checks(
    tmp_path: Path, outcomes_by_verifier: dict[str, dict[int, Outcome]]
) -> None:
    project = filled(tmp_path, outcomes_by_verifier, set(range(1, 81)))
    with project.database.write() as connection:
        # 90 to 92 are excluded, annotators disagree on 95 and 96, 98 is a check.
        for item, state in ((90, "excluded"), (91, "excluded"), (92, "excluded"), (95, "conflict"), (96, "conflict")):
            connection.execute("INSERT INTO item_states (completion_id, state) VALUES (?, ?)", (item, state))
        connection.execute("INSERT INTO check_items (completion_id, verdict, added_at) VALUES (98, 'correct', '')")
    report = estimate(project, "judge")
    found = row(report, "accuracy")
    assert (found.labelled, found.unlabelled) == (80, ITEMS - 80 - 4)
    assert report.in_conflict == 2
    assert "2 items in conflict" in estimate_text(report)


def test_a_baseline_can_be_estimated(project: Project) -> None:
    report = estimate(project, "always-incorrect", ("rules", "other"))
    assert report.run is None
    assert row(report, "accuracy").estimate == pytest.approx(
        1 - (row(estimate(project, "always-incorrect", ("rules", "other")), "prevalence").estimate or 0), abs=0.1
    )


@pytest.mark.parametrize(
    ("verifier", "predictors", "words"),
    [
        ("judge", ("judge",), "judge can't predict its own accuracy"),
        ("nobody", ("rules",), "No complete run of 'nobody'"),
        ("judge", ("nobody",), "No complete run of 'nobody'"),
    ],
)
def test_an_impossible_estimate_is_rejected(
    project: Project, verifier: str, predictors: tuple[str, ...], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        estimate(project, verifier, predictors)


def test_an_estimate_without_labels_or_predictors_is_rejected(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": None}, {"gold": None}])
    add_run(project, "judge", {1: Outcome.CORRECT, 2: Outcome.INCORRECT})
    with pytest.raises(UsageError, match="No verifier but judge"):
        estimate(project, "judge")
    add_run(project, HOSTILE[2], {1: Outcome.CORRECT, 2: Outcome.CORRECT})
    with pytest.raises(UsageError, match="has gold"):
        estimate(project, "judge")


def test_names_are_escaped(tmp_path: Path) -> None:
    rows = [{"gold": True if item % 2 else None, "question_id": f"q{item}", "model": HOSTILE[2]} for item in range(8)]
    project = make_project(tmp_path, rows)
    for name in ("judge", HOSTILE[2]):
        add_run(project, name, {item: OutcomeCode(item % 2).outcome for item in range(1, 9)})
    text = estimate_text(estimate(project, "judge", by="model"))
    assert "\x1b" not in text
    assert "␛[31m" in text


@pytest.mark.parametrize(("p", "is_uneven"), [(0.02, False), (0.001, True)])
def test_uneven_labels_are_adjusted_for_the_number_of_checks(
    project: Project, monkeypatch: pytest.MonkeyPatch, p: float, is_uneven: bool
) -> None:
    """With random labels, one of six checks is below 0.05 in a quarter of projects."""
    monkeypatch.setattr("workbench.statistics.prediction_powered.mix_p", lambda *_: p)
    report = estimate(project, "judge")
    assert {one.p for one in report.checks} == {p}
    assert bool(report.uneven) == is_uneven
