"""``workbench conflicts``: JSON shapes, exit codes, and permissions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import run
from tests.unit.app.cli.test_contract import document
from tests.unit.labelling.conflicting import project_of, put, rows
from workbench.core.project import open_project
from workbench.labelling import people


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Amira and ben differ on the correctness of c0 and c1, and on the type of c0's question."""
    project = project_of(tmp_path, 3)
    people.add_annotators(project, ["chen"])
    for item in (1, 2):
        put(project, "amira", item, "correct", note="same [b] value" if item == 1 else None)
        put(project, "ben", item, "incorrect")
    put(project, "amira", 1, "A1", task="type")
    put(project, "ben", 1, "A7", task="type")
    project.close()
    return tmp_path / "p.db"


def test_kinds_and_items_are_listed(database: Path) -> None:
    found = document("conflicts", database, "--as", "chen")
    kind = {"class": "correct/incorrect", "task": "correctness", "values": ["correct", "incorrect"], "conflicts": 2}
    assert found == {
        "as": "chen",
        "classes": [kind, {"class": "A1/A7", "task": "type", "values": ["A1", "A7"], "conflicts": 1}],
        "items": [],
    }
    listed = document("conflicts", database, "--as", "chen", "--class", "correct/incorrect")
    assert listed["classes"] == [kind]
    assert [item["completion_id"] for item in listed["items"]] == ["c0", "c1"]
    one = document("conflicts", database, "--as", "chen", "--class", "correct/incorrect", "--where", "completion_id=c1")
    assert one["items"] == listed["items"][1:]
    assert listed["items"][0]["sides"] == [
        {"value": "correct", "count": 1, "unsure": 0, "notes": ["same [b] value"]},
        {"value": "incorrect", "count": 1, "unsure": 0, "notes": []},
    ]
    shown = run("conflicts", database, "--as", "chen", "--class", "correct/incorrect").stdout
    assert "same [b] value" in shown
    assert "amira" not in shown


def test_settling_and_undo(database: Path) -> None:
    one = ("--class", "correct/incorrect", "--where", "completion_id=c1")
    done = document("conflicts", database, "settle", "--as", "chen", *one, "--verdict", "incorrect", "--note", "8")
    assert done == {"settled": 1, "left_out": []}
    project = open_project(database)
    stored = "SELECT subject, verdict, note FROM label_events WHERE kind = 'adjudication'"
    assert rows(project, stored) == [(2, "incorrect", "8")]
    project.close()
    assert document("conflicts", database, "settle", "--as", "chen", "--class", "A1/A7", "--subtype", "A7")["settled"]
    assert document("conflicts", database, "undo", "--as", "chen") == {"undone": 1}
    assert [kind["conflicts"] for kind in document("conflicts", database, "--as", "chen")["classes"]] == [1, 1]


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--as", "amira", "--class", "correct/incorrect"), "There is no conflict 'correct/incorrect' for amira."),
        (("--as", "nobody"), "There is no annotator 'nobody'."),
        (("settle", "--as", "chen", "--verdict", "correct"), "settle requires --class"),
        (("settle", "--as", "chen", "--class", "A1/A7", "--verdict", "correct"), "must name a subtype"),
        (("settle", "--as", "chen", "--class", "correct/incorrect", "--verdict", "unsuitable"), "needs a reason"),
        (
            ("settle", "--as", "chen", "--class", "correct/incorrect", "--verdict", "correct", "--reason", "proof"),
            "Only an unsuitable item has a reason",
        ),
        (
            ("settle", "--as", "chen", "--class", "correct/incorrect", "--verdict", "correct", "--subtype", "A1"),
            "must be correct, incorrect or unsuitable, not a type",
        ),
        (
            ("settle", "--as", "chen", "--class", "A1/A7", "--verdict", "correct", "--subtype", "A1"),
            "must name a subtype, not a verdict",
        ),
        (
            ("settle", "--as", "chen", "--class", "A1/A7", "--subtype", "A1", "--where", "completion_id=x"),
            "No item matches completion_id=x",
        ),
        (("settle", "--as", "chen", "--class", "A1/A7", "--subtype", "a7"), "'a7' is not a valid subtype."),
        (("settle", "--as", "chen", "--class", "A1/A7", "--subtype", "banana"), "'banana' is not a valid subtype."),
        (("--as", "chen", "--class", "A1/A7", "--where", "gold=correct"), "Conflicts can't be filtered by gold"),
        (("--as", "chen", "--where", "completion_id=c1"), "--where requires --class"),
        (("--as", "chen", "--verdict", "correct"), "--verdict is only for settle"),
    ],
)
def test_wrong_usage_shows_an_error(database: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("conflicts", database, *arguments, "--json")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
