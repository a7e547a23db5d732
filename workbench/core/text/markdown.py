"""Renders Markdown as models write it, line by line; lines are not merged, and no backslash or underscore is lost.

Full CommonMark would merge lines, remove backslashes and read indented prose as code, so only a readable subset is
supported: headings, quotes, rules, tables, fences, ``*`` and ``**``. Math and code are cut out first, and every mark
that could be part of a formula is shown unchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from workbench.core.text.code import highlight
from workbench.core.text.document import Piece, RenderedLine, RenderedText, StyleName, to_line
from workbench.core.text.emphasis import emphasise
from workbench.core.text.fragments import Fragment, TableLine, fragments, is_separator, is_table, table_lines
from workbench.core.text.math import FRAME, render_math

DISPLAY_INDENT = "    "
"""The indentation of display math."""
LINE_BREAK = re.compile(r"\r\n|\r|\n")
_FENCE = re.compile(r"[ ]{0,8}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`\n]*$")
_HEADING = re.compile(r"\s{0,3}#{1,6}[ \t]+")
_QUOTE = re.compile(r"\s{0,3}(?:>[ \t]?)+(?=[^\s<>()\[\]{}])")
_RULE = re.compile(r"\s{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$")
_STOPS = ("", ".", ",")
Answer = tuple[int, int] | None


class SourceLine(NamedTuple):
    start: int
    end: int


class Prose(NamedTuple):
    """A line of prose with its math and code: one source line, or several lines that a fragment spans."""

    start: int
    end: int
    fragments: tuple[Fragment, ...]


def source_lines(text: str, start: int, end: int) -> list[SourceLine]:
    lines: list[SourceLine] = []
    for match in LINE_BREAK.finditer(text, start, end):
        lines.append(SourceLine(start, match.start()))
        start = match.end()
    lines.append(SourceLine(start, end))
    return lines


def render_markdown(text: str, start: int, end: int, answer: Answer = None) -> Iterator[RenderedLine]:
    """Render the text between two offsets.

    Args:
        text: The whole text; offsets in the result point into it.
        start: Where to begin.
        end: Where to stop.
        answer: Offsets of the final answer, which is marked.
    """
    for fence, lines in _split_regions(text, source_lines(text, start, end)):
        if fence is not None:
            yield from _code_lines(text, lines, fence, answer)
        elif lines:
            yield from _prose_lines(text, lines, answer)


def _split_regions(text: str, lines: list[SourceLine]) -> Iterator[tuple[str | None, list[SourceLine]]]:
    prose: list[SourceLine] = []
    waiting = deque(lines)
    while waiting:
        line = waiting.popleft()
        opening = _FENCE.match(text, line.start, line.end)
        if opening is None:
            prose.append(line)
            continue
        yield None, prose
        prose, block, mark = [], [line], opening[1]
        while waiting:
            block.append(waiting.popleft())
            inner = text[block[-1].start : block[-1].end].strip()
            if inner.startswith(mark) and not inner.strip(mark[0]):
                break
        yield opening[2], block
    yield None, prose


def _code_lines(text: str, lines: list[SourceLine], language: str, answer: Answer) -> Iterator[RenderedLine]:
    last = text[lines[-1].start : lines[-1].end].strip()
    closed = len(lines) > 1 and last != "" and not last.strip("`~")
    body = lines[1:-1] if closed else lines[1:]
    yield _dim_line(text, lines[0], answer)
    shown = highlight("\n".join(text[line.start : line.end] for line in body), language)
    for line, spans in zip(body, shown, strict=False):
        pieces, at = [], line.start
        for span in spans:
            pieces.append(Piece(span.text, span.style, at, at + len(span.text)))
            at += len(span.text)
        yield to_line(pieces, line, answer)
    if closed:
        yield _dim_line(text, lines[-1], answer)


def _dim_line(text: str, line: SourceLine, answer: Answer) -> RenderedLine:
    return to_line([Piece(text[line.start : line.end], "dim", *line)], line, answer)


def _prose_lines(text: str, lines: list[SourceLine], answer: Answer) -> Iterator[RenderedLine]:
    waiting = deque(_logical_lines(text, lines))
    while waiting:
        line = waiting.popleft()
        if waiting and is_separator(text[waiting[0].start : waiting[0].end]) and "|" in text[line.start : line.end]:
            head, ruler = _fragment_pieces(text, line), _fragment_pieces(text, waiting[0])
            if is_table(head, ruler):
                rows = [
                    TableLine(line.start, line.end, head),
                    TableLine(waiting[0].start, waiting.popleft().end, ruler),
                ]
                while waiting and "|" in text[waiting[0].start : waiting[0].end]:
                    row = waiting.popleft()
                    rows.append(TableLine(row.start, row.end, _fragment_pieces(text, row)))
                yield from table_lines(text, rows, answer)
                continue
        yield from _prose_line(text, line, answer)


def _logical_lines(text: str, lines: list[SourceLine]) -> Iterator[Prose]:
    found = deque(fragments(text, lines[0].start, lines[-1].end))
    waiting = deque(lines)
    while waiting:
        start, end = waiting.popleft()
        inside: list[Fragment] = []
        while found and found[0].start < end:
            inside.append(found.popleft())
            while inside[-1].end > end:
                end = waiting.popleft().end
        yield Prose(start, end, tuple(inside))


def _prose_line(text: str, line: Prose, answer: Answer) -> list[RenderedLine]:
    source = (line.start, line.end)
    if not line.fragments:
        if line.start == line.end:
            return [RenderedLine((), source)]
        if _RULE.match(text, line.start, line.end):
            return [_dim_line(text, SourceLine(*source), answer)]
    elif _is_display(text, line):
        return _display_lines(text, line, source, answer)
    for place, fragment in enumerate(line.fragments):
        if fragment.display and _is_displayed(text, line, fragment):
            before = Prose(line.start, fragment.start, line.fragments[:place])
            end = line.end if text[fragment.end : line.end].strip() in _STOPS else fragment.end
            formula = Prose(fragment.start, end, (fragment,))
            after = Prose(end, line.end, line.fragments[place + 1 :])
            parts = [part for part in (before, formula, after) if text[part.start : part.end].strip()]
            return [row for part in parts for row in _prose_line(text, part, answer)]
    return [to_line(_inline_pieces(text, line), source, answer)]


def _is_displayed(text: str, line: Prose, formula: Fragment) -> bool:
    begins = not text[line.start : formula.start].strip()
    ends = text[formula.end : line.end].strip() in _STOPS
    return begins or ends or "\n" in render_math(formula.body, display=True)


def _is_display(text: str, line: Prose) -> bool:
    only = line.fragments[0]
    return (
        len(line.fragments) == 1
        and only.display
        and not text[line.start : only.start].strip()
        and text[only.end : line.end].strip() in _STOPS
    )


def _display_lines(text: str, line: Prose, source: tuple[int, int], answer: Answer) -> list[RenderedLine]:
    formula = line.fragments[0]
    indent = Piece(DISPLAY_INDENT, "", line.start, line.start)
    rows = [
        [indent, Piece(row, "math", formula.start, formula.end, literal=False)]
        for row in render_math(formula.body, display=True).strip("\n").split("\n")
    ]
    rows[-1].append(Piece(text[formula.end : line.end].strip(), "", formula.end, line.end, literal=False))
    return [to_line([piece for piece in row if piece.text], source, answer) for row in rows]


def _inline_pieces(text: str, line: Prose) -> list[Piece]:
    base: StyleName = ""
    marks: list[Piece] = []
    at = line.start
    if (match := _HEADING.match(text, at, line.end)) is not None:
        marks.append(Piece(match[0], "dim", *match.span()))
        base, at = "heading", match.end()
    elif (match := _QUOTE.match(text, at, line.end)) is not None:
        marks.append(Piece(match[0], "dim", *match.span()))
        base, at = "quote", match.end()
    pieces = _fragment_pieces(text, line._replace(start=at), base)
    return marks + (emphasise(pieces, text) if "*" in text[at : line.end] else pieces)


def _fragment_pieces(text: str, line: Prose, base: StyleName = "") -> list[Piece]:
    pieces: list[Piece] = []
    at = line.start
    for fragment in line.fragments:
        if fragment.start > at:
            pieces.append(Piece(text[at : fragment.start], base, at, fragment.start))
        if fragment.kind == "code":
            source = text[fragment.start : fragment.end]
            pieces.append(Piece(source, "code", fragment.start, fragment.end))
        else:
            formula = render_math(fragment.body).replace("\n", "; ")
            pieces.append(Piece(formula, "math", fragment.start, fragment.end, literal=False))
        at = max(at, fragment.end)
    if at < line.end:
        pieces.append(Piece(text[at : line.end], base, at, line.end))
    return pieces


# -- The entry point: renders a raw text, or shows it unchanged.


_THINK = re.compile(r"</?think>")
_BOXED = re.compile(r"\\(?:boxed|fbox)\b")


def render(text: str, *, fold_think: bool = True, answer_span: tuple[int, int] | None = None) -> RenderedText:
    """Render a question, reference or completion for reading; the text itself is never changed.

    Args:
        text: The stored text.
        fold_think: Show each ``<think>`` block as one line, even if it has only a closing tag.
        answer_span: Offsets of the final answer, shown in the style "answer" behind a ``▶``.
    """
    answer = _valid_span(answer_span)
    lines: list[RenderedLine] = []
    ends: list[int] = []
    at = 0
    for start, end in _think_blocks(text):
        lines.extend(_render_prose(text, at, start, answer))
        if fold_think:
            lines.append(_folded_think(text, start, end, answer))
        else:
            lines.extend(_unfolded_think(text, start, end, answer))
        ends.append(len(lines) - 1)
        at = end
    lines.extend(_render_prose(text, at, len(text), answer))
    return _with_marks(text, lines, ends, answer)


def render_raw(text: str, answer_span: tuple[int, int] | None = None) -> RenderedText:
    answer = _valid_span(answer_span)
    lines = [_literal_line(text, start, end, answer) for start, end in source_lines(text, 0, len(text))]
    starts = [line.source[0] for line in lines]
    ends = [bisect_right(starts, match.start()) - 1 for match in _THINK.finditer(text) if match[0] == "</think>"]
    return _with_marks(text, lines, ends, answer)


def _valid_span(answer: tuple[int, int] | None) -> Answer:
    return answer if answer is not None and answer[0] < answer[1] else None


def _think_blocks(text: str) -> Iterator[tuple[int, int]]:
    start, at = None, 0
    for match in _THINK.finditer(text):
        if match[0] == "<think>":
            start = match.start() if start is None else start
        else:
            yield (at if start is None else start), match.end()
            start, at = None, match.end()


def _render_prose(text: str, start: int, end: int, answer: Answer) -> Iterator[RenderedLine]:
    if start and text[start : start + 1] == "\n":
        start += 1
    if end < len(text) and text[end - 1 : end] == "\n":
        end -= 1
    return render_markdown(text, start, end, answer) if start < end else iter(())


def _folded_think(text: str, start: int, end: int, answer: Answer) -> RenderedLine:
    count = text.count("\n", start, end) + 1
    label = f"▸ <think> {count} {'line' if count == 1 else 'lines'} folded"
    return to_line([Piece(label, "dim", start, end, literal=False)], (start, end), answer)


def _unfolded_think(text: str, start: int, end: int, answer: Answer) -> Iterator[RenderedLine]:
    inner, inner_end = start, end - len("</think>")
    opened = text.startswith("<think>", start)
    if opened:
        inner += len("<think>")
    body = (
        line._replace(spans=tuple(span if span.style else span._replace(style="think") for span in line.spans))
        for line in _render_prose(text, inner, inner_end, answer)
    )
    opening = [_tag_line(text, start, inner)] if opened else []
    return chain(opening, body, [_tag_line(text, inner_end, end)])


def _tag_line(text: str, start: int, end: int) -> RenderedLine:
    return to_line([Piece(text[start:end], "think", start, end)], (start, end), None)


def _literal_line(text: str, start: int, end: int, answer: Answer) -> RenderedLine:
    pieces = [Piece(text[start:end], "", start, end)] if start < end else []
    return to_line(pieces, (start, end), answer)


def _with_marks(text: str, lines: list[RenderedLine], think_ends: list[int], answer: Answer) -> RenderedText:
    starts = [line.source[0] for line in lines]
    boxed = {bisect_right(starts, match.start()) - 1 for match in _BOXED.finditer(text)}
    marks = {
        "boxed": sorted({_first_line_with(FRAME[0], lines, max(number, 0)) for number in boxed}),
        "answer": [n for n, line in enumerate(lines) if any(span.style == "answer" for span in line.spans)][:1],
        "think_end": think_ends,
        "code": [
            number
            for number, line in enumerate(lines)
            if _is_code(line) and (number == 0 or not _is_code(lines[number - 1]))
        ],
    }
    return RenderedText(tuple(lines), marks)


def _is_code(line: RenderedLine) -> bool:
    return bool(line.spans) and all(span.style.startswith("code") for span in line.spans)


def _first_line_with(sign: str, lines: list[RenderedLine], last: int) -> int:
    first = last
    while first and lines[first - 1].source == lines[last].source:
        first -= 1
    return next((number for number in range(first, last + 1) if sign in lines[number].text), first)
