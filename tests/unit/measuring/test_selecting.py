"""Best of n from the database, by score or verdict, on questions with enough completions."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.tui.stage import add_run
from tests.unit.measuring.scored_runs import add_complete_run, scores
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode
from workbench.measuring.selecting import best_of, best_of_text
from workbench.statistics.records.combined import BestOfReport, BestOfRow

# Question -> gold of its completions; one has no gold at all.
GOLD: dict[str, list[bool | None]] = {
    "q0": [True, False, False, True],
    "q1": [False, True, False, False, None],
    "q2": [True, True],
    "q3": [False],
    "q4": [None, None],
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = [
        {"question_id": question, "completion_id": f"{question}-{place}", "gold": gold, "type": "A"}
        for question, golds in GOLD.items()
        for place, gold in enumerate(golds)
    ]
    project = make_project(tmp_path, rows)
    count = len(rows)
    add_complete_run(project, "rm", scores({item: float(item % 3) for item in range(1, count + 1)}))
    add_run(project, "judge", {item: OutcomeCode(item % 4).outcome for item in range(1, count + 1)})
    return project


def row(report: BestOfReport, verifier: str, n: int) -> BestOfRow:
    (found,) = (one for one in report.rows if (one.verifier, one.n) == (verifier, n))
    return found


def expected(n: int, key: dict[int, float]) -> list[float]:
    """Compute the picks of each question by enumerating every subset of n."""
    found, item = [], 0
    for golds in GOLD.values():
        items = range(item + 1, item + len(golds) + 1)
        item += len(golds)
        known = [(key[one], gold) for one, gold in zip(items, golds, strict=True) if gold is not None]
        sets = []
        for chosen in combinations(known, n):
            best = [gold for value, gold in chosen if value == max(value for value, _ in chosen)]
            sets.append(sum(best) / len(best))
        if sets:
            found.append(sum(sets) / len(sets))
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_scores_and_verdicts_select(project: Project, n: int) -> None:
    report = best_of(project, sizes=(n,))
    by_score = expected(n, {item: float(item % 3) for item in range(1, 15)})
    golds = dict(enumerate(chain(*GOLD.values()), 1))
    by_verdict = expected(n, {item: float(item % 4 == 1 or (item % 4 > 1 and golds[item] == 0)) for item in golds})
    for verifier, picks_by, values in (("rm", "score", by_score), ("judge", "verdict", by_verdict)):
        found = row(report, verifier, n)
        assert found.picks_by == picks_by
        assert found.questions == len(values)
        assert found.accuracy == pytest.approx(sum(values) / len(values))


def test_sizes_are_powers_of_two_up_to_the_largest_question(project: Project) -> None:
    report = best_of(project)
    assert [one.n for one in report.rows] == [1, 2, 4] * 2
    assert [one.questions for one in report.rows[:3]] == [4, 3, 2]
    assert (report.questions, report.several, report.most) == (4, 3, 4)
    one = row(report, "judge", 1)
    assert one.accuracy == one.random == one.oracle == pytest.approx((0.5 + 0.25 + 1 + 0) / 4)
    assert one.closed is None


def test_rows_have_a_random_floor_and_an_oracle_ceiling(project: Project) -> None:
    two = row(best_of(project), "rm", 2)
    assert two.random == pytest.approx((0.5 + 0.25 + 1) / 3)
    assert two.oracle == pytest.approx((1 - 1 / 6 + 0.5 + 1) / 3)
    assert (two.questions, two.mixed, two.completions) == (3, 2, 10)
    assert two.accuracy is not None
    assert two.random is not None
    assert two.oracle is not None
    assert two.gain == pytest.approx(two.accuracy - two.random)
    assert two.closed == pytest.approx((two.accuracy - two.random) / (two.oracle - two.random))
    assert two.ci is not None
    assert two.ci[0] < two.accuracy < two.ci[1]


def test_picking_from_one_completion_gains_exactly_zero(tmp_path: Path) -> None:
    # The mean of these shares, summed in two ways, differs in its last digit.
    correct = {3: 1, 5: 2, 6: 1, 7: 3}
    golds = [(f"q{size}", place < right) for size, right in correct.items() for place in range(size)]
    project = make_project(tmp_path, [{"question_id": question, "gold": gold} for question, gold in golds])
    add_complete_run(project, "rm", scores({item: float(item % 3) for item in range(1, len(golds) + 1)}))
    report = best_of(project, sizes=(1,))
    assert [one.gain for one in report.rows] == [0.0]
    assert "-0.000" not in best_of_text(report)


def test_a_size_beyond_every_question_has_a_reason(project: Project) -> None:
    report = best_of(project, ("rm",), sizes=(8,))
    (only,) = report.rows
    assert (only.questions, only.accuracy, only.ci, only.random, only.gain_ci) == (0, None, None, None, None)
    assert "No question has 8 completions" in (only.reason or "")
    assert "–" in best_of_text(report)


def test_undecided_verdicts_follow_the_protocol(project: Project) -> None:
    decided = best_of(project, ("judge",), sizes=(1,), protocol="decided").rows[0]
    # Items 2, 3, 6, 7, 10 and 11 are undecided: q0 keeps items 1 and 4, q1 items 5 and 8, q2 none, q3 its item 12.
    assert (decided.questions, decided.completions) == (3, 5)
    assert decided.accuracy == pytest.approx((1 + 0 + 0) / 3)
    strict = best_of(project, ("judge",), sizes=(2,), protocol="strict").rows[0]
    forced = best_of(project, ("judge",), sizes=(2,), protocol="forced").rows[0]
    assert (strict.accuracy or 0) < (forced.accuracy or 0)


def test_a_selection_chooses_completions(project: Project) -> None:
    report = best_of(project, ("rm",), selection=Selection((parse_condition("gold=correct"),)))
    assert (report.most, report.several) == (2, 2)
    assert row(report, "rm", 2).accuracy == 1
    assert best_of(project, selection=Selection((parse_condition("type=B"),))).rows[0].questions == 0


def test_a_dataset_of_single_completions_has_a_message(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{"question_id": f"q{item}", "gold": item % 2 == 0} for item in range(6)])
    add_run(project, "judge", dict.fromkeys(range(1, 7), Outcome.CORRECT))
    text = best_of_text(best_of(project))
    assert "Most questions here have one completion" in text
    assert "0 of them with two completions or more; the most is 1" in text


def test_picking_needs_a_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="complete run"):
        best_of(make_project(tmp_path, [{"gold": True}]))
