"""Findings of the check of a model server."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.servers.scripted import Received, Scripted, chat_reply, scripted
from workbench.llm.check import ServerFinding, check
from workbench.llm.records import Chat, PromptMessage, Reply, Sampling, Scoring, Task
from workbench.llm.server import ModelServer

QUESTION = Chat(messages=(PromptMessage("user", "Is 2 + 2 equal to 4?"),), sampling=Sampling(max_tokens=16))
MODELS = {"object": "list", "data": [{"id": "m", "max_model_len": 8192}, {"id": "other"}]}


async def findings(url: str, profile: str = "vllm", model: str = "m", **more: Any) -> list[ServerFinding]:
    environment = more.pop("environment", {})
    server = ModelServer(profile=profile, base_url=url, model=model, key_variable=more.pop("key_variable", None))
    requests = more.pop("requests", [QUESTION])
    return await check(server, requests, environment=environment, timeout_s=more.pop("timeout_s", 20.0), **more)


def texts_of(found: list[ServerFinding], level: str) -> str:
    return " ".join(f"{one.text} {one.advice}" for one in found if one.level == level)


def replying(chat: Any, models: Any = MODELS) -> Any:
    def answer(received: Received) -> Any:
        reply = models if received.path.endswith("/models") else chat
        return reply if isinstance(reply, str | list | Scripted) else Scripted(body=reply)

    return answer


async def test_a_good_server() -> None:
    with scripted(replying("Yes")) as server:
        found = await findings(server.url)
    assert texts_of(found, "problem") == ""
    assert "context of 8192 tokens" in texts_of(found, "good")
    assert "It replies: 'Yes'" in texts_of(found, "good")
    assert [received.method for received in server.received] == ["GET", "POST"]


async def test_a_reply_is_shown_as_it_is_and_does_nothing_to_a_terminal() -> None:
    with scripted(replying("So it is \\boxed{\\frac{1}{2}}\n\x1b[2Jand 'more'")) as server:
        found = await findings(server.url)
    assert "It replies: 'So it is \\boxed{\\frac{1}{2}} ␛[2Jand 'more''" in texts_of(found, "good")


@pytest.mark.parametrize("task", ["score", "classify", "pooling", "rerank"])
async def test_a_server_of_scores(task: Task) -> None:
    with scripted(replying([0.75, 0.25])) as server:
        query = "q" if task in {"score", "rerank"} else None
        found = await findings(server.url, requests=[Scoring(task=task, query=query, texts=("Yes", "No"))])
    assert "It scores: 0.75, 0.25" in texts_of(found, "good")


async def test_a_server_that_is_not_there() -> None:
    found = await findings("http://127.0.0.1:9/v1")
    assert "refused" in texts_of(found, "problem")
    assert "Is the server running" in texts_of(found, "problem")


async def test_a_server_that_does_not_answer() -> None:
    with scripted(lambda _: Scripted(hold=threading.Event())) as server:
        found = await findings(server.url, timeout_s=1.0)
    assert "within 1 s" in texts_of(found, "problem")


async def test_a_wrong_key_and_a_missing_one() -> None:
    refusal = Scripted(401, body={"error": {"message": "bad key 0123456789abcdef"}})
    with scripted(lambda _: refusal) as server:
        wrong = await findings(server.url, key_variable="MY_KEY", environment={"MY_KEY": "0123456789abcdef"})
        without = await findings(server.url)
        unset = await findings(server.url, key_variable="MY_KEY")
    assert "rejects the key in MY_KEY" in texts_of(wrong, "problem")
    assert "0123456789abcdef" not in str(wrong)
    assert "requires a key" in texts_of(without, "problem")
    assert "MY_KEY, which is not set" in texts_of(unset, "problem")
    assert len(server.received) == 2


async def test_an_unknown_model_and_which_there_are() -> None:
    with scripted(replying(Scripted(404, body={"error": "model not found"}))) as server:
        found = await findings(server.url, model="n")
    assert "lists no model 'n'" in texts_of(found, "problem")
    assert "It has: m, other." in texts_of(found, "problem")
    assert "model not found" in texts_of(found, "problem")


async def test_a_server_that_answers_to_any_name_is_no_problem() -> None:
    with scripted(replying("Yes")) as server:
        found = await findings(server.url, profile="llama-cpp", model="n")
    assert texts_of(found, "problem") == ""
    assert "lists no model 'n'" in texts_of(found, "note")


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
    assert texts_of(found, "problem") == ""
    assert "It replies" in texts_of(found, "good")


async def test_a_key_that_is_listed_as_a_model_is_not_shown() -> None:
    with scripted(replying("Yes", {"data": [{"id": "a-very-secret-key"}]})) as server:
        found = await findings(server.url, key_variable="K", environment={"K": "a-very-secret-key"})
    assert "It has: [key]." in texts_of(found, "note")
    assert "secret" not in repr(found)


async def test_a_page_instead_of_a_model_server() -> None:
    with scripted(lambda _: Scripted(body="<html>hello")) as server:
        found = await findings(server.url)
    assert "the reply is an HTML page" in texts_of(found, "problem")
    assert "Is base_url the address of a model server" in texts_of(found, "problem")


async def test_a_reply_that_thinking_ate() -> None:
    with scripted(replying(chat_reply(None, finish_reason="length"))) as server:
        found = await findings(server.url)
    assert "thinking took all of its 16 tokens" in texts_of(found, "problem")
    assert "call_max_tokens" in texts_of(found, "problem")


async def test_the_check_sends_the_actual_request() -> None:
    requests = [QUESTION, Chat(messages=QUESTION.messages, sampling=Sampling(temperature=0.0, max_tokens=10))]

    async def made(reply: Reply) -> ServerFinding:
        return ServerFinding("good", f"made of {reply.text}")

    with scripted(replying("Yes")) as server:
        found = await findings(server.url, requests=requests, read_reply=made)
    bodies = [received.body for received in server.received if received.method == "POST"]
    assert [(body["max_tokens"], body.get("temperature")) for body in bodies] == [(16, None), (10, 0.0)]
    assert texts_of(found, "good").count("made of Yes") == 1


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            "max_tokens_field=max_completion_tokens",
        ),
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature=none"),
        ("System role not supported", "fold_system=true"),
        ("This model only support stream mode, please enable the stream parameter to access it.", "another model"),
        ("parameter.enable_thinking must be set to false for non-streaming calls", 'extra_body={"enable_thinking"'),
        ("Something else", "Check base_url"),
    ],
)
async def test_a_field_that_is_rejected_names_the_option(words: str, advice: str) -> None:
    with scripted(replying(Scripted(400, body={"error": {"message": words}}))) as server:
        found = await findings(server.url)
    assert advice in texts_of(found, "problem")


async def test_known_pitfalls_are_reported_in_advance() -> None:
    with scripted(replying("Yes")) as server:
        found = await findings(server.url, profile="ollama")
    assert "without an error" in texts_of(found, "note")
    assert "top_k is not sent" in texts_of(found, "note")
    assert "end the user's message" in texts_of(found, "note")
