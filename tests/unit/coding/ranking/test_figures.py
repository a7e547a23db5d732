"""Saturation, pass@k and histograms of a database, against manual values and real outcomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scored_code import outcomes_of, put_scores, real_solutions, scored_project
from workbench.coding.ranking.passing import (
    histograms,
    outcome_shares,
    pass_report,
    passes_by_tests,
    passes_by_verdict,
    saturation,
    scores_of_selected,
)
from workbench.coding.ranking.scores import truth_of
from workbench.coding.ranking.selecting import RankingSelectionRules, select_stored
from workbench.coding.ranking.tables import histograms_text, passes_as, saturation_as
from workbench.coding.records.figures import HistogramsReport
from workbench.core.errors import UsageError
from workbench.core.options import TableForm

LADDER = {f"s{passed}": "p" * passed + "f" * (16 - passed) + "|" for passed in range(0, 17, 4)}


def test_saturation_excludes_uninformative_problems(tmp_path: Path) -> None:
    outcomes = {"t": LADDER, "few": {"a": "pp", "b": "pf"}, "same": {"a": "p" * 16, "b": "p" * 16}}
    project = scored_project(tmp_path, outcomes)
    found = saturation(project, truth_of(project), sizes=(1, 15), resamples=20)
    assert (found.problems, found.few_tests, found.one_score) == (1, 1, 1)
    assert [row.k for row in found.rows] == [1, 15]
    assert (found.enough, found.rows[1].undefined) == (15, 0)
    text = saturation_as(found, TableForm())
    assert "Enough: k = 15" in text
    assert saturation_as(found, TableForm(format="csv")).count("\n") == 3


def test_saturation_without_problems_is_reported(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp", "b": "pf"}})
    found = saturation(project, truth_of(project))
    assert (found.rows, found.enough) == ([], None)
    assert "No metrics: no problem is left." in saturation_as(found, TableForm())
    assert "No k shown" not in saturation_as(found, TableForm())


def test_saturation_of_the_real_outcomes_is_where_it_was_measured(shared_data: Path, tmp_path: Path) -> None:
    """The measured means of 100 resamples, each within four of its standard errors, and sigma within a third."""
    measured = {1: 0.71, 2: 0.80, 3: 0.84, 5: 0.885, 6: 0.897, 10: 0.936}
    project = scored_project(tmp_path, outcomes_of(real_solutions(shared_data)))
    found = saturation(project, truth_of(project), sizes=tuple(measured), resamples=400)
    assert found.problems == 37
    for row in found.rows:
        assert row.rho == pytest.approx(measured[row.k], abs=4 * row.sigma / 10 + 0.0005)
    assert found.rows[0].sigma == pytest.approx(0.031, rel=1 / 3)
    assert found.rows[-1].sigma == pytest.approx(0.014, rel=1 / 3)


def test_pass_at_k_by_tests_counts_problems_with_enough_solutions(tmp_path: Path) -> None:
    outcomes = {"t": {"a": "pp|", "b": "pf|", "c": "ff|", "not run": ""}, "u": {"d": "p", "e": "f"}}
    project = scored_project(tmp_path, outcomes)
    found = pass_report(passes_by_tests(project, truth_of(project)), (1, 2, 3, 4))
    assert [(row.problems, row.fewer) for row in found.rows] == [(2, 0), (2, 0), (1, 1), (0, 2)]
    assert [row.value for row in found.rows] == [
        pytest.approx((1 / 3 + 1 / 2) / 2),
        pytest.approx((2 / 3 + 1) / 2),
        1,
        None,
    ]
    assert "Problems with fewer than k solutions don't count" in passes_as(found, TableForm())


def test_pass_at_k_by_a_verifier_counts_its_verdicts(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp", "b": "pf", "c": "ff"}})
    put_scores(project, "judge", {"t/a": 0.0, "t/b": 1.0})
    (row,) = pass_report(passes_by_verdict(project, "judge"), (1,)).rows
    assert (row.value, row.solutions) == (0.5, 2)


def test_histograms_count_every_selected_solution_once(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": LADDER, "u": {"a": "pp|", "b": "pf|"}, "none": {"c": "f"}})
    (found,) = histograms(select_stored(project, RankingSelectionRules(), truth_of(project)))
    assert (found.problems, found.solutions, found.sizes) == (2, 7, {2: 1, 5: 1})
    assert sum(found.scores.counts) == 7
    assert [found.scores.counts[place] for place in (0, 5, 10, 15, 19)] == [1, 1, 2, 1, 2]
    assert [found.gaps.counts[place] for place in (10, 19)] == [1, 1]
    assert found.mean_score == pytest.approx((0 + 0.25 + 0.5 + 0.75 + 1 + 1 + 0.5) / 7)


def test_scores_are_those_of_solutions_selected_by_true_scores(tmp_path: Path) -> None:
    """Figure 5b: the selection depends only on true scores, and unselected solutions do not count."""
    project = scored_project(tmp_path, {"t": LADDER | {"again": LADDER["s4"]}, "u": {"a": "pp|", "b": "pf|"}})
    said = {"t/s0": 0.3, "t/s4": 0.3, "t/s8": 1.0, "t/s12": 0.31, "t/s16": 0.3, "t/again": 0.9, "u/a": 0.0, "u/b": None}
    run = put_scores(project, "utg", said)
    put_scores(project, "reward", dict.fromkeys(said, -2.5))
    truth = truth_of(project)
    sets = list(select_stored(project, RankingSelectionRules(), truth))
    (found,) = histograms(sets, given=scores_of_selected(project, truth, sets, ["utg"]))
    (plain,) = histograms(sets)
    assert (found.scores, found.sizes, plain.given) == (plain.scores, plain.sizes, [])
    (given,) = found.given
    assert (given.verifier, given.run, given.solutions, given.without) == ("utg", run, 6, 1)
    assert given.mean_score == pytest.approx((3 * 0.3 + 0.31 + 1) / 6)
    assert {place: count for place, count in enumerate(given.scores.counts) if count} == {0: 1, 6: 4, 19: 1}
    text = histograms_text(HistogramsReport(histograms=[found], shares=[]))
    assert f"Scores of the same solutions by utg, run {run} (mean 0.37, 1 without a score)" in text
    with pytest.raises(UsageError, match="reward are not shares from 0 to 1"):
        scores_of_selected(project, truth, sets, ["reward"])
    with pytest.raises(UsageError, match="no complete run with scores of nobody"):
        scores_of_selected(project, truth, sets, ["nobody"])


def test_outcomes_are_shared_out_by_run_suite_and_ground_truth(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pppf|p", "b": "fetn|s"}}, flagged=["t/a"])
    base, plus = outcome_shares(project)
    assert (base.suite, base.every.solutions, base.every.tests) == ("base", 2, 7)
    assert (base.every.passed, base.every.assertion, base.every.other) == pytest.approx((3 / 7, 2 / 7, 2 / 7))
    assert base.ground_truth is not None
    assert (base.ground_truth.passed, base.ground_truth.assertion) == (0.75, 0.25)
    assert (plus.suite, plus.every.other) == ("plus", 0.5)
    text = histograms_text(HistogramsReport(histograms=[], shares=[base, plus]))
    assert "ground truths" in text


def test_the_text_has_a_bar_a_bin(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": LADDER})
    found = histograms(select_stored(project, RankingSelectionRules(), truth_of(project)))
    text = histograms_text(HistogramsReport(histograms=found, shares=[]))
    assert "1 problem, 5 solutions selected, mean score 0.50" in text
    assert text.count("█") > 40
