"""docs/papers.md: the command line reads every command of it, and those that ask nobody run on the sample data."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.commands import parsed, run
from tests.documents import ROOT
from workbench.app.cli import root

TEXT = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`workbench ([^`]+)`", TEXT)) - {"transcripts"})
ASKING = re.compile(r"NAME|MODEL|base_url|--judge|--show")
"""What asks a model, or names what only models make."""
RUN = [command for command in COMMANDS if not ASKING.search(command)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    shutil.copytree(ROOT / "sample_data", folder / "sample_data")
    for words in (
        ("import", "p.db", "sample_data/tuples.jsonl", "--dataset", "sample"),
        ("import", "p.db", "sample_data/code_problems.jsonl", "sample_data/code_solutions.jsonl"),
        ("verify", "p.db", "rules", "--where", "dataset=sample"),
        ("verify", "p.db", "execution"),
        ("verify", "p.db", "bleu", "--where", "dataset!=sample"),
    ):
        done = run(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "sample_data", "sample_data")
    parsed(root, shlex.split(command))


@pytest.mark.parametrize("command", RUN)
def test_what_asks_nobody_runs_on_the_sample_data(command: str, project: Path) -> None:
    done = run(*shlex.split(command), cwd=project)
    assert done.returncode == 0, done.stderr
    assert done.stdout or done.stderr


def test_no_table_and_no_figure_of_the_papers_is_left_out() -> None:
    """As many as each paper has; what can be no command is there with a word on it."""
    papers = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    there = {"VerifyBench": (7, 3), "MCTS-Judge": (13, 6), "Scoring Verifiers": (5, 18), "EvolveCoder": (3, 6)}
    for paper in papers:
        tables, figures = there[next(name for name in there if paper.startswith(name))]
        assert _numbers(r"Tables? ", paper) >= set(range(1, tables + 1)), paper[:30]
        assert _numbers(r"Figures? ", paper) >= set(range(1, figures + 1)), paper[:30]


def _numbers(word: str, text: str) -> set[int]:
    """The numbers said after a word: ``Tables 2, 4 and 8–13``."""
    found: set[int] = set()
    for listed in re.findall(rf"{word}(\d+(?:(?:–|, | and )\d+)*)", text):
        for part in re.split(r", | and ", listed):
            first, _, last = part.partition("–")
            found |= set(range(int(first), int(last or first) + 1))
    return found
