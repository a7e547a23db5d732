"""Runs on a Ray cluster of two nodes on this machine equal a local run, whatever dies; skipped without Ray."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.background import PATIENCE_S, runner_pid
from tests.cluster import ROOT, Nodes, cluster, dump
from tests.coding import ran
from tests.helpers import make_project
from workbench.core.errors import RunError, UsageError
from workbench.core.project import Project, open_project
from workbench.core.run import RunInfo
from workbench.interchange.importing import import_files, plan_import
from workbench.runs import runner
from workbench.runs.run_status import run_info
from workbench.runs.verifying import start

SAMPLE = ROOT / "sample_data"
ROWS = 6000


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with cluster() as found:
        yield found


def rows(count: int) -> list[dict[str, Any]]:
    """Numbers, letters, and what only algebra compares."""
    found = []
    for number in range(count):
        answer, said = (f"{number}", f"{number + number % 3 // 2}")
        if number % 50 == 1:
            answer, said = f"x^2 - {number}x", f"x(x - {number})"
        reference, completion = rf"\boxed{{{answer}}}", rf"So it is \boxed{{{said}}}."
        found.append(
            {
                "question_id": f"q{number}",
                "completion_id": f"c{number}",
                "reference": reference,
                "completion": completion,
            }
        )
    return found


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Many rows without verdicts, and with those of a local run."""
    project = make_project(tmp_path_factory.mktemp("rows"), rows(ROWS))
    return _locally(project, "rules")


def _locally(project: Project, kind: str) -> tuple[Path, Path]:
    project.close()
    local = Path(shutil.copyfile(project.path, project.path.with_name("local.db")))
    with closing(open_project(local)) as copy, pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "_IDLE_S", 0.0)
        ran(copy, kind, kind)
    return project.path, local


def verify(database: Path, kind: str, on_first_verdict: Callable[[Project], None] = lambda _: None) -> RunInfo:
    """Verify on the cluster with the command, in separate processes.

    Args:
        on_first_verdict: Called once the first verdict is stored.
    """
    command = [sys.executable, "-m", "workbench", "verify", str(database), kind, "--on", "ray"]
    with closing(open_project(database)) as project:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            while process.poll() is None and not stored(project):
                time.sleep(0.01)
            on_first_verdict(project)
            said, _ = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
        assert process.returncode == 0, said
        return run_info(project, 1)


def stored(project: Project) -> int:
    (count,) = project.database.reader().execute("SELECT count(*) FROM verdicts").fetchone()
    return int(count)


def home(judged: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copyfile(judged[0], tmp_path / "home.db"))


def test_two_nodes_equal_a_local_run_byte_for_byte(nodes: Nodes, judged: tuple[Path, Path], tmp_path: Path) -> None:
    database = home(judged, tmp_path)
    info = verify(database, "rules")
    assert dump(database) == dump(judged[1])
    assert info.cluster is not None
    working = [node for node in info.cluster.nodes if node.judged]
    assert len(working) == 2
    assert sum(node.judged for node in working) == ROWS
    assert all(node.rate and not node.lost for node in working)


def test_solutions_on_two_nodes_equal_a_local_run(nodes: Nodes, tmp_path: Path) -> None:
    project = open_project(tmp_path / "p.db", create=True)
    import_files(project, plan_import([SAMPLE / "code_problems.jsonl", SAMPLE / "code_solutions.jsonl"]), dataset="d")
    empty, local = _locally(project, "execution")
    info = verify(empty, "execution")
    assert dump(empty) == dump(local)
    assert info.cluster is not None
    assert sum(node.judged for node in info.cluster.nodes)


@pytest.mark.timeout(240)
def test_deaths_lose_and_duplicate_no_verdict(nodes: Nodes, judged: tuple[Path, Path], tmp_path: Path) -> None:
    """An actor, a node and the driver die in turn while verdicts arrive."""

    def kill_all(project: Project) -> None:
        for actor in nodes.actors()[:1]:
            actor.kill()
        nodes.kill()
        while not count_deaths(project) and stored(project) < ROWS:
            time.sleep(0.02)
        if (pid := runner_pid(project)) is not None:
            os.kill(pid, signal.SIGKILL)

    database = home(judged, tmp_path)
    info = verify(database, "rules", kill_all)
    assert info.state == "complete"
    assert dump(database) == dump(judged[1])
    assert info.cluster is not None
    assert sum(node.deaths for node in info.cluster.nodes) >= 1


def count_deaths(project: Project) -> int:
    """Count the known deaths of nodes and their actors."""
    found = run_info(project, 1).cluster
    return 0 if found is None else sum(node.deaths for node in found.nodes)


def test_an_unusable_node_is_rejected_by_name(
    nodes: Nodes, judged: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As nodes of another version are; the run names it."""
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    monkeypatch.setattr(
        "workbench.runs.cluster._rejected_grade", lambda verifier, about: "it keeps programs in at L2 only"
    )
    with closing(open_project(home(judged, tmp_path))) as project:
        with pytest.raises(AssertionError, match=r"No node can be used: .*/.*: it keeps programs in at L2 only"):
            ran_on(project, "rules")
        info = run_info(project, 1)
    assert info.state == "failed"
    assert info.cluster is not None
    assert {node.refused for node in info.cluster.nodes if node.refused} == {"it keeps programs in at L2 only"}


def ran_on(project: Project, kind: str) -> None:
    """As `ran`, on the cluster."""
    from workbench.runs.lease import Lease
    from workbench.runs.runner import Runner

    lease = Lease.acquire(project.database)
    assert lease is not None
    info = start(project, kind, on="ray")
    Runner(project.database, lease).work()
    ended = run_info(project, info.run)
    assert ended.state == "complete", ended.message


@pytest.mark.soak
def test_an_invalid_cluster_shows_an_error(
    judged: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_project(home(judged, tmp_path))) as project:
        with pytest.raises(UsageError, match="is not the address of a cluster"):
            start(project, "rules", on="kubernetes")
        monkeypatch.setattr("workbench.runs.cluster.find_spec", lambda _: None)
        with pytest.raises(UsageError, match="Ray is not installed"):
            start(project, "rules", on="ray")
        monkeypatch.setattr("workbench.runs.cluster.find_spec", lambda _: True)
        said = {"base_url": "http://127.0.0.1:9", "model": "m"}
        with pytest.raises(UsageError, match="calls a model server, which a cluster does not speed up"):
            start(project, "llm-judge", said, on="ray")


def test_an_unreachable_cluster_shows_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="Ray is heavy, and no part of what tests need: pip install ray")
    from workbench.runs.cluster import connected

    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.9:1")
    with pytest.raises(RunError, match="No cluster of Ray answers at ray"), connected("ray"):
        pass
