"""Commands suggested in messages can be run as printed, whatever the file names."""

from __future__ import annotations

import ast
import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest

import workbench
from tests.commands import run
from tests.helpers import make_project, numbered
from workbench.app.cli import root
from workbench.labelling.people import assign

_COMMAND = re.compile(r"workbench ((?:'[^\n']*'|[^\s'();]+|[ ])+)")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "my data (2)"
    folder.mkdir()
    project = make_project(folder, numbered(4))
    assign(project, ["amira"], per_item=1)
    project.close()
    return (folder / "p.db").rename(folder / "my labels.db")


def _change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def _advised(said: str) -> list[list[str]]:
    return [shlex.split(found[1]) for found in _COMMAND.finditer(said)]


def test_doctor_advises_the_repair_that_helps(path: Path) -> None:
    _change(path, "INSERT INTO task_states (task, subject, state, round) VALUES ('correctness', 1, 'final', 1)")
    (advised,) = _advised(run("doctor", path).stderr)
    assert run(*advised).returncode == 0, advised


def test_the_advised_doctor_command_shows_a_changed_schema(path: Path) -> None:
    _change(path, "DROP TRIGGER label_events_no_update")
    (advised,) = _advised(run("status", path).stderr)
    assert advised == ["doctor", str(path)]


def test_the_advised_rescue_command_works(path: Path, tmp_path: Path) -> None:
    _change(path, "PRAGMA foreign_keys = OFF", "DELETE FROM questions WHERE id = 1")
    for said in (run("doctor", path).stderr, run("doctor", path, "--repair").stderr):
        restore, rescue = _advised(said)
        assert restore == ["restore", str(path), "BACKUP"]
        assert rescue[:2] == ["rescue", str(path)]
    assert run(*rescue, cwd=tmp_path).returncode == 3
    assert (tmp_path / "NEW.db").exists()


_ADVISED = re.compile(r"workbench ((?:[a-z-]+ ){1,2}?DB(?: (?!workbench )[^\s,;)`|]++)*+)(?! \|)")
_DOCUMENTED = {"schemas.py"}
"""Files that say what prints something, not what to do."""


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield the user-visible strings of a program, with a 1 for each interpolated value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values)
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def _commands() -> set[str]:
    files = [path for path in Path(workbench.__file__).parent.rglob("*.py") if path.name not in _DOCUMENTED]
    sources = [path.read_text(encoding="utf-8") for path in files]
    advising = (source for source in sources if "workbench " in source and "DB" in source)
    texts = (text for source in advising for text in _texts(ast.parse(source)))
    return {found[1].partition(". ")[0].rstrip(".:") for text in texts for found in _ADVISED.finditer(text)}


@pytest.mark.parametrize("advised", sorted(_commands()))
def test_an_advised_command_has_all_that_it_needs(advised: str) -> None:
    command: click.Command = root
    context, words = click.Context(root, **root.context_settings), advised.split()
    while isinstance(command, click.Group):
        # Some groups take the database before their command's name.
        words = words[1:] if words[0] == "DB" and command is not root else words
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, click.Context(found, info_name=name, parent=context)
    given, _, _ = command.make_parser(context).parse_args(words)
    lacking = [one.opts[-1] for one in command.params if one.required and not given.get(one.name or "")]
    assert advised.endswith("…") or not [option for option in lacking if option.startswith("--")]
