"""Requests to each kind of server, byte for byte, and parsing of its replies."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.scripted import chat_reply, messages_reply, scores_reply
from workbench.llm.dialects import build, read
from workbench.llm.endpoint import Endpoint, PreparedRequest, Secrets
from workbench.llm.failures import AttemptFailed
from workbench.llm.profiles import PROFILES
from workbench.llm.records import CallFailed, Chat, PromptMessage, Reply, Sampling, Scoring, Task, Usage, ending
from workbench.llm.server import ModelServer
from workbench.llm.waits import Clock

CHAT = Chat(
    messages=(PromptMessage("system", "Sé breve."), PromptMessage("user", "2+2=4?")),
    sampling=Sampling(temperature=0.4, top_p=0.95, top_k=40, max_tokens=9, seed=7),
)
BEGUN = Chat(messages=(PromptMessage("user", "Is it?"), PromptMessage("assistant", "Answer: ")))
MESSAGES = '"messages":[{"role":"system","content":"Sé breve."},{"role":"user","content":"2+2=4?"}]'
DRAWN = '"temperature":0.4,"top_p":0.95,'
BODIES = {
    "openai-compatible": f'{{"model":"m",{MESSAGES},{DRAWN}"max_tokens":9,"seed":10}}',
    "openai": f'{{"model":"m",{MESSAGES},{DRAWN}"max_tokens":9,"seed":10}}',
    "azure": f'{{"model":"m",{MESSAGES},{DRAWN}"max_completion_tokens":9,"seed":10}}',
    "anthropic": '{"model":"m","system":"Sé breve.","messages":[{"role":"user","content":"2+2=4?"}],'
    '"max_tokens":9,"temperature":0.4,"top_k":40}',
    "openrouter": f'{{"model":"m",{MESSAGES},{DRAWN}"top_k":40,"max_tokens":9,"seed":10,"usage":{{"include":true}}}}',
    "gemini": f'{{"model":"m",{MESSAGES},{DRAWN}"max_tokens":9}}',
    "mistral": f'{{"model":"m",{MESSAGES},{DRAWN}"max_tokens":9,"random_seed":10}}',
    "deepseek": f'{{"model":"m",{MESSAGES},{DRAWN}"max_tokens":9}}',
    "dashscope": f'{{"model":"m",{MESSAGES},{DRAWN}"top_k":40,"max_tokens":9,"seed":10}}',
    "xai": f'{{"model":"m",{MESSAGES},{DRAWN}"max_tokens":9,"seed":10}}',
    "groq": f'{{"model":"m",{MESSAGES},{DRAWN}"max_tokens":9,"seed":10}}',
    "together": f'{{"model":"m",{MESSAGES},{DRAWN}"top_k":40,"max_tokens":9,"seed":10}}',
    "fireworks": f'{{"model":"m",{MESSAGES},{DRAWN}"top_k":40,"max_tokens":9,"seed":10}}',
    "litellm": f'{{"model":"m",{MESSAGES},{DRAWN}"max_tokens":9,"seed":10}}',
    "tgi": f'{{"model":"m",{MESSAGES},{DRAWN}"max_tokens":9,"seed":10}}',
    "vllm": f'{{"model":"m",{MESSAGES},{DRAWN}"top_k":40,"max_tokens":9,"seed":10}}',
    "sglang": f'{{"model":"m",{MESSAGES},{DRAWN}"top_k":40,"max_tokens":9,"seed":10}}',
    "llama-cpp": f'{{"model":"m",{MESSAGES},{DRAWN}"top_k":40,"max_tokens":9,"seed":10}}',
    "ollama": f'{{"model":"m",{MESSAGES},{DRAWN}"max_tokens":9,"seed":10}}',
    "lm-studio": f'{{"model":"m",{MESSAGES},{DRAWN}"top_k":40,"max_tokens":9,"seed":10}}',
}
COMMON = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "verifier-workbench",
}
KEYS = {
    "azure": {"api-key": "secret"},
    "anthropic": {"x-api-key": "secret", "anthropic-version": "2023-06-01"},
}


def endpoint(profile: str, url: str = "http://127.0.0.1:1/v1", model: str = "m") -> Endpoint:
    return Endpoint(ModelServer(profile=profile, base_url=url, model=model, key_variable="K"), None, Clock())


def url_of(one: Endpoint, prepared: PreparedRequest) -> str:
    return one.call(prepared).url


def reading(data: Any, task: str = "chat", profile: str = "openai", count: int | None = None) -> Reply:
    return read(data if isinstance(data, bytes) else json.dumps(data).encode(), task, profile, count)


@pytest.mark.parametrize("profile", PROFILES)
def test_body_and_headers_of_every_profile(profile: str) -> None:
    one = endpoint(profile)
    assert one.prepare(CHAT, 3).built.body.decode() == BODIES[profile]
    assert one.headers(Secrets("secret")) == COMMON | KEYS.get(profile, {"authorization": "Bearer secret"})


def test_unsupported_options_are_reported() -> None:
    notes = {profile: " ".join(build(PROFILES[profile], "m", CHAT).notes) for profile in PROFILES}
    assert {profile for profile, said in notes.items() if "top_k" in said} == {
        "openai-compatible",
        "openai",
        "azure",
        "ollama",
        *("gemini", "mistral", "deepseek", "xai", "groq", "litellm", "tgi"),
    }
    assert {profile for profile, said in notes.items() if "seed" in said} == {"anthropic", "gemini", "deepseek"}
    assert "top_p" in notes["anthropic"]
    assert notes["vllm"] == ""


@pytest.mark.parametrize("model", ["o3-mini", "gpt-5", "openai/gpt-5.1"])
def test_models_that_think_get_their_own_limit_and_no_temperature(model: str) -> None:
    built = build(PROFILES["openai"], model, CHAT)
    body = json.loads(built.body)
    assert body["max_completion_tokens"] == 9
    assert body.keys() & {"max_tokens", "temperature", "top_p"} == set()
    assert sum("is not sent" in note for note in built.notes) == 3


@pytest.mark.parametrize(
    ("model", "length"),
    [
        ("gpt-4o", "max_tokens"),
        ("omni", "max_tokens"),
        ("gpt-5-chat-latest", "max_completion_tokens"),
        ("gpt-5.3-chat-latest", "max_completion_tokens"),
        ("chat-latest", "max_completion_tokens"),
    ],
)
def test_models_that_talk_get_their_temperature(model: str, length: str) -> None:
    body = json.loads(build(PROFILES["openai"], model, CHAT).body)
    assert (body[length], body["temperature"]) == (9, CHAT.sampling.temperature)


@pytest.mark.parametrize(
    ("profile", "model", "expected"),
    [
        ("vllm", "m", {"add_generation_prompt": False, "continue_final_message": True}),
        ("sglang", "m", {"continue_final_message": True}),
        ("llama-cpp", "m", {}),
        ("openrouter", "m", {"usage": {"include": True}}),
        ("anthropic", "claude-sonnet-4-5-20250929", {"max_tokens": 4096}),
        ("anthropic", "claude-3-7-sonnet-latest", {"max_tokens": 4096}),
    ],
)
def test_a_reply_can_be_prefilled(profile: str, model: str, expected: dict[str, Any]) -> None:
    built = build(PROFILES[profile], model, BEGUN)
    body = json.loads(built.body)
    begun = "Answer:" if profile == "anthropic" else "Answer: "
    assert body.pop("messages") == [{"role": "user", "content": "Is it?"}, {"role": "assistant", "content": begun}]
    assert body == {"model": model} | expected
    assert built.notes == ()


@pytest.mark.parametrize(
    ("profile", "model"),
    [
        ("openai", "gpt-4o"),
        ("ollama", "m"),
        ("openai-compatible", "m"),
        ("anthropic", "claude-opus-4-6"),
        ("anthropic", "claude-mythos-preview"),
        ("openrouter", "anthropic/claude-sonnet-5"),
    ],
)
def test_an_unsupported_prefill_is_appended_to_the_user_message(profile: str, model: str) -> None:
    built = build(PROFILES[profile], model, BEGUN)
    assert json.loads(built.body)["messages"] == [{"role": "user", "content": "Is it?\n\nAnswer: "}]
    assert "end the user's message" in built.notes[0]


@pytest.mark.parametrize("model", ["claude-opus-4-7", "claude-mythos-preview", "claude-haiku-5-5", "claude-fable-5-2"])
def test_the_newest_claude_gets_no_sampling(model: str) -> None:
    body = json.loads(build(PROFILES["anthropic"], model, CHAT).body)
    assert body.keys() == {"model", "system", "messages", "max_tokens"}


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("https://a.openai.azure.com", "https://a.openai.azure.com/openai/deployments/m%2F1/chat/completions?V"),
        ("https://a.openai.azure.com/?api-version=x", "https://a.openai.azure.com/openai/deployments/m%2F1/chat/completions?api-version=x"),
        ("https://a/openai/deployments/d", "https://a/openai/deployments/d/chat/completions?V"),
        ("https://a/openai/v1/", "https://a/openai/v1/chat/completions"),
    ],
)  # fmt: skip
def test_azure_addresses(base: str, expected: str) -> None:
    one = endpoint("azure", base, "m/1")
    assert url_of(one, one.prepare(CHAT, 0)) == expected.replace("?V", "?api-version=2024-10-21")


SCORES: dict[Task, tuple[str, dict[str, Any]]] = {
    "score": ("http://127.0.0.1:1/score", {"text_1": "q", "text_2": ["a", "b"]}),
    "classify": ("http://127.0.0.1:1/classify", {"input": ["a", "b"]}),
    "pooling": ("http://127.0.0.1:1/pooling", {"input": ["a", "b"]}),
    "rerank": ("http://127.0.0.1:1/v1/rerank", {"query": "q", "documents": ["a", "b"]}),
}


@pytest.mark.parametrize("task", SCORES)
def test_bodies_and_paths_of_the_scoring_calls(task: Task) -> None:
    one = endpoint("vllm")
    query = "q" if task in {"score", "rerank"} else None
    prepared = one.prepare(Scoring(task=task, query=query, texts=("a", "b")), 0)
    assert (url_of(one, prepared), json.loads(prepared.built.body)) == (
        SCORES[task][0],
        {"model": "m", **SCORES[task][1]},
    )
    assert prepared.count == 2


@pytest.mark.parametrize("task", SCORES)
@pytest.mark.parametrize("activate", [True, False])
def test_raw_scores_can_be_requested(task: Task, activate: bool) -> None:
    request = Scoring(task=task, query="q", texts=("a",), activate=activate)
    assert json.loads(build(PROFILES["vllm"], "m", request).body)["use_activation"] is activate


def test_a_call_that_a_server_does_not_have_is_rejected() -> None:
    with pytest.raises(CallFailed, match="leave activation out"):
        endpoint("sglang").prepare(Scoring(task="classify", texts=("a",), activate=False), 0)
    assert json.loads(build(PROFILES["sglang"], "m", Scoring(task="classify", texts=("a",))).body)["text"] == ["a"]
    with pytest.raises(CallFailed, match="SGLang has no 'score' call"):
        endpoint("sglang").prepare(Scoring(task="score", query="q", texts=("a",)), 0)
    with pytest.raises(CallFailed, match="needs a query"):
        endpoint("vllm").prepare(Scoring(task="rerank", texts=("a",)), 0)


@pytest.mark.parametrize("task", SCORES)
def test_scores_are_put_back_in_the_order_of_the_texts(task: Task) -> None:
    scores = [0.25, 0.875, 1e-5, 0.5]
    reply = reading(scores_reply(task, scores), task, "vllm", 4)
    assert reply.scores == tuple(scores)
    assert reply.vectors == ()
    assert reply.activation == ("sigmoid" if task == "classify" else None)
    assert reply.usage.prompt_tokens == 50


def test_the_last_value_of_a_vector_counts_and_all_are_stored() -> None:
    reply = reading(scores_reply("classify", [[0.25, 0.75], [0.9, 0.1]]), "classify", "vllm")
    assert (reply.scores, reply.activation) == ((0.75, 0.1), "softmax")
    assert reply.vectors == ((0.25, 0.75), (0.9, 0.1))
    tokens = reading({"data": [{"index": 0, "data": [[0.5], [-1.5], [2.0]]}]}, "pooling", "vllm")
    assert (tokens.scores, tokens.vectors) == ((2.0,), ((0.5, -1.5, 2.0),))


def test_sglangs_own_forms() -> None:
    rows = [
        {"embedding": [0.5], "meta_info": {"prompt_tokens": 3}},
        {"embedding": [-2], "meta_info": {"prompt_tokens": 4}},
    ]
    reply = reading(rows, "classify", "sglang", 2)
    assert (reply.scores, reply.activation, reply.usage.prompt_tokens) == ((0.5, -2.0), None, 7)
    ranked = [{"score": 0.9, "index": 1}, {"score": 0.1, "index": 0}]
    assert reading(ranked, "rerank", "sglang").scores == (0.1, 0.9)


def test_usage_is_read_whole() -> None:
    data = chat_reply("Yes") | {
        "provider": "Somebody",
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 3},
            "cost": 0.0125,
        },
    }
    reply = reading(data, profile="openrouter")
    assert reply.usage == Usage(prompt_tokens=10, cached_tokens=8, completion_tokens=5, reasoning_tokens=3, cost=0.0125)
    assert (reply.model, reply.finish_reason) == ("scripted-model", "stop")


@pytest.mark.parametrize(
    "usage",
    [
        None,
        3,
        [],
        {"prompt_tokens": "10", "cost": float("1e400")},
        {"prompt_tokens": -1, "cost": -1},
        {"prompt_tokens": True, "cost": True},
        {"prompt_tokens": 1e308, "completion_tokens": 2**53 - 1, "cost": 1e308},
        {"prompt_tokens": 10**400, "cost": 10**400},
    ],
)
def test_a_reply_is_not_lost_for_a_bad_count(usage: Any) -> None:
    text = json.dumps(chat_reply("Yes") | {"usage": usage}).replace("Infinity", '"much"')
    assert reading(text.encode()).usage == Usage()


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        # A gateway that counts in floating point; DeepInfra; a gateway to Anthropic that leaves the cache out.
        ({"prompt_tokens": 10.0, "completion_tokens": 5.0}, Usage(prompt_tokens=10, completion_tokens=5)),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "estimated_cost": 0.25},
            Usage(prompt_tokens=10, completion_tokens=5, cost=0.25),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 1115,
                "cache_read_input_tokens": 1000,
                "cache_creation_input_tokens": 100,
            },
            Usage(prompt_tokens=1110, completion_tokens=5, cached_tokens=1000, written_tokens=100),
        ),
        (
            {
                "prompt_tokens": 1010,
                "completion_tokens": 5,
                "total_tokens": 1515,
                "prompt_tokens_details": {"cached_tokens": 1000},
            },
            Usage(prompt_tokens=1010, completion_tokens=505, reasoning_tokens=500, cached_tokens=1000),
        ),
    ],
)
def test_counts_in_the_forms_of_gateways(usage: dict[str, Any], counted: Usage) -> None:
    assert reading(chat_reply("Yes") | {"usage": usage}).usage == counted


def test_thoughts_are_separated_from_the_reply() -> None:
    assert reading(chat_reply("Yes", message={"reasoning_content": "hm"})).reasoning == "hm"
    assert reading(chat_reply("Yes", message={"reasoning": "hm"})).reasoning == "hm"
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "Yes"}]
    reply = reading(messages_reply("") | {"content": blocks}, profile="anthropic")
    assert (reply.reasoning, reply.text) == ("hm", "Yes")


def test_a_reply_that_thinking_ate_is_a_reply() -> None:
    reply = reading(chat_reply(None, finish_reason="length", message={"reasoning_content": "hm"}))
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("", "hm", "length")


def test_a_refusal_and_parts_are_text() -> None:
    assert reading(chat_reply(None, message={"refusal": "No."})).text == "No."
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, 3, {"type": "text", "text": "b"}]
    assert reading(chat_reply(None, message={"content": parts})).text == "ab"


def test_thoughts_in_any_field_or_part_are_no_reply() -> None:
    for field in ("reasoning_content", "reasoning", "thinking"):
        for content in (None, ""):
            reply = reading(chat_reply(content, message={field: "Final Judgment: Yes"}))
            assert (reply.text, reply.reasoning) == ("", "Final Judgment: Yes")
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Final "}, {"type": "text", "text": "Yes"}]}
    reply = reading(chat_reply(None, message={"content": [thinking, {"type": "text", "text": "No"}]}))
    assert (reply.text, reply.reasoning) == ("No", "Final Yes")
    reply = reading(chat_reply(None, message={"content": [{"type": "reasoning", "text": "Yes"}]}))
    assert (reply.text, reply.reasoning) == ("", "Yes")


@pytest.mark.parametrize(
    "message",
    [
        {"refusal": "No."},
        {"content": [{"type": "refusal", "refusal": "No."}]},
        {"provider_specific_fields": {"refusal": "No."}},
    ],
)
def test_a_refusal_is_recognised_in_every_field(message: dict[str, Any]) -> None:
    reply = reading(chat_reply(None, message=message))
    assert (reply.finish_reason, ending(reply)) == ("refusal", "refused")


def test_filtered_replies_are_recognised() -> None:
    data = chat_reply("Yes")
    data["choices"] = [{"index": 0, "finish_reason": "content_filter"}]
    assert ending(reading(data)) == "content_filter"
    data["choices"] = [{"index": 0, "finish_reason": "stop"}]
    with pytest.raises(AttemptFailed, match="the message is not an object"):
        reading(data)
    data = chat_reply("Yes")
    data["choices"][0]["native_finish_reason"] = "PROHIBITED_CONTENT"
    assert ending(reading(data)) == "content_filter"
    data["choices"][0]["native_finish_reason"] = "STOP"
    assert ending(reading(data)) == "whole"


@pytest.mark.parametrize(
    ("choice", "ended"),
    [
        ({"finish_reason": "EndTurn"}, "whole"),
        ({"finish_reason": {"type": "stop", "matched": 2}}, "whole"),
        ({"finish_reason": {"type": "length", "length": 5}}, "truncated"),
        ({"finish_reason": 3}, "truncated"),
        ({"finish_reason": ["stop"]}, "truncated"),
        ({"finish_reason": None, "finishReason": "MAX_TOKENS"}, "truncated"),
        ({"finish_reason": None, "stop_reason": "length"}, "truncated"),
        ({"finish_reason": "stop", "stop_reason": "</s>"}, "whole"),
        ({"native_finish_reason": "MAX_TOKENS"}, "truncated"),
        ({"native_finish_reason": "length"}, "truncated"),
        ({"finish_reason": "content-filter"}, "content_filter"),
        ({"finish_reason": "safety_violation"}, "content_filter"),
        ({"finish_reason": "guardrail"}, "content_filter"),
        ({"finish_reason": "blocked"}, "content_filter"),
        ({"finish_reason": "moderation"}, "content_filter"),
        ({"finish_reason": "refused"}, "refused"),
        ({"finish_reason": "FinishReason.SAFETY"}, "content_filter"),
        ({"finish_reason": "FINISH_REASON_STOP"}, "whole"),
        ({"finish_reason": "STOP_REASON_MAX_TOKENS"}, "truncated"),
    ],
)
def test_finish_reasons_are_recognised_in_any_spelling(choice: dict[str, Any], ended: str) -> None:
    assert ending(reading(chat_reply("Yes", **choice))) == ended


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (rb"Yes\ud83d", "Yes\ufffd"),
        (rb"Yes \ud83d\ude00", "Yes \U0001f600"),
        (b"Yes\xe9", "Yes\ufffd"),
        (b"Yes\n\t.", "Yes\n\t."),
    ],
    ids=["half a character", "a whole one", "no UTF-8", "line ends"],
)
def test_a_reply_is_not_lost_for_a_broken_character(text: bytes, said: str) -> None:
    body = json.dumps(chat_reply("TEXT") | {"created": "NUMBER"}).encode()
    for number in (b"NaN", b"1e999", b"-Infinity"):
        odd = body.replace(b"TEXT", text).replace(b'"NUMBER"', number)
        assert reading(odd).text == said
        assert reading(odd + b"\x00\n\n: keep-alive\n").text == said
    with pytest.raises(AttemptFailed, match="no JSON"):
        reading(odd + b"{}")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 400, "9" * 5000])
def test_a_reply_with_an_invalid_number_is_read(number: str) -> None:
    """Servers in Python write the logprob of what can't follow as ``-Infinity`` (sgl-project/sglang #2955)."""
    likely = {"token": "Yes", "logprob": -0.25, "top_logprobs": [{"token": "No", "logprob": "N"}]}
    body = json.dumps(chat_reply("Yes", logprobs={"content": [likely, likely | {"logprob": "N"}]}))
    reply = reading(body.replace('"N"', number).encode())
    assert [token.likeliest for token in reply.tokens] == [(("Yes", -0.25),)]
    scores = json.dumps(scores_reply("score", [0.5])).replace("0.5", number)
    with pytest.raises(CallFailed, match="is not a number"):
        reading(scores.encode(), "score", "vllm", 1)


@pytest.mark.parametrize("content", [["Ye", "s"], [{"text": "Yes"}], ["Y", {"type": "text", "text": "es"}]])
def test_parts_without_a_type_are_text(content: list[Any]) -> None:
    assert reading(chat_reply(None, message={"content": content})).text == "Yes"
    thought = [{"type": "reasoning_text", "text": "No"}, *content]
    reply = reading(chat_reply(None, message={"content": thought}))
    assert (reply.text, reply.reasoning) == ("Yes", "No")


@pytest.mark.parametrize("reason", ["error", "network_error", "insufficient_system_resource"])
def test_a_reply_interrupted_by_the_server_is_repeated(reason: str) -> None:
    with pytest.raises(AttemptFailed) as caught:
        reading(chat_reply("Final Judgment: Yes", finish_reason=reason))
    assert caught.value.code == "server"
    assert caught.value.may_be_repeated


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("refusal", "refusal"),
        ("x", "x"),
    ],
)
def test_anthropics_reasons_in_openais_words(theirs: str, ours: str) -> None:
    assert reading(messages_reply("Yes", theirs), profile="anthropic").finish_reason == ours


def test_anthropic_requests_mark_a_long_shared_prefix_for_caching() -> None:
    def turns(shared: int) -> Any:
        text = "rules " * 1000 + "data-x one"
        messages = (PromptMessage("system", "Be brief."), PromptMessage("user", text))
        chat = Chat(messages=messages, shared=shared)
        return json.loads(build(PROFILES["anthropic"], "claude-sonnet-4-5", chat).body)["messages"][0]["content"], text

    content, text = turns(9 + 6000)
    assert content == [
        {"type": "text", "text": text[:6000], "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": text[6000:]},
    ]
    assert turns(4095) == (text, text), "less is cached for no model"
    assert turns(0) == (text, text)
    plain, marked = (Chat(messages=(PromptMessage("user", text),), shared=n) for n in (0, 6000))
    assert build(PROFILES["openai"], "m", plain).body == build(PROFILES["openai"], "m", marked).body


def test_anthropics_cached_tokens_belong_to_the_prompt() -> None:
    counts = {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 2}
    usage = reading(messages_reply("Yes") | {"usage": counts}, profile="anthropic").usage
    assert usage == Usage(prompt_tokens=100, cached_tokens=90, completion_tokens=2, written_tokens=5)


def test_keep_alive_lines_before_the_json_are_passed_over() -> None:
    body = b"\n : OPENROUTER PROCESSING\n\n: again\n  " + json.dumps(chat_reply("Yes")).encode()
    assert reading(body).text == "Yes"


def test_a_body_of_nothing_but_keep_alives_is_read_in_one_go() -> None:
    with pytest.raises(AttemptFailed, match="no JSON"):
        read(b" :\n" * 1_000_000, "chat", "openrouter")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, "rate_limit"),
        ({"error": {"code": 502, "message": "upstream"}}, "server"),
        ({"error": "something"}, "server"),
        ({"error": {"code": 400, "message": "maximum context length is 8192 tokens"}}, "context_length"),
        ({"error": {"code": 402, "message": "Insufficient credits"}}, "quota"),
        ({"choices": [{"error": {"code": 503, "message": "x"}, "message": {}}]}, "server"),
    ],
)
def test_an_error_inside_a_200_is_an_error(data: Any, code: str) -> None:
    with pytest.raises(AttemptFailed) as caught:
        reading(data, profile="openrouter")
    assert caught.value.code == code


HOSTILE: list[Any] = [
    b"",
    b"not json",
    b"\xff\xfe",
    b'{"choices": [{"message": {"content": NaN}}]}',
    b'{"choices":' * 100_000,
    b"[" * 100_000 + b"]" * 100_000,
    b":" * 1000,
    [],
    "text",
    None,
    {},
    {"choices": "a string"},
    {"choices": []},
    {"choices": {"0": {}}},
    {"choices": [None]},
    {"choices": [{"message": None}]},
    {"choices": [{"message": {"content": 5}}]},
    {"choices": [{"message": {"content": {"text": "x"}}}]},
    {"content": "text"},
    {"content": [5]},
    {"data": "x"},
    {"data": []},
    {"data": [{"index": 0}]},
    {"results": [{"index": 0, "relevance_score": "0.5"}]},
    {"results": [{"index": True, "relevance_score": 0.5}]},
    {"data": [{"index": 1, "score": 0.5, "probs": [0.5], "data": 0.5}]},
    {"data": [{"index": 0, "score": [], "probs": [[]], "data": [[]]}]},
    {"data": [{"index": 0, "score": 10**400, "probs": [10**400], "data": [10**400]}]},
    {"data": [{"index": 0, "score": None, "probs": [True], "data": [[0.5, "x"]]}]},
    b'{"data": [{"index": 0, "score": 1e999, "probs": [1e999], "data": 1e999, "relevance_score": 1e999}]}',
]


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("task", ["chat", *SCORES])
def test_hostile_bodies_are_malformed_and_nothing_else(data: Any, task: str) -> None:
    for profile in ("openai", "anthropic"):
        with pytest.raises(AttemptFailed) as caught:
            reading(data, task, profile)
        assert caught.value.code == "malformed"


def test_missing_and_surplus_scores_are_malformed() -> None:
    for count in (1, 3):
        with pytest.raises(CallFailed, match="2 results"):
            reading(scores_reply("score", [0.1, 0.2]), "score", "vllm", count)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "data", "results", "index", "score", "error", "usage", "probs"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(data=JSON, task=st.sampled_from(["chat", *SCORES]), profile=st.sampled_from(["openai", "anthropic"]))
def test_any_json_gives_a_reply_or_a_failure(data: Any, task: str, profile: str) -> None:
    with suppress(CallFailed):
        assert isinstance(reading(data, task, profile), Reply)


MESSAGE = st.builds(PromptMessage, st.sampled_from(["system", "user", "assistant"]), st.text(max_size=30))
REQUEST = st.builds(
    Chat,
    messages=st.lists(MESSAGE, min_size=1, max_size=3).map(tuple),
    sampling=st.builds(Sampling, temperature=st.none() | st.floats(0, 2), seed=st.none() | st.integers(0, 9)),
)


@given(request=REQUEST, sample=st.integers(0, 5), profile=st.sampled_from(sorted(PROFILES)))
def test_a_cache_key_depends_only_on_the_request(request: Chat, sample: int, profile: str) -> None:
    one = endpoint(profile).prepare(request, sample)
    same = ModelServer(profile=profile, base_url="http://127.0.0.1:1/v1/", model="m", timeout_s=3, key_variable="OTHER")
    assert Endpoint(same, None, Clock()).prepare(request, sample) == one
    elsewhere = ModelServer(profile=profile, base_url="https://b.example/v1", model="m")
    assert Endpoint(elsewhere, None, Clock()).prepare(request, sample).key != one.key
    assert endpoint(profile).prepare(request, sample + 1).key != one.key
    assert endpoint(profile, model="other").prepare(request, sample).key != one.key


def test_the_key_of_a_known_request_never_changes() -> None:
    # Stored replies are found by it: another value would pay for every one of them again.
    assert endpoint("vllm").prepare(CHAT, 3).key.hex() == (
        "a02d38b99459e53c477ae110bba1044de5cbe3472703f659708b912f56e7bb67"
    )
