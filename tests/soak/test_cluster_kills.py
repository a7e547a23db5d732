"""Ray nodes, actors and the driver are killed twenty times each while verdicts arrive; skipped without Ray.

Runs are repeated until there were that many kills; each must end with the same bytes as a local run.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.background import runner_pid
from tests.cluster import ROOT, Nodes, cluster, dump
from tests.coding import ran
from tests.evolving_served import need_a_sandbox
from tests.helpers import make_project
from tests.unit.runs.test_cluster import rows
from workbench.core.project import Project, open_project
from workbench.interchange.importing import import_files, plan_import
from workbench.runs import runner
from workbench.runs.run_status import run_info

KILLS = 20
ITEMS = 50_000
COPIES = 12
"""Copies of the sample's solutions, each with a different name."""


def kill_actor(nodes: Nodes, project: Project) -> bool:
    actors = nodes.actors()
    if actors:
        random.choice(actors).kill()
    return bool(actors)


def kill_node(nodes: Nodes, project: Project) -> bool:
    nodes.kill()
    return True


def kill_driver(nodes: Nodes, project: Project) -> bool:
    pid = runner_pid(project)
    if pid is not None:
        os.kill(pid, signal.SIGKILL)
    return pid is not None


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with cluster() as found:
        yield found


@pytest.fixture(scope="module", params=["rules", "execution"])
def judged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Path]:
    """Return a verifier, its input, and the result of a local run."""
    kind, folder = str(request.param), tmp_path_factory.mktemp("judged")
    project = make_project(folder, rows(ITEMS)) if kind == "rules" else solutions(folder)
    project.close()
    local = Path(shutil.copyfile(project.path, folder / "local.db"))
    with closing(open_project(local)) as copy, pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "_IDLE_S", 0.0)
        ran(copy, kind, kind)
    return kind, project.path, local


def solutions(folder: Path) -> Project:
    """Create the sample's problems, and its solutions several times."""
    need_a_sandbox()
    sample = ROOT / "sample_data"
    lines = (sample / "code_solutions.jsonl").read_text().splitlines()
    copies = folder / "solutions.jsonl"
    with copies.open("w") as file:
        for number in range(COPIES):
            for line in lines:
                assert '"solution_id": "' in line
                print(line.replace('"solution_id": "', f'"solution_id": "{number}-'), file=file)
    project = open_project(folder / "p.db", create=True)
    import_files(project, plan_import([sample / "code_problems.jsonl", copies]), dataset="d")
    return project


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kill", [kill_actor, kill_node, kill_driver])
def test_twenty_kills_lose_and_duplicate_nothing(
    nodes: Nodes, judged: tuple[str, Path, Path], tmp_path: Path, kill: Callable[[Nodes, Project], bool]
) -> None:
    kind, empty, local = judged
    expected, killed, runs = dump(local), 0, 0
    while killed < KILLS:
        database = Path(shutil.copyfile(empty, tmp_path / f"{runs}.db"))
        command = [sys.executable, "-m", "workbench", "verify", str(database), kind, "--on", "ray"]
        with closing(open_project(database)) as project:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            done = 0
            while process.poll() is None:
                now = stored(project)
                # Kills happen while verdicts arrive, and after some have arrived since the last kill.
                if now > done and not has_ended(project):
                    killed += kill(nodes, project)
                    done = now + random.randrange(ITEMS // 20 if kind == "rules" else 20)
                time.sleep(0.02)
            assert process.stdout is not None
            assert process.returncode == 0, process.stdout.read()
            process.stdout.close()
            assert run_info(project, 1).state == "complete"
        assert dump(database) == expected
        runs += 1
    print(f"{kind}, {kill.__name__}: {killed} kills in {runs} runs")


def stored(project: Project) -> int:
    (count,) = project.database.reader().execute("SELECT count(*) FROM verdicts").fetchone()
    return int(count)


def has_ended(project: Project) -> bool:
    reader = project.database.reader()
    return bool(reader.execute("SELECT count(*) FROM runs WHERE state = 'complete'").fetchone()[0])
