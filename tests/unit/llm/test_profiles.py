"""The kind of server of an address, and valid addresses."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.llm import server
from workbench.llm.dialects import build
from workbench.llm.profiles import DEFAULT, PROFILES, guess_profile, profile_named
from workbench.llm.records import Chat, PromptMessage, Sampling


@pytest.mark.parametrize(
    ("url", "profile"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("https://x.openai.azure.com/openai/v1", "azure"),
        ("https://api.anthropic.com/v1", "anthropic"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini"),
        ("https://api.mistral.ai/v1", "mistral"),
        ("https://api.deepseek.com", "deepseek"),
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "dashscope"),
        ("https://api.x.ai/v1", "xai"),
        ("https://us-east-1.api.x.ai/v1", "xai"),
        ("https://api.groq.com/openai/v1", "groq"),
        ("https://api.together.xyz/v1", "together"),
        ("https://api.fireworks.ai/inference/v1", "fireworks"),
        ("http://localhost:4000/v1", "litellm"),
        ("http://localhost:11434/v1", "ollama"),
        ("http://127.0.0.1:1234/v1", "lm-studio"),
        ("http://localhost:8000/v1", DEFAULT),
        ("https://api.openai.com.evil.example/v1", DEFAULT),
        ("https://notopenrouter.ai/v1", DEFAULT),
        ("http://[::1", DEFAULT),
        ("http://host:port", DEFAULT),
    ],
)
def test_guesses(url: str, profile: str) -> None:
    assert guess_profile(url) == profile


@given(st.text(max_size=30))
def test_any_text_gets_a_guess_and_is_taken_or_refused(text: str) -> None:
    assert guess_profile(text) in PROFILES
    try:
        server.normalised_url(text)
    except ValueError as error:
        assert str(error).startswith("base_url: ")  # noqa: PT017


def test_an_unknown_profile_is_rejected_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="openai-compatible"):
        profile_named("gpt")


def test_no_key_is_sent_by_default_to_an_unknown_server() -> None:
    hosted = {"openai", "azure", "anthropic", "openrouter", "gemini", "mistral", "deepseek", "dashscope", "xai"}
    hosted |= {"groq", "together", "fireworks"}
    assert {name for name, profile in PROFILES.items() if profile.key_variable} == hosted


@pytest.mark.parametrize(
    ("base", "path", "expected"),
    [
        ("http://h/v1", "a/b", "http://h/v1/a/b"),
        ("http://h/v1/", "a", "http://h/v1/a"),
        ("http://h", "a", "http://h/a"),
        ("http://h/x?api-version=1", "a", "http://h/x/a?api-version=1"),
    ],
)
def test_paths_go_before_the_query(base: str, path: str, expected: str) -> None:
    assert server.join_url(base, path) == expected


def test_local_addresses() -> None:
    local = ["http://localhost/v1", "http://127.0.0.1:8/v1", "http://[::1]/v1", "http://a.localhost"]
    assert [server.is_local(url) for url in [*local, "http://10.0.0.1/v1", "http://localhost.example"]] == [
        True
    ] * 4 + [False] * 2


@pytest.mark.parametrize(
    ("profile", "model", "field"),
    [
        ("openai", "gpt-6-astra", "max_completion_tokens"),
        ("openai", "gpt-5.5", "max_completion_tokens"),
        ("openai", "gpt-5.3-codex", "max_completion_tokens"),
        ("openai", "ft:o4-mini-2025-04-16:me::Ab1", "max_completion_tokens"),
        ("openai", "ft:gpt-4o-mini-2024-07-18:me::Ab1", "max_tokens"),
        ("openai", "gpt-5-chat-latest", "max_completion_tokens"),
        ("azure", "our-judge", "max_completion_tokens"),
        ("azure", "gpt-35-turbo", "max_tokens"),
        ("azure", "gpt-4o-eu", "max_tokens"),
        ("azure", "DeepSeek-V3.2", "max_tokens"),
        ("openrouter", "openai/gpt-5", "max_tokens"),
    ],
)
def test_the_name_of_the_token_limit_by_model(profile: str, model: str, field: str) -> None:
    chat = Chat(messages=(PromptMessage("user", "q"),), sampling=Sampling(max_tokens=9))
    assert json.loads(build(PROFILES[profile], model, chat).body)[field] == 9
