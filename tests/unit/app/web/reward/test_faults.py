"""A reward server with an unwritable database: clients get an error, nothing is invented, and it recovers."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from tests.full_disk import SmallDisk, small_disk
from tests.helpers import make_project
from tests.rewarding import launched, post_reward
from tests.servers import faulty
from tests.servers.scripted import Received, Scripted, scripted
from tests.unit.app.web.reward.test_asking import YES, Serving, health, item, judge, post, rewards_of
from workbench.core.project import Project
from workbench.runs import serving as answers

__all__ = ["judge"]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path) as found:
        yield found


@pytest.fixture
def project(disk: SmallDisk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setattr(answers, "_PATIENCE_S", 0.2)
    (disk.path / "data").mkdir()
    made = make_project(disk.path / "data")
    yield made
    disk.empty()
    made.close()


async def test_a_full_disk_is_reported_and_no_call_is_repeated(
    project: Project, disk: SmallDisk, judge: Serving
) -> None:
    go_on = asyncio.Event()
    times: dict[bytes, int] = {}

    def answer(received: Received) -> str | Scripted:
        times[received.raw] = times.get(received.raw, 0) + 1
        if "later" in received.raw.decode() and not go_on.is_set():
            disk.fill()
            go_on.set()
        return YES

    with scripted(answer) as model:
        async with judge(model.url, concurrency=4) as server:
            assert rewards_of(await post(server, "a")) == [("correct", 1.0, None)]
            # The reply to this one comes when it can't be stored any more: there is no answer that isn't.
            for _ in range(2):
                answer_ = await post(server, "later", *(f"n{n}" for n in range(9)))
                assert answer_.status == 503
                assert answer_.headers["retry-after"]
                assert "full" in answer_.document["error"]
                assert "Send the request again" in answer_.document["error"]
                assert (await post(server, "a")).status == 503
            found = await health(server)
            assert (found["ready"], found["state"], "full" in found["trouble"]) == (False, "waiting", True)
            disk.empty()
            while not (await health(server))["ready"]:
                await asyncio.sleep(0.02)
            assert rewards_of(await post(server, "a", "later", "n1")) == [("correct", 1.0, None)] * 3
            assert rewards_of(await post(server, *(f"n{n}" for n in range(9)))) == [("correct", 1.0, None)] * 9
    assert set(times.values()) == {1}
    attempts = project.database.reader().execute("SELECT state, count(*) FROM attempts GROUP BY 1").fetchall()
    assert attempts == [("done", len(times))]


async def test_a_moved_database_ends_the_server_and_no_call_is_repeated(project: Project, judge: Serving) -> None:
    away = project.path.with_name("away.db")
    with scripted(lambda received: YES) as model:
        async with judge(model.url) as server:
            assert rewards_of(await post(server, "a")) == [("correct", 1.0, None)]
            project.path.rename(away)
            answer = await post(server, "b")
            assert (answer.status, "start the server again" in answer.document["error"]) == (503, True)
            assert (await health(server))["state"] == "failed"
            away.replace(project.path)
        async with judge(model.url) as server:
            assert rewards_of(await post(server, "a", "b")) == [("correct", 1.0, None)] * 2
        assert len(model.received) == 2


@pytest.mark.soak
def test_a_terminated_server_does_not_wait_for_disk_space(disk: SmallDisk, tmp_path: Path) -> None:
    project = make_project(disk.path)
    project.close()
    with faulty.launched(latency=0.0) as model:
        options = ["--verifier", "llm-judge", "-o", f"base_url={model.url}", "-o", "model=m"]
        with launched(tmp_path, project.path, *options) as server:
            assert asyncio.run(post_reward(server.port, json.dumps(item("a")).encode())).status == 200
            answered = "a"
            for text in "bcdefg":
                # Stored data may still free some space, for example a checkpointed log.
                disk.fill()
                answered += text
                answer = asyncio.run(post_reward(server.port, json.dumps(item(text)).encode()))
                if answer.status != 200:
                    break
            assert (answer.status, "full" in answer.document["error"]) == (503, True)
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(PATIENCE_S) == 1
            assert "Traceback" not in server.log.read_text()
            disk.empty()
        with launched(tmp_path, project.path, *options) as server:
            for text in answered:
                assert asyncio.run(post_reward(server.port, json.dumps(item(text)).encode())).document["reward"] == 1.0
        counts = model.counts()
        assert (counts["unique"], counts["repeated"]) == (len(answered), 0)
