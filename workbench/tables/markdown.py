"""Writes a document as Markdown; data is escaped, so that it is shown as text whatever it contains."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import singledispatch

from workbench.core.text.figures import interval_bar
from workbench.core.text.inert import inert, inert_lines
from workbench.tables.document import (
    Block,
    Case,
    Cell,
    Document,
    Facts,
    Group,
    Histogram,
    Intervals,
    Lines,
    Paragraph,
    Row,
    Scatter,
    Section,
    Table,
    limit_length,
    percentage,
)
from workbench.tables.table_text import text_plot

_BAR = 50
"""Characters from 0 to 1 in a plot."""

_MARKS = re.compile(r"([\\`*_\[\]|~$#])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_LINK = re.compile(r"(?i)(https?|ftp|mailto|www)([:.])")
_TICKS = re.compile("`+")


def markdown(document: Document) -> str:
    parts = [f"# {escaped(document.title)}", escaped(document.lead), f"Made {escaped(document.generated_at)}."]
    parts += ["\n".join(f"- [{escaped(part.title)}](#{_anchor(part.title)})" for part in document.sections)]
    return "\n\n".join([*parts, *map(_section, document.sections)]) + "\n"


def escaped(text: str) -> str:
    plain = _MARKS.sub(r"\\\1", inert(" ".join(limit_length(text).split("\n"))).translate(_ENTITIES))
    return _LINK.sub(_without_link, plain).replace("@", "&#64;")


def markdown_table(table: Table) -> str:
    aligned = [":--" if place < table.left else "--:" for place in range(len(table.columns))]
    lines = [
        _table_line(map(escaped, table.columns)),
        _table_line(aligned),
        *(_row(row, len(aligned)) for row in table.rows),
    ]
    notes = [f"- {escaped(note)}" for note in table.notes]
    return (
        "\n\n".join([f"**{escaped(table.caption)}**", "\n".join(lines), *(["\n".join(notes)] if notes else [])]) + "\n"
    )


def _without_link(match: re.Match[str]) -> str:
    return f"{match[1]}&#{ord(match[2])};"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _section(section: Section) -> str:
    return "\n\n".join([f"## {escaped(section.title)}", *map(_block, section.blocks)])


@singledispatch
def _block(block: Block) -> str:
    raise TypeError(f"{type(block).__name__} is not a block")


@_block.register
def _(block: Paragraph) -> str:
    return escaped(block.text)


@_block.register
def _(block: Facts) -> str:
    return "\n".join(f"- **{escaped(name)}**: {escaped(value)}" for name, value in block.rows)


@_block.register
def _(block: Table) -> str:
    return markdown_table(block).rstrip("\n")


@_block.register
def _(block: Intervals) -> str:
    wide = max((len(inert(limit_length(point.label))) for point in block.points), default=0)
    lines = [
        f"{inert(limit_length(point.label)):<{wide}}  {interval_bar(point.value, point.low, point.high, _BAR)}  "
        f"{percentage(point.value):>5} [{percentage(point.low)}, {percentage(point.high)}]"
        for point in block.points
    ]
    if block.mark is not None:
        lines.append(f"{'':<{wide}}  {' ' * round(block.mark * (_BAR - 1))}│ {inert(block.mark_label)}")
    return f"{escaped(block.caption)}\n\n{_fenced_block(chr(10).join(lines))}"


@_block.register
def _(block: Scatter) -> str:
    lines = [f"{inert(limit_length(dot.label))}  {percentage(dot.x)}  {percentage(dot.y)}" for dot in block.dots]
    head = f"verifier, {inert(block.x_label)}, {inert(block.y_label)}"
    return f"{escaped(block.caption)}\n\n{_fenced_block(chr(10).join([head, *lines]))}"


@_block.register
def _(block: Histogram) -> str:
    lines = [f"from      to        {block.names[0]}, {block.names[1]}"] + [
        f"{low:<9.4g} {high:<9.4g} {first:,}, {second:,}"
        for low, high, first, second in zip(block.edges, block.edges[1:], block.first, block.second, strict=False)
    ]
    return f"{escaped(block.caption)}\n\n{_fenced_block(inert_lines(chr(10).join(lines)))}"


@_block.register
def _(block: Lines) -> str:
    return f"{escaped(block.caption)}\n\n{_fenced_block(text_plot(block))}"


@_block.register
def _(block: Case) -> str:
    facts = "\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in block.facts)
    passages = [
        f"{escaped(part.name)}:\n\n{_fenced_block(inert_lines(limit_length(part.text)))}" for part in block.passages
    ]
    return "\n\n".join(part for part in (f"#### {escaped(block.title)}", facts, *passages) if part)


@_block.register
def _(block: Group) -> str:
    title = [f"### {escaped(block.title)}"] if block.title else []
    return "\n\n".join([*title, *map(_block, block.blocks)])


def _fenced_block(text: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def _row(row: Row, columns: int) -> str:
    if row.kind == "section":
        return _table_line([f"**{escaped(row.cells[0].text)}**", *[""] * (columns - 1)])
    cells = map(_cell, row.cells)
    return _table_line(f"**{cell}**" if row.kind == "total" and cell else cell for cell in cells)


def _cell(cell: Cell) -> str:
    indent = len(cell.text) - len(cell.text.lstrip(" "))
    text = "&nbsp;" * indent + escaped(cell.text.strip())
    return f"{text} {escaped(cell.small)}" if cell.small else text


def _table_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
