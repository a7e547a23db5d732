"""``workbench open``: a terminal, a database, and optionally an annotator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from tests.background import PATIENCE_S
from tests.helpers import make_project, numbered
from workbench.config.file import FOLDER_VARIABLE
from workbench.labelling.people import add_annotators

WORKBENCH = [sys.executable, "-m", "workbench"]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A closed database with two people."""
    project = make_project(tmp_path, numbered(4))
    add_annotators(project, ["amira", "ben"])
    project.close()
    return project.path


@pytest.mark.parametrize(
    ("arguments", "part"),
    [((), "workbench open DB"), (("open",), "workbench open DB"), (("open", "p.db"), "needs a terminal")],
)
def test_without_database_or_terminal_it_shows_the_usage(arguments: tuple[str, ...], part: str) -> None:
    done = subprocess.run([*WORKBENCH, *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def on_terminal(*arguments: object) -> pexpect.spawn[str]:
    command = [*WORKBENCH, *map(str, arguments)]
    environment = os.environ | {"TERM": "xterm-256color", "NO_COLOR": "1"}
    return pexpect.spawn(
        command[0],
        command[1:],
        dimensions=(24, 80),
        encoding="utf-8",
        timeout=PATIENCE_S,
        env=environment,
        use_poll=True,
    )


def ended(child: pexpect.spawn[str]) -> tuple[str, int | None]:
    """Return the output of a program up to its end, and its exit code."""
    child.expect(pexpect.EOF)
    child.close()
    return str(child.before), child.exitstatus


def test_an_unknown_annotator_is_rejected_with_the_known_ones(database: Path) -> None:
    text, code = ended(on_terminal("open", database, "--as", "zoe"))
    assert code == 2
    assert "zoe" in text
    assert "amira, ben" in text


def test_a_missing_database_is_rejected(tmp_path: Path) -> None:
    text, code = ended(on_terminal("open", tmp_path / "none.db"))
    assert code == 1
    assert "no such database" in text


def test_a_broken_settings_file_is_rejected_with_its_name(database: Path) -> None:
    database.with_name("workbench.toml").write_text("theme = 3", encoding="utf-8")
    text, code = ended(on_terminal("open", database))
    assert code == 2
    assert "workbench.toml" in text.replace("\r\n", "")


@pytest.mark.soak
def test_a_lone_file_and_no_argument_open_the_app_too(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without arguments: the last project with its annotator, or a list of the databases here."""
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    monkeypatch.chdir(tmp_path)
    start = on_terminal()
    start.expect("p.db")
    start.expect("New project")
    start.send("\r")
    start.expect("unlabelled")
    start.send("\x11")
    assert ended(start)[1] == 0
    for arguments in (("p.db", "--as", "amira"), ()):
        child = on_terminal(*arguments)
        child.expect("amira")
        child.send("\x11")
        assert ended(child)[1] == 0


@pytest.mark.soak
def test_it_begins_on_an_item_that_is_named(database: Path) -> None:
    child = on_terminal("open", database, "q1")
    child.expect("1 of 2 · c2")
    child.send("\x11")
    assert ended(child)[1] == 0
    for arguments, said in ((("qq1",), "Did you mean"), (("q1", "--as", "amira"), "coordinator")):
        text, code = ended(on_terminal("open", database, *arguments))
        assert code == 2
        assert said in text


@pytest.mark.few(2)
@pytest.mark.parametrize("person", ["", "amira"])
def test_the_app_opens_and_quits(database: Path, person: str) -> None:
    child = on_terminal("open", database, *(["--as", person] if person else []))
    child.expect("nothing to do" if person else "unlabelled")
    child.send("\x11")
    _, code = ended(child)
    assert code == 0
    assert not database.with_name("p.db.app.log").exists()


@pytest.mark.soak
def test_another_project_is_one_key_away_from_any_screen(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    monkeypatch.chdir(tmp_path)
    child = on_terminal("open", database, "--at", "browse")
    child.expect("Browse")
    child.send("\x0e")
    child.expect("esc back to p.db")
    child.send("\x1b")
    child.expect("unlabelled")
    child.send("\x0e")
    child.expect("New project")
    child.send("\x1b[B")
    child.send("\r")
    child.expect("Where to keep")
    child.send("\r")
    child.expect("Nothing is here yet")
    child.send("\x0e")
    child.expect("p.db")
    child.expect("project.db")
    child.send("q")
    assert ended(child)[1] == 0
    assert (tmp_path / "project.db").exists()


def test_no_garbage_is_looked_for_while_the_app_is_imported(database: Path) -> None:
    """Modules stay; to look through them took a tenth of the time to the first frame."""
    script = (
        "import gc, sys\n"
        "from workbench.app.cli import opening, root\n"
        "looked = []\n"
        "gc.callbacks.append(lambda phase, told: looked.append(phase) if 'textual' in sys.modules else None)\n"
        "def app(*arguments):\n"
        "    import workbench.app.tui.app\n"
        "    print(len(looked), 'textual' in sys.modules)\n"
        "opening._run_app = app\n"
        "root(['open', sys.argv[1]])\n"
    )
    words = [sys.executable, "-c", script, str(database)]
    served = os.environ | {"TEXTUAL_DRIVER": "none"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=served)
    assert done.stdout == "0 True\n", done.stderr
