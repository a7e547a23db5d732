"""Families of verifiers: every pair equals a single comparison, with adjusted p-values and groups."""

from __future__ import annotations

import random
import re
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from statsmodels.stats.multitest import multipletests

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, add_run
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode
from workbench.measuring.accuracy import accuracy
from workbench.measuring.comparing import compare
from workbench.measuring.family import family, family_text, members_table
from workbench.measuring.notes import add_selection_judges
from workbench.statistics.records.comparison import LEVEL, FamilyReport, PairedFigures

ITEMS = 240
ABILITIES = {"fair": 0.75, "good": 0.9, "alike": 0.89, "poor": 0.5}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    draw = random.Random(8)
    rows = [
        {"question_id": f"q{number // 3}", "gold": draw.random() < 0.4, "subtype": draw.choice(("A1", "B5"))}
        for number in range(ITEMS)
    ]
    project = make_project(tmp_path, rows)
    for name, ability in ABILITIES.items():
        outcomes = {}
        for item, row in enumerate(rows, 1):
            right = draw.random() < ability
            outcomes[item] = Outcome.ABSTAIN if draw.random() < 0.1 else OutcomeCode(int(row["gold"] is right)).outcome
        add_run(project, name, outcomes)
    return project


def test_every_pair_equals_the_single_comparison(project: Project) -> None:
    report = family(project, tuple(ABILITIES), protocol="decided")
    assert [{pair.a, pair.b} for pair in report.family] == [
        {a.verifier, b.verifier} for a, b in combinations(report.members, 2)
    ]
    assert len(report.family) == 6
    for pair in report.family:
        alone = compare(project, pair.a, pair.b, protocol="decided")
        assert all(getattr(pair, name) == getattr(alone, name) for name in PairedFigures.__struct_fields__)


def test_p_values_are_adjusted_over_the_whole_family(project: Project) -> None:
    report = family(project)
    chances = [pair.permutation_p for pair in report.family]
    assert len(chances) == 10
    assert [pair.holm_p for pair in report.family] == pytest.approx(multipletests(chances, method="holm")[1])
    assert [pair.q for pair in report.family] == pytest.approx(multipletests(chances, method="fdr_bh")[1])


def test_two_share_a_letter_exactly_if_they_do_not_differ(project: Project) -> None:
    report = family(project, tuple(ABILITIES))
    letters = {one.verifier: set(one.letters) for one in report.members}
    for pair in report.family:
        assert bool(letters[pair.a] & letters[pair.b]) is (pair.holm_p >= LEVEL)
    assert report.groups is not None
    assert all(
        any({pair.a, pair.b} <= set(group) for group in report.groups) for pair in report.family if pair.holm_p >= LEVEL
    )
    assert letters["good"] & letters["alike"]
    assert not letters["good"] & letters["poor"]
    text = " ".join(family_text(report).split())
    assert re.search(r"Not distinguishable: [^.]*\balike\b[^.]*\. Any two not grouped together here differ\.", text)


def test_members_are_sorted_by_accuracy_as_in_the_accuracy_table(project: Project) -> None:
    members = family(project, tuple(ABILITIES)).members
    table = {row.verifier: row for row in accuracy(project, verifiers=tuple(ABILITIES)).rows if row.group is None}
    assert [one.accuracy for one in members] == sorted((one.accuracy for one in members), reverse=True)  # type: ignore[type-var]
    for one in members:
        row = table[one.verifier]
        assert (one.n, one.questions, one.accuracy, one.ci) == (row.n, row.questions, row.accuracy, row.ci)


def test_against_one_only_its_pairs_are_tested(project: Project) -> None:
    report = family(project, ("good", "poor"), against="fair")
    assert [(pair.a, pair.b) for pair in report.family] == [("good", "fair"), ("poor", "fair")]
    assert (report.groups, report.against, {one.letters for one in report.members}) == (None, "fair", {""})
    chances = [pair.permutation_p for pair in report.family]
    assert [pair.holm_p for pair in report.family] == pytest.approx(multipletests(chances, method="holm")[1])
    all_pairs = {(pair.a, pair.b): pair for pair in family(project, ("good", "poor", "fair")).family}
    assert report.family[0].holm_p <= all_pairs["good", "fair"].holm_p
    text = family_text(report)
    assert "Against fair, better: good; worse: poor." in text
    assert "letters" not in text


def test_a_selection_narrows_every_pair(project: Project) -> None:
    selection = Selection((parse_condition("type=A"),))
    report = family(project, ("good", "poor"), selection=selection)
    assert report.family[0].n == compare(project, "good", "poor", selection=selection).n < ITEMS


def test_verifiers_without_common_items_are_reported_and_grouped(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": number % 2 == 0} for number in range(40)])
    for name, items in (("first", range(1, 21)), ("second", range(21, 41)), ("whole", range(1, 41))):
        add_run(project, name, dict.fromkeys(items, Outcome.INCORRECT))
    report = family(project, ("first", "second", "whole"))
    assert report.apart == [("first", "second")]
    assert [(pair.n, pair.holm_p) for pair in report.family] == [(20, 1.0), (20, 1.0)]
    assert (report.common, report.groups) == (0, [["first", "second", "whole"]])
    text = family_text(report)
    assert "first and second have no common item that counts." in text
    assert "Items that count for every verifier: 0." in text
    assert "No two of them are distinguishable" in text


def test_incomparable_verifiers_are_rejected(project: Project, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no two verifiers"):
        family(make_project(tmp_path / "empty", [{"gold": True}]))
    with pytest.raises(UsageError, match="no two verifiers"):
        family(project, ("good", "good"))
    with pytest.raises(UsageError, match="No complete run of 'nobody'"):
        family(project, ("good", "fair"), against="nobody")
    with pytest.raises(UsageError, match="No two of these verifiers"):
        family(project, gold="people")


def test_no_metric_is_nan(project: Project) -> None:
    document = msgspec.json.encode(family(project))
    assert msgspec.json.decode(document, type=FamilyReport).members == family(project).members
    assert b"NaN" not in document
    assert "nan" not in family_text(family(project))


def test_a_difference_significant_alone_may_not_be_among_three(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": False} for _ in range(40)])
    for name, wrong in (("best", 0), ("as-good", 1), ("worse", 6)):
        add_run(project, name, {item: OutcomeCode(int(item <= wrong)).outcome for item in range(1, 41)})
    report = family(project, ("best", "as-good", "worse"))
    pair = next(pair for pair in report.family if {pair.a, pair.b} == {"best", "worse"})
    assert pair.permutation_p == pytest.approx(2 / 2**6)
    assert pair.holm_p == pytest.approx(3 * 2 / 2**6)
    assert report.groups == [["best", "as-good", "worse"]]


def test_the_text_of_a_family_in_which_all_differ(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": False} for _ in range(60)])
    for place, name in enumerate(("none", "half", "all")):
        add_run(project, name, {item: OutcomeCode(int(item <= 30 * place)).outcome for item in range(1, 61)})
    text = family_text(family(project, ("none", "half", "all")))
    assert "All pairs of them differ." in text
    assert [line.split()[2:] for line in text.splitlines() if line.startswith(("1 ", "2 ", "3 "))][3:] == [
        ["·", "+0.500*", "+1.000*"],
        ["-0.500*", "·", "+0.500*"],
        ["-1.000*", "-0.500*", "·"],
    ]
    assert "better" in text


def test_names_are_escaped(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": True}] * 2)
    for name in HOSTILE:
        add_run(project, name, dict.fromkeys((1, 2), Outcome.CORRECT))
    text = family_text(family(project))
    assert "\x1b" not in text
    assert "␛[31m" in text


def test_equal_verifiers_have_no_less_than_sign(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": number % 2 == 0} for number in range(6)])
    for name in ("one", "two"):
        add_run(project, name, {number: OutcomeCode(number % 2).outcome for number in range(1, 7)})
    assert "-0.000" not in family_text(family(project, ("one", "two"))).split("Pairs")[0]


def test_a_judge_that_chose_the_items_is_marked(project: Project) -> None:
    add_selection_judges(project, "sample", ("good",))
    report = family(project, ("poor", "good", "alike"))
    assert {row.cells[1].text for row in members_table(report).rows} == {"poor", "good †", "alike"}
