"""The judge's own words in a reply: without thinking, fenced echoes and what it quotes.

A judge that repeats the completion repeats whatever verdicts stand in it. So strict parsers read behind the last echoed
fence, skip what is marked as a quotation, and take the last line that has a verdict in that judge's form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from workbench.core.final_answer import reply_start

Found = TypeVar("Found")

THINK = "<think>"
"""What opens a model's thinking where it stands in the reply."""

JUDGMENT = r"final[ \t*_]{1,6}judge?ment[ \t*_`]{0,6}[:：]"
"""The label of a verdict line, in either spelling; for use without regard to case."""

MARKUP = " \t*_`#[](){}<>$.,;:!-–—•|~\\"
"""What may stand around a bare verdict."""

_QUOTES = "\"'“”‘’«»"
_SPAN = re.compile(r'"[^"]{0,400}"|“[^”]{0,400}”|«[^»]{0,400}»|`[^`]{1,400}`')
_LABEL_ALONE = re.compile(rf"({JUDGMENT}[ \t*_`]{{0,6}})(?:\r?\n)[ \t\r\n]*", re.IGNORECASE)
_LINE_START = 8


def is_cut_off(raw: str) -> bool:
    """Whether a reply ends inside its thinking: ``<think>`` opened and never closed."""
    return raw.rfind(THINK) > raw.rfind("</think>")


def own_lines(raw: str, delimiter: str | None) -> list[str]:
    """The lines in which a judge speaks for itself, none of them blank.

    Args:
        raw: The reply as recorded.
        delimiter: The fence around untrusted text in the request, if there was one.
    """
    text = raw[raw.rfind(delimiter) + len(delimiter) :] if delimiter and delimiter in raw else raw
    text = text[reply_start(text) :].strip()
    if text.startswith(THINK):
        return []
    text = _LABEL_ALONE.sub(r"\1 ", text)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(">")]
    if len(lines) == 1:
        lines = [lines[0].strip().strip(_QUOTES)]
    return [kept for line in lines if (kept := _without_quotations(line)).strip()]


def last_found(lines: list[str], read: Callable[[str], Found | None]) -> Found | None:
    """What ``read`` finds in the last line in which it finds something."""
    for line in reversed(lines):
        found = read(line)
        if found is not None:
            return found
    return None


def chosen(pattern: re.Pattern[str], line: str) -> str | None:
    """The first group of the match a line begins with, markup aside, else of the last one in it."""
    leading = pattern.match(line.lstrip(MARKUP))
    if leading:
        return leading[1]
    found = [match[1] for match in pattern.finditer(line)]
    return found[-1] if found else None


def _without_quotations(line: str) -> str:
    """A line without its quotations; one word alone, at the start or behind a colon, is no quotation."""

    def kept(span: re.Match[str]) -> str:
        before = line[max(0, span.start() - _LINE_START) : span.start()].rstrip(MARKUP.replace(":", ""))
        stands_alone = before.endswith(":") or (not before and span.start() < _LINE_START)
        is_code = span[0][0] == "`" and span.end() == len(line.rstrip(MARKUP.replace("`", "")))
        return span[0] if stands_alone and (is_code or " " not in span[0]) else " "

    return _SPAN.sub(kept, line)
