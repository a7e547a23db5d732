"""OpenAI's chat completions, which most servers implement; and helpers that validate the JSON of any server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import msgspec
from msgspec import Struct, structs

from workbench.llm.failures import (
    EVENT,
    AttemptFailed,
    classify_error_object,
    malformed,
    one_line,
    page_in,
    refusal_in_words,
    says_anything,
)
from workbench.llm.profiles import Profile, plain_model
from workbench.llm.records import REFUSAL, Chat, PromptMessage, Reply, TokenChoice, Usage, is_filtered
from workbench.llm.server import NO_EXTRAS, RequestExtras
from workbench.llm.server_json import decoded_json

# -- Validate JSON that a server sent: any part may be missing or of another type.


_BOM = b"\xef\xbb\xbf"
_KEEP_ALIVES = re.compile(rb"(?:\s|:[^\n]*+(?:\n|\Z))*+")
_MOST_TOKENS = 10**8
_LARGEST = 1e300
_LONGEST_EXCERPT = 2000


def decoded(body: bytes) -> Any:
    """Decode the JSON of a reply; blank and comment lines before it (OpenRouter's keep-alives) are skipped.

    Raises:
        AttemptFailed: The body is not JSON, or is an object that reports an error.
    """
    rest = without_keep_alives(body)
    try:
        data = decoded_json(rest)
    except (ValueError, RecursionError) as error:
        if (refusal := refusal_in_words(body[:1000].decode("utf-8", "replace").strip())) is not None:
            raise refusal from None
        other = page_in(body) or ("a stream of events, which is not read" if EVENT.match(rest) else None)
        raise malformed(f"the reply is {other or f'no JSON: {error}'}", everywhere=other is not None) from None
    if isinstance(data, str) and (refusal := refusal_in_words(data)) is not None:
        raise refusal
    if isinstance(data, dict) and says_anything(data.get("error")):
        raise classify_error_object(data["error"])
    return data


def without_keep_alives(body: bytes) -> bytes:
    body = body.removeprefix(_BOM)
    found = _KEEP_ALIVES.match(body)
    return body[found.end() :] if found else body


def mapping(data: Any, what: str) -> dict[str, Any]:
    """Return the data as an object.

    Raises:
        AttemptFailed: The data has another type.
    """
    if not isinstance(data, dict):
        raise malformed(f"{what} is not an object")
    return data


def entries(data: Any, what: str) -> list[Any]:
    """Return the data as a list.

    Raises:
        AttemptFailed: The data has another type.
    """
    if not isinstance(data, list):
        raise malformed(f"{what} is not a list")
    return data


def number(data: Any, what: str) -> float:
    """Return the data as a float.

    Raises:
        AttemptFailed: The data has another type.
    """
    if isinstance(data, bool) or not isinstance(data, int | float) or not -_LARGEST <= data <= _LARGEST:
        raise malformed(f"{what} is not a number")
    return float(data)


def optional_text(data: dict[str, Any], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) else None


def optional_count(data: Any, name: str) -> int | None:
    """Return a number of tokens if it is plausible, else None, so that an invalid count doesn't cost the reply."""
    value = data.get(name) if isinstance(data, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None


_HIGHEST_COST = 1e6
_MOST_CHARACTERS = 8
"""Maximum average characters of a token; a longer text was not counted."""
_CHARACTERS_A_TOKEN = 4
"""Characters of a token, to estimate tokens that the server did not count."""


def build(
    profile: Profile, model: str, chat: Chat, sample: int, notes: list[str], extras: RequestExtras = NO_EXTRAS
) -> bytes:
    """Build the body of a call; add settings that can't be sent as requested to ``notes``."""
    plain = plain_model(model)
    messages = prefilled(profile, plain, folded(chat.messages) if extras.fold_system else chat.messages, notes)
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        **sampling_fields(profile, plain, chat, sample, notes, extras),
    }
    if messages[-1].role == "assistant":
        if profile.prefill == "continue":
            body["add_generation_prompt"] = False
        if profile.prefill in {"continue", "continue-only"}:
            body["continue_final_message"] = True
    return msgspec.json.encode(body | profile.extra | effort_fields(profile, extras) | extras.body)


def effort_fields(profile: Profile, extras: RequestExtras) -> dict[str, Any]:
    if (asked := extras.reasoning_effort) is None:
        return {}
    return {profile.effort: asked if profile.effort == "reasoning_effort" else {"effort": asked}}


def folded(messages: tuple[PromptMessage, ...]) -> tuple[PromptMessage, ...]:
    """Return the messages with the system prompt before the first user message, for models without a system role."""
    system = [message.content for message in messages if message.role == "system"]
    others = [message for message in messages if message.role != "system"]
    first = others[0].content if others else ""
    return (PromptMessage("user", "\n\n".join(filter(None, [*system, first]))), *others[1:])


def prefilled(
    profile: Profile, plain: str, messages: tuple[PromptMessage, ...], notes: list[str]
) -> tuple[PromptMessage, ...]:
    *before, last = messages
    if last.role != "assistant" or not before:
        return messages
    refused = profile.no_prefill is not None and profile.no_prefill.match(plain)
    if profile.prefill != "words" and not refused:
        return messages
    notes.append(f"{profile.title} takes no beginning of a reply for {plain}: its words end the user's message.")
    asked = before[-1]
    return (*before[:-1], PromptMessage(asked.role, f"{asked.content}\n\n{last.content}"))


def sampling_fields(
    profile: Profile, plain: str, chat: Chat, sample: int, notes: list[str], extras: RequestExtras
) -> dict[str, Any]:
    """Return the sampling settings as fields of a chat; add those that can't be sent unchanged to ``notes``."""
    asked = chat.sampling
    is_long = profile.long is not None and profile.long.match(plain)
    thinks = profile.thinking is not None and profile.thinking.match(plain)
    fields: dict[str, Any] = {"temperature": asked.temperature, "top_p": asked.top_p}
    if thinks:
        drop_fields(fields, notes, f"{plain} of {profile.title}")
    if profile.top_k:
        fields["top_k"] = asked.top_k
    elif asked.top_k is not None:
        notes.append(f"top_k is not sent to {profile.title}: it is not a field of its chat.")
    if asked.top_logprobs is not None and not thinks:
        fields |= {"logprobs": True, "top_logprobs": asked.top_logprobs}
    length = extras.max_tokens_field or ("max_completion_tokens" if thinks or is_long else "max_tokens")
    fields[length] = asked.max_tokens
    if asked.seed is not None and profile.seed:
        fields[profile.seed] = asked.seed + sample
    elif asked.seed is not None:
        notes.append(f"seed is not sent to {profile.title}: it is not a field of its chat.")
    return {name: value for name, value in fields.items() if value is not None}


def drop_fields(fields: dict[str, Any], notes: list[str], whom: str) -> None:
    notes.extend(f"{name} is not sent: {whom} doesn't take it." for name, value in fields.items() if value is not None)
    fields.clear()


_BROKEN_OFF = {"error", "network_error", "insufficient_system_resource"}
"""Finish reasons of replies that the server itself interrupted: Mistral and OpenRouter, Zhipu, DeepSeek."""


def read(data: Any) -> Reply:
    """Parse the decoded JSON.

    Raises:
        AttemptFailed: The data is not a chat completion, reports an error, or was interrupted by the server.
    """
    data = mapping(data, "the reply")
    choice = _choice(data)
    if says_anything(choice.get("error")):
        raise classify_error_object(choice["error"])
    reason = _finish_reason(choice)
    if (reason or "").lower() in _BROKEN_OFF:
        raise AttemptFailed("server", f"the server broke its reply off ({reason})", status=200)
    # Gemini sends no message if its filter removed everything.
    is_taken = choice.get("message") is None and is_filtered(reason)
    message = {} if is_taken else mapping(choice.get("message"), "the message")
    parts = _MessageTexts.of(message)
    return Reply(
        text=parts.refusal if parts.text is None else parts.text,
        reasoning=parts.reasoning or None,
        finish_reason=REFUSAL if parts.refusal else reason,
        tokens=tuple(tokens(choice.get("logprobs"))),
        model=optional_text(data, "model"),
        usage=with_visible_reasoning(
            usage(data.get("usage"), data.get("service_tier")), parts.text or "", parts.reasoning
        ),
    )


def _choice(data: dict[str, Any]) -> dict[str, Any]:
    """Return the choice of index 0.

    Raises:
        AttemptFailed: The reply has no choice; other fields may give the reason.
    """
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        excerpt = msgspec.json.encode(data)[:_LONGEST_EXCERPT].decode("utf-8", "replace")
        raise malformed(f"a reply without choices: {one_line(excerpt)}")
    # A server may send several choices in any order.
    first = next((one for one in choices if isinstance(one, dict) and one.get("index") == 0), choices[0])
    return mapping(first, "the choice")


def read_completion(data: Any) -> Reply:
    """Parse the decoded JSON of OpenAI's older API: the text, and the likeliest tokens.

    Raises:
        AttemptFailed: The data is not a completion.
    """
    data = mapping(data, "the reply")
    choice = _choice(data)
    logprobs = choice.get("logprobs")
    return Reply(
        text=optional_text(choice, "text") or "",
        finish_reason=_finish_reason(choice),
        tokens=tuple(_completion_tokens(logprobs)) or tuple(tokens(logprobs)),
        model=optional_text(data, "model"),
        usage=usage(data.get("usage"), data.get("service_tier")),
    )


def _completion_tokens(logprobs: Any) -> Iterator[TokenChoice]:
    lists = [_list_field(logprobs, name) for name in ("tokens", "token_logprobs", "top_logprobs")]
    for token, logprob, top in zip_longest(*lists):
        pairs = [(token, logprob), *(top.items() if isinstance(top, dict) else ())]
        found = dict(filter(None, (_token_logprob({"token": text, "logprob": value}) for text, value in pairs)))
        if found and isinstance(token, str):
            yield TokenChoice(token, tuple(found.items()))


def tokens(logprobs: Any) -> Iterator[TokenChoice]:
    """Yield the tokens of a reply in OpenAI's format; malformed tokens are skipped, so that the reply is kept."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for one in content if isinstance(content, list) else ():
        found = dict(filter(None, map(_token_logprob, (one, *_list_field(one, "top_logprobs")))))
        if found:
            yield TokenChoice(next(iter(found)), tuple(found.items()))


def _token_logprob(one: Any) -> tuple[str, float] | None:
    match one:
        case {"token": str(token), "logprob": int(logprob) | float(logprob)} if -_LARGEST <= logprob <= 0:
            return token, float(logprob)
    return None


def _list_field(data: Any, name: str) -> list[Any]:
    value = data.get(name) if isinstance(data, dict) else None
    return value if isinstance(value, list) else []


_CUT = {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}


def _finish_reason(choice: dict[str, Any]) -> str | None:
    native = optional_text(choice, "native_finish_reason")
    if native is not None and (is_filtered(native) or native.lower() in _CUT):
        return native
    names = ("finish_reason", "finishReason", "stop_reason")
    reason = next((choice[name] for name in names if choice.get(name) is not None), None)
    # SGLang's call has an object there; any value but a string means that the reason is unknown.
    reason = reason.get("type") if isinstance(reason, dict) else reason
    return reason if reason is None or isinstance(reason, str) else f"unknown ({type(reason).__name__})"


class _MessageTexts(Struct, frozen=True):
    """A message's texts, by kind.

    Attributes:
        text: None if the message has no text: reasoning took all tokens, or the model refused.
    """

    text: str | None
    reasoning: str
    refusal: str

    @classmethod
    def of(cls, message: dict[str, Any]) -> _MessageTexts:
        content = message.get("content")
        own = message.get("provider_specific_fields")
        # LiteLLM moves a refusal to this field.
        refusal = optional_text(message, "refusal") or optional_text(own if isinstance(own, dict) else {}, "refusal")
        thoughts = [optional_text(message, name) for name in ("reasoning_content", "reasoning", "thinking")]
        reasoning = next((thought for thought in thoughts if thought), "")
        if isinstance(content, list):
            parts = [_typed_part(part) for part in content]
            reasoning = reasoning or text_of_parts(parts, "thinking", "reasoning", "reasoning_text")
            refusal = refusal or text_of_parts(parts, "refusal")
            content = text_of_parts(parts, "text", "output_text")
        if content is not None and not isinstance(content, str):
            raise malformed("the message's content is not text")
        return cls(content, reasoning, refusal or "")


def _typed_part(part: Any) -> Any:
    text = part.get("text") if isinstance(part, dict) and "type" not in part else part
    return {"type": "text", "text": text} if isinstance(text, str) else part


def text_of_parts(parts: list[Any], *kinds: str) -> str:
    """Return the text of all parts of these types; it may be in ``text``, in a field named like the type, or nested."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, dict) and part.get("type") in kinds:
            text = next((part[name] for name in ("text", *kinds) if part.get(name)), "")
            texts.append(
                text_of_parts(text, "text") if isinstance(text, list) else text if isinstance(text, str) else ""
            )
    return "".join(texts)


def with_visible_reasoning(counted: Usage, text: str, reasoning: str) -> Usage:
    """Add an estimate of the visible reasoning's tokens to counts that exclude them: they are charged, too."""
    if counted.completion_tokens is None or counted.completion_tokens * _MOST_CHARACTERS >= len(text) + len(reasoning):
        return counted
    thought = len(reasoning) // _CHARACTERS_A_TOKEN
    return structs.replace(
        counted,
        completion_tokens=counted.completion_tokens + thought,
        reasoning_tokens=(counted.reasoning_tokens or 0) + thought,
    )


def usage(data: Any, tier: Any = None) -> Usage:
    """Parse the token counts, and the cost in US dollars if the server reports it.

    Reasoning is charged like output. Servers that exclude it from completion tokens count it in the total, or only in
    the details.

    Args:
        tier: The service tier that the reply names.
    """
    if not isinstance(data, dict):
        return Usage()
    prompt = _first_count(data, ((None, "prompt_tokens"), (None, "input_tokens")))
    completion = _first_count(data, ((None, "completion_tokens"), (None, "output_tokens")))
    total = optional_count(data, "total_tokens")
    cached, written = _first_count(data, _CACHED), _first_count(data, _WRITTEN)
    details = data.get("completion_tokens_details") or data.get("output_tokens_details")
    reasoning = optional_count(details, "reasoning_tokens")
    if reasoning is None:
        reasoning = optional_count(data, "reasoning_tokens")
    if completion is not None:
        hidden = 0 if total is None or prompt is None else total - prompt - completion
        if prompt is not None and hidden > 0 and hidden == (cached or 0) + (written or 0):
            # Gateways to Anthropic leave the cache out of the prompt.
            prompt, hidden = prompt + hidden, 0
        if hidden <= 0 and (reasoning or 0) > completion:
            hidden = reasoning or 0
        if hidden > 0:
            completion += hidden
            reasoning = max(reasoning or 0, hidden)
    return Usage(
        prompt_tokens=prompt,
        cached_tokens=cached,
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        cost=_reported_cost(data),
        written_tokens=written,
        tier=tier if isinstance(tier, str) else None,
    )


_DETAILS = "prompt_tokens_details"
_INPUT_DETAILS = "input_tokens_details"
_CACHED = (
    (_DETAILS, "cached_tokens"),
    (_INPUT_DETAILS, "cached_tokens"),
    # DeepSeek; Moonshot and Together; Mistral; LiteLLM for Anthropic.
    (None, "prompt_cache_hit_tokens"),
    (None, "cached_tokens"),
    (None, "num_cached_tokens"),
    (None, "cache_read_input_tokens"),
)
_WRITTEN = (
    (_DETAILS, "cache_write_tokens"),
    (_INPUT_DETAILS, "cache_write_tokens"),
    (_DETAILS, "cache_creation_tokens"),
    (None, "cache_creation_input_tokens"),
)
"""The fields in which servers count prompt tokens written to their cache."""
_TICKS_A_DOLLAR = 1e10


def _first_count(data: dict[str, Any], places: tuple[tuple[str | None, str], ...]) -> int | None:
    counts = (optional_count(data if inside is None else data.get(inside), name) for inside, name in places)
    return next((count for count in counts if count is not None), None)


def _reported_cost(data: dict[str, Any]) -> float | None:
    """Return the cost that a server reports: OpenRouter (with upstream costs of a custom key), Perplexity, xAI …"""
    cost, ticks = data.get("cost", data.get("estimated_cost")), data.get("cost_in_usd_ticks")
    if isinstance(cost, dict):
        cost = cost.get("total_cost")
    if cost is None and ticks is not None:
        cost = ticks / _TICKS_A_DOLLAR if isinstance(ticks, int) and abs(ticks) < _LARGEST else None
    details = data.get("cost_details")
    if (
        data.get("is_byok") is True
        and isinstance(details, dict)
        and (spent := dollars(details.get("upstream_inference_cost")))
    ):
        return None if dollars(cost) is None else (dollars(cost) or 0.0) + spent
    return dollars(cost)


def dollars(cost: Any) -> float | None:
    """Return a plausible cost in US dollars, from a number or text; None for anything else."""
    if isinstance(cost, str):
        try:
            cost = float(cost)
        except ValueError:
            return None
    is_cost = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= _HIGHEST_COST
    return float(cost) if is_cost else None
