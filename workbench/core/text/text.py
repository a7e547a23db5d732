"""The entry point: a raw text in, its rendered or its exact form out."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain, islice

from workbench.core.text.document import RenderedLine, RenderedText
from workbench.core.text.markdown import Answer, render_markdown, source_lines
from workbench.core.text.math import FRAME
from workbench.core.text.pieces import Piece, to_line

_THINK = re.compile(r"</?think>")
_BOXED = re.compile(r"\\(?:boxed|fbox)\b")


def render(text: str, *, fold_think: bool = True, answer_span: tuple[int, int] | None = None) -> RenderedText:
    """Render a question, reference or completion for reading; the text itself is never changed.

    Args:
        text: The stored text.
        fold_think: Show each ``<think>`` block as one line; also when only its closing tag exists.
        answer_span: Offsets of the final answer, shown in the style "answer" behind a ``▶``.
    """
    answer = _span(answer_span)
    lines: list[RenderedLine] = []
    ends: list[int] = []
    at = 0
    for start, end in _thoughts(text):
        lines.extend(_prose(text, at, start, answer))
        if fold_think:
            lines.append(_folded(text, start, end, answer))
        else:
            lines.extend(_unfolded(text, start, end, answer))
        ends.append(len(lines) - 1)
        at = end
    lines.extend(_prose(text, at, len(text), answer))
    return _marked(text, lines, ends, answer)


def render_raw(text: str, answer_span: tuple[int, int] | None = None) -> RenderedText:
    """Show the exact text by lines, control characters as pictures; the marks are those of `render`."""
    answer = _span(answer_span)
    lines = [_literal(text, start, end, answer) for start, end in source_lines(text, 0, len(text))]
    starts = [line.source[0] for line in lines]
    ends = [bisect_right(starts, match.start()) - 1 for match in _THINK.finditer(text) if match[0] == "</think>"]
    return _marked(text, lines, ends, answer)


def _span(answer: tuple[int, int] | None) -> Answer:
    return answer if answer is not None and answer[0] < answer[1] else None


def _thoughts(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of each think block, tags included; a block without an opening tag begins where the last one ended."""
    start, at = None, 0
    for match in _THINK.finditer(text):
        if match[0] == "<think>":
            start = match.start() if start is None else start
        else:
            yield (at if start is None else start), match.end()
            start, at = None, match.end()


def _prose(text: str, start: int, end: int, answer: Answer) -> Iterator[RenderedLine]:
    """Render what stands between two blocks, without the line break that only sets it apart from them."""
    if start and text[start : start + 1] == "\n":
        start += 1
    if end < len(text) and text[end - 1 : end] == "\n":
        end -= 1
    return render_markdown(text, start, end, answer) if start < end else iter(())


def _folded(text: str, start: int, end: int, answer: Answer) -> RenderedLine:
    count = text.count("\n", start, end) + 1
    label = f"▸ <think> {count} {'line' if count == 1 else 'lines'} folded"
    return to_line([Piece(label, "dim", start, end, literal=False)], (start, end), answer)


def _unfolded(text: str, start: int, end: int, answer: Answer) -> Iterator[RenderedLine]:
    inner, inner_end = start, end - len("</think>")
    opened = text.startswith("<think>", start)
    if opened:
        inner += len("<think>")
    body = (
        line._replace(spans=tuple(span if span.style else span._replace(style="think") for span in line.spans))
        for line in _prose(text, inner, inner_end, answer)
    )
    opening = [_tag(text, start, inner)] if opened else []
    return chain(opening, body, [_tag(text, inner_end, end)])


def _tag(text: str, start: int, end: int) -> RenderedLine:
    return to_line([Piece(text[start:end], "think", start, end)], (start, end), None)


def _literal(text: str, start: int, end: int, answer: Answer) -> RenderedLine:
    pieces = [Piece(text[start:end], "", start, end)] if start < end else []
    return to_line(pieces, (start, end), answer)


def _marked(text: str, lines: list[RenderedLine], think_ends: list[int], answer: Answer) -> RenderedText:
    """Add the places a key can jump to."""
    starts = [line.source[0] for line in lines]
    boxed = {bisect_right(starts, match.start()) - 1 for match in _BOXED.finditer(text)}
    marks = {
        "boxed": sorted({_first_with(FRAME[0], lines, max(number, 0)) for number in boxed}),
        "answer": list(islice((number for number, line in enumerate(lines) if _has_answer(line)), 1)),
        "think_end": think_ends,
        "code": [
            number
            for number, line in enumerate(lines)
            if _is_code(line) and (number == 0 or not _is_code(lines[number - 1]))
        ],
    }
    return RenderedText(tuple(lines), marks)


def _has_answer(line: RenderedLine) -> bool:
    return any(span.style == "answer" for span in line.spans)


def _is_code(line: RenderedLine) -> bool:
    return bool(line.spans) and all(span.style.startswith("code") for span in line.spans)


def _first_with(sign: str, lines: list[RenderedLine], last: int) -> int:
    """Of the rows of one formula, given its last one, the first with the sign (or the first of all)."""
    first = last
    while first and lines[first - 1].source == lines[last].source:
        first -= 1
    return next((number for number in range(first, last + 1) if sign in lines[number].text), first)
