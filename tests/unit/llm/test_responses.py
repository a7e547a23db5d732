"""OpenAI's Responses API: which models use it, its requests, and its replies."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from tests.servers.memory import HeldClock, MemoryJournal
from tests.servers.scripted import Received, Scripted, chat_reply, scripted
from tests.unit.llm.calling import NO_LIMITS, chat_of
from tests.unit.llm.test_check import findings, texts_of
from workbench.llm.caller import Caller
from workbench.llm.dialects import read
from workbench.llm.endpoint import Endpoint
from workbench.llm.failures import AttemptFailed
from workbench.llm.profiles import profile_for_model
from workbench.llm.records import CallFailed, Chat, Halt, PromptMessage, Reply, Sampling, TokenChoice, Usage, ending
from workbench.llm.server import ModelServer
from workbench.llm.waits import Clock
from workbench.verifiers.base import identity
from workbench.verifiers.judges.verifier import LlmJudge
from workbench.verifiers.serving import server_from

ENVIRONMENT = {"OPENAI_API_KEY": "sk-0123456789abcdef", "AZURE_OPENAI_API_KEY": "azure-0123456789"}
CHAT = Chat(
    messages=(PromptMessage("system", "Be brief."), PromptMessage("user", "q"), PromptMessage("assistant", "Answer:")),
    sampling=Sampling(temperature=0.0, top_k=5, seed=3, max_tokens=300),
)


def message(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "msg", "type": "message", "role": "assistant", "status": "completed", "content": [*parts], **more}


def output_text(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], **more}


def response(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "o3-pro-2025-06-10",
        "output": [*output],
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 8},
            "output_tokens": 50,
            "output_tokens_details": {"reasoning_tokens": 30},
            "total_tokens": 150,
        },
        **more,
    }


def reply_of(data: Any) -> Reply:
    return read(json.dumps(data).encode(), "chat", "openai")


async def received_of(chat: Chat = CHAT, **options: str) -> Received:
    """Return the request that a server receives."""
    given = {"server": "openai", "model": "o3-pro", **options}
    with scripted(lambda _: Scripted(body=response(message(output_text("Yes"))))) as server:
        place = server_from({**given, "base_url": server.url})
        async with Caller({"judge": place}, NO_LIMITS, MemoryJournal(), None, ENVIRONMENT, clock=HeldClock()) as caller:
            assert (await caller.call(1, "judge", chat)).reply.text == "Yes"
        (received,) = server.received
        return received


# -- Which models.


@pytest.mark.parametrize(
    ("model", "is_one"),
    [
        *(("o1-pro", True), ("o3-pro-2025-06-10", True), ("gpt-5-pro", True), ("gpt-5.4-pro-2026-03-05", True)),
        *(("o3-deep-research", True), ("o4-mini-deep-research-2025-06-26", True), ("gpt-5.1-codex-max", True)),
        *(("gpt-rosalind-research", True), ("gpt-6-rosalind", True), ("gpt-6.2-astra-law", True)),
        *(("codex-mini-latest", True), ("gpt-5-codex", True), ("gpt-5.6-cyber", True), ("gpt-6-pro", True)),
        *(("gpt-4o", False), ("o3", False), ("o4-mini", False), ("gpt-5", False), ("gpt-5.1-chat-latest", False)),
        *(("gpt-4o-mini", False), ("ft:gpt-4o:me:pro:1", False), ("gpt-5-prompted", False), ("my-production", False)),
    ],
)
def test_models_without_chat_use_the_responses_api(model: str, is_one: bool) -> None:
    for name in ("openai", "azure"):
        assert (profile_for_model(name, model).dialect == "openai-responses") == is_one
    # Resellers of models offer chat for each of them.
    assert profile_for_model("openrouter", f"openai/{model}").dialect == "openai-chat"
    assert profile_for_model("openai", model, "chat").dialect == "openai-chat"
    assert profile_for_model("openai-compatible", model, "responses").dialect == "openai-responses"


def test_a_provider_specific_dialect_cannot_be_overridden() -> None:
    with pytest.raises(ValueError, match="api: Anthropic has its own API"):
        server_from({"base_url": "https://api.anthropic.com", "model": "claude-opus-4-7", "api": "responses"})
    with pytest.raises(ValueError, match="api: it is chat or responses"):
        server_from({"base_url": "https://api.openai.com/v1", "model": "gpt-5", "api": "batches"})


def test_a_setting_it_has_no_field_for_is_rejected() -> None:
    with pytest.raises(ValueError, match="seed: it can't be sent to OpenAI for the model 'gpt-4o'"):
        LlmJudge(base_url="https://api.openai.com/v1", model="gpt-4o", api="responses", seed="3")


def test_the_call_belongs_to_a_judges_name_and_to_a_stored_reply() -> None:
    given = {"base_url": "https://api.openai.com/v1", "model": "gpt-4o"}
    chat, other = LlmJudge(**given), LlmJudge(**given, api="responses")
    assert identity(chat) != identity(other)
    keys = [Endpoint(one.servers()["judge"], None, Clock()).prepare(chat_of("q"), 0).keys for one in (chat, other)]
    assert not {*keys[0].values()} & {*keys[1].values()}


# -- What is sent.


async def test_the_request_body() -> None:
    received = await received_of(reasoning_effort="high")
    assert received.path == "/v1/responses"
    assert received.body == {
        "model": "o3-pro",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "q\n\nAnswer:"}],
        "store": False,
        "max_output_tokens": 300,
        "reasoning": {"effort": "high"},
    }
    plain = (await received_of(model="gpt-4o", api="responses", fold_system="true")).body
    assert (plain["input"][0]["content"], plain["temperature"]) == ("Be brief.\n\nq\n\nAnswer:", 0.0)
    assert not {"instructions", "top_k", "seed", "messages"} & plain.keys()


async def test_a_length_below_the_least_is_sent_as_that() -> None:
    assert (await received_of(chat_of("q", 10))).body["max_output_tokens"] == 16
    assert (await received_of(chat_of("q", 10), max_tokens_field="max_tokens")).body["max_tokens"] == 10


async def test_custom_fields_are_merged_into_existing_objects() -> None:
    schema = {"name": "verdict", "strict": True, "schema": {"type": "object"}}
    extra = {
        "reasoning": {"summary": "auto"},
        "text": {"verbosity": "low"},
        "response_format": {"type": "json_schema", "json_schema": schema},
        "tools": [{"type": "web_search_preview"}],
        "store": True,
    }
    body = (await received_of(reasoning_effort="low", extra_body=json.dumps(extra))).body
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert body["text"] == {"format": {"type": "json_schema", **schema}, "verbosity": "low"}
    assert (body["tools"], body["store"], "response_format" in body) == (extra["tools"], True, False)


async def test_probabilities_are_requested_and_read() -> None:
    chat = Chat(messages=CHAT.messages, sampling=Sampling(top_logprobs=2))
    body = (await received_of(chat, model="gpt-4o", api="responses")).body
    assert (body["top_logprobs"], body["include"]) == (2, ["message.output_text.logprobs"])
    assert "logprobs" not in body
    assert not {"top_logprobs", "include"} & (await received_of(chat)).body.keys()
    likely = {"token": "Yes", "logprob": -0.1, "bytes": [1], "top_logprobs": [{"token": "No", "logprob": -2.3}]}
    reply = reply_of(response(message(output_text("Yes", logprobs=[likely, None, {"token": 3}]))))
    assert reply.tokens == (TokenChoice("Yes", (("Yes", -0.1), ("No", -2.3))),)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1/responses"),
        ("https://r.openai.azure.com/", "https://r.openai.azure.com/openai/v1/responses"),
        ("https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1/responses"),
        ("https://r.openai.azure.com/openai", "https://r.openai.azure.com/openai/v1/responses"),
        ("https://r.services.ai.azure.com/openai/deployments/d", "https://r.services.ai.azure.com/openai/v1/responses"),
        (
            "https://r.openai.azure.com/openai/deployments/d?api-version=2025-04-01-preview",
            "https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
        ),
        (
            "https://r.openai.azure.com/openai/v1?api-version=preview",
            "https://r.openai.azure.com/openai/v1/responses?api-version=preview",
        ),
        ("https://gateway.example/azure/openai/v1", "https://gateway.example/azure/openai/v1/responses"),
    ],
)
def test_azures_address(base: str, url: str) -> None:
    endpoint = Endpoint(server_from({"base_url": base, "server": "azure", "model": "my gpt-5-pro"}), None, Clock())
    prepared = endpoint.prepare(chat_of("q"), 0)
    assert endpoint.call(prepared).url == url
    assert json.loads(prepared.built.body)["model"] == "my gpt-5-pro"


# -- What comes back.


def test_a_whole_reply() -> None:
    thoughts = {"id": "rs", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Is it? No"}]}
    reply = reply_of(response(thoughts, message(output_text("Final Judg"), output_text("ment: Yes"))))
    assert (reply.text, reply.reasoning, ending(reply)) == ("Final Judgment: Yes", "Is it? No", "whole")
    assert reply.model == "o3-pro-2025-06-10"
    assert reply.usage == Usage(
        prompt_tokens=100, cached_tokens=64, written_tokens=8, completion_tokens=50, reasoning_tokens=30
    )


REASONING = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "No"}]}
FORMS: list[tuple[dict[str, Any], str, str | None, str]] = [
    # Thoughts of vLLM and of a server that has words for content; a message without a status.
    (response(REASONING, message(output_text("Yes"))), "Yes", "No", "whole"),
    (response({"type": "message", "role": "assistant", "content": "Yes"}), "Yes", None, "whole"),
    # Reasoning text is no answer.
    (response(message(output_text("No."), phase="commentary"), message(output_text("Yes"))), "Yes", "No.", "whole"),
    (response(message(output_text("No."), phase="commentary")), "", "No.", "whole"),
    # Two messages; empty items; calls of custom tools.
    (response(message(output_text("One.")), message(output_text("Yes"))), "One.\n\nYes", None, "whole"),
    (response({"type": "web_search_call", "status": "completed"}, message(output_text("Yes"))), "Yes", None, "whole"),
    (response({"type": "function_call", "name": "f", "arguments": "{}"}), "", None, "whole"),
    (response(), "", None, "whole"),
    # Refusals, alone and behind words.
    (response(message({"type": "refusal", "refusal": "No, I can't."})), "No, I can't.", None, "refused"),
    (response(message(output_text("Well"), {"type": "refusal", "refusal": "No."})), "Well", None, "refused"),
    # Truncated, filtered, ended for an unknown or missing reason; a complete response with an incomplete message.
    (
        response(message(output_text("Yes")), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        "Yes",
        None,
        "truncated",
    ),
    (
        response(message(output_text("Yes")), status="incomplete", incomplete_details={"reason": "content_filter"}),
        "Yes",
        None,
        "content_filter",
    ),
    (response(status="incomplete", incomplete_details={"reason": "content_filter"}), "", None, "content_filter"),
    (response(message(output_text("Yes")), status="incomplete"), "Yes", None, "truncated"),
    (
        response(message(output_text("Yes")), status="incomplete", incomplete_details={"reason": "max_tool_calls"}),
        "Yes",
        None,
        "truncated",
    ),
    (response(message(output_text("Yes"), status="incomplete")), "Yes", None, "truncated"),
    # Without what tells that it is one, but for its form.
    ({"output": [message(output_text("Yes"))]}, "Yes", None, "whole"),
]


@pytest.mark.parametrize(("data", "text", "reasoning", "end"), FORMS)
def test_forms_of_a_reply(data: dict[str, Any], text: str, reasoning: str | None, end: str) -> None:
    reply = reply_of(data)
    assert (reply.text, reply.reasoning, ending(reply)) == (text, reasoning, end)


FAILED = [
    (response(status="failed", error={"code": "server_error", "message": "boom"}), "server"),
    (response(status="failed", error={"code": "rate_limit_exceeded", "message": "slow"}), "rate_limit"),
    (
        response(status="failed", error={"code": "invalid_prompt", "message": "was flagged as violating"}),
        "content_filter",
    ),
    (response(status="failed", error={"code": "bio_policy", "message": "no"}), "content_filter"),
    *(
        (response(status="failed", error={"code": code, "message": "This response was blocked."}), "content_filter")
        for code in ("misalignment_policy_violation", "image_content_policy_violation")
    ),
    (response(status="failed", error={"code": "data_residency_mismatch", "message": "no"}), "bad_request"),
    (response(status="failed"), "server"),
    (response(status="cancelled"), "server"),
    (response(status="queued"), "bad_request"),
    (response(status="in_progress"), "bad_request"),
    (response() | {"output": None}, "malformed"),
    (response() | {"output": ["Yes"]}, "malformed"),
    (response(message(output_text("Yes")) | {"content": None}), "malformed"),
    ({"object": "response"}, "malformed"),
]


@pytest.mark.parametrize(("data", "code"), FAILED)
def test_invalid_replies_are_rejected(data: dict[str, Any], code: str) -> None:
    with pytest.raises(AttemptFailed) as caught:
        reply_of(data)
    assert caught.value.code == code


# -- Messages when a model is called with the wrong API.

NO_CHAT = [
    (404, "This model is only supported in v1/responses and not in v1/chat/completions.", "Set api=responses"),
    (404, "This is not a chat model and thus not supported in the v1/chat/completions endpoint.", "Set api=responses"),
    (400, "The chatCompletion operation does not work with the specified model, gpt-x.", "Set api=responses"),
    (400, "The requested model 'gpt-x' is not supported with the Responses API.", "Set api=chat"),
]


async def one_after_the_other(caller: Caller) -> None:
    for number in range(10):
        with suppress(CallFailed):
            await caller.call(number, "judge", chat_of(str(number)))


@pytest.mark.parametrize(("status", "words", "advice"), NO_CHAT)
async def test_a_model_of_the_other_api_is_reported_with_its_option(status: int, words: str, advice: str) -> None:
    error = {"error": {"message": words, "type": "invalid_request_error", "param": "model", "code": None}}
    with scripted(lambda _: Scripted(status, body=error)) as server:
        place = ModelServer(profile="openai", base_url=server.url, model="gpt-x", key_variable="OPENAI_API_KEY")
        async with Caller({"judge": place}, NO_LIMITS, MemoryJournal(), None, ENVIRONMENT, clock=HeldClock()) as caller:
            with pytest.raises(Halt) as caught:
                await one_after_the_other(caller)
        assert f"{advice}, then resume the run." in caught.value.message
        assert words in caught.value.message
        found = await findings(server.url)
    assert advice in texts_of(found, "problem")


async def test_the_check_sends_the_actual_request() -> None:
    def answer(received: Received) -> Scripted:
        if received.method == "GET":
            return Scripted(body={"data": [{"id": "o3-pro"}]})
        return Scripted(body=response(message(output_text("Yes"))))

    with scripted(answer) as server:
        found = await findings(
            server.url, profile="openai", model="o3-pro", environment=ENVIRONMENT, key_variable="OPENAI_API_KEY"
        )
    assert [one.path for one in server.received if one.method == "POST"] == ["/v1/responses"]
    assert "called through OpenAI's Responses API" in texts_of(found, "note")
    assert "It replies: 'Yes'" in texts_of(found, "good")


def test_a_chat_reply_to_a_responses_request_is_read() -> None:
    assert reply_of(chat_reply("Yes")).text == "Yes"
