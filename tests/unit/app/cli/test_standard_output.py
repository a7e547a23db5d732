"""``-`` is standard output for every command that writes a file: only the content, and no file of that name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.commands import run
from tests.helpers import make_project, numbered
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.app.cli import root
from workbench.app.cli.writing import OutputPath
from workbench.core.verdict import OutcomeCode, Verdict

WRITERS: dict[str, tuple[tuple[str, ...], str]] = {
    "export": (("DB", "FILE", "--format", "verifybench"), '{"question_id"'),
    "labels": (("DB", "export", "FILE", "--history"), ""),
    "report": (("DB", "-o", "FILE", "--format", "markdown", "--examples", "0"), "#"),
    "review": (("DB", "export", "FILE"), ""),
}
"""Commands that write text, with what makes them do so and how that begins."""

ELSEWHERE = {"code duplicates", "code evolve", "code refine", "code select"}
"""Those that need programs or a model server; they take the same path."""

NO_STREAM: dict[str, tuple[str, ...]] = {
    "backup": ("DB", "FILE"),
    "calibrate": ("DB", "often", "--figures", "FILE"),
    "bundle": ("DB", "FILE", "--for", "a"),
    "cost": ("DB", "--figures", "FILE"),
    "downstream": ("DB", "SCORES", "--figures", "FILE"),
    "judge-file": (".", "FILE"),
    "publish": ("DB", "x", "FILE"),
    "rescue": ("DB", "FILE"),
    "sweep": ("DB", "often", "--vary", "samples=1,2", "--figures", "FILE"),
}
"""Commands that write databases or folders."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = make_project(tmp_path_factory.mktemp("stdout"), numbered(12, subtype="A1"))
    said = [(item, Verdict(outcome=OutcomeCode(item % 2).outcome)) for item in range(1, 13)]
    add_complete_run(project, "often", said, kind="exact")
    project.close()
    return project.path


def writing(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from writing(found, (*path, name))
    elif any(isinstance(parameter.type, OutputPath) for parameter in command.params):
        yield " ".join(path)


def test_every_command_that_writes_is_tried_here() -> None:
    assert {*writing(root), "review"} == {*WRITERS, *NO_STREAM, *ELSEWHERE}


def replaced_words(words: tuple[str, ...], database: Path, file: str) -> list[str]:
    return [{"DB": str(database), "FILE": file}.get(word, word) for word in words]


@pytest.mark.parametrize("command", WRITERS)
def test_the_content_of_the_file_is_on_standard_output(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    words, begins = WRITERS[command]
    there = run(command, *replaced_words(words, database, "-"))
    assert there.returncode == 0, there.stderr
    assert list(tmp_path.iterdir()) == []
    assert "standard output" in there.stderr
    written = run(command, *replaced_words(words, database, str(tmp_path / "file")))
    assert written.returncode == 0
    in_file = (tmp_path / "file").read_text(encoding="utf-8")
    assert there.stdout.startswith(begins)
    assert [line for line in there.stdout.splitlines() if "UTC" not in line] == [
        line for line in in_file.splitlines() if "UTC" not in line
    ]
    both = run(command, *replaced_words(words, database, "-"), "--json")
    assert (both.returncode, both.stdout) == (2, "")
    # A file of that name can still be meant.
    assert run(command, *replaced_words(words, database, "./-")).returncode == 0
    assert (tmp_path / "-").read_text(encoding="utf-8").splitlines()[:1] == in_file.splitlines()[:1]


@pytest.mark.parametrize("command", NO_STREAM)
def test_a_command_without_streaming_rejects_it_with_a_message(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(command, *replaced_words(NO_STREAM[command], database, "-"))
    assert (found.returncode, found.stdout) == (2, "")
    assert "not a stream" in found.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_where_the_command_fails(database: Path, tmp_path: Path) -> None:
    found = run("export", database, "-")
    assert (found.returncode, found.stdout) == (2, "")
    found = run("export", database, "-", "--format", "verifybench", "--dataset", "none")
    assert found.stdout == ""
    assert found.returncode != 0


def test_bytes_of_any_format_go_through_a_pipe(database: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-m", "workbench", "export", str(database), "-", "--format", "workbench"]
    piped = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path / "out")
    assert piped.stdout.startswith(b"SQLite format 3")
    (tmp_path / "p.db").write_bytes(piped.stdout)
    assert run("restore", tmp_path / "again.db", tmp_path / "p.db").returncode == 0
    assert list((tmp_path / "out").iterdir()) == []
