"""The lowest declared versions suffice: commands count, verify and call a judge with them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from tests.parts import PROJECTS, ROOT, require_index, uv
from tests.servers.scripted import scripted

SAMPLE = ROOT / "sample_data" / "tuples.jsonl"


@pytest.fixture(scope="module")
def lowest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the commands of an environment in which each declared requirement has its lowest version."""
    require_index()
    folder = tmp_path_factory.mktemp("lowest")
    versions, environment = str(folder / "versions.txt"), str(folder / "environment")
    resolve = (
        "pip",
        "compile",
        *(str(project / "pyproject.toml") for project in PROJECTS.values()),
        "--resolution",
        "lowest-direct",
        "--output-file",
        versions,
    )
    install = ("pip", "install", "--python", environment)
    for step in (
        (*resolve, "--python", sys.executable),
        ("venv", environment, "--python", sys.executable),
        (*install, "--requirements", versions),
        (*install, "--no-deps", *map(str, PROJECTS.values())),
    ):
        done = uv(*step)
        assert done.returncode == 0, done.stderr
    return Path(environment) / "bin"


@pytest.fixture
def run(lowest: Path, tmp_path: Path) -> Callable[..., str]:
    def call(*words: object, command: str = "workbench") -> str:
        line = [str(lowest / command), *map(str, words)]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return call


@pytest.mark.soak
def test_verdicts_and_metrics_work_with_the_lowest_versions(run: Callable[..., str]) -> None:
    run("import", "p.db", SAMPLE)
    run("verify", "p.db", "rules")
    run("verify", "p.db", "math-verify")
    with scripted(lambda received: "Final Judgment: Yes") as server:
        run("verify", "p.db", "llm-judge", "--name", "judge", "-o", f"base_url={server.url}", "-o", "model=m")
    rows = json.loads(run("accuracy", "p.db", "--json"))["rows"]
    assert {row["verifier"] for row in rows} > {"rules", "math-verify", "judge"}


@pytest.mark.parametrize("command", ["workbench", "verifier-workbench"])
def test_both_commands_start(run: Callable[..., str], command: str) -> None:
    assert run("--help", command=command).startswith("Usage: workbench")
