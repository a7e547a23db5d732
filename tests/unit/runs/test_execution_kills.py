"""Runs of programs that are killed, with the real sandbox: no started process survives."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.background import kill, runner_ends, runner_pid, stored, until
from tests.coding import make_code_project
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.errors import VerifierError
from workbench.core.project import Project
from workbench.runs.run_status import run_info
from workbench.runs.verifying import pause, start, wait_for_request
from workbench.verifiers.execution.levels import best_level

GOOD = "def add(a, b):\n    return a + b\n"
ENDLESS = "def add(a, b):\n    while True:\n        pass\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    try:
        best_level()
    except VerifierError as error:
        pytest.skip(str(error))
    with runner_ends(make_code_project(tmp_path, {"add": [{"completion": text} for text in (GOOD, ENDLESS)]})) as made:
        yield made


def killed(project: Project, run: int) -> None:
    pid = runner_pid(project)
    assert pid is not None
    kill(pid, signal.SIGKILL)


def paused(project: Project, run: int) -> None:
    pause(project, run)
    assert wait_for_request(project, run).state == "paused"


@pytest.mark.few(2)
@pytest.mark.parametrize("end", [killed, paused])
def test_no_sandbox_process_outlives_its_run(project: Project, end: Callable[[Project, int], None]) -> None:
    info = start(project, "execution", {"timeout": "600"}, workers=2)
    until(lambda: stored(project, info.run) == {1})
    pid = runner_pid(project)
    assert pid is not None
    started = psutil.Process(pid).children(recursive=True)
    assert len(started) > 2
    end(project, info.run)
    if end is paused:
        assert psutil.Process(pid).children(recursive=True) == []
    until(lambda: not any(process.is_running() for process in started))
    assert run_info(project, info.run).done == 1
