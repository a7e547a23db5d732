"""Peculiarities of each kind of server: one record each, so that no code asks "is this OpenAI?".

Sources are the servers' references. Where a server's behaviour is not documented, the careful form is used: a field
that it may reject is not sent, and a prefill that it may ignore goes into the user's message.
"""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

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


class Profile(Struct, frozen=True, kw_only=True):
    """One kind of server.

    Attributes:
        key_variable: The default environment variable of its key.
        key_required: Whether it never works without a key.
        auth: The header that carries the key.
        headers: Headers of every call.
        top_k: Whether it accepts the sampling setting ``top_k``.
        seed: The name of its field for the seed; None if it has none.
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
    """

    name: str
    title: str
    dialect: Dialect = "openai-chat"
    key_variable: str | None = None
    key_required: bool = False
    auth: Literal["bearer", "api-key", "x-api-key"] = "bearer"
    headers: tuple[tuple[str, str], ...] = ()
    top_k: bool = False
    seed: str | None = "seed"
    effort: Literal["reasoning_effort", "reasoning", "output_config"] = "reasoning_effort"
    prefill: Prefill = "words"
    extra: tuple[tuple[str, object], ...] = ()
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


_OPENAI_THINKING = re.compile(r"(?:o\d|gpt-[5-9]|codex)(?!.*-chat)")
# Models that don't reason accept a temperature; all of this generation use the newer field for the length.
_OPENAI_LONG = re.compile(r"gpt-(?:[5-9]|daybreak|rosalind)|chat-latest|daybreak")
# As openai 3.57.0 (types/shared/responses_model.py) and litellm 1.110.2 (mode "responses") list them.
_OPENAI_ONLY_RESPONSES = re.compile(
    r"\b(?:o\d|gpt-[5-9])\S*-(?:pro|codex|cyber|rosalind|law)\b|\bcodex-mini|-deep-research\b|\bcomputer-use"
    r"|\bgpt-(?:daybreak|rosalind)"
)
# An Azure deployment has an arbitrary name. OpenAI's models all accept the newer field, others the older.
_AZURE_UNKNOWN = re.compile(
    r"(?!gpt-?[34]|deepseek|(?:meta-)?llama|(?:open-)?mi(?:s|x)tral|ministral|codestral|phi-|grok|cohere|command|kimi"
    r"|qwen|jais|claude|minimax|glm|gemma)",
    re.IGNORECASE,
)
# As in litellm 1.110.2 (supports_assistant_prefill, supports_sampling_params).
_CLAUDE_46 = re.compile(r"claude-(?:[a-z]+-)?(?:4[-.](?:[6-9]|\d\d)(?!\d)|[5-9]|preview)")
_CLAUDE_47 = re.compile(r"claude-(?:[a-z]+-)?(?:4[-.](?:[7-9]|\d\d)(?!\d)|[5-9]|preview)")
_ALL_SCORES: frozenset[Task] = frozenset({"score", "classify", "pooling", "rerank", "completions"})
_COMPLETIONS: frozenset[Task] = frozenset({"completions"})

PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(name="openai-compatible", title="an OpenAI-compatible server", scores=_ALL_SCORES, sells=True),
        Profile(
            name="openai",
            title="OpenAI",
            key_variable="OPENAI_API_KEY",
            key_required=True,
            scores=_COMPLETIONS,
            sells=True,
            price_prefix="",
            only_responses=_OPENAI_ONLY_RESPONSES,
            thinking=_OPENAI_THINKING,
            long=_OPENAI_LONG,
        ),
        Profile(
            name="azure",
            title="Azure OpenAI",
            key_variable="AZURE_OPENAI_API_KEY",
            key_required=True,
            auth="api-key",
            sells=True,
            azure_paths=True,
            only_responses=_OPENAI_ONLY_RESPONSES,
            thinking=_OPENAI_THINKING,
            long=_AZURE_UNKNOWN,
        ),
        Profile(
            name="anthropic",
            title="Anthropic",
            dialect="anthropic-messages",
            key_variable="ANTHROPIC_API_KEY",
            key_required=True,
            auth="x-api-key",
            headers=(("anthropic-version", "2023-06-01"),),
            top_k=True,
            seed=None,
            effort="output_config",
            prefill="message",
            sells=True,
            price_prefix="",
            fixed_sampling=_CLAUDE_47,
            no_prefill=_CLAUDE_46,
        ),
        Profile(
            name="openrouter",
            title="OpenRouter",
            key_variable="OPENROUTER_API_KEY",
            key_required=True,
            top_k=True,
            effort="reasoning",
            prefill="message",
            extra=(("usage", {"include": True}),),
            sells=True,
            tells_cost=True,
            no_prefill=_CLAUDE_46,
        ),
        Profile(
            name="gemini",
            title="Gemini",
            key_variable="GEMINI_API_KEY",
            key_required=True,
            seed=None,
            sells=True,
            price_prefix="gemini/",
        ),
        Profile(
            name="mistral",
            title="Mistral",
            key_variable="MISTRAL_API_KEY",
            key_required=True,
            seed="random_seed",
            sells=True,
            price_prefix="mistral/",
        ),
        Profile(
            name="deepseek",
            title="DeepSeek",
            key_variable="DEEPSEEK_API_KEY",
            key_required=True,
            seed=None,
            sells=True,
            price_prefix="deepseek/",
        ),
        Profile(
            name="dashscope",
            title="DashScope",
            key_variable="DASHSCOPE_API_KEY",
            key_required=True,
            top_k=True,
            sells=True,
            price_prefix="dashscope/",
        ),
        Profile(
            name="xai", price_prefix="xai/", title="xAI", key_variable="XAI_API_KEY", key_required=True, sells=True
        ),
        Profile(
            name="groq", price_prefix="groq/", title="Groq", key_variable="GROQ_API_KEY", key_required=True, sells=True
        ),
        Profile(
            name="together",
            title="Together",
            key_variable="TOGETHER_API_KEY",
            key_required=True,
            scores=_COMPLETIONS,
            top_k=True,
            sells=True,
        ),
        Profile(
            name="fireworks",
            title="Fireworks",
            key_variable="FIREWORKS_API_KEY",
            key_required=True,
            scores=_COMPLETIONS,
            top_k=True,
            sells=True,
        ),
        Profile(name="litellm", title="a LiteLLM proxy", scores=_COMPLETIONS, sells=True, tells_cost=True),
        Profile(name="tgi", title="TGI"),
        Profile(name="vllm", title="vLLM", top_k=True, prefill="continue", scores=_ALL_SCORES),
        Profile(
            name="sglang",
            title="SGLang",
            top_k=True,
            prefill="continue-only",
            scores=frozenset({"classify", "rerank", "completions"}),
        ),
        Profile(
            name="llama-cpp",
            title="llama.cpp",
            top_k=True,
            prefill="message",
            scores=frozenset({"rerank", "completions"}),
        ),
        Profile(name="ollama", title="Ollama", cuts_silently=True),
        Profile(name="lm-studio", title="LM Studio", top_k=True, cuts_silently=True),
    )
}
"""All profiles, by name."""

DEFAULT = "openai-compatible"

_HOSTS = (
    ("api.openai.com", "openai"),
    ("openai.azure.com", "azure"),
    ("cognitiveservices.azure.com", "azure"),
    ("services.ai.azure.com", "azure"),
    ("api.anthropic.com", "anthropic"),
    ("openrouter.ai", "openrouter"),
    ("generativelanguage.googleapis.com", "gemini"),
    ("api.mistral.ai", "mistral"),
    ("api.deepseek.com", "deepseek"),
    ("dashscope.aliyuncs.com", "dashscope"),
    ("dashscope-intl.aliyuncs.com", "dashscope"),
    ("dashscope-us.aliyuncs.com", "dashscope"),
    ("api.x.ai", "xai"),
    ("api.groq.com", "groq"),
    ("api.together.xyz", "together"),
    ("api.together.ai", "together"),
    ("api.fireworks.ai", "fireworks"),
)
_PORTS = {11434: "ollama", 1234: "lm-studio", 4000: "litellm"}


def guess_profile(base_url: str) -> str:
    """Return the profile that an address indicates; ``"openai-compatible"`` if there is no hint."""
    try:
        parts = urlsplit(base_url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return DEFAULT
    for known, name in _HOSTS:
        if host == known or host.endswith("." + known):
            return name
    return _PORTS.get(port or 0, DEFAULT)


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
        seed=None,
        effort="reasoning",
        prefill="words",
        extra=(),
    )


def plain_model(model: str) -> str:
    """Return a model's name without its maker: ``gpt-5`` of ``openai/gpt-5``, ``o4-mini`` of ``ft:o4-mini:me::id``."""
    name = model.rsplit("/", 1)[-1]
    return name.removeprefix("ft:").partition(":")[0] if name.startswith("ft:") else name
