"""Label Studio and Argilla files: exports round-trip, edits are revisions, their own projects can be read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.studio_config import CONFIG
from workbench.core.errors import FormatError
from workbench.core.project import Project, open_project
from workbench.interchange.exporting import ExportOptions, export
from workbench.interchange.importing import import_files, plan_import, preview_import
from workbench.labelling.label_export import current_lines
from workbench.labelling.labels import import_labels
from workbench.runs.verdict_files import import_verdicts, verdict_lines

ROOT = Path(__file__).resolve().parents[4]
SAMPLE = ROOT / "sample_data"
FIXTURES = ROOT / "tests" / "data"
TOOLS = ("label-studio", "argilla")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = open_project(tmp_path_factory.mktemp("home") / "p.db", create=True)
    import_files(project, plan_import([SAMPLE / "tuples.jsonl"]), dataset="sample")
    import_labels(project, SAMPLE / "labels.jsonl")
    project.close()
    return project.path


@pytest.fixture
def home(labelled: Path, tmp_path: Path) -> Project:
    return open_project(shutil.copyfile(labelled, tmp_path / "home.db"))


def read_back(folder: Path, file: Path, dataset: str | None = None) -> Project:
    project = open_project(folder / f"{file.stem}.db", create=True)
    report = import_files(project, plan_import([file]), dataset=dataset)
    assert report.quarantined == 0
    import_labels(project, file)
    return project


def rows(project: Project, folder: Path) -> bytes:
    path = folder / "rows.csv"
    export(project, ExportOptions(file=path, format="csv", force=True))
    return path.read_bytes()


def labels(project: Project) -> list[Any]:
    return sorted(current_lines(project), key=lambda line: str(line.uuid))


@pytest.mark.parametrize("tool", TOOLS)
def test_items_and_labels_round_trip(home: Project, tmp_path: Path, tool: Any) -> None:
    report = export(home, ExportOptions(file=tmp_path / "out.json", format=tool, names=True, sighted=True))
    assert report.written == 79
    (plan,) = plan_import([tmp_path / "out.json"])
    assert plan.format == tool
    again = read_back(tmp_path, tmp_path / "out.json")
    assert rows(again, tmp_path) == rows(home, tmp_path)
    assert labels(again) == labels(home)
    back = import_labels(home, tmp_path / "out.json")
    assert (back.imported, back.unchanged, back.refused) == (0, 138, 0)


@pytest.mark.parametrize("tool", TOOLS)
def test_exports_are_blind_by_default(home: Project, tmp_path: Path, tool: Any) -> None:
    export(home, ExportOptions(file=tmp_path / "out.json", format=tool))
    text = (tmp_path / "out.json").read_text()
    for hidden in ("gold_correct", "completion_model", "larch-7b", "answer_type\\", '"source', "amira", "chidi"):
        assert hidden not in text
    items = json.loads(text)
    shown = items[0]["data"] if tool == "label-studio" else {**items[0]["fields"], **items[0]["metadata"]}
    assert set(shown) == {"dataset", "question_id", "completion_id", "question", "reference", "completion"}


def test_labels_saved_again_by_a_tool_are_unchanged(home: Project, tmp_path: Path) -> None:
    file = FIXTURES / "argilla/again.json"
    report = import_labels(home, file)
    assert (report.imported, report.unchanged, report.refused) == (0, 10, 0)
    again = read_back(tmp_path, file)
    sent = {line.uuid: line for line in labels(home)}
    assert all(sent[line.uuid] == line for line in labels(again))
    assert len(labels(again)) == 10


def test_json_min_is_rejected_with_the_format_to_export(home: Project) -> None:
    file = FIXTURES / "label_studio/json_min.json"
    for read in (lambda: import_labels(home, file), lambda: plan_import([file])):
        with pytest.raises(FormatError, match=r"Export the tasks as JSON\."):
            read()


@pytest.mark.parametrize(
    ("file", "names", "number"),
    [
        ("label_studio/made.json", ["user7@example.org", "user8@example.org"], 9),
        ("argilla/made.json", [f"argilla-00000000-0000-0000-0000-00000000000{user}" for user in (7, 8)], 10),
    ],
    ids=["label-studio", "argilla"],
)
def test_labels_made_in_the_tool_are_read(tmp_path: Path, file: str, names: list[str], number: int) -> None:
    project = read_back(tmp_path, FIXTURES / file)
    found = labels(project)
    assert len(found) == number
    assert {line.annotator for line in found} == set(names)
    assert {line.answer_subtype for line in found} == {"B1"}
    assert {(line.verdict, line.reason) for line in found} == {
        ("correct", None),
        ("incorrect", None),
        ("unsuitable", "open_ended"),
    }
    said = next(line for line in found if line.annotator == names[1])
    assert (said.tags, said.note) == (("guessed", "degenerate"), "Said there. [b]not markup[/b]")
    again = import_labels(project, FIXTURES / file)
    assert (again.imported, again.unchanged) == (0, number)


def edited(home: Project, folder: Path, verdict: str) -> tuple[Path, str]:
    """An export in which the first annotation's verdict was changed there; and the completion."""
    export(home, ExportOptions(file=folder / "out.json", format="label-studio", names=True, force=True))
    tasks = json.loads((folder / "out.json").read_text())
    task = next(task for task in tasks if task["annotations"])
    annotation = task["annotations"][0]
    annotation["updated_at"] = "2025-06-01T00:00:00Z"
    (result,) = [result for result in annotation["result"] if result["from_name"] == "verdict"]
    assert result["value"] != {"choices": [verdict]}
    result["value"] = {"choices": [verdict]}
    (folder / "edited.json").write_text(json.dumps(tasks))
    return folder / "edited.json", task["data"]["completion_id"]


def test_a_label_changed_in_the_tool_is_a_revision(home: Project, tmp_path: Path) -> None:
    export(home, ExportOptions(file=tmp_path / "all.json", format="label-studio", names=True))
    project = read_back(tmp_path, tmp_path / "all.json")
    before = labels(project)[0]
    path, completion = edited(project, tmp_path, "unsuitable")
    refused = import_labels(project, path)
    assert [row["field"] for row in refused.refusals] == ["reason"]
    path, completion = edited(project, tmp_path, "incorrect")
    report = import_labels(project, path)
    assert (report.imported, report.refused) == (1, 0)
    assert import_labels(project, path).imported == 0
    (changed,) = [line for line in labels(project) if line.completion_id == completion and line.revision == 2]
    assert (changed.verdict, changed.created_at, changed.annotator) == ("incorrect", "2025-06-01T00:00:00Z", "amira")
    assert len(labels(project)) == 138
    assert before.revision == 1


def task(**fields: Any) -> dict[str, Any]:
    return {"id": 1, "data": {"prompt": "1 + 1?", "answer": "2", "response": "It is 2."}, "annotations": [], **fields}


def choice(name: str, *values: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": list(values)}}


def write(folder: Path, *tasks: object) -> Path:
    path = folder / "foreign.json"
    path.write_text(json.dumps(tasks))
    return path


def test_a_foreign_project_is_read_by_its_choices(tmp_path: Path) -> None:
    annotations = [
        {"id": 5, "completed_by": 3, "result": [choice("Is it right?", "Correct"), choice("kind", "B2")]},
        {"id": 6, "completed_by": 4, "result": [choice("Is it right?", "Incorrect")], "was_cancelled": True},
    ]
    project = read_back(tmp_path, write(tmp_path, task(annotations=annotations)))
    (line,) = labels(project)
    assert (line.annotator, line.verdict, line.answer_subtype) == ("label-studio-3", "correct", "B2")


WORDS = [("Correct", "correct"), ("TRUE", "correct"), ("1", "correct"), ("yes", "correct"), (" No ", "incorrect")]


@pytest.mark.parametrize(("word", "verdict"), WORDS)
def test_verdict_words_are_read_alike_from_every_source(tmp_path: Path, word: str, verdict: str) -> None:
    one = task(annotations=[{"id": 5, "completed_by": 3, "result": [choice("verdict", word)]}])
    one["predictions"] = [{"model_version": "m", "result": [choice("verdict", word)]}]
    project = read_back(tmp_path, write(tmp_path, one))
    record = {"id": "r", "fields": one["data"], "responses": {"verdict": [{"value": word, "user_id": "7"}]}}
    (tmp_path / "argilla.json").write_text(json.dumps([record]))
    import_labels(project, tmp_path / "argilla.json")
    (key,) = project.database.reader().execute("SELECT key FROM completions").fetchone()
    (tmp_path / "l.jsonl").write_text(json.dumps({"completion_id": key, "annotator": "ann", "verdict": word}))
    import_labels(project, tmp_path / "l.jsonl")
    (tmp_path / "v.jsonl").write_text(json.dumps({"completion_id": key, "verifier": "v", "verdict": word}))
    import_verdicts(project, tmp_path / "v.jsonl")
    people = ("ann", "argilla-7", "label-studio-3")
    assert sorted((line.annotator, line.verdict) for line in labels(project)) == [(name, verdict) for name in people]
    assert [one.verdict for name in ("v", "label-studio/m") for one in verdict_lines(project, name)] == [verdict] * 2


@pytest.mark.parametrize("words", [["correct", "incorrect"], ["Correct", "no"], ["perhaps"], ["C"], ["4"]])
def test_what_is_no_one_verdict_is_rejected_and_a_models_is_unparsed(tmp_path: Path, words: list[str]) -> None:
    several = {**choice("verdict", ""), "value": {"choices": words}}
    one = task(annotations=[{"id": 5, "completed_by": 3, "result": [several]}])
    one["predictions"] = [{"model_version": "m", "result": [several]}]
    project = read_back(tmp_path, write(tmp_path, one))
    record = {"id": "r", "fields": one["data"], "responses": {"verdict": [{"value": words, "user_id": "7"}]}}
    (tmp_path / "argilla.json").write_text(json.dumps([record]))
    assert [row["field"] for row in import_labels(project, tmp_path / "argilla.json").refusals] == ["verdict"]
    assert labels(project) == []
    assert [(one.verdict, one.reason) for one in verdict_lines(project, "label-studio/m")] == [("abstain", "unparsed")]


def test_repeated_choices_are_one_verdict_and_others_are_ignored(tmp_path: Path) -> None:
    result = [choice("verdict", "Correct"), choice("verdict", "correct"), choice("Is the question clear?", "no")]
    project = read_back(tmp_path, write(tmp_path, task(annotations=[{"id": 5, "completed_by": 3, "result": result}])))
    assert [line.verdict for line in labels(project)] == ["correct"]
    result = [choice("Is the question clear?", "no"), choice("stars", "1")]
    asked = [{"id": 6, "completed_by": 4, "result": result}]
    report = import_labels(project, write(tmp_path, task(annotations=asked)))
    assert [row["field"] for row in report.refusals] == ["verdict"]


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"annotations": 5}, "annotations"),
        ({"data": {"prompt": "1?", "answer": "1"}}, "response"),
        ({"meta": {"workbench": "[]"}}, "meta"),
        ({"annotations": [7]}, "annotations[0]"),
    ],
    ids=["no list", "no completion", "hidden part", "no annotation"],
)
def test_a_task_that_is_none_is_rejected_with_its_number_and_field(
    tmp_path: Path, bad: dict[str, Any], field: str
) -> None:
    path = write(tmp_path, task(), task(**bad))
    report = preview_import(None, plan_import([path]), dataset="d")
    assert (report.imported, [(row.line, row.field) for row in report.quarantine]) == (1, [(2, field)])


@pytest.mark.parametrize(
    "line", ["[[[[", '{"completion_id": "x"}', "null", '{"completion_id":"c","annotator":"eve","uuid":"u"}']
)
def test_a_hidden_line_that_is_not_ours_changes_nothing(tmp_path: Path, line: str) -> None:
    hidden = {"from_name": "workbench", "type": "textarea", "value": {"text": [line]}}
    annotation = {
        "id": 1,
        "completed_by": {"email": "ann@example.org"},
        "result": [choice("verdict", "correct"), hidden],
    }
    project = read_back(tmp_path, write(tmp_path, task(annotations=[annotation])))
    (found,) = labels(project)
    assert (found.annotator, found.verdict) == ("ann@example.org", "correct")


def test_an_annotation_without_a_verdict_is_rejected(tmp_path: Path) -> None:
    project = read_back(tmp_path, write(tmp_path, task(annotations=[{"id": 1, "completed_by": 1, "result": []}])))
    report = import_labels(project, tmp_path / "foreign.json")
    assert [(row["line"], row["field"]) for row in report.refusals] == [(1, "verdict")]


def test_the_configuration_in_the_docs_is_ours() -> None:
    assert CONFIG in (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
