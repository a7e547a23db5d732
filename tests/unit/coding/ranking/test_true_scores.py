"""True scores: their runs, combined suites, and unknown scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scored_code import complete_run, put_scores, scored_project
from workbench.coding.ranking.scores import outcomes_by_problem, ranks_of, raters, scored_problems, truth_of
from workbench.core.code import Execution
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.runs.store import verdicts
from workbench.runs.store.verdicts import TestResult


def scores_of(project: Project, *suites: str) -> dict[str, float | None]:
    return {
        one.solution_id: one.score
        for problem in outcomes_by_problem(project, truth_of(project, suites=suites), None)
        for one in problem.solutions
    }


def test_base_and_plus_count_together_unless_named(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp|pf", "b": "pf|ff"}, "only base": {"c": "p"}})
    assert scores_of(project) == {"a": 0.75, "b": 0.25, "c": 1}
    assert scores_of(project, "plus") == {"a": 0.5, "b": 0, "c": None}
    assert truth_of(project).runs == {"base": 1, "plus": 1}


def test_a_solution_not_run_against_all_tests_has_no_score(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp|p", "no plus": "pp|", "stopped": "fn|p"}})
    assert scores_of(project) == {"a": 1, "no plus": None, "stopped": None}


def test_time_is_the_mean_over_tests_that_were_run(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "ppp|p"}}, ms={"t/a": 4.0})
    (problem,) = outcomes_by_problem(project, truth_of(project), None)
    assert problem.solutions[0].ms == 4.0


def test_each_suite_uses_the_newest_run_with_most_solutions(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp|p", "b": "pp|"}})
    with project.database.write() as connection:
        newer = complete_run(connection, "again", "base")
        verdicts.put_outcomes(connection, newer, [TestResult(1, "base", Execution(outcomes="ff", level="L3"))])
    assert truth_of(project).runs == {"base": 1, "plus": 1}
    with project.database.write() as connection:
        verdicts.put_outcomes(connection, newer, [TestResult(2, "base", Execution(outcomes="ff", level="L3"))])
    found = truth_of(project)
    assert (found.runs, found.name) == ({"base": newer, "plus": 1}, "again, execution")
    assert truth_of(project, "execution").runs == {"base": 1, "plus": 1}


@pytest.mark.parametrize(("name", "suites"), [(None, ("other",)), ("nobody", ())], ids=["suite", "name"])
def test_missing_runs_are_reported_with_the_existing_ones(
    tmp_path: Path, name: str | None, suites: tuple[str, ...]
) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp|p"}})
    with pytest.raises(UsageError, match="No complete run used the tests"):
        truth_of(project, name, suites)


def test_an_incomplete_run_gives_no_true_scores(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp|p"}})
    with project.database.write() as connection:
        connection.execute("UPDATE runs SET completed_at = NULL")
    with pytest.raises(UsageError):
        truth_of(project)


def test_a_selection_leaves_out_solutions_and_excluded_ones_are_never_there(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp|p", "b": "pf|p"}, "u": {"c": "p"}})
    chosen = Selection((Condition("question_id", "=", "t"),))
    assert [problem.task_id for problem in outcomes_by_problem(project, truth_of(project), chosen)] == ["t"]
    with project.database.write() as connection:
        connection.execute("INSERT INTO item_states (completion_id, state) VALUES (2, 'excluded')")
    assert set(scores_of(project)) == {"a", "c"}


def test_solutions_are_listed_with_scores_and_ranks_per_verifier(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp|p", "b": "pf|p", "c": "pp|p"}}, flagged=["t/c"])
    put_scores(project, "judge", {"t/a": 0.5, "t/b": 0.9, "t/c": None})
    truth = truth_of(project)
    (rater,) = raters(project, truth)
    (problem,) = scored_problems(project, truth, [rater], questions=[1])
    found = [(one.solution_id, one.rank, one.scores["judge"], one.ranks["judge"]) for one in problem.solutions]
    assert found == [("a", 1.5, 0.5, 2), ("b", 3, 0.9, 1), ("c", 1.5, None, None)]
    assert [one.ground_truth for one in problem.solutions] == [False, False, True]
    assert list(scored_problems(project, truth, [rater], questions=[99])) == []


def test_equal_scores_share_the_mean_of_their_ranks() -> None:
    assert ranks_of([0.5, 1.0, None, 0.5, 0.0]) == [2.5, 1, None, 2.5, 4]
