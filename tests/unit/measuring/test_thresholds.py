"""A threshold is fitted on a named part of the data, and its report marks optimistic metrics."""

from __future__ import annotations

import random
from pathlib import Path
from typing import get_args

import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

from tests.helpers import CREATED, make_project
from tests.unit.measuring.scored_runs import add_complete_run, scores
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.core.verdict import Outcome, OutcomeCode, Protocol3, Verdict
from workbench.measuring.scores import fit, threshold_text

ITEMS = 200
DRAW = random.Random(5)
GOLD = [DRAW.random() < 0.4 for _ in range(ITEMS)]
SCORES = {item: DRAW.gauss(1.0 if GOLD[item - 1] else 0.0, 1.0) for item in range(1, ITEMS + 1)}
ON = (parse_condition("source=s0"),)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows = [{"question_id": f"q{n // 2}", "gold": GOLD[n], "source": f"s{n // 2 % 3}"} for n in range(ITEMS)]
    project = make_project(tmp_path, rows)
    add_complete_run(project, "rm", scores(SCORES))
    return project


def part(on: bool) -> tuple[list[bool], list[float]]:
    kept = [item for item in SCORES if ((item - 1) // 2 % 3 == 0) == on]
    return [GOLD[item - 1] for item in kept], [SCORES[item] for item in kept]


def test_both_parts_are_reported_and_only_one_was_fitted_on(project: Project) -> None:
    report = fit(project, "rm", on=ON)
    assert report.rest is not None
    assert not report.in_sample
    assert report.shared_questions == 0
    for row, (gold, values) in ((report.fitted, part(True)), (report.rest, part(False))):
        said = [value >= report.threshold for value in values]
        assert row.n == len(gold)
        assert row.accuracy == pytest.approx(accuracy_score(gold, said), abs=1e-12)
        assert row.auroc == pytest.approx(roc_auc_score(gold, values), abs=1e-12)
    gold, values = part(True)
    assert report.fitted.accuracy == max(accuracy_score(gold, [v >= t for v in values]) for t in values)


def test_only_rows_of_the_split_are_used(project: Project) -> None:
    swapped = {item: score if (item - 1) // 2 % 3 == 0 else -score for item, score in SCORES.items()}
    add_complete_run(project, "swapped", scores(swapped))
    assert fit(project, "swapped", on=ON).threshold == fit(project, "rm", on=ON).threshold


def test_metrics_on_the_fitted_rows_are_marked(project: Project) -> None:
    report = fit(project, "rm")
    assert (report.in_sample, report.rest) == (True, None)
    assert "the rows the threshold was fitted on" in threshold_text(report)
    assert "the rows the threshold was fitted on" not in threshold_text(fit(project, "rm", on=ON))


def test_questions_in_both_parts_are_counted(project: Project) -> None:
    report = fit(project, "rm", on=(parse_condition("completion_id<c5"),))
    assert report.rest is not None
    assert report.shared_questions > 0
    assert "in both parts" in threshold_text(report)


def test_the_split_lies_within_the_selection(project: Project) -> None:
    selection = Selection((parse_condition("source!=s1"),))
    report = fit(project, "rm", on=ON, selection=selection)
    assert report.rest is not None
    assert report.fitted.n + report.rest.n == sum(n // 2 % 3 != 1 for n in range(ITEMS))
    assert report.threshold == fit(project, "rm", on=ON).threshold


def test_failed_calls_count_as_undecided(project: Project) -> None:
    add_complete_run(project, "flaky", scores({item: None if item % 10 == 0 else SCORES[item] for item in SCORES}))
    report = fit(project, "flaky", protocol="strict")
    assert (report.unscored, report.fitted.error, report.fitted.n) == (ITEMS // 10, ITEMS // 10, ITEMS)
    assert fit(project, "flaky", protocol="decided").fitted.n == ITEMS * 9 // 10


def test_rows_without_a_score_keep_their_verdicts(project: Project) -> None:
    """10 of the 20 rows without a score have a verdict."""
    given = scores({item: None if item % 10 == 0 else SCORES[item] for item in SCORES})
    said = [(item, Verdict(outcome=Outcome.CORRECT)) if item % 20 == 0 else (item, verdict) for item, verdict in given]
    add_complete_run(project, "half", said)
    forced, decided = (fit(project, "half", protocol=protocol) for protocol in ("forced", "decided"))
    assert (forced.unscored, forced.fitted.error, forced.fitted.n) == (20, 10, ITEMS)
    assert (decided.unscored, decided.fitted.n) == (10, ITEMS - 10)
    assert "20 rows without a score: no threshold moves their verdicts." in threshold_text(forced)


@pytest.mark.parametrize("protocol", get_args(Protocol3))
@pytest.mark.parametrize("seed", range(3))
def test_counts_equal_a_count_item_by_item(tmp_path: Path, seed: int, protocol: Protocol3) -> None:
    """Covers items without gold, in conflict, excluded or checks, and all verdicts with and without scores."""
    chance, items = random.Random(seed), range(1, 121)
    rows = [
        {
            "question_id": f"q{(n - 1) // 2}",
            "gold": chance.choice((True, False, None)),
            "source": f"s{(n - 1) // 2 % 3}",
        }
        for n in items
    ]
    project = make_project(tmp_path, rows)
    said = {
        item: Verdict(
            outcome=(outcome := OutcomeCode(chance.randrange(4)).outcome),
            reason="unparsed" if outcome.code >= OutcomeCode.ABSTAIN else None,
            score=round(chance.random(), 2) if chance.random() < 0.8 else None,
        )
        for item in items
        if chance.random() < 0.9
    }
    add_complete_run(project, "rm", said.items())
    left_out = {item for item in items if chance.random() < 0.15}
    checks = {item for item in items if chance.random() < 0.05}
    with project.database.write() as connection:
        states = [(item, chance.choice(("excluded", "conflict"))) for item in left_out]
        connection.executemany("INSERT INTO item_states (completion_id, state) VALUES (?, ?)", states)
        connection.executemany("INSERT INTO check_items VALUES (?, 'correct', ?)", [(one, CREATED) for one in checks])
        connection.execute("INSERT INTO changes (first_id, last_id) VALUES (1, 120)")
    report = fit(project, "rm", protocol=protocol, on=ON)
    assert report.rest is not None
    counted = {
        item: verdict
        for item, verdict in said.items()
        if rows[item - 1]["gold"] is not None and item not in left_out | checks
        if protocol != "decided" or verdict.score is not None or verdict.outcome.code < OutcomeCode.ABSTAIN
    }
    fitted = [item for item in counted if rows[item - 1]["source"] == "s0"]
    assert (report.fitted.n, report.rest.n) == (len(fitted), len(counted) - len(fitted))
    assert report.unscored == sum(verdict.score is None for verdict in counted.values())
    assert f"{report.unscored} rows without a score" in threshold_text(report)


def test_a_single_class_is_rejected(project: Project) -> None:
    with pytest.raises(UsageError, match="0 incorrect completions"):
        fit(project, "rm", on=(parse_condition("gold=correct"),))


def test_a_verifier_without_scores_is_rejected(project: Project) -> None:
    add_complete_run(project, "mute", scores(dict.fromkeys(SCORES)))
    for name in ("mute", "always-incorrect"):
        with pytest.raises(UsageError, match="gives no scores"):
            fit(project, name)
    with pytest.raises(UsageError, match="No complete run of 'nobody'"):
        fit(project, "nobody")


def test_an_unknown_verifier_in_the_split_is_rejected(project: Project) -> None:
    with pytest.raises(UsageError, match="No verifier 'nobody'"):
        fit(project, "rm", on=(parse_condition("verdict:nobody=correct"),))


def test_a_question_with_rows_without_gold_is_in_one_part(tmp_path: Path) -> None:
    rows = [
        {"question_id": f"q{n // 2}", "gold": n % 4 == 0 if n % 2 == 0 else None, "model": f"m{n % 2}"}
        for n in range(40)
    ]
    rows += [{"question_id": "both", "gold": bool(n), "model": f"m{n}"} for n in range(2)]
    project = make_project(tmp_path, rows)
    add_complete_run(project, "rm", scores({item: float(item) for item in range(1, 43)}))
    report = fit(project, "rm", on=(parse_condition("model=m0"),))
    assert (report.fitted.n, report.rest and report.rest.n, report.shared_questions) == (21, 1, 1)
