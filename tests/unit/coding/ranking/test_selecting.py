"""Selection from a database: sources of the ground truth, the report, and the written sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project
from tests.scored_code import outcomes_of, real_solutions, scored_project
from workbench.coding.ranking.scores import truth_of
from workbench.coding.ranking.selecting import (
    RankingSelectionRules,
    SelectedSet,
    select_from,
    select_stored,
    write_rows,
    write_stored,
)
from workbench.core.code import Execution, Failure, SolutionRecord
from workbench.core.errors import FormatError, StoreError, UsageError
from workbench.core.project import Project
from workbench.data.formats.code.row import CodeRow
from workbench.data.formats.code.sets import read_scoring
from workbench.data.formats.documents import SourceDocument
from workbench.runs.store import verdicts
from workbench.runs.store.verdicts import TestResult
from workbench.statistics.records.ranking import SelectedLine

SPREAD = {"a": "pppp|", "b": "pppf|", "c": "ppff|", "d": "pfff|", "e": "ffff|", "f": "ppff|"}


def sets_of(project: Project, **how: Any) -> list[SelectedSet]:
    return list(select_stored(project, RankingSelectionRules(**how), truth_of(project)))


def lines_of(project: Project, **how: Any) -> list[SelectedLine]:
    return [one.line for one in sets_of(project, **how)]


def test_the_fastest_perfect_solution_is_the_stand_in(tmp_path: Path) -> None:
    outcomes = {"t": {"slow": "pp|p", "fast": "pp|p", "later": "pp|p", "bad": "pf|p"}}
    project = scored_project(tmp_path, outcomes, ms={"t/slow": 3, "t/fast": 2, "t/later": 2})
    (line,) = lines_of(project)
    assert (line.selected, line.ground_truth, line.ground_truth_from) == (["fast", "bad"], "fast", "stand_in")
    assert (line.scores, line.ranks, line.reason) == ([1.0, 0.67], [1, 2], "few_scores")
    assert line.dataset == "code"


def test_flags_precede_the_canonical_text_and_stand_ins(tmp_path: Path) -> None:
    canonical = {"t/canonical": {"completion": "# t\npass\n"}}
    outcomes = {"t": {"fast": "pp|", "canonical": "pp|", "flagged": "pf|"}}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (line,) = lines_of(scored_project(tmp_path / "a", outcomes, rows=canonical))
    assert (line.ground_truth, line.ground_truth_from) == ("canonical", "canonical")
    (line,) = lines_of(scored_project(tmp_path / "b", outcomes, rows=canonical, flagged=["t/flagged"]))
    assert (line.ground_truth, line.ground_truth_from, line.selected) == ("flagged", "flag", ["flagged", "fast"])


def test_a_generated_canonical_solution_is_no_ground_truth(tmp_path: Path) -> None:
    project = scored_project(
        tmp_path, {"t": {"fast": "pp|", "canonical": "pp|"}}, rows={"t/canonical": {"completion": "# t\npass\n"}}
    )
    with project.database.write() as connection:
        connection.execute("UPDATE code_problems SET reference_by = 'model'")
    (line,) = lines_of(project)
    assert (line.ground_truth, line.ground_truth_from) == ("fast", "stand_in")


def test_a_continuation_equals_the_canonical_solution_after_the_prompt(tmp_path: Path) -> None:
    rows = {"t/goes on": {"completion": "\npass", "form": "continuation"}}
    (line,) = lines_of(scored_project(tmp_path, {"t": {"fast": "pp|", "goes on": "pp|"}}, rows=rows))
    assert line.ground_truth == "goes on"


def test_a_score_that_rounds_to_1_is_not_perfect(tmp_path: Path) -> None:
    nearly = "p" * 299 + "f"
    (line,) = lines_of(scored_project(tmp_path, {"t": {"a": nearly, "b": "f" * 300}}))
    assert (line.selected, line.reason) == ([], "no_ground_truth")
    assert line.dropped == {"no_ground_truth": ["a", "b"]}


def test_solutions_without_a_result_and_problems_without_any_are_reported(tmp_path: Path) -> None:
    outcomes = {"t": {"a": "pp|p", "stopped": "fn|p"}, "never run": {"b": "nn|p", "c": "nn|p"}}
    first, second = lines_of(scored_project(tmp_path, outcomes))
    assert (first.selected, first.dropped) == (["a"], {"no_result": ["stopped"]})
    assert (second.selected, second.reason, second.dropped) == ([], "no_solutions", {"no_result": ["b", "c"]})


def test_two_flagged_solutions_are_an_error_with_the_problems_name(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"the task": {"a": "pp", "b": "pf"}}, flagged=["the task/a", "the task/b"])
    with pytest.raises(FormatError, match="the task: two solutions"):
        sets_of(project)


def test_filters_part_on_an_assertion_with_a_message(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": {"a": "pp", "errors": "ee", "none": "pf"}})
    failures = tuple(Failure(position=place, outcome="f", message="no") for place in range(2))
    with project.database.write() as connection:
        connection.execute("DELETE FROM test_results WHERE completion_id = 3")
        told = Execution(outcomes="ff", level="L3", failures=failures)
        verdicts.put_outcomes(connection, 1, [TestResult(3, "base", told)])
    assert lines_of(project)[0].dropped == {"only_errors": ["errors"]}
    assert lines_of(project, filter="stderr")[0].dropped == {"only_errors": ["errors", "none"]}


def test_the_papers_rule_does_not_round(tmp_path: Path) -> None:
    outcomes = {"t": {"a": "p" * 300, "b": "p" * 200 + "f" * 100, "c": "p" * 201 + "f" * 99}}
    project = scored_project(tmp_path, outcomes)
    assert lines_of(project)[0].selected == ["a", "b"]
    assert set(lines_of(project, rules="formula")[0].selected) == {"a", "b", "c"}


def test_a_written_set_has_texts_and_rules_and_can_be_selected_again(tmp_path: Path) -> None:
    project = scored_project(tmp_path, {"t": SPREAD, "empty": {"x": "f"}}, flagged=["t/c"])
    sets = sets_of(project, k=4)
    path = tmp_path / "set.jsonl"
    assert write_stored(project, truth_of(project), sets, path, force=False) == 1
    (line,) = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert (line["task_id"], line["prompt"], line["canonical_solution"]) == ("t", "# t", "\npass")
    solutions = [(one["id"], one["rank"], one["ground_truth"], one["solution"]) for one in line["all_solutions"]]
    assert solutions == [("c", 1, True, "# c"), ("b", 2, False, "# b"), ("d", 3, False, "# d"), ("e", 4, False, "# e")]
    assert line["selection"] == {
        "rules": "released",
        "rules_version": "2",
        "k": 4,
        "filter": "exception",
        "exact": False,
        "ground_truth_from": "flag",
        "reason": None,
        "suites": {"base": 1},
    }
    text = path.read_bytes()
    imported = [one for one in read_scoring(CodeRow(SourceDocument(1, text, text))) if isinstance(one, SolutionRecord)]
    assert [one.solution_id for one in imported if one.ground_truth] == ["c"]
    again, _ = select_from(path, RankingSelectionRules(k=4))
    assert [one.line.selected for one in again] == [["b", "c", "d", "e"]]
    assert again[0].line.ground_truth == "c"
    with pytest.raises(FormatError, match="exists"):
        write_stored(project, truth_of(project), sets, path, force=False)
    with pytest.raises(StoreError):
        write_stored(project, truth_of(project), sets, project.path, force=True)


def test_a_set_from_a_file_keeps_its_other_fields(tmp_path: Path) -> None:
    rows = [
        {"id": 5, "average_test_score": 0.125, "average_time_taken": 1, "note": "kept"},
        {"id": 6, "average_test_score": 1, "average_time_taken": 1, "rank": 1},
        {"id": 7, "average_test_score": 0.125, "average_time_taken": 2},
    ]
    source, path = tmp_path / "c.jsonl", tmp_path / "set.jsonl"
    source.write_text(json.dumps({"task_id": 1, "prompt": "say", "candidates": rows}), encoding="utf-8")
    assert write_rows(select_from(source, RankingSelectionRules())[0], path, force=False) == 1
    line = json.loads(path.read_text(encoding="utf-8"))
    assert (line["task_id"], line["prompt"], "candidates" in line) == (1, "say", False)
    assert [(one["id"], one["rank"], one["average_test_score"]) for one in line["all_solutions"]] == [
        (6, 1, 1),
        (5, 2, 0.12),
    ]
    assert line["all_solutions"][1]["note"] == "kept"


def test_a_file_is_filtered_by_its_test_results(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "average_test_score": 1, "average_time_taken": 1, "rank": 1},
        {"id": 2, "average_test_score": 0, "average_time_taken": 1, "outcomes": "ee"},
        {"id": 3, "average_test_score": 0.1, "average_time_taken": 1, "unit_test_stderrs": ["AssertionError('x')"]},
    ]
    source = tmp_path / "c.jsonl"
    source.write_text(json.dumps({"task_id": 1, "candidates": rows}), encoding="utf-8")
    assert select_from(source, RankingSelectionRules())[0][0].line.dropped == {"only_errors": [2]}
    assert select_from(source, RankingSelectionRules(filter="stderr"))[0][0].line.dropped == {"only_errors": [2, 3]}


def test_real_outcomes_are_selected_from_as_released(shared_data: Path, tmp_path: Path) -> None:
    """With outcomes and times only, all 33 problems give the released selection."""
    rows = real_solutions(shared_data)
    ms = {f"{row['task_id']}/{row['solution_id']}": len(row["code"]) / 1000 for row in rows}
    project = scored_project(tmp_path, outcomes_of(rows), ms=ms)
    found = {
        line.task_id: [list(one) for one in zip(line.selected, line.scores, line.ranks, strict=True)]
        for line in lines_of(project)
        if line.selected
    }
    released = map(json.loads, (shared_data / "code" / "real_kselect.jsonl").read_text(encoding="utf-8").splitlines())
    assert found == {row["task_id"]: row["selected"] for row in released}


def test_a_project_without_code_is_reported(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{}])
    with pytest.raises(UsageError, match="workbench verify DB execution"):
        truth_of(project)
