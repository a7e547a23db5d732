"""Highlighted code: the tokens of pygments as spans, line by line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple

from workbench.core.errors import UsageError
from workbench.core.text.document import Span, StyleName
from workbench.core.text.inert import inert

MAX_HIGHLIGHTED = 20_000
"""Most characters of a highlighted block; longer ones have one style."""


def highlight(code: str, language: str) -> list[list[Span]]:
    r"""Split code into lines of highlighted spans; code in an unknown language has one style.

    Args:
        code: The code, its line breaks as ``\
    ``.
        language: The fence's language, such as ``python``; may be empty.
    """
    lines: list[list[Span]] = [[]]
    for text, style in _tokens(code, language):
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append(Span(part, style))
    return lines


def code_lines(code: str, language: str) -> list[tuple[Span, ...]]:
    """Return code as lines to display: highlighted, without control or invisible characters.

    Args:
        code: The code as stored; a carriage return is made visible unless a line feed follows.
        language: See `highlight`.
    """
    lines = highlight(code.replace("\r\n", "\n"), language)
    return [tuple(Span(inert(span.text), span.style) for span in line) for line in lines]


def _tokens(code: str, language: str) -> list[tuple[str, StyleName]]:
    plain: list[tuple[str, StyleName]] = [(code, "code")]
    if not language or len(code) > MAX_HIGHLIGHTED:
        return plain
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return plain
    tokens = [(text, _style(str(kind))) for _, kind, text in lexer.get_tokens_unprocessed(code)]
    return tokens if "".join(text for text, _ in tokens) == code else plain


_STYLES: tuple[tuple[str, StyleName], ...] = (
    ("Token.Keyword", "code.keyword"),
    ("Token.Operator.Word", "code.keyword"),
    ("Token.Literal.String", "code.string"),
    ("Token.Literal.Number", "code.number"),
    ("Token.Comment", "code.comment"),
    ("Token.Name.Builtin", "code.name"),
    ("Token.Name.Class", "code.name"),
    ("Token.Name.Decorator", "code.name"),
    ("Token.Name.Function", "code.name"),
)


def _style(kind: str) -> StyleName:
    return next((style for prefix, style in _STYLES if kind.startswith(prefix)), "code")


# -- Comparison of two texts by line: equal, changed, removed or added lines, and differing words.


Kind = Literal["same", "changed", "removed", "added"]
Stretch = tuple[int, int]
"""Start and end of characters in a line."""
MOST_LINES: Final = 2_000
"""Most lines of a compared text: the time is quadratic."""
_MAX_LINE: Final = 2_000  # Most characters of a line whose words are compared.
_MIN_SIMILARITY: Final = 0.4  # Least share of common words of two lines that count as one changed line.
_MAX_BLOCK_PAIRS: Final = 4_000  # Most pairs of lines in a block for which similar ones are searched.
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


class DiffSide(NamedTuple):
    """A line of one of two compared texts.

    Attributes:
        number: The line's number, from 1.
        differs: Offsets of the parts that the other text's line does not have.
    """

    number: int
    text: str
    differs: tuple[Stretch, ...] = ()


class DiffLine(NamedTuple):
    """One row of a comparison; a side is None if only the other text has the line."""

    kind: Kind
    left: DiffSide | None
    right: DiffSide | None


def diff_rows(left: str, right: str) -> list[DiffLine]:
    """Compare two texts line by line, and changed lines word by word.

    In order, the left sides of the rows are the lines of ``left``, and the right sides the lines of ``right``.

    Raises:
        UsageError: A text is too long.
    """
    old, new = left.split("\n"), right.split("\n")
    if max(len(old), len(new)) > MOST_LINES:
        raise UsageError(f"Texts of more than {MOST_LINES:,} lines are not compared.", "Compare shorter ones.")
    rows: list[DiffLine] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag == "equal":
            pairs: Iterator[tuple[int | None, int | None]] = zip(range(first, last), range(start, end), strict=True)
        else:
            pairs = _pair_lines(old, new, range(first, last), range(start, end))
        rows.extend(_diff_line(old, new, *pair) for pair in pairs)
    return rows


def _diff_line(old: Sequence[str], new: Sequence[str], left: int | None, right: int | None) -> DiffLine:
    if left is None or right is None:
        if right is not None:
            return DiffLine("added", None, DiffSide(right + 1, new[right]))
        assert left is not None
        return DiffLine("removed", DiffSide(left + 1, old[left]), None)
    if old[left] == new[right]:
        return DiffLine("same", DiffSide(left + 1, old[left]), DiffSide(right + 1, new[right]))
    gone, come = _differing_parts(old[left], new[right])
    return DiffLine("changed", DiffSide(left + 1, old[left], gone), DiffSide(right + 1, new[right], come))


def _pair_lines(
    old: Sequence[str], new: Sequence[str], left: range, right: range
) -> Iterator[tuple[int | None, int | None]]:
    """Pair each line of a block with the most similar one after the last pair, unless the block is large."""
    words = [_words(new[line]) for line in right] if len(left) * len(right) <= _MAX_BLOCK_PAIRS else []
    at = 0
    for line in left:
        found = [_similarity(_words(old[line]), other) for other in words[at:]]
        if max(found, default=0.0) < _MIN_SIMILARITY:
            yield line, None
        else:
            match = at + found.index(max(found))
            yield from ((None, right[place]) for place in range(at, match))
            yield line, right[match]
            at = match + 1
    yield from ((None, other) for other in right[at:])


def _words(line: str) -> Counter[str]:
    return Counter(_WORD.findall(line[:_MAX_LINE]))


def _similarity(one: Counter[str], other: Counter[str]) -> float:
    inked = [sum(count for word, count in words.items() if not word.isspace()) for words in (one, other)]
    common = sum(count for word, count in (one & other).items() if not word.isspace())
    return 2 * common / sum(inked) if common else 0.0


def _differing_parts(left: str, right: str) -> tuple[tuple[Stretch, ...], tuple[Stretch, ...]]:
    if max(len(left), len(right)) > _MAX_LINE:
        return ((0, len(left)),), ((0, len(right)),)
    old, new = _WORD.findall(left), _WORD.findall(right)
    at_left, at_right = _word_offsets(old), _word_offsets(new)
    gone: list[Stretch] = []
    come: list[Stretch] = []
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            gone.append((at_left[first], at_left[last]))
            come.append((at_right[start], at_right[end]))
    return tuple(one for one in gone if one[0] < one[1]), tuple(one for one in come if one[0] < one[1])


def _word_offsets(words: Sequence[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts
