"""What is said about a server that a judge could ask."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.servers.scripted import Received, Scripted, chat_reply, scripted
from workbench.llm.check import ServerFinding, check
from workbench.llm.records import Task
from workbench.llm.server import ModelServer

MODELS = {"object": "list", "data": [{"id": "m", "max_model_len": 8192}, {"id": "other"}]}


async def findings(url: str, profile: str = "vllm", model: str = "m", **more: Any) -> list[ServerFinding]:
    environment = more.pop("environment", {})
    server = ModelServer(profile=profile, base_urls=(url,), model=model, key_variable=more.pop("key_variable", None))
    return await check(server, environment=environment, timeout_s=more.pop("timeout_s", 20.0), **more)


def said(found: list[ServerFinding], level: str) -> str:
    return " ".join(f"{one.text} {one.advice}" for one in found if one.level == level)


def replying(chat: Any, models: Any = MODELS) -> Any:
    def answer(received: Received) -> Any:
        reply = models if received.path.endswith("/models") else chat
        return reply if isinstance(reply, str | list | Scripted) else Scripted(body=reply)

    return answer


async def test_a_good_server() -> None:
    with scripted(replying("Yes")) as server:
        found = await findings(server.url)
    assert said(found, "problem") == ""
    assert "context of 8192 tokens" in said(found, "good")
    assert "It replies: 'Yes'" in said(found, "good")
    assert [received.method for received in server.received] == ["GET", "POST"]


@pytest.mark.parametrize("task", ["score", "classify", "pooling", "rerank"])
async def test_a_server_of_scores(task: Task) -> None:
    with scripted(replying([0.75, 0.25])) as server:
        found = await findings(server.url, task=task)
    assert "0.75, 0.25 for the answers Yes and No" in said(found, "good")


async def test_a_server_that_is_not_there() -> None:
    found = await findings("http://127.0.0.1:9/v1")
    assert "refused" in said(found, "problem")
    assert "Is the server running" in said(found, "problem")


async def test_a_server_that_does_not_answer() -> None:
    with scripted(lambda _: Scripted(hold=threading.Event())) as server:
        found = await findings(server.url, timeout_s=0.2)
    assert "within 0.2 s" in said(found, "problem")


async def test_a_wrong_key_and_a_missing_one() -> None:
    refusal = Scripted(401, body={"error": {"message": "bad key 0123456789abcdef"}})
    with scripted(lambda _: refusal) as server:
        wrong = await findings(server.url, key_variable="MY_KEY", environment={"MY_KEY": "0123456789abcdef"})
        without = await findings(server.url)
        unset = await findings(server.url, key_variable="MY_KEY")
    assert "refuses the key in MY_KEY" in said(wrong, "problem")
    assert "0123456789abcdef" not in str(wrong)
    assert "wants a key" in said(without, "problem")
    assert "MY_KEY, which is not set" in said(unset, "problem")
    assert len(server.received) == 2


async def test_an_unknown_model_and_which_there_are() -> None:
    with scripted(replying(Scripted(404, body={"error": "model not found"}))) as server:
        found = await findings(server.url, model="n")
    assert "lists no model 'n'" in said(found, "problem")
    assert "It has: m, other." in said(found, "problem")
    assert "model not found" in said(found, "problem")


async def test_a_server_that_answers_to_any_name_is_no_problem() -> None:
    with scripted(replying("Yes")) as server:
        found = await findings(server.url, profile="llama-cpp", model="n")
    assert said(found, "problem") == ""
    assert "lists no model 'n'" in said(found, "note")


@pytest.mark.parametrize(
    "models",
    [
        Scripted(404),
        Scripted(body=b'{"data": "\xff"}'),
        {"data": []},
        [],
        {"data": "x"},
        {"data": [3, {"id": 4}]},
    ],
)
async def test_no_list_of_models_is_no_problem(models: Any) -> None:
    with scripted(replying("Yes", Scripted(body=models) if isinstance(models, list) else models)) as server:
        found = await findings(server.url)
    assert said(found, "problem") == ""
    assert "It replies" in said(found, "good")


async def test_a_key_that_is_listed_as_a_model_is_not_shown() -> None:
    with scripted(replying("Yes", {"data": [{"id": "a-very-secret-key"}]})) as server:
        found = await findings(server.url, key_variable="K", environment={"K": "a-very-secret-key"})
    assert "It has: [key]." in said(found, "note")
    assert "secret" not in repr(found)


async def test_a_page_instead_of_a_model_server() -> None:
    with scripted(lambda _: Scripted(body="<html>hello")) as server:
        found = await findings(server.url)
    assert "the reply is an HTML page" in said(found, "problem")
    assert "Is base_url the address of a model server" in said(found, "problem")


async def test_a_reply_that_thinking_ate() -> None:
    with scripted(replying(chat_reply(None, finish_reason="length"))) as server:
        found = await findings(server.url)
    assert "thinking took all" in said(found, "note")


async def test_traps_are_told_before_one_falls_into_them() -> None:
    with scripted(replying("Yes")) as server:
        found = await findings(server.url, profile="ollama")
    assert "without a word" in said(found, "note")
    assert "top_k is not sent" in said(found, "note")
    assert "end the user's message" in said(found, "note")
