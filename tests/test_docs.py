"""The commands the documents show are run, in order, as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def shown_commands(document: str) -> list[list[str]]:
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("workbench ")]


@contextmanager
def in_background(command: list[str], folder: Path) -> Iterator[None]:
    """A server that runs from the moment it says where it listens."""
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            assert "http://" in server.stdout.readline()
            yield
        finally:
            server.terminate()


@pytest.mark.parametrize("document", ["README.md", "docs/annotation.md", "docs/analysis.md"])
def test_every_shown_command_works(tmp_path: Path, document: str) -> None:
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    commands = shown_commands(document)
    assert len(commands) > 12
    with ExitStack() as servers:
        for command in commands:
            run = [sys.executable, "-m", "workbench", *command[1:]]
            if command[-1] == "&":
                servers.enter_context(in_background(run[:-1], tmp_path))
                continue
            done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, f"{command}: {done.stderr}"
    back = tmp_path / "back.jsonl"
    assert not back.exists() or back.read_bytes() == (ROOT / "sample_data" / "tuples.jsonl").read_bytes()


@pytest.mark.parametrize("document", ["README.md", "docs/annotation.md"])
def test_the_shown_settings_are_read(tmp_path: Path, document: str) -> None:
    from workbench.config import load

    shown = re.findall(r"```toml\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "workbench.toml").write_text(shown[0], encoding="utf-8")
    settings, said = load(tmp_path / "p.db"), tomllib.loads(shown[0])
    assert settings.keymap == said.get("keymap", {})
    assert {name: getattr(settings.annotation, name) for name in said.get("annotation", {})} == said.get(
        "annotation", {}
    )


def test_the_pictures_are_there() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README)
    starts = {".svg": b"<svg", ".png": b"\x89PNG"}
    assert len(pictures) > 4
    assert all((ROOT / path).read_bytes().startswith(starts[Path(path).suffix]) for path in pictures)


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/annotation.md"])
def test_documents_speak_of_what_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for path in re.findall(r"`((?:workbench|tests|schemas|sample_data|docs)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


def test_every_command_is_in_help_and_has_its_own() -> None:
    from click.testing import CliRunner

    from workbench.cli import COMMANDS, code, root

    for group, commands in ([], COMMANDS), (["code"], code.COMMANDS):
        overview = CliRunner().invoke(root, [*group, "--help"]).output
        for name in commands:
            assert name in overview
            done = CliRunner().invoke(root, [*group, name, "--help"])
            assert done.exit_code == 0, name
            assert done.output.startswith("Usage:"), name


def test_contributing_is_one_page() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_environment_is_not_needed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "--version"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "workbench" in done.stdout


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample data with verdicts of three rule verifiers, as ``p.db`` in a folder of its own."""
    folder = tmp_path_factory.mktemp("shown")
    for arguments in (
        ["import", "p.db", str(ROOT / "sample_data" / "tuples.jsonl"), "--dataset", "sample"],
        ["labels", "p.db", "import", str(ROOT / "sample_data" / "labels.jsonl")],
        *(["verify", "p.db", verifier] for verifier in ("rules", "exact", "math-verify")),
    ):
        run = [sys.executable, "-m", "workbench", *arguments]
        subprocess.run(run, cwd=folder, capture_output=True, timeout=120, check=True)
    return folder / "p.db"


def test_the_shown_combinations_of_verifiers_work(sample: Path) -> None:
    shutil.copytree(ROOT / "sample_data", sample.parent / "sample_data", dirs_exist_ok=True)
    commands = shown_commands("docs/combining.md")
    assert {command[1] for command in commands} == {"ensemble", "best-of", "downstream", "estimate"}
    for command in commands:
        run = [sys.executable, "-m", "workbench", *command[1:]]
        done = subprocess.run(run, cwd=sample.parent, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_the_shown_runs_of_code_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from workbench.cli import root

    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    commands = shown_commands("docs/code.md")
    assert [command[1] for command in commands[:4]] == ["import", "verify", "code", "code"]
    for command in commands:
        done = CliRunner().invoke(root, command[1:])
        assert done.exit_code == 0, f"{command}: {done.output}"


def blocks(document: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.DOTALL)


def test_the_shown_sql_reads_the_views(sample: Path) -> None:
    statements = blocks("docs/sql.md", "sql")
    with closing(sqlite3.connect(f"file:{sample}?mode=ro", uri=True)) as connection:
        found = [connection.execute(statement).fetchall() for statement in statements]
        views = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")}
    assert len(found) == 5
    assert all(found)
    documented = set(
        re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "sql.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert documented == views - {"horizon", "gold"}


def test_the_shown_python_runs(
    sample: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(sample.parent)
    names: dict[str, object] = {}
    for block in blocks("docs/python.md", "python"):
        exec(compile(block, "docs/python.md", "exec"), names)
    assert "math-verify" in capsys.readouterr().out


def test_the_shown_reports_are_written(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from workbench.cli import root

    monkeypatch.chdir(sample.parent)
    commands = shown_commands("docs/report.md")
    assert len(commands) == 6
    for command in commands:
        done = CliRunner().invoke(root, command[1:])
        assert done.exit_code == 0, f"{command}: {done.output}"
    assert (sample.parent / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (sample.parent / "report.md").read_text(encoding="utf-8").startswith("# ")
