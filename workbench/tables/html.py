"""Writes a document as one self-contained HTML page, without scripts, links or external fonts.

The page's content security policy permits only its own style sheet, identified by its hash: if data were ever read as
markup, the browser would not run, load or style it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from hashlib import sha256
from importlib.resources import files
from math import ceil, floor

from markupsafe import Markup, escape
from msgspec import Struct

from workbench.core.text.inert import inert, inert_lines
from workbench.tables.document import (
    Block,
    Case,
    Cell,
    Document,
    Dot,
    Facts,
    Group,
    Head,
    Histogram,
    Intervals,
    Lines,
    Paragraph,
    Plot,
    Point,
    Row,
    Scatter,
    Section,
    Series,
    Table,
    limit_length,
    percentage,
)

_LONG_WORD = 30
"""Letters above which a word may be broken anywhere to keep a column narrow."""


def html(document: Document) -> str:
    style = (files("workbench.tables") / "report.css").read_text(encoding="utf-8")
    head = element("head", *_meta_elements(style), element("title", document.title), element("style", Markup(style)))
    contents = element("nav", *(element("a", part.title, href=f"#{part.key}") for part in document.sections))
    top = element(
        "header",
        element("h1", document.title),
        element("p", document.lead, class_="lead"),
        element("p", f"Made {document.generated_at}.", class_="made"),
        contents,
    )
    body = element("body", top, element("main", *map(_section, document.sections)))
    return str(Markup("<!DOCTYPE html>\n") + element("html", head, body, lang="en")) + "\n"


def _meta_elements(style: str) -> tuple[Markup, ...]:
    own = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{own}'; img-src data:; base-uri 'none'; form-action 'none'"
    made = (
        {"charset": "utf-8"},
        {"http-equiv": "Content-Security-Policy", "content": policy},
        {"name": "viewport", "content": "width=device-width, initial-scale=1"},
        {"name": "referrer", "content": "no-referrer"},
    )
    return tuple(_meta_element(attributes) for attributes in made)


def _meta_element(attributes: dict[str, str]) -> Markup:
    return Markup("<meta{}>").format(
        Markup("").join(Markup(' {}="{}"').format(*attribute) for attribute in attributes.items())
    )


def _section(section: Section) -> Markup:
    return element("section", element("h2", section.title), *map(_block, section.blocks), id=section.key)


@singledispatch
def _block(block: Block) -> Markup:
    raise TypeError(f"{type(block).__name__} is not a block")


@_block.register
def _(block: Paragraph) -> Markup:
    return element("p", block.text)


@_block.register
def _(block: Facts) -> Markup:
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in block.rows)
    return element("dl", *pairs)


@_block.register(Intervals)
@_block.register(Scatter)
@_block.register(Histogram)
@_block.register(Lines)
def _(block: Intervals | Scatter | Histogram | Lines) -> Markup:
    return drawing(block)


@_block.register
def _(block: Table) -> Markup:
    head = element("thead", *(_head_line(line, block.left) for line in block.head))
    body = element("tbody", *(_row(row, block) for row in block.rows))
    notes = [element("ul", *(element("li", note) for note in block.notes), class_="notes")]
    caption = element("p", block.caption, class_="caption")
    table = element("div", element("table", head, body), class_="scroll")
    return element("div", caption, table, *(notes if block.notes else []), class_="table")


def _head_line(line: tuple[Head, ...], left: int) -> Markup:
    cells, at = [], 0
    for heading in line:
        kind = "over" if heading.span > 1 else "word" if at < left else None
        span = heading.span if heading.span > 1 else None
        cells.append(element("th", heading.text, class_=kind, colspan=span, scope="col"))
        at += heading.span
    return element("tr", *cells)


def _row(row: Row, table: Table) -> Markup:
    if row.kind == "section":
        return element("tr", element("th", row.cells[0].text, colspan=len(table.columns)), class_="section")
    cells = (_cell(cell, place, table.left) for place, cell in enumerate(row.cells))
    return element("tr", *cells, class_=row.kind or None)


def _cell(cell: Cell, place: int, left: int) -> Markup:
    indented = cell.text.startswith(" ")
    small = [Markup(" "), element("small", cell.small)] if cell.small else []
    kinds = (*(_word_classes(cell.text) if place < left else ()), "in" if indented else "", _heat_class(cell))
    name = "td" if place else "th"
    kind = " ".join(filter(None, kinds)) or None
    return element(name, cell.text.strip(), *small, class_=kind, scope=None if place else "row")


def _word_classes(words: str) -> tuple[str, ...]:
    longest = max(map(len, words.split()), default=0)
    return ("word", "long" if longest > _LONG_WORD else "short" if len(words) <= _LONG_WORD else "")


def _heat_class(cell: Cell) -> str:
    return "" if cell.shade is None else f"h{cell.shade}"


@_block.register
def _(block: Case) -> Markup:
    facts = element("dl", *(element("div", element("dt", name), element("dd", value)) for name, value in block.facts))
    passages = (
        joined(element("h5", part.name), element("pre", lines(part.text), dir="auto")) for part in block.passages
    )
    return element("article", element("h4", block.title), facts, *passages)


@_block.register
def _(block: Group) -> Markup:
    inner = element("div", *map(_block, block.blocks), class_=block.layout)
    if block.folded:
        return element("details", element("summary", block.title), inner)
    return joined(*([element("h3", block.title)] if block.title else []), inner)


# -- HTML elements: everything else is text, which is escaped, shortened if very long, and has no hidden characters.


Child = str | Markup
"""A part of an element: markup is inserted unchanged, any other text is escaped."""


def element(name: str, *children: Child, **attributes: str | float | None) -> Markup:
    """Return an element with its content.

    Args:
        children: Elements, and texts, which are escaped.
        attributes: Values by name; ``_`` stands for ``-``, a trailing ``_`` is dropped (``class_``). An attribute whose
            value is None is omitted.
    """
    head = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), text(str(value)))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, head, joined(*children))


def joined(*children: Child) -> Markup:
    return Markup("").join(child if isinstance(child, Markup) else text(child) for child in children)


def text(data: str) -> Markup:
    """Escape an untrusted text for HTML; line breaks become visible characters."""
    return escape(inert(limit_length(data)))


def lines(data: str) -> Markup:
    return escape(inert_lines(limit_length(data)))


# -- Plots as SVG, in the page's own colours; every number is also outside the plot.


_LETTER = 6.6
"""Width of a letter in the drawing's units, for the font size 12 that plots use."""
_MAX_LABEL = 44
"""Maximum letters of a label; the table has the full text."""
_ROW = 22
_TOP, _BOTTOM = 10, 30
_AXIS = 420
_FIGURE = 52
"""Room for a number after its interval."""
_SIDE, _MARGIN = 320, 52
_MIN_LABEL_DISTANCE = 14
"""Minimum distance of two dots with separate labels."""
_MAX_DOT_LABEL = 8
"""Maximum letters of labels next to dots; if one is longer, all are numbered and listed."""


class _Axis(Struct, frozen=True):
    low: float
    high: float
    first: float
    last: float

    def at(self, value: float) -> float:
        # The difference of two scores may overflow.
        scale = max(abs(self.low), abs(self.high))
        value, low, high = (figure / scale for figure in (value, self.low, self.high))
        return self.first + (self.last - self.first) * (value - low) / (high - low)


@singledispatch
def drawing(plot: Plot) -> Markup:
    raise TypeError(f"{type(plot).__name__} is not a plot")


@drawing.register
def _intervals(plot: Intervals) -> Markup:
    labels = [_shorten_label(point.label) for point in plot.points]
    left = max(map(len, labels), default=0) * _LETTER + 12
    low, high = _range(plot)
    axis = _Axis(low, high, left, left + _AXIS)
    bottom = _TOP + _ROW * len(plot.points)
    parts = [_tick(axis, tick, bottom) for tick in _tick_positions(low, high)]
    if plot.mark is not None:
        x = axis.at(plot.mark)
        parts.append(_line(x, _TOP, x, bottom, "mark"))
        parts.append(_svg_text(x, bottom + 27, plot.mark_label, "mark-label", "middle"))
    for place, (point, label) in enumerate(zip(plot.points, labels, strict=True)):
        parts += _interval_marks(point, label, axis, _TOP + _ROW * (place + 0.5))
    return _svg(plot.caption, left + _AXIS + _FIGURE, bottom + _BOTTOM, parts)


def _interval_marks(point: Point, label: str, axis: _Axis, y: float) -> Iterator[Markup]:
    low, middle, high = axis.at(point.low), axis.at(point.value), axis.at(point.high)
    yield _svg_text(axis.first - 10, y + 4, label, "label", "end")
    yield _line(low, y, high, y, "interval")
    for end in (low, high):
        yield _line(end, y - 4, end, y + 4, "interval")
    yield _dot(middle, y, 4)
    yield _svg_text(axis.last + _FIGURE - 4, y + 4, percentage(point.value), "figure", "end")


def _range(plot: Intervals) -> tuple[float, float]:
    if plot.axis is not None:
        return plot.axis
    marks = [] if plot.mark is None else [plot.mark]
    lows, highs = [point.low for point in plot.points] + marks, [point.high for point in plot.points] + marks
    low, high = floor(min(lows, default=0.0) * 10) / 10, ceil(max(highs, default=1.0) * 10) / 10
    return (low, high) if high > low else (max(low - 0.1, 0.0), low + 0.1)


def _tick_positions(low: float, high: float) -> Iterator[float]:
    step = 1 if high - low <= 0.6 else 2
    return (tenths / 10 for tenths in range(round(low * 10), round(high * 10) + 1, step))


def _tick(axis: _Axis, value: float, bottom: float) -> Markup:
    x = axis.at(value)
    line = _line(x, _TOP, x, bottom, "grid")
    return line + _svg_text(x, bottom + 14, percentage(value, 0), "tick", "middle")


@drawing.register
def _scatter(plot: Scatter) -> Markup:
    numbered = any(len(dot.label) > _MAX_DOT_LABEL for dot in plot.dots)
    greatest = max((share for dot in plot.dots for share in (dot.x, dot.y)), default=1.0)
    tenths = max(ceil(greatest * 10), 1)
    most = (tenths + (tenths > 6 and tenths % 2)) / 10
    across = _Axis(0, most, _MARGIN, _MARGIN + _SIDE)
    up = _Axis(0, most, _TOP + _SIDE, _TOP)
    parts = [*_square_axes(plot, across, up), *(_dot(across.at(dot.x), up.at(dot.y), 4.5) for dot in plot.dots)]
    for x, y, label in _place_labels(plot.dots, across, up, numbered):
        side = "end" if x > across.last - 40 else "start"
        parts.append(
            _svg_text(x - 8 if side == "end" else x + 8, y + (16 if y < _TOP + 20 else -6), label, "label", side)
        )
    width, listed = _legend(plot.dots, across.last + 28) if numbered else (across.last + 24, [])
    height = max(up.first + 42, _TOP + _ROW * len(listed))
    return _svg(plot.caption, width, height, [*parts, *listed])


def _square_axes(plot: Scatter, across: _Axis, up: _Axis) -> Iterator[Markup]:
    for tick in _tick_positions(0.0, across.high):
        x, y = across.at(tick), up.at(tick)
        yield _line(x, up.first, x, up.last, "grid")
        yield _line(across.first, y, across.last, y, "grid")
        yield _svg_text(x, up.first + 16, percentage(tick, 0), "tick", "middle")
        yield _svg_text(across.first - 8, y + 4, percentage(tick, 0), "tick", "end")
    if plot.diagonal:
        yield _line(across.first, up.first, across.last, up.last, "mark")
    yield _svg_text((across.first + across.last) / 2, up.first + 34, plot.x_label, "axis", "middle")
    yield _svg_text(14, _TOP + _SIDE / 2, plot.y_label, "axis", "middle", turned=True)


def _place_labels(dots: Sequence[Dot], across: _Axis, up: _Axis, numbered: bool) -> Iterator[tuple[float, float, str]]:
    anchors: list[tuple[float, float, list[str]]] = []
    for number, dot in enumerate(dots, 1):
        x, y = across.at(dot.x), up.at(dot.y)
        near = next(
            (
                found
                for found in anchors
                if abs(found[0] - x) < _MIN_LABEL_DISTANCE and abs(found[1] - y) < _MIN_LABEL_DISTANCE
            ),
            None,
        )
        label = str(number) if numbered else dot.label
        if near is None:
            anchors.append((x, y, [label]))
        else:
            near[2].append(label)
    return ((x, y, _join_labels(labels)) for x, y, labels in anchors)


def _join_labels(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) < 4 else f"{labels[0]}, {labels[1]}, … {labels[-1]}"


def _legend(dots: Sequence[Dot], x: float) -> tuple[float, list[Markup]]:
    labels = [f"{number} {_shorten_label(dot.label)}" for number, dot in enumerate(dots, 1)]
    parts = [_svg_text(x, _TOP + _ROW * (place + 0.5), label, "label", "start") for place, label in enumerate(labels)]
    return x + max(map(len, labels)) * _LETTER, parts


@drawing.register
def _histogram(plot: Histogram) -> Markup:
    most = max((*plot.first, *plot.second, 1))
    across = _Axis(plot.edges[0], plot.edges[-1], _MARGIN, _MARGIN + _AXIS)
    up = _Axis(0, most, 200, _TOP + 16)
    parts = [_line(across.first, up.first, across.last, up.first, "axis-line")]
    for place, (low, high) in enumerate(zip(plot.edges, plot.edges[1:], strict=False)):
        x, half = across.at(low), (across.at(high) - across.at(low)) / 2
        for shift, (kind, counts) in enumerate((("series", plot.first), ("other", plot.second))):
            y = up.at(counts[place])
            parts.append(_box(x + 1 + shift * half, y, half - 1, up.first - y, f"bar {kind}"))
    for value in (plot.edges[0], plot.edges[-1]):
        parts.append(_svg_text(across.at(value), up.first + 16, f"{value:.4g}", "tick", "middle"))
    parts.append(_svg_text(across.first - 8, up.last + 4, f"{most:,}", "tick", "end"))
    if plot.mark is not None and plot.edges[0] <= plot.mark <= plot.edges[-1]:
        x = across.at(plot.mark)
        parts += [
            _line(x, up.first, x, up.last, "mark"),
            _svg_text(x, up.first + 16, "threshold", "mark-label", "middle"),
        ]
    for place, (name, kind) in enumerate(zip(plot.names, ("series", "other"), strict=True)):
        parts.append(_box(across.first + 150 * place, 0, 10, 10, f"bar {kind}"))
        parts.append(_svg_text(across.first + 150 * place + 16, 10, name, "label", "start"))
    return _svg(plot.caption, across.last + 30, up.first + 26, parts)


@drawing.register
def _lines(plot: Lines) -> Markup:
    most = 1.0 if plot.shares else max((value for one in plot.series for value in one.values if value), default=1.0)
    across = _Axis(0, max(len(plot.ticks) - 1, 1), _MARGIN, _MARGIN + _AXIS)
    up = _Axis(0, most, 220, _TOP)
    parts = [_line(across.first, up.first, across.last, up.first, "axis-line")]
    for quarter in range(5):
        value = most * quarter / 4
        parts.append(_line(across.first, up.at(value), across.last, up.at(value), "grid"))
        label = percentage(value, 0) if plot.shares else f"{value:,.0f}"
        parts.append(_svg_text(across.first - 8, up.at(value) + 4, label, "tick", "end"))
    for place, tick in enumerate(plot.ticks):
        parts.append(_svg_text(across.at(place), up.first + 16, tick, "tick", "middle"))
    parts.append(_svg_text((across.first + across.last) / 2, up.first + 34, plot.x_label, "axis", "middle"))
    for number, one in enumerate(plot.series):
        parts += _series(one, number, across, up)
    longest = max((len(_shorten_label(one.name)) for one in plot.series), default=0)
    return _svg(plot.caption, across.last + 60 + longest * _LETTER, up.first + 42, parts)


def _series(one: Series, number: int, across: _Axis, up: _Axis) -> Iterator[Markup]:
    kind = f"line c{number % 3} d{number // 3 % 3}"
    found = [(across.at(place), up.at(value)) for place, value in enumerate(one.values) if value is not None]
    points = " ".join(f"{_coordinate(x)},{_coordinate(y)}" for x, y in found)
    yield element("polyline", points=points, class_=kind)
    yield from (
        element("circle", cx=_coordinate(x), cy=_coordinate(y), r="3", class_=f"dot c{number % 3}") for x, y in found
    )
    y = _TOP + _ROW * (number + 0.5)
    yield _line(across.last + 20, y, across.last + 44, y, kind)
    yield _svg_text(across.last + 50, y + 4, _shorten_label(one.name), "label", "start")


def _svg(title: str, width: float, height: float, parts: Iterable[Markup]) -> Markup:
    box = f"0 0 {_coordinate(width)} {_coordinate(height)}"
    drawn = element("svg", element("title", title), *parts, viewBox=box, role="img", width=_coordinate(width))
    return element("figure", drawn, element("figcaption", title))


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    places = dict(zip(("x1", "y1", "x2", "y2"), map(_coordinate, (x1, y1, x2, y2)), strict=True))
    return element("line", class_=kind, **places)


def _dot(x: float, y: float, radius: float) -> Markup:
    return element("circle", cx=_coordinate(x), cy=_coordinate(y), r=_coordinate(radius), class_="dot")


def _box(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    sizes = {"x": x, "y": y, "width": max(width, 0), "height": max(height, 0)}
    return element("rect", class_=kind, **{name: _coordinate(size) for name, size in sizes.items()})


def _svg_text(x: float, y: float, words: str, kind: str, anchor: str, *, turned: bool = False) -> Markup:
    at = {"x": _coordinate(x), "y": _coordinate(y), "text_anchor": anchor, "class_": kind}
    if turned:
        at["transform"] = f"rotate(-90 {_coordinate(x)} {_coordinate(y)})"
    return element("text", words, **at)


def _coordinate(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _shorten_label(label: str) -> str:
    return label if len(label) <= _MAX_LABEL else f"{label[: _MAX_LABEL - 1]}…"
