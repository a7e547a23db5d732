"""Tests as a reward on two nodes of a Ray cluster equal one machine, whatever dies; skipped without Ray."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn, cast

import httpx
import pytest

from tests.background import PATIENCE_S
from tests.cluster import Nodes, cluster
from tests.evolving_served import need_a_sandbox
from tests.rewarding import Client, Launched, launched
from tests.unit.interchange.test_judging_solutions import HOSTILE, SUITE, solution
from workbench.core.errors import RunError, UsageError, VerifierError
from workbench.core.run import ClusterUse
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.runs import cluster_pool
from workbench.runs.executor import ExecutorClosed
from workbench.training import testing
from workbench.training.choosing import RewardVerifier, load_reward_verifier
from workbench.training.fair import FairLine
from workbench.training.pay import SuiteVerdict
from workbench.training.testing import SolutionExecutor
from workbench.verifiers.base import SandboxedVerifier
from workbench.verifiers.execution.verifier import HARNESS_VERSION
from workbench.verifiers.registry import Registry

TRUTH = json.dumps({"tests": SUITE, "plus_tests": [SUITE[0]], "entry_point": "double"})


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    need_a_sandbox()
    with cluster() as found:
        yield found


def verifier(**options: str) -> SandboxedVerifier:
    return cast("SandboxedVerifier", Registry().load("execution", {"timeout": "0.5", **options}))


def items(count: int, hostile: bool = True) -> list[VerifierInput]:
    return [
        VerifierInput(
            item=n,
            question="",
            reference=TRUTH,
            completion=HOSTILE[n % len(HOSTILE)] if hostile and n % 9 == 8 else solution(n),
        )
        for n in range(count)
    ]


def results_of(verdicts: list[Verdict]) -> list[tuple[Any, ...]]:
    return [
        (one.outcome, one.score, one.reason, *((one.passed, one.total) if isinstance(one, SuiteVerdict) else ()))
        for one in verdicts
    ]


def test_the_verdicts_are_those_of_this_machine(nodes: Nodes) -> None:
    """Also from several threads, with several suites, and for items that need no sandbox."""
    use, solutions = ClusterUse(address="ray"), items(200)
    solutions[7] = VerifierInput(item=7, question="", reference='{"plus_tests": ["assert 1"]}', completion="x = 1")
    both, base = verifier(suite="base,plus"), verifier()
    with closing(SolutionExecutor(both, 2)) as here, closing(SolutionExecutor(both, cluster=use)) as there:
        assert results_of(there.judge(solutions)) == results_of(here.judge(solutions))
    with closing(SolutionExecutor(base, 2)) as here, closing(SolutionExecutor(base, cluster=use)) as there:
        expected, found = results_of(here.judge(solutions)), dict[int, list[tuple[Any, ...]]]()

        def judge(place: int) -> None:
            found[place] = results_of(there.judge(solutions[place : place + 50]))

        threads = [threading.Thread(target=judge, args=(place,)) for place in range(0, 200, 50)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert [one for _, some in sorted(found.items()) for one in some] == expected
        assert expected[7][2] == "no_tests"
        assert there.workers == 4 * 2
    assert [node.judged > 0 for node in use.nodes] == [True, True]


@pytest.mark.timeout(240)
def test_a_node_that_is_killed_under_load_loses_no_answer(nodes: Nodes, tmp_path: Path) -> None:
    """An actor and a node are killed while a client waits for many answers; the server reports it at its end."""

    async def load(port: int) -> list[float]:
        body = {"items": [{"reference": TRUTH, "completion": solution(n), "id": n} for n in range(1500)]}
        client = Client(port)
        try:
            waiting = asyncio.ensure_future(client.post("/reward", json.dumps(body).encode()))
            while not nodes.actors():
                await asyncio.sleep(0.05)
            await asyncio.sleep(1)
            nodes.actors()[0].kill()
            await asyncio.sleep(1)
            nodes.kill()
            assert not waiting.done()
            return [one["reward"] for one in (await waiting).document["items"]]
        finally:
            client.close()

    with launched(tmp_path, "--verifier", "execution", "--on", "ray") as server:
        server.until_ready()
        rewards = asyncio.run(load(server.port))
        assert rewards == [float(n % 4 == 0) for n in range(1500)]
        counted = of_nodes(server)
        assert len(counted["judged_total"]) >= 2
        assert sum(counted["judged_total"].values()) >= 1500
        assert sum(counted["deaths_total"].values()) >= 2
        told_to_end = asyncio.run(end_under_load(server))
        assert told_to_end == [float(n % 4 == 0) for n in range(1500)]
        assert server.process.wait(PATIENCE_S) == 0
        assert "SIGTERM" not in server.log.read_text()
        told = [line for line in server.log.read_text().splitlines() if line.startswith("  node ")]
    assert len(told) >= 2
    assert sum("died 0 times" not in line for line in told) >= 1


def of_nodes(server: Launched) -> dict[str, dict[str, float]]:
    """The nodes' figures that the server shows, by what they are and the node's name."""
    text = httpx.get(f"{server.url}/metrics", headers={"Host": "localhost"}, timeout=PATIENCE_S).text
    found: dict[str, dict[str, float]] = {}
    for name, node, value in re.findall(
        r'^workbench_reward_node_(\w+)\{node="([^"]+/\w{8})"\} (\S+)$', text, re.MULTILINE
    ):
        found.setdefault(name, {})[node] = float(value)
    return found


async def end_under_load(server: Launched) -> list[float]:
    """Return the rewards of a server that is terminated with more than three seconds of work left."""
    body = {"items": [{"reference": TRUTH, "completion": solution(n)} for n in range(1500)]}
    client = Client(server.port)
    waiting = asyncio.ensure_future(client.post("/reward", json.dumps(body).encode()))
    while not (await asyncio.to_thread(server.health))["waiting"]:
        await asyncio.sleep(0.01)
    server.process.send_signal(signal.SIGTERM)
    answer = (await waiting).document
    client.close()
    return [one["reward"] for one in answer["items"]]


def test_abandoned_solutions_block_no_client(nodes: Nodes) -> None:
    """Solutions of a disconnected client, which would keep all nodes busy for half an hour."""
    use = ClusterUse(address="ray")
    hanging = VerifierInput(item=0, question="", reference=TRUTH, completion="while True: pass")
    with closing(SolutionExecutor(verifier(timeout="600", budget="1800"), cluster=use)) as executor:
        jobs = executor.jobs([hanging] * 9)
        for job in jobs:
            executor.begin(job)
        while len(executor.busy) < 9:
            time.sleep(0.01)
        for job in jobs:
            job.abandon()
        assert executor.judge(items(4, hostile=False), deadline=60)[0].outcome is Outcome.CORRECT
        assert not executor.busy
        assert all(job.answer.done() for job in jobs)


def test_a_weaker_node_is_rejected_by_name_with_an_error(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.runs.cluster_pool.HARNESS_VERSION", "0")
    monkeypatch.setattr(testing, "_RETRY_S", 0.1)
    with closing(SolutionExecutor(verifier(), cluster=ClusterUse(address="ray"))) as executor:
        with pytest.raises(
            VerifierError, match=r"No node can be used: .*/\w{8}: its sandbox has version \d+, and this"
        ):
            executor.judge(items(3))
        assert state(executor) == ("failed", True)
        monkeypatch.setattr("workbench.runs.cluster_pool.HARNESS_VERSION", HARNESS_VERSION)
        while state(executor) != ("ready", False):
            time.sleep(0.01)
        assert [one.outcome for one in executor.judge(items(1))] == [Outcome.CORRECT]
        assert state(executor) == ("ready", False)


def test_a_missing_cluster_is_reported_to_all_clients_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searching for a cluster may take half a minute, so it is done once and not per solution."""
    pytest.importorskip("ray", reason="Ray is heavy, and no part of what tests need: pip install ray")
    looked = 0

    def none(*_: object, **__: object) -> NoReturn:
        nonlocal looked
        looked += 1
        raise RunError("No node of the cluster is left.")

    monkeypatch.setattr(cluster_pool, "cluster_sandbox", none)
    with closing(SolutionExecutor(verifier(), cluster=ClusterUse(address="ray"))) as executor:
        for _ in range(50):
            with pytest.raises(VerifierError, match="No node of the cluster is left"):
                executor.judge(items(3))
    assert looked <= 3


def test_a_cluster_that_starts_later_is_found(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that waits for readiness sends nothing before."""
    monkeypatch.setattr(testing, "_RETRY_S", 0.05)
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.9:1")
    with closing(SolutionExecutor(verifier(), cluster=ClusterUse(address="ray"))) as executor:
        executor.warm()
        while state(executor) != ("failed", True):
            time.sleep(0.01)
        assert "No cluster of Ray answers at ray" in (executor.trouble or "")
        monkeypatch.setenv("RAY_ADDRESS", nodes.address)
        while state(executor) != ("ready", False):
            time.sleep(0.01)


def state(executor: SolutionExecutor) -> tuple[str, bool]:
    return executor.state, executor.trouble is not None


def test_closing_releases_all_waiting_clients(nodes: Nodes) -> None:
    executor = SolutionExecutor(verifier(timeout="60"), cluster=ClusterUse(address="ray"))
    hanging = VerifierInput(item=0, question="", reference=TRUTH, completion="while True: pass")
    jobs = executor.jobs([hanging] * 9)
    for job in jobs:
        executor.begin(job)
    while not executor.busy:
        time.sleep(0.01)
    executor.close()
    for job in jobs:
        assert isinstance(job.answer.exception(10), ExecutorClosed)
    with pytest.raises(ExecutorClosed):
        executor.begin(*executor.jobs([hanging]))
    assert not [thread for thread in threading.enumerate() if thread.name == "workbench-tests"]


def test_nodes_that_die_while_idle_are_replaced(nodes: Nodes) -> None:
    use = ClusterUse(address="ray")
    with closing(SolutionExecutor(verifier(), cluster=use)) as executor:
        assert results_of(executor.judge(items(8, hostile=False)))[0][0] is Outcome.CORRECT
        for actor in nodes.actors():
            actor.kill()
        nodes.kill()
        assert [one.outcome is Outcome.CORRECT for one in executor.judge(items(40, hostile=False))] == [
            n % 4 == 0 for n in range(40)
        ]


def test_items_without_solutions_are_judged_locally() -> None:
    with pytest.raises(UsageError, match="'rules' runs no solutions"):
        RewardVerifier(**{**_fields(load_reward_verifier("rules")), "cluster": ClusterUse(address="ray")})


def _fields(found: RewardVerifier) -> dict[str, Any]:
    return {name: getattr(found, name) for name in found.__struct_fields__}


async def test_a_longer_queue_admits_waiting_clients() -> None:
    line, inside = FairLine(1), list[int]()

    async def enter(number: int) -> None:
        async with line.place():
            inside.append(number)
            await asyncio.sleep(60)

    tasks = [asyncio.ensure_future(enter(number)) for number in range(6)]
    await asyncio.sleep(0)
    assert inside == [0]
    line.widen(3)
    line.widen(2)
    await asyncio.sleep(0)
    assert inside == [0, 1, 2]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for _ in range(3):
        await line._wait_for_slot()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(line._wait_for_slot(), 0.01)
