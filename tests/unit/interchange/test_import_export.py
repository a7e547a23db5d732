"""Imports and exports of items: lossless, and a second import changes nothing."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from msgspec import UNSET

from tests.released import released_row, released_rows
from workbench.core.errors import FormatError, UsageError
from workbench.core.project import Project, open_project
from workbench.data.formats import lines as formats
from workbench.interchange.exporting import ExportFormat, ExportOptions, export
from workbench.interchange.import_report import ImportReport
from workbench.interchange.importing import import_files, plan_import, preview_import

CONTENT = ("questions", "question_text", "completions", "completion_text", "sources", "models")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = open_project(tmp_path / "p.db", create=True)
    yield opened
    opened.close()


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _file(folder: Path, rows: list[dict[str, Any]], name: str = "f.jsonl") -> Path:
    path = folder / name
    path.write_bytes(_lines(rows))
    return path


def _import(project: Project, *files: Path, dataset: str = "d", **options: Any) -> ImportReport:
    return import_files(project, plan_import(files, **options), dataset=dataset)


_COUNTED = re.compile(r'"?(changes|generation|sqlite_sequence)"')


def _dump(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    try:
        # The change log may grow, because it records that rows were added and deleted. Transactions are counted.
        return [
            line for line in connection.iterdump() if not re.search(r'"?(changes|generation|sqlite_sequence)"', line)
        ]
    finally:
        connection.close()


def _content(project: Project) -> dict[str, list[tuple[object, ...]]]:
    reader = project.database.reader()
    return {table: reader.execute(f"SELECT * FROM {table} ORDER BY id").fetchall() for table in CONTENT}


def _imported_alone(folder: Path, file: Path, **options: Any) -> dict[str, list[tuple[object, ...]]]:
    folder.mkdir()
    project = open_project(folder / "p.db", create=True)
    report = _import(project, file, **options)
    assert report.quarantined == 0
    content = _content(project)
    project.close()
    return content


def _counts(report: ImportReport) -> tuple[int, int, int, int]:
    return report.read, report.imported, report.unchanged, report.quarantined


def test_the_released_file_round_trips_byte_for_byte(project: Project, real_file: Path, tmp_path: Path) -> None:
    report = _import(project, real_file)
    assert _counts(report) == (108, 108, 0, 0)
    assert (report.format, report.swapped_types) == ("verifybench", True)
    types = project.database.reader().execute(
        "SELECT q.type, count(*) FROM completions AS c JOIN questions AS q ON q.id = c.question_id GROUP BY 1"
    )
    assert types.fetchall() == [("A", 37), ("B", 15), ("C", 42), ("D", 14)]
    subtypes = project.database.reader().execute("SELECT count(DISTINCT subtype) FROM questions")
    assert subtypes.fetchone() == (15,)

    copy = tmp_path / "copy.jsonl"
    assert export(project, ExportOptions(file=copy, format="verifybench")).written == 108
    assert copy.read_bytes() == real_file.read_bytes()
    assert _imported_alone(tmp_path / "elsewhere", copy) == _content(project)
    assert _counts(_import(project, real_file)) == (108, 0, 108, 0)


def test_five_invalid_lines_are_rejected(
    project: Project, real_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MAX_LINE_BYTES", 10_000_000)
    lines = real_file.read_bytes().split(b"\n")
    lines[1] = lines[1][:-20]
    lines[3] = json.dumps({k: v for k, v in json.loads(lines[3]).items() if k != "answer"}).encode()
    lines[5] = json.dumps({**json.loads(lines[5]), "completion": 42}).encode()
    lines[7] = lines[7].replace(b'"completion": "', b'"completion": "\xc3\x28', 1)
    lines[9] = json.dumps({**json.loads(lines[9]), "completion": "x" * 20_000_000}).encode()
    spoiled = tmp_path / "spoiled.jsonl"
    spoiled.write_bytes(b"\n".join(lines))
    expected = {"bad_json": 1, "bad_utf8": 1, "missing_field": 1, "too_long": 1, "wrong_type": 1}
    for imported in (103, 0):
        report = _import(project, spoiled)
        assert _counts(report) == (108, imported, 103 - imported, 5)
        assert report.reasons == expected
        assert [row.line for row in report.quarantine] == [2, 4, 6, 8, 10]
    stored = project.database.reader().execute("SELECT count(*), max(length(raw)) FROM quarantine").fetchone()
    assert stored == (5, 65_536)


@settings(max_examples=30, deadline=None)
@given(released_rows())
def test_any_released_rows_round_trip_byte_for_byte(rows: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        project = open_project(folder / "p.db", create=True)
        source, copy = _file(folder, rows), folder / "copy.jsonl"
        assert _counts(_import(project, source)) == (len(rows), len(rows), 0, 0)
        export(project, ExportOptions(file=copy, format="verifybench"))
        project.close()
        assert copy.read_bytes() == source.read_bytes()


def test_importing_twice_changes_no_byte_of_any_table(project: Project, tmp_path: Path) -> None:
    source = _file(tmp_path, [released_row(n) for n in range(5)] + [{"question": "no more"}])
    _import(project, source)
    before = _dump(project.path)
    report = _import(project, source)
    assert _counts(report) == (6, 0, 5, 1)
    assert report.reasons == {"missing_field": 1}
    assert _dump(project.path) == before


def test_another_file_with_the_same_items_adds_no_items(project: Project, tmp_path: Path) -> None:
    rows = [released_row(n) for n in range(6)]
    _import(project, _file(tmp_path, rows[:4]))
    report = _import(project, _file(tmp_path, rows[::-1], "more.jsonl"))
    assert _counts(report) == (6, 2, 4, 0)


def test_the_same_id_with_other_content_is_a_conflict(project: Project, tmp_path: Path) -> None:
    _import(project, _file(tmp_path, [released_row(0), released_row(2)]))
    changed = [released_row(0, completion="Another."), released_row(2, question="Another?"), released_row(4)]
    report = _import(project, _file(tmp_path, changed, "changed.jsonl"))
    assert _counts(report) == (3, 1, 0, 2)
    assert report.reasons == {"conflict": 2}
    texts = project.database.reader().execute("SELECT text FROM completion_text WHERE text = 'Another.'")
    assert texts.fetchall() == []


@pytest.mark.parametrize("earlier", [False, True])
def test_a_row_twice_in_a_file_is_unchanged_or_a_duplicate(project: Project, tmp_path: Path, earlier: bool) -> None:
    if earlier:
        _import(project, _file(tmp_path, [released_row(8)], "earlier.jsonl"))
    report = _import(
        project,
        _file(
            tmp_path, [released_row(0), released_row(0), released_row(0, completion="x"), released_row(1, question="y")]
        ),
    )
    assert _counts(report) == (4, 1, 1, 2)
    assert report.reasons == {"duplicate_key": 2}
    assert [row.line for row in report.quarantine] == [3, 4]


def test_several_files_are_one_dataset(project: Project, tmp_path: Path) -> None:
    first = _file(tmp_path, [released_row(0), released_row(1)], "a.jsonl")
    second = _file(tmp_path, [released_row(1), released_row(2), released_row(0, completion="x")], "b.jsonl")
    report = import_files(project, plan_import([first, second, first]))
    assert report.dataset == "a"
    assert _counts(report) == (7, 3, 3, 1)
    assert report.reasons == {"conflict": 1}
    assert isinstance(report.files, list)
    assert [file.imported for file in report.files] == [2, 1, 0]


def test_the_swapped_and_the_corrected_file_give_the_same_content(tmp_path: Path) -> None:
    rows = [released_row(n) for n in range(4)]
    right = [{**row, "answer_type": row["answer_subtype"], "answer_subtype": row["answer_type"]} for row in rows]
    released = _file(tmp_path, rows, "d.jsonl")
    swapped = _imported_alone(tmp_path / "swapped", released)
    (as_named,) = plan_import([released], columns={"type": "answer_type", "subtype": "answer_subtype"})
    assert not as_named.swapped_types
    assert swapped == _imported_alone(tmp_path / "right", _file(tmp_path, right, "r.jsonl"))


def test_rows_the_other_way_round_are_rejected(project: Project, tmp_path: Path) -> None:
    odd = released_row(3, answer_type="A - Numeric Values", answer_subtype="A1 - Integer")
    report = _import(
        project,
        _file(tmp_path, [released_row(0), released_row(1), odd, released_row(4, answer_subtype="B - Expressions")]),
    )
    assert _counts(report) == (4, 2, 0, 2)
    assert report.reasons == {"type_mismatch": 2}


def test_an_unknown_code_survives(project: Project, tmp_path: Path) -> None:
    source, copy = _file(tmp_path, [released_row(0, answer_type="A9 - Something")]), tmp_path / "copy.jsonl"
    _import(project, source)
    export(project, ExportOptions(file=copy, format="verifybench"))
    assert copy.read_bytes() == source.read_bytes()


def test_the_fixed_export_reads_back_to_the_same_content(project: Project, tmp_path: Path) -> None:
    _import(project, _file(tmp_path, [released_row(n) for n in range(4)]))
    fixed = tmp_path / "fixed.jsonl"
    export(project, ExportOptions(file=fixed, format="verifybench-fixed"))
    first = json.loads(fixed.read_text(encoding="utf-8").splitlines()[0])
    assert (first["answer_type"], first["answer_subtype"]) == ("A - Numeric Values", "A1 - Integer")
    assert _imported_alone(tmp_path / "elsewhere", fixed) == _content(project)


def _as_table(rows: list[dict[str, Any]], path: Path, delimiter: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows([{**row, "gold_correct": str(row["gold_correct"]).lower()} for row in rows])


def test_every_format_gives_the_same_content(tmp_path: Path) -> None:
    rows = [{k: v for k, v in released_row(n).items() if k != "annotator"} for n in range(5)]
    files = {name: tmp_path / name for name in ("a.json", "b.json", "c.csv", "d.tsv", "e.parquet", "f.jsonl.gz")}
    files["a.json"].write_text(json.dumps(rows))
    files["b.json"].write_text(json.dumps({"rows": rows}, indent=1))
    _as_table(rows, files["c.csv"], ",")
    _as_table(rows, files["d.tsv"], "\t")
    pq.write_table(pa.Table.from_pylist(rows), files["e.parquet"])
    files["f.jsonl.gz"].write_bytes(gzip.compress(_lines(rows)))
    expected = _imported_alone(tmp_path / "jsonl", _file(tmp_path, rows))
    for name, path in files.items():
        assert _imported_alone(tmp_path / f"from-{name}", path) == expected, name


def test_unknown_keys_of_a_laid_out_document_fit_one_line_again(project: Project, tmp_path: Path) -> None:
    source, copy = tmp_path / "f.json", tmp_path / "copy.jsonl"
    source.write_text(json.dumps([released_row(0)], indent=2, ensure_ascii=False), encoding="utf-8")
    _import(project, source)
    export(project, ExportOptions(file=copy, format="verifybench"))
    assert copy.read_bytes() == _lines([released_row(0)])


def test_types_are_trusted_where_every_question_has_one(project: Project, tmp_path: Path) -> None:
    untyped = {"answer_type": None, "answer_subtype": None}
    _import(project, _file(tmp_path, [released_row(0)], "a.jsonl"), dataset="typed")
    _import(project, _file(tmp_path, [released_row(0), released_row(2, **untyped)], "b.jsonl"), dataset="partly")
    rows = project.database.reader().execute("SELECT name, types FROM datasets ORDER BY id").fetchall()
    assert rows == [("typed", "trusted"), ("partly", "labelled")]


def test_a_dry_run_reports_the_same_and_writes_nothing(project: Project, tmp_path: Path) -> None:
    rows = [released_row(0), released_row(0), released_row(0, completion="x"), released_row(1), {"question": "?"}]
    plans = plan_import([_file(tmp_path, rows)])
    assert _counts(preview_import(None, plans, dataset="d")) == (5, 2, 1, 2)
    before = _dump(project.path)
    assert _counts(preview_import(project, plans, dataset="d")) == (5, 2, 1, 2)
    assert _dump(project.path) == before
    import_files(project, plans, dataset="d")
    again = preview_import(project, plans, dataset="d")
    assert _counts(again) == (5, 0, 3, 2)


def test_a_failing_import_takes_everything_back(project: Project, tmp_path: Path) -> None:
    _import(project, _file(tmp_path, [released_row(0)], "first.jsonl"))
    before = _dump(project.path)
    plans = plan_import([_file(tmp_path, [released_row(n) for n in range(4_000)])])

    def stop(size: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_files(project, plans, dataset="new", progress=stop)
    assert _dump(project.path) == before


def test_exported_gold_is_the_annotated_one(project: Project, tmp_path: Path) -> None:
    source = _file(tmp_path, [released_row(0), released_row(1), released_row(2)])
    _import(project, source)
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO item_states (completion_id, state, gold, gold_from, subtype, reason) VALUES "
            "(1, 'final', 0, 'agreed', 'B5', NULL), (2, 'conflict', NULL, NULL, NULL, NULL)"
        )
    path = tmp_path / "out.jsonl"
    report = export(project, ExportOptions(file=path, format="verifybench"))
    assert (report.written, report.without_gold) == (3, 1)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["gold_correct"] for row in rows] == [False, None, True]
    assert (rows[0]["answer_type"], rows[0]["answer_subtype"]) == ("B5 - Matrix", "B - Expressions")
    assert export(project, ExportOptions(file=path, format="verifybench", gold="people", force=True)).without_gold == 2
    export(project, ExportOptions(file=path, format="verifybench", gold="imported", force=True))
    assert path.read_bytes() == source.read_bytes()


def test_export_takes_a_part(project: Project, tmp_path: Path) -> None:
    _import(project, _file(tmp_path, [released_row(n) for n in range(4)], "a.jsonl"), dataset="a")
    _import(project, _file(tmp_path, [released_row(n) for n in range(2)], "b.jsonl"), dataset="b")
    wrong = ExportOptions(file=tmp_path / "o.csv", format="csv", dataset="a", where=("gold=incorrect",))
    assert export(project, wrong).written == 2
    with pytest.raises(UsageError, match="no data set 'c'"):
        export(project, ExportOptions(file=tmp_path / "x.csv", format="csv", dataset="c"))


@pytest.mark.parametrize("format", ["csv", "parquet", "jsonl"])
def test_tables_hold_the_texts_unaltered(project: Project, tmp_path: Path, format: ExportFormat) -> None:
    odd = '=cmd|" /C"!A1\r\n\x01\x1f,"\u2028 -1'
    _import(project, _file(tmp_path, [released_row(0, completion=odd)]))
    path = tmp_path / f"out.{format}.gz" if format != "parquet" else tmp_path / "out.parquet"
    export(project, ExportOptions(file=path, format=format))
    elsewhere = open_project(tmp_path / "e.db", create=True)
    _import(elsewhere, path)
    texts = elsewhere.database.reader().execute("SELECT text FROM completion_text").fetchall()
    elsewhere.close()
    assert texts == [(odd,)]


def test_an_existing_file_is_replaced_only_by_force(project: Project, tmp_path: Path) -> None:
    _import(project, _file(tmp_path, [released_row(0)]))
    path = tmp_path / "out.csv"
    path.write_text("mine")
    with pytest.raises(FormatError, match="exists"):
        export(project, ExportOptions(file=path, format="csv"))
    assert path.read_text() == "mine"
    export(project, ExportOptions(file=path, format="csv", force=True))
    assert path.read_text(encoding="utf-8") != "mine"
    assert sorted(file.name for file in tmp_path.glob("*out*")) == ["out.csv"]


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_labels_and_verdicts_are_tables(project: Project, tmp_path: Path) -> None:
    _import(project, _file(tmp_path, [released_row(0), released_row(1)]))
    with project.database.write() as connection:
        connection.execute("INSERT INTO annotators (id, name, created_at) VALUES (3, 'Ada', '2025')")
        connection.executemany(
            "INSERT INTO label_events (uuid, kind, task, subject, annotator_id, verdict, subtype, supersedes, schema, "
            "created_at) VALUES (?, 'label', ?, 1, 3, ?, ?, ?, 1, '2025')",
            [
                ("a", "correctness", "correct", None, None),
                ("b", "correctness", "incorrect", None, "a"),
                ("c", "type", None, "A1", None),
            ],
        )
        connection.execute(
            "INSERT INTO verifiers (id, name, kind, config, config_hash, created_at) VALUES (1, 'v', 'k', '', '', '')"
        )
        connection.execute(
            "INSERT INTO runs (id, verifier_id, version, selection, workers, state, items, created_at) "
            "VALUES (1, 1, '1', '', 1, 'complete', 2, '')"
        )
        connection.execute("INSERT INTO verdicts VALUES (1, 2, 0, 2, NULL, 'no_answer', 1.5)")
    labels, verdicts = tmp_path / "l.csv", tmp_path / "v.csv"
    assert export(project, ExportOptions(file=labels, format="csv", table="labels")).written == 2
    first, second = _table(labels)
    assert (first["completion_id"], first["annotator"], first["verdict"]) == ("c0", "annotator-3", "incorrect")
    assert (second["question_id"], second["task"], second["subtype"]) == ("q0", "type", "A1")
    export(project, ExportOptions(file=labels, format="csv", table="labels", names=True, force=True))
    assert "Ada" in labels.read_text(encoding="utf-8")
    export(project, ExportOptions(file=verdicts, format="csv", table="verdicts"))
    (row,) = _table(verdicts)
    assert (row["completion_id"], row["verdict"], row["reason"]) == ("c1", "abstain", "no_answer")
    with pytest.raises(UsageError):
        export(project, ExportOptions(file=tmp_path / "l.jsonl", format="verifybench", table="labels"))


@pytest.mark.parametrize("name", ["  ", "a\x1b[31m", "a\nb", "x" * 201])
def test_a_dataset_has_a_name_that_can_be_shown(project: Project, tmp_path: Path, name: str) -> None:
    plans = plan_import([_file(tmp_path, [{"question": "a", "answer": "b", "completion": "c"}])])
    for action in (import_files, preview_import):
        with pytest.raises(UsageError, match="not a valid data set name"):
            action(project, plans, dataset=name)


SAMPLED: list[dict[str, Any]] = [
    {"question": "1+1?", "reference": "2", "completion": "2", "model": "m", "gold": True},
    {"question": "1+1?", "reference": "2", "completion": "2", "model": "m", "gold": True},
    {"question": "1+1?", "reference": "2", "completion": "3", "model": "m", "gold": False},
    {"question": "1+1?", "reference": "2", "completion": "2", "model": "m", "gold": True},
    {"question": "1+1?", "reference": "2", "completion": "2", "model": "n", "gold": True},
    {"question_id": "q", "completion_id": "c", "question": "2+2?", "reference": "4", "completion": "5"},
]


def _sampled(folder: Path, rows: list[dict[str, Any]], name: str = "samples.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_equal_samples_can_be_kept_and_imported_idempotently(project: Project, tmp_path: Path) -> None:
    path = _sampled(tmp_path, SAMPLED)
    once = import_files(project, plan_import([path]), dataset="d")
    assert (once.imported, once.unchanged, once.repeated) == (4, 2, 2)
    plans = plan_import([path], keep_equal=True)
    preview = preview_import(project, plans, dataset="d")
    kept = import_files(project, plans, dataset="d")
    assert (preview.imported, preview.unchanged, preview.repeated) == (2, 4, UNSET)
    assert (kept.imported, kept.unchanged, kept.repeated) == (2, 4, UNSET)
    for again in (
        plans,
        plan_import([path]),
        plan_import([_sampled(tmp_path, SAMPLED, "copy.jsonl")], keep_equal=True),
    ):
        assert import_files(project, again, dataset="d").imported == 0
    more = _sampled(tmp_path, [*SAMPLED, SAMPLED[0]])
    assert import_files(project, plan_import([more], keep_equal=True), dataset="d").imported == 1
    texts = project.database.reader().execute(
        "SELECT t.text, count(*) FROM completions AS c JOIN completion_text AS t ON t.id = c.id GROUP BY 1 ORDER BY 1"
    )
    assert [tuple(row) for row in texts] == [("2", 5), ("3", 1), ("5", 1)]


@pytest.mark.parametrize("form", ["jsonl", "csv", "verifybench"])
def test_kept_samples_round_trip_separately(project: Project, tmp_path: Path, form: ExportFormat) -> None:
    import_files(project, plan_import([_sampled(tmp_path, SAMPLED)], keep_equal=True), dataset="d")
    out = tmp_path / "out"
    export(project, ExportOptions(file=out, format=form))
    with closing(open_project(tmp_path / "other.db", create=True)) as other:
        assert import_files(other, plan_import([out]), dataset="d").imported == 6
        assert import_files(other, plan_import([out], keep_equal=True), dataset="d").imported == 0


def test_each_kept_sample_has_its_own_verdict(project: Project, tmp_path: Path) -> None:
    rows = [row | {"said": said} for row, said in zip(SAMPLED[:2], ("yes", "no"), strict=True)]
    plans = plan_import([_sampled(tmp_path, rows)], keep_equal=True, graders={"grader": "said"})
    assert import_files(project, plans, dataset="d").verdicts == 2


def test_equal_samples_without_ids_are_counted_since_they_are_one_item(project: Project, tmp_path: Path) -> None:
    rows = [
        {"question": "1+1?", "reference": "2", "completion": "2"},
        {"question": "1+1?", "reference": "2", "completion": "2"},
        {"question_id": "q", "question": "2+2?", "reference": "4", "completion": "4"},
        {"question_id": "q", "question": "2+2?", "reference": "4", "completion": "4"},
        {"question_id": "q", "completion_id": "c", "question": "2+2?", "reference": "4", "completion": "5"},
        {"question_id": "q", "completion_id": "c", "question": "2+2?", "reference": "4", "completion": "5"},
    ]
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for report in (preview_import(project, plan_import([path])), import_files(project, plan_import([path]))):
        assert (report.imported, report.unchanged, report.repeated) == (3, 3, 2)
    path.write_text(path.read_text() + "\n")
    again = import_files(project, plan_import([path]))
    assert (again.imported, again.unchanged, again.repeated) == (0, 6, UNSET)
