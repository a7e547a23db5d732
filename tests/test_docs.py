"""Run the commands shown in the documents, in order."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import ExitStack, closing
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.background import PATIENCE_S
from tests.commands import in_process, run
from tests.documents import ROOT, in_background, on_free_ports, shown_commands

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.timeout(600)
@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("document", "least"),
    [
        ("README.md", 12),
        ("docs/commands.md", 36),
        ("docs/labelling.md", 12),
        ("docs/import.md", 2),
        ("docs/machines.md", 0),
        ("docs/analysis.md", 12),
        ("docs/care.md", 7),
    ],
)
def test_every_shown_command_works(
    tmp_path: Path, document: str, least: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    monkeypatch.chdir(tmp_path)
    commands, call = on_free_ports(shown_commands(document)), in_process(monkeypatch, capfd)
    assert len(commands) > least
    with ExitStack() as servers:
        for command in commands:
            if command[-1] == "&":
                servers.enter_context(in_background(command[1:-1], tmp_path))
                continue
            code, _, output = call(*command[1:])
            assert code == 0, f"{command}: {output}"
    back = tmp_path / "back.jsonl"
    assert not back.exists() or back.read_bytes() == (ROOT / "sample_data" / "tuples.jsonl").read_bytes()


def test_shown_harness_filter_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (samples,) = (ROOT / "tests/data/logs/lm_eval/sample__model-a").glob("samples_sample_numbers_*.jsonl")
    shown = blocks("docs/import.md", "sh")[0].replace("results/my__model/samples_gsm8k_*.jsonl", str(samples))
    commands = [shlex.split(line, comments=True) for line in shown.replace("gsm8k", "sample_numbers").splitlines()]
    assert [command[1] for command in commands] == ["import", "assign", "open", "accuracy", "disagreements"]
    monkeypatch.chdir(tmp_path)
    call, printed = in_process(monkeypatch, capfd), []
    for command in commands:
        if command[1] == "open":
            items = [json.loads(line) for line in call("export", "p.db", "-", "--format", "jsonl")[1].splitlines()]
            labels = [
                {"completion_id": item["completion_id"], "annotator": name, "verdict": "correct"}
                for item in items
                for name in ("amira", "ben")
            ]
            (tmp_path / "l.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels), encoding="utf-8")
            assert call("labels", "p.db", "import", "l.jsonl")[0] == 0
            continue
        code, out, error = call(*command[1:])
        assert code == 0, f"{command}: {error}"
        printed.append(out)
    accuracy, errors = printed[-2:]
    assert "lm-eval/sample_numbers/exact_match-flexible-extract" in accuracy
    assert errors.count("exact_match-strict-match says incorrect; gold says correct") == len(items)


@pytest.mark.parametrize("document", ["README.md", "docs/commands.md", "docs/labelling.md"])
def test_shown_settings_load(tmp_path: Path, document: str) -> None:
    from workbench.config import load

    shown = re.findall(r"```toml\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "workbench.toml").write_text(shown[0], encoding="utf-8")
    settings, output = load(tmp_path / "p.db"), tomllib.loads(shown[0])
    assert settings.keymap == output.get("keymap", {})
    assert {name: getattr(settings.annotation, name) for name in output.get("annotation", {})} == output.get(
        "annotation", {}
    )


def test_pictures_exist() -> None:
    starts = {".svg": b"<svg", ".png": b"\x89PNG"}
    for document, least in (("README.md", 4), ("docs/commands.md", 6)):
        text = (ROOT / document).read_text(encoding="utf-8")
        pictures = [(ROOT / document).parent / path for path in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)]
        assert len(pictures) >= least
        assert all(path.read_bytes().startswith(starts[path.suffix]) for path in pictures)


def test_front_page_is_short_and_links_every_document_by_a_question() -> None:
    assert len(README.splitlines()) <= 140
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\]\(([\w-]+\.(?:md|ipynb))(?:#[\w-]+)?\)", index))
    documents = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*.ipynb")]
    assert named == {path.name for path in documents} - {"README.md"}


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_links_between_documents_resolve(path: Path) -> None:
    for target, _, heading in re.findall(r"\]\(([\w-]+\.md)(#([\w-]+))?\)", path.read_text(encoding="utf-8")):
        titles = re.findall(r"^#+ (.+)$", (path.parent / target).read_text(encoding="utf-8"), re.MULTILINE)
        assert not heading or heading in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/labelling.md"])
def test_documents_mention_only_what_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for path in re.findall(r"`((?:workbench|tests|schemas|sample_data|docs)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


def test_every_command_is_listed_in_help_and_has_help() -> None:
    from click.testing import CliRunner

    from workbench.app.cli import root
    from workbench.app.verbs import COMMANDS, WITHIN

    for group, commands in ([], COMMANDS), (["code"], WITHIN["code"]):
        overview = CliRunner().invoke(root, [*group, "--help"]).output
        for name in commands:
            assert name in overview
            done = CliRunner().invoke(root, [*group, name, "--help"])
            assert done.exit_code == 0, name
            assert done.output.startswith("Usage:"), name


def test_plan_fits_one_page_and_recipes_are_short() -> None:
    plan, *recipes = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## Adding")
    assert len(plan.splitlines()) <= 100
    assert len(recipes) >= 6
    for recipe in recipes:
        words = re.sub(r"```.*?```", "", recipe, flags=re.DOTALL)
        assert len([line for line in words.splitlines() if line.strip()]) <= 20, recipe.partition("\n")[0]


def test_shown_commands_need_no_environment_variables(tmp_path: Path) -> None:
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
    """Return the sample data with verdicts of three rule verifiers, as ``p.db`` in a separate folder."""
    folder = tmp_path_factory.mktemp("shown")
    for arguments in (
        ["import", "p.db", str(ROOT / "sample_data" / "tuples.jsonl"), "--dataset", "sample"],
        ["labels", "p.db", "import", str(ROOT / "sample_data" / "labels.jsonl")],
        *(["verify", "p.db", verifier] for verifier in ("rules", "exact", "math-verify")),
    ):
        done = run(*arguments, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder / "p.db"


@pytest.mark.soak
def test_shown_verifier_combinations_work(
    sample: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "sample_data", sample.parent / "sample_data", dirs_exist_ok=True)
    monkeypatch.chdir(sample.parent)
    commands, call = (
        shown_commands("docs/combining.md") + shown_commands("docs/stacks.md"),
        in_process(monkeypatch, capfd),
    )
    assert {command[1] for command in commands} == {"best-of", "cost", "downstream", "estimate", "stack"}
    for command in commands:
        code, _, output = call(*command[1:])
        assert code == 0, f"{command}: {output}"


@pytest.mark.soak
def test_shown_code_runs_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from workbench.app.cli import root

    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    commands = shown_commands("docs/code.md")
    assert [command[1] for command in commands[:4]] == ["import", "verify", "code", "code"]
    for command in commands:
        done = CliRunner().invoke(root, command[1:])
        assert done.exit_code == 0, f"{command}: {done.output}"


def blocks(document: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.DOTALL)


def test_shown_sql_reads_the_views(sample: Path) -> None:
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


@pytest.mark.soak
def test_notebook_runs_and_shows_its_current_output(sample: Path) -> None:
    """``jupyter execute --inplace`` stores new outputs, in a folder with a project created like ``sample``."""

    def printed(notebook: nbformat.NotebookNode) -> list[str]:
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
        return [output.data["text/plain"] for output in outputs]

    notebook = nbformat.read(ROOT / "docs" / "python.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    shown = printed(notebook)
    resources = {"metadata": {"path": str(sample.parent)}}
    NotebookClient(notebook, timeout=PATIENCE_S, resources=resources, kernel_name="python3").execute()
    assert len(shown) == 11
    assert printed(notebook) == shown


def test_shown_reports_are_written(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from workbench.app.cli import root

    monkeypatch.chdir(sample.parent)
    commands = shown_commands("docs/report.md")
    assert len(commands) == 8
    for command in commands:
        done = CliRunner().invoke(root, command[1:])
        assert done.exit_code == 0, f"{command}: {done.output}"
    assert (sample.parent / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert (sample.parent / "report.md").read_text(encoding="utf-8").startswith("# ")


@pytest.mark.soak
def test_shown_completions_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "building.md").read_text(encoding="utf-8")
    (plan,) = re.findall(r"```toml\n([^`]*\[\[models\]\].*?)```", text, re.DOTALL)
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    commands = on_free_ports(
        [command for command in shown_commands("docs/building.md") if "p.db" not in command], tmp_path / "plan.toml"
    )
    call = in_process(monkeypatch, capfd)
    output = []
    with ExitStack() as servers:
        for command in commands:
            if command[-1] == "&":
                servers.enter_context(in_background(command[1:-1], tmp_path))
                continue
            code, out, error = call(*command[1:])
            assert code == 0, f"{command}: {error}"
            output += [out] if command[1] == "complete" else []
    first, written, after, single = output
    assert "All 2 models: 0 of 64 completions there, 64 calls to make" in first
    assert written.startswith("64 new completions of 32 questions")
    assert "All 2 models: 64 of 64 completions there, 0 calls to make" in after
    assert single.startswith("32 new completions")


def test_shown_set_is_published(
    tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(sample, tmp_path)
    monkeypatch.chdir(tmp_path)
    call = in_process(monkeypatch, capfd)
    commands = shown_commands("docs/publishing.md")
    # The first three commands create such a sample.
    assert [command[1] for command in commands] == ["import", "labels", "verify", "build", "publish"]
    for command in commands[3:]:
        code, _, error = call(*command[1:])
        assert code == 0, f"{command}: {error}"
    folder = tmp_path / "folder"
    assert "# A small set" in (folder / "README.md").read_text(encoding="utf-8")
    assert len((folder / "verifybench" / "balanced.jsonl").read_text(encoding="utf-8").splitlines()) == 24
