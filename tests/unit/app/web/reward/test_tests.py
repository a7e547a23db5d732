"""Tests as a reward over HTTP: scheduling and metrics per stage."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from typing import Any

import aiohttp
import pytest

from tests.background import PATIENCE_S
from tests.evolving_served import need_a_sandbox
from tests.rewarding import Client, post_reward
from tests.unit.app.web.reward.conftest import Serving
from workbench.app.web.reward.metrics import Metrics
from workbench.app.web.reward.processes import merged
from workbench.app.web.reward.server import RewardServer
from workbench.core.run import NodeUse
from workbench.core.verdict import Outcome, Verdict
from workbench.training import testing
from workbench.training.fair import StageTimes
from workbench.training.pay import SuiteVerdict
from workbench.training.serving import AsyncTester
from workbench.verifiers.execution.given import RowProblem, problem_of

TESTS = ["assert double(1) == 2", "assert double(4) == 8"]
RIGHT, WRONG = "def double(x): return 2 * x", "def double(x): return 2"


async def metrics(server: RewardServer) -> str:
    async with aiohttp.ClientSession() as session, session.get(f"{server.address.url}/metrics") as answer:
        return await answer.text()


async def post(server: RewardServer, path: str, document: dict[str, Any]) -> Any:
    client = Client(server.address.port)
    try:
        return (await client.post(path, json.dumps(document).encode())).document
    finally:
        client.close()


@pytest.fixture(autouse=True)
def _sandboxed() -> None:
    need_a_sandbox()


async def test_every_route_accepts_tests(served: Serving) -> None:
    truth = json.dumps({"entry_point": "double", "tests": TESTS})
    async with served("execution") as server:
        items = [{"reference": truth, "completion": one, "id": one} for one in (RIGHT, WRONG)]
        found = (await post(server, "/reward", {"items": items}))["items"]
        assert [(one["reward"], one["tests"]) for one in found] == [
            (1.0, {"passed": 2, "total": 2, "forgeable": 0}),
            (0.0, {"passed": 1, "total": 2, "forgeable": 0}),
        ]
        body = {"prompts": ["p"] * 2, "completions": [RIGHT, WRONG]}
        columns = {"tests": [TESTS] * 2, "entry_point": ["double"] * 2}
        assert await post(server, "/trl", {**body, **columns}) == {"rewards": [1.0, 0.0]}
        assert await post(server, "/trl", {**body, "ground_truth": [truth] * 2}) == {"rewards": [1.0, 0.0]}
        verl = {"solution_strs": [RIGHT, WRONG], "ground_truths": [truth] * 2}
        assert [one["score"] for one in (await post(server, "/verl", verl))["scores"]] == [1.0, 0.0]
        rlhf = {"query": [f"p{RIGHT}</s>"], "prompts": ["p"], "labels": [truth]}
        assert (await post(server, "/openrlhf", rlhf))["rewards"] == [1.0]
        wrong = await post_reward(server.address.port, json.dumps({"reference": "(", "completion": RIGHT}).encode())
        assert (wrong.status, "neither JSON nor Python" in wrong.document["error"]) == (400, True)
        text = await metrics(server)
        assert 'workbench_reward_stage_seconds_count{stage="first"}' in text
        assert 'workbench_reward_stage_seconds_count{stage="line"} 9' in text
        assert 'workbench_reward_stage_seconds_count{stage="work"} 9' in text
        assert "workbench_reward_forgeable_total 0" in text


async def test_health_is_answered_while_tests_are_parsed(served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(reference: str) -> RowProblem:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return problem_of(reference)

    monkeypatch.setattr(testing, "problem_in", slow)
    async with served("execution") as server:
        body = {"reference": "\n".join(TESTS), "completion": RIGHT}
        asking = asyncio.create_task(post(server, "/reward", body))
        assert await asyncio.to_thread(begun.wait, PATIENCE_S)
        async with aiohttp.ClientSession() as session, session.get(f"{server.address.url}/health") as answer:
            assert (await answer.json())["waiting"] == 1
        assert not asking.done()
        go_on.set()
        assert (await asking)["reward"] == 1.0


async def test_solutions_of_disconnected_clients_are_not_run(served: Serving) -> None:
    endless = "import time\ndef double(x): time.sleep(3600)"
    truth = json.dumps({"tests": TESTS})
    async with served("execution") as server:
        judge = server._served.judge
        assert isinstance(judge, AsyncTester)
        client = Client(server.address.port)
        body = json.dumps({"items": [{"reference": truth, "completion": endless}] * 20}).encode()
        waiting = asyncio.ensure_future(client.post("/reward", body))
        while not judge._executor.busy:
            await asyncio.sleep(0.01)
        assert judge.waiting == 20
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        client.close()
        while judge.waiting or judge._executor.busy:
            await asyncio.sleep(0.01)
        answer = await post(server, "/reward", {"reference": truth, "completion": RIGHT})
        assert answer["reward"] == 1.0
        assert 'status="499"} 1' in await metrics(server)


def test_a_stack_s_stages_are_counted() -> None:
    found = Metrics("cascade", "1")
    for outcome in (Outcome.CORRECT, Outcome.CORRECT, Outcome.INCORRECT):
        found.judged(Verdict(outcome=outcome, rule="stage.rules" if outcome else "stage.judge"))
    found.judged(SuiteVerdict(outcome=Outcome.CORRECT, passed=2, total=2, forgeable=1))
    text = found.text(waiting=0, in_flight=0, ready=True, stages=StageTimes())
    assert 'workbench_reward_stacked_total{stage="rules",verdict="correct"} 2' in text
    assert 'workbench_reward_stacked_total{stage="judge",verdict="incorrect"} 1' in text
    assert "workbench_reward_forgeable_total 1" in text


def test_each_node_has_metrics_and_its_name_is_escaped() -> None:
    nodes = [
        NodeUse(name="b1/0a", workers=2, judged=300, seconds=1.5, lost=7, deaths=1),
        NodeUse(name='x"} 9\n# "\\\u2028\ud83d', workers=1, refused="its sandbox is weaker"),
    ]
    text = Metrics("execution", "1").text(waiting=0, in_flight=0, ready=True, stages=StageTimes(), nodes=nodes)
    odd = r"""x\"} 9\n# \"\\""" + "\u2028?"
    found = [line for line in text.split("\n") if line.startswith("workbench_reward_node_")]
    assert found == [
        'workbench_reward_node_workers{node="b1/0a"} 2',
        f'workbench_reward_node_workers{{node="{odd}"}} 1',
        'workbench_reward_node_refused{node="b1/0a"} 0',
        f'workbench_reward_node_refused{{node="{odd}"}} 1',
        'workbench_reward_node_judged_total{node="b1/0a"} 300',
        f'workbench_reward_node_judged_total{{node="{odd}"}} 0',
        'workbench_reward_node_seconds_total{node="b1/0a"} 1.500000',
        f'workbench_reward_node_seconds_total{{node="{odd}"}} 0.000000',
        'workbench_reward_node_lost_total{node="b1/0a"} 7',
        f'workbench_reward_node_lost_total{{node="{odd}"}} 0',
        'workbench_reward_node_deaths_total{node="b1/0a"} 1',
        f'workbench_reward_node_deaths_total{{node="{odd}"}} 0',
    ]
    assert "node_" not in Metrics("rules", "1").text(waiting=0, in_flight=0, ready=True, stages=StageTimes())
    twice = merged([text, text])
    assert f'workbench_reward_node_workers{{node="{odd}"}} 2' in twice.split("\n")
