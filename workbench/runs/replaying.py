"""Match recorded replies to requests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from workbench.core.errors import FormatError
from workbench.core.item import Refusal
from workbench.data.formats.documents import documents
from workbench.data.formats.lines import RefusedError, explain_document, make_refusal
from workbench.data.formats.source import open_once
from workbench.llm.caller import NOT_RECORDED, ORIGIN_HEADER
from workbench.verifiers.judges.template import BROKEN_NOTICE

__all__ = ["NOT_RECORDED", "ORIGIN_HEADER", "RecordedReplies", "load_recorded_replies"]

# -- Recorded replies of model servers: JSON Lines, each a whole exchange, or a text with a pattern of its request.


FORM = 'A line is {"request": {…}, "response": {…}} or {"match": "text", "raw": "reply"}.'
"""The two forms of a line, for messages."""


class Exchange(Struct, frozen=True):
    """A request's body and the response's, both JSON.

    Attributes:
        server: The server that replied; None if the line lacks it.
    """

    request: msgspec.Raw
    response: msgspec.Raw
    server: str | None = None


class Tokens(Struct, frozen=True, kw_only=True):
    prompt_tokens: int
    completion_tokens: int


class TextReply(Struct, frozen=True, kw_only=True):
    """A recorded reply text, matched by content.

    Attributes:
        match: Texts that all occur in the request.
        raw: The reply's text.
        asked: The reply is used only for requests of one of these models; None for any model.
        model: The model that replied.
        finish_reason: The finish reason as OpenAI names it.
        reasoning: The reasoning, if the server returns it in a separate field.
        usage: Token counts.
    """

    match: str | tuple[str, ...]
    raw: str
    asked: str | tuple[str, ...] | None = None
    model: str | None = None
    finish_reason: str = "stop"
    reasoning: str | None = None
    usage: Tokens | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.match,) if isinstance(self.match, str) else self.match

    @property
    def models(self) -> tuple[str, ...] | None:
        return (self.asked,) if isinstance(self.asked, str) else self.asked


Recording = Exchange | TextReply
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_EXCHANGE = msgspec.json.Decoder(Exchange)
_SAYING = msgspec.json.Decoder(TextReply)


def read(path: Path) -> Iterator[Recording | Refusal]:
    """Yield the recordings of a file, gzip or not, in its order, and a `Refusal` for each invalid line.

    Raises:
        FormatError: The file can't be opened.
    """
    with open_once(path) as stream:
        for row in documents(stream, "jsonl", path):
            yield row if isinstance(row, Refusal) else _recording(row.line, row.raw)


def canonical(body: bytes | msgspec.Raw) -> bytes:
    """Return a JSON document in canonical form: sorted keys, no blanks.

    Raises:
        ValueError: The body is not JSON.
    """
    try:
        return msgspec.json.encode(msgspec.json.decode(body), order="sorted")
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _recording(number: int, line: bytes) -> Recording | Refusal:
    try:
        line.decode()
        fields = _FIELDS.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return make_refusal(number, line, explain_document(line))
    try:
        if "request" in fields:
            exchange = _EXCHANGE.decode(line)
            canonical(exchange.request)
            return exchange
        saying = _SAYING.decode(line)
    except (ValueError, RecursionError) as error:
        return make_refusal(number, line, RefusedError("wrong_type", None, f"{error}. {FORM}"))
    if not saying.texts or not all(saying.texts):
        return make_refusal(number, line, RefusedError("wrong_type", "match", f"match holds no text. {FORM}"))
    return saying


_KEY = 16
"""Characters at the end of a text by which it is indexed."""
_FENCE = re.compile(rb"data-[bcdfghjklmnpqrst]{16}")
"""The delimiter that `verifiers.judges.fence` creates."""
_BREAK = re.compile("[\u200b\u2009]")
"""The character in a broken control token; a zero-width space until version 4 of `llm-judge`."""
_TOLD = msgspec.json.encode(BROKEN_NOTICE).strip(b'"')
_MESSAGES = "/messages"
"""The end of the path of Anthropic's API; other servers' chat path ends with ``/chat/completions``."""
_STOP_REASONS = {"stop": "end_turn", "length": "max_tokens"}


class _MatchRule(NamedTuple):
    texts: tuple[str, ...]
    models: tuple[str, ...] | None


class RecordedReplies:
    """Recorded replies.

    An exchange answers the same request, from any database; a text reply answers any request that contains its texts
    and names one of its models. The first match in the file's order is used, exchanges first. Several replies to one
    request are used in turn.

    Attributes:
        size: Number of replies.
        mixed: Number of requests with replies of several servers, which are used in turn.
        models: The models that requests name or replies state, in the file's order.
    """

    def __init__(self, replies: Iterable[Recording]) -> None:
        exchanges: dict[bytes, list[tuple[bytes, bytes]]] = {}
        sayings: dict[_MatchRule, list[TextReply]] = {}
        servers: dict[bytes, set[str]] = {}
        self.size = 0
        for reply in replies:
            self.size += 1
            if isinstance(reply, Exchange):
                request, fence = _without_delimiter(canonical(reply.request))
                exchanges.setdefault(request, []).append((fence, bytes(reply.response)))
                if reply.server is not None:
                    servers.setdefault(request, set()).add(reply.server)
            else:
                sayings.setdefault(_MatchRule(reply.texts, reply.models), []).append(reply)
        self.mixed = sum(len(found) > 1 for found in servers.values())
        self._exchanges = {request: cycle(responses) for request, responses in exchanges.items()}
        self._sayings = [(fits, cycle(found)) for fits, found in sayings.items()]
        self.models = tuple(
            dict.fromkeys(
                model
                for fits, said in sayings.items()
                for model in fits.models or (one.model for one in said if one.model)
            )
        )
        self._places: dict[str, list[int]] = {}
        for place, fits in enumerate(sayings):
            self._places.setdefault(max(fits.texts, key=len)[-_KEY:], []).append(place)
        self._lengths = {len(key) for key in self._places}

    def answer(self, path: str, body: bytes) -> bytes | None:
        """Return the response's body to a request, or None if no recorded reply matches.

        Args:
            path: The request's path, which determines the format of the reply.
            body: The request's body.

        Raises:
            ValueError: The body is not JSON.
        """
        same, fence = _without_delimiter(canonical(body))
        if same in self._exchanges:
            recorded_fence, response = next(self._exchanges[same])
            return response.replace(recorded_fence, fence) if recorded_fence and fence else response
        request = msgspec.json.decode(body)
        sent = "\n".join(_texts(request))
        # Recordings may predate the breaking of control tokens, or contain unbroken ones.
        bare = _BREAK.sub("", sent)
        text = sent if bare == sent else f"{sent}\n{bare}"
        asked = request.get("model") if isinstance(request, dict) else None
        for place in sorted(self._candidates(text)):
            fits, found = self._sayings[place]
            if (fits.models is None or asked in fits.models) and all(part in text for part in fits.texts):
                return msgspec.json.encode(_response_body(path, next(found), asked))
        return None

    def _candidates(self, text: str) -> set[int]:
        return {
            place
            for length in self._lengths
            for start in range(len(text) - length + 1)
            for place in self._places.get(text[start : start + length], ())
        }


def load_recorded_replies(path: Path) -> tuple[RecordedReplies, list[Refusal]]:
    """Load the recorded replies of a file, and its invalid lines.

    Raises:
        FormatError: The file can't be opened, or no line of it is a recorded reply.
    """
    refused: list[Refusal] = []

    def good() -> Iterator[Recording]:
        for row in read(path):
            if isinstance(row, Refusal):
                refused.append(row)
            else:
                yield row

    book = RecordedReplies(good())
    if not book.size:
        first = f" Line {refused[0].line}: {refused[0].message}" if refused else ""
        raise FormatError(f"{path} holds no recorded reply.{first}", "" if FORM in first else FORM)
    return book, refused


def _without_delimiter(request: bytes) -> tuple[bytes, bytes]:
    """Return the request without its delimiter and without breaks of control tokens; and the delimiter.

    The result is the same for every database and version: the delimiter differs between databases, and depends on the
    request's texts.
    """
    found = _FENCE.search(request)
    same = _FENCE.sub(b"data-", request).replace(_TOLD, b"")
    return _BREAK.sub("", same.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass"), (
        found[0] if found else b""
    )


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as fields:
                waiting.extend(reversed(fields.values()))
            case list() as parts:
                waiting.extend(reversed(parts))


def _response_body(path: str, saying: TextReply, asked: object) -> dict[str, Any]:
    model = saying.model or asked
    used = saying.usage
    if path.endswith(_MESSAGES):
        counted = (
            {"usage": {"input_tokens": used.prompt_tokens, "output_tokens": used.completion_tokens}} if used else {}
        )
        thought = [{"type": "thinking", "thinking": saying.reasoning}] if saying.reasoning is not None else []
        return {
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [*thought, {"type": "text", "text": saying.raw}],
            "stop_reason": _STOP_REASONS.get(saying.finish_reason, saying.finish_reason),
            **counted,
        }
    message = {"role": "assistant", "content": saying.raw}
    if saying.reasoning is not None:
        message["reasoning_content"] = saying.reasoning
    choice = {"index": 0, "message": message, "finish_reason": saying.finish_reason}
    tokens = {"usage": msgspec.to_builtins(used)} if used else {}
    return {"object": "chat.completion", "model": model, "choices": [choice], **tokens}
