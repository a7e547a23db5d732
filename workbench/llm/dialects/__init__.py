"""What goes to a server and what its bytes say, by dialect."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from workbench.llm.dialects import anthropic, openai, scoring
from workbench.llm.dialects.fields import decoded
from workbench.llm.journal import Response
from workbench.llm.profiles import PROFILES, Profile
from workbench.llm.records import Chat, PromptMessage, Reply, Request, Sampling

__all__ = ["Built", "build", "read", "reread", "sendable", "unsent"]

_SOME: dict[str, Any] = {"temperature": 0.5, "top_p": 0.5, "top_k": 5, "max_tokens": 5, "seed": 5}
"""A value of each setting."""


class Built(Struct, frozen=True, kw_only=True):
    """A request in a server's own form.

    Attributes:
        task: How the answer is to be read: ``"chat"`` or one of `records.Task`.
        path: Behind the base URL, or beside its ``/v1`` when ``beside_version``.
        query: What follows the path's ``?`` unless the base URL says it already.
        body: The bytes to send; equal requests have equal bytes.
        notes: What could not be sent as it was asked for, in words.
    """

    task: str
    path: str
    beside_version: bool = False
    query: str = ""
    body: bytes
    notes: tuple[str, ...] = ()


def build(profile: Profile, model: str, request: Request, sample: int = 0) -> Built:
    """A request for one server.

    Args:
        sample: Added to the request's seed, if it has one.

    Raises:
        ValueError: The server has no such call.
    """
    if not isinstance(request, Chat):
        body, path, beside = scoring.build(profile, model, request)
        return Built(task=request.task, path=path, beside_version=beside, body=body)
    notes: list[str] = []
    if profile.dialect == "anthropic-messages":
        body = anthropic.build(profile, model, request, notes)
        return Built(task="chat", path="messages", body=body, notes=tuple(notes))
    body = openai.build(profile, model, request, sample, notes)
    return Built(task="chat", path="chat/completions", body=body, notes=tuple(notes))


def unsent(profile: Profile, model: str, sampling: Sampling) -> tuple[str, ...]:
    """Names of the settings that make no difference to what a server is sent."""
    whole = _settings(profile, model, sampling)
    return tuple(
        name
        for name in Sampling.__struct_fields__
        if getattr(sampling, name) is not None
        and _settings(profile, model, structs.replace(sampling, **{name: None})) == whole
    )


def sendable(profile: Profile, model: str) -> tuple[str, ...]:
    """Names of the settings that a server can be sent, each by itself."""
    return tuple(name for name, value in _SOME.items() if not unsent(profile, model, Sampling(**{name: value})))


def _settings(profile: Profile, model: str, sampling: Sampling) -> bytes:
    return build(profile, model, Chat(messages=(PromptMessage("user", ""),), sampling=sampling)).body


def read(body: bytes, task: str, profile: str, count: int | None = None) -> Reply:
    """What a server's bytes say.

    Args:
        task: ``"chat"`` or one of `records.Task`.
        profile: The server's kind.
        count: How many texts were to be scored, when that is known.

    Raises:
        CallFailed: They are no such reply, or one that says that it is an error.
    """
    data = decoded(body)
    if task != "chat":
        return scoring.read(data, task, count)
    dialect = PROFILES[profile].dialect if profile in PROFILES else "openai-chat"
    return anthropic.read(data) if dialect == "anthropic-messages" else openai.read(data)


def reread(response: Response) -> Reply:
    """What a stored response says, with the usage that was stored; errors as with `read`."""
    return structs.replace(read(response.body, response.task, response.profile), usage=response.usage)
