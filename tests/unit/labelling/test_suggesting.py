"""Suggested answer types: one per question, compared with current types, hidden from blind annotators."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project
from tests.unit.measuring.scored_runs import add_complete_run, scores, types
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.taxonomy import ANSWER_TYPE, TypeCell
from workbench.labelling.store.blind import open_blind
from workbench.measuring.accuracy import accuracy
from workbench.measuring.comparing import comparable
from workbench.measuring.suggesting import suggested_type, type_reports

SUBTYPES = ["A1", "A1", "B5", "C1", None, "D2"]
SUGGESTED = {1: "A1", 2: "A1", 3: "A3", 4: "A3", 5: "B5", 6: "B5", 7: None, 8: "C1", 9: "B4", 10: "B4", 11: "proof"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    rows: list[dict[str, Any]] = [
        {"question_id": f"q{number // 2}", "subtype": SUBTYPES[number // 2], "gold": True} for number in range(12)
    ]
    project = make_project(tmp_path, rows)
    add_complete_run(project, "typist", types({**SUGGESTED, 12: None}), kind=ANSWER_TYPE)
    return project


def test_suggestions_are_compared_with_the_current_types(project: Project) -> None:
    (report,) = type_reports(project)
    assert (report.questions, report.suggested, report.untyped, report.compared, report.agree) == (6, 6, 1, 5, 3)
    assert (report.accuracy, report.type_accuracy) == (0.6, 0.8)
    assert TypeCell(subtype="A1", suggested="A3", n=1) in report.confusion
    assert sum(cell.n for cell in report.confusion) == report.compared


def test_replies_without_a_type_are_counted_separately(project: Project) -> None:
    add_complete_run(project, "mute", types(dict.fromkeys(range(1, 13))), kind=ANSWER_TYPE)
    (report,) = (one for one in type_reports(project) if one.verifier == "mute")
    assert (report.suggested, report.none, report.accuracy, report.ci) == (0, {"unparsed": 6}, None, None)


def test_one_question_can_be_looked_up(project: Project) -> None:
    found = suggested_type(project, "typist", 3)
    assert found is not None
    assert (found.question_id, found.suggested) == ("q2", "B5")
    assert suggested_type(project, "typist", 99) is None


def test_an_answer_type_verifier_is_not_a_judge(project: Project) -> None:
    add_complete_run(project, "rm", scores({1: 0.5}))
    assert {row.verifier for row in accuracy(project).rows if row.kind == "verifier"} == {"rm"}
    assert "typist" not in comparable(project)


def test_other_verifiers_suggest_no_types(project: Project) -> None:
    add_complete_run(project, "rm", scores({1: 0.5}))
    for name in ("rm", "always-incorrect"):
        with pytest.raises(UsageError, match="suggests no answer types"):
            suggested_type(project, name, 1)


def test_a_blind_session_cannot_read_suggestions(project: Project) -> None:
    blind = open_blind(project.database, 1)
    try:
        with pytest.raises(sqlite3.DatabaseError, match=r"prohibited|not authorized"):
            blind.execute("SELECT rule FROM verdict_evidence")
    finally:
        blind.close()
