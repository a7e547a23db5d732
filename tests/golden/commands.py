"""Every command of the command line: what it prints as text and as JSON, on databases with everything in them."""

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
from tests.golden.settling import told
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
"""What would go on until it is ended, or why it doesn't begin; less of what takes long; what waits for no runner."""

LONG = ("tables", "export stdout")
"""What prints much, and is shown of the sample and of its exported files."""

LINES = {
    name: text
    for name, text in {**COMMANDS, **READS, **SERVED, **OWN}.items()
    if "--figures" not in text and name not in LONG
}
"""Name -> commands with a ; between them: what the last one prints is shown. Drawing takes long and prints little."""

TWICE = ("demo", "code scale")
"""What takes long: its JSON is that of the second time."""


def shown(scenes: Scenes, room: str) -> Iterator[tuple[str, str]]:
    """What the commands of a group of commands print."""
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
    """Whether a command can print JSON."""
    return any("--json" in param.opts for param in resolved(line)[1].params)


def resolved(line: str) -> tuple[str, click.Command]:
    """The name of the command that a line runs, and the command."""
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
    """A folder with copies of the databases that are named."""
    place = scenes.given.folder / "places" / name
    place.mkdir(parents=True)
    for database in {DATABASES[word] for word in text.split() if word in DATABASES}:
        if (scenes.given.folder / database).exists():
            shutil.copy(scenes.given.folder / database, place / database)
    return place


def _printed(scenes: Scenes, place: Path, before: list[str], last: str) -> str:
    given = scenes.given
    for line in before:
        done = run(*_words(line, given, place), cwd=place)
        assert done.returncode == 0, (line, done.stderr)
    done = run(*_words(last, given, place), cwd=place)
    for lock in place.glob("*.runner.lock"):
        # One that is about to end would take what comes next for its own.
        with runner_ends(open_project(lock.with_name(lock.name.removesuffix(".runner.lock")))):
            pass
    return told(done, place).replace(str(given.folder), "IN").replace(given.url, "URL")


def _words(line: str, given: CommandInput, place: Path) -> Iterator[str]:
    """The words of a line, with names of files and addresses in place of what stands for them."""
    texts = {"IN/": f"{given.folder}/", "FILE": "new", "FOLDER": "folder", "URL": given.url}
    texts |= {"ITEM": given.item, "FLAGGED": given.flagged}
    for word in line.split():
        if word == "UUID":
            with closing(sqlite3.connect(place / "p.db")) as connection:
                word = str(connection.execute("SELECT uuid FROM reviews").fetchone()[0])
        for name, text in texts.items():
            word = word.replace(name, text)
        yield DATABASES.get(word, word)
