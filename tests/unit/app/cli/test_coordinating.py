"""The coordinator's commands: JSON shapes, exit codes, and no changes by an invalid command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import run
from tests.helpers import make_project, numbered
from tests.unit.app.cli.test_contract import document
from workbench.core.label import coordinator_name
from workbench.core.project import open_project
from workbench.labelling import coordinating
from workbench.labelling.labels import import_labels
from workbench.labelling.people import annotators
from workbench.measuring.browsing import reveal


@pytest.fixture
def database(tmp_path: Path) -> Path:
    rows = [*numbered(4), {"question_id": "q9", "completion_id": "c9", "question": "Prove that 1 = 1."}]
    project = make_project(tmp_path, rows)
    lines = [{"completion_id": f"c{n}", "annotator": name, "verdict": "correct"} for n in range(2) for name in "ab"]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_labels(project, tmp_path / "labels.jsonl")
    project.close()
    return project.path


def test_reopen(database: Path) -> None:
    found = document("reopen", database, "--where", "completion_id=c0", "--reason", "new reference", "--by", "dora")
    assert found == {"reopened": 1, "skipped": 0}
    assert document("reopen", database, "--where", "state!=excluded", "--reason", "x", "--task", "both") == {
        "reopened": 1,
        "skipped": 7,
    }
    assert document("status", database)["states"]["unlabelled"] == 5


def test_exclude_list_and_undo(database: Path) -> None:
    arguments = ("exclude", database, "--where", "completion_id=c0", "--reason", "proof", "--note", "[b]why[/b]")
    assert document(*arguments) == {"excluded": 1, "skipped": 0}
    (item,) = document("exclude", database, "--list")
    assert item == {
        "dataset": "sample",
        "question_id": "q0",
        "completion_id": "c0",
        "reason": "proof",
        "how": "coordinator",
        "people": ["coordinator"],
        "notes": ["[b]why[/b]"],
    }
    assert "[b]why[/b]" in run("exclude", database, "--list").stdout
    assert document("exclude", database, "--undo", "--where", "state=excluded", "--by", "emil") == {
        "lifted": 1,
        "skipped": 0,
    }
    assert document("exclude", database, "--list") == []


def test_candidates(database: Path) -> None:
    (item,) = document("exclude", database, "--candidates")
    assert {key: item[key] for key in ("completion_id", "reason")} == {"completion_id": "c9", "reason": "proof"}
    assert "Prove that" in item["why"]


def test_guidelines(database: Path, tmp_path: Path) -> None:
    assert document("guidelines", database)["version"] == "1"
    (tmp_path / "g.md").write_text("# Judge\n\n[red]the answer[/]\n", "utf-8")
    found = document("guidelines", database, "set", tmp_path / "g.md", "--by", "dora")
    assert set(found) == {"version", "text", "author", "created_at", "read_by"}
    noted = document("guidelines", database, "note", "a sum is incorrect")
    assert noted["text"].endswith("- a sum is incorrect\n")
    versions = [version["version"] for version in document("guidelines", database, "versions")]
    assert versions == ["1", found["version"], noted["version"]]
    assert document("guidelines", database, "show", found["version"]) == found
    shown = run("guidelines", database).stdout.splitlines()
    assert shown[0] == f"Version {noted['version']}"
    assert "[red]the answer[/]" in shown


def test_history(database: Path, tmp_path: Path) -> None:
    document("reopen", database, "--where", "completion_id=c0", "--reason", "new reference")
    listed = document("history", database, "--item", "c0")
    assert [(line["annotator"], line["kind"]) for line in listed] == [
        ("a", "label"),
        ("b", "label"),
        ("coordinator", "reopen"),
    ]
    events = document("history", database, "--annotator", "a")
    assert {event["annotator"] for event in events} == {"a"}
    (tmp_path / "h.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events), "utf-8")
    assert document("labels", database, "import", tmp_path / "h.jsonl")["imported"] == 0
    assert "new reference" in run("history", database).stdout


def test_history_shows_whole_labels(database: Path, tmp_path: Path) -> None:
    said = {"completion_id": "c0", "annotator": "d", "verdict": "incorrect", "tags": ["guessed"], "partial": 0.25}
    (tmp_path / "said.jsonl").write_text(json.dumps(said), "utf-8")
    run("labels", database, "import", tmp_path / "said.jsonl")
    line = run("history", database, "--annotator", "d").stdout
    assert "incorrect  guessed  partial 0.25" in line


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "arguments",
    [
        ("reopen", "--reason", "why"),
        ("reopen", "--where", "completion_id=c0"),
        ("reopen", "--where", "completion_id=c0", "--reason", "  "),
        ("reopen", "--where", "nonsense=1", "--reason", "why"),
        ("exclude", "--reason", "proof"),
        ("exclude", "--where", "completion_id=c0"),
        ("exclude", "--where", "completion_id=c0", "--reason", "other"),
        ("exclude", "--where", "completion_id=c0", "--reason", "nonsense"),
        ("exclude", "--where", "completion_id=c0", "--reason", "proof", "--undo"),
        ("exclude", "--where", "completion_id=c0", "--reason", "proof", "--by", "\x1b[31m"),
        ("guidelines", "set"),
        ("guidelines", "versions", "x"),
        ("guidelines", "show", "17"),
        ("guidelines", "note", " "),
        ("history", "--item", "nowhere"),
        ("history", "--annotator", "nobody"),
    ],
    ids=lambda arguments: "-".join(arguments).replace("\x1b", "ESC"),
)
def test_wrong_usage_shows_an_error_and_changes_nothing(database: Path, arguments: tuple[str, ...]) -> None:
    command, *rest = arguments
    done = run(command, database, *rest)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    assert len(document("history", database)) == 4


def test_no_file_of_guidelines(database: Path, tmp_path: Path) -> None:
    done = run("guidelines", database, "set", tmp_path / "nowhere.md")
    assert done.returncode == 1
    assert "nowhere.md" in done.stderr


def test_the_coordinator_has_one_name_on_the_command_line_and_in_the_app(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "dora")
    for words in ("guidelines DB note x", "exclude DB --where completion_id=c0 --reason proof"):
        command = [sys.executable, "-m", "workbench", *words.replace("DB", str(database)).split()]
        subprocess.run(command, check=True, capture_output=True)
    project = open_project(database)
    coordinating.lift(project, [1])
    reveal(project, 2)
    assert [one.name for one in annotators(project) if one.role == "coordinator"] == ["dora"] == [coordinator_name()]
    project.close()
