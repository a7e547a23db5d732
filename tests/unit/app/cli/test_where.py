"""``--where``: every command reports impossible values and empty selections, and does nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import workbench
from tests.commands import run
from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.project import open_project
from workbench.core.verdict import OutcomeCode, Verdict
from workbench.runs.verifying import start

COMMANDS: dict[str, tuple[str, ...]] = {
    "accuracy": ("DB",),
    "assign": ("DB", "--annotators", "a,b"),
    "best-of": ("DB",),
    "build balanced": ("DB",),
    "build hard": ("DB", "--judge", "often"),
    "build picks": ("DB", "--judge", "often"),
    "build random": ("DB", "--n", "3"),
    "bundle": ("DB", "FILE", "--for", "a"),
    "checks": ("DB", "add"),
    "code histograms": ("DB",),
    "code metrics": ("DB",),
    "code passk": ("DB",),
    "code results": ("DB",),
    "code saturation": ("DB",),
    "code select": ("DB",),
    "compare": ("DB", "often", "seldom"),
    "conflicts": ("DB", "--as", "a", "--class", "correct/incorrect"),
    "correlate": ("DB", "often"),
    "cost": ("DB",),
    "disagreements": ("DB",),
    "downstream": ("DB", "FILE"),
    "estimate": ("DB", "often"),
    "exclude": ("DB", "--list"),
    "flags": ("DB",),
    "export": ("DB", "FILE", "--format", "verifybench"),
    "calibrate": ("DB", "often"),
    "pairs": ("DB", "often"),
    "pairwise": ("DB",),
    "plan": ("DB",),
    "probe": ("DB", "exact"),
    "reopen": ("DB", "--reason", "x"),
    "report": ("DB", "-o", "FILE"),
    "stack": ("DB", "--stages", "often"),
    "sweep": ("DB", "llm-judge", "--vary", "samples=1,2"),
    "tables": ("DB", "--paper"),
    "threshold": ("DB", "often"),
    "validity": ("DB",),
    "verify": ("DB", "exact"),
    "what-if": ("DB", "often"),
}
"""Every command that takes ``--where``, with what else it needs to get to its items."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [{**row, "subtype": "A1", "source": "s", "domain": "math", "model": "gpt"} for row in numbered(12)]
    project = make_project(tmp_path_factory.mktemp("where"), rows)
    for name, every in (("often", 3), ("seldom", 5)):
        said = [(item, Verdict(outcome=OutcomeCode(int(item % every == 0)).outcome)) for item in range(1, 13)]
        add_complete_run(project, name, said, kind="exact")
    project.close()
    return project.path


def taking_where(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from taking_where(found, (*path, name))
    elif any(parameter.name == "where" for parameter in command.params):
        yield " ".join(path)


def test_every_command_with_the_option_is_covered() -> None:
    assert set(taking_where(root)) == set(COMMANDS)


@pytest.mark.few(8)
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_done_where_nothing_is_chosen(database: Path, tmp_path: Path, command: str) -> None:
    file = tmp_path / "out.jsonl"
    if command == "downstream":
        file.write_text('{"verifier":"often","model":"m","benchmark":"b","score":1}\n', encoding="utf-8")
    there = file.exists()
    given = [{"DB": str(database), "FILE": str(file)}.get(word, word) for word in COMMANDS[command]]
    for where, said in (
        ("subtype=Z9", "'Z9' is not a valid subtype"),
        ("subtype=B4", "No item matches subtype=B4"),
    ):
        group, _, name = command.partition(" ")
        words = [group, given[0], name, *given[1:]] if group == "build" else [*command.split(), *given]
        found = run(*words, "--where", where)
        assert (found.returncode, found.stdout) == (2, ""), found.stderr
        assert said in found.stderr
    assert file.exists() == there


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("subtype=Matrx", "Did you mean 'Matrix'?"),
        ("subtype!=Z9", "Subtypes: A1, A2"),
        ("subtype=B", "Write type=B."),
        ("type!=B5", "Write subtype!=B5."),
        ("type=E", "Types: A, B, C, D, untyped."),
        ("type=numerik values", "Did you mean 'Numeric Values'?"),
        ("dataset=smaple", "Did you mean 'sample'?"),
        ("model=GPT4", "Did you mean 'gpt'?"),
        ("source=t", "Sources: s."),
        ("domain=maths", "Did you mean 'math'?"),
        ("state=finl", "Did you mean 'final'?"),
        ("gold=corect", "Did you mean 'correct'?"),
        ("length=long", "Lengths, in characters: <1k"),
        ("verdict:oftn=correct", "Did you mean 'often'?"),
        ("verdict:often=corect", "Did you mean 'correct'?"),
        ("subtpye=A1", "Did you mean 'subtype'? Known fields: dataset, type"),
        ("completion_id=nobody", "No item matches completion_id=nobody."),
    ],
)
def test_an_impossible_value_is_rejected_with_a_suggestion(database: Path, where: str, said: str) -> None:
    found = run("accuracy", database, "--where", where)
    assert (found.returncode, found.stdout) == (2, "")
    assert said in found.stderr


@pytest.mark.parametrize(
    "where", ["subtype=integer", "subtype=A1 - Integer", "type=num", "model!=", "subtype!=untyped"]
)
def test_values_known_to_the_taxonomy_or_data_are_accepted(database: Path, where: str) -> None:
    assert run("accuracy", database, "--where", where).returncode == 0


def test_a_code_known_only_to_the_data_is_accepted(tmp_path: Path) -> None:
    rows = [{**row, "subtype": "A9" if number < 6 else "Q1"} for number, row in enumerate(numbered(12))]
    project = make_project(tmp_path, rows)
    project.close()
    for where in ("subtype=A9", "subtype!=Q1", "type=Q"):
        found = run("export", project.path, tmp_path / "x", "--format", "verifybench", "--force", "--where", where)
        assert found.stdout.startswith("6 rows")
    assert run("plan", project.path, "--where", "subtype=Q2").returncode == 2


def test_conditions_that_exclude_each_other_are_counted_one_by_one(database: Path) -> None:
    found = run("accuracy", database, "--where", "gold=correct", "--where", "gold=incorrect")
    assert found.returncode == 2
    assert "gold=correct: 6, gold=incorrect: 6" in re.sub(r"\s+", " ", found.stderr)


def test_no_run_of_nothing_is_stored(database: Path, tmp_path: Path) -> None:
    before = json.loads(run("runs", database, "list", "--json").stdout)
    assert run("verify", database, "normalized-exact", "--where", "subtype=B4").returncode == 2
    assert json.loads(run("runs", database, "list", "--json").stdout) == before
    assert not any(row["verifier"] == "normalized-exact" for row in before)
    project = open_project(tmp_path / "empty.db", create=True)
    with pytest.raises(UsageError, match="There are no items here"):
        start(project, "exact")
    assert project.database.reader().execute("SELECT count(*) FROM runs").fetchone() == (0,)


def test_an_empty_selection_gives_no_table(database: Path) -> None:
    with workbench.open_project(database) as project:
        for ask in (
            project.accuracy,
            project.disagreements,
            lambda where: project.compare("often", "seldom", where=where),
        ):
            with pytest.raises(UsageError, match="No item matches"):
                ask(where="subtype=B4")
        with pytest.raises(UsageError, match="not a valid subtype"):
            project.items("subtype=Z9")
        assert len(project.items("subtype=B4")) == 0
