"""Trials leave nothing behind, even if their process is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.background import PATIENCE_S, runner_ends, runner_pid, until
from tests.helpers import make_project, numbered
from tests.servers.scripted import Received, Scripted, scripted
from workbench.core.project import Project
from workbench.core.selection import Selection, selection_of
from workbench.runs import verifying
from workbench.runs.run_status import runs
from workbench.runs.trying import TRIED, try_out

SCRIPT = """
import sys
from workbench.core.project import open_project
from workbench.core.selection import Selection
from workbench.runs.trying import try_out
options = {"base_url": sys.argv[2], "model": "m"}
try_out(open_project(sys.argv[1]), "llm-judge", options, Selection(), trust=True)
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with runner_ends(make_project(tmp_path, numbered(8))) as made:
        yield made


def stored(project: Project) -> tuple[int, int, int]:
    """Verifiers, runs and verdicts that the tables hold."""
    reader = project.database.reader()
    verifiers, runs_there, verdicts = (
        reader.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("verifiers", "runs", "verdicts")
    )
    return verifiers, runs_there, verdicts


def killed_midway(project: Project, url: str, asked: threading.Event) -> None:
    """A trial in a process that is killed while the server is thinking."""
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(project.path), url])
    assert asked.wait(PATIENCE_S)
    process.kill()
    process.wait()


def test_a_trial_has_the_reply_for_each_item(project: Project) -> None:
    with scripted(lambda _: "Because. Yes") as server:
        options = {"base_url": server.url, "model": "m"}
        trial = try_out(project, "llm-judge", options, Selection(), trust=True)
    assert list(trial.replies.values()) == ["Because. Yes"] * TRIED
    assert [one.item for one in trial.evidence] == list(trial.replies)
    assert stored(project) == (0, 0, 0)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("status", "body", "advice"),
    [
        (401, {"error": {"message": "no such key"}}, "Check the key, then try again."),
        (429, {"error": {"message": "none left", "type": "insufficient_quota"}}, "Try again later."),
    ],
)
def test_a_rejected_trial_mentions_no_run(project: Project, status: int, body: dict[str, object], advice: str) -> None:
    with scripted(lambda _: Scripted(status=status, body=body)) as server:
        options = {"base_url": server.url, "model": "m"}
        trial = try_out(project, "llm-judge", options, Selection(), trust=True)
    assert (trial.message or "").endswith(advice)
    assert "the run" not in (trial.message or "")


def test_a_killed_trial_is_hidden_and_removed_by_its_runner(project: Project) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def answer(_: Received) -> str:
        asked.set()
        go_on.wait(PATIENCE_S)
        return "Yes"

    with scripted(answer) as server:
        killed_midway(project, server.url, asked)
        assert stored(project)[:2] == (1, 1), "its runner is still at it"
        assert runs(project) == []
        assert all(one.configured == [] for one in verifying.kinds(project))
        go_on.set()
        until(lambda: stored(project) == (0, 0, 0))


@pytest.mark.soak
def test_a_trial_with_a_killed_runner_is_removed_by_the_next_run(project: Project) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def answer(_: Received) -> str:
        asked.set()
        go_on.wait(PATIENCE_S)
        return "Yes"

    with scripted(answer) as server:
        killed_midway(project, server.url, asked)
        runner = runner_pid(project)
        assert runner is not None
        os.kill(runner, signal.SIGKILL)
        until(lambda: runner_pid(project) is None)
        go_on.set()
        verifying.start(project, "exact")
        until(lambda: runs(project)[0].state == "complete")
        assert stored(project)[:2] == (1, 1), "the run alone"
        assert len(server.received) <= TRIED


def test_items_that_have_gold_are_tried_first(tmp_path: Path) -> None:
    rows = [*numbered(6, gold=None), *numbered(2, dataset="known")]
    with runner_ends(make_project(tmp_path, rows)) as project:
        gold = try_out(project, "rules", {}, Selection())
        assert [one.item for one in gold.evidence] == [7, 8]
        rest = try_out(project, "rules", {}, selection_of(["dataset!=known"]))
        assert [one.item for one in rest.evidence] == [1, 2, 3, 4, 5]
