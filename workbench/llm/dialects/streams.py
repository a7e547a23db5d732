"""Replies streamed as server-sent events, folded into the body that the same server sends without streaming."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import msgspec

from workbench.llm.dialects.openai import without_keep_alives
from workbench.llm.failures import AttemptFailed, instead_of_reply, malformed, says_anything
from workbench.llm.server_json import decoded_json

_NOTHING = {"", "done", "null"}
_FIELD = re.compile(rb"(?:data|event|id|retry|error):")
_DONE = re.compile(rb"data:[ \t]*\[DONE\]\s*\Z")
_WORDS = ("content", "reasoning_content", "reasoning", "thinking", "refusal")


def unstreamed(body: bytes, content_type: str = "") -> bytes:
    """Return a stream as the body of one reply, in OpenAI's or Anthropic's format; return any other body unchanged.

    The content decides, not its declared type: gateways send plain bodies as streams, and streams as anything.

    Raises:
        AttemptFailed: The stream can't be parsed, or ended before its reply did.
    """
    rest = without_keep_alives(body)
    if not _FIELD.match(rest):
        if not rest and content_type.partition(";")[0].strip().lower() == "text/event-stream":
            raise _truncation_error()
        return body
    response, message, completion = (
        _ResponseEvents(),
        _MessageEvents(),
        _CompletionEvents(is_done=_DONE.search(rest) is not None),
    )
    for event in _events(rest):
        if error := _reported_error(event):
            return msgspec.json.encode({"error": error})
        kind = event.get("type")
        if isinstance(kind, str):
            (response if kind.startswith("response.") else message).add(event)
        else:
            completion.add(event)
    reply = response if response.began else message if message.began else completion
    return msgspec.json.encode(reply.whole())


def _truncation_error() -> AttemptFailed:
    return AttemptFailed("transport", "the stream ended before its reply did")


def _events(body: bytes) -> Iterator[dict[str, Any]]:
    for part in re.split(r"\n\n+", body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")):
        fields = [line.partition(":") for line in part.split("\n")]
        data = [value.removeprefix(" ") for name, _, value in fields if name in {"data", "error"}]
        if any(name == "error" or (name, value.strip()) == ("event", "error") for name, _, value in fields):
            words = "\n".join(data)
            yield {"error": _parse_json(words) or words or "an error without a word"}
            continue
        for event in _decode_events(data):
            if not isinstance(event, dict):
                raise malformed("an event of the stream is not an object")
            yield event


def _decode_events(lines: list[str]) -> list[Any]:
    for texts in (["\n".join(lines)], lines):
        told = [text for text in texts if text.strip().strip("[]").lower() not in _NOTHING]
        events = [_parse_json(text) for text in told]
        if None not in events:
            return events
    raise _truncation_error()


def _parse_json(text: str) -> Any:
    try:
        return decoded_json(text)
    except (ValueError, RecursionError):
        return None


def _reported_error(event: dict[str, Any]) -> Any:
    inner = event.get("error") or _groq_field(event, "error")
    if isinstance(inner, dict) and says_anything(inner.get("error")):
        return inner["error"]
    if says_anything(inner):
        return inner
    return event if "error" in (event.get("object"), event.get("type")) else None


def _groq_field(event: dict[str, Any], name: str) -> Any:
    own = event.get("x_groq")
    return own.get(name) if isinstance(own, dict) else None


class _StreamedTexts:
    def __init__(self) -> None:
        self._pieces: dict[str, list[Any]] = {}

    def add(self, data: Any, names: tuple[str, ...]) -> None:
        for name in names if isinstance(data, dict) else ():
            if isinstance(data.get(name), str | list) and data[name]:
                self._pieces.setdefault(name, []).append(data[name])

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def whole(self) -> dict[str, Any]:
        return {name: _join_pieces(pieces) for name, pieces in self._pieces.items()}


def _join_pieces(pieces: list[Any]) -> Any:
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    return [
        part for piece in pieces for part in ([{"type": "text", "text": piece}] if isinstance(piece, str) else piece)
    ]


class _CompletionEvents:
    """Combines OpenAI's chunks into one completion; of several choices it keeps the one with the lowest index.

    Args:
        is_done: Whether the server reported the end; some proxies of Gemini report it without a finish reason.
    """

    def __init__(self, *, is_done: bool) -> None:
        self._is_done = is_done
        self._beside: dict[str, Any] = {}
        self._choice: dict[str, Any] = {}
        self._said = _StreamedTexts()
        self._tokens: list[Any] = []

    def add(self, event: dict[str, Any]) -> None:
        told = event | {"usage": event.get("usage") or _groq_field(event, "usage")}
        self._beside |= {name: value for name, value in told.items() if name != "choices" and value not in (None, "")}
        for choice in _objects(event.get("choices")):
            place = choice["index"] if isinstance(choice.get("index"), int) else 0
            if place < self._choice.get("index", place):
                self._choice, self._said, self._tokens = {}, _StreamedTexts(), []
            if place == self._choice.setdefault("index", place):
                self._add_choice(choice)

    def _add_choice(self, choice: dict[str, Any]) -> None:
        kept = ("error", "finish_reason", "native_finish_reason")
        told = {name: choice[name] for name in kept if says_anything(choice.get(name))}
        # A final "stop" doesn't override an earlier finish reason.
        if told.get("finish_reason") == "stop" and "finish_reason" in self._choice:
            del told["finish_reason"]
        self._choice |= told
        whole = _StreamedTexts()
        whole.add(choice.get("message"), _WORDS)
        if choice.get("delta") or not whole:
            self._said.add(choice.get("delta"), _WORDS)
        else:
            # Some servers send a whole reply as the only event, or again as the last one (MiniMax).
            self._said = whole
        logprobs = choice.get("logprobs")
        self._tokens += _objects(logprobs.get("content")) if isinstance(logprobs, dict) else []

    def whole(self) -> dict[str, Any]:
        """Return the completion, or the error that was sent instead.

        Raises:
            AttemptFailed: The completion is incomplete.
        """
        if not self._choice and instead_of_reply(self._beside) is not None:
            return self._beside
        if self._is_done and self._said:
            self._choice.setdefault("finish_reason", _UNSAID)
        if not {"error", "finish_reason"} & self._choice.keys():
            raise _truncation_error()
        message = {"role": "assistant", "content": None, **self._said.whole()}
        choice = self._choice | {"message": message, "logprobs": {"content": self._tokens} if self._tokens else None}
        return self._beside | {"object": "chat.completion", "choices": [choice]}


_UNSAID = "unsaid"
"""A finish reason that is unknown here: the reply may have been truncated on its way."""


class _MessageEvents:
    """Combines Anthropic's events into one message.

    Attributes:
        began: Whether an event was received.
    """

    def __init__(self) -> None:
        self.began = False
        self._whole: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, tuple[dict[str, Any], _StreamedTexts]] = {}

    def add(self, event: dict[str, Any]) -> None:
        match event:
            case {"type": "message_start", "message": dict(message)}:
                self.began = True
                self._whole |= message
                self._update_usage(message)
            case {"type": "content_block_start", "index": int(place), "content_block": dict(block)}:
                self._blocks[place] = (block, _StreamedTexts())
                self._blocks[place][1].add(block, ("text", "thinking"))
            case {"type": "content_block_delta", "index": int(place), "delta": delta} if place in self._blocks:
                self._blocks[place][1].add(delta, ("text", "thinking"))
            case {"type": "message_delta", "delta": dict(delta)}:
                self._whole |= delta
                self._update_usage(event)

    def _update_usage(self, data: dict[str, Any]) -> None:
        if isinstance(data.get("usage"), dict):
            self._usage |= {name: count for name, count in data["usage"].items() if count is not None}

    def whole(self) -> dict[str, Any]:
        """Return the message.

        Raises:
            AttemptFailed: The message is incomplete.
        """
        if self._whole.get("stop_reason") is None:
            raise _truncation_error()
        blocks = [block | pieces.whole() for _, (block, pieces) in sorted(self._blocks.items(), key=itemgetter(0))]
        return self._whole | {"usage": self._usage, "content": blocks}


class _ResponseEvents:
    """Combines events of OpenAI's Responses API; the last event contains the whole response.

    Attributes:
        began: Whether an event was received.
    """

    def __init__(self) -> None:
        self.began = False
        self._whole: dict[str, Any] | None = None
        self._items: dict[int, dict[str, Any]] = {}

    def add(self, event: dict[str, Any]) -> None:
        self.began = True
        match event:
            case {"type": "response.output_item.done", "output_index": int(place), "item": dict(item)}:
                self._items[place] = item
            case {"type": kind, "response": dict(response)} if kind in _LAST:
                self._whole = response

    def whole(self) -> dict[str, Any]:
        """Return the response, completed from earlier events: some servers omit their content from the last event.

        Raises:
            AttemptFailed: The response is incomplete.
        """
        if self._whole is None:
            raise _truncation_error()
        items = [item for _, item in sorted(self._items.items(), key=itemgetter(0))]
        return self._whole | {"output": self._whole.get("output") or items}


_LAST = {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}


def _objects(data: Any) -> list[dict[str, Any]]:
    return [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []
