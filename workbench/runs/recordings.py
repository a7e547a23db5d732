"""Recorded replies of model servers: JSON Lines, each a whole exchange or a text with what tells its request.

``{"request": {…}, "response": {…}}`` is an exchange as it went over the wire. ``{"match": "…", "raw": "…"}`` is what a
model said to the request in which the text (or each of a list of texts) occurs; beside it ``asked`` (the model that the
request must ask for, or a list of them), ``model``, ``finish_reason``, ``reasoning`` and ``usage`` may stand. Other
fields are let alone in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from workbench.core.item import Refusal
from workbench.data.formats.documents import documents
from workbench.data.formats.explain import RefusedError, explain_document, refusal
from workbench.data.formats.source import open_once

FORM = 'A line is {"request": {…}, "response": {…}} or {"match": "text", "raw": "reply"}.'
"""The two forms of a line, for messages."""


class Exchange(Struct, frozen=True):
    """A request's body and the response's, both JSON.

    Attributes:
        server: Whose reply it is; None where the line doesn't say.
    """

    request: msgspec.Raw
    response: msgspec.Raw
    server: str | None = None


class Tokens(Struct, frozen=True, kw_only=True):
    """What a call took, in OpenAI's words."""

    prompt_tokens: int
    completion_tokens: int


class Saying(Struct, frozen=True, kw_only=True):
    """What a model said.

    Attributes:
        match: Texts that all occur in the request.
        raw: The reply's text.
        asked: The models of which one must be asked for; None where any may.
        model: Who said it.
        finish_reason: In OpenAI's words.
        reasoning: What was thought, kept apart.
        usage: Tokens that it took.
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
        """The texts to look for."""
        return (self.match,) if isinstance(self.match, str) else self.match

    @property
    def models(self) -> tuple[str, ...] | None:
        """The models to look for; None for any."""
        return (self.asked,) if isinstance(self.asked, str) else self.asked


Recording = Exchange | Saying

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_EXCHANGE = msgspec.json.Decoder(Exchange)
_SAYING = msgspec.json.Decoder(Saying)


def read(path: Path, max_line: int) -> Iterator[Recording | Refusal]:
    """The recordings of a file, gzip or not, in its order, and refusals of the lines that are none.

    Raises:
        FormatError: The file can't be opened.
    """
    with open_once(path) as stream:
        for row in documents(stream, "jsonl", path, max_line):
            yield row if isinstance(row, Refusal) else _recording(row.line, row.raw)


def canonical(body: bytes | msgspec.Raw) -> bytes:
    """A JSON document spelled in one way: sorted keys, no blanks.

    Raises:
        ValueError: It is no JSON.
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
        return refusal(number, line, explain_document(line))
    try:
        if "request" in fields:
            exchange = _EXCHANGE.decode(line)
            canonical(exchange.request)
            return exchange
        saying = _SAYING.decode(line)
    except (ValueError, RecursionError) as error:
        return refusal(number, line, RefusedError("wrong_type", None, f"{error}. {FORM}"))
    if not saying.texts or not all(saying.texts):
        return refusal(number, line, RefusedError("wrong_type", "match", f"match holds no text. {FORM}"))
    return saying
