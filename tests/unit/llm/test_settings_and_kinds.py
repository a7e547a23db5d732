"""Settings that a kind of server does not support, and unknown kinds of servers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import make_project
from tests.servers.scripted import Received, Scripted, chat_reply, scripted
from workbench.core.errors import UsageError
from workbench.llm.check import check
from workbench.llm.dialects import build, sendable, unsent
from workbench.llm.profiles import PROFILES
from workbench.llm.records import Chat, PromptMessage, Sampling
from workbench.llm.server import ModelServer
from workbench.runs.generation import models_from
from workbench.verifiers.judges.verifier import LlmJudge

QUESTION = Chat(messages=(PromptMessage("user", "q"),))
URL = "http://127.0.0.1:9/v1"
SAMPLING = st.builds(
    Sampling,
    temperature=st.none() | st.sampled_from([0, 0.5, 1.0]),
    top_p=st.none() | st.sampled_from([0.5, 0.9]),
    top_k=st.none() | st.sampled_from([1, 40]),
    max_tokens=st.none() | st.sampled_from([1, 100]),
    seed=st.none() | st.sampled_from([0, 7]),
)


@given(SAMPLING, st.sampled_from(sorted(PROFILES)), st.sampled_from(["m", "gpt-5", "claude-opus-4-7", "o3"]))
def test_a_setting_is_sent_or_known_as_unsent(sampling: Sampling, profile: str, model: str) -> None:
    body = build(
        PROFILES[profile], model, Chat(messages=(PromptMessage("user", "q"),), sampling=sampling)
    ).body.decode()
    dropped = unsent(PROFILES[profile], model, sampling)
    fields = {"max_tokens": "max_completion_tokens", "seed": "random_seed"}
    for name in ("temperature", "top_p", "top_k", "max_tokens", "seed"):
        if getattr(sampling, name) is not None:
            field = fields[name] if name in fields and fields[name] in body else name
            assert (f'"{field}":' in body) == (name not in dropped)


def test_settings_supported_by_each_kind() -> None:
    assert sendable(PROFILES["openai-compatible"], "m") == (
        "temperature",
        "top_p",
        "max_tokens",
        "seed",
        "top_logprobs",
    )
    assert sendable(PROFILES["vllm"], "m") == ("temperature", "top_p", "top_k", "max_tokens", "seed", "top_logprobs")
    assert sendable(PROFILES["openai"], "gpt-5") == ("max_tokens", "seed")
    assert sendable(PROFILES["anthropic"], "claude-opus-4-7") == ("max_tokens",)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"top_k": "40"}, ("top_k", "temperature, top_p, max_tokens, seed", "server=…")),
        ({"server": "ollama", "top_k": "40"}, ("top_k", "Ollama")),
        ({"server": "openai", "model": "o3", "temperature": "0.3"}, ("temperature", "max_tokens, seed")),
        ({"server": "anthropic", "model": "claude-3-7-sonnet", "seed": "1"}, ("seed", "top_k")),
        ({"server": "anthropic", "model": "claude-3-7-sonnet", "top_p": "0.5"}, ("top_p", "temperature")),
        ({"top_k": "40", "strategy": "mcts"}, ("top_k",)),
        ({"server": "vllm", "top_k": "40", "strategy": "mcts", "test_base_url": URL, "test_model": "t"}, ("top_k",)),
    ],
)
def test_a_judge_refuses_a_setting_that_would_be_dropped(options: dict[str, str], says: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="it can't be sent") as caught:
        LlmJudge(**{"base_url": URL, "model": "m", **options})
    for word in says:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"server": "vllm", "top_k": "40"},
        {"strategy": "mcts"},
        {"strategy": "mcts", "server": "anthropic", "model": "claude-3-7-sonnet", "seed": "3"},
        {"server": "openai", "model": "o3"},
        {"samples": "3", "server": "openai", "model": "gpt-5"},
    ],
)
def test_unsupported_settings_of_a_template_only_warn(options: dict[str, str]) -> None:
    assert LlmJudge(**{"base_url": URL, "model": "m", **options}).servers()


def test_models_that_write_refuse_it_too(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with pytest.raises(UsageError, match="top_k: it can't be sent"):
        models_from(project, ["m"], {"base_url": URL, "top_k": "40"})
    assert models_from(project, ["m"], {"base_url": URL, "server": "sglang", "top_k": "40"})
    project.close()


LISTED = {"object": "list", "data": [{"id": "m", "object": "model"}]}


def answering(paths: dict[str, Any]) -> Any:
    def answer(received: Received) -> Scripted:
        if received.path.endswith("/chat/completions"):
            return Scripted(body=chat_reply("Yes"))
        found = {"/v1/models": LISTED, **paths}.get(received.path)
        return Scripted(404, body={"detail": "Not Found"}) if found is None else Scripted(body=found)

    return answer


def listed_by(owner: str) -> dict[str, Any]:
    return {"/v1/models": {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": owner}]}}


@pytest.mark.parametrize(
    ("paths", "kind"),
    [
        (listed_by("vllm"), "vllm"),
        (listed_by("sglang"), "sglang"),
        (listed_by("llamacpp"), "llama-cpp"),
        (listed_by("library"), "ollama"),
        (listed_by("organization_owner"), "lm-studio"),
        ({}, None),
        (listed_by("openai"), None),
    ],
)
async def test_the_kind_of_a_server_is_inferred_from_its_model_list(paths: dict[str, Any], kind: str | None) -> None:
    with scripted(answering(paths)) as server:
        found = await check(
            ModelServer(profile="openai-compatible", base_url=server.url, model="m"),
            [QUESTION],
            environment={},
            timeout_s=20,
        )
    said = " ".join(one.advice for one in found if one.advice.startswith("Set server="))
    assert said.startswith(f"Set server={kind}") if kind else said == ""
    assert not any(one.level == "problem" for one in found)


async def test_a_wrong_kind_is_noticed() -> None:
    with scripted(answering(listed_by("llamacpp"))) as server:
        found = await check(
            ModelServer(profile="vllm", base_url=server.url, model="m"), [QUESTION], environment={}, timeout_s=20
        )
    assert any("answers like llama.cpp, not like vLLM" in one.text for one in found)
