"""Comparisons of two verifiers from the database: counted items, protocols and sentences."""

from __future__ import annotations

import random
from pathlib import Path
from typing import get_args

import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from tests.helpers import make_project, numbered
from tests.tui.stage import HOSTILE, add_run
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode, Protocol3
from workbench.measuring.comparing import comparable, compare
from workbench.measuring.comparing_tables import compare_text, verdict
from workbench.statistics import compare as paired
from workbench.statistics.records.comparison import Quadrant

ITEMS = 300


@pytest.fixture
def project(tmp_path: Path) -> Project:
    draw = random.Random(5)
    rows = [
        {"question_id": f"q{number // 3}", "completion_id": f"c{number}", "gold": draw.choice((True, False, None))}
        for number in range(ITEMS)
    ]
    project = make_project(tmp_path, rows)
    add_run(
        project, "some", {item: OutcomeCode(draw.choice((0, 0, 1, 1, 2, 3))).outcome for item in range(1, ITEMS + 1, 2)}
    )
    add_run(project, "most", {item: OutcomeCode(draw.choice((0, 1, 2))).outcome for item in range(30, ITEMS)})
    return project


def right_in(project: Project, verifier: str, protocol: Protocol3) -> dict[int, bool]:
    """Item -> whether the verifier is right, by a plain query and the words of the definition."""
    rows = project.database.reader().execute(
        "SELECT c.id, c.imported_gold, v.outcome FROM verdicts v JOIN runs r ON r.id = v.run_id "
        "JOIN verifiers f ON f.id = r.verifier_id JOIN completions c ON c.id = v.completion_id "
        "WHERE f.name = ? AND c.imported_gold IS NOT NULL",
        (verifier,),
    )
    found = {}
    for item, gold, outcome in rows:
        if outcome < 2:
            found[item] = outcome == gold
        elif protocol != "decided":
            found[item] = protocol == "forced" and gold == 0
    return found


@pytest.mark.parametrize("protocol", get_args(Protocol3))
def test_the_table_counts_the_items_both_are_counted_on(project: Project, protocol: Protocol3) -> None:
    a, b = right_in(project, "some", protocol), right_in(project, "most", protocol)
    both = sorted(set(a) & set(b))
    table = [[sum(a[i] is x and b[i] is y for i in both) for y in (True, False)] for x in (True, False)]
    report = compare(project, "some", "most", protocol=protocol)
    assert [[report.both_right, report.only_a], [report.only_b, report.both_wrong]] == table
    assert report.n == len(both)
    assert report.unpaired == len(set(a) ^ set(b))
    assert report.questions == len({(item - 1) // 3 for item in both})
    assert paired.mcnemar(report.only_a, report.only_b) == pytest.approx(mcnemar(table, exact=True).pvalue, abs=1e-12)
    assert report.deff > 1
    assert report.mcnemar_p is None, "it takes items as independent, and three are of a question here"
    assert report.difference == pytest.approx(report.accuracy_a - report.accuracy_b)
    assert report.accuracy_a == pytest.approx(sum(a[item] for item in both) / len(both))


def test_examples_are_items_of_their_kind_in_the_order_of_import(project: Project) -> None:
    a, b = right_in(project, "some", "strict"), right_in(project, "most", "strict")
    report = compare(project, "some", "most", examples=5)
    kinds: dict[Quadrant, tuple[bool, bool]] = {
        "both_right": (True, True),
        "only_a": (True, False),
        "only_b": (False, True),
        "both_wrong": (False, False),
    }
    for kind, rights in kinds.items():
        expected = [item for item in sorted(set(a) & set(b)) if (a[item], b[item]) == rights]
        assert len(expected) == getattr(report, kind) > 5
        found = report.examples[kind]
        assert [example.completion_id for example in found] == [f"c{item - 1}" for item in expected[:5]]
        assert [example.question_id for example in found] == [f"q{(item - 1) // 3}" for item in expected[:5]]
    assert compare(project, "some", "most").examples == {kind: [] for kind in kinds}


def test_the_baseline_needs_no_run(project: Project) -> None:
    report = compare(project, "most", "always-incorrect")
    assert (report.run_a is None, report.run_b is None) == (False, True)
    assert report.n == len(right_in(project, "most", "strict"))
    assert compare(project, "always-incorrect", "most").difference == -report.difference


def test_an_incomplete_run_is_not_compared(project: Project) -> None:
    add_run(project, "begun", {1: Outcome.CORRECT}, complete=False)
    with pytest.raises(UsageError, match="No complete run of 'begun'"):
        compare(project, "begun", "some")


def test_incomparable_verifiers_are_rejected(project: Project) -> None:
    add_run(project, "elsewhere", {2: Outcome.CORRECT})
    with pytest.raises(UsageError, match="itself"):
        compare(project, "some", "some")
    with pytest.raises(UsageError, match="no common item that counts") as refusal:
        compare(project, "some", "elsewhere")
    assert "strict" in (refusal.value.hint or "")
    with pytest.raises(UsageError, match="no common item that counts"):
        compare(project, "some", "most", gold="people")
    with pytest.raises(UsageError, match="no common item that counts"):
        compare(project, "some", "most", selection=Selection((parse_condition("type=A"),)))


def compared(folder: Path, a: list[int], b: list[int]) -> str:
    """Return the sentence about two verifiers with these outcomes on incorrect completions."""
    project = make_project(folder, [{**row, "gold": False, "question_id": str(place)} for place, row in rows(len(a))])
    for name, outcomes in (("first", a), ("second", b)):
        add_run(project, name, {item: OutcomeCode(outcome).outcome for item, outcome in enumerate(outcomes, 1)})
    return verdict(compare(project, "first", "second"))


def rows(count: int) -> list[tuple[int, dict[str, object]]]:
    return list(enumerate(numbered(count)))


def test_the_sentence_matches_the_metrics(tmp_path: Path) -> None:
    places = iter(range(10))

    def sentence(a: list[int], b: list[int]) -> str:
        folder = tmp_path / str(next(places))
        folder.mkdir()
        return compared(folder, a, b)

    assert sentence([0, 1] * 5, [0, 1] * 5) == "first and second are right and wrong on exactly the same items."
    assert sentence([0] * 20, [0] * 5 + [1] * 15) == (
        "first is right more often than second, by 75.0 points; the difference is significant."
    )
    assert sentence([1] * 20, [0] * 20).startswith("second is right more often than first, by 100.0 points")
    assert "are 10.0 points apart: no significant difference on these items." in sentence([0] * 20, [0] * 18 + [1] * 2)
    assert "are 20.0 points apart: no significant difference on these items." in sentence([0] * 20, [0] * 16 + [1] * 4)
    assert "are 25.0 points apart, a close call: test and interval disagree on significance." in sentence(
        [0] * 20, [0] * 15 + [1] * 5
    )
    assert sentence([0] * 20, [0] * 14 + [1] * 6).startswith("first is right more often than second, by 30.0 points")
    assert "are right equally often: no significant difference on these items." in sentence([0, 1] * 9, [1, 0] * 9)
    assert "too few" in sentence([0, 1], [1, 0])


def test_a_class_of_one_question_has_no_interval_and_a_note(tmp_path: Path) -> None:
    project = make_project(
        tmp_path, [{**row, "gold": place == 0, "question_id": str(place)} for place, row in rows(12)]
    )
    for name in ("first", "second"):
        add_run(project, name, {item: OutcomeCode(item % 2).outcome for item in range(1, 13)})
    report = compare(project, "first", "second")
    assert [one.ci is None for one in report.metrics] == [False, True, True]
    assert "No interval, since a class of gold has too few questions to say: balanced accuracy, MCC." in (
        compare_text(report)
    )


def test_names_are_escaped(tmp_path: Path) -> None:
    hostile = HOSTILE[2] + "\n"
    project = make_project(tmp_path, [{"gold": True, "completion_id": hostile, "question_id": hostile}])
    add_run(project, hostile, {1: Outcome.CORRECT})
    text = compare_text(compare(project, hostile, "always-incorrect", examples=1))
    assert "\x1b" not in text
    assert "␛[31m␊" in text


def test_completed_runs_and_the_baseline_can_be_compared(project: Project, tmp_path: Path) -> None:
    add_run(project, "halfway", {1: Outcome.CORRECT}, complete=False)
    assert comparable(project) == ("some", "most", "always-incorrect")
    (tmp_path / "empty").mkdir()
    assert comparable(make_project(tmp_path / "empty", [{"gold": True}])) == ()


@pytest.mark.parametrize("protocol", get_args(Protocol3))
def test_undecided_verdicts_are_counted_in_every_protocol(project: Project, protocol: Protocol3) -> None:
    rows = project.database.reader().execute(
        "SELECT f.name, v.completion_id, v.outcome FROM verdicts v JOIN runs r ON r.id = v.run_id "
        "JOIN verifiers f ON f.id = r.verifier_id JOIN completions c ON c.id = v.completion_id "
        "WHERE c.imported_gold IS NOT NULL"
    )
    said: dict[str, dict[int, int]] = {"some": {}, "most": {}}
    for name, item, outcome in rows:
        said[name][item] = outcome
    both = set(said["some"]) & set(said["most"])
    report = compare(project, "some", "most", protocol=protocol)
    expected = [sum(said[name][item] >= OutcomeCode.ABSTAIN for item in both) for name in ("some", "most")]
    assert [report.undecided_a, report.undecided_b] == expected
    assert min(expected) > 0


def test_groups_compare_the_verifiers_on_their_items(project: Project, tmp_path: Path) -> None:
    (tmp_path / "typed").mkdir()
    rows = [
        {
            "question_id": f"q{number // 3}",
            "subtype": ("A1", "A2", "B5", None)[number // 3 % 4],
            "gold": (False, False, None)[number % 5 % 3],
        }
        for number in range(120)
    ]
    typed = make_project(tmp_path / "typed", rows)
    draw = random.Random(2)
    for name, share in (("one", 0.2), ("other", 0.6)):
        # Completions of one question get equal verdicts.
        alike = [int(draw.random() < share) for _ in range(40)]
        add_run(typed, name, {item: OutcomeCode(alike[(item - 1) // 3]).outcome for item in range(1, 121)})
    for by, values in (("type", ["A", "B", "untyped"]), ("subtype", ["A1", "A2", "B5", "untyped"])):
        report = compare(typed, "one", "other", by=by)
        assert [group.group for group in report.groups] == values
        assert sum(group.n for group in report.groups) == report.n
        for group in report.groups:
            alone = compare(typed, "one", "other", selection=Selection((parse_condition(f"{by}={group.group}"),)))
            for name in ("n", "both_right", "only_a", "only_b", "both_wrong", "questions"):
                assert getattr(group, name) == getattr(alone, name)
            assert group.ci == pytest.approx(alone.ci)
            assert (group.permutation_p, group.mcnemar_p) == pytest.approx((alone.permutation_p, alone.mcnemar_p))
        chances = [group.permutation_p for group in report.groups]
        assert [group.q for group in report.groups] == pytest.approx(multipletests(chances, method="fdr_bh")[1])
        assert chances != pytest.approx([group.mcnemar_p for group in report.groups])
    assert compare(project, "some", "most").groups == []


def test_invalid_groups_are_rejected(project: Project) -> None:
    with pytest.raises(UsageError, match="colour"):
        compare(project, "some", "most", by="colour")
    with pytest.raises(UsageError, match="has its own reasons"):
        compare(project, "some", "most", by="type,reason")


def test_every_difference_has_a_simultaneous_interval(project: Project) -> None:
    found = compare(project, "some", "most")
    assert found.metrics[0].ci == found.ci
    assert all(metric.ci and metric.ci[0] < (metric.difference or 0) < metric.ci[1] for metric in found.metrics)
    assert "bootstrap" not in compare_text(found)


def test_undefined_metrics_are_explained(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{**row, "gold": False} for row in numbered(12)])
    for name in ("first", "second"):
        add_run(project, name, {item: OutcomeCode(item % 2).outcome for item in range(1, 13)})
    report = compare(project, "first", "second")
    assert (report.mcnemar_p, report.permutation_p, report.detectable) == (1.0, 1.0, None)
    text = compare_text(report)
    assert "Undefined, since all gold is of one class: balanced accuracy, MCC." in text
    assert "right and wrong on exactly the same items" in text
    assert "nan" not in text
