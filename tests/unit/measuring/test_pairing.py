"""Pairwise accuracy of stored scores: computed for paired data, rejected with a reason otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project
from tests.unit.measuring.scored_runs import add_complete_run, scores
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection, parse_condition
from workbench.measuring.scores import pairs, pairs_text
from workbench.statistics.records.probe import Unpaired


def row(question: int, gold: bool | None, subtype: str = "A1") -> dict[str, Any]:
    return {"question_id": f"q{question}", "gold": gold, "subtype": subtype}


PAIRED = [row(n // 2, n % 2 == 0, "A1" if n < 8 else "B5") for n in range(12)]
MARGINS = {1: 0.9, 2: 0.1, 3: 0.5, 4: 0.5, 5: 0.2, 6: 0.3, 7: 1.0, 8: 0.0, 9: 0.4, 10: 0.1, 11: -1.0, 12: -2.0}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path, PAIRED)
    add_complete_run(project, "rm", scores(MARGINS))
    return project


def test_pairs_by_type(project: Project) -> None:
    report = pairs(project, "rm", by="type")
    assert (report.questions, report.paired) == (6, 6)
    assert [(row.group, row.n, row.right, row.ties) for row in report.rows] == [
        (None, 6, 4, 1),
        ("A", 4, 2, 1),
        ("B", 2, 2, 0),
    ]
    assert "B - Expressions" in pairs_text(report)


def test_a_selection_narrows_it(project: Project) -> None:
    report = pairs(project, "rm", selection=Selection((parse_condition("type=B"),)))
    assert [row.n for row in report.rows] == [2]


def test_questions_without_a_pair_are_counted(project: Project, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    more = make_project(tmp_path / "more", [*PAIRED, row(6, True), row(7, True), row(7, False), row(7, False)])
    add_complete_run(more, "rm", scores({**MARGINS, 1: None, 13: 0.5, 14: 0.5, 15: 0.5, 16: 0.5}))
    report = pairs(more, "rm")
    assert (report.questions, report.paired) == (8, 5)
    assert report.unpaired == Unpaired(one_class=1, several=1, unscored=1)
    assert "left out: 1 with completions of one kind only" in pairs_text(report)


def test_unpaired_data_is_rejected_with_the_reason(tmp_path: Path) -> None:
    rows = [row(n, n % 3 == 0) for n in range(20)] + [row(20, True), row(20, False)]
    project = make_project(tmp_path, rows)
    add_complete_run(project, "rm", scores({item: item / 100 for item in range(1, len(rows) + 1)}))
    with pytest.raises(UsageError) as refused:
        pairs(project, "rm")
    assert "1 of 21 questions with gold have exactly one correct and one incorrect" in str(refused.value)
    assert "20 with completions of one kind only" in str(refused.value)


def test_missing_gold_is_rejected(tmp_path: Path) -> None:
    project = make_project(tmp_path, [row(0, None), row(0, None)])
    add_complete_run(project, "rm", scores({1: 0.5, 2: 0.6}))
    with pytest.raises(UsageError, match="0 of 0 questions"):
        pairs(project, "rm")


def test_pairs_have_no_model(project: Project) -> None:
    with pytest.raises(UsageError, match="can't be broken down by 'model'"):
        pairs(project, "rm", by="model")


@pytest.mark.real_data
def test_verifybench_hard_is_rejected(tmp_path: Path, real_rows: list[dict[str, Any]]) -> None:
    rows = [{"question_id": one["question_id"], "gold": one["gold_correct"]} for one in real_rows]
    project = make_project(tmp_path, rows)
    add_complete_run(project, "rm", scores({item: item / 1000 for item in range(1, len(rows) + 1)}))
    with pytest.raises(UsageError, match="This data is not paired: 0 of 106 questions"):
        pairs(project, "rm")
