"""A document as one HTML page that needs nothing else: no script, no address, no font from elsewhere.

The page forbids itself everything but its own style sheet, which is named by its hash; should data ever pass for
markup, the browser would neither run nor fetch nor style anything of it.
"""

from __future__ import annotations

from base64 import b64encode
from functools import singledispatch
from hashlib import sha256
from importlib.resources import files

from markupsafe import Markup

from workbench.tables.document import (
    Block,
    Case,
    Cell,
    Document,
    Facts,
    Group,
    Head,
    Histogram,
    Intervals,
    Lines,
    Paragraph,
    Row,
    Scatter,
    Section,
    Table,
)
from workbench.tables.svg import drawing, element, joined, lines

_LONG_WORD = 30
"""Letters of a word that may be broken anywhere to keep a column narrow."""


def html(document: Document) -> str:
    """The whole page."""
    style = (files("workbench.tables") / "report.css").read_text(encoding="utf-8")
    head = element("head", *_metas(style), element("title", document.title), element("style", Markup(style)))
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


def _metas(style: str) -> tuple[Markup, ...]:
    own = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{own}'; img-src data:; base-uri 'none'; form-action 'none'"
    made = (
        {"charset": "utf-8"},
        {"http-equiv": "Content-Security-Policy", "content": policy},
        {"name": "viewport", "content": "width=device-width, initial-scale=1"},
        {"name": "referrer", "content": "no-referrer"},
    )
    return tuple(_meta(attributes) for attributes in made)


def _meta(attributes: dict[str, str]) -> Markup:
    return Markup("<meta{}>").format(
        Markup("").join(Markup(' {}="{}"').format(*attribute) for attribute in attributes.items())
    )


def _section(section: Section) -> Markup:
    return element("section", element("h2", section.title), *map(_block, section.blocks), id=section.key)


@singledispatch
def _block(block: Block) -> Markup:
    raise TypeError(f"{type(block).__name__} is no block")


@_block.register
def _(block: Paragraph) -> Markup:
    return element("p", block.text)


@_block.register
def _(block: Facts) -> Markup:
    pairs = (element("div", element("dt", name), element("dd", said)) for name, said in block.rows)
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
    kinds = (*(_word_kinds(cell.text) if place < left else ()), "in" if indented else "", _heat(cell))
    name = "td" if place else "th"
    kind = " ".join(filter(None, kinds)) or None
    return element(name, cell.text.strip(), *small, class_=kind, scope=None if place else "row")


def _word_kinds(words: str) -> tuple[str, ...]:
    """How a cell of words may be broken into lines."""
    longest = max(map(len, words.split()), default=0)
    return ("word", "long" if longest > _LONG_WORD else "short" if len(words) <= _LONG_WORD else "")


def _heat(cell: Cell) -> str:
    return "" if cell.shade is None else f"h{cell.shade}"


@_block.register
def _(block: Case) -> Markup:
    facts = element(
        "dl",
        *(element("div", element("dt", name), element("dd", said)) for name, said in block.facts),
    )
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
