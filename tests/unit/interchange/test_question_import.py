"""Importing questions without completions: once, with the licence of their source, and matched later."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.core.errors import FormatError, UsageError
from workbench.core.item import QuestionRecord
from workbench.core.project import Project, open_project
from workbench.data.formats.reading import plan_file, read_records
from workbench.data.store.importing import ImportKey, import_session
from workbench.interchange.exporting import ExportOptions, export
from workbench.interchange.import_report import ImportReport
from workbench.interchange.importing import import_files, plan_import, preview_import
from workbench.measuring.briefing import status

ROWS: list[dict[str, Any]] = [
    {"question_id": "q1", "question": "1 + 1?", "answer": "2", "source": "math/sums", "licence": "MIT", "level": 3},
    {"question_id": "q2", "question": "2 + 2?", "answer": 4, "source": "math/sums", "licence": "MIT", "level": 1.50},
    {"question_id": "q3", "question": "Capital of Peru?", "answer": "Lima", "source": "trivia", "licence": "/"},
]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = open_project(tmp_path / "p.db", create=True)
    yield opened
    opened.close()


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def bring(project: Project, *files: Path, **options: Any) -> ImportReport:
    return import_files(project, plan_import(files, **options), dataset="pool")


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return report.read, report.imported, report.unchanged, report.quarantined


def stored(project: Project) -> list[tuple[Any, ...]]:
    rows = project.database.reader().execute(
        "SELECT q.key, t.text, t.reference, s.name, s.domain, s.licence, t.extra FROM questions AS q "
        "JOIN question_text AS t ON t.id = q.id LEFT JOIN sources AS s ON s.id = q.source_id ORDER BY q.id"
    )
    return rows.fetchall()


def test_questions_are_recognised_and_stored_completely(project: Project, tmp_path: Path) -> None:
    report = bring(project, write(tmp_path / "pool.jsonl", ROWS))
    assert (report.format, counts(report)) == ("questions", (3, 3, 0, 0))
    assert stored(project) == [
        ("q1", "1 + 1?", "2", "math/sums", "math", "MIT", '{"licence": "MIT", "level": 3}'),
        ("q2", "2 + 2?", "4", "math/sums", "math", "MIT", '{"licence": "MIT", "level": 1.5}'),
        ("q3", "Capital of Peru?", "Lima", "trivia", None, None, '{"licence": "/"}'),
    ]
    found = status(project)
    assert (found.items, found.questions, found.datasets[0].questions, found.datasets[0].items) == (0, 3, 3, 0)


def test_a_file_that_is_there_changes_nothing_and_a_longer_one_only_adds(project: Project, tmp_path: Path) -> None:
    file = write(tmp_path / "pool.jsonl", ROWS)
    bring(project, file)
    assert counts(bring(project, file)) == (3, 0, 3, 0)
    more = {"question_id": "q4", "question": "?", "answer": ""}
    longer = write(tmp_path / "more.jsonl", [*ROWS, more])
    before = stored(project)
    assert counts(preview_import(project, plan_import([longer]), dataset="pool")) == (4, 1, 3, 0)
    assert stored(project) == before
    assert counts(bring(project, longer)) == (4, 1, 3, 0)
    assert stored(project)[:3] == before


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "parquet"])
def test_every_container_holds_questions(project: Project, tmp_path: Path, format: str) -> None:
    rows = [{name: str(row.get(name, "")) for name in ("question", "answer", "source")} for row in ROWS]
    file = tmp_path / f"pool.{format}"
    if format == "parquet":
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.Table.from_pylist(rows), file)
    elif format == "json":
        file.write_text(json.dumps(rows), encoding="utf-8")
    else:
        with file.open("w", newline="", encoding="utf-8") as opened:
            writer = csv.DictWriter(opened, list(rows[0]), delimiter="," if format == "csv" else "\t")
            writer.writeheader()
            writer.writerows(rows)
    report = bring(project, file)
    assert (report.format, counts(report)) == ("questions", (3, 3, 0, 0))
    assert [row[3] for row in stored(project)] == ["math/sums", "math/sums", "trivia"]


def test_options_fill_in_missing_fields_of_rows(project: Project, tmp_path: Path) -> None:
    rows = [{"question": "1?", "answer": "1"}, {"question": "2?", "answer": "2", "source": "own", "license": "GPL-3.0"}]
    report = bring(project, write(tmp_path / "p.jsonl", rows), source="math/GSM8K", licence="MIT")
    assert counts(report) == (2, 2, 0, 0)
    assert [row[3:6] for row in stored(project)] == [("math/GSM8K", "math", "MIT"), ("own", None, "GPL-3.0")]


def test_options_apply_to_items_too_and_exports_are_unchanged(project: Project, tmp_path: Path) -> None:
    rows = [{"question": "1?", "answer": "1", "completion": "one", "license": "MIT"}]
    file = write(tmp_path / "items.jsonl", rows)
    assert counts(bring(project, file, source="math/GSM8K")) == (1, 1, 0, 0)
    assert [row[3:6] for row in stored(project)] == [("math/GSM8K", "math", "MIT")]
    export(project, ExportOptions(file=tmp_path / "back.jsonl", format="verifybench"))
    assert json.loads((tmp_path / "back.jsonl").read_text())["license"] == "MIT"


def test_a_separate_domain_prefixes_the_source(project: Project, tmp_path: Path) -> None:
    rows = [{"question": "1?", "answer": "1", "domain": "math", "source": name} for name in ("GSM8K", "logic/LogiQA")]
    rows[1]["question"] = "2?"
    bring(project, write(tmp_path / "p.jsonl", rows))
    assert [row[3] for row in stored(project)] == ["math/GSM8K", "logic/LogiQA"]


def test_a_source_has_one_licence(project: Project, tmp_path: Path) -> None:
    other = {"question_id": "q9", "question": "9?", "answer": "9", "source": "math/sums", "licence": "GPL-3.0"}
    report = bring(project, write(tmp_path / "p.jsonl", [*ROWS, other]))
    assert (counts(report), report.reasons) == ((4, 3, 0, 1), {"conflict": 1})
    assert report.quarantine[0].field == "licence"
    assert "'math/sums' has the licence 'MIT', not 'GPL-3.0'" in report.quarantine[0].message
    # An unknown licence is filled in by the first file that knows it.
    known = {**ROWS[2], "licence": "CC0-1.0", "question_id": "q10"}
    bring(project, write(tmp_path / "known.jsonl", [known]))
    assert stored(project)[2][5] == "CC0-1.0"
    left = bring(project, write(tmp_path / "left.jsonl", [other]), columns={"licence": ""})
    assert counts(left) == (1, 1, 0, 0)


def test_contradicting_rows_are_rejected(project: Project, tmp_path: Path) -> None:
    bring(project, write(tmp_path / "p.jsonl", ROWS))
    rows = [
        {**ROWS[0], "answer": "3"},
        {**ROWS[1], "level": 2},
        {"question_id": "n1", "question": "a", "answer": "b"},
        {"question_id": "n1", "question": "a", "answer": "c"},
        {"question_id": "n2", "answer": "b"},
        {"question_id": "n3", "question": "a\0", "answer": "b"},
        {"question_id": "", "question": "a", "answer": "b"},
        {"question_id": "n4", "question": "a", "answer": ["b"]},
    ]
    report = bring(project, write(tmp_path / "q.jsonl", rows))
    assert counts(report) == (8, 1, 0, 7)
    assert [(row.line, row.code, row.field) for row in report.quarantine] == [
        (1, "conflict", "question_id"),
        (2, "conflict", "question_id"),
        (4, "duplicate_key", "question_id"),
        (5, "missing_field", "question"),
        (6, "nul", "question"),
        (7, "missing_field", "question_id"),
        (8, "wrong_type", "answer"),
    ]


def test_an_item_file_later_speaks_of_the_same_question(project: Project, tmp_path: Path) -> None:
    bring(project, write(tmp_path / "p.jsonl", ROWS))
    before = stored(project)
    item = {"question_id": "q1", "completion_id": "c1", "question": "1 + 1?", "answer": "2", "completion": "two"}
    full = {**item, "completion_id": "c2", "source": "math/sums"}
    other = {**item, "completion_id": "c3", "source": "math/differences"}
    report = bring(project, write(tmp_path / "items.jsonl", [item, full, other]))
    assert (counts(report), report.reasons) == ((3, 2, 0, 1), {"conflict": 1})
    assert stored(project) == before
    assert status(project).items == 2


def test_a_pool_later_gives_its_keys_to_the_questions_of_items(project: Project, tmp_path: Path) -> None:
    item = {**ROWS[0], "completion_id": "c1", "completion": "two"}
    del item["licence"], item["level"]
    bring(project, write(tmp_path / "items.jsonl", [item]))
    pool = write(tmp_path / "p.jsonl", ROWS)
    assert counts(bring(project, pool)) == (3, 3, 0, 0)
    assert stored(project)[0][5:] == ("MIT", '{"licence": "MIT", "level": 3}')
    assert counts(bring(project, pool, licence="MIT")) == (3, 0, 3, 0)


def test_an_import_that_breaks_off_leaves_nothing(project: Project, tmp_path: Path) -> None:
    bring(project, write(tmp_path / "p.jsonl", ROWS))
    before = stored(project)
    record = QuestionRecord(
        line=1, raw=b"", question_key="new", question="?", reference="", source="trivia", licence="CC0-1.0", extra="{}"
    )
    with pytest.raises(KeyboardInterrupt):
        _break_off(project, record)
    assert stored(project) == before


def _break_off(project: Project, record: QuestionRecord) -> None:
    file = ImportKey(path="f", format="questions", mapping="{}")
    with import_session(project.database, "pool") as session, session.file(file) as target:
        target.add([record], [])
        raise KeyboardInterrupt


def test_missing_values_of_a_table_of_questions_are_those_of_a_table_of_items(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "pool.csv"
    file.write_text("question_id,question,answer,source,type\nq1,1 + 1?,2,NaN,n/a\n")
    assert counts(bring(project, file)) == (1, 1, 0, 0)
    assert stored(project)[0][:4] == ("q1", "1 + 1?", "2", None)


@pytest.mark.parametrize("column", ["model", "gold_correct", "completion_id"])
def test_an_item_file_without_its_completions_is_none_of_questions(tmp_path: Path, column: str) -> None:
    file = write(tmp_path / "p.jsonl", [{"question": "1?", "answer": "1", column: "x"}])
    with pytest.raises(FormatError, match="no column holds the completion"):
        plan_file(file)
    with read_records(plan_file(file, format="questions")) as (rows, _):
        assert [type(row) for row in rows] == [QuestionRecord]


def test_types_are_taken_the_right_way_round(project: Project, tmp_path: Path) -> None:
    rows = [{"question": f"{n}?", "answer": "1", "answer_type": "A1 - Integer", "answer_subtype": "A"} for n in "12"]
    report = bring(project, write(tmp_path / "p.jsonl", rows))
    assert report.swapped_types
    found = project.database.reader().execute("SELECT DISTINCT type, subtype FROM questions").fetchall()
    assert (found, status(project).datasets[0].types) == ([("A", "A1")], "trusted")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"licence": "MIT"}, "licence is the licence of a source", id="licence alone"),
        pytest.param({"source": " "}, "--source", id="blank"),
        pytest.param({"columns": {"completion": "answer"}}, "no column holds the reference", id="completion"),
        pytest.param({"format": "questions", "columns": {"gold": "answer"}}, "such a file has no gold", id="gold"),
    ],
)
def test_what_does_not_go_together_is_rejected(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    file = write(tmp_path / "p.jsonl", [{"question": "1?", "answer": "1"}])
    with pytest.raises((UsageError, FormatError), match=message):
        plan_import([file], **options)


def test_code_has_its_own_sources(tmp_path: Path) -> None:
    problems = Path(__file__).resolve().parents[3] / "sample_data" / "code_problems.jsonl"
    with pytest.raises(UsageError, match="holds code"):
        plan_import([problems], source="code/own")


def test_real_questions_become_the_questions_of_their_completions(
    project: Project, tmp_path: Path, real_file: Path
) -> None:
    keys = ("question_id", "question", "answer", "source", "answer_type", "answer_subtype")
    rows = {row["question_id"]: row for row in map(json.loads, real_file.read_text(encoding="utf-8").splitlines())}
    pool = write(tmp_path / "pool.jsonl", [{key: row[key] for key in keys} for row in rows.values()])
    assert counts(bring(project, pool)) == (106, 106, 0, 0)
    report = bring(project, real_file)
    assert (counts(report), status(project).questions) == ((108, 108, 0, 0), 106)
    export(project, ExportOptions(file=tmp_path / "back.jsonl", format="verifybench"))
    assert (tmp_path / "back.jsonl").read_bytes() == real_file.read_bytes()
