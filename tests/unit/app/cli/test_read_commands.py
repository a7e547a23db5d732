"""Read-only commands write nothing, and no command turns another file into a database."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.commands import Call, in_process
from tests.crashing import crash
from tests.helpers import make_project, numbered
from workbench.app.cli import root

MAKES = {"import", "demo"}
"""Commands that create a missing database."""

SAMPLE = {
    "verifier": "rules",
    "verifiers": "rules",
    "field": "model",
    "name": "x",
    "person": "ann",
    "annotator": "ann",
}


def commands(group: click.Group, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from commands(found, (*above, name))
        elif found is not None:
            yield (*above, name), found


def takes_database(command: click.Command) -> bool:
    return any(isinstance(param, click.Argument) and param.name == "database" for param in command.params)


COMMANDS = [(words, command) for words, command in commands(root) if takes_database(command)]


def arguments(command: click.Command, database: Path) -> list[str]:
    """Return the database and a value for every other required argument."""
    given: list[str] = []
    for param in command.params:
        if not param.required and param.name != "database":
            continue
        value = str(database) if param.name == "database" else _some(param, database)
        given += [value] if isinstance(param, click.Argument) else [param.opts[0], value]
    return given


def _some(param: click.Parameter, database: Path) -> str:
    kind = param.type
    if isinstance(kind, click.Choice):
        return str(kind.choices[0])
    if isinstance(kind, click.Path):
        return str(database.parent / "given.jsonl")
    if isinstance(kind, (click.IntRange, click.FloatRange)):
        return "1"
    return SAMPLE.get(param.name or "", "x")


def everything(folder: Path) -> dict[str, bytes | None]:
    return {
        str(place.relative_to(folder)): place.read_bytes() if place.is_file() else None
        for place in folder.rglob("*")
        if not place.is_fifo()
    }


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    # The other checks of doctor take seconds.
    monkeypatch.setattr("workbench.care.backups.check_sandbox", list)
    return in_process(monkeypatch, capfd)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    project = make_project(folder, numbered(4))
    project.close()
    (folder / "given.jsonl").write_text("{}\n")
    shutil.copy(folder / "p.db", folder / "crashed.db")
    crash(folder / "crashed.db")
    return folder


NO_DATABASE = [
    "missing",
    "no folder",
    "a folder",
    "no bytes",
    "no bytes and a log",
    "a log alone",
    "text",
    "empty SQLite",
]


def put(kind: str, folder: Path, whole: Path) -> Path:
    path = folder / "p.db"
    shutil.copy(whole / "given.jsonl", folder)
    match kind:
        case "no folder":
            return folder / "no" / "p.db"
        case "a folder":
            path.mkdir()
        case "no bytes":
            path.touch()
        case "no bytes and a log":
            path.touch()
            shutil.copy(whole / "crashed.db-wal", folder / "p.db-wal")
        case "a log alone":
            shutil.copy(whole / "crashed.db-wal", folder / "p.db-wal")
        case "text":
            path.write_text("what is this?\n" * 300)
        case "empty SQLite":
            path.write_bytes((whole / "p.db").read_bytes()[:4096][:16] + bytes(4080))
        case _:
            pass
    return path


def test_the_commands_are_found() -> None:
    assert len(COMMANDS) > 60
    assert {words[-1] for words, _ in COMMANDS} >= {"restore", "doctor", "accuracy", "merge"}


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", NO_DATABASE)
def test_no_command_turns_another_file_into_a_database(call: Call, tmp_path: Path, whole: Path, kind: str) -> None:
    path = put(kind, tmp_path, whole)
    before = everything(tmp_path)
    for words, command in COMMANDS:
        if words[-1] in MAKES and kind == "missing":
            continue
        code, shown, said = call(*words, *arguments(command, path))
        assert code in (1, 2), (words, said)
        assert shown or said, words
        assert "Traceback" not in said
        assert everything(tmp_path) == before, words


READING = {
    "accuracy", "agreement", "annotators", "assign", "calibrate", "checks", "compare", "conflicts", "correlate",
    "disagreements", "doctor", "downstream", "best-of", "estimate", "flags", "guidelines", "history",
    "labels", "list", "models", "pairs", "plan", "preview", "questions", "runs", "selected-by", "sets", "show",
    "status", "threshold", "transcripts", "validity", "verdicts", "verifiers", "what-if",
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("state", ["p.db", "crashed.db"])
def test_commands_that_only_read_leave_the_file_as_it_is(call: Call, tmp_path: Path, whole: Path, state: str) -> None:
    for file in whole.iterdir():
        shutil.copy(file, tmp_path)
    path = tmp_path / state
    if state != "p.db":
        # The last connection to close checkpoints the WAL, which moves the same rows.
        call("status", path)
    before = {name: content for name, content in everything(tmp_path).items() if ".columns" not in name}
    for words, command in COMMANDS:
        if words[-1] not in READING:
            continue
        call(*words, *arguments(command, path))
        after = {name: content for name, content in everything(tmp_path).items() if ".columns" not in name}
        assert after == before, words


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_reported(call: Call, tmp_path: Path, whole: Path) -> None:
    shutil.copy(whole / "p.db", tmp_path)
    tmp_path.chmod(0o555)
    try:
        for words, command in COMMANDS:
            code, _, said = call(*words, *arguments(command, tmp_path / "p.db"))
            assert "Traceback" not in said, words
            assert code in (0, 1, 2, 3)
            assert [file.name for file in tmp_path.iterdir()] == ["p.db"]
    finally:
        tmp_path.chmod(0o755)
