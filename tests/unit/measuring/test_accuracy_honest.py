"""Context of accuracy: baselines, deltas, marks, notes, other prevalences, intervals by resampling."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.errors import UsageError
from workbench.core.options import TableForm
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_tables import accuracy_as, conclusion, overview, weakest
from workbench.measuring.columns import Columns
from workbench.measuring.notes import add_selection_judges
from workbench.runs.store import runs
from workbench.statistics.records.report import AccuracyReport, AccuracyRow
from workbench.statistics.subgroups import across
from workbench.tables.table_text import plain_table

BASELINES = ["always-incorrect", "always-correct", "majority-by-type"]


def rows_of() -> list[dict[str, Any]]:
    """60 questions of two completions: A1 mostly incorrect, A2 mostly correct, C1 half, one without a type."""
    rows = []
    for number in range(120):
        question = number // 2
        subtype = ("A1", "A2", "C1", None)[question % 4]
        correct = {"A1": question % 3 == 0, "A2": question % 3 != 0, "C1": number % 2 == 0, None: False}[subtype]
        rows.append(
            {
                "question_id": f"q{question}",
                "completion_id": f"c{number}",
                "subtype": subtype,
                "gold": correct,
                "source": f"s{question % 5}",
                "domain": "math" if question % 5 < 3 else "logic",
            }
        )
    return rows


def say(project: Project, name: str, *, wrong: set[int], of: range = range(1, 121)) -> int:
    """A run that is right on all items but the wrong ones (row ids)."""
    gold = dict(project.database.reader().execute("SELECT id, imported_gold FROM completions").fetchall())
    return add_complete_run(
        project,
        name,
        [(item, Verdict(outcome=OutcomeCode(gold[item] ^ (item in wrong)).outcome)) for item in of],
        kind="exact",
    )


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path, rows_of())
    # Questions 0, 4, 8, … are A1: half of its questions are judged wrongly.
    say(project, "weak-on-A1", wrong={1 + 2 * question + at for question in range(0, 60, 8) for at in (0, 1)})
    say(project, "good", wrong={7, 50})
    return project


def of(report: AccuracyReport, verifier: str, group: str | None = None) -> AccuracyRow:
    (row,) = (row for row in report.rows if (row.verifier, row.group) == (verifier, group))
    return row


@pytest.mark.parametrize(("question", "questions"), [("q", 1), ("q{}", 4)])
def test_intervals_of_a_single_question_are_not_called_clustered(tmp_path: Path, question: str, questions: int) -> None:
    rows = [{"question_id": question.format(item), "gold": item % 2 == 0} for item in range(4)]
    project = make_project(tmp_path, rows)
    say(project, "one", wrong={1}, of=range(1, 5))
    report = accuracy(project)
    assert of(report, "one").questions == questions
    assert any(
        "Too few questions for an interval of accuracy: items are clustered by question." in said
        for said in report.notes
    ) == (questions == 1)


@pytest.mark.few(5)
@pytest.mark.parametrize("by", [None, "type", "subtype", "reason", "type,domain"])
@pytest.mark.parametrize("verifiers", [(), ("good",), ("always-correct",), ("good", "majority-by-type")])
def test_baselines_are_last_in_every_table(project: Project, by: str | None, verifiers: tuple[str, ...]) -> None:
    report = accuracy(project, by=by, verifiers=verifiers)
    names = list(dict.fromkeys(row.verifier for row in report.rows))
    assert names[-3:] == BASELINES
    assert set(names[:-3]) == ({"good"} & set(verifiers) if verifiers else {"weak-on-A1", "good"})
    assert all((row.kind == "baseline") == (row.verifier in BASELINES) for row in report.rows)
    assert all((row.p, row.q) == (None, None) for row in report.rows if row.kind == "baseline")


def test_constant_and_majority_baselines_follow_the_gold(project: Project) -> None:
    report = accuracy(project, by="subtype")
    correct = sum(row["gold"] for row in rows_of())
    assert of(report, "always-correct").tp == correct
    assert of(report, "always-incorrect").tn == 120 - correct
    by_kind: dict[str | None, list[bool]] = {}
    for row in rows_of():
        by_kind.setdefault(row["subtype"] and row["subtype"][0], []).append(row["gold"])
    most = {kind: 2 * sum(golds) > len(golds) for kind, golds in by_kind.items()}
    majority = of(report, "majority-by-type")
    assert majority.accuracy == sum((gold == most[kind]) for kind, golds in by_kind.items() for gold in golds) / 120
    assert "Tied types, predicted as incorrect: A, C." in " ".join(report.notes)


def test_a_run_named_like_a_baseline_replaces_it(project: Project) -> None:
    say(project, "always-incorrect", wrong={number for number, row in enumerate(rows_of(), 1) if row["gold"]})
    report = accuracy(project, by="type")
    assert of(report, "always-incorrect").kind == "verifier"
    assert of(report, "always-incorrect").mcc == 0
    assert [name for name in dict.fromkeys(row.verifier for row in report.rows) if name in BASELINES] == BASELINES
    # It says nothing of the verifier where a constant is right.
    assert all(row.q is None for row in report.rows if row.verifier == "always-incorrect")


def test_a_run_of_another_verifier_is_rejected_for_a_baseline(project: Project) -> None:
    with pytest.raises(UsageError, match="not of always-correct"):
        accuracy(project, verifiers=("always-correct",), run=1)


def test_subtypes_are_compared_to_their_type_and_groups_to_all_items(project: Project) -> None:
    report = accuracy(project, by="subtype", verifiers=("weak-on-A1",))
    everything, low, high, single = (of(report, "weak-on-A1", group) for group in (None, "A1", "A2", "C1"))
    of_type = of(accuracy(project, by="type", verifiers=("weak-on-A1",)), "weak-on-A1", "A")
    assert everything.delta is None
    assert low.delta == pytest.approx((low.accuracy or 0) - (of_type.accuracy or 0))
    assert high.delta == pytest.approx(-(low.delta or 0))
    # Two subtypes are one test; C1 is all there is of C.
    assert low.p == high.p
    assert low.q == high.q
    assert (low.p or 1) < 0.01
    assert (single.delta, single.p) == (0, None)
    assert report.tests is not None
    assert report.tests.hypotheses == 1
    by_domain = accuracy(project, by="domain", verifiers=("weak-on-A1",))
    for row in by_domain.rows:
        if row.verifier == "weak-on-A1" and row.group is not None:
            assert row.delta == pytest.approx((row.accuracy or 0) - (everything.accuracy or 0))


def test_a_crossing_with_subtypes_is_compared_to_the_type(project: Project) -> None:
    crossed = accuracy(project, by="subtype,domain", verifiers=("weak-on-A1",))
    type_row = of(accuracy(project, by="type", verifiers=("weak-on-A1",)), "weak-on-A1", "A")
    row = of(crossed, "weak-on-A1", "A1 · math")
    assert row.groups == ("A1", "math")
    assert row.delta == pytest.approx((row.accuracy or 0) - (type_row.accuracy or 0))


def test_q_values_are_over_all_cells_of_the_table(project: Project) -> None:
    from statsmodels.stats.multitest import multipletests

    report = accuracy(project, by="source")
    cells = [row for row in report.rows if row.p is not None]
    assert {row.verifier for row in cells} == {"weak-on-A1", "good"}
    assert len(cells) == 10
    expected = multipletests([row.p for row in cells], method="fdr_bh")[1]
    assert [row.q for row in cells] == pytest.approx(expected.tolist(), abs=1e-12)


def test_both_averages_are_named_and_macro_averages_the_shown_groups(project: Project) -> None:
    averages = {by: accuracy(project, by=by, verifiers=("good",)).averages[0] for by in (None, "source", "reason")}
    assert [(row.over, row.groups) for row in averages.values()] == [("type", 3), ("source", 5), ("type", 3)]
    assert averages[None].macro == averages["reason"].macro
    by_source = accuracy(project, by="source", verifiers=("good",))
    shares = [row.accuracy or 0 for row in by_source.rows if row.verifier == "good" and row.group is not None]
    assert averages["source"].macro == pytest.approx(sum(shares) / 5)
    assert averages["source"].micro == of(by_source, "good").accuracy


def test_judges_that_selected_the_items_are_marked_by_name_or_model(project: Project) -> None:
    with project.database.write() as connection:
        config = {"model": "org/judge-7b"}
        verifier = runs.add_verifier(
            connection, name="judge", kind="llm-judge", options={}, config=config, config_hash="j"
        )
        runs.complete(connection, runs.add(connection, verifier, "1"), 0)
    assert not any(row.selection_judge for row in accuracy(project).rows)
    # Models are the same with their publisher and without, as for the checks of validity.
    add_selection_judges(project, "sample", ("good", "Judge-7B", "elsewhere"))
    report = accuracy(project, by="type")
    assert {row.verifier for row in report.rows if row.selection_judge} == {"good", "judge"}
    assert any("good" in said and "decided what belongs to the data" in said for said in report.notes)


def test_judges_of_a_hidden_dataset_are_not_marked(tmp_path: Path) -> None:
    rows = [{"dataset": name, "completion_id": f"{name}{place}", "gold": True} for name in "ab" for place in range(2)]
    project = make_project(tmp_path, rows)
    add_complete_run(project, "judge", [(item, Verdict(outcome=Outcome.CORRECT)) for item in range(1, 5)])
    add_selection_judges(project, "b", ("judge",))
    marked = [
        any(row.selection_judge for row in accuracy(project, selection=Selection((parse_condition(text),))).rows)
        for text in ("dataset=a", "dataset=b")
    ]
    assert marked == [False, True]


def test_notes_name_who_beats_the_baseline_and_the_detectable_effect(project: Project) -> None:
    say(project, "half", wrong=set(), of=range(1, 61))
    constant, power, *others = accuracy(project).notes
    assert constant.startswith("always-incorrect is right on 62.5 % of items")
    assert "3 of 3 verifiers are right more often on the items of both, 3 significantly" in constant
    # Good is wrong on two of the 60 items that both have judged.
    assert power == (
        "half and good, the most accurate, differ in who is right on 3.3 % of 60 items. Too few questions, or too few "
        "on which they differ, to compute the minimum detectable effect."
    )
    assert "half has no verdict on 60 of 120 items with gold." in others


def test_notes_state_the_detectable_difference_of_two_verifiers(project: Project) -> None:
    say(project, "near", wrong={1, 9, 18, 27, 35})
    shown = next(note for note in accuracy(project).notes if "the most accurate" in note)
    assert shown.startswith("good and near, the most accurate, differ in who is right on 5.8 % of 120 items. The ")
    assert re.search(r" The minimum detectable effect is \d+\.\d points \(power 80 %\)\.$", shown)
    say(project, "as-near", wrong={2, 10, 17, 28, 36})
    tied = next(note for note in accuracy(project).notes if "the most accurate" in note)
    assert re.match(r"good and (as-)?near, two of the most accurate, differ", tied)


def test_the_weakest_cell_is_of_a_verifier_with_errors(project: Project) -> None:
    say(project, "perfect", wrong=set())
    first, second = conclusion(accuracy(project, by="subtype"))
    assert first.startswith("perfect is the most accurate: right on all 120 items [")
    assert second.startswith("The weakest cell of the table is weak-on-A1's on A1 - ")
    assert "perfect" not in second


def test_a_tie_names_one_verifier_and_counts_the_others(project: Project) -> None:
    say(project, "twin", wrong=set())
    say(project, "perfect", wrong=set())
    report = accuracy(project, by="subtype")
    assert conclusion(report)[0].startswith("twin and 1 other are the most accurate: right on all 120 items")
    found = weakest(report, "good")
    assert found is not None
    cells = [row for row in report.rows if row.verifier == "good" and row.group is not None]
    assert found.ties == sum(row.accuracy == found.row.accuracy for row in cells) - 1


def test_in_a_tie_metrics_are_attributed_to_the_named_verifier(project: Project) -> None:
    say(project, "few", wrong=set(), of=range(1, 41))
    say(project, "many", wrong=set())
    said = conclusion(accuracy(project))[0]
    assert said.startswith("many and 1 other are the most accurate: many is right on all 120 items [")
    say(project, "half-as-many", wrong={1, 3, 5, 7}, of=range(1, 61))
    say(project, "as-good", wrong={1, 3, 5, 7, 61, 63, 65, 67})
    known = ("half-as-many", "as-good")
    assert conclusion(accuracy(project, verifiers=known))[0].startswith(
        "as-good and 1 other are the most accurate: as-good on 93.3 % ["
    )


def test_an_insignificant_weakest_cell_is_marked_not_significant(tmp_path: Path) -> None:
    project = make_project(tmp_path, rows_of())
    say(project, "nearly", wrong={1})
    chance = conclusion(accuracy(project, by="subtype"))[-1]
    assert chance.endswith("(not significant).")
    say(project, "never-on-A1", wrong={row for row in range(1, 121) if (row - 1) // 2 % 4 == 0})
    sure = conclusion(accuracy(project, by="subtype"))[-1]
    assert sure.startswith("The weakest cell of the table is never-on-A1's on A1 - ")
    assert sure.endswith(" items.")


@pytest.mark.parametrize(("q", "delta", "chance"), [(0.049, -0.1, False), (0.05, -0.1, True), (0.049, 0.1, False)])
def test_a_significant_cell_is_not_called_chance(q: float, delta: float, chance: bool, tmp_path: Path) -> None:
    project = make_project(tmp_path, rows_of())
    say(project, "nearly", wrong={1})
    report = accuracy(project, by="subtype")
    least = weakest(report)
    assert least is not None
    assert least.may_be_chance
    rows = [replace(row, q=q, delta=delta) if row is least.row else row for row in report.rows]
    assert conclusion(replace(report, rows=rows))[-1].endswith("(not significant).") is chance


def test_marks_in_the_table_agree_with_the_sentence(tmp_path: Path) -> None:
    """One of sixty sources with twelve of twenty items right: too little for an interval so wide, enough for a test."""
    rows = [
        row | {"gold": True, "source": f"s{number // 20}", "question_id": f"q{number}"}
        for number, row in enumerate(numbered(20 * 60))
    ]
    project = make_project(tmp_path, rows)
    items = range(1, 20 * 60 + 1)
    say(project, "some", wrong={number for number in items if number <= 8 or number % 20 == 0} - {20}, of=items)
    report = accuracy(project, by="source")
    found = weakest(report, "some")
    assert found is not None
    assert found.row.is_significant
    assert not found.may_be_chance
    assert "not significant" not in " ".join(conclusion(report))


@pytest.mark.parametrize(("sources", "sure"), [(8, True), (150, False)])
def test_the_least_accurate_of_many_cells_is_weak_by_chance_sooner_than_of_few(
    sources: int, sure: bool, tmp_path: Path
) -> None:
    """Twelve of twenty items right, nineteen elsewhere: among many cells one is as low by chance."""
    rows = [
        row | {"gold": True, "source": f"s{number // 20}", "question_id": f"q{number}"}
        for number, row in enumerate(numbered(20 * sources))
    ]
    project = make_project(tmp_path, rows)
    items = range(1, 20 * sources + 1)
    wrong = {number for number in items if number <= 8 or number % 20 == 0} - {20}
    say(project, "some", wrong=wrong, of=items)
    report = accuracy(project, by="source", seed=None)
    found = weakest(replace(report, rows=[replace(row, q=None) for row in report.rows]), "some")
    assert found is not None
    assert found.row.group == "s0"
    assert found.may_be_chance is not sure


def test_a_verifier_below_a_constant_baseline_is_named(tmp_path: Path) -> None:
    project = make_project(tmp_path, rows_of())
    say(project, "contrary", wrong=set(range(1, 121)))
    first, behind, *_ = conclusion(accuracy(project, by="subtype"))
    assert first.startswith("contrary is right on 0.0 % [")
    assert behind == "always-incorrect is right more often than contrary: on 62.5 %."
    say(project, "perfect", wrong=set())
    assert behind in conclusion(accuracy(project, by="subtype")), "also of one that is not the best"


def test_a_single_verifier_without_errors_has_no_weak_cell(tmp_path: Path) -> None:
    project = make_project(tmp_path, rows_of())
    say(project, "perfect", wrong=set())
    (only,) = conclusion(accuracy(project, by="subtype"))
    assert "weakest" not in only
    assert "↓" not in plain_table(replace(overview(accuracy(project, by="type")), notes=()))


def test_an_insignificant_lead_over_a_baseline_is_reported_as_such(project: Project) -> None:
    # Two items more than the 75 of always-incorrect.
    wrong = [number for number, row in enumerate(rows_of(), 1) if row["gold"]][:43]
    say(project, "barely", wrong=set(wrong))
    (said, *_) = accuracy(project, verifiers=("barely",)).notes
    assert "1 of 1 verifier is right more often, none significantly" in said


def test_a_baseline_is_named_with_its_share_of_compared_items(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"completion_id": f"c{n}", "gold": n < 20} for n in range(30)])
    say(project, "like it", wrong=set(range(21, 30)), of=range(1, 30))
    (said, *_) = accuracy(project).notes
    assert said == "always-correct is right on 69.0 % of the 29 items of both; like it is not right more often."
    say(project, "worse", wrong=set(range(2, 31)), of=range(1, 31))
    (said, *_) = accuracy(project).notes
    assert said == "always-correct is right on 66.7 % of items; no verifier is right more often on the items of both."


@pytest.mark.parametrize(("wrong", "named"), [(6, False), (8, True)])
def test_a_cell_that_is_significant_only_unadjusted_is_not_named(project: Project, wrong: int, named: bool) -> None:
    low = [number for number, row in enumerate(rows_of(), 1) if row["source"] == "s0"][:wrong]
    say(project, "low-on-s0", wrong=set(low))
    report = accuracy(project, by="source", verifiers=("low-on-s0", "good"))
    cell = of(report, "low-on-s0", "s0")
    assert (cell.p or 1) < 0.05
    assert ((cell.q or 0) < 0.05) == named
    assert any("low-on-s0 on s0" in said for said in report.notes) == named


def test_notes_name_the_significant_cells(project: Project) -> None:
    said = " ".join(accuracy(project, by="subtype").notes)
    assert "Significant at q < 0.05, over" in said
    assert "below (weak-on-A1 on A1)" in said
    assert "none has q" in " ".join(accuracy(project, by="domain", verifiers=("good",)).notes)


def test_missing_gold_is_noted(tmp_path: Path) -> None:
    report = accuracy(make_project(tmp_path, [{"completion_id": "c"}]), by="type")
    assert report.notes == ("None of these items has gold by “final”: there are no metrics.",)
    assert {row.verifier for row in report.rows} == set(BASELINES)
    (tmp_path / "empty").mkdir()
    nothing = accuracy(make_project(tmp_path / "empty", []), by="type")
    assert nothing.notes == ("There are no such items.",)
    assert all((row.accuracy, row.delta, row.p) == (None, None, None) for row in report.rows)


def test_label_noise_is_reported_for_annotated_gold(tmp_path: Path) -> None:
    import json

    from workbench.labelling.labels import import_labels

    project = make_project(tmp_path, rows_of())
    say(project, "good", wrong=set())
    assert not any("the annotators' gold" in said for said in accuracy(project).notes)
    lines = [
        {"completion_id": f"c{number}", "annotator": person, "verdict": "correct" if correct else "incorrect"}
        for number, row in enumerate(rows_of())
        for person, correct in (("ann", row["gold"]), ("bob", row["gold"] ^ (number % 10 == 0)))
    ]
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_labels(project, file)
    (said,) = (said for said in accuracy(project).notes if "the annotators' gold" in said)
    # They agree on 90 %: each is right on 94.7 %, and .31 % of what they agree on is wrong.
    assert said.startswith("Estimated from agreement, a single annotator is right on 94.7 %")
    assert " 0.31 % is then wrong. " in said
    assert "So high: good." in said
    assert not any("the annotators' gold" in said for said in accuracy(project, gold="imported").notes)


def test_another_prevalence_keeps_the_error_rates(project: Project) -> None:
    report = accuracy(project, prevalence=0.25, accept_rate=0.4)
    transfer = {row.verifier: row for row in report.transfer}
    assert list(transfer) == ["weak-on-A1", "good", *BASELINES]
    row = of(report, "weak-on-A1")
    tpr, tnr = 1 - (row.fnr or 0), 1 - (row.fpr or 0)
    found = transfer["weak-on-A1"]
    assert found.accuracy == pytest.approx(0.25 * tpr + 0.75 * tnr)
    assert found.true_rate == pytest.approx((0.4 + tnr - 1) / (tpr + tnr - 1))
    assert found.ci is not None
    assert found.ci[0] < (found.accuracy or 0) < found.ci[1]
    constant = transfer["always-incorrect"]
    assert (constant.accuracy, constant.ci, constant.true_rate) == (0.75, None, None)


def test_rankings_exclude_baselines_that_know_the_gold(project: Project) -> None:
    report = accuracy(project, prevalence=0.5)
    assert (report.best_at[0].low, report.best_at[-1].high) == (0, 1)
    assert "good" in {one.verifier for one in report.best_at}
    assert {one.verifier for one in report.best_at} <= {"good", "always-incorrect", "always-correct"}
    assert "Highest expected accuracy" in report.notes[-1]
    assert (accuracy(project).transfer, accuracy(project).best_at) == ([], [])
    assert accuracy(project, accept_rate=0.5).best_at == []


def test_a_baseline_that_knows_the_gold_never_leads(tmp_path: Path) -> None:
    rows = [
        {"completion_id": f"c{place}", "subtype": f"{kind}1", "gold": kind == "A"} for place, kind in enumerate("AB")
    ]
    report = accuracy(make_project(tmp_path, rows), prevalence=0.5)
    assert of(report, "majority-by-type").accuracy == 1
    assert [one.verifier for one in report.best_at] == ["always-incorrect", "always-correct"]


@pytest.mark.parametrize("wrong", [{"prevalence": 1.5}, {"prevalence": float("nan")}, {"accept_rate": -0.1}])
def test_an_invalid_share_is_rejected(project: Project, wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="share from 0 to 1"):
        accuracy(project, **wrong)  # type: ignore[arg-type]


def test_every_verifier_row_has_intervals_of_both_classes(project: Project) -> None:
    report = accuracy(project, by="type")
    row = of(report, "weak-on-A1")
    assert row.mcc_ci is not None
    assert row.balanced_accuracy_ci is not None
    assert row.mcc_ci[0] < (row.mcc or 0) < row.mcc_ci[1]
    assert row.balanced_accuracy_ci[0] < (row.balanced_accuracy or 0) < row.balanced_accuracy_ci[1]
    assert all(row.mcc_ci is row.balanced_accuracy_ci is None for row in report.rows if row.kind == "baseline")
    lacking = [row for row in report.rows if row.balanced_accuracy is None]
    assert all(row.mcc_ci is row.balanced_accuracy_ci is None for row in lacking)


def test_balanced_accuracy_at_a_prevalence_of_one_half_is_accuracy_there(project: Project) -> None:
    report = accuracy(project, prevalence=0.5)
    row, elsewhere = of(report, "weak-on-A1"), next(one for one in report.transfer if one.verifier == "weak-on-A1")
    assert elsewhere.accuracy == pytest.approx(row.balanced_accuracy)
    assert row.balanced_accuracy_ci == pytest.approx(elsewhere.ci)


def test_the_same_seed_gives_the_same_p_values(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.statistics import permutations

    monkeypatch.setattr(permutations, "MOST_WAYS", 1)
    once, again, other = (accuracy(project, by="subtype", seed=seed) for seed in (3, 3, 4))
    assert once == again
    assert [row.p for row in once.rows] != [row.p for row in other.rows]
    assert once.tests is not None
    assert (once.tests.seed, once.tests.drawn, once.tests.approximate) == (3, once.tests.hypotheses, 0)
    at_once = accuracy(project, by="subtype", seed=None)
    assert at_once.tests is not None
    assert (at_once.tests.seed, at_once.tests.approximate) == (None, once.tests.hypotheses)
    assert [row.accuracy for row in at_once.rows] == [row.accuracy for row in once.rows]


def test_q_values_are_adjusted_over_tables_read_together(project: Project) -> None:
    from workbench.measuring.entries import combine_q_values

    say(project, "weak", wrong={item for item in range(1, 121) if (item - 1) // 2 % 4 == 2 or item % 9 == 0})
    tables = {by: accuracy(project, by=by) for by in ("type", "subtype", "source", "domain")}
    together = combine_q_values(tables)
    tested = [[row.q for row in one.rows if row.q is not None] for one in tables.values() if one.tests is not None]
    shown = [[row.q for row in one.rows if row.q is not None] for one in together.values() if one.tests is not None]
    assert shown == across(tested)
    assert shown != tested
    for by, report in together.items():
        own = {(row.verifier, row.groups): row.q for row in tables[by].rows}
        for row in report.rows:
            before = own[row.verifier, row.groups]
            assert (row.q is None) == (before is None)
            assert row.q is None or before is None or row.q >= before - 1e-12
        said = [note for note in report.notes if "test" in note and "of a group against" in note]
        assert len(said) == 1
        clear = sum(row.q is not None and row.q < 0.05 for row in report.rows)
        assert ("none has q < 0.05: no group differs significantly." in said[0]) == (clear == 0)
    assert combine_q_values({"type": tables["type"]}) == {"type": tables["type"]}


def test_label_noise_needs_annotated_gold(project: Project) -> None:
    with pytest.raises(UsageError, match="The error rate of imported labels is unknown: 120 items"):
        accuracy(project, label_noise=True)
    with pytest.raises(UsageError, match="The error rate of annotators is unknown"):
        accuracy(project, gold="people", label_noise=True)


def test_label_noise_is_shown_next_to_the_plain_metrics(tmp_path: Path) -> None:
    from workbench.labelling.agreement import measuring
    from workbench.statistics.agreement.ceiling import ceiling

    project = make_project(tmp_path, rows_of())
    said = [(item, Verdict(outcome=OutcomeCode(item % 7 > 1).outcome)) for item in range(1, 121)]
    add_complete_run(project, "v", said, kind="exact")
    report = accuracy(project)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(measuring, "ceilings", lambda _: [ceiling("checks", 0.9, (0.85, 0.95))])
        patched.setattr("workbench.measuring.accuracy._ceilings", lambda *_: measuring.ceilings(project))
        patched.setattr(Columns, "gold_counts", lambda *_: {"agreed": 120, "adjudicated": 0, "imported": 0, "none": 0})
        found = accuracy(project, label_noise=True)
    (row,) = found.label_noise
    plain = of(report, "v")
    assert (row.measured, row.measured_ci) == (plain.accuracy, plain.ci)
    assert row.wrong == pytest.approx(0.028)
    assert row.accuracy == pytest.approx((row.measured - 0.028) / (1 - 0.056))
    assert row.ci is not None
    assert row.measured_ci is not None
    assert row.ci[1] - row.ci[0] > row.measured_ci[1] - row.measured_ci[0]
    assert "Accuracy against error-free labels." in accuracy_as(found, TableForm())


def test_a_lead_over_a_baseline_is_adjusted_for_the_verifiers(tmp_path: Path) -> None:
    """Right on 15 where the constant errs and wrong on 5 where it is right, p is .041: of two so, by Holm, .083."""
    project = make_project(
        tmp_path, [{"question_id": f"q{n}", "completion_id": f"c{n}", "gold": n < 20} for n in range(40)]
    )
    say(project, "first", wrong={*range(1, 6), *range(21, 26)}, of=range(1, 41))
    (alone,) = (one for one in accuracy(project).notes if "right more often" in one)
    assert "1 of 1 verifier is right more often, 1 significantly (first)" in alone
    say(project, "second", wrong={*range(6, 11), *range(26, 31)}, of=range(1, 41))
    (both,) = (one for one in accuracy(project).notes if "right more often" in one)
    assert "2 of 2 verifiers are right more often, none significantly" in both
