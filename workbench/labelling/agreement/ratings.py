"""Ratings of anything by anyone: JSON Lines with ``item``, ``annotator`` and ``value``, beside whatever else."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.core.item import Refusal
from workbench.core.numbers import is_figure
from workbench.data.formats.documents import documents
from workbench.data.formats.explain import RefusedError, explain_document, refusal
from workbench.data.formats.source import open_once
from workbench.statistics.records.agreement import Level

FORM = 'A line is {"item": …, "annotator": …, "value": …}.'

Given = str | int | float | bool
"""A value as a line gives it."""


class RatingColumns(Struct, frozen=True, kw_only=True):
    """The ratings of a file, in its order; nobody rates an item twice.

    Attributes:
        item: Each rating's item, as a number from 0 in the order they came.
        annotator: Each rating's place in ``annotators``.
        value: Each rating's place in ``values``.
        values: The categories in their order: as named by ``order``, else by number or by name.
        numbers: What they are worth: themselves where they are numbers, else their ranks.
        annotators: The annotators' names in alphabetical order.
        items: How many items there are.
        refused: Lines that were not taken.
    """

    item: array[int]
    annotator: array[int]
    value: array[int]
    values: list[str]
    numbers: list[float]
    annotators: list[str]
    items: int
    refused: list[Refusal]


class _RatingLine(Struct, gc=False):
    item: str | int
    annotator: str | int
    value: Given


_DECODER = msgspec.json.Decoder(_RatingLine)
_TYPES = {"item": str | int, "annotator": str | int, "value": Given}


def read(path: Path | None, max_line: int, level: Level, order: Sequence[str] = ()) -> RatingColumns:
    """Read a file, gzip or not, or for None standard input.

    Names and whole numbers that are spelled alike are one item or annotator, and one category. A second rating of an
    item by one annotator is refused, and the first one stays.

    Args:
        level: ``nominal`` takes any values; ``interval`` and ``ratio`` numbers; ``ordinal`` numbers or what ``order``
            names.
        order: The categories of the ordinal level, lowest first.

    Raises:
        FormatError: The file can't be opened.
        UsageError: An order at another level, or one that names a category twice.
    """
    if order and level != "ordinal":
        raise UsageError(f"--order is for --level ordinal, not {level}.")
    if len(set(order)) < len(order):
        raise UsageError("--order names a category twice.")
    gathered = _Gathered(_taker(level, order))
    with open_once(path) as stream:
        for row in documents(stream, "jsonl", path or Path("-"), max_line):
            if isinstance(row, Refusal):
                gathered.refused.append(row)
            else:
                gathered.add(row.line, row.raw)
    values: list[Any] = list(order) or sorted(set(gathered.value))
    place = {value: number for number, value in enumerate(values)}
    names = sorted(gathered.people)
    number_of = {gathered.people[name]: number for number, name in enumerate(names)}
    return RatingColumns(
        item=gathered.item,
        annotator=array("q", [number_of[person] for person in gathered.annotator]),
        value=array("q", [place[value] for value in gathered.value]),
        values=[_spelled(value) for value in values],
        numbers=values if level in ("interval", "ratio") else [float(rank) for rank in range(len(values))],
        annotators=names,
        items=len(gathered.items),
        refused=gathered.refused,
    )


class _Gathered:
    """What has been read so far."""

    def __init__(self, take: Callable[[Given], Any]) -> None:
        self._take = take
        self._lines: dict[int, int] = {}
        self.items: dict[str, int] = {}
        self.people: dict[str, int] = {}
        self.item, self.annotator = array("q"), array("q")
        self.value: list[Any] = []
        self.refused: list[Refusal] = []

    def add(self, number: int, raw: bytes) -> None:
        """Take a line, or refuse it."""
        try:
            line = _DECODER.decode(raw)
            value = self._take(line.value)
            item = self.items.setdefault(str(line.item), len(self.items))
            person = self.people.setdefault(str(line.annotator), len(self.people))
            before = self._lines.setdefault(item << 32 | person, number)
            if before != number:
                raise _twice(before)
        except (RefusedError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            self.refused.append(_refused(number, raw, error))
            return
        self.item.append(item)
        self.annotator.append(person)
        self.value.append(value)


def _taker(level: Level, order: Sequence[str]) -> Callable[[Given], str | float]:
    """What makes a category of a value, or refuses it."""
    if level == "nominal":
        return _spelled
    if not order:
        return _number if level != "ratio" else _proportion
    known = frozenset(order)

    def ordered(value: Given) -> str:
        word = _spelled(value)
        if word not in known:
            raise RefusedError("wrong_type", "value", f"value is {word[:100]!r}, which --order doesn't name.")
        return word

    return ordered


def _spelled(value: Given) -> str:
    """A value as a category's name: 1, 1.0 and "1" are one."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if value == int(value) else repr(value)


def _number(value: Given) -> float:
    if isinstance(value, bool | str):
        kind = "text" if isinstance(value, str) else "true or false"
        hint = "Write a number, or name the categories of --level ordinal with --order."
        raise RefusedError("wrong_type", "value", f"value is {kind}. {hint}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not is_figure(number):
        raise RefusedError("wrong_type", "value", "value is too large a number.")
    return number


def _proportion(value: Given) -> float:
    number = _number(value)
    if number < 0:
        raise RefusedError("wrong_type", "value", "value is negative: a ratio has a zero to count from.")
    return number


def _twice(line: int) -> RefusedError:
    message = f"This annotator has rated this item on line {line} already; that rating stays. Remove one of them."
    return RefusedError("duplicate", "annotator", message)


def _refused(number: int, raw: bytes, error: Exception) -> Refusal:
    if isinstance(error, RefusedError):
        return refusal(number, raw, error)
    try:
        raw.decode()
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return refusal(number, raw, explain_document(raw))
    for name, kind in _TYPES.items():
        wanted = "text or a whole number" if name != "value" else "text, a number, true or false"
        if name not in fields:
            return refusal(number, raw, RefusedError("missing_field", name, f"{name} is missing. {FORM}"))
        try:
            msgspec.json.decode(fields[name], type=kind)
        except msgspec.MsgspecError:
            hint = " Leave the line out where nothing was said." if bytes(fields[name]) == b"null" else ""
            return refusal(number, raw, RefusedError("wrong_type", name, f"{name} is not {wanted}.{hint}"))
    return refusal(number, raw, explain_document(raw))
