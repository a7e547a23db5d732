"""Reading recorded judge outputs again, under any parser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from workbench.core.item import Refusal
from workbench.data.formats.documents import documents
from workbench.data.formats.lines import DEFAULT_MAX_LINE, RefusedError, explain_document, refusal
from workbench.data.formats.source import open_once
from workbench.llm.records import Reply, ending
from workbench.verifiers.judges.parsers import PARSERS, Parser, parser

# -- Recorded judge outputs: JSON Lines with the reply in ``raw``, beside whatever else.


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


__all__ = ["DEFAULT_MAX_LINE", "parse_replies", "parser_names"]
ParsedLine = dict[str, msgspec.Raw | str | float | None]
"""A line's own fields in their order, then ``verdict``, ``score`` and ``label``."""


def parser_names() -> list[str]:
    """The parsers there are, each with its version."""
    return [one.id for one in PARSERS]


def parse_replies(name: str, path: Path | None, *, max_line: int = DEFAULT_MAX_LINE) -> Iterator[ParsedLine | Refusal]:
    """The lines of a file with what the parser reads in them, one at a time, and refusals of those it can't take.

    Args:
        name: A parser, such as ``ice-score@1``; the newest of its family without a version.
        path: JSON lines with a text ``raw``, gzip or not; None for standard input.
        max_line: Longest line taken, in bytes.

    Raises:
        UsageError: There is no such parser.
        FormatError: The file can't be opened.
    """
    return _parsed(parser(name), path, max_line)


def _parsed(chosen: Parser, path: Path | None, max_line: int) -> Iterator[ParsedLine | Refusal]:
    for line in read(path, max_line):
        if isinstance(line, Refusal):
            yield line
            continue
        ended = ending(Reply(finish_reason=line.finish_reason))
        reading = chosen.parse(line.raw, None, ended)
        yield {**line.fields, "verdict": reading.verdict, "score": reading.score, "label": reading.label}
