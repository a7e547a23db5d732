"""Missing values spelled as text are no text: the row is rejected with a message, a name is absent."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from workbench.core.project import open_project
from workbench.interchange.importing import import_files, plan_import

ROW = {"question_id": "q", "completion_id": "c", "question": "1/0?", "answer": "NaN.", "completion": "It is NaN."}


def imported(file: Path) -> tuple[list[tuple[str | None, str, str]], list[tuple[str, str | None, str | None]]]:
    """Import a file; return the rejected rows and the items as (completion, model, source)."""
    project = open_project(file.parent / "p.db", create=True)
    report = import_files(project, plan_import([file]), dataset="d")
    found = (
        project.database.reader()
        .execute(
            "SELECT t.text, m.name, s.name FROM completion_text AS t JOIN completions AS c ON c.id = t.id "
            "JOIN questions AS q ON q.id = c.question_id LEFT JOIN models AS m ON m.id = c.model_id "
            "LEFT JOIN sources AS s ON s.id = q.source_id ORDER BY t.id"
        )
        .fetchall()
    )
    project.close()
    return [(row.field, row.code, row.message) for row in report.quarantine], found


@pytest.mark.few(6)
@pytest.mark.parametrize("ending", ["jsonl", "csv"])
@pytest.mark.parametrize("spelled", ["NaN", "nan", "<NA>", "NaT"])
@pytest.mark.parametrize("column", ["question", "answer", "completion", "completion_id"])
def test_a_missing_text_is_rejected_with_a_message(tmp_path: Path, column: str, spelled: str, ending: str) -> None:
    file = tmp_path / f"rows.{ending}"
    rows = [{**ROW, column: spelled}, {**ROW, "completion_id": "c2"}]
    if ending == "csv":
        with file.open("w", newline="") as out:
            writer = csv.DictWriter(out, list(ROW))
            writer.writeheader()
            writer.writerows(rows)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ((field, code, message),), items = imported(file)
    assert (field, code) == (column, "missing_field")
    assert repr(spelled) in message
    assert r"\boxed{NaN}" in message
    assert [text for text, _, _ in items] == ["It is NaN."]


@pytest.mark.parametrize("answer", ["None", "null", "NaN.", r"\boxed{NaN}", "nano", "Nan", "0"])
def test_words_that_are_answers_are_imported(tmp_path: Path, answer: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({**ROW, "completion": answer, "answer": answer}) + "\n")
    refused, items = imported(file)
    assert (refused, [text for text, _, _ in items]) == ([], [answer])


def test_names_are_imported_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({**ROW, "completion_model": "nan", "source": "NaN"}) + "\n")
    assert imported(file) == ([], [("It is NaN.", "nan", "NaN")])
