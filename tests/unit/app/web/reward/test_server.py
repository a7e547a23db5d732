"""The server under load and attack: independent clients, no mixed-up answers, nothing lost."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import aiohttp
import pytest

from tests.background import PATIENCE_S
from tests.rewarding import Answer, Client
from tests.unit.app.web.reward.conftest import Serving
from workbench.app.web.reward import gate, server
from workbench.app.web.reward.gate import RequestRules
from workbench.app.web.reward.server import RewardServer, serve
from workbench.app.web.serve.addresses import Address
from workbench.core.errors import UsageError, VerifierError
from workbench.core.verdict import VerifierInput
from workbench.runs.executor import BATCH_ITEMS, FirstAnswer, LocalExecutor
from workbench.training import serving as judging
from workbench.training.choosing import Scale, load_reward_verifier

TOKEN = "0123456789abcdef-token"
NOW = b'{"reference": "r", "completion": "now"}'
JSON = ("Content-Type: application/json",)


def item(completion: str, name: object = None) -> bytes:
    return json.dumps({"reference": "r", "completion": completion, "id": name}).encode()


async def ready(found: RewardServer) -> dict[str, Any]:
    async with aiohttp.ClientSession() as session:
        while True:
            async with session.get(f"{found.address.url}/health") as answer:
                document: dict[str, Any] = await answer.json()
            assert answer.status == (200 if document["ready"] else 503)
            if document["ready"]:
                return document
            await asyncio.sleep(0.02)


class Enough(Exception):
    """The test is done; work still under way is abandoned."""


@asynccontextmanager
async def briefly(serving: AbstractAsyncContextManager[RewardServer]) -> AsyncIterator[RewardServer]:
    """Run a server that ends at once with the context, whatever is under way."""
    with suppress(Enough):
        async with serving as found:
            yield found
            raise Enough


async def give_up(tasks: list[asyncio.Task[Answer]], clients: list[Client]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for client in clients:
        client.close()


async def until_waiting(found: RewardServer, count: int) -> None:
    while (await figures(found))["workbench_reward_waiting_items"] != str(count):
        await asyncio.sleep(0.01)


async def figures(found: RewardServer) -> dict[str, str]:
    async with aiohttp.ClientSession() as session, session.get(f"{found.address.url}/metrics") as answer:
        lines = (await answer.text()).splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


async def raw(found: RewardServer, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", found.address.port)
    writer.write(data)
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await reader.read(65_536)
    finally:
        writer.close()


def request(*lines: str, body: bytes = b"") -> bytes:
    return "\r\n".join(["POST /reward HTTP/1.1", *lines, "", ""]).encode() + body


async def test_many_clients_get_their_own_answers(served: Serving) -> None:
    async with served("staged", ms=1, queue=1_000) as found:

        async def work(number: int) -> None:
            client = Client(found.address.port)
            for turn in range(10):
                name = f"{number}.{turn}"
                later = (number + turn) % 2
                answer = await client.post("/reward", item(f"later {name}" if later else "now", name))
                expected = ("incorrect", 0.25, "compared") if later else ("correct", None, "quick")
                document = answer.document
                assert document["id"] == name
                assert (document["verdict"], document["score"], document["reason"]) == expected
            client.close()

        await asyncio.gather(*(work(number) for number in range(64)))
        counted = await figures(found)
        assert counted['workbench_reward_items_total{verdict="correct"}'] == "320"
        assert counted['workbench_reward_items_total{verdict="incorrect"}'] == "320"
        assert counted['workbench_reward_requests_total{route="/reward",status="200"}'] == "640"
        assert counted['workbench_reward_request_seconds_count{path="fast"}'] == "320"
        assert counted['workbench_reward_request_seconds_bucket{path="slow",le="+Inf"}'] == "320"


async def test_immediate_verdicts_do_not_wait(served: Serving) -> None:
    async with briefly(served("staged", ms=60_000, timeout=60)) as found:
        clients = [Client(found.address.port) for _ in range(9)]
        slow = [asyncio.create_task(one.post("/reward", item(f"later {n}"))) for n, one in enumerate(clients[:8])]
        await until_waiting(found, 8)
        for _ in range(20):
            assert (await clients[8].post("/reward", NOW)).document["reason"] == "quick"
        assert not any(task.done() for task in slow)
        await give_up(slow, clients)


async def test_a_full_queue_answers_with_retry_after(served: Serving) -> None:
    async with briefly(served("staged", ms=60_000, timeout=60, queue=2)) as found:
        clients = [Client(found.address.port) for _ in range(3)]
        slow = [asyncio.create_task(one.post("/reward", item(f"later {n}"))) for n, one in enumerate(clients[:2])]
        await until_waiting(found, 2)
        answer = await clients[2].post("/reward", item("later 3"))
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert (await clients[2].post("/reward", NOW)).status == 200
        batch = json.dumps({"items": [json.loads(NOW), json.loads(item("later 4"))]}).encode()
        assert (await clients[2].post("/reward", batch)).status == 503
        await give_up(slow, clients)


async def test_waiting_requests_are_answered_on_failure(served: Serving) -> None:
    async with briefly(served("staged", ms=60_000, timeout=60)) as found:
        client = Client(found.address.port)
        waiting = asyncio.create_task(client.post("/reward", item("later a")))
        await until_waiting(found, 1)
    assert (await waiting).status == 503
    client.close()


@pytest.mark.soak
async def test_a_bomb_is_an_abstention_and_affects_no_other_client(served: Serving) -> None:
    async with served("staged", ms=1, timeout=0.5) as found:
        clients = [Client(found.address.port) for _ in range(5)]
        texts = ["later hang", "later crash", "later raise", "later no memory", "later a"]
        answers = await asyncio.gather(
            *(one.post("/reward", item(text)) for one, text in zip(clients, texts, strict=True))
        )
        assert [(one.document["verdict"], one.document["reason"]) for one in answers] == [
            ("abstain", "timeout"),
            ("abstain", "worker_died"),
            ("error", "internal"),
            ("abstain", "worker_died"),
            ("incorrect", "compared"),
        ]
        counted = await figures(found)
        assert counted['workbench_reward_exhausted_total{reason="timeout"}'] == "1"
        for client in clients:
            client.close()


async def test_long_texts_are_read_elsewhere(served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "LONG_ITEM_CHARACTERS", 1_000)
    elsewhere: list[str] = []
    usual = LocalExecutor.elsewhere

    def watched(self: LocalExecutor, items: Sequence[VerifierInput]) -> Future[list[FirstAnswer]]:
        elsewhere.extend(one.completion for one in items)
        return usual(self, items)

    monkeypatch.setattr(LocalExecutor, "elsewhere", watched)
    async with served("staged", ms=1) as found:
        client = Client(found.address.port)
        texts = ["now" + "x" * 2_000, "later " + "y" * 2_000, "now", "later z", "later " + "y" * 2_000]
        batch = {"items": [{"reference": "r", "completion": text, "id": n} for n, text in enumerate(texts)]}
        for _ in range(2):
            answer = await client.post("/reward", json.dumps(batch).encode())
            assert [(one["id"], one["reason"]) for one in answer.document["items"]] == [
                (0, "quick"),
                (1, "compared"),
                (2, "quick"),
                (3, "compared"),
                (4, "compared"),
            ]
        assert sorted(elsewhere) == sorted([text for text in texts if len(text) > 1_000] * 2)
        client.close()


async def test_large_requests_are_shared_among_processes(served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere: list[int] = []
    usual = LocalExecutor.elsewhere

    def watched(self: LocalExecutor, items: Sequence[VerifierInput]) -> Future[list[FirstAnswer]]:
        elsewhere.append(len(items))
        if len(elsewhere) == 2:
            failed: Future[list[FirstAnswer]] = Future()
            failed.set_exception(VerifierError("A worker process has ended in the first stage."))
            return failed
        return usual(self, items)

    monkeypatch.setattr(LocalExecutor, "elsewhere", watched)
    async with served("staged", ms=1, queue=None) as found:
        client = Client(found.address.port)
        texts = ["later a" if number % 5 == 0 else "now" for number in range(5 * BATCH_ITEMS)]
        batch = {"items": [{"reference": "r", "completion": text, "id": n} for n, text in enumerate(texts)]}
        rounds = 0
        while rounds < 2 or len(elsewhere) < 3:
            rounds += 1
            answer = await client.post("/reward", json.dumps(batch).encode())
            assert answer.status == 200, answer
            said = [(one["id"], one["reason"]) for one in answer.document["items"]]
            assert said == [(n, "quick" if n % 5 else "compared") for n in range(5 * BATCH_ITEMS)]
        assert len(set(elsewhere)) == 1
        client.close()


HALF = "\\ud83d"
"""Half a character, as JSON writes it."""


@pytest.mark.parametrize(
    ("path", "body", "answers"),
    [
        (
            "/reward",
            '{"items": [{"reference": "2", "completion": "2", "id": 1}, '
            f'{{"reference": "2", "completion": "2 {HALF}", "id": 2}}]}}',
            {"items": [(1, "correct", None), (2, "error", "internal")]},
        ),
        ("/reward", f'{{"reference": "2", "completion": "{HALF}2", "id": 2}}', (2, "error", "internal")),
        ("/trl", f'{{"prompts": ["", ""], "completions": ["2", "2{HALF}"], "ground_truth": [2, 2]}}', [1.0, None]),
        (
            "/verl",
            f'{{"solution_strs": ["2{HALF}", "2"], "ground_truths": ["2", "2"]}}',
            {"scores": ["error", "correct"]},
        ),
        ("/openrlhf", f'{{"query": ["q2", "q2{HALF}"], "prompts": ["q", "q"], "labels": ["2", "2"]}}', [1.0, 0.0]),
    ],
)
async def test_a_lone_surrogate_affects_only_its_item(served: Serving, path: str, body: str, answers: Any) -> None:
    async with served("exact") as found:
        client = Client(found.address.port)
        answer = await client.post(path, body.encode())
        assert answer.status == 200, answer
        document = answer.document

        def short(one: Any) -> Any:
            return one["id"], one["verdict"], None if one["verdict"] == "correct" else one["reason"]

        if path == "/reward":
            said = {"items": [short(one) for one in document["items"]]} if "items" in document else short(document)
        elif path == "/verl":
            said = {"scores": [one["verdict"] for one in document["scores"]]}
        else:
            said = document["rewards"]
        assert said == answers
        client.close()


@pytest.mark.parametrize(
    "body",
    [
        f'{{"reference": "2", "completion": "2{HALF}", "id": NaN}}',
        f'{{"reference": "2", "completion": "2{HALF}", "id": "{HALF}"}}',
        f'{{"reference": "2", "completion": "2{HALF}"}} 1',
        f'{{"reference": 2, "completion": "2{HALF}"}}',
        f'{{"items": [{{"reference": "2", "completion": "2{HALF}"}}], "more": 1}}',
        f'["{HALF}"' + "[" * 200_000,
    ],
)
async def test_half_a_character_excuses_nothing_else(served: Serving, body: str) -> None:
    async with served("exact") as found:
        client = Client(found.address.port)
        answer = await client.post("/reward", body.encode())
        assert (answer.status, "error" in answer.document) == (400, True)
        assert (await client.post("/reward", NOW)).status == 200
        client.close()


async def test_stopping_answers_accepted_requests_and_accepts_no_more(served: Serving) -> None:
    async with served("staged", ms=60_000, timeout=0.5) as found:
        first, second = Client(found.address.port), Client(found.address.port)
        await second.post("/reward", NOW)
        accepted = asyncio.create_task(first.post("/reward", item("later a", "mine")))
        await until_waiting(found, 1)
        stopping = asyncio.create_task(found.stop())
        await asyncio.sleep(0)
        refused = await second.post("/reward", NOW)
        assert (refused.status, refused.headers["retry-after"], refused.headers["connection"]) == (503, "1", "close")
        with pytest.raises(OSError, match="Connect"):
            await second.post("/reward", NOW)
        answer = await accepted
        assert (answer.document["id"], answer.document["reason"]) == ("mine", "timeout")
        await stopping
        first.close()


def chunked(body: bytes) -> bytes:
    """A request that doesn't say how long it is."""
    head = request("Host: localhost", *JSON, "Transfer-Encoding: chunked")
    return head + f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"


def sent(body: bytes) -> bytes:
    """A request with a body, after which the connection ends."""
    return request("Host: localhost", *JSON, "Connection: close", f"Content-Length: {len(body)}", body=body)


BODIES = (
    b"",
    b"null",
    b'"text"',
    b"[" * 200_000,
    b'{"items": ' + b"[" * 200_000,
    b'{"reference": "2"}',
    b'{"reference": 2, "completion": "2"}',
    b'{"reference": "2", "completion": "2"} {"again": 1}',
    b'{"reference": "\xff", "completion": "2"}',
    b'\xef\xbb\xbf{"reference": "2", "completion": "2"}',
    b'{"items": [], "verifier": "llm-judge"}',
    b'{"items": [{"reference": "2", "completion": "2"}], "token": "x"}',
    b'{"items": {"reference": "2", "completion": "2"}}',
    b'{"reference": "2", "completion": ["2"]}',
)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (request("Host: localhost", "Content-Type: text/plain", "Content-Length: 2", body=b"{}"), b"415"),
        (request("Host: localhost", "Content-Length: 2", body=b"{}"), b"415"),
        (
            request("Host: localhost", "Content-Type: application/json", "Content-Encoding: gzip", "Content-Length: 2"),
            b"415",
        ),
        (chunked(b'{"reference": "2", "completion": "2"}'), b"200"),
        (chunked(b"[" * (5 << 20)), b"413"),
        (request("Host: localhost", "Content-Type: application/json", "Content-Length: 99999999999"), b"413"),
        (request("Host: evil.example", "Content-Type: application/json", "Content-Length: 0"), b"421"),
        (request("Content-Type: application/json", "Content-Length: 0"), b"400"),
        (request("Host: localhost", f"X: {'x' * 9_000}"), b"400"),
        (request("Host: localhost", *(f"X-{n}: 1" for n in range(1_000))), b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"400"),
        *((sent(body), b"400") for body in BODIES),
        (request("Host: localhost", "X-Forwarded-Host: localhost", "Host: evil"), b"400"),
        (request("Host: evil", "X-Forwarded-Host: localhost", *JSON, "Content-Length: 0"), b"421"),
        (request("Host: localhost", *JSON, "Content-Length: 1", "Content-Length: 2", body=b"{}"), b"400"),
        (request("Host: localhost", *JSON, "Content-Length: 2", "Transfer-Encoding: chunked", body=b"0"), b"400"),
        (request("Host: localhost", "Content-Type: application/json;x=text/plain", "Content-Length: +2"), b"400"),
        (request("Host: localhost", "Content-Type: multipart/form-data; boundary=x", "Content-Length: 0"), b"415"),
        (b"GET /reward HTTP/1.1\r\nHost: localhost\r\n\r\n", b"405"),
        (b"POST /../reward HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
        (b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"),
    ],
    ids=lambda found: repr(found[-40:]),
)
async def test_rejected_requests(served: Serving, data: bytes, status: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "workbench.reward")
    async with served() as found:
        answer = await raw(found, data)
        assert answer.split(b" ", 2)[1] == status
        assert b"Traceback" not in answer
    assert all(record.exc_info is None for record in caplog.records)


@pytest.mark.parametrize("host", ["trainer", "Trainer:8100", "trainer.", "evil.example", "trainer.evil.example", ""])
async def test_a_configured_host_name_is_accepted(served: Serving, host: str) -> None:
    async with served(hosts=frozenset({"trainer"})) as found:
        status = (await raw(found, request(f"Host: {host}", *JSON, f"Content-Length: {len(NOW)}", body=NOW))).split(
            b" ", 2
        )[1]
    assert status == (b"200" if host.lower().split(":")[0].rstrip(".") == "trainer" else b"421")


async def test_a_slow_body_times_out(served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if its client keeps sending small parts."""
    monkeypatch.setattr(gate, "BODY_S", 0.3)
    async with served() as found:
        reader, writer = await asyncio.open_connection("127.0.0.1", found.address.port)
        writer.write(request("Host: localhost", *JSON, "Content-Length: 100000"))
        said = asyncio.ensure_future(reader.read(1_000))
        while not said.done():
            writer.write(b" ")
            await asyncio.sleep(0.02)
        writer.close()
    assert b" 408 " in said.result()


@pytest.mark.soak
async def test_an_ordinary_batch_of_grpo_is_one_request(served: Serving) -> None:
    """2,048 completions of realistic length, two thirds of them short, the others long or hostile."""
    lengths = [2_000, 5_700, 5_700, 9_000, 28_000, 55_000]
    completions = [f"{number} " + "so on " * (lengths[number % 6] // 6) + f"so {number}" for number in range(2_048)]
    document = {"completions": completions, "ground_truth": [str(n) for n in range(2_048)], "prompts": ["?"] * 2_048}
    body = json.dumps(document).encode()
    async with served("last-number", max_body=128 << 20, queue=None) as found:
        await ready(found)
        client = Client(found.address.port)
        answer = await client.post("/trl", body)
        client.close()
        assert answer.status == 200
        assert answer.document["rewards"] == [1.0] * 2_048
        assert (await figures(found))["workbench_reward_in_flight_bytes"] == "0"


async def test_slow_clients_are_sent_away(served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "BODY_S", 0.1)
    monkeypatch.setattr(server, "IDLE_S", 0.2)
    async with served() as found:
        head = ("Host: localhost", "Content-Type: application/json", "Content-Length: 100")
        assert b" 408 " in await raw(found, request(*head, body=b'{"refe'))
        assert await raw(found, b"POST /reward HTTP/1.1\r\nHost: loc") == b""
        assert await raw(found, b"") == b""


async def test_connections_and_bodies_are_bounded(served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 2)
    async with served(in_flight=1_000) as found:
        clients = [Client(found.address.port) for _ in range(2)]
        for client in clients:
            assert (await client.post("/reward", item("now"))).status == 200
        assert (await raw(found, b"")).startswith(b"HTTP/1.1 503 ")
        assert (await clients[0].post("/reward", item("x" * 2_000))).status == 503
        clients[0].close()
        await asyncio.sleep(0.05)
        assert (await clients[0].post("/reward", item("now"))).status == 200
        for client in clients:
            client.close()


async def test_strangers_connections_give_way_to_the_token(served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 4)
    async with served(token=TOKEN) as found:
        client = Client(found.address.port)
        assert (await client.post("/reward", NOW, Authorization=f"Bearer {TOKEN}")).status == 200
        starts = (b"", b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", b"POST /reward HTTP/1.1\r\nHost: loc")
        strangers = [await asyncio.open_connection("127.0.0.1", found.address.port) for _ in range(12)]
        for number, (_, writer) in enumerate(strangers):
            writer.write(starts[number % 3])
        await asyncio.sleep(0.05)
        for one in (client, Client(found.address.port)):
            assert (await one.post("/reward", NOW, Authorization=f"Bearer {TOKEN}")).status == 200
            one.close()
        for _, writer in strangers:
            writer.close()


async def test_a_token_is_required(served: Serving) -> None:
    async with served(token=TOKEN) as found:
        client = Client(found.address.port)
        for given in ({}, {"Authorization": "Bearer no"}, {"Authorization": TOKEN}, {"Authorization": "Bearer \xff"}):
            answer = await client.post("/reward", NOW, **given)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert (await client.post("/reward", NOW, Authorization=f"Bearer {TOKEN}")).status == 200
        client.close()
        assert (await ready(found))["state"] == "ready"
        assert b" 401 " in await raw(found, b"GET /metrics HTTP/1.1\r\nHost: anything\r\n\r\n")


def test_other_machines_need_a_token() -> None:
    rules = RequestRules(address=Address("0.0.0.0", 0), token=None, max_body=1_024)
    with pytest.raises(UsageError, match="Other machines can reach"):
        serve(load_reward_verifier("exact"), Scale(), rules, 1, 1, None, print)


async def test_no_text_of_others_reaches_the_log_as_it_is(served: Serving, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "workbench.reward")
    async with served() as found:
        client = Client(found.address.port)
        await client.post("/%1b%5b2J%0aforged", b"{}")
        await client.post("/reward", '{"\u202e\\u001b[2J": 1}'.encode())
        client.close()
    text = caplog.text
    assert len(caplog.records) == 2
    assert not set("\x1b\u202e") & set(text)


async def test_health_and_metrics(served: Serving) -> None:
    async with served("staged", ms=1) as found:
        assert await ready(found) == {
            "live": True,
            "ready": True,
            "state": "ready",
            "trouble": None,
            "verifier": "staged",
            "version": "1",
            "waiting": 0,
            "processes": 1,
            "identity": load_reward_verifier("staged", {"ms": "1"}).identity,
            "probe": None,
        }
        counted = await figures(found)
        assert counted["workbench_reward_ready"] == "1"
        assert int(counted["process_resident_memory_bytes"]) > 1_000_000
