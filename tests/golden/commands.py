"""Every command: its output as text and as JSON, on databases with content of every kind."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click

from tests.background import runner_ends
from tests.commands import run
from tests.full_disk_commands import COMMANDS, DATABASES, READS, SERVED
from tests.full_disk_input import CommandInput
from tests.golden.scenes import Scenes
from tests.golden.settling import output_of
from workbench.app.cli import root
from workbench.app.verbs import GROUPS
from workbench.core.project import open_project

OWN = {
    "open": "open DB",
    "serve": "serve DB --annotators amira --host nowhere.invalid",
    "reward-server": "reward-server DB --verifier nobody",
    "replay": "replay IN/recorded.jsonl --until-eof",
    "judge-file": "judge-file IN/checks.jsonl FILE.jsonl --verifier exact",
    "runs resume": "runs DB resume 1",
}
"""Commands that would run until they are stopped, or long, or wait for a runner, in a shorter form."""

LONG = ("tables", "export stdout")
"""Commands with much output, which are shown on the sample and its exported files."""

LINES = {
    name: text
    for name, text in {**COMMANDS, **READS, **SERVED, **OWN}.items()
    if "--figures" not in text and name not in LONG
}
"""Name -> commands separated by ";": the last one's output is frozen. Slow plots are left out."""

TWICE = ("demo", "code scale")
"""Slow commands: the JSON is printed by a second call on the same database."""


def shown(scenes: Scenes, room: str) -> Iterator[tuple[str, str]]:
    """Yield the outputs of a group of commands."""
    for name, text in LINES.items():
        if text.split()[0] not in GROUPS[room]:
            continue
        *before, last = text.split(" ; ")
        place = _place(scenes, name, text)
        yield f"{name}: {last}", _printed(scenes, place, before, last)
        if has_json(last):
            if name not in TWICE:
                place = _place(scenes, f"{name} json", text)
            yield f"{name}: {last} --json", _printed(scenes, place, before, f"{last} --json")


def has_json(line: str) -> bool:
    """Return whether a command can print JSON."""
    return any("--json" in param.opts for param in resolved(line)[1].params)


def resolved(line: str) -> tuple[str, click.Command]:
    """Return the name of the command that a line runs, and the command."""
    command: click.Command = root
    path: list[str] = []
    for word in line.split():
        if not isinstance(command, click.Group):
            break
        found = command.get_command(click.Context(command), word)
        if found is not None:
            command = found
            path.append(word)
    return " ".join(path), command


def _place(scenes: Scenes, name: str, text: str) -> Path:
    """Create a folder with copies of the databases in the command."""
    place = scenes.command_input.folder / "places" / name
    place.mkdir(parents=True)
    for database in {DATABASES[word] for word in text.split() if word in DATABASES}:
        if (scenes.command_input.folder / database).exists():
            shutil.copy(scenes.command_input.folder / database, place / database)
    return place


def _printed(scenes: Scenes, place: Path, before: list[str], last: str) -> str:
    command_input = scenes.command_input
    for line in before:
        done = run(*_words(line, command_input, place), cwd=place)
        assert done.returncode == 0, (line, done.stderr)
    done = run(*_words(last, command_input, place), cwd=place)
    for lock in place.glob("*.runner.lock"):
        # A runner that is about to end would take the next command's work.
        with runner_ends(open_project(lock.with_name(lock.name.removesuffix(".runner.lock")))):
            pass
    return output_of(done, place).replace(str(command_input.folder), "IN").replace(command_input.url, "URL")


def _words(line: str, command_input: CommandInput, place: Path) -> Iterator[str]:
    """Return the words of a line with placeholders replaced by files and addresses."""
    texts = {"IN/": f"{command_input.folder}/", "FILE": "new", "FOLDER": "folder", "URL": command_input.url}
    texts |= {"ITEM": command_input.item, "FLAGGED": command_input.flagged}
    for word in line.split():
        if word == "UUID":
            with closing(sqlite3.connect(place / "p.db")) as connection:
                word = str(connection.execute("SELECT uuid FROM reviews").fetchone()[0])
        for name, text in texts.items():
            word = word.replace(name, text)
        yield DATABASES.get(word, word)
