"""Rewards of verifiers on model servers: the verdicts and calls of a run, and no reward without a verdict."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.background import PATIENCE_S
from tests.documents import ROOT
from tests.helpers import make_project
from tests.replaying import replay
from tests.rewarding import Answer, launched, post_reward
from tests.servers.scripted import Received, Scripted, scripted
from workbench.app.web.reward.gate import RequestRules
from workbench.app.web.reward.server import RewardServer, serving
from workbench.app.web.serve.addresses import Address
from workbench.core.errors import RunError, UsageError
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.interchange.importing import import_files, plan_import
from workbench.runs import lease, runner
from workbench.runs.lease import Lease
from workbench.runs.run_status import run_info
from workbench.runs.runner import Runner
from workbench.runs.store import runs
from workbench.runs.verdict_files import verdict_lines
from workbench.runs.verifying import start
from workbench.training.choosing import Scale, load_reward_verifier

YES = "Final Judgment: Yes"
Serving = Callable[..., AbstractAsyncContextManager[RewardServer]]


class Enough(Exception):
    """The test is done; work still under way is abandoned."""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make_project(tmp_path)
    yield made
    made.close()


@pytest.fixture
def judge(project: Project) -> Serving:
    """Makes a reward server of a judge at a URL."""

    @asynccontextmanager
    async def make(
        url: str, *, kind: str = "llm-judge", queue: int = 100, timeout: float | None = None, **more: object
    ) -> AsyncIterator[RewardServer]:
        options = {"base_url": url, "model": "m", **{name: str(value) for name, value in more.items()}}
        found = load_reward_verifier(kind, options, project.path, trust=True, asking=True)
        rules = RequestRules(address=Address("127.0.0.1", 0), token=None, max_body=4 << 20)
        async with serving(found, Scale(own_score=True), rules, queue, None, timeout) as server:
            yield server

    return make


def item(completion: str) -> dict[str, Any]:
    return {"question": "q", "reference": "r", "completion": completion, "id": completion}


async def post(server: RewardServer, *completions: str) -> Answer:
    return await post_reward(server.address.port, json.dumps({"items": [item(text) for text in completions]}).encode())


async def health(server: RewardServer) -> dict[str, Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.address.port)
    writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, body = (await reader.read()).split(b"\r\n\r\n", 1)
    writer.close()
    document: dict[str, Any] = json.loads(body)
    assert head.split()[1] == (b"200" if document["ready"] else b"503")
    return document


def rewards_run(project: Project) -> RunInfo:
    (row,) = [row for row in runs.every(project.database.reader()) if row.verifier.name == "rewards/llm-judge"]
    return run_info(project, row.id)


def rewards_of(answer: Answer) -> list[tuple[str, float | None, str | None]]:
    assert answer.status == 200, answer.document
    return [(one["verdict"], one["reward"], one["reason"]) for one in answer.document["items"]]


def test_verdicts_equal_those_of_a_run_without_repeated_calls(
    project: Project, judge: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_IDLE_S", 0.0)
    sample = ROOT / "sample_data"
    import_files(project, plan_import([sample / "tuples.jsonl"]), dataset="sample")
    rows = project.database.reader().execute(
        "SELECT completion_id, t.question, reference, completion FROM items JOIN item_texts AS t USING (item)"
    )
    items = [dict(zip(("id", "question", "reference", "completion"), row, strict=True)) for row in rows]

    async def rewarded(url: str) -> list[dict[str, Any]]:
        async with judge(url, model="sample-judge", queue=200) as server:
            body = json.dumps({"items": [*items, *items]}).encode()
            answer = await post_reward(server.address.port, body)
            found: list[dict[str, Any]] = answer.document["items"]
            return found

    with replay(sample / "judge_replies.jsonl", "--model", "sample-judge") as running:
        found = asyncio.run(rewarded(running.url))
        asked_for = rewards_run(project)
        assert asked_for.usage is not None
        assert (asked_for.state, asked_for.verifier, asked_for.writes) == ("complete", "rewards/llm-judge", True)
        assert (asked_for.usage.calls, asked_for.usage.reused) == (len(items), len(items))

        lease = Lease.acquire(project.database)
        assert lease is not None
        begun = start(project, "llm-judge", {"base_url": running.url, "model": "sample-judge"})
        Runner(project.database, lease).work()
    run = run_info(project, begun.run)
    assert run.verdicts == {"correct": 38, "incorrect": 39, "abstain": 2, "error": 0}
    assert run.usage is not None
    assert (run.usage.calls, run.usage.items_reused) == (0, len(items))
    lines = {
        line.completion_id: (line.verdict, line.score, line.reason) for line in verdict_lines(project, "llm-judge")
    }
    for one in found:
        assert (one["verdict"], one["score"], one["reason"]) == lines[one["id"]]


async def test_an_answer_is_committed_before_it_is_sent(project: Project, judge: Serving) -> None:
    with scripted(lambda received: YES) as model:
        async with judge(model.url) as server:
            assert rewards_of(await post(server, "a", "b", "a")) == [("correct", 1.0, None)] * 3
            reader = project.database.reader()
            assert reader.execute("SELECT count(*) FROM responses").fetchone() == (2,)
            assert reader.execute("SELECT count(*) FROM attempts WHERE state = 'done'").fetchone() == (2,)
            assert len(model.received) == 2
        async with judge(model.url) as server:
            assert rewards_of(await post(server, "b")) == [("correct", 1.0, None)]
        assert len(model.received) == 2


async def test_a_reward_model_returns_its_score(judge: Serving) -> None:
    with scripted(lambda received: [0.75 if "good" in received.raw.decode() else 0.25]) as model:
        async with judge(model.url, kind="reward-model", dialect="pooling") as server:
            assert rewards_of(await post(server, "good", "bad")) == [
                ("abstain", 0.75, "no_threshold"),
                ("abstain", 0.25, "no_threshold"),
            ]


async def test_a_failed_call_is_an_error_of_its_item_only(judge: Serving) -> None:
    def answer(received: Received) -> str | Scripted:
        bad = "BAD" in received.body["messages"][0]["content"]
        return Scripted(400, body={"error": {"message": "no such thing"}}) if bad else YES

    with scripted(answer) as model:
        async with judge(model.url) as server:
            assert rewards_of(await post(server, "a")) == [("correct", 1.0, None)]
            assert rewards_of(await post(server, "b", "BAD", "c")) == [
                ("correct", 1.0, None),
                ("error", None, "bad_request"),
                ("correct", 1.0, None),
            ]
            assert (await health(server))["ready"]


async def test_a_rejected_key_fails_the_server_with_a_message(project: Project, judge: Serving) -> None:
    with scripted(lambda received: Scripted(401, body={"error": {"message": "wrong key"}})) as model:
        async with judge(model.url) as server:
            answer = await post(server, "a")
            assert answer.status == 503
            assert "rejects calls" in answer.document["error"]
            document = await health(server)
            assert (document["state"], document["ready"]) == ("failed", False)
            assert "wrong key" in document["trouble"]
            sent = len(model.received)
            assert (await post(server, "b")).document == answer.document
            assert len(model.received) == sent
        left = rewards_run(project)
        assert (left.state, left.message) == ("paused", document["trouble"])


async def test_a_spent_budget_ends_it_over_all_starts(judge: Serving) -> None:
    with scripted(lambda received: YES) as model:
        for _ in range(2):
            async with judge(model.url, max_calls=2) as server:
                assert rewards_of(await post(server, "a", "b")) == [("correct", 1.0, None)] * 2
                answer = await post(server, "c")
                assert (answer.status, (await health(server))["trouble"]) == (503, answer.document["error"])
        assert len(model.received) == 2
        async with judge(model.url, max_calls=3) as server:
            assert (await post(server, "c")).status == 200


async def test_a_slow_call_is_undecided_until_its_reply_arrives(judge: Serving) -> None:
    go_on = threading.Event()

    def answer(received: Received) -> str:
        go_on.wait(PATIENCE_S)
        return YES

    with scripted(answer) as model:
        async with judge(model.url, timeout=0.05, queue=2) as server:
            assert rewards_of(await post(server, "a")) == [("abstain", None, "timeout")]
            go_on.set()
            while rewards_of(await post(server, "a")) != [("correct", 1.0, None)]:
                await asyncio.sleep(0.01)
        assert len(model.received) == 1


async def test_a_full_line_and_the_end_of_it(project: Project, judge: Serving) -> None:
    go_on = threading.Event()

    def answer(received: Received) -> str:
        go_on.wait(PATIENCE_S)
        return YES

    with scripted(answer) as model:
        async with judge(model.url, queue=2) as server:
            assert (await post(server, "1", "2", "3")).status == 400
            waiting = asyncio.create_task(post(server, "a", "b"))
            while (await health(server))["waiting"] != 2:
                await asyncio.sleep(0.01)
            assert (await post(server, "c")).status == 503
            stopping = asyncio.create_task(server.stop())
            await asyncio.sleep(0)
            go_on.set()
            assert rewards_of(await waiting) == [("correct", 1.0, None)] * 2
            await stopping
        assert rewards_run(project).state == "complete"


async def test_waiting_clients_are_answered_on_failure(project: Project, judge: Serving) -> None:
    go_on = threading.Event()

    def answer(received: Received) -> str:
        go_on.wait(PATIENCE_S)
        return YES

    with scripted(answer) as model:
        with suppress(Enough):
            async with judge(model.url, concurrency=1) as server:
                waiting = asyncio.create_task(post(server, "a", "b"))
                while not model.received:
                    await asyncio.sleep(0.01)
                raise Enough
        assert (await waiting).status == 503
        go_on.set()
    assert rewards_run(project).state == "paused"


async def test_there_is_one_runner(project: Project, judge: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "_PATIENCE_S", 0.0)
    with scripted(lambda received: YES) as model:
        async with judge(model.url) as server:
            with pytest.raises(RunError, match="active on this database"):
                async with judge(model.url):
                    pass
            lease.lock_path(project.path).unlink()
            answer = await post(server, "a")
            assert answer.status == 503
            assert "has become the database's runner" in answer.document["error"]
            assert "has become the database's runner" in (await health(server))["trouble"]


async def test_a_name_is_bound_to_one_configuration(judge: Serving) -> None:
    async with judge("http://127.0.0.1:9/v1"):
        pass
    with pytest.raises(UsageError, match="model is m, not other"):
        async with judge("http://127.0.0.1:9/v1", model="other"):
            pass


def test_sigterm_answers_accepted_requests(tmp_path: Path, project: Project) -> None:
    asked_for, go_on = threading.Event(), threading.Event()

    def answer(received: Received) -> str:
        asked_for.set()
        go_on.wait(PATIENCE_S)
        return YES

    with scripted(answer) as model:
        options = ["-o", f"base_url={model.url}", "-o", "model=m"]
        with launched(tmp_path, project.path, "--verifier", "llm-judge", *options) as server:

            async def ask() -> Answer:
                waiting = asyncio.create_task(post_reward(server.port, json.dumps(item("a")).encode()))
                assert await asyncio.to_thread(asked_for.wait, PATIENCE_S)
                server.process.send_signal(signal.SIGTERM)
                go_on.set()
                return await waiting

            assert asyncio.run(ask()).document["reward"] == 1.0
            assert server.process.wait(PATIENCE_S) == 0
    assert rewards_run(project).state == "complete"
