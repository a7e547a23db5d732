"""Files of records: JSON Lines, one record of a kind a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from workbench.core.item import Refusal
from workbench.data.formats.documents import documents
from workbench.data.formats.explain import explain_document, refusal
from workbench.data.formats.lines import DEFAULT_MAX_LINE
from workbench.data.formats.source import open_stream

T = TypeVar("T")


def read_records(path: Path, decoder: msgspec.json.Decoder[T]) -> Iterator[tuple[int, bytes, T | Refusal]]:
    """Line numbers (from 1) with the line and its record each, or why the line can't be taken.

    Raises:
        FormatError: The file can't be opened.
    """
    with open_stream(path) as (stream, _):
        for row in documents(stream, "jsonl", path, DEFAULT_MAX_LINE):
            if isinstance(row, Refusal):
                yield row.line, row.raw, row
            else:
                record = decoded(row.line, row.raw, decoder)
                yield row.line, row.raw, record


def read_checked(
    path: Path, decoder: msgspec.json.Decoder[T], fault: Callable[[T], tuple[str, str] | None]
) -> Iterator[tuple[int, T | Refusal]]:
    """Line numbers (from 1) with a record each, or why the line can't be taken.

    Args:
        fault: A field of a record and what is wrong with it, which its types don't tell; None for a good one.

    Raises:
        FormatError: The file can't be opened.
    """
    for number, raw, record in read_records(path, decoder):
        found = None if isinstance(record, Refusal) else fault(record)
        if found is None:
            yield number, record
        else:
            yield number, Refusal(line=number, code="wrong_type", message=found[1], raw=raw, field=found[0])


def decoded(number: int, raw: bytes, decoder: msgspec.json.Decoder[T]) -> T | Refusal:
    """The record that a line holds, or why the line can't be taken."""
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        return Refusal(line=number, code="wrong_type", message=f"{error}", raw=raw, field=_field(str(error)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return refusal(number, raw, explain_document(raw))


def _field(message: str) -> str | None:
    """The field a msgspec message names, as in "Expected `str` - at `$.annotator`"."""
    _, at, path = message.rpartition("`$.")
    _, lacks, rest = message.partition("missing required field `")
    parts = ([path.rstrip("`")] if at else []) + ([rest.split("`", 1)[0]] if lacks else [])
    return ".".join(parts) or None
