"""Emphasis: asterisks become styles only where they must be markup. Also the mark on judges that chose a table's items.

CommonMark would read ``2*(3)*4`` and ``(a *b* c)`` as emphasis. Here a pair of asterisks is emphasis only if both are
at word boundaries, and neither the text between them nor that around them suggests an operator. In doubt the asterisks
are shown, so that the meaning never changes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import Final, Literal, NamedTuple

from workbench.core.text.document import Piece, StyleName
from workbench.core.text.symbols import WORDS

MAX_OPEN = 6
"""Most unclosed emphasis marks that are tracked."""
_CONTEXT_CHARACTERS = 40
"""Number of characters next to a mark that are examined."""
_BY_LENGTH: dict[int, StyleName] = {1: "italic", 2: "bold", 3: "bold"}
_STARS = re.compile(r"\*+")
_BEFORE = frozenset("([{\"'“‘«¡¿—:,;_~")
_AFTER = frozenset(")]}\"'”’».,;:!?…—_~$\\`")
_NUMERALS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_GREEK = "\u0370-\u03ff"
_FUNCTIONS = "|".join(sorted(WORDS, key=len, reverse=True))
_SYMBOL = re.compile(rf"(?:{_FUNCTIONS})?[^\W\d_]?|[A-Z]{{1,3}}|[a-z]{{0,2}}[{_GREEK}]+|{'|'.join(_NUMERALS)}")
"""Consecutive letters that may be a quantity: a variable, a function of one, a segment such as AB, a numeral."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_OPERATOR = re.compile(r"[+=^<>×·÷±∓√∑∏∫≤≥≠≈∈&#@|\\~$*]|(?<![^\W\d_])[-−/!]|[-−/](?![^\W\d_])")
_OPENING, _CLOSING = frozenset("([{|√$\\"), frozenset(")]}|′°%!$\\")
_BULLETS = ("-", "+", "*")
_Side = Literal["word", "operand", "number", "operator"]


class _DelimiterRun(NamedTuple):
    piece: int
    start: int
    end: int
    opens: bool
    closes: bool


def emphasise(pieces: list[Piece], text: str) -> list[Piece]:
    """Turn ``*italic*`` and ``**bold**`` into styles; asterisks that may be operators are kept.

    Underscores never mean emphasis here: they are part of names and formulas.

    Args:
        pieces: The pieces of one line.
        text: The source text that the pieces' offsets refer to.
    """
    if not pieces:
        return pieces
    line = (pieces[0].start, pieces[-1].end)
    marks = _find_marks(pieces, text, line)
    pairs = [
        (first, last) for first, last in _pair_delimiters(marks) if _is_emphasis(text, line, marks[first], marks[last])
    ]
    if not pairs:
        return pieces
    opening = {marks[first] for first, _ in pairs}
    closing = {marks[last] for _, last in pairs}
    waiting = iter(sorted(opening | closing, key=lambda mark: mark.start))
    result: list[Piece] = []
    styles: list[StyleName] = []
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


def _find_marks(pieces: list[Piece], text: str, line: tuple[int, int]) -> list[_DelimiterRun]:
    found: list[_DelimiterRun] = []
    for number, piece in enumerate(pieces):
        if not piece.literal or piece.style == "code":
            continue
        for match in _STARS.finditer(piece.text):
            start, end = piece.start + match.start(), piece.start + match.end()
            if end - start > 3:
                continue
            before, after = text[max(start - 1, line[0]) : start], text[end : min(end + 1, line[1])]
            opens = bool(after.strip()) and _is_border(before, _BEFORE)
            closes = bool(before.strip()) and _is_border(after, _AFTER)
            if opens or closes:
                found.append(_DelimiterRun(number, start, end, opens, closes))
    return found


def _is_border(character: str, marks: frozenset[str]) -> bool:
    return not character.strip() or character in marks or _is_wide(character)


def _is_wide(character: str) -> bool:
    return not character.isascii() and unicodedata.east_asian_width(character) in "WF"


def _pair_delimiters(marks: list[_DelimiterRun]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    opened: list[int] = []
    for number, mark in enumerate(marks):
        length = mark.end - mark.start
        partner = next(
            (at for at in reversed(opened) if mark.closes and marks[at].end - marks[at].start == length), None
        )
        if partner is not None:
            pairs.append((partner, number))
            while opened.pop() != partner:
                pass
        elif mark.opens:
            opened = [*opened[-MAX_OPEN + 1 :], number]
    return pairs


def _is_emphasis(text: str, line: tuple[int, int], first: _DelimiterRun, last: _DelimiterRun) -> bool:
    inside = text[first.end : last.start]
    before = _side_before(text[max(first.start - _CONTEXT_CHARACTERS, line[0]) : first.start].rstrip())
    after = _side_after(text[last.end : min(last.end + _CONTEXT_CHARACTERS, line[1])].lstrip())
    operands = ("operand", "number")
    between = before in operands and after in operands
    if "|" in inside:
        return False
    if _is_prose(inside):
        strong = first.end - first.start > 1
        return not between and (strong or not {before, after} & {"number", "operator"})
    if first.end - first.start == 1:
        return before == after == "word"
    if _OPERATOR.search(inside) is not None or not inside[0].isalnum():
        return before not in operands and after not in operands
    return not between


def _is_prose(text: str) -> bool:
    plain = text.replace("*", "")
    return _OPERATOR.search(plain) is None and any(
        _SYMBOL.fullmatch(word) is None or _is_wide(word[0]) for word in _WORD.findall(plain)
    )


def _side_before(text: str) -> _Side:
    last = text[-1:]
    if last.isalpha():
        return _side_of(_WORD.findall(text)[-1])
    if last.isdigit():
        return "number"
    if last and last in _CLOSING:
        return "operand"
    return "operator" if text.strip() not in _BULLETS and _OPERATOR.match(last) is not None else "word"


def _side_after(text: str) -> _Side:
    first = text[:1]
    if first.isalpha():
        return _side_of(_WORD.findall(text)[0])
    if first.isdigit():
        return "number"
    if first and first in _OPENING:
        return "operand"
    return "operator" if first not in ("!", "") and _OPERATOR.match(first) is not None else "word"


def _side_of(word: str) -> _Side:
    return "operand" if _SYMBOL.fullmatch(word) is not None and not _is_wide(word[-1]) else "word"


# -- The mark on names of judges whose verdicts, or whose model's, chose the items of a table.


CHOSE: Final = "†"


def with_mark(verifier: str, chose: Collection[str]) -> str:
    return f"{verifier} {CHOSE}" if verifier in chose else verifier


def explain_marks(chose: Collection[str]) -> tuple[str, ...]:
    """Return a sentence that explains the mark on verifiers' names; empty if no verifier has it."""
    if not chose:
        return ()
    names = ", ".join(chose)
    return (f"{names}: verdicts of this judge, or of its model, decided what belongs to the data (marked {CHOSE}).",)
