"""Anthropic's messages."""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.llm.dialects.fields import entries, mapping, optional_count, optional_text
from workbench.llm.dialects.openai import drop, prefilled
from workbench.llm.endings import REFUSAL
from workbench.llm.profiles import Profile, plain_model
from workbench.llm.records import Chat, PromptMessage, Reply, Usage

MAX_TOKENS = 4096
"""Sent when nobody says otherwise: the field is mandatory."""

_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": REFUSAL,
    "tool_use": "tool_calls",
}


def build(profile: Profile, model: str, chat: Chat, notes: list[str]) -> bytes:
    """The body of a call; what can't be sent as asked is said in ``notes``."""
    plain = plain_model(model)
    messages = prefilled(profile, plain, chat.messages, notes)
    if messages[-1].role == "assistant":
        # Blanks at the end of a prefill are refused.
        messages = (*messages[:-1], PromptMessage("assistant", messages[-1].content.rstrip()))
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    body: dict[str, Any] = {"model": model}
    if system:
        body["system"] = system
    body["messages"] = [{"role": one.role, "content": one.content} for one in messages if one.role != "system"]
    body["max_tokens"] = chat.sampling.max_tokens or MAX_TOKENS
    return msgspec.json.encode(body | _sampling(profile, plain, chat, notes))


def _sampling(profile: Profile, plain: str, chat: Chat, notes: list[str]) -> dict[str, Any]:
    asked = chat.sampling
    fields: dict[str, Any] = {"temperature": asked.temperature, "top_p": asked.top_p, "top_k": asked.top_k}
    if profile.fixed_sampling is not None and profile.fixed_sampling.match(plain):
        drop(fields, notes, f"{plain} of {profile.title}")
    elif asked.temperature is not None and asked.top_p is not None:
        del fields["top_p"]
        notes.append(f"top_p is not sent to {profile.title}: newer models take it or temperature, not both.")
    if asked.seed is not None:
        notes.append(f"seed is not sent to {profile.title}: it is no field of its messages.")
    return {name: value for name, value in fields.items() if value is not None}


def read(data: Any) -> Reply:
    """What the decoded JSON says.

    Raises:
        AttemptFailed: It is no message.
    """
    data = mapping(data, "the reply")
    blocks = [mapping(block, "a block of the content") for block in entries(data.get("content"), "content")]
    thoughts = [text for block in blocks if (text := optional_text(block, "thinking")) is not None]
    reason = optional_text(data, "stop_reason")
    return Reply(
        text="".join(optional_text(block, "text") or "" for block in blocks if block.get("type") == "text"),
        reasoning="\n\n".join(thoughts) or None,
        finish_reason=_REASONS.get(reason or "", reason),
        model=optional_text(data, "model"),
        usage=_usage(data.get("usage")),
    )


def _usage(data: Any) -> Usage:
    """Tokens in OpenAI's sense: those read from and written to the cache belong to the prompt."""
    prompt = optional_count(data, "input_tokens")
    cached = optional_count(data, "cache_read_input_tokens")
    if prompt is not None:
        prompt += (cached or 0) + (optional_count(data, "cache_creation_input_tokens") or 0)
    return Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=optional_count(data, "output_tokens"))
