"""Recorded judge outputs: JSON Lines with the reply in ``raw``, beside whatever else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from workbench.core.item import Refusal
from workbench.data.formats.documents import documents
from workbench.data.formats.explain import RefusedError, explain_document, refusal
from workbench.data.formats.source import open_once

FIELD = "raw"
ENDING = "finish_reason"
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)


class RecordedReply(Struct, frozen=True):
    """One line: all its fields as they stand there, in order, and the reply among them.

    Attributes:
        finish_reason: How the reply ended, in its server's words; None where the line doesn't say.
    """

    fields: dict[str, msgspec.Raw]
    raw: str
    finish_reason: str | None = None


def read(path: Path | None, max_line: int) -> Iterator[RecordedReply | Refusal]:
    """The replies of a file or, for None, of standard input, and refusals of what is none; each line is read once.

    Raises:
        FormatError: The file can't be opened.
    """
    with open_once(path) as stream:
        for row in documents(stream, "jsonl", path or Path("-"), max_line):
            yield row if isinstance(row, Refusal) else _reply(row.line, row.raw)


def _reply(number: int, line: bytes) -> RecordedReply | Refusal:
    try:
        line.decode()
        fields = _OBJECT.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return refusal(number, line, explain_document(line))
    token = fields.get(FIELD)
    if token is None:
        missing = RefusedError("missing_field", FIELD, f"{FIELD} is missing. Put the judge's reply there, as text.")
        return refusal(number, line, missing)
    try:
        return RecordedReply(fields, _TEXT.decode(token), _ending(fields.get(ENDING)))
    except msgspec.ValidationError:
        wrong = RefusedError("wrong_type", FIELD, f"{FIELD} is no text. Write the judge's reply in quotes.")
        return refusal(number, line, wrong)


def _ending(token: msgspec.Raw | None) -> str | None:
    try:
        return None if token is None else _TEXT.decode(token)
    except msgspec.ValidationError:
        return None
