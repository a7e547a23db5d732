"""Closed pipes, full disks, other encodings: the commands report them without a traceback."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from tests.commands import done
from tests.helpers import copy_database, make_project, numbered

WORKBENCH = f"{shlex.quote(sys.executable)} -m workbench"
FULL = Path("/dev/full")


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command line in which ``workbench`` is this one; no traceback may appear."""
    script = f'workbench() {{ {WORKBENCH} "$@"; }}; {command}'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr
    assert b"Exception ignored" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_project(tmp_path_factory.mktemp("judged"), numbered(4, model="gü\u03b2"))
    made.close()
    done("verify", made.path, "exact")
    return made.path


@pytest.fixture
def folder(judged: Path, tmp_path: Path) -> Path:
    """A folder with the project ``p.db``; its model's name is not ASCII."""
    return copy_database(judged, tmp_path / "p.db").parent


PRINTING = ("status p.db", "status p.db --json", "verdicts p.db --verifier exact", "--help")
ENDS = ("| true", ">&-")


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("command", "end"),
    [
        pytest.param(command, end, marks=() if place % 2 == other else pytest.mark.soak)
        for place, command in enumerate(
            ("status p.db", "status p.db --json", "verdicts p.db --verifier exact", "--help")
        )
        for other, end in enumerate(ENDS)
    ],
)
def test_a_closed_pipe_is_no_error(folder: Path, command: str, end: str) -> None:
    assert shell(f"workbench {command} {end}", folder).stderr == b""


@pytest.mark.few(3)
@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["status p.db", "accuracy p.db --json", "verdicts p.db --verifier exact"])
def test_output_that_cannot_be_written_exits_with_1(folder: Path, command: str) -> None:
    done = shell(f"workbench {command} > {FULL}", folder)
    assert done.returncode == 1
    assert b"No space left" in done.stderr


def test_a_terminal_that_lacks_characters_gets_escapes(folder: Path) -> None:
    done = shell("workbench accuracy p.db --by model", folder, PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    assert rb"\u03b2" in done.stdout
    found = json.loads(shell("workbench accuracy p.db --by model --json", folder, PYTHONIOENCODING="latin-1").stdout)
    assert {row["group"] for row in found["rows"]} == {None, "gü\u03b2"}


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "command",
    [
        "annotators p.db add $'\\xff'",
        "accuracy p.db --where model=$'\\xff'",
        "verify p.db $'\\xff'",
        "verify p.db exact --name $'\\xff'",
        "import p.db p.jsonl --dataset $'\\xff'",
    ],
)
def test_undecodable_arguments_exit_with_2(folder: Path, command: str) -> None:
    (folder / "p.jsonl").write_text('{"question": "a", "answer": "b", "completion": "c"}\n')
    assert shell(f"workbench {command}", folder).returncode == 2


def test_files_may_be_called_anything(folder: Path) -> None:
    (folder / "p.jsonl").write_text('{"question": "a", "answer": "b", "completion": "c"}\n')
    shell("mv p.jsonl $'\\xff.jsonl'; mv p.db $'\\xff #?%20.db'", folder)
    imported = shell("workbench import $'\\xff #?%20.db' $'\\xff.jsonl' --json", folder)
    assert (imported.returncode, json.loads(imported.stdout)["imported"]) == (0, 1)
    assert shell("workbench backup $'\\xff #?%20.db' :memory: --json", folder).returncode == 0
    written = shell("workbench export :memory: $'\\xfe.csv' --format csv --json", folder)
    assert json.loads(written.stdout)["written"] == 5
