"""Solutions in the sandboxes of two Ray nodes equal those of local commands; skipped without Ray."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from tests.cluster import Nodes, cluster
from tests.coding import make_code_project, ran
from tests.evolving import own_project
from tests.evolving_served import answering, need_a_sandbox, own_tests
from tests.servers.scripted import scripted
from workbench.coding.problems import opened_sandbox
from workbench.coding.store import run_name
from workbench.core.code import CodeTest, Program
from workbench.core.errors import RunError, UsageError
from workbench.core.project import Project, open_project
from workbench.core.run import ClusterUse
from workbench.core.text.run_words import node_lines
from workbench.runs.run_status import run_info


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    need_a_sandbox()
    with cluster() as found:
        yield found


def programs(count: int) -> list[tuple[int, Program]]:
    """Such as pass, fail, raise and hang."""
    bodies = ["return x", "return x + 1", "raise ValueError(x)", "while True: pass"]
    tests = tuple(CodeTest(form="expression", source=f"assert f({n}) == {n}") for n in range(3))
    return [
        (
            number,
            Program(
                source=f"def f(x):\n    {bodies[0 if number % 7 else number // 7 % 4]}\n", tests=tests, seconds=0.3
            ),
        )
        for number in range(count)
    ]


def outcomes(project: Project, jobs: Sequence[tuple[int, Program]], use: ClusterUse | None) -> list[tuple[int, str]]:
    with opened_sandbox(project, cluster=use) as sandbox:
        return sorted((key, execution.outcomes) for key, execution in sandbox.run(iter(jobs)))


def test_a_pool_of_nodes_equals_a_local_pool(nodes: Nodes, tmp_path: Path) -> None:
    """Also when used more than once, and with few programs on both nodes."""
    use = ClusterUse(address="ray")
    with closing(open_project(tmp_path / "p.db", create=True)) as project:
        jobs = programs(60)
        expected = outcomes(project, jobs, None)
        with opened_sandbox(project, cluster=use) as sandbox, opened_sandbox(project) as here:
            assert sandbox.provenance() == here.provenance()
            for some in (jobs[:1], jobs[1:40], [], jobs[40:]):
                found = sorted((key, execution.outcomes) for key, execution in sandbox.run(some))
                assert found == [one for one in expected if one[0] in dict(some)]
    assert [node.judged > 0 for node in use.nodes] == [True, True]
    assert sum(node.judged for node in use.nodes) == 60
    assert len([*node_lines(use)]) == 2


def workbench(*words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "workbench", *words], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_an_evolution_on_nodes_is_equal_byte_for_byte(nodes: Nodes, tmp_path: Path) -> None:
    own_project(tmp_path).close()
    there, here = tmp_path / "p.db", Path(shutil.copyfile(tmp_path / "p.db", tmp_path / "here.db"))
    with scripted(answering(own_tests(3))) as server:
        words = ["--name", "grown", "--model", "m", "-o", f"base_url={server.url}", "--rounds", "2", "--export"]
        workbench("code", "evolve", str(here), *words, str(tmp_path / "here.jsonl"))
        told = workbench("code", "evolve", str(there), *words, str(tmp_path / "there.jsonl"), "--on", "ray").stderr
    assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()
    assert told.count("node ") == 2
    assert "died 0 times" in told
    # The run keeps it, over all starts, while the command works and afterwards.
    shown = workbench("runs", str(there), "show", "1").stdout
    assert [line for line in told.splitlines() if "node " in line] == [
        line for line in shown.splitlines() if line.startswith("  node ")
    ]
    with closing(open_project(there)) as project:
        use, before = ClusterUse(address="ray"), count_judged(project)
        with opened_sandbox(project, cluster=use, run=run_name("grown")) as sandbox:
            results = sandbox.run(programs(400))
            assert any(count_judged(project) > before for _ in islice(results, 399)), "none is kept before the end"
        assert run_info(project, 1).cluster == use
    assert "node " not in workbench("runs", str(here), "show", "1").stdout


def count_judged(project: Project) -> int:
    """Count the items that nodes have judged for the first run."""
    kept = run_info(project, 1).cluster
    assert kept is not None
    return sum(node.judged for node in kept.nodes)


def test_reference_solutions_of_a_selection_run_on_the_nodes(nodes: Nodes, tmp_path: Path) -> None:
    wrong = {"add": [{"completion": "def add(a, b):\n    return 3\n"}], "double": [{"completion": "no code"}]}
    with closing(make_code_project(tmp_path, wrong)) as project:
        ran(project, "execution", "execution")
    words = ["code", "select", str(project.path)]
    here, there = workbench(*words), workbench(*words, "--on", "ray")
    assert there.stdout == here.stdout
    assert here.stdout.count('"ground_truth":"reference"') == 2
    assert there.stderr.count(" results, ") == 2


def test_an_actor_that_dies_loses_nothing(nodes: Nodes, tmp_path: Path) -> None:
    use = ClusterUse(address="ray")
    with closing(open_project(tmp_path / "p.db", create=True)) as project:
        jobs, found = programs(300), list[tuple[int, str]]()
        with opened_sandbox(project, cluster=use) as sandbox:
            for key, execution in sandbox.run(jobs):
                if len(found) == 30:
                    nodes.actors()[0].kill()
                found.append((key, execution.outcomes))
        assert sorted(found) == outcomes(project, jobs, None)
    assert sum(node.deaths for node in use.nodes) == 1
    assert "died 1 time," in " ".join(node_lines(use))


def test_a_node_with_another_sandbox_version_is_rejected_by_name(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.runs.cluster_pool.HARNESS_VERSION", "0")
    why = r"No node can be used: .*/\w{8}: its sandbox has version \d+, and this one 0"
    with closing(open_project(tmp_path / "p.db", create=True)) as project, pytest.raises(RunError, match=why):
        outcomes(project, programs(1), ClusterUse(address="ray"))


def test_local_workers_are_not_cluster_nodes(tmp_path: Path) -> None:
    with (
        closing(open_project(tmp_path / "p.db", create=True)) as project,
        pytest.raises(UsageError, match="Leave --workers out"),
        opened_sandbox(project, workers=2, cluster=ClusterUse(address="ray")),
    ):
        pass
