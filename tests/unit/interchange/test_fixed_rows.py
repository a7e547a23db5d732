"""Rejected rows name what they contradict, and leave the quarantine when a later import accepts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.core.project import Project, open_project
from workbench.interchange.import_report import ImportReport
from workbench.interchange.importing import import_files, plan_import
from workbench.measuring.briefing import status

ROWS: list[dict[str, Any]] = [
    {"question_id": f"q{n}", "completion_id": f"c{n}", "question": "1?", "answer": "1", "completion": f"It is {n}."}
    for n in range(4)
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return open_project(tmp_path / "p.db", create=True)


def imported(project: Project, rows: list[dict[str, Any]], name: str = "rows.jsonl") -> ImportReport:
    file = project.path.with_name(name)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_files(project, plan_import([file]), dataset="d")


def broken(number: int) -> dict[str, Any]:
    return {key: value for key, value in ROWS[number].items() if key != "answer"}


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"completion": "Other."}, "completion", "differs in completion from"),
        ({"gold_correct": True}, "gold", "differs in gold from"),
        ({"completion_model": "m", "completion": "Other."}, "completion", "differs in completion and model from"),
        ({"answer": "2"}, "reference", "differs in reference from"),
        ({"mine": 1, "yours": 2}, "mine", "differs in mine and yours from"),
    ],
)
@pytest.mark.parametrize("again", [False, True])
def test_a_contradiction_names_fields_and_row(
    project: Project, change: dict[str, Any], field: str, said: str, *, again: bool
) -> None:
    """In the same file, or in a later one."""
    rows = [*ROWS, {**ROWS[2], **change}]
    if again:
        imported(project, ROWS)
    (row,) = imported(project, rows[-1:] if again else rows, "more.jsonl" if again else "rows.jsonl").quarantine
    assert row.field == field
    assert said in row.message
    assert "imported row 3 of rows.jsonl" in row.message


@pytest.mark.parametrize("name", ["rows.jsonl", "mended.jsonl"])
def test_a_mended_row_leaves_quarantine(project: Project, name: str) -> None:
    assert imported(project, [ROWS[0], broken(1), broken(2)]).quarantined == 2
    mended = [ROWS[0], ROWS[1], broken(2)] if name == "rows.jsonl" else [ROWS[1]]
    report = imported(project, mended, name)
    assert (report.imported, report.mended) == (1, 1)
    # In the same file the other one was refused once more.
    assert status(project).quarantined == (2 if name == "rows.jsonl" else 1)


def test_another_file_of_that_name_lets_nothing_go(project: Project) -> None:
    imported(project, [ROWS[0], broken(1)])
    other = {**ROWS[3], "question_id": "z", "completion_id": "z"}
    imported(project, [other, {**other, "completion_id": "y"}])
    assert status(project).quarantined == 1
