"""Commands that messages advise: they can be run as they stand, whatever the files are called."""

from __future__ import annotations

import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import run
from tests.helpers import make_project, numbered
from workbench.services.labelling.people import assign

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


def test_a_changed_schema_is_shown_by_the_doctor_that_is_advised(path: Path) -> None:
    _change(path, "DROP TRIGGER label_events_no_update")
    (advised,) = _advised(run("status", path).stderr)
    assert advised == ["doctor", str(path)]


def test_what_is_lost_can_be_rescued_as_advised(path: Path, tmp_path: Path) -> None:
    _change(path, "PRAGMA foreign_keys = OFF", "DELETE FROM questions WHERE id = 1")
    for said in (run("doctor", path).stderr, run("doctor", path, "--repair").stderr):
        restore, rescue = _advised(said)
        assert restore == ["restore", str(path), "BACKUP"]
        assert rescue[:2] == ["rescue", str(path)]
    assert run(*rescue, cwd=tmp_path).returncode == 3
    assert (tmp_path / "NEW.db").exists()
