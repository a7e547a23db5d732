"""Build requests and parse replies in each server's dialect; Anthropic's messages and scoring calls are in this module.

openai, responses: the two APIs of OpenAI.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from workbench.llm.dialects import openai, responses
from workbench.llm.dialects.openai import (
    decoded,
    drop_fields,
    effort_fields,
    entries,
    folded,
    mapping,
    number,
    optional_count,
    optional_text,
    prefilled,
    usage,
)
from workbench.llm.failures import classify_error_object, instead_of_reply, malformed
from workbench.llm.profiles import PROFILES, Dialect, Profile, plain_model
from workbench.llm.records import REFUSAL, Chat, PromptMessage, Reply, Request, Response, Sampling, Scoring, Usage
from workbench.llm.server import NO_EXTRAS, RequestExtras

__all__ = ["CHAT_PATHS", "Built", "build", "read", "reread", "sendable", "unsent"]


_SOME: dict[str, Any] = {"temperature": 0.5, "top_p": 0.5, "top_k": 5, "max_tokens": 5, "seed": 5, "top_logprobs": 5}
"""An example value of each setting."""


class Built(Struct, frozen=True, kw_only=True):
    """A request in a server's format.

    Attributes:
        task: How the reply is to be parsed: ``"chat"`` or one of `records.Task`.
        path: The path after the base URL, or next to its ``/v1`` if ``beside_version``.
        query: The query of the path, used unless the base URL has a query.
        body: The bytes to send; equal requests have equal bytes.
        notes: Descriptions of the settings that could not be sent as requested.
    """

    task: str
    path: str
    beside_version: bool = False
    query: str = ""
    body: bytes
    notes: tuple[str, ...] = ()


def build(profile: Profile, model: str, request: Request, sample: int = 0, extras: RequestExtras = NO_EXTRAS) -> Built:
    """Build a request for one server.

    Args:
        profile: The profile that `profiles.profile_for_model` returns for the model.
        sample: Added to the request's seed, if it has one.
        extras: Additional fields and headers.

    Raises:
        ValueError: The server has no such call.
    """
    if not isinstance(request, Chat):
        body, path, beside = build_scoring(profile, model, request)
        body = msgspec.json.encode(msgspec.json.decode(body) | extras.body) if extras.body else body
        return Built(task=request.task, path=path, beside_version=beside, body=body)
    notes: list[str] = []
    match profile.dialect:
        case "anthropic-messages":
            body = build_anthropic(profile, model, request, notes, extras)
        case "openai-responses":
            body = responses.build(profile, model, request, notes, extras)
        case "openai-chat":
            body = openai.build(profile, model, request, sample, notes, extras)
    return Built(task="chat", path=CHAT_PATHS[profile.dialect], body=body, notes=tuple(notes))


CHAT_PATHS: Final[Mapping[Dialect, str]] = {
    "anthropic-messages": "messages",
    "openai-responses": responses.PATH,
    "openai-chat": "chat/completions",
}
"""The path of a request for text."""


def unsent(profile: Profile, model: str, sampling: Sampling) -> tuple[str, ...]:
    """Return the names of the settings that don't affect the request to a server."""
    whole = _body_with_settings(profile, model, sampling)
    return tuple(
        name
        for name in _SOME
        if getattr(sampling, name) is not None
        and _body_with_settings(profile, model, structs.replace(sampling, **{name: None})) == whole
    )


def sendable(profile: Profile, model: str) -> tuple[str, ...]:
    """Return the names of the settings that a server accepts, each tested separately."""
    return tuple(name for name, value in _SOME.items() if not unsent(profile, model, Sampling(**{name: value})))


def _body_with_settings(profile: Profile, model: str, sampling: Sampling) -> bytes:
    return build(profile, model, Chat(messages=(PromptMessage("user", ""),), sampling=sampling)).body


def read(body: bytes, task: str, profile: str, count: int | None = None) -> Reply:
    """Parse a reply's bytes.

    Args:
        task: ``"chat"`` or one of `records.Task`.
        profile: The server's kind.
        count: Number of texts that were to be scored, if known.

    Raises:
        CallFailed: The bytes are not such a reply, or report an error.
    """
    data = decoded(body)
    if (error := instead_of_reply(data)) is not None:
        raise classify_error_object(error)
    if task == "completions":
        return openai.read_completion(data)
    if task != "chat":
        return read_scoring(data, task, count)
    dialect = PROFILES[profile].dialect if profile in PROFILES else "openai-chat"
    if dialect == "anthropic-messages":
        return read_anthropic(data)
    # Whatever was requested, a reply of the Responses API is read as such.
    is_response = isinstance(data, dict) and "choices" not in data
    if is_response and (data.get("object") == "response" or isinstance(data.get("output"), list)):
        return responses.read(data)
    return openai.read(data)


def reread(response: Response) -> Reply:
    """Parse a stored response, with the stored usage; raises as `read` does."""
    return structs.replace(read(response.body, response.task, response.profile), usage=response.usage)


# -- Anthropic's messages.


MAX_TOKENS = 4096
"""The default maximum reply length in tokens: the field is mandatory."""
MIN_CACHED_CHARACTERS = 4 * 1024
"""Minimum characters of a cached prefix: no model caches fewer than 1,024 tokens (some 4,096)."""
_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": REFUSAL,
    "tool_use": "tool_calls",
}


def build_anthropic(
    profile: Profile, model: str, chat: Chat, notes: list[str], extras: RequestExtras = NO_EXTRAS
) -> bytes:
    """Build the body of a call; add settings that can't be sent as requested to ``notes``."""
    plain = plain_model(model)
    messages = prefilled(profile, plain, folded(chat.messages) if extras.fold_system else chat.messages, notes)
    if messages[-1].role == "assistant":
        # Trailing blanks in a prefill are rejected.
        messages = (*messages[:-1], PromptMessage("assistant", messages[-1].content.rstrip()))
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    body: dict[str, Any] = {"model": model}
    if system:
        body["system"] = system
    body["messages"] = _anthropic_messages(messages, chat.shared)
    body["max_tokens"] = chat.sampling.max_tokens or MAX_TOKENS
    return msgspec.json.encode(
        body | _anthropic_sampling(profile, plain, chat, notes) | effort_fields(profile, extras) | extras.body
    )


def _anthropic_messages(messages: Sequence[PromptMessage], shared: int) -> list[dict[str, Any]]:
    turns = []
    rest = shared if shared >= MIN_CACHED_CHARACTERS else 0
    for one in messages:
        content: Any = one.content
        if one.role != "system" and 0 < rest < len(content):
            kept = {"type": "text", "text": content[:rest], "cache_control": {"type": "ephemeral"}}
            content = [kept, {"type": "text", "text": content[rest:]}]
        if one.role != "system":
            turns.append({"role": one.role, "content": content})
        rest -= len(one.content)
    return turns


def _anthropic_sampling(profile: Profile, plain: str, chat: Chat, notes: list[str]) -> dict[str, Any]:
    asked = chat.sampling
    fields: dict[str, Any] = {"temperature": asked.temperature, "top_p": asked.top_p, "top_k": asked.top_k}
    if profile.fixed_sampling is not None and profile.fixed_sampling.match(plain):
        drop_fields(fields, notes, f"{plain} of {profile.title}")
    elif asked.temperature is not None and asked.top_p is not None:
        del fields["top_p"]
        notes.append(f"top_p is not sent to {profile.title}: newer models take it or temperature, not both.")
    if asked.seed is not None:
        notes.append(f"seed is not sent to {profile.title}: it is not a field of its messages.")
    return {name: value for name, value in fields.items() if value is not None}


def read_anthropic(data: Any) -> Reply:
    """Parse the decoded JSON.

    Raises:
        AttemptFailed: The data is not a message.
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
        usage=_anthropic_usage(data.get("usage")),
    )


def _anthropic_usage(data: Any) -> Usage:
    prompt = optional_count(data, "input_tokens")
    cached = optional_count(data, "cache_read_input_tokens")
    written = optional_count(data, "cache_creation_input_tokens")
    if prompt is not None:
        prompt += (cached or 0) + (written or 0)
    details = data if isinstance(data, dict) else {}
    return Usage(
        prompt_tokens=prompt,
        cached_tokens=cached,
        completion_tokens=optional_count(data, "output_tokens"),
        reasoning_tokens=optional_count(details.get("output_tokens_details"), "thinking_tokens"),
        written_tokens=written,
        tier=optional_text(details, "service_tier"),
    )


# -- Numbers instead of text: vLLM's score, classify, pooling and rerank, SGLang's classify and rerank, continuations
# of a text, and embeddings.


Vector = tuple[float, ...]


def build_scoring(profile: Profile, model: str, request: Scoring) -> tuple[bytes, str, bool]:
    """Return the body of a call, its path, and whether the path is next to the base URL's ``/v1``.

    Raises:
        ValueError: The server has no such call or option, or the query is missing.
    """
    if request.task == "embeddings":
        return _build_embeddings(profile, model, request)
    if request.task not in profile.scores:
        known = ", ".join(sorted(profile.scores)) or "none"
        raise ValueError(f"{profile.title} has no {request.task!r} call (of these it has: {known})")
    if request.task == "completions":
        return _build_completion(model, request)
    if request.query is None and request.task in {"score", "rerank"}:
        raise ValueError(f"{request.task!r} needs a query")
    if request.query is not None and request.task not in {"score", "rerank"}:
        _require_turns(profile, request)
    if request.activate is not None and profile.name == "sglang":
        raise ValueError(f"{profile.title} chooses the activation itself; leave activation out")
    texts = list(request.texts)
    match request.task:
        case "score":
            body: dict[str, Any] = {"model": model, "text_1": request.query, "text_2": texts}
        case "rerank":
            body = {"model": model, "query": request.query, "documents": texts}
        case _ if request.query is not None:
            # The server formats the turns with the model's own chat template.
            turns = (("user", request.query), ("assistant", *texts))
            body = {"model": model, "messages": [{"role": role, "content": text} for role, text in turns]}
        case _:
            # SGLang's call expects the field ``text``.
            body = {"model": model, "text" if profile.name == "sglang" else "input": texts}
    if request.activate is not None:
        body["use_activation"] = request.activate
    return msgspec.json.encode(body), request.task, request.task != "rerank"


def _require_turns(profile: Profile, request: Scoring) -> None:
    if profile.name == "sglang":
        raise ValueError(f"{profile.title} needs one whole text for {request.task!r}, not the turns of a chat")
    if len(request.texts) != 1:
        raise ValueError("a chat that is scored must have exactly one answer")


def _build_completion(model: str, request: Scoring) -> tuple[bytes, str, bool]:
    (prompt,) = request.texts
    body = {"model": model, "prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": request.likeliest}
    return msgspec.json.encode(body), request.task, False


def _build_embeddings(profile: Profile, model: str, request: Scoring) -> tuple[bytes, str, bool]:
    if profile.dialect == "anthropic-messages":
        raise ValueError(f"{profile.title} has no 'embeddings' call")
    body = {"model": model, "input": list(request.texts)}
    return msgspec.json.encode(body), request.task, False


def read_scoring(data: Any, task: str, count: int | None) -> Reply:
    """Parse one number for each text, in their order; the score of a vector is its last value.

    Raises:
        AttemptFailed: Scores are missing, too many or not numbers.
    """
    rows = [mapping(row, "a result") for row in _result_rows(data)]
    vectors = [_vector(row, task) for row in rows]
    places = [_result_index(row, position) for position, row in enumerate(rows)]
    if sorted(places) != list(range(len(rows))) or not rows or (count is not None and len(rows) != count):
        raise malformed(f"{len(rows)} results of indexes {str(places)[:80]} for {count or 'some'} texts")
    ordered = tuple(vector for _, vector in sorted(zip(places, vectors, strict=True)))
    whole = data if isinstance(data, dict) else {}
    return Reply(
        scores=tuple(vector[-1] for vector in ordered),
        vectors=ordered if any(len(vector) > 1 for vector in ordered) else (),
        activation=_activation(task, rows, ordered),
        model=optional_text(whole, "model"),
        usage=_scoring_usage(whole, rows),
    )


def _result_rows(data: Any) -> list[Any]:
    if isinstance(data, dict):
        data = data.get("results" if "results" in data else "data")
    return entries(data, "the list of results")


def _result_index(row: dict[str, Any], position: int) -> int:
    if "index" not in row:
        return position
    index = row["index"]
    if isinstance(index, bool) or not isinstance(index, int):
        raise malformed("an index is not a number")
    return index


def _vector(row: dict[str, Any], task: str) -> Vector:
    names = {"score": ("score",), "rerank": ("relevance_score", "score"), "classify": ("probs", "embedding")}
    for name in names.get(task, ("data", "embedding")):
        if name in row:
            return _number_list(row[name], f"{name} of a result")
    raise malformed(f"a result without {' or '.join(names.get(task, ('data',)))}")


def _number_list(value: Any, what: str) -> Vector:
    if not isinstance(value, list):
        return (number(value, what),)
    if not value:
        raise malformed(f"{what} is empty")
    if isinstance(value[0], list):
        inner: Sequence[Any] = [entries(one, what) for one in value]
        value = [one[0] for one in inner] if all(len(one) == 1 for one in inner) else inner[-1]
        if not value:
            raise malformed(f"{what} is empty")
    return tuple(number(one, what) for one in value)


def _activation(task: str, rows: list[dict[str, Any]], vectors: tuple[Vector, ...]) -> str | None:
    if task == "classify" and all("probs" in row for row in rows):
        return "softmax" if len(vectors[0]) > 1 else "sigmoid"
    return None


def _scoring_usage(whole: dict[str, Any], rows: list[dict[str, Any]]) -> Usage:
    tokens = usage(whole.get("usage"))
    if tokens.prompt_tokens is not None:
        return tokens
    total = optional_count(whole.get("usage"), "total_tokens")
    counts = [optional_count(row.get("meta_info"), "prompt_tokens") for row in rows]
    if total is None and all(one is not None for one in counts):
        total = sum(one for one in counts if one is not None)
    return Usage(prompt_tokens=total, completion_tokens=0 if total is not None else None)
