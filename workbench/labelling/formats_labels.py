"""Label files: JSON Lines, one label a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import UNSET

from workbench.core.item import Refusal
from workbench.core.label import EXCLUSION_REASONS, TAGS, LabelLine
from workbench.core.taxonomy import parse_type
from workbench.data.formats import peers
from workbench.data.formats.records import read_records
from workbench.labelling import peer_labels

_DECODER = msgspec.json.Decoder(LabelLine)
_SAYING = (UNSET, "label", "adjudication", "repeat", "check", "exclusion")
"""Kinds that give an answer."""

_SORTS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z")
"""Times that are kept as they are spelled."""


def read(path: Path) -> Iterator[tuple[int, LabelLine | Refusal]]:
    """Line numbers (from 1) with a label each, or why the line can't be taken.

    Of another tool's file, the number is the element's, which may hold several people's labels.

    Raises:
        FormatError: The file can't be opened.
    """
    tool = peers.tool_of(path)
    lines = read_records(path, _DECODER)
    for number, raw, line in lines if tool is None else peer_labels.read(path, tool):
        yield number, line if isinstance(line, Refusal) else _checked(number, raw, line)


def _checked(number: int, raw: bytes, line: LabelLine) -> LabelLine | Refusal:
    for field, message in (*_answer_faults(line), *_other_faults(line)):
        return Refusal(line=number, code="wrong_type", message=message, raw=raw, field=field)
    if line.answer_subtype is not None:
        line.answer_subtype = _subtype(line.answer_subtype)
    if line.created_at is not None:
        line.created_at = _utc(line.created_at)
    return line


def _answer_faults(line: LabelLine) -> Iterator[tuple[str, str]]:
    """Fields, and what is wrong with the answer in them."""
    if not line.completion_id:
        yield from _question_faults(line)
    if line.kind in _SAYING and _said(line) is None:
        field = "answer_subtype" if line.task == "type" else "verdict"
        yield field, "a line needs a verdict (correct, incorrect, unsuitable) or an answer_subtype"
    if line.kind == "exclusion" and line.verdict != "unsuitable":
        yield "verdict", "an exclusion says that an item is unsuitable"
    if line.verdict == "unsuitable" and line.reason not in EXCLUSION_REASONS:
        yield "reason", f"an unsuitable item needs a reason: {', '.join(EXCLUSION_REASONS)}"
    if line.verdict != "unsuitable" and line.reason is not None:
        yield "reason", "only an unsuitable item has a reason"
    if line.answer_subtype is not None and _subtype(line.answer_subtype) is None:
        yield "answer_subtype", f"{line.answer_subtype!r} is no subtype code such as A1 or D2"


def _question_faults(line: LabelLine) -> Iterator[tuple[str, str]]:
    """Fields, and what is wrong, of a line that names no completion."""
    if not line.question_id:
        yield "completion_id", "a line needs the id of a completion, or question_id and an answer_subtype"
    elif line.verdict is not None or line.task == "correctness" or (line.kind is not UNSET and line.task is UNSET):
        yield "completion_id", "a line without a completion says an answer_subtype of the question, and nothing else"


def _other_faults(line: LabelLine) -> Iterator[tuple[str, str]]:
    """Fields, and what is wrong with what stands beside the answer."""
    if line.kind == "reopen" and not line.note:
        yield "note", "a reopening needs a note: why"
    if line.kind == "reopen" and (line.round is UNSET or line.round == 1):
        yield "round", "a reopening begins round 2 or a later one"
    if line.revision < 1:
        yield "revision", "revisions count from 1"
    if line.created_at is not None and _utc(line.created_at) is None:
        yield "created_at", f"{line.created_at[:100]!r} is no time after ISO 8601, such as 2025-01-31T12:00:00Z"
    unknown = [] if line.tags is UNSET else [tag for tag in line.tags if tag not in TAGS]
    if unknown:
        yield "tags", f"there is no tag {unknown[0][:100]!r}; tags: {', '.join(TAGS)}"


def _subtype(text: str) -> str | None:
    parsed = parse_type(text)
    return parsed.code if parsed is not None and parsed.is_subtype else None


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
    if _SORTS.fullmatch(text):
        return text
    return time.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
