"""OpenAI's Responses API, as in the library openai 2.54.0 (``resources/responses``, ``types/responses``)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

import msgspec
from msgspec import structs

from workbench.llm.dialects.openai import (
    effort_fields,
    entries,
    folded,
    mapping,
    optional_text,
    prefilled,
    sampling_fields,
    text_of_parts,
    tokens,
    usage,
    with_visible_reasoning,
)
from workbench.llm.failures import AttemptFailed
from workbench.llm.profiles import Profile, plain_model
from workbench.llm.records import REFUSAL, Chat, Reply
from workbench.llm.server import NO_EXTRAS, RequestExtras

PATH: Final = "responses"
_LENGTH: Final = "max_output_tokens"
_MIN_TOKENS: Final = 16
"""The minimum of the field for any model, in tokens."""


def build(profile: Profile, model: str, chat: Chat, notes: list[str], extras: RequestExtras = NO_EXTRAS) -> bytes:
    """Build the body of a call; add settings that can't be sent as requested to ``notes``."""
    plain = plain_model(model)
    messages = prefilled(profile, plain, folded(chat.messages) if extras.fold_system else chat.messages, notes)
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    body: dict[str, Any] = {"model": model, **({"instructions": system} if system else {})}
    body["input"] = [
        {"role": message.role, "content": message.content} for message in messages if message.role != "system"
    ]
    # Replies are stored here; OpenAI would keep them for a month.
    body["store"] = False
    body |= _sampling(profile, plain, chat, notes, extras) | effort_fields(profile, extras)
    return msgspec.json.encode(_with_extra_fields(body, extras.body))


def _sampling(profile: Profile, plain: str, chat: Chat, notes: list[str], extras: RequestExtras) -> dict[str, Any]:
    named = structs.replace(extras, max_tokens_field=extras.max_tokens_field or _LENGTH)
    fields = sampling_fields(profile, plain, chat, 0, notes, named)
    if fields.pop("logprobs", False):
        fields["include"] = ["message.output_text.logprobs"]
    if (most := fields.get(_LENGTH)) is not None and most < _MIN_TOKENS:
        fields[_LENGTH] = _MIN_TOKENS
        notes.append(f"max_tokens is sent as {_MIN_TOKENS}: {profile.title} takes no less.")
    return fields


def _with_extra_fields(body: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(given)
    if isinstance(form := given.pop("response_format", None), dict):
        inner = form.get("json_schema")
        fields = {**form, **(inner if isinstance(inner, dict) else {})}
        fields.pop("json_schema", None)
        given["text"] = {"format": fields} | (given.get("text") or {})
    for name, value in given.items():
        both = isinstance(value, dict) and isinstance(body.get(name), dict)
        body[name] = body[name] | value if both else value
    return body


# -- Replies.


_REASONS: Final = {"max_output_tokens": "length"}


def read(data: dict[str, Any]) -> Reply:
    """Parse the decoded JSON.

    Raises:
        AttemptFailed: The data is not a response, or is incomplete.
    """
    reason = _finish_reason(data)
    items = [mapping(item, "an item of the output") for item in entries(data.get("output"), "output")]
    messages = [_OutputMessage(item) for item in items if item.get("type") == "message"]
    said = [one for one in messages if not one.is_commentary]
    thoughts = [_reasoning_text(item) for item in items if item.get("type") == "reasoning"]
    reasoning = "\n\n".join(filter(None, (*thoughts, *(one.text for one in messages if one.is_commentary))))
    text, refusal = ("\n\n".join(filter(None, told)) for told in ([m.text for m in said], [m.refusal for m in said]))
    if reason == "stop" and not all(one.is_whole for one in said):
        reason = "length"
    if reason == "stop" and not said and any(str(item.get("type")).endswith("_call") for item in items):
        reason = "tool_calls"
    return Reply(
        text=text or refusal,
        reasoning=reasoning or None,
        finish_reason=REFUSAL if refusal else reason,
        tokens=tuple(chain.from_iterable(one.tokens for one in said)),
        model=optional_text(data, "model"),
        usage=with_visible_reasoning(usage(data.get("usage"), data.get("service_tier")), text, reasoning),
    )


def _finish_reason(data: dict[str, Any]) -> str:
    """Return the finish reason as a chat completion names it.

    Raises:
        AttemptFailed: The response didn't finish.
    """
    status = optional_text(data, "status") or "completed"
    if status in {"failed", "cancelled"}:
        raise AttemptFailed("server", f"the server's reply is {status}, without a word why", status=200)
    if status in {"queued", "in_progress"}:
        detail = f"the reply is {status}: what is made in the background is not waited for"
        raise AttemptFailed("bad_request", detail, status=200, everywhere=True)
    details = data.get("incomplete_details")
    reason = optional_text(details, "reason") if isinstance(details, dict) else None
    if reason is None:
        return "stop" if status == "completed" else status
    return _REASONS.get(reason, reason)


class _OutputMessage:
    """A message of the output.

    Attributes:
        is_commentary: Whether the text is intermediate, not part of the answer.
        is_whole: Whether nothing indicates that the message is incomplete.
    """

    def __init__(self, item: dict[str, Any]) -> None:
        content = item.get("content")
        parts = [{"type": "output_text", "text": content}] if isinstance(content, str) else content
        parts = [part for part in entries(parts, "the message's content") if isinstance(part, dict)]
        self.text = text_of_parts(parts, "output_text", "text")
        self.refusal = text_of_parts(parts, "refusal")
        self.tokens = tuple(chain.from_iterable(tokens({"content": part.get("logprobs")}) for part in parts))
        self.is_commentary = item.get("phase") == "commentary"
        self.is_whole = item.get("status") not in {"in_progress", "incomplete"}


def _reasoning_text(item: dict[str, Any]) -> str:
    for name, kind in (("content", "reasoning_text"), ("summary", "summary_text")):
        parts = item.get(name)
        texts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        if found := "\n\n".join(filter(None, (text_of_parts([part], kind, "text") for part in texts))):
            return found
    return ""
