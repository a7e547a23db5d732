"""Both final answers of a verdict: side by side where there is room, else one above the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from rich.cells import cell_len

from workbench.model.browse import ItemVerdict
from workbench.render.answers import shown_answer
from workbench.render.document import Span, StyleName
from workbench.render.pieces import ANSWER_SIGN
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.wrapping import wrap_line

NARROWEST: Final = 40
"""Cells from which two answers stand side by side."""

INDENT: Final = "  "
_BETWEEN = " │ "
_HEAD = len(f"{ANSWER_SIGN}completion ")
_LONGEST = 400
"""Characters of a final answer that are shown."""

Line = tuple[Span, ...]


def answers(verdict: ItemVerdict, width: int, *, beside: bool, raw: bool, marked: bool) -> Iterator[Line]:
    """The reference's and the completion's final answer as a verifier read them.

    Args:
        verdict: The verdict.
        width: Cells there are; 0 where that is not known.
        beside: Side by side, if the width allows.
        raw: The stored text instead of the rendered one.
        marked: The answers are marked in their texts; the sign stands in the titles, too.
    """
    if verdict.reference_final is None and verdict.candidate_final is None:
        return
    heads = (
        _head("reference", marked and verdict.reference_span is not None),
        _head("completion", marked and verdict.candidate_span is not None),
    )
    texts = (verdict.reference_final, verdict.candidate_final)
    if beside and width >= NARROWEST:
        room = (width - len(INDENT) - len(_BETWEEN)) // 2
        yield from _beside(heads, [_cell(text, room, raw) for text in texts], room)
    else:
        room = width - len(INDENT) - _HEAD
        for head, text in zip(heads, texts, strict=True):
            yield from _below(head, _cell(text, room, raw))


def _head(title: str, marked: bool) -> Span:
    return Span(f"{ANSWER_SIGN if marked else ''}{title}", "dim")


def _below(head: Span, lines: list[Span]) -> Iterator[Line]:
    first, *others = lines
    yield Span(INDENT), *_padded(head, _HEAD), first
    for line in others:
        yield Span(INDENT + " " * _HEAD), line


def _beside(heads: tuple[Span, Span], columns: list[list[Span]], room: int) -> Iterator[Line]:
    yield Span(INDENT), *_padded(heads[0], room), _bar(), heads[1]
    for left, right in zip_longest(*columns, fillvalue=Span("")):
        yield Span(INDENT), *_padded(left, room), _bar(), right


def _bar() -> Span:
    return Span(_BETWEEN, "dim")


def _padded(span: Span, width: int) -> Line:
    return span, Span(" " * (width - cell_len(span.text)))


def _cell(text: str | None, width: int, raw: bool) -> list[Span]:
    """An answer in lines of some cells; at least one."""
    if text is None:
        return [Span("(none found)", "dim")]
    style: StyleName = "code" if raw else "math"
    shown = shown_answer(text, raw=raw)
    shown = shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "…"
    return [
        Span(line[start:end], style)
        for line in map(printable, shown.split("\n"))
        for start, end in (wrap_line(line, width) if width > 0 else ((0, len(line)),))
    ]
