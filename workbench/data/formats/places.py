"""Reads values nested in a row: ``choices.0.message.content``, ``messages[-1].content``, a chat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from workbench.core.item import Refusal
from workbench.data.formats.documents import Row
from workbench.data.formats.lines import RefusedError, make_refusal
from workbench.data.formats.logs.logged import content_text

Speaker = Literal["assistant", "user"]
Cells = Mapping[str, msgspec.Raw]

_STEPS = re.compile(r"(?:\.[^.\[\]]+|\[-?[0-9]{1,9}\])+")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(-?[0-9]+)\]")
_SPEAKERS: Final[dict[str, Speaker]] = {"question": "user", "reference": "assistant", "completion": "assistant"}
"""The speaker whose last message of a chat is read, by field."""
_MAX_SHOWN: Final = 40
_ABSENT: Final = object()
_tokens = msgspec.json.Decoder(dict[str, msgspec.Raw])
_list = msgspec.json.Decoder(list[msgspec.Raw])


class ColumnPath(Struct, frozen=True):
    """The path to a value in a row.

    Attributes:
        column: A key of the row.
        steps: The keys of objects and the indexes of lists that lead to the value within the column.
        speaker: If set, the value at the path is a chat, of which only the speaker's last message is read.
    """

    column: str
    steps: tuple[str, ...] = ()
    speaker: Speaker | None = None


def place_of(text: str, columns: Iterable[str]) -> ColumnPath | None:
    for column in sorted(columns, key=len, reverse=True):
        rest = text.removeprefix(column)
        if column and rest != text and _STEPS.fullmatch(rest):
            return ColumnPath(column, tuple(key or position for key, position in _STEP.findall(rest)))
    return None


def places_in(columns: Mapping[str, str], keys: Sequence[str], sample: Sequence[Cells]) -> dict[str, ColumnPath]:
    found: dict[str, ColumnPath] = {}
    for text in columns.values():
        place = None if text in keys else place_of(text, keys)
        if place is not None and any(_find_value(cells, place, {}) is not _ABSENT for cells in sample):
            found[text] = place
    return found


def chats_in(
    columns: Mapping[str, str], places: Mapping[str, ColumnPath], sample: Sequence[Cells]
) -> tuple[dict[str, str], dict[str, ColumnPath]]:
    columns, places = dict(columns), dict(places)
    for field, speaker in _SPEAKERS.items():
        column = columns.get(field, "")
        place = places.get(column) or ColumnPath(column)
        if any(_is_chat(_find_value(cells, place, {})) for cells in sample):
            name = f"{column} (last {speaker} turn)"
            columns[field], places[name] = name, replace(place, speaker=speaker)
    return columns, places


def flatten_rows(rows: Iterable[Row], places: Mapping[str, ColumnPath]) -> Iterable[Row]:
    return (_flatten_row(row, places) for row in rows) if places else rows


def has_lists(sample: Iterable[Cells], column: str | None) -> bool:
    return any(bytes(cells.get(column or "", b""))[:1] == b"[" for cells in sample)


def split_completions(rows: Iterable[Row], fields: Mapping[str, str], graders: Mapping[str, str]) -> Iterator[Row]:
    """Split rows into one row for each completion; other lists of the same length are split with them.

    A completion id of a row with several completions is extended by the number of each.

    Args:
        fields: The file's columns by field name.
        graders: The columns with verdicts, by verifier.
    """
    completion, key, columns = fields["completion"], fields.get("completion_id"), {*fields.values(), *graders.values()}
    for row in rows:
        cells: dict[str, msgspec.Raw] = {}
        if not isinstance(row, Refusal):
            with suppress(msgspec.MsgspecError, ValueError, RecursionError):
                cells = _tokens.decode(row.json)
        if isinstance(row, Refusal) or not has_lists([cells], completion):
            yield row
            continue
        lists = {name: _list.decode(cells[name]) for name in columns if has_lists([cells], name)}
        count = len(lists[completion])
        if not count:
            message = f"{completion} is an empty list. Write a completion, or drop the row."
            yield make_refusal(row.line, row.raw, RefusedError("missing_field", completion, message))
        parts = {name: parts for name, parts in lists.items() if len(parts) == count}
        name = msgspec.json.decode(cells[key]) if key in cells and key not in parts and count > 1 else None
        for place in range(count):
            own = {key: msgspec.Raw(msgspec.json.encode(f"{name}-{place + 1}"))} if name is not None else {}
            some = {column: tokens[place] for column, tokens in parts.items()}
            yield replace(row, json=msgspec.json.encode({**cells, **some, **own}))


def value_at(cells: Cells, place: ColumnPath) -> Any:
    """Return the value at a path of a row: None if it is missing, its beginning as text if it can't be decoded."""
    value = _find_value(cells, place, {})
    if value is _ABSENT and place.column in cells and not place.steps:
        return f"{bytes(cells[place.column])[:_MAX_SHOWN].decode(errors='replace')}…"
    return None if value is _ABSENT else value


def _flatten_row(row: Row, places: Mapping[str, ColumnPath]) -> Row:
    if isinstance(row, Refusal):
        return row
    # A value that can't be decoded is rejected when the row's fields are checked.
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        cells = _tokens.decode(row.json)
        read: dict[str, Any] = {}
        for name, place in places.items():
            value = _find_value(cells, place, read)
            if value is not _ABSENT:
                cells[name] = msgspec.Raw(msgspec.json.encode(value))
        return replace(row, json=msgspec.json.encode(cells))
    return row


def _find_value(cells: Cells, place: ColumnPath, read: dict[str, Any]) -> Any:
    """Return the value at a path; `_ABSENT` if it is missing.

    Args:
        read: Cache of the row's decoded columns, by column.
    """
    if place.column not in cells:
        return _ABSENT
    if place.column not in read:
        try:
            read[place.column] = msgspec.json.decode(cells[place.column])
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return _ABSENT
    value = read[place.column]
    for step in place.steps:
        value = _take_step(value, step)
    return value if place.speaker is None else _last_turn(value, place.speaker)


def _take_step(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step, _ABSENT)
    if isinstance(value, list) and step.lstrip("-").isdecimal() and -len(value) <= int(step) < len(value):
        return value[int(step)]
    return _ABSENT


def _is_chat(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(turn, dict) and {"role", "content"} <= turn.keys() for turn in value)
    )


def _last_turn(value: Any, speaker: Speaker) -> Any:
    if not _is_chat(value):
        return value
    content = next((turn["content"] for turn in reversed(value) if turn["role"] == speaker), UNSET)
    if content is UNSET:
        return _ABSENT
    try:
        return content_text(content, speaker)
    except RefusedError:
        return content
