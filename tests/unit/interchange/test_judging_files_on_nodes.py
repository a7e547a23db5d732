"""Judging files on two nodes of a Ray cluster equals one machine byte for byte, whatever dies; skipped without Ray."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import Nodes, cluster
from tests.evolving_served import need_a_sandbox
from tests.unit.interchange import test_judging_files as texts
from tests.unit.interchange import test_judging_solutions as solutions
from tests.unit.interchange.test_judging_files import lines
from tests.unit.interchange.test_judging_solutions import HOSTILE, command, write
from workbench.core.errors import RunError
from workbench.core.run import ClusterUse
from workbench.interchange.judging_files import judge_files


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    need_a_sandbox()
    with cluster() as found:
        yield found


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
@pytest.mark.parametrize("kind", ["rules", "execution"])
def test_nodes_write_the_bytes_of_this_machine(nodes: Nodes, tmp_path: Path, kind: str, ending: str) -> None:
    some = texts.rows(3000) if kind == "rules" else solutions.rows(600)
    if kind == "execution":
        for number, hostile in enumerate(HOSTILE):
            some[31 * number]["completion"] = hostile
    source, use = write(tmp_path / f"in{ending}", some), ClusterUse(address="ray")
    options = {} if kind == "rules" else {"timeout": "0.5"}
    here = judge_files(source, tmp_path / f"here{ending}", kind, options)
    there = judge_files(source, tmp_path / f"there{ending}", kind, options, on=use)
    if ending == ".jsonl":
        assert (tmp_path / f"there{ending}").read_bytes() == (tmp_path / f"here{ending}").read_bytes()
    else:
        assert texts.read(tmp_path / f"there{ending}") == texts.read(tmp_path / f"here{ending}")
    assert (there.rows, there.verdicts, there.errors) == (here.rows, here.verdicts, here.errors)
    assert (there.isolation, there.provenance) == (here.isolation, here.provenance)
    assert [node.judged > 0 for node in use.nodes] == [True, True]
    assert sum(node.judged for node in use.nodes) == len(some)


@pytest.mark.timeout(300)
def test_deaths_lose_and_duplicate_nothing(nodes: Nodes, tmp_path: Path) -> None:
    """An actor and a node, one after the other."""
    source, target = write(tmp_path / "in.jsonl", solutions.rows(3000)), tmp_path / "out.jsonl"

    def until(share: float) -> None:
        while sum(part.stat().st_size for part in tmp_path.glob(".out*.part")) < share * source.stat().st_size:
            assert process.poll() is None
            time.sleep(0.01)

    process = subprocess.Popen([*command(source, target, "--on", "ray"), "--json"], stdout=subprocess.PIPE, text=True)
    until(0.2)
    nodes.actors()[0].kill()
    until(0.5)
    nodes.kill()
    said, _ = process.communicate(timeout=200)
    assert process.returncode == 0
    report = json.loads(said)
    assert sum(node["deaths"] for node in report["cluster"]["nodes"]) >= 1
    solutions.judge(source, tmp_path / "here.jsonl", options={})
    assert target.read_bytes() == (tmp_path / "here.jsonl").read_bytes()


def test_an_unusable_node_is_named_and_results_are_kept(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = lines(tmp_path / "in.jsonl", solutions.rows(3))
    monkeypatch.setattr("workbench.runs.cluster_pool.HARNESS_VERSION", "0")
    with pytest.raises(RunError, match=r"No node can be used: .*/\w{8}: its sandbox has version \d+, and this one 0"):
        judge_files(source, tmp_path / "out.jsonl", "execution", on=ClusterUse(address="ray"))
    monkeypatch.undo()
    assert judge_files(source, tmp_path / "out.jsonl", "execution", on=ClusterUse(address="ray")).rows == 3
