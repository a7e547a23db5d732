"""Labels and verdicts in spreadsheets: a column per annotator or verifier, or a row each."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from openpyxl import Workbook

from workbench.core.errors import FormatError, UsageError
from workbench.core.project import Project, open_project
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling.labels import LabelsImported, import_labels
from workbench.runs.verdict_files import import_verdicts, verdict_lines

Rows = list[list[str]]
WIDE = [
    ["completion_id", "question", "ann", "Bob B", "note"],
    ["1", "x", "correct", "1", "so"],
    ["2", "x", "no", "maybe", "so so"],
    ["3", "x", "A1", "", ""],
    ["4", "x", "Unsuitable: proof", "NaN", ""],
    ["9", "x", "yes", "", ""],
]
CURRENT = "SELECT annotator, task, item, verdict, reason, subtype FROM current_labels ORDER BY annotator, item"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = open_project(tmp_path / "p.db", create=True)
    items = [["completion_id", "question", "answer", "completion"], *([f"{n}", f"{n}?", "1", "r"] for n in range(1, 5))]
    import_files(opened, plan_import([table(tmp_path, items, "items.csv")]), dataset="d")
    yield opened
    opened.close()


def table(folder: Path, rows: Rows, name: str) -> Path:
    file = folder / name
    if name.endswith(".xlsx"):
        book = Workbook()
        page = book.active
        assert page is not None
        for row in rows:
            page.append([int(cell) if cell.isdigit() else cell for cell in row])
        book.save(file)
        return file
    with file.open("w", newline="") as out:
        csv.writer(out, delimiter="\t" if name.endswith(".tsv") else ",").writerows(rows)
    return file


def refusals(report: LabelsImported) -> list[tuple[object, object]]:
    return [(one["line"], one["field"]) for one in report.refusals]


@pytest.mark.parametrize("name", ["labels.csv", "labels.tsv", "labels.xlsx"])
def test_each_column_of_labels_is_a_person(project: Project, tmp_path: Path, name: str) -> None:
    report = import_labels(project, table(tmp_path, WIDE, name))
    assert project.database.reader().execute(CURRENT).fetchall() == [
        ("Bob B", "correctness", 1, "correct", None, None),
        ("ann", "type", None, None, None, "A1"),
        ("ann", "correctness", 1, "correct", None, None),
        ("ann", "correctness", 2, "incorrect", None, None),
        ("ann", "correctness", 4, "unsuitable", "proof", None),
    ]
    assert (report.imported, refusals(report)) == (5, [(3, "Bob B"), (6, "completion_id")])
    assert (report.columns, report.ignored) == (["ann", "Bob B"], ["question", "note"])
    assert report.missing == {"Bob B": 3}
    again = import_labels(project, table(tmp_path, WIDE, name))
    assert (again.imported, again.unchanged) == (0, 5)


def test_each_row_may_be_one_label(project: Project, tmp_path: Path) -> None:
    rows = [
        ["Completion ID", "Annotator", "Verdict", "Answer Subtype", "Note", "unsure"],
        ["1", "ann", "TRUE", "", "sure", "yes"],
        ["2", "bob", "incorrect", "A2", "", ""],
        ["3", "bob", "unsure", "", "", ""],
        ["4", "", "correct", "", "", ""],
    ]
    report = import_labels(project, table(tmp_path, rows, "labels.csv"))
    assert (report.imported, refusals(report)) == (2, [(4, "verdict"), (5, "annotator")])
    labels = project.database.reader().execute("SELECT annotator, verdict, subtype, note, unsure FROM current_labels")
    assert sorted(labels.fetchall(), key=str) == [
        ("ann", "correct", None, "sure", 1),
        ("bob", "incorrect", None, None, 0),
        ("bob", None, "A2", None, 0),
    ]


@pytest.mark.parametrize("name", ["said.csv", "said.tsv", "said.xlsx"])
def test_each_column_of_verdicts_is_a_verifier(project: Project, tmp_path: Path, name: str) -> None:
    rows = [
        ["completion_id", "my judge", "rm", "remark"],
        ["1", "yes", "0.5", "a remark"],
        ["2", "no", "1", "another"],
        ["3", "hm", "", "a third"],
        ["4", "abstain", "nan", ""],
    ]
    report = import_verdicts(project, table(tmp_path, rows, name))
    verdicts = {
        one: {line.completion_id: line.verdict for line in verdict_lines(project, one)} for one in report.verifiers
    }
    assert verdicts == {
        "my-judge": {"1": "correct", "2": "incorrect", "4": "abstain"},
        "rm": {"1": "abstain", "2": "abstain"},
    }
    assert [(one.line, one.field) for one in report.refusals] == [(4, "my judge")]
    assert report.ignored == ["remark"]
    (judge, model) = report.columns or []
    assert (judge.column, judge.unknown, model.scored, model.missing) == ("my judge", 1, 2, 2)


def test_each_row_may_be_one_verdict(project: Project, tmp_path: Path) -> None:
    rows = [["completion_id", "verifier", "verdict", "score"], ["1", "v", "TRUE", "0.3"], ["2", "v", "", "x"]]
    report = import_verdicts(project, table(tmp_path, rows, "said.csv"))
    assert (report.imported, [(one.line, one.field) for one in report.refusals]) == (1, [(3, "score")])
    named = import_verdicts(project, table(tmp_path, [row[:1] + row[2:3] for row in rows], "s.csv"), name="w")
    assert (named.imported, named.refused) == (1, 1)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["who", "ann"], ["1", "yes"]], "no column holds the completion_id"),
        ([["completion_id", "ann"], ["1", "lovely"]], "no column has known words"),
        ([["completion_id", "a b", "a-b"], ["1", "yes", "no"]], "two columns would be one verifier"),
        ([["completion_id", "a", "a"], ["1", "yes", "no"]], "two columns are called 'a'"),
        ([], "no header row"),
    ],
)
def test_a_table_that_says_nothing_is_rejected_with_a_message(
    project: Project, tmp_path: Path, rows: Rows, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        import_verdicts(project, table(tmp_path, rows, "said.csv"))


def test_columns_that_are_verifiers_have_their_names(project: Project, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="each of its columns is a verifier"):
        import_verdicts(project, table(tmp_path, [["completion_id", "a"], ["1", "yes"]], "said.csv"), name="b")
