"""Peculiarities of each kind of server: one record each in ``profiles.toml``, so that no code asks "is this OpenAI?".

Sources are the servers' references. Where a server's behaviour is not documented, the careful form is used: a field
that it may reject is not sent, and a prefill that it may ignore goes into the user's message.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, structs

from workbench.llm.records import Task

Dialect = Literal["openai-chat", "openai-responses", "anthropic-messages"]

Api = Literal["chat", "responses"]
"""OpenAI's two APIs for text."""

Prefill = Literal["message", "continue", "continue-only", "words"]
"""How a prefill is sent.

- ``message``: as a last message of the assistant.
- ``continue``: as such a message with vLLM's two switches; ``continue-only``: with SGLang's one.
- ``words``: as words at the end of the user's message, where support is unknown.
"""


class Profile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of server.

    Attributes:
        key_variable: The default environment variable of its key.
        key_required: Whether it never works without a key.
        auth: The header that carries the key.
        headers: Headers of every call.
        top_k: Whether it accepts the sampling setting ``top_k``.
        seed: The name of its field for the seed; "" if it has none.
        effort: The field of reasoning effort in a chat's body.
        extra: Fields of every chat's body.
        scores: The scoring tasks it supports.
        sells: Whether its owner limits rates; only then does a run begin with few concurrent calls.
        price_prefix: The prefix of its models' names in the table of list prices; None if the table lacks them.
        tells_cost: Whether its replies report their cost.
        cuts_silently: Whether it truncates the beginning of a prompt longer than the model's context without notice.
        azure_paths: Whether the path contains the model.
        only_responses: Models without a chat API, but with OpenAI's Responses API.
        thinking: Reasoning models: they require ``max_completion_tokens`` and accept no temperature or top_p.
        long: Other models that require ``max_completion_tokens``, such as those whose name doesn't show whether they
            reason.
        fixed_sampling: Models that accept no temperature, top_p or top_k.
        no_prefill: Models that reject a prefill.
        hosts: Its addresses' hosts, or the domains of these hosts, by which `guess_profile` recognises it.
        owners: The owners of models, as it lists them.
        port: Its usual port, by which an address on any host is recognised.
    """

    name: str
    title: str
    dialect: Dialect = "openai-chat"
    key_variable: str | None = None
    key_required: bool = False
    auth: Literal["bearer", "api-key", "x-api-key"] = "bearer"
    headers: dict[str, str] = {}
    top_k: bool = False
    seed: str = "seed"
    effort: Literal["reasoning_effort", "reasoning", "output_config"] = "reasoning_effort"
    prefill: Prefill = "words"
    extra: dict[str, Any] = {}
    scores: frozenset[Task] = frozenset()
    sells: bool = False
    price_prefix: str | None = None
    tells_cost: bool = False
    cuts_silently: bool = False
    azure_paths: bool = False
    only_responses: re.Pattern[str] | None = None
    thinking: re.Pattern[str] | None = None
    long: re.Pattern[str] | None = None
    fixed_sampling: re.Pattern[str] | None = None
    no_prefill: re.Pattern[str] | None = None
    hosts: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    port: int | None = None


def _read_profiles() -> dict[str, Profile]:
    table = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text(encoding="utf-8"))
    patterns = {name: re.compile(pattern) for name, pattern in table["patterns"].items()}
    return {
        name: msgspec.convert(fields | {"name": name}, Profile, dec_hook=lambda _, pattern: patterns[pattern])
        for name, fields in table["profiles"].items()
    }


PROFILES: Final = _read_profiles()
"""All profiles, by name."""

DEFAULT = "openai-compatible"


def guess_profile(base_url: str) -> str:
    """Return the profile that an address indicates; ``"openai-compatible"`` if there is no hint."""
    try:
        parts = urlsplit(base_url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return DEFAULT
    for name, profile in PROFILES.items():
        if port == profile.port is not None or any(f".{host}".endswith(f".{known}") for known in profile.hosts):
            return name
    return DEFAULT


def profile_named(name: str) -> Profile:
    """Return a profile.

    Raises:
        ValueError: No profile has this name.
    """
    if name not in PROFILES:
        raise ValueError(f"server: there is no profile {name!r}; known: {', '.join(sorted(PROFILES))}")
    return PROFILES[name]


def profile_for_model(name: str, model: str, api: Api | None = None) -> Profile:
    """Return a profile adapted to one of its models, which may require another dialect.

    Args:
        api: Which of OpenAI's APIs to use; by default the chat API, unless the model has none.

    Raises:
        ValueError: No profile has this name, or its dialect has no such choice.
    """
    profile = profile_named(name)
    if profile.dialect != "openai-chat":
        if api is not None:
            raise ValueError(f"api: {profile.title} has its own API; leave it out")
        return profile
    only = profile.only_responses is not None and profile.only_responses.search(plain_model(model)) is not None
    if api != "responses" and not (api is None and only):
        return profile
    return structs.replace(
        profile,
        dialect="openai-responses",
        top_k=False,
        seed="",
        effort="reasoning",
        prefill="words",
        extra={},
    )


@lru_cache(maxsize=64)
def plain_model(model: str) -> str:
    """Return a model's name without its maker: ``gpt-5`` of ``openai/gpt-5``, ``o4-mini`` of ``ft:o4-mini:me::id``."""
    name = model.rsplit("/", 1)[-1]
    return name.removeprefix("ft:").partition(":")[0] if name.startswith("ft:") else name
