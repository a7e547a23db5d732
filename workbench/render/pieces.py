"""Pieces of one line: text with its offsets, its emphasis, and the final answer cut out of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from workbench.render.document import RenderedLine, Span, StyleName
from workbench.render.inert import inert

ANSWER_SIGN = "▶ "
"""Stands before the line that holds the final answer, so that colour is not alone."""

MAX_OPEN = 6
"""How many unclosed emphasis marks are kept in mind."""

_STARS = re.compile(r"\*+")
_BY_LENGTH: dict[int, StyleName] = {1: "italic", 2: "bold", 3: "bold"}


class Piece(NamedTuple):
    """A stretch of one line.

    Attributes:
        text: What is shown.
        style: How it is shown.
        start: Offset of its source.
        end: Offset behind its source.
        literal: True when ``text`` is the source itself, character by character.
    """

    text: str
    style: StyleName
    start: int
    end: int
    literal: bool = True


def to_line(pieces: Sequence[Piece], source: tuple[int, int], answer: tuple[int, int] | None) -> RenderedLine:
    """Make a line of pieces, the part within the answer marked by its style and a sign before the line."""
    if answer is None or answer[0] >= source[1] or answer[1] <= source[0]:
        return RenderedLine(tuple(Span(inert(piece.text), piece.style) for piece in pieces), source)
    spans: list[Span] = []
    for piece in pieces:
        spans.extend(_with_answer(piece, *answer))
    if answer[0] >= source[0] and any(span.style == "answer" for span in spans):
        spans.insert(0, Span(ANSWER_SIGN, "success"))
    return RenderedLine(tuple(spans), source)


def _with_answer(piece: Piece, start: int, end: int) -> list[Span]:
    if end <= piece.start or start >= piece.end:
        return [Span(inert(piece.text), piece.style)]
    if not piece.literal:
        return [Span(inert(piece.text), "answer")]
    first, last = max(start - piece.start, 0), end - piece.start
    parts: list[tuple[str, StyleName]] = [
        (piece.text[:first], piece.style),
        (piece.text[first:last], "answer"),
        (piece.text[last:], piece.style),
    ]
    return [Span(inert(text), style) for text, style in parts if text]


class _Stars(NamedTuple):
    piece: int
    start: int
    end: int
    opens: bool
    closes: bool


def emphasise(pieces: list[Piece], text: str) -> list[Piece]:
    """Turn ``*italic*`` and ``**bold**`` into styles; a star between letters or digits stays a star.

    Underscores never mean emphasis here: they are part of names and formulas.

    Args:
        pieces: The pieces of one line.
        text: The whole source text the pieces point into.
    """
    stars = _find_stars(pieces, text)
    pairs = _pair(stars)
    if not pairs:
        return pieces
    opening = {stars[first] for first, _ in pairs}
    closing = {stars[last] for _, last in pairs}
    marks = sorted(opening | closing, key=lambda mark: mark.start)
    result: list[Piece] = []
    styles: list[StyleName] = []
    waiting = iter(marks)
    mark = next(waiting, None)
    for number, piece in enumerate(pieces):
        at = piece.start
        while mark is not None and mark.piece == number:
            result.extend(_styled(piece, at, mark.start, styles))
            if mark in opening:
                styles.append(_BY_LENGTH[mark.end - mark.start])
            else:
                styles.pop()
            at = mark.end
            mark = next(waiting, None)
        result.extend(_styled(piece, at, piece.end, styles))
    return result


def _styled(piece: Piece, start: int, end: int, styles: list[StyleName]) -> list[Piece]:
    if start >= end:
        return []
    style = piece.style
    if style == "" and styles:
        style = "bold" if "bold" in styles else styles[-1]
    text = piece.text[start - piece.start : end - piece.start] if piece.literal else piece.text
    return [Piece(text, style, start, end, piece.literal)]


def _find_stars(pieces: list[Piece], text: str) -> list[_Stars]:
    found: list[_Stars] = []
    for number, piece in enumerate(pieces):
        if not piece.literal or piece.style == "code":
            continue
        for match in _STARS.finditer(piece.text):
            start, end = piece.start + match.start(), piece.start + match.end()
            if end - start > 3:
                continue
            before, after = text[start - 1 : start], text[end : end + 1]
            opens = bool(after.strip()) and not _is_word(before)
            closes = bool(before.strip()) and not _is_word(after)
            if opens or closes:
                found.append(_Stars(number, start, end, opens, closes))
    return found


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _pair(stars: list[_Stars]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    opened: list[int] = []
    for number, mark in enumerate(stars):
        length = mark.end - mark.start
        partner = next(
            (at for at in reversed(opened) if mark.closes and stars[at].end - stars[at].start == length), None
        )
        if partner is not None:
            pairs.append((partner, number))
            while opened.pop() != partner:
                pass
        elif mark.opens:
            opened = [*opened[-MAX_OPEN + 1 :], number]
    return pairs
