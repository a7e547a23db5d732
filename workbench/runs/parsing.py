"""Reading recorded judge outputs again, under any parser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from workbench.core.item import Refusal
from workbench.data.formats.lines import DEFAULT_MAX_LINE
from workbench.llm.endings import ending
from workbench.llm.records import Reply
from workbench.runs import replies
from workbench.verifiers.judges.parsers import PARSERS, Parser, parser

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
    for line in replies.read(path, max_line):
        if isinstance(line, Refusal):
            yield line
            continue
        ended = ending(Reply(finish_reason=line.finish_reason))
        reading = chosen.parse(line.raw, None, ended)
        yield {**line.fields, "verdict": reading.verdict, "score": reading.score, "label": reading.label}
