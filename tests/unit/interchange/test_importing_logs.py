"""Importing evaluation logs: items, verdicts of their graders, and the accuracy of the graders."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Call, in_process
from tests.unit.data.formats.logs.documented_logs import FILES
from tests.unit.data.formats.logs.evaluation_logs import MODEL_A, changed, document, row, samples, written
from tests.unit.interchange.labelling_logs import GOLD, labelled
from workbench.core.project import Project, open_project
from workbench.interchange import importing
from workbench.interchange.import_report import ImportReport
from workbench.interchange.importing import import_files, plan_import, preview_import
from workbench.runs.store import verdicts as stored
from workbench.runs.verdict_files import verdict_lines

MODEL_B = FILES / "lm_eval" / "sample__model-b"
STRICT, FLEXIBLE = (f"lm-eval/sample_numbers/exact_match-{name}" for name in ("strict-match", "flexible-extract"))
INCLUDES = "inspect/sample_answers/includes"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = open_project(tmp_path / "p.db", create=True)
    yield opened
    opened.close()


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def bring(project: Project, *files: Path, **options: Any) -> ImportReport:
    return import_files(project, plan_import(files), **options)


def verdicts(project: Project, verifier: str, version: int | None = None) -> list[str]:
    return [line.verdict for line in verdict_lines(project, verifier, version)]


def test_an_import_and_labels_measure_the_graders_of_lm_eval(call: Call, tmp_path: Path) -> None:
    database, files = tmp_path / "p.db", [samples("sample_numbers", folder) for folder in (MODEL_A, MODEL_B)]
    code, out, _ = call("import", database, *files, "--json")
    report = json.loads(out)
    assert (code, report["dataset"], report["read"], report["imported"]) == (0, "sample_numbers", 20, 10)
    assert (report["verifiers"], report["verdicts"]) == ({STRICT: 1, FLEXIBLE: 2}, 20)
    labelled(call, database, tmp_path)
    code, out, _ = call("accuracy", database, "--gold", "people", "--json")
    found = {row["verifier"]: row for row in json.loads(out)["rows"]}
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    for verifier, filter_name in ((STRICT, "strict-match"), (FLEXIBLE, "flexible-extract")):
        said = [(GOLD[one["resps"][0][0]], one["exact_match"] == 1) for one in rows if one["filter"] == filter_name]
        assert found[verifier]["n"] == len(said) == 10
        assert found[verifier]["accuracy"] == pytest.approx(sum(gold == one for gold, one in said) / 10)
    code, out, _ = call("disagreements", database, "--verifier", STRICT, "--gold", "people", "--json")
    assert len(json.loads(out)) == sum(gold is True for gold, _ in said)


def test_filters_of_a_sample_grade_a_single_completion(call: Call, tmp_path: Path) -> None:
    for number, options in enumerate(([], ["--keep-equal"])):
        database = tmp_path / f"{number}.db"
        code, out, _ = call("import", database, samples("sample_numbers"), *options)
        assert (code, "10 rows read, 5 imported, 5 unchanged" in out, "--keep-equal" in out) == (0, True, False)
        project = open_project(database)
        graded = [[one.completion_id for one in verdict_lines(project, name)] for name in (STRICT, FLEXIBLE)]
        project.close()
        assert graded[0] == graded[1]
        assert len(graded[0]) == 5


def test_equal_responses_of_a_sample_are_kept_with_the_advised_option(call: Call, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in samples("sample_numbers").read_text(encoding="utf-8").splitlines()]
    same = [one | {"resps": [one["resps"][0] * 2]} for one in rows]
    file = tmp_path / "samples_twice_2025-01-01T00-00-00.000000.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in same), encoding="utf-8")
    _, out, _ = call("import", tmp_path / "merged.db", file)
    assert "10 rows without ids equal another row" in out
    assert "--keep-equal" in out
    _, out, _ = call("import", tmp_path / "kept.db", file, "--keep-equal")
    assert "20 rows read, 10 imported, 10 unchanged" in out
    assert "--keep-equal" not in out


def test_equal_rows_with_other_gold_need_the_advised_option(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "twice.csv"
    file.write_text("row,question,answer,completion,gold\na,1+1?,2,It is 2,1\nb,1+1?,2,It is 2,0\n")
    code, _, err = call("import", tmp_path / "one.db", file)
    assert code == 3
    assert "map completion_id=COLUMN" in err
    code, out, _ = call("import", tmp_path / "two.db", file, "--map", "completion_id=row")
    assert (code, "2 imported" in out) == (0, True)


def test_an_import_and_labels_measure_the_scorers_of_inspect(call: Call, tmp_path: Path) -> None:
    database = tmp_path / "p.db"
    code, out, err = call("import", database, FILES / "inspect" / "answers.eval")
    assert code == 3
    assert "8 imported, 0 unchanged, 2 quarantined (inspect)" in out
    assert f"Verdicts: 48 imported, 0 unchanged, 0 rejected\n  {INCLUDES}: run 1\n" in out
    assert "answers.eval:2:output: There is no completion: the sample failed. RuntimeError" in err
    labelled(call, database, tmp_path)
    code, out, _ = call("accuracy", database, "--verifier", INCLUDES, "--gold", "people", "--json")
    found = next(row for row in json.loads(out)["rows"] if row["verifier"] == INCLUDES)
    assert (found["n"], found["accuracy"]) == (8, 0.625)
    code, out, _ = call("verdicts", database, "--verifier", "inspect/sample_answers/doubtful", "--evidence")
    assert "abstain: no_answer_found" in out


def test_importing_a_log_again_or_in_another_form_changes_nothing(project: Project) -> None:
    bring(project, FILES / "inspect" / "answers.eval")
    for name in ("answers.eval", "chunked.eval"):
        again = bring(project, FILES / "inspect" / name)
        assert (again.imported, again.unchanged, again.quarantined) == (0, 8, 2)
        assert (again.verdicts, again.verdicts_unchanged, again.verdicts_refused) == (0, 48, 0)


def test_an_import_that_is_killed_before_the_verdicts_is_finished_by_the_next(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    files = [samples("sample_numbers"), samples("sample_states")]
    with monkeypatch.context() as patched:
        patched.setattr(importing, "store_grades", killed)
        with pytest.raises(KeyboardInterrupt):
            bring(project, *files)
    report = bring(project, *files)
    assert (report.imported, report.unchanged, report.verdicts) == (0, 16, 16)
    assert len(verdicts(project, STRICT)) == 5


def test_an_import_that_is_killed_among_the_verdicts_is_finished_by_the_next(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, *(row(doc_id=number, resps=[[f"It is {number}."]]) for number in range(1_200)))
    put, calls = stored.put, itertools.count(1)

    def second_fails(*arguments: Any) -> None:
        if next(calls) == 2:
            raise KeyboardInterrupt
        put(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(stored, "put", second_fails)
        with pytest.raises(KeyboardInterrupt):
            bring(project, path)
    report = bring(project, path)
    assert (report.verdicts, report.verdicts_unchanged) == (700, 500)
    assert len(verdicts(project, "lm-eval/t/exact_match")) == 1_200


def test_the_verdict_of_a_rejected_row_is_not_reassigned(project: Project, tmp_path: Path) -> None:
    """Both samples have one id: the verdict of the rejected second one is not given to the first."""
    first = changed(uuid="u", scores={"match": {"value": "I"}})
    second = changed(uuid="u", output={"completion": "It is 8."}, scores={"grade": {"value": "C"}})
    report = bring(project, document(tmp_path, first, second))
    assert (report.imported, report.quarantined, report.reasons) == (1, 1, {"duplicate_key": 1})
    assert (report.verdicts, report.verdicts_refused) == (1, 1)
    assert report.verifiers == {"inspect/sums/match": 1}
    assert [refused.line for refused in report.refused_verdicts or []] == [2]


def test_a_changed_grader_is_another_version(project: Project, tmp_path: Path) -> None:
    bring(project, written(tmp_path, row(exact_match=0.0)))
    again = written(tmp_path, row(exact_match=1.0))
    report = bring(project, again)
    assert (report.verdicts, report.verdicts_refused) == (0, 1)
    assert verdicts(project, "lm-eval/t/exact_match") == ["incorrect"]
    report = bring(project, again, version="2")
    assert (report.verdicts, report.verdicts_refused, report.verifiers) == (1, 0, {"lm-eval/t/exact_match": 2})
    assert verdicts(project, "lm-eval/t/exact_match") == ["correct"]


def test_a_score_between_the_ends_abstains_until_there_is_a_threshold(project: Project, tmp_path: Path) -> None:
    bring(project, written(tmp_path, row(metrics=["f1"], f1=0.5)))
    (line,) = verdict_lines(project, "lm-eval/t/f1", None)
    assert (line.verdict, line.score, line.reason) == ("abstain", 0.5, "no_threshold")
    assert line.candidate_final == "7"


def test_a_dry_run_stores_nothing(project: Project) -> None:
    report = preview_import(project, plan_import([samples("sample_numbers")]))
    assert (report.imported, report.unchanged) == (5, 5)
    assert not report.verifiers
    assert project.database.reader().execute("SELECT count(*) FROM completions").fetchone() == (0,)


def test_equal_responses_of_different_models_are_separate(project: Project) -> None:
    bring(project, samples("sample_states", MODEL_A), samples("sample_states", MODEL_B))
    models = project.database.reader().execute(
        "SELECT m.name, count(*) FROM completions AS c JOIN models AS m ON m.id = c.model_id GROUP BY 1 ORDER BY 1"
    )
    assert models.fetchall() == [("sample/model-a", 6), ("sample/model-b", 3)]
    assert project.database.reader().execute("SELECT count(*) FROM questions").fetchone() == (3,)
