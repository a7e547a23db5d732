"""The documents are right about options, reasons, files, and the path of a verdict."""

from __future__ import annotations

import ast
import json
import pkgutil
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import click
import pytest

from tests.commands import in_process
from tests.documents import ROOT
from tests.helpers import add_items, make_project
from workbench.app.cli import root
from workbench.core.errors import VerifierError
from workbench.core.reasons import REASONS
from workbench.data.formats import writing
from workbench.measuring.accuracy import accuracy
from workbench.runs import runner
from workbench.runs.lease import Lease
from workbench.runs.runner import Runner
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import start
from workbench.verifiers.judges.strategies import STRATEGIES
from workbench.verifiers.registry import Registry

DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
FOREIGN = {
    *("--reward", "--log", "--help", "--link-dest", "--scorer", "--api-key", "--reasoning-format"),
    *("--head", "--address", "--include-dashboard", "--disable-usage-stats", "--wording"),
}
"""Options of other programs, and the one that every command has."""

_names = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield all options of a command and of its subcommands."""
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _options(below, context)


@pytest.fixture(scope="module")
def options() -> set[str]:
    return {*_options(root, click.Context(root)), *FOREIGN}


@_names
def test_mentioned_options_exist(document: Path, options: set[str]) -> None:
    text = document.read_text(encoding="utf-8")
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text)) - options == set()


@_names
def test_mentioned_verifier_options_exist(document: Path) -> None:
    known = {option for kind in Registry().available() for option in kind.options}
    text = document.read_text(encoding="utf-8")
    assert {*re.findall(r"-o ([a-z_]+)=", text)} - known == set()


@_names
def test_linked_files_exist(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (document.parent / link).exists()] == []


@_names
def test_shown_python_names_exist(document: Path) -> None:
    shown = set(re.findall(r"`(workbench(?:\.\w+)+)", document.read_text(encoding="utf-8")))
    for name in shown - {"workbench.toml", "workbench.runners"}:
        assert pkgutil.resolve_name(name)


def test_tabulated_reason_codes_exist() -> None:
    text = (ROOT / "docs" / "code.md").read_text(encoding="utf-8")
    codes = re.findall(r"^\| `([a-z_]+)` \| (?:correct|incorrect|abstain|error)", text, re.MULTILINE)
    assert len(codes) > 5
    assert set(codes) <= set(REASONS)
    for document, named in {
        "judges.md": ("unparsed", "truncated", "refused", "invalid", "no_reward"),
        "rewards.md": ("timeout", "worker_died"),
        "sandbox.md": ("harness_killed",),
    }.items():
        stated = (ROOT / "docs" / document).read_text(encoding="utf-8")
        for code in named:
            assert f"`{code}`" in stated
            assert code in REASONS, code


def test_sandbox_limits_match_the_documents() -> None:
    from workbench.verifiers.execution.interpreter import DEFAULT_SECONDS
    from workbench.verifiers.execution.settings import DEFAULTS
    from workbench.verifiers.meter import WALL_TIME_FACTOR

    text = (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8")
    assert f"else {DEFAULT_SECONDS:g} s | `timeout` |" in text
    assert WALL_TIME_FACTOR == 10
    assert "| ten times that | `timeout` |" in text
    assert f"| {DEFAULTS.seconds_total:g} s; what is left is `n` |" in text
    assert DEFAULTS.memory_bytes == 2**30
    assert "| 1 GiB |" in text


def test_reward_server_limits_match_the_documents() -> None:
    from workbench.app.web.reward import gate

    text = (ROOT / "docs" / "rewards.md").read_text(encoding="utf-8")
    assert f"`--max-body`, {gate.MOST_BODY >> 20} MiB" in text
    assert f"`--in-flight`, {gate.MOST_IN_FLIGHT >> 20} MiB" in text
    assert f"{gate.BODY_S:g} seconds to come" in text
    assert f"{gate.MIN_BYTES_PER_S >> 10} KiB a second" in text


def test_judge_tokens_match_the_documents() -> None:
    text = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
    found = re.search(r"A reply may have ([\d,]+) tokens, `ice-score` without reasoning (\d+)", text)
    assert found is not None
    folder = ROOT / "workbench" / "verifiers" / "judges" / "templates"
    stated: dict[str, set[int]] = {}
    for path in folder.glob("*.toml"):
        found_there = re.findall(r"^max_tokens = (\d+)", path.read_text(), re.MULTILINE)
        stated.setdefault(path.stem.partition("@")[0], set()).update(map(int, found_there))
    short = {name for name in stated if name.startswith("ice-score") and "cot" not in name}
    assert {tokens for name in short for tokens in stated[name]} == {int(found[2])}
    others = {name: tokens - {int(found[1].replace(",", ""))} for name, tokens in stated.items() if name not in short}
    assert {name: tokens for name, tokens in others.items() if tokens} == {"codejudge": {10}}


def test_judge_strategies_match_the_documents() -> None:
    text = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8").partition("### How replies are read")[0]
    shown = set(re.findall(r"^\| `([a-z-]+)`", text, re.MULTILINE))
    assert shown - {"strategy="} == set(STRATEGIES)


def test_documents_that_need_pyarrow_name_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named where commands write or read Parquet; without it the commands themselves name it."""
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        if re.search(r"^\$? ?workbench publish|^\$? ?workbench \w+ .*\.parquet", text, re.MULTILINE):
            assert "verifier-workbench[parquet]" in text, document.name
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with (tmp_path / "x").open("wb") as file, pytest.raises(Exception, match=r"\[parquet\]"):
        writing.write_parquet(file, {}, [])


@pytest.mark.parametrize(("untyped", "types", "final"), [(0, "trusted", 4), (1, "labelled", 0)])
def test_types_are_trusted_if_every_question_has_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    untyped: int,
    types: str,
    final: int,
) -> None:
    """With trusted types two annotators' verdicts suffice."""
    call, database = in_process(monkeypatch, capfd), tmp_path / "p.db"
    rows = [
        {"question_id": f"q{n}", "completion_id": f"c{n}", "question": f"{n}?", "answer": "1", "completion": "1"}
        | ({} if n < untyped else {"answer_type": "A - Numerical Values", "answer_subtype": "A1 - Integer"})
        for n in range(4)
    ]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("import", database, tmp_path / "f.jsonl", "--format", "jsonl", "--dataset", "d")[0] == 0
    assert call("assign", database, "--annotators", "a,b")[0] == 0
    labels = [
        {"completion_id": f"c{n}", "annotator": person, "verdict": "correct", "dataset": "d", "task": "correctness"}
        for n in range(4)
        for person in "ab"
    ]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(line) + "\n" for line in labels))
    code, _, error = call("labels", database, "import", tmp_path / "l.jsonl")
    assert code == 0, error
    found = json.loads(call("status", database, "--json")[1])
    assert [dataset["types"] for dataset in found["datasets"]] == [types]
    assert found["states"]["final"] == final


# The path of a verdict


def _path_of_a_verdict() -> list[tuple[Path, str]]:
    """Return the files, and the names in them, on CONTRIBUTING's path of a verdict, in order."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, _, section = text.partition("## One verdict")
    steps = re.findall(r"`([\w/]+\.py):([\w.]+)`", section.partition("\n## ")[0])
    return [(ROOT / "workbench" / path, name) for path, name in steps]


def _defined(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return found


def test_path_of_a_verdict_names_only_existing_code() -> None:
    way = _path_of_a_verdict()
    assert len(way) > 12
    assert [(path.name, name) for path, name in way if name not in _defined(path)] == []


def test_path_of_a_verdict_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything on the path in this process is called, in order; a worker is another process."""
    elsewhere = {"verify_command", "serve"}
    expected = [(str(path), name) for path, name in _path_of_a_verdict() if name not in elsewhere]
    called: list[tuple[str, str]] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        at = (frame.f_code.co_filename, frame.f_code.co_qualname)
        if event == "call" and at in expected and at not in called:
            called.append(at)

    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    project = make_project(tmp_path)
    add_items(
        project.database, [{"question": "Find it.", "reference": r"\frac{d}{dx}x^2", "completion": r"\boxed{2x}"}]
    )
    lease = Lease.acquire(project.database)
    assert lease is not None
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        start(project, "rules", workers=1)
        Runner(project.database, lease).work()
        lines = list(verdict_lines(project, "rules"))
        accuracy(project)
    except VerifierError as error:
        pytest.skip(str(error))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert [line.verdict for line in lines] != ["error"]
    assert [name for _, name in expected if name not in {name for _, name in called}] == []
    project.close()
