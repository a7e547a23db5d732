"""Label files: JSON Lines, one label a line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import UNSET

from workbench.formats.documents import documents
from workbench.formats.explain import explain_document, refusal
from workbench.formats.lines import DEFAULT_MAX_LINE
from workbench.formats.source import open_stream
from workbench.model.item import Refusal
from workbench.model.label import EXCLUSION_REASONS, LabelLine
from workbench.model.taxonomy import parse_type

_DECODER = msgspec.json.Decoder(LabelLine)
_SAYING = (UNSET, "label", "adjudication")
"""Kinds that give an answer."""


def read(path: Path) -> Iterator[tuple[int, LabelLine | Refusal]]:
    """Line numbers (from 1) with a label each, or why the line can't be taken.

    Raises:
        FormatError: The file can't be opened.
    """
    with open_stream(path) as (stream, _):
        for row in documents(stream, "jsonl", path, DEFAULT_MAX_LINE):
            yield row.line, row if isinstance(row, Refusal) else _line(row.line, row.raw)


def _line(number: int, raw: bytes) -> LabelLine | Refusal:
    try:
        line = _DECODER.decode(raw)
    except msgspec.ValidationError as error:
        field = _field(str(error))
        return Refusal(line=number, code="wrong_type", message=f"{error}", raw=raw, field=field)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return refusal(number, raw, explain_document(raw))
    return _checked(number, raw, line)


def _checked(number: int, raw: bytes, line: LabelLine) -> LabelLine | Refusal:
    def refused(field: str, message: str) -> Refusal:
        return Refusal(line=number, code="wrong_type", message=message, raw=raw, field=field)

    if line.kind in _SAYING and _said(line) is None:
        field = "answer_subtype" if line.task == "type" else "verdict"
        return refused(field, "a line needs a verdict (correct, incorrect, unsuitable) or an answer_subtype")
    if line.verdict == "unsuitable" and line.reason not in EXCLUSION_REASONS:
        return refused("reason", f"an unsuitable item needs a reason: {', '.join(EXCLUSION_REASONS)}")
    if line.verdict != "unsuitable" and line.reason is not None:
        return refused("reason", "only an unsuitable item has a reason")
    if line.revision < 1:
        return refused("revision", "revisions count from 1")
    if line.answer_subtype is not None:
        parsed = parse_type(line.answer_subtype)
        if parsed is None or not parsed.is_subtype:
            return refused("answer_subtype", f"{line.answer_subtype!r} is no subtype code such as A1 or D2")
        line.answer_subtype = parsed.code
    if line.created_at is not None:
        given = line.created_at
        line.created_at = _utc(given)
        if line.created_at is None:
            return refused("created_at", f"{given[:100]!r} is no time after ISO 8601, such as 2025-01-31T12:00:00Z")
    return line


def _said(line: LabelLine) -> str | None:
    """What a line says; one with a ``kind`` is of one task, any other may be of both."""
    if line.kind is UNSET and line.task is UNSET:
        return line.verdict or line.answer_subtype
    return line.answer_subtype if line.task == "type" else line.verdict


def _utc(text: str) -> str | None:
    """A time in UTC: those sort as text. One without an offset is taken as UTC."""
    try:
        time = datetime.fromisoformat(text)
        if time.utcoffset():
            time = time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if text.endswith("Z"):
        return text
    return time.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _field(message: str) -> str | None:
    """The field a msgspec message names, as in "Expected `str` - at `$.annotator`"."""
    _, found, rest = message.rpartition("`$.")
    if found:
        return rest.rstrip("`")
    _, found, rest = message.partition("missing required field `")
    return rest.split("`", 1)[0] if found else None
