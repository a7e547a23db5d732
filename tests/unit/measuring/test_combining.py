"""Ensembles from the database: the rules by plain counting, honest comparisons, and words that fit."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, add_run
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode, Protocol3
from workbench.measuring.accuracy import accuracy
from workbench.measuring.combining import ensemble, ensemble_text
from workbench.measuring.comparing import compare
from workbench.statistics.records.combined import EnsembleReport, EnsembleRow

ITEMS = 240
WORTH = {"good": 0.85, "fair": 0.75, "poor": 0.65}

Said = Mapping[str, Mapping[int, Outcome]]


@pytest.fixture(scope="module")
def said() -> dict[str, dict[int, Outcome]]:
    """What each verifier says of each item, 1 in 12 times undecided."""
    draw = random.Random(3)
    return {
        name: {
            item: OutcomeCode(
                draw.choice((2, 3)) if draw.random() < 1 / 12 else int(draw.random() < worth) ^ (item % 2)
            ).outcome
            for item in range(1, ITEMS + 1)
        }
        for name, worth in WORTH.items()
    }


@pytest.fixture
def project(tmp_path: Path, said: Said) -> Project:
    rows = [
        {
            "question_id": f"q{(item - 1) // 3}",
            "completion_id": f"c{item}",
            "gold": item % 2 == 0,
            "type": "A" if item <= 90 else "B",
        }
        for item in range(1, ITEMS + 1)
    ]
    project = make_project(tmp_path, rows)
    for name, outcomes in said.items():
        add_run(project, name, outcomes)
    add_run(project, "always-incorrect", dict.fromkeys(range(1, ITEMS + 1), Outcome.INCORRECT))
    return project


def row(report: EnsembleReport, rule: str, group: str | None = None) -> EnsembleRow:
    (found,) = (one for one in report.rows if (one.rule, one.group) == (rule, group))
    return found


def right_of(said: Said, k: int, protocol: Protocol3) -> list[bool]:
    """Whether k of n is right on each item that counts, by the words of the definition."""
    found = []
    for item in range(1, ITEMS + 1):
        votes = [outcomes[item] for outcomes in said.values()]
        yes, no = votes.count(Outcome.CORRECT), votes.count(Outcome.INCORRECT)
        is_correct = item % 2 == 0
        if yes >= k:
            found.append(is_correct)
        elif no > len(votes) - k:
            found.append(not is_correct)
        elif protocol != "decided":
            found.append(protocol == "forced" and not is_correct)
    return found


@pytest.mark.parametrize("protocol", get_args(Protocol3))
def test_k_of_n_counts_acceptances(project: Project, said: Said, protocol: Protocol3) -> None:
    report = ensemble(project, protocol=protocol)
    for k in (1, 2, 3):
        expected = right_of(said, k, protocol)
        found = row(report, f"{k} of 3")
        assert (found.kind, found.k, found.n) == ("k_of_n", k, len(expected))
        assert found.accuracy == pytest.approx(sum(expected) / len(expected))


def test_members_stand_as_in_the_accuracy_table_and_the_floor_with_them(project: Project) -> None:
    report = ensemble(project, by="type")
    table = accuracy(project, by="type").rows
    for name in (*WORTH, "always-incorrect"):
        for group in (None, "A", "B"):
            (expected,) = (one for one in table if (one.verifier, one.group) == (name, group))
            found = row(report, name, group)
            assert (found.accuracy, found.ci, found.mcc, found.n) == (
                expected.accuracy,
                expected.ci,
                expected.mcc,
                expected.n,
            )
            assert found.against is None
    assert [member.verifier for member in report.members] == list(WORTH)


def test_an_ensemble_is_compared_with_the_best_single_verifier(project: Project) -> None:
    report = ensemble(project, weighted=True)
    assert {fold.best_single for fold in report.folds} == {"good"}
    best = row(report, "best single")
    assert best.accuracy == row(report, "good").accuracy
    for rule in ("1 of 3", "2 of 3", "3 of 3", "best k of 3", "weighted"):
        found = row(report, rule)
        assert found.accuracy is not None
        assert found.against is not None
        assert best.accuracy is not None
        assert found.against.difference == pytest.approx(found.accuracy - best.accuracy)
        assert found.q is not None
        assert found.q >= found.against.permutation_p
    assert row(report, "best k of 3").accuracy == row(report, "2 of 3").accuracy
    assert {fold.k for fold in report.folds} == {2}


def test_weights_are_worth_more_where_votes_are_not_worth_the_same(project: Project) -> None:
    report = ensemble(project, weighted=True, protocol="forced")
    swing = [(member.accepts or 0) - (member.refuses or 0) for member in report.members]
    assert swing[0] == max(swing) > 1.2 * min(swing) > 0
    assert all((member.refuses or 0) < 0 < (member.accepts or 0) for member in report.members)
    assert report.intercept is not None
    assert report.headline == "weighted"
    assert row(report, "weighted").accuracy == pytest.approx(row(report, "2 of 3").accuracy, abs=0.05)


def test_what_a_member_adds_is_the_ensemble_less_that_of_the_others(project: Project) -> None:
    report = ensemble(project, k=2)
    assert report.headline == "2 of 3"
    assert [one.rule for one in report.rows if one.kind in ("k_of_n", "chosen_k")] == ["2 of 3"]
    whole = row(report, "2 of 3").accuracy
    for member in report.members:
        others = tuple(name for name in WORTH if name != member.verifier)
        alone = row(ensemble(project, others, k=2), "2 of 2").accuracy
        assert member.without == pytest.approx(alone)
        assert member.help is not None
        assert whole is not None
        assert alone is not None
        assert member.help.difference == pytest.approx(whole - alone)
    helped = [member.help.difference for member in report.members if member.help]
    assert helped[0] == max(helped)


def test_with_k_of_all_the_others_need_all_of_them(project: Project) -> None:
    report = ensemble(project, k=3)
    alone = row(ensemble(project, ("good", "fair"), k=2), "2 of 2")
    assert report.members[-1].without == pytest.approx(alone.accuracy)


def test_folds_hold_every_question_once(project: Project) -> None:
    report = ensemble(project, folds=7)
    assert [fold.fold for fold in report.folds] == list(range(1, 8))
    assert sum(fold.questions for fold in report.folds) == report.questions == 80
    assert sum(fold.items for fold in report.folds) == report.items == ITEMS
    assert report.seed == 0


def test_items_that_lack_a_verdict_are_left_out(project: Project) -> None:
    add_run(project, "half", dict.fromkeys(range(1, 121), Outcome.CORRECT))
    report = ensemble(project, ("good", "half"))
    assert (report.items, report.unjudged) == (120, 120)
    report = ensemble(project, ("good", "half"), selection=Selection((parse_condition("type=A"),)))
    assert (report.items, report.unjudged) == (90, 0)


def test_a_baseline_votes_where_it_is_named(project: Project) -> None:
    report = ensemble(project, ("good", "always-incorrect"))
    assert [one.rule for one in report.rows if one.kind == "member"] == ["good", "always-incorrect"]
    assert row(report, "1 of 2").accuracy == row(report, "good").accuracy
    assert row(report, "2 of 2").accuracy == row(report, "always-incorrect").accuracy


@pytest.mark.parametrize(
    ("verifiers", "options", "words"),
    [
        (("good",), {}, "2 to 39 verifiers, not 1"),
        (("good", "fair"), {"k": 3}, "3 of 2"),
        (("good", "nobody"), {}, "No complete run of 'nobody'"),
        (("good", "fair"), {"folds": 81}, "81 folds"),
        (("good", "fair"), {"by": "colour"}, "colour"),
        (("good", "fair"), {"gold": "people"}, "5 folds"),
    ],
)
def test_what_can_not_be_is_refused(
    project: Project, verifiers: tuple[str, ...], options: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        ensemble(project, verifiers, **options)  # type: ignore[arg-type]


def test_the_sentence_is_that_of_a_comparison(project: Project) -> None:
    text = ensemble_text(ensemble(project, by="type", weighted=True))
    report = compare(project, "good", "fair")
    assert report.n == ITEMS
    assert "weighted" in text
    assert "the best single verifier" in text
    assert "Best single in 5 folds: good 5×." in text
    assert "A - Numeric Values" in text
    assert "seed 0" in text


def test_names_are_only_text(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": item % 2 == 0, "question_id": f"q{item}"} for item in range(8)])
    for name in (HOSTILE[2], "other"):
        add_run(project, name, {item: OutcomeCode(item % 2).outcome for item in range(1, 9)})
    text = ensemble_text(ensemble(project))
    assert "\x1b" not in text
    assert "␛[31m" in text
