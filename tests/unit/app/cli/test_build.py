"""Building benchmarks from scripts: JSON documents, exit codes, and set=NAME wherever --where works."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest

from schemas.documents import schema
from tests.commands import Call, in_process
from tests.conftest import ROOT
from tests.documents import shown_commands
from tests.pools import PoolQuestion, make_pool
from tests.unit.measuring.reviewing.desk import add_later_run, add_run
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.core.project import open_project
from workbench.runs import verifying
from workbench.runs.store.verifier_inputs import inputs
from workbench.verifiers.base import Verifier
from workbench.verifiers.registry import Registry


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    return in_process(monkeypatch, capfd)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Six questions of two types, four completions each, labelled by people and judged by three."""
    asked = [
        PoolQuestion(f"q{number}", "A1" if number < 4 else "B4", "++--", f"math/{number % 2}") for number in range(6)
    ]
    project = make_pool(tmp_path, asked)
    for name, signs in (("a", "++--"), ("b", "+--+"), ("c", "-+--")):
        add_run(project, name, signs * 6)
    project.close()
    return project.path


def document(call: Call, kind: str, *arguments: object) -> Any:
    """Run a command with --json, validate the output and return it."""
    code, out, error = call(*arguments, "--json")
    assert code == 0, error
    found = json.loads(out)
    for one in found if isinstance(found, list) else [found]:
        jsonschema.validate(one, schema(kind))
    return found


def test_the_commands_of_the_guide_work(call: Call, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    commands = [command for command in shown_commands("docs/building.md") if "p.db" in command]
    assert len(commands) > 15
    for command in commands:
        if command[1] == "verify":
            judge(tmp_path / command[2], command[3])
        elif command[1] != "doctor":  # It attacks the sandbox, which takes seconds.
            code, _, error = call(*command[1:])
            assert code == 0, f"{command}: {error}"


def judge(path: Path, name: str) -> None:
    """Store the run that ``workbench verify`` would make, in this process."""
    project = open_project(path)
    verifier = cast("Verifier", Registry().load(name, {}))
    items = [row[0] for row in project.database.reader().execute("SELECT id FROM completions ORDER BY id")]
    found = [(one.item, verifier.verify(one)) for one in inputs(project.database, items)]
    add_complete_run(project, name, found, kind=name)
    project.close()


def test_the_document_of_a_build_keeps_the_contract(call: Call, database: Path) -> None:
    found = document(call, "set-report", "build", database, "balanced", "--per-type", "3")

    assert (found["name"], found["questions"], found["tuples"], found["seed"]) == ("balanced", 5, 10, 0)
    assert found["strata"][:2] == [
        {"name": "A", "population": 4, "quota": 3, "taken": 3},
        {"name": "B", "population": 2, "quota": 3, "taken": 2},
    ]
    assert found["shortfall"][0]["wanted"] == 3
    assert found["excluded"] == {}
    assert document(call, "set-report", "build", database, "balanced", "--per-type", "3")["unchanged"]


def test_imported_gold_is_named_wherever_the_set_is_shown(call: Call, tmp_path: Path) -> None:
    make_pool(tmp_path, [PoolQuestion("q1", "A1", "+-")], gold=True).close()
    code, out, _ = call("build", tmp_path / "p.db", "balanced", "--gold", "imported")
    assert (code, out.splitlines()[1].endswith(", GOLD AS IMPORTED: no person's label counts")) == (0, True)
    assert "GOLD AS IMPORTED" in call("sets", tmp_path / "p.db", "show", "balanced")[1]


def test_sets_are_listed_shown_and_compared(call: Call, database: Path) -> None:
    assert document(call, "set-line", "sets", database) == []
    assert "no set yet" in call("sets", database)[2]
    call("build", database, "picks", "--judge", "b", "--each", "1")
    call("build", database, "picks", "--judge", "b", "--each", "2", "--new-version")

    assert [one["version"] for one in document(call, "set-line", "sets", database, "list")] == [1, 2]
    shown = document(call, "set-detail", "sets", database, "show", "picks@1")
    assert (shown["config"]["judges"], shown["flips"][0]["judge"]) == ({"b": 2}, "b")
    diff = document(call, "set-diff", "sets", database, "diff", "picks@1", "picks")
    assert (diff["same"], len(diff["only_new"]), diff["settings"]) == (12, 12, {"each": [1, 2]})
    text = call("sets", database, "diff", "picks@1", "picks")[1]
    assert "picks@1 → picks@2: 12 equal\neach: 1 → 2\nonly in picks@2: 12\n  pool    q0    q0-" in text
    for wrong in (("show",), ("diff", "picks"), ("list", "x"), ("show", "a", "b")):
        assert call("sets", database, *wrong)[0] == 2
    assert call("sets", database, "show", "nothing")[0] == 2


def test_a_hard_set_goes_as_far_as_its_labels(call: Call, database: Path) -> None:
    judges = ("--judge", "a", "--judge", "b", "--judge", "c")
    code, out, error = call("build", database, "hard", *judges, "--minority", "1", "--run", "a=1")
    assert (code, "splits: 3:0 6, 2:1 18" in out) == (0, True)
    assert "Next: workbench assign DB --where set=hard-queue" in error
    code, out, error = call("build", database, "hard")
    assert out.startswith("hard@1 (hard, frozen): 18 tuples of 6 questions")
    assert "short  all: 18 of 1,000 tuples, 18 available: no more than 18 were queued" in out
    assert 'correct: 12 of 18; always "incorrect" is right on 33.3 %' in out
    assert document(call, "set-detail", "sets", database, "show", "hard")["report"]["stages"] == {
        "candidates": 24,
        "fully_voted": 24,
        "split": 18,
        "sampled": 18,
        "annotated": 18,
        "suitable": 18,
        "final": 18,
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("balanced", "--quota", "papers"), "neither a file nor one of"),
        (("balanced", "--gold", "final"), "--gold"),
        (("balanced", "--name", "a b"), "is not a valid set name"),
        (("balanced", "--where", "set=no"), "There is no set 'no'"),
        (("hard", "--judge", "a", "--run", "a=x"), "is not a run's number"),
        (("hard", "--judge", "a", "--run", "a"), "not KEY=VALUE"),
        (("picks",), "Missing option '--judge'"),
        (("nothing",), "There is no command 'nothing'"),
    ],
)
def test_wrong_usage(call: Call, database: Path, arguments: tuple[str, ...], told: str) -> None:
    code, out, error = call("build", database, *arguments)
    assert (code, out) == (2, "")
    assert told in error


def test_a_plan_states_that_nothing_was_written(call: Call, database: Path) -> None:
    code, out, error = call("build", database, "picks", "--judge", "a", "--dry-run")
    assert (code, error) == (0, "Nothing was written (--dry-run).\n")
    assert out.startswith("picks (picks, not frozen): 24 tuples of 6 questions")
    assert document(call, "set-line", "sets", database) == []


def test_untrusted_texts_are_shown_escaped(call: Call, tmp_path: Path) -> None:
    project = make_pool(tmp_path, [PoolQuestion("q\x1b[31m", "A1", "+-", "math/\x1b]0;x\x07")])
    for name, signs in (("a", "+-"), ("b", "++"), ("c", "--")):
        add_run(project, name, signs)
    project.close()
    judges = ("--judge", "a", "--judge", "b", "--judge", "c", "--minority", "1")
    assert call("build", project.path, "hard", *judges)[0] == 0
    assert call("build", project.path, "hard")[0] == 0
    for command in (("show", "hard"), ("diff", "hard-queue", "hard")):
        code, out, _ = call("sets", project.path, *command)
        assert (code, "\x1b" in out) == (0, False)


def test_a_set_is_a_condition_wherever_there_are_conditions(
    call: Call, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "ensure_runner", lambda _: None)
    add_texts(database)
    assert call("build", database, "balanced", "--per-type", "1")[0] == 0

    def run_command(command: str, *arguments: object) -> Any:
        code, out, error = call(command, database, *arguments, "--where", "set=balanced@1", "--json")
        assert code == 0, error
        return json.loads(out)

    gold = run_command("accuracy", "--verifier", "a")["gold"]
    assert gold["agreed"] + gold["adjudicated"] == 4
    held = {row["completion_id"] for row in run_command("disagreements", "--queue", "verifiers")}
    assert len({row["completion_id"] for row in run_command("disagreements", "--queue", "verifier-gold")} | held) <= 4
    assert run_command("assign", "--annotators", "x,y", "--final-too")["assigned"] == 8
    assert run_command("verify", "exact", "--detach")["items"] == 4
    code, _, error = call("export", database, tmp_path / "set.csv", "--format", "csv", "--where", "set=balanced")
    assert code == 0, error
    assert len((tmp_path / "set.csv").read_bytes().splitlines()) == 5


def add_texts(database: Path) -> None:
    project = open_project(database)
    with project.database.write() as connection:
        connection.execute("INSERT INTO question_text (id, text, reference) SELECT id, key, '7' FROM questions")
        connection.execute("INSERT INTO completion_text (id, text) SELECT id, 'It is 7.' FROM completions")
    project.close()


def test_a_later_run_is_reported(call: Call, database: Path) -> None:
    call("build", database, "picks", "--judge", "a", "--each", "1")
    project = open_project(database)
    add_later_run(project, "a", "----" * 6)
    project.close()
    assert "a (run 1, then 4): 6 of 12 verdicts flip, 50.0 %" in call("sets", database, "show", "picks")[1]
