"""A table declared once, as columns over records; every writer takes what `table` makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, takewhile
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

from workbench.core.text.figures import aligned, interval, number
from workbench.tables.document import Cell, Head, Row, RowKind, Table

Record = TypeVar("Record", contravariant=True)
Value = TypeVar("Value")
Shown: TypeAlias = str | Cell
Ends: TypeAlias = tuple[float, float] | None


class Column(Struct, Generic[Record], frozen=True, kw_only=True):
    """A column: what it takes of a record, and how that is shown.

    Attributes:
        heading: What stands above it.
        over: A heading over it and its neighbours with the same one; empty for none.
        words: It holds words, which stand to the left; else figures.
        there: Whether the table has the column.
    """

    heading: str
    value: Callable[[Record], Any]
    show: Callable[[Any], Shown]
    over: str = ""
    words: bool = False
    there: bool = True

    def cell(self, record: Record) -> Cell:
        """What it says of a record."""
        shown = self.show(self.value(record))
        return shown if isinstance(shown, Cell) else Cell(shown)


Columns: TypeAlias = Sequence[Column[Record]]


def column(
    heading: str,
    value: Callable[[Record], Value],
    show: Callable[[Value], Shown],
    *,
    over: str = "",
    words: bool = False,
    there: bool = True,
) -> Column[Record]:
    """A column of any kind; see `Column`."""
    return Column(heading=heading, value=value, show=show, over=over, words=words, there=there)


def word(heading: str, value: Callable[[Record], str], *, there: bool = True) -> Column[Record]:
    """A column of words, to the left."""
    return Column(heading=heading, value=value, show=str, words=True, there=there)


def _itself(shown: Shown) -> Shown:
    return shown


def text(heading: str, value: Callable[[Record], Shown], *, over: str = "", there: bool = True) -> Column[Record]:
    """A column of what is text already, to the right."""
    return Column(heading=heading, value=value, show=_itself, over=over, there=there)


def count(heading: str, value: Callable[[Record], int], *, there: bool = True) -> Column[Record]:
    """A column of counts, with separators."""
    return Column(heading=heading, value=value, show="{:,}".format, there=there)


def figure(
    heading: str, value: Callable[[Record], float | None], *, over: str = "", there: bool = True
) -> Column[Record]:
    """A column of figures at three decimals."""
    return Column(heading=heading, value=value, show=number, over=over, there=there)


def ends(
    value: Callable[[Record], Ends],
    show: Callable[[Ends], str] = interval,
    *,
    over: str = "",
    there: bool = True,
) -> Column[Record]:
    """A column of 95 % intervals, at three decimals unless shown otherwise."""
    return Column(heading="95 % interval", value=value, show=show, over=over, there=there)


def table(
    caption: str,
    columns: Columns[Record],
    records: Iterable[Record],
    *,
    notes: Iterable[str] = (),
    kind: Callable[[Record], RowKind] = lambda _record: "",
) -> Table:
    """The table with a row a record.

    Args:
        notes: What a reader must know, a sentence each.
        kind: What kind of row a record makes.
    """
    there = [one for one in columns if one.there]
    return Table(
        caption=caption,
        head=_head(there),
        rows=tuple(Row(tuple(one.cell(record) for one in there), kind(record)) for record in records),
        left=len(list(takewhile(lambda one: one.words, there))),
        notes=tuple(notes),
    )


def _head(columns: Columns[Record]) -> tuple[tuple[Head, ...], ...]:
    own = tuple(Head(one.heading) for one in columns)
    if not any(one.over for one in columns):
        return (own,)
    over = tuple(Head(name, len(list(group))) for name, group in groupby(columns, key=lambda one: one.over))
    return over, own


def cells(columns: Columns[Record], record: Record) -> tuple[str, ...]:
    """A record's row, one text a column."""
    return tuple(one.cell(record).text for one in columns)


def listed(columns: Columns[Record], records: Iterable[Record]) -> str:
    """The columns alone, aligned for a terminal, without a caption; control characters are shown, not obeyed."""
    there = [one for one in columns if one.there]
    lines = [tuple(one.heading for one in there), *(cells(there, record) for record in records)]
    return aligned(lines, left=[place for place, one in enumerate(there) if one.words])
