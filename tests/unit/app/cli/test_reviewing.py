"""``workbench disagreements`` and ``workbench review``: the JSON shapes, the exit codes, hostile texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import run
from tests.helpers import add_items
from tests.unit.app.cli.test_contract import document
from tests.unit.measuring.reviewing.desk import voted
from workbench.labelling.people import add_annotators


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Verifier a is wrong on c0, verifier b on c1; c1 is in a second data set, too."""
    project = voted(tmp_path, "-+", "-+", "++", gold="+-+")
    add_items(project.database, [{"completion_id": "c1", "dataset": "other\x1b[31m"}])
    add_annotators(project, ["ann", "ben"])
    project.close()
    return tmp_path / "p.db"


def test_a_queue_is_a_list_in_order(database: Path) -> None:
    found = document("disagreements", database)
    assert [set(row) for row in found] == [
        {"id", "dataset", "question_id", "completion_id", "type", "subtype", "gold", "score", "why", "votes", "reviews"}
    ] * 2
    assert {row["completion_id"]: row["why"] for row in found} == {
        "c0": "b says correct, a says incorrect; gold says correct (imported).",
        "c1": "b says correct, a says incorrect; gold says incorrect (imported).",
    }
    assert found[0]["score"] >= found[1]["score"]
    assert found[0]["votes"][0] == {"verifier": "a", "run": 1, "verdict": "incorrect"}
    options = ("--queue", "split", "--k", "1", "--verifier", "b", "--verifier", "a", "--where", "completion_id=c1")
    assert [row["completion_id"] for row in document("disagreements", database, *options, "--limit", "9")] == ["c1"]


def test_the_text_list_explains_its_counts(database: Path) -> None:
    shown = run("disagreements", database, "--queue", "verifiers", "--limit", "1")
    assert shown.stdout.startswith("Decided verdicts differ, of a (run 1), b (run 2).")
    assert "2 items, the first 1 of them:" in shown.stdout
    assert "1 more: --limit N" in shown.stderr
    assert max(map(len, run("disagreements", database).stdout.splitlines())) <= 100


def test_decisions_are_made_listed_hidden_and_retracted(database: Path) -> None:
    done = document(
        "review", database, "confirm", "c0", "c2", "--by", "chris", "--note", "\x1b[31mred", "--queue", "split"
    )
    assert [review["kind"] for review in done["decided"]] == ["confirmed"] * 2
    assert done["refused"] == []
    assert [row["completion_id"] for row in document("disagreements", database, "--unreviewed")] == ["c1"]
    listed = document("review", database, "list")
    assert [(row["completion_id"], row["reviewer"], row["gold_now"]) for row in listed] == [
        ("c0", "chris", "correct"),
        ("c2", "chris", "correct"),
    ]
    shown = run("review", database).stdout
    assert "\x1b" not in shown
    assert "red" in shown
    taken = document("review", database, "undo", listed[0]["uuid"])
    assert [(review["kind"], review["supersedes"]) for review in taken] == [("retraction", listed[0]["uuid"])]
    assert len(document("review", database, "list")) == 1


def test_errors_are_marked_and_counted(database: Path) -> None:
    options = ("--verifier", "a", "--category", "units")
    done = document("review", database, "error", "c0", "c2", "nowhere", *options, code=3)
    assert [review["category"] for review in done["decided"]] == ["units"]
    assert {left["completion_id"]: left["why"].split(":")[0] for left in done["refused"]} == {
        "c2": "a says correct, and so does gold",
        "nowhere": "There is no completion of this id here.",
    }
    shown = run("review", database, "errors").stdout.splitlines()
    assert [line.split() for line in shown] == [
        ["verifier", "items", "kind", "of", "marked"],
        ["a", "all", "units", "1", "of", "1"],
    ]
    counts = document("review", database, "errors", "--per", "type")
    assert counts == [
        {"verifier": "a", "group": "untyped", "category": "units", "count": 1, "marked": 1, "outdated": 0}
    ]


def test_an_id_in_two_datasets_needs_the_dataset(database: Path) -> None:
    refused = run("review", database, "confirm", "c1")
    assert refused.returncode == 3
    assert "add --dataset NAME" in refused.stderr
    assert len(document("review", database, "confirm", "c1", "--dataset", "sample")["decided"]) == 1


def test_items_are_sent_back_and_files_written_and_read(database: Path, tmp_path: Path) -> None:
    done = document("review", database, "send-back", "c0", "--note", "look again")
    assert [review["note"] for review in done["decided"]] == ["look again"]
    path = tmp_path / "r.jsonl"
    assert document("review", database, "export", path) == {"written": 1}
    assert document("review", database, "import", path) == {
        "imported": 0,
        "unchanged": 1,
        "refused": 0,
        "refusals": [],
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ("review", "DB", "confirm"),
        ("review", "DB", "error", "c0", "--verifier", "a"),
        ("review", "DB", "error", "c0", "--verifier", "a", "--category", "other"),
        ("review", "DB", "error", "c0", "--verifier", "nobody", "--category", "units"),
        ("review", "DB", "send-back", "c0"),
        ("review", "DB", "undo", "nonsense"),
        ("review", "DB", "list", "c0"),
        ("disagreements", "DB", "--k", "1"),
        ("disagreements", "DB", "--verifier", "nobody"),
        ("disagreements", "DB", "--queue", "exact-label"),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_wrong_usage_exits_with_2(database: Path, arguments: tuple[str, ...]) -> None:
    from click.testing import CliRunner

    from workbench.app.cli import root
    from workbench.core.errors import UsageError

    found = CliRunner().invoke(root, [str(database) if word == "DB" else word for word in arguments])
    assert isinstance(found.exception, UsageError) or found.exit_code == 2
