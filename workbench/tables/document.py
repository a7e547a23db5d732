"""The parts of a document, independent of the format: HTML, Markdown, LaTeX, CSV or plain text.

All texts are data: the writers escape them and make invisible characters visible.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Literal, TypeAlias

from msgspec import Struct

from workbench.core.text.figures import NONE

RowKind = Literal["", "section", "total", "aside"]
"""Kinds of rows: body, section title, total, and one separated from the body, such as a baseline's."""


Tone = Literal["", "success", "error", "warning", "accent", "dim", "bold"]
"""Meaning of a cell in the app; the theme decides its style."""


class Cell(Struct, frozen=True):
    """A cell of a table.

    Attributes:
        text: Its text.
        shade: The colour step of a heat cell (see `workbench.core.text.figures`); None for a cell without colour.
        small: Text in small print after ``text``, such as a difference or an interval.
        value: The value by which rows are sorted: a number, an interval, or words; None if there is none.
        whole: The full text, if ``text`` is only a symbol or an abbreviation of it.
    """

    text: str
    tone: Tone = ""
    shade: int | None = None
    small: str = ""
    value: float | str | tuple[float, ...] | None = None
    whole: str = ""

    @property
    def full(self) -> str:
        return self.whole or self.text


class Head(Struct, frozen=True):
    text: str
    span: int = 1


class Row(Struct, frozen=True):
    """A row of a table; one of kind ``section`` has a single cell."""

    cells: tuple[Cell, ...]
    kind: RowKind = ""


def heads(*texts: str) -> tuple[Head, ...]:
    return tuple(map(Head, texts))


def row(*texts: str, kind: RowKind = "") -> Row:
    return Row(tuple(map(Cell, texts)), kind)


class Table(Struct, frozen=True, kw_only=True):
    r"""A table for every output format.

    Attributes:
        caption: What the table shows, and its conventions.
        head: The lines of headings; the last line has one heading per column.
        left: Number of leading columns that hold words; all others hold numbers.
        notes: What a reader must know, one sentence each.
        label: LaTeX label for ``\ref``; empty for none.
    """

    caption: str
    head: tuple[tuple[Head, ...], ...]
    rows: tuple[Row, ...]
    left: int = 1
    notes: tuple[str, ...] = ()
    label: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return each column's name: its headings from top to bottom."""
        names = [""] * sum(heading.span for heading in self.head[-1])
        for line in self.head:
            for place, text in enumerate(_heading_of_columns(line)):
                names[place] = f"{names[place]} {text}".strip()
        return tuple(names)

    @property
    def titles(self) -> tuple[str, ...]:
        """Return each column's heading; a heading above it is part of the first column below."""
        above = [(heading.text, place) for line in self.head[:-1] for heading in line for place in range(heading.span)]
        places = above or [("", 0)] * len(self.head[-1])
        pairs = zip(places, self.head[-1], strict=True)
        return tuple(f"{text} {own.text}".strip() if within == 0 else own.text for (text, within), own in pairs)


class Paragraph(Struct, frozen=True):
    text: str


class Facts(Struct, frozen=True):
    rows: tuple[tuple[str, str], ...]


class Point(Struct, frozen=True):
    """A share from 0 to 1 with its interval; one line of a plot."""

    label: str
    value: float
    low: float
    high: float


class Intervals(Struct, frozen=True, kw_only=True):
    """A plot of shares with their intervals, one below the other.

    Attributes:
        mark: A share to compare with, such as a baseline's; None for none.
        mark_label: The name of ``mark``.
        axis: The part of the axis to draw, so that several plots can be compared; None to fit the data.
    """

    caption: str
    points: tuple[Point, ...]
    mark: float | None = None
    mark_label: str = ""
    axis: tuple[float, float] | None = None


class Dot(Struct, frozen=True):
    label: str
    x: float
    y: float


class Scatter(Struct, frozen=True, kw_only=True):
    """A scatter plot with two equal axes, from 0 to 1 or to the next tenth above the greatest value.

    Attributes:
        diagonal: Whether to draw the line on which both coordinates are equal.
    """

    caption: str
    x_label: str
    y_label: str
    dots: tuple[Dot, ...]
    diagonal: bool = False


class Histogram(Struct, frozen=True, kw_only=True):
    """A histogram with two counts per bin, drawn side by side.

    Attributes:
        edges: The bins' bounds: one more than there are bins.
        first: Counts of the first kind, one per bin.
        second: Counts of the second kind, one per bin.
        names: The names of the two kinds.
        mark: A position on the axis to mark, such as a threshold; None for none.
    """

    caption: str
    edges: tuple[float, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    names: tuple[str, str]
    mark: float | None = None


class Series(Struct, frozen=True):
    """A line of a plot: its name and one value per tick, None if undefined."""

    name: str
    values: tuple[float | None, ...]


class Lines(Struct, frozen=True, kw_only=True):
    """A plot of values over ticks, such as over rounds.

    Attributes:
        ticks: Labels below the axis, one per value.
        shares: Whether the values are shares from 0 to 1; otherwise they are counts.
    """

    caption: str
    x_label: str
    ticks: tuple[str, ...]
    series: tuple[Series, ...]
    shares: bool = True


class Passage(Struct, frozen=True):
    name: str
    text: str


class Case(Struct, frozen=True, kw_only=True):
    title: str
    facts: tuple[tuple[str, str], ...]
    passages: tuple[Passage, ...]


class Group(Struct, frozen=True, kw_only=True):
    """Blocks that belong together.

    Attributes:
        folded: Whether the group is collapsed at first, in formats that allow it.
        layout: Whether the blocks are one below the other, or side by side as far as there is room.
    """

    title: str
    blocks: tuple[Block, ...]
    folded: bool = False
    layout: Literal["column", "grid"] = "column"


Plot: TypeAlias = Intervals | Scatter | Histogram | Lines
Block: TypeAlias = Paragraph | Facts | Table | Intervals | Scatter | Histogram | Lines | Case | Group


class Section(Struct, frozen=True):
    """A part of a document.

    Attributes:
        key: The section's name in links.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


class Document(Struct, frozen=True, kw_only=True):
    """A whole document.

    Attributes:
        lead: A line or two below the title.
        generated_at: Creation time; the only part that differs between two documents of the same data.
    """

    title: str
    lead: str
    generated_at: str
    sections: tuple[Section, ...]


def _heading_of_columns(line: tuple[Head, ...]) -> Iterator[str]:
    for heading in line:
        for _ in range(heading.span):
            yield heading.text


# -- Excerpts of long texts, with a mark of the omitted length.


_MAX_TEXT = 4_000
"""Maximum characters of a text in a document: longer ones can only be imported names, ids or lines."""


def shorten_end(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} {_omission_mark(len(text) - most)}"


def shorten_start(text: str, most: int) -> str:
    """Return the last characters of a text, where completions usually state their answers."""
    return text if len(text) <= most else f"{_omission_mark(len(text) - most)} {text[-most:]}"


def limit_length(text: str) -> str:
    return shorten_end(text, _MAX_TEXT)


def _omission_mark(characters: int) -> str:
    return f"[… {characters:,} characters cut …]"


# -- Formatted numbers: percentages and differences, with ties rounded to the even digit.


MINUS = "−"
"""The minus sign of a number."""
_EXACT_DIGITS = 9
"""Digits of a percentage within which a float counts as its original fraction."""


def percentage(share: float | None, decimals: int = 1) -> str:
    """Format a share as a percentage without its sign: ``"12.35"``.

    A tie is rounded to the even digit, as an exact fraction and not as a float: 1/32 and 3/32 become 3.12 and 9.38.
    """
    return NONE if share is None else _rounded(share, decimals)


def difference(points: float | None, decimals: int = 1) -> str:
    """Format a difference of shares as signed percentage points: ``"+0.5"``, ``"−12.5"``."""
    if points is None:
        return NONE
    text = _rounded(points, decimals)
    return text if text.startswith(MINUS) else f"+{text}"


def _rounded(share: float, decimals: int) -> str:
    exact = Decimal(repr(round(100 * share, _EXACT_DIGITS)))
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN)
    return f"{rounded:f}".replace("-", MINUS) if rounded else f"{abs(rounded):f}"
