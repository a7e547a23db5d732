"""Declares tables as columns over records; all writers use the result of `table`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, takewhile
from operator import attrgetter
from typing import Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack

from msgspec import Struct

from workbench.core.text.figures import aligned, interval, number
from workbench.tables.document import Cell, Head, Row, RowKind, Table, Tone

Record = TypeVar("Record", contravariant=True)
Value = TypeVar("Value")
Shown: TypeAlias = str | Cell
Ends: TypeAlias = tuple[float, float] | None
Worst = Literal["low", "high"]


class Column(Struct, Generic[Record], frozen=True, kw_only=True):
    """A column: its value in a record, its format, and its width in the app.

    Attributes:
        heading: The column's heading.
        over: A heading above, shared with neighbouring columns; empty for none. If it is None for all columns, there is
            no line of shared headings.
        words: Whether the column holds words, which are aligned left; otherwise it holds numbers.
        there: Whether the table has the column.
        by: Returns the sort key of a record; None to sort by the value, or by its text if values have no order.
        key: The name by which users select the column; empty for the heading.
        room: The column's width in the app, in terminal cells, or its minimum and maximum width.
        tone: The tone (colour by meaning) of cells whose text doesn't set one; may be a function of the record.
        ids: Whether the column holds ids, which the app abbreviates to their ends.
        worst: Whether low or high values are bad; the app's first sort puts the bad ones on top.
    """

    heading: str
    value: Callable[[Record], Any]
    show: Callable[[Any], Shown]
    over: str | None = None
    words: bool = False
    there: bool = True
    by: Callable[[Record], Any] | None = None
    key: str = ""
    room: int | tuple[int, int] = (4, 24)
    tone: Tone | Callable[[Record], Tone] = ""
    worst: Worst = "low"
    ids: bool = False

    def cell(self, record: Record) -> Cell:
        value = self.value(record)
        text = self.show(value)
        shown = text if isinstance(text, Cell) else Cell(text)
        by = value if self.by is None else self.by(record)
        return Cell(
            shown.text,
            shown.tone or (self.tone(record) if callable(self.tone) else self.tone),
            shade=shown.shade,
            small=shown.small,
            whole=shown.whole,
            value=by if by is None or isinstance(by, _ORDERED) else shown.text,
        )


_ORDERED = (int, float, str, tuple)
Columns: TypeAlias = Sequence[Column[Record]]


class Extras(TypedDict, Generic[Record], total=False):
    over: str
    there: bool
    by: Callable[[Record], Any]
    key: str
    room: int | tuple[int, int]
    tone: Tone | Callable[[Record], Tone]
    worst: Worst


def column(
    heading: str,
    value: Callable[[Record], Value],
    show: Callable[[Value], Shown],
    *,
    words: bool = False,
    **extras: Unpack[Extras[Record]],
) -> Column[Record]:
    return Column(heading=heading, value=value, show=show, words=words, **extras)


def word(heading: str, value: Callable[[Record], str], **extras: Unpack[Extras[Record]]) -> Column[Record]:
    return Column(heading=heading, value=value, show=str, words=True, **extras)


def identifier(heading: str, value: Callable[[Record], str], **extras: Unpack[Extras[Record]]) -> Column[Record]:
    """Declare a column of ids, aligned left; the app shows their ends."""
    return Column(heading=heading, value=value, show=str, words=True, ids=True, **extras)


def text(heading: str, value: Callable[[Record], Shown], **extras: Unpack[Extras[Record]]) -> Column[Record]:
    return Column(heading=heading, value=value, show=lambda shown: shown, **extras)


def count(heading: str, value: Callable[[Record], int], **extras: Unpack[Extras[Record]]) -> Column[Record]:
    return Column(heading=heading, value=value, show="{:,}".format, **extras)


def counts(*names: str) -> Columns[Any]:
    """Declare a column of whole numbers for each of these attributes, under its name."""
    return [count(name.replace("_", " "), attrgetter(name)) for name in names]


def metric_column(
    heading: str, value: Callable[[Record], float | None], **extras: Unpack[Extras[Record]]
) -> Column[Record]:
    return Column(heading=heading, value=value, show=number, **extras)


def ends(
    value: Callable[[Record], Ends],
    show: Callable[[Ends], str] = interval,
    *,
    words: bool = False,
    **extras: Unpack[Extras[Record]],
) -> Column[Record]:
    """Declare a column of 95 % intervals; they have three decimals unless ``show`` formats them."""
    return Column(heading="95 % interval", value=value, show=show, words=words, **extras)


def with_interval(heading: str, name: str, ci: str = "", **extras: Unpack[Extras[Any]]) -> Columns[Any]:
    """Declare a column of a metric, an attribute of the records, and one of its 95 % interval.

    Args:
        ci: The attribute of the interval; by default that of the metric with ``_ci``.
    """
    return metric_column(heading, attrgetter(name), **extras), ends(attrgetter(ci or f"{name}_ci"))


def table(
    caption: str,
    columns: Columns[Record],
    records: Iterable[Record],
    *,
    notes: Iterable[str] = (),
    kind: Callable[[Record], RowKind] = lambda _record: "",
    section: Callable[[Record], str] = lambda _record: "",
) -> Table:
    """Return the table with one row per record.

    Args:
        notes: What readers must know, one sentence each.
        kind: Returns the kind of a record's row.
        section: Returns the section of a record, printed once above its first row; empty for none.
    """
    there = [one for one in columns if one.there]
    return Table(
        caption=caption,
        head=_head(there),
        rows=tuple(_rows(there, records, kind, section)),
        left=len(list(takewhile(lambda one: one.words, there))),
        notes=tuple(notes),
    )


def _rows(
    columns: Columns[Record],
    records: Iterable[Record],
    kind: Callable[[Record], RowKind],
    section: Callable[[Record], str],
) -> Iterator[Row]:
    under = ""
    for record in records:
        if section(record) not in ("", under):
            under = section(record)
            yield Row((Cell(under),), "section")
        yield Row(tuple(one.cell(record) for one in columns), kind(record))


def _head(columns: Columns[Record]) -> tuple[tuple[Head, ...], ...]:
    own = tuple(Head(one.heading) for one in columns)
    if all(one.over is None for one in columns):
        return (own,)
    over = tuple(Head(name, len(list(group))) for name, group in groupby(columns, key=lambda one: one.over or ""))
    return over, own


def cells(columns: Columns[Record], record: Record) -> tuple[str, ...]:
    return tuple(one.cell(record).text for one in columns)


def aligned_rows(columns: Columns[Record], records: Iterable[Record]) -> str:
    """Return the rows aligned for a terminal, without a caption; control characters are made visible."""
    there = [one for one in columns if one.there]
    lines = [tuple(one.heading for one in there), *(cells(there, record) for record in records)]
    return aligned(lines, left=[place for place, one in enumerate(there) if one.words])
