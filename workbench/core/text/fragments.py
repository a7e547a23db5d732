"""Finds math and inline code in prose, before anything else looks at it. One pass, linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from workbench.core.text.symbols import MATRICES, STACKS

MAX_FRAGMENT = 20_000
"""What is longer (characters) between two delimiters is no formula."""

_OPENER = re.compile(
    r"(?P<display>\$\$|\\\[)|(?P<inline>\$|\\\()|(?P<code>`+)|\\begin\{(?P<env>[a-zA-Z]+\*?)\}"
    r"|(?P<box>\\(?:boxed|fbox)\s*\{)|\\[\\$`{}]"
)
_CLOSERS = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_MATH_LIKE = re.compile(r"[\\=^_<>+]")
_LETTER = re.compile(r"\s*[^\W\d_]\s*")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")

_NEAR = 8
"""Characters beside a formula that are looked at."""


class Fragment(NamedTuple):
    """A stretch of math or code inside prose.

    Attributes:
        start: Offset of its first delimiter's first character.
        end: Offset behind its last delimiter.
        kind: What it is.
        body: The text between the delimiters (with them, for ``\\boxed{..}`` and ``\\begin{..}`` in plain prose).
        display: True for math meant to stand on lines of its own.
    """

    start: int
    end: int
    kind: Literal["math", "code"]
    body: str
    display: bool = False


def fragments(text: str, start: int, end: int) -> Iterator[Fragment]:
    """Yield the math and the inline code between two offsets, in order and without overlap."""
    finder = _Finder(text, end)
    at = start
    while (match := _OPENER.search(text, at, end)) is not None:
        found = finder.fragment(match)
        if found is not None:
            yield found
        at = found.end if found is not None else match.end()


class _Finder:
    """Looks for closing delimiters, remembering what it saw so that no stretch is searched twice."""

    def __init__(self, text: str, end: int) -> None:
        self.text = text
        self.end = end
        self.next: dict[str, int] = {}
        self.braces: dict[int, int] | None = None

    def fragment(self, match: re.Match[str]) -> Fragment | None:
        start, inside = match.span()
        if match["code"]:
            return self.code(start, match["code"])
        if match["box"]:
            close = self.closing_brace(inside - 1)
            return None if close is None else self.math(start, start, close + 1, close + 1, display=False)
        if match["env"]:
            return self.environment(start, match["env"])
        if match["display"]:
            return self.closed(start, _CLOSERS[match["display"]], display=True)
        if match["inline"] == "$":
            return self.dollars(start)
        return self.closed(start, "\\)", display=False) if match["inline"] else None

    def find(self, closer: str, at: int) -> int | None:
        """The next place of a closer, found at most once for each place."""
        known = self.next.get(closer, -1)
        if known < at:
            known = self.text.find(closer, at, self.end)
            self.next[closer] = known = self.end if known < 0 else known
        return known if known < self.end else None

    def math(self, start: int, body: int, body_end: int, end: int, *, display: bool) -> Fragment | None:
        if not 0 < body_end - body <= MAX_FRAGMENT or "\n\n\n" in self.text[body:body_end]:
            return None
        return Fragment(start, end, "math", self.text[body:body_end], display)

    def closed(self, start: int, closer: str, *, display: bool) -> Fragment | None:
        """What a delimiter closes; an opening one that is opened again before that was never closed."""
        close = self.find(closer, start + 2)
        if close is None:
            return None
        again = self.find(self.text[start : start + 2], start + 2) if closer != "$$" else None
        if (again is not None and again < close) or (not display and "\n\n" in self.text[start:close]):
            return None
        return self.math(start, start + 2, close, close + 2, display=display)

    def environment(self, start: int, name: str) -> Fragment | None:
        if name not in STACKS and name not in MATRICES:
            return None
        closer = f"\\end{{{name}}}"
        close = self.find(closer, start)
        if close is None:
            return None
        end = close + len(closer)
        return self.math(start, start, end, end, display=name in STACKS)

    def dollars(self, start: int) -> Fragment | None:
        """``$..$`` in one paragraph; money ("$5 and $6") is left alone as pandoc does."""
        close = self.find("$", start + 1)
        while close is not None and self.text[close - 1] == "\\":
            close = self.find("$", close + 1)
        if close is None or close - start > MAX_FRAGMENT:
            return None
        body = self.text[start + 1 : close]
        if not body.strip() or "\n\n" in body:
            return None
        tight = not body[0].isspace() and not body[-1].isspace() and not self.text[close + 1 : close + 2].isdigit()
        spaced = body[0].isspace() and body[-1].isspace() and (_MATH_LIKE.search(body) or _LETTER.fullmatch(body))
        if not (tight or spaced) or ("\\" not in body and self.are_signs(start, close, body)):
            return None
        return Fragment(start, close + 1, "math", body)

    def are_signs(self, start: int, close: int, body: str) -> bool:
        """Whether two dollars are signs of a formula: a bracket is open between them, or operands are on all sides."""
        if sum(body.count(mark) for mark in "([{") != sum(body.count(mark) for mark in ")]}"):
            return True
        before = self.text[max(start - _NEAR, 0) : start].rstrip(" ")[-1:]
        after = self.text[close + 1 : min(close + 1 + _NEAR, self.end)].lstrip(" ")[:1]
        return (before.isdigit() or before in _CLOSING) and (after.isdigit() or after in _OPENING)

    def code(self, start: int, ticks: str) -> Fragment | None:
        """Code between backticks on one line."""
        inside = start + len(ticks)
        newline = self.find("\n", inside)
        line_end = self.end if newline is None else newline
        close = self.text.find(ticks, inside, line_end)
        if close < 0 or close == inside:
            return None
        return Fragment(start, close + len(ticks), "code", self.text[inside:close])

    def closing_brace(self, opening: int) -> int | None:
        if self.braces is None:
            self.braces = _brace_pairs(self.text, opening, self.end)
        return self.braces.get(opening)


def _brace_pairs(text: str, start: int, end: int) -> dict[int, int]:
    """Opening brace → its closing one, escaped braces apart."""
    stack: list[int] = []
    pairs: dict[int, int] = {}
    for match in _BRACES.finditer(text, start, end):
        if match[0] == "{":
            stack.append(match.start())
        elif match[0] == "}" and stack:
            pairs[stack.pop()] = match.start()
    return pairs
