"""Joint errors from the database: counted items, order of verifiers, and messages."""

from __future__ import annotations

import random
from pathlib import Path
from typing import get_args

import pytest
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, add_run
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode, Protocol3
from workbench.measuring.comparing import joint_errors
from workbench.measuring.family import errors_text
from workbench.statistics.records.comparison import JudgePair

ITEMS = 150


@pytest.fixture
def project(tmp_path: Path) -> Project:
    draw = random.Random(3)
    rows = [
        {
            "question_id": f"q{number // 2}",
            "gold": (True, False, False, None)[number % 4],
            "subtype": draw.choice(("A1", "B5")),
        }
        for number in range(ITEMS)
    ]
    project = make_project(tmp_path, rows)
    hard = [draw.random() < 0.4 for _ in rows]
    for name in ("first", "second", "third"):
        said = {}
        for item, (row, is_hard) in enumerate(zip(rows, hard, strict=True), 1):
            right = draw.random() < (0.4 if is_hard else 0.95)
            said[item] = OutcomeCode(int(bool(row["gold"]) is right)).outcome
        add_run(project, name, said)
    return project


def verdicts(project: Project, verifier: str) -> dict[int, tuple[int, int | None]]:
    """Item -> the verdict and gold, by a plain query."""
    rows = project.database.reader().execute(
        "SELECT c.id, v.outcome, c.imported_gold FROM verdicts v JOIN runs r ON r.id = v.run_id "
        "JOIN verifiers f ON f.id = r.verifier_id JOIN completions c ON c.id = v.completion_id WHERE f.name = ?",
        (verifier,),
    )
    return {item: (outcome, gold) for item, outcome, gold in rows}


def found_of(project: Project, a: str, b: str) -> JudgePair:
    return joint_errors(project, (a, b)).errors[0]


def test_metrics_are_counted_from_the_database(project: Project) -> None:
    a, b = verdicts(project, "first"), verdicts(project, "second")
    pair = found_of(project, "first", "second")
    said_a, said_b = ([found[item][0] for item in sorted(a)] for found in (a, b))
    assert pair.n == ITEMS
    assert pair.kappa == pytest.approx(cohen_kappa_score(said_a, said_b))
    with_gold = [item for item in sorted(a) if a[item][1] is not None]
    wrong_a, wrong_b = ([found[item][0] != found[item][1] for item in with_gold] for found in (a, b))
    assert pair.errors.n == len(with_gold) < ITEMS
    assert pair.errors.phi == pytest.approx(matthews_corrcoef(wrong_a, wrong_b))
    assert pair.errors.both_wrong == sum(x and y for x, y in zip(wrong_a, wrong_b, strict=True))
    assert pair.errors.both_wrong > (pair.errors.expected or 0)
    assert pair.on_correct.n + pair.on_incorrect.n == pair.errors.n


def test_undecided_verdicts_count_by_the_protocol(project: Project) -> None:
    add_run(project, "silent", dict.fromkeys(range(1, ITEMS + 1), Outcome.ABSTAIN))
    strict, forced, decided = (
        joint_errors(project, ("first", "silent"), protocol=protocol).errors[0] for protocol in get_args(Protocol3)
    )
    always = found_of(project, "first", "always-incorrect")
    assert (forced.agreement, forced.errors.wrong_b) == (always.agreement, always.errors.wrong_b)
    assert (strict.agreement, strict.errors.wrong_b) == (0.0, strict.errors.n)
    assert (decided.n, decided.agreement) == (0, None)


def test_names_have_the_order_of_the_pairs(project: Project) -> None:
    report = joint_errors(project, ("third", "first", "second"))
    assert list(report.verifiers) == ["third", "first", "second"]
    assert [(pair.a, pair.b) for pair in report.errors] == [
        ("third", "first"),
        ("third", "second"),
        ("first", "second"),
    ]
    assert list(joint_errors(project).verifiers) == ["first", "second", "third"]


def test_a_constant_verifier_has_no_agreement_beyond_chance(project: Project) -> None:
    pair = found_of(project, "first", "always-incorrect")
    assert pair.kappa == pytest.approx(0)
    assert (pair.on_correct.phi, pair.on_incorrect.phi) == (None, None)
    assert pair.expected_given_gold == pytest.approx(pair.errors.both_wrong)


def test_intervals_contain_their_estimates(project: Project) -> None:
    for pair in joint_errors(project).errors:
        for value, ends in ((pair.kappa, pair.kappa_ci), (pair.errors.phi, pair.errors.phi_ci)):
            assert ends is not None
            assert ends[0] < (value or 0) < ends[1]


def test_a_selection_narrows_the_items(project: Project) -> None:
    report = joint_errors(project, selection=Selection((parse_condition("type=A"),)))
    assert 0 < report.errors[0].n < ITEMS


def test_without_gold_only_agreement_is_reported(project: Project) -> None:
    report = joint_errors(project, gold="people")
    assert all(pair.kappa is not None and pair.errors.n == 0 for pair in report.errors)
    text = errors_text(report)
    assert "No two of them have a common item with gold." in text
    assert "nan" not in text


def test_fewer_than_two_verifiers_are_rejected(project: Project) -> None:
    with pytest.raises(UsageError, match="no two verifiers"):
        joint_errors(project, ("first",))
    with pytest.raises(UsageError, match="No complete run of 'nobody'"):
        joint_errors(project, ("first", "nobody"))


def test_names_are_escaped(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"gold": True}] * 2)
    for name in HOSTILE:
        add_run(project, name, dict.fromkeys((1, 2), Outcome.CORRECT))
    text = errors_text(joint_errors(project))
    assert "\x1b" not in text
    assert "kappa – where it is undefined, because both give the same verdict on all items." in text
