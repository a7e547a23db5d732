"""Problems, tests and solutions are imported once, completely or not at all, alongside items."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from workbench.core.code import Record
from workbench.core.database.connection import Database
from workbench.core.errors import UsageError
from workbench.core.item import Refusal
from workbench.core.project import Project, open_project
from workbench.data.formats.reading import read_records
from workbench.data.store.importing import ImportKey, discard_dead_imports, import_session
from workbench.data.store.tests import problems_of
from workbench.interchange.exporting import ExportOptions, export
from workbench.interchange.import_report import ImportReport
from workbench.interchange.importing import import_files, plan_import, preview_import
from workbench.measuring.briefing import status

SAMPLE = Path(__file__).resolve().parents[3] / "sample_data"
PROBLEMS, SOLUTIONS = SAMPLE / "code_problems.jsonl", SAMPLE / "code_solutions.jsonl"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = open_project(tmp_path / "p.db", create=True)
    yield opened
    opened.close()


def problem(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "task_id": f"T/{number}",
        "prompt": f"def f{number}():\n",
        "entry_point": f"f{number}",
        "canonical_solution": f"def f{number}():\n    return {number}\n",
        "tests": [f"assert f{number}() == {number}"],
        **fields,
    }


def solution(number: int, name: str = "a", **fields: Any) -> dict[str, Any]:
    return {"task_id": f"T/{number}", "solution_id": name, "code": f"def f{number}(): return 1", **fields}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def bring(project: Project, *files: Path, dataset: str | None = None) -> ImportReport:
    return import_files(project, plan_import(files), dataset=dataset)


def counts(report: ImportReport) -> tuple[int, int, int, int]:
    return report.read, report.imported, report.unchanged, report.quarantined


def count(project: Project, table: str) -> int:
    return int(project.database.reader().execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def suite_counts(project: Project) -> dict[str, int]:
    rows = project.database.reader().execute(
        "SELECT s.name, count(*) FROM tests AS t JOIN suites AS s ON s.id = t.suite_id GROUP BY 1"
    )
    return dict(rows.fetchall())


def test_problems_and_solutions_in_one_call_make_one_dataset(project: Project) -> None:
    report = bring(project, SOLUTIONS, PROBLEMS)
    assert (report.dataset, report.format, counts(report)) == ("code_problems", "problems", (119, 119, 0, 0))
    assert report.files
    assert [file.format for file in report.files] == ["problems", "solutions"]
    assert suite_counts(project) == {"base": 89, "plus": 110, "whole": 11}
    stored = project.database.reader().execute(
        "SELECT q.key, s.name, s.domain, c.key, c.imported_gold, f.form, f.ground_truth FROM completions AS c "
        "JOIN questions AS q ON q.id = c.question_id JOIN sources AS s ON s.id = q.source_id "
        "JOIN code_solutions AS f ON f.completion_id = c.id ORDER BY c.id LIMIT 1"
    )
    assert stored.fetchone() == ("Sample/0", "code/sample", "code", "Sample/0/0", 1, "program", 1)
    assert project.database.reader().execute("PRAGMA foreign_key_check").fetchall() == []
    assert project.database.reader().execute("SELECT types FROM datasets").fetchone() == ("trusted",)
    assert counts(bring(project, PROBLEMS, SOLUTIONS)) == (119, 0, 119, 0)


def test_one_after_the_other_is_the_same(project: Project, tmp_path: Path) -> None:
    bring(project, PROBLEMS)
    assert status(project).questions == 12
    report = bring(project, SOLUTIONS)
    assert (report.dataset, counts(report)) == ("code_problems", (107, 107, 0, 0))
    other = open_project(tmp_path / "other.db", create=True)
    bring(other, PROBLEMS, SOLUTIONS)
    for table in ("questions", "code_problems", "tests", "completions", "completion_text", "code_solutions"):
        rows = [each.database.reader().execute(f"SELECT * FROM {table}").fetchall() for each in (project, other)]
        assert rows[0] == rows[1]
    other.close()


def test_solutions_without_problems_need_their_dataset(project: Project, tmp_path: Path) -> None:
    solutions = write(tmp_path / "s.jsonl", [solution(1)])
    with pytest.raises(UsageError, match="no data set contains their problems"):
        bring(project, solutions)
    with pytest.raises(UsageError, match="no data set contains their problems"):
        preview_import(None, plan_import([solutions]))
    problems = write(tmp_path / "one.jsonl", [problem(1)])
    bring(project, problems)
    bring(project, problems, dataset="two")
    with pytest.raises(UsageError, match="several data sets hold these problems: one, two") as caught:
        bring(project, solutions)
    assert "--dataset" in caught.value.hint
    assert counts(bring(project, solutions, dataset="two")) == (1, 1, 0, 0)


def test_a_solution_of_an_unknown_problem_waits_until_it_is_there(project: Project, tmp_path: Path) -> None:
    bring(project, write(tmp_path / "p.jsonl", [problem(1)]))
    solutions = write(tmp_path / "s.jsonl", [solution(1), solution(2)])
    for again in (0, 1):
        report = bring(project, solutions)
        assert counts(report) == (2, 1 - again, again, 1)
        assert report.reasons == {"unknown_problem": 1}
        (row,) = report.quarantine
        assert (row.line, row.field) == (2, "task_id")
        assert "'T/2'" in row.message
    bring(project, write(tmp_path / "more.jsonl", [problem(2)]), dataset="p")
    assert counts(bring(project, solutions)) == (2, 1, 1, 0)


def test_an_item_is_not_a_problem(project: Project, tmp_path: Path) -> None:
    items = [{"question_id": "T/1", "question": "def f1():\n", "answer": "x", "completion": "c"}]
    bring(project, write(tmp_path / "i.jsonl", items), dataset="d")
    report = bring(project, write(tmp_path / "s.jsonl", [solution(1)]), dataset="d")
    assert report.reasons == {"unknown_problem": 1}
    same_texts = problem(1, prompt="def f1():\n", canonical_solution="x", source=None)
    report = bring(project, write(tmp_path / "p.jsonl", [{**same_texts, "task_id": "T/1"}]), dataset="d")
    assert report.reasons == {"conflict": 1}
    assert count(project, "code_problems") == 0


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"prompt": "def f():\n"}, "prompt"),
        ({"canonical_solution": ""}, "prompt"),
        ({"entry_point": "g"}, "entry_point"),
        ({"setup": "x = 1"}, "entry_point"),
        ({"tests": ["assert f1() == 2"]}, "tests"),
    ],
    ids=["prompt", "solution", "entry point", "setup", "tests"],
)
def test_another_problem_of_the_same_id_is_a_conflict(
    project: Project, tmp_path: Path, changed: dict[str, Any], field: str
) -> None:
    other = problem(1, **changed)
    within = bring(project, write(tmp_path / "p.jsonl", [problem(1), other, problem(1)]), dataset="d")
    assert counts(within) == (3, 1, 1, 1)
    assert within.reasons == {"duplicate_key": 1}
    later = bring(project, write(tmp_path / "q.jsonl", [other]), dataset="d")
    assert later.reasons == {"conflict": 1}
    assert later.quarantine[0].field == field
    assert suite_counts(project) == {"base": 1}


def test_solutions_go_with_a_refused_problem_of_their_row(project: Project, tmp_path: Path) -> None:
    ranked = [{"rank": 1, "solution": "x"}, {"rank": 2, "solution": "y"}]
    row = {"task_id": "T/1", "prompt": "Write f.", "code": "x", "test_list": ["assert f()"], "all_solutions": ranked}
    assert counts(bring(project, write(tmp_path / "a.jsonl", [row]), dataset="d")) == (3, 3, 0, 0)
    changed = {**row, "prompt": "another", "all_solutions": [{"id": 9, "rank": 3, "solution": "z"}]}
    report = bring(project, write(tmp_path / "b.jsonl", [changed]), dataset="d")
    assert (counts(report), report.reasons) == ((2, 0, 0, 2), {"conflict": 2})


def test_a_further_suite_is_added_to_problems_that_are_there(project: Project, tmp_path: Path) -> None:
    bring(project, write(tmp_path / "p.jsonl", [problem(1), problem(2)]), dataset="d")
    more = [problem(1, plus_tests=["assert f1() > 0"]), problem(2), problem(3)]
    report = bring(project, write(tmp_path / "q.jsonl", more), dataset="d")
    assert counts(report) == (3, 2, 1, 0)
    assert suite_counts(project) == {"base": 3, "plus": 1}
    only = {key: value for key, value in problem(1, suites={"hard": ["assert f1() < 9"]}).items() if key != "tests"}
    assert counts(bring(project, write(tmp_path / "r.jsonl", [only]), dataset="d")) == (1, 1, 0, 0)
    assert suite_counts(project) == {"base": 3, "plus": 1, "hard": 1}


def test_a_dry_run_equals_the_import_report(project: Project, tmp_path: Path) -> None:
    bring(project, write(tmp_path / "p.jsonl", [problem(1)]), dataset="d")
    files = [
        write(tmp_path / "s.jsonl", [solution(1), solution(2), solution(9), solution(1)]),
        write(tmp_path / "q.jsonl", [problem(1), problem(2), problem(1, tests=["assert f1() == 3"])]),
    ]
    before = count(project, "tests"), count(project, "completions")
    preview = preview_import(project, plan_import(files), dataset="d")
    assert (count(project, "tests"), count(project, "completions")) == before
    real = import_files(project, plan_import(files), dataset="d")
    assert counts(preview) == counts(real) == (7, 3, 2, 2)
    assert preview.reasons == real.reasons == {"conflict": 1, "unknown_problem": 1}
    assert counts(preview_import(None, plan_import(files[::-1]))) == (7, 4, 1, 2)


def test_an_import_that_breaks_off_leaves_nothing(project: Project, tmp_path: Path) -> None:
    bring(project, write(tmp_path / "p.jsonl", [problem(1)]), dataset="d")
    before = _dump(project)
    plan = plan_import([write(tmp_path / "q.jsonl", [problem(1, plus_tests=["assert f1()"]), problem(2)])])[0]
    with read_records(plan) as (rows, _):
        records = [row for row in rows if not isinstance(row, Refusal)]
    with pytest.raises(KeyboardInterrupt):
        _break_off(project, records)
    assert _dump(project) == before


def _break_off(project: Project, records: list[Record]) -> None:
    file = ImportKey(path="f", format="problems", mapping="{}")
    with import_session(project.database, "d") as session, session.file(file) as target:
        target.add(records, [])
        # Rows of visible problems do not exist yet; rows of a hidden problem are hidden with it.
        assert suite_counts(project) == {"base": 2}
        raise KeyboardInterrupt


def _dump(project: Project) -> list[str]:
    connection = sqlite3.connect(project.database.path)
    try:
        return [
            line
            for line in connection.iterdump()
            if not re.search("changes|generation", line) and "sqlite_sequence" not in line
        ]
    finally:
        connection.close()


@pytest.mark.soak
def test_a_killed_import_of_code_shows_nothing_and_the_next_one_completes(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    first = open_project(path, create=True)
    bring(first, write(tmp_path / "small.jsonl", [problem(0)]), dataset="d")
    first.close()
    big = [problem(number, plus_tests=[f"assert f{number}() == {n}" for n in range(9)]) for number in range(8_000)]
    file = write(tmp_path / "big.jsonl", big)
    command = [sys.executable, "-m", "workbench", "import", str(path), str(file), "--dataset", "d"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    database = Database(path)
    while database.reader().execute("SELECT count(*) FROM code_problems").fetchone()[0] < 1_000:
        assert process.poll() is None, "the import ended before it could be killed"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    visible = "SELECT count(*) FROM tests WHERE question_id < (SELECT question_id FROM horizon)"
    assert database.reader().execute(visible).fetchone() == (1,)
    assert discard_dead_imports(database) == 1
    for table, left in (("questions", 1), ("code_problems", 1), ("tests", 1), ("suites", 1), ("imports", 1)):
        assert database.reader().execute(f"SELECT count(*) FROM {table}").fetchone() == (left,), table
    database.close()
    assert os.path.exists(path)


def test_code_items_are_exported_as_items(project: Project, tmp_path: Path) -> None:
    bring(project, PROBLEMS, SOLUTIONS)
    for format in ("verifybench", "jsonl"):
        file = tmp_path / f"{format}.jsonl"
        assert export(project, ExportOptions(file=file, format=format)).written == 107
        row = json.loads(file.read_text().splitlines()[0])
        assert (row["question_id"], row["completion_id"]) == ("Sample/0", "Sample/0/0")
        assert row["answer"] == row["completion"]


def test_the_real_problems_and_solutions(project: Project, shared_data: Path) -> None:
    files = [shared_data / "code" / name for name in ("problems.jsonl", "solutions.jsonl")]
    report = bring(project, *files)
    assert (report.dataset, counts(report)) == ("problems", (840, 840, 0, 0))
    assert suite_counts(project) == {"base": 320, "plus": 914, "whole": 40}
    forms = dict(project.database.reader().execute("SELECT form, count(*) FROM tests GROUP BY 1").fetchall())
    assert forms == {"expression": 1222, "statement": 12, "program": 40}
    gold = project.database.reader().execute("SELECT count(*), sum(imported_gold) FROM completions").fetchone()
    assert gold == (800, 278)


def test_an_import_counts_problems_and_explains_candidate(project: Project, tmp_path: Path) -> None:
    tests = ["assert candidate() == 1", "assert candidate() != 2"]
    file = write(tmp_path / "p.jsonl", [problem(1, tests=tests, setup=""), problem(2, canonical_solution="")])
    report = bring(project, file)
    assert report.broken is UNSET
    assert report.code
    assert (report.code.problems, report.code.references, report.code.candidates) == (2, 1, 1)
    assert report.code.words.endswith("the tests of 1 call candidate: that is the entry point")
    assert problems_of(project.database, [1], ["base"])[1].setup == "candidate = f1"
    # The file itself is stored as it is, so that it is known when it is read again.
    assert counts(bring(project, file)) == (2, 0, 2, 0)


def test_broken_tests_are_counted_and_named_at_import(project: Project, tmp_path: Path) -> None:
    tests = ["assert f1() == 1", "assert f1() = 1", "assert g1() == 1", "assert False"]
    file = write(tmp_path / "p.jsonl", [problem(1, tests=tests), problem(2), problem(3, language="javascript")])
    assert preview_import(project, plan_import([file])).broken == 3
    report = bring(project, file)
    assert (counts(report), report.broken) == ((3, 3, 0, 0), 3)
    words = [test.words for test in report.broken_tests or []]
    assert words[0].startswith("T/1 base 2: no Python (SyntaxError: ")
    assert words[1:] == [
        "T/1 base 3: a name that neither it, the setup, the problem nor its reference solution has "
        "(NameError: name 'g1' is not defined)",
        "T/1 base 4: false whatever a solution does (AssertionError)",
    ]
    assert bring(project, write(tmp_path / "q.jsonl", [problem(4)])).broken is UNSET


def test_the_author_of_a_reference_is_stored(project: Project, tmp_path: Path) -> None:
    rows = [
        problem(1),
        problem(2, canonical_solution_by="model"),
        problem(3, proposed_tests=9),
        problem(4, canonical_solution_by="me"),
    ]
    report = bring(project, write(tmp_path / "p.jsonl", rows))
    assert (counts(report), report.quarantine[0].field) == ((4, 3, 0, 1), "canonical_solution_by")
    stored = project.database.reader().execute("SELECT reference_by FROM code_problems").fetchall()
    assert stored == [("human",), ("model",), ("model",)]
    assert counts(bring(project, write(tmp_path / "q.jsonl", rows[:2]), dataset="p")) == (2, 0, 2, 0)
    assert bring(project, write(tmp_path / "r.jsonl", [problem(2)]), dataset="p").reasons == {"conflict": 1}
