"""``assign``, ``annotators`` and ``checks`` as typed by a coordinator."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock, call

import pytest
from click.testing import CliRunner, Result

from tests.helpers import make_project, numbered
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.options import PEOPLE


@pytest.fixture
def database(tmp_path: Path) -> str:
    project = make_project(tmp_path, numbered(6))
    project.close()
    return str(project.path)


def run(*arguments: str, code: int = 0) -> Result:
    done = CliRunner().invoke(root, list(arguments))
    assert done.exit_code == code, (done.output, done.exception)
    return done


def test_assign_reports_opened_slots_and_those_beyond_the_caps(database: str) -> None:
    done = run("assign", database, "--annotators", "a,b", "--cap", "a=2,b=4", "--json")
    found = json.loads(done.stdout)
    assert (found["assigned"], found["type_slots"], found["joined"], found["beyond_caps"]) == (12, 6, 0, 6)
    assert "6 slots are assigned to nobody" in done.stderr
    run("annotators", database, "add", "chen")
    done = run("assign", database, "--annotators", "chen", "--cap", "3")
    assert "1 added to batches" in done.stdout


@pytest.mark.parametrize("words", [("--annotators", "a,chen"), ("--annotators", "a,b", "--adjudicator", "chen")])
def test_an_unknown_name_is_added_only_on_request(
    database: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    people, asked = ("annotators", database, "list"), Mock(return_value=False)
    # There are no annotators yet.
    run("assign", database, "--annotators", "a,b", "--dry-run")
    assert run(*people).stdout == ""
    run("assign", database, "--annotators", "a,b")
    before = run(*people).stdout
    for is_asked in (False, True):
        if is_asked:
            monkeypatch.setattr("workbench.app.cli.people.confirmed", asked)
        told = run("assign", database, *words, code=1).exception
        assert isinstance(told, UsageError)
        assert told.message == "There is no annotator 'chen'."
        assert "Known: a, b. Add one: workbench annotators DB add NAME" in (told.hint or "")
        assert run(*people).stdout == before
    asked.return_value = True
    run("assign", database, *words)
    assert asked.call_args_list == [call("Nobody is called chen here yet. Add them?")] * 2
    assert run(*people).stdout == before + "chen    annotator\n"
    # Existing annotators are not asked for.
    run("assign", database, *words)
    assert asked.call_count == 2


def test_assign_names_the_answer_types_that_are_not_requested(tmp_path: Path) -> None:
    given = numbered(4, subtype="A1", types="trusted", dataset="given")
    asked = [
        {**row, "question_id": f"a{row['question_id']}", "completion_id": f"a{row['completion_id']}"}
        for row in numbered(6, types="labelled", dataset="asked")
    ]
    project = make_project(tmp_path, given + asked)
    project.close()
    words = ("assign", str(project.path), "--annotators", "anna", "--per-item", "1", "--dry-run")
    came, of_questions = "for answer types, which came with the data and are not asked for", "their questions"
    assert f"10 slots opened on items, 3 for the answer types of {of_questions}, 2 {came}." in run(*words).stdout
    only = run(*words, "--where", "dataset=given").stdout
    assert f"4 slots opened on items, 2 {came}." in only
    assert came not in run(*words, "--where", "dataset=asked").stdout
    found = json.loads(run(*words, "--json").stdout)
    assert (found["type_slots"], found["types_given"]) == (5, 2)


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("amira,ben", ["amira", "ben"]),
        ("amira, ben", ["amira", "ben"]),
        ("amira ben", ["amira", "ben"]),
        ("Ann Lee, ben", ["Ann Lee", "ben"]),
        ("'Ann Lee' ben", ["Ann Lee", "ben"]),
    ],
)
def test_names_have_commas_or_blanks_between_them_everywhere(database: str, said: str, names: list[str]) -> None:
    run("assign", database, "--annotators", said)
    assert [one["name"] for one in json.loads(run("annotators", database, "list", "--json").stdout)] == names


@pytest.mark.parametrize("words", [["amira", "ben"], ["amira,ben"], ["amira,", "ben"]])
def test_people_are_added_with_commas_or_blanks_between_them(database: str, words: list[str]) -> None:
    found = json.loads(run("annotators", database, "add", *words, "--json").stdout)
    assert [one["name"] for one in found] == ["amira", "ben"]


def test_names_are_described_alike_in_every_help() -> None:
    for command in ("assign", "serve"):
        assert PEOPLE in " ".join(run(command, "--help").stdout.split()), command


def test_an_unclosed_quote_is_reported(database: str) -> None:
    assert "quote" in run("assign", database, "--annotators", "o'brien ben", code=2).stderr


def test_items_with_a_final_label_are_left_out_and_counted(database: str, tmp_path: Path) -> None:
    labels = [
        {"completion_id": item, "annotator": name, "verdict": "correct"} for item in ("c0", "c1") for name in ("a", "b")
    ]
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in labels))
    run("labels", database, "import", str(file))
    run("annotators", database, "add", "x", "y")
    done = run("assign", database, "--annotators", "x y")
    assert "8 slots opened on items" in done.stdout
    told = "Labels given earlier count: of 6 items, 2 have their final label and are left out; 4 are new."
    assert told in done.stdout
    assert json.loads(run("assign", database, "--annotators", "x y", "--json").stdout)["final"] == 2
    chosen = ("--annotators", "x y", "--where", "state=final")
    assert "Each of 2 items has its final label" in run("assign", database, *chosen).stdout
    found = json.loads(run("assign", database, *chosen, "--final-too", "--json").stdout)
    assert (found["assigned"], found["final"]) == (4, 0)


def test_labels_that_fill_slots_are_counted_beforehand_and_nothing_is_written(database: str, tmp_path: Path) -> None:
    given = [("c0", "a"), ("c0", "b"), ("c1", "a"), ("c2", "x")]
    lines = [{"completion_id": item, "annotator": name, "verdict": "correct"} for item, name in given]
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    run("labels", database, "import", str(file))
    run("annotators", database, "add", "p", "q", "y")
    run("assign", database, "--annotators", "p q", "--where", "completion_id=c3")
    words = ("assign", database, "--annotators", "x y")
    before = run("history", database).stdout
    tried = run(*words, "--dry-run")
    told = (
        "Labels given earlier count: of 6 items, 1 has its final label and is left out; "
        "2 have a label, which fills a slot of each; 1 has all its slots already; 2 are new."
    )
    assert told in tried.stdout
    assert "8 slots opened on items," in tried.stdout
    assert "Earlier labels fill 2 of them; 6 are open." in tried.stdout
    assert "Nothing was written" in tried.stderr
    assert run("history", database).stdout == before
    assert run(*words).stdout == tried.stdout
    with closing(sqlite3.connect(database)) as connection:
        states = "SELECT state, count(*) FROM assignments WHERE batch_id = 2 AND task = 'correctness' GROUP BY state"
        assert dict(connection.execute(states)) == {"done": 2, "open": 6}
    again = json.loads(run(*words, "--json").stdout)
    assert (again["items"], again["final"], again["full"], again["labelled"]) == (6, 1, 5, 0)


@pytest.mark.parametrize("cap", ["a", "a=", "=3", "a=x", "a=1,,b=2", "9" * 19, f"a={'9' * 5000}"])
def test_an_invalid_cap_is_rejected(database: str, cap: str) -> None:
    assert "NAME=NUMBER" in run("assign", database, "--annotators", "a,b", "--cap", cap, code=2).stderr


def test_people_are_paused_and_resumed(database: str) -> None:
    run("annotators", database, "add", "amira", "ben")
    shown = run("annotators", database, "pause", "ben", "--why", "to talk").stdout
    assert shown == "amira    annotator\nben    annotator    paused: to talk\n"
    found = json.loads(run("annotators", database, "resume", "ben", "--json").stdout)
    assert found[1] == {"name": "ben", "role": "annotator", "paused": False, "why": ""}


def test_a_name_with_a_slip_is_removed(database: str) -> None:
    run("annotators", database, "add", "amira", "amria")
    assert run("annotators", database, "remove", "amria").stdout == "amira    annotator\n"


@pytest.mark.parametrize(
    "arguments",
    [("annotators", "pause"), ("annotators", "pause", "nobody"), ("annotators", "list", "x"),
     ("annotators", "add", "x", "--why", "y"), ("checks", "add"), ("checks", "remove"), ("checks", "import"),
     ("checks", "list", "x")],
)  # fmt: skip
def test_invalid_arguments_are_rejected(database: str, arguments: tuple[str, ...]) -> None:
    command, *rest = arguments
    done = CliRunner().invoke(root, [command, database, *rest])
    assert isinstance(done.exception, UsageError) or done.exit_code == 2, done.output


def test_checks_are_added_listed_reported_and_removed(database: str, tmp_path: Path) -> None:
    added = json.loads(run("checks", database, "add", "--where", "gold=correct", "--limit", "2", "--json").stdout)
    assert (added["added"], added["unchanged"], added["refused"], added["refusals"]) == (2, 0, 0, [])
    assert (added["chosen_from"], added["passed_over"], added["seed"]) == (3, 0, 0)
    file = tmp_path / "known.jsonl"
    file.write_text('{"completion_id": "c1", "verdict": "unsuitable"}\n{"completion_id": "no", "verdict": "correct"}\n')
    done = run("checks", database, "import", str(file), code=3)
    assert done.stdout == "1 added, 0 unchanged, 1 rejected\n"
    assert f"{file}:2:completion_id: 'no' is not a completion here" in done.stderr
    assert "sample    q0    c1    unsuitable    0 of 0 right" in run("checks", database, "list").stdout
    assert json.loads(run("checks", database, "report", "--json").stdout) == []
    assert "3 of them are checks" in run("status", database).stdout
    removed = run("checks", database, "remove", "--where", "completion_id=c1").stdout
    assert removed == "1 checks are ordinary items again.\n"
    assert len(json.loads(run("checks", database, "--json").stdout)) == 2
    run("assign", database, "--annotators", "a,b")
    done = run("checks", database, "add", "--where", "completion_id=c1", code=3)
    assert "1 rejected: people have labels or slots on it" in done.stderr
