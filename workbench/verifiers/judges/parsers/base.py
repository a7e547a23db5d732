"""What a parser is and what it returns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, Literal, TypeVar

from msgspec import Struct

from workbench.llm.records import Ending
from workbench.verifiers.judges.parsers.declining import Declined, declined_in
from workbench.verifiers.judges.parsers.thoughts import is_cut_off, spoken

# -- The judge's own words in a reply: without thinking, fenced echoes and what it quotes.


Found = TypeVar("Found")
JUDGMENT = r"final[ \t*_]{1,6}judge?ment[ \t*_`]{0,6}[:：]"
"""The label of a verdict line, in either spelling; for use without regard to case."""
MARKUP = " \t*_`#[](){}<>$.,;:!-–—•|~\\"
"""What may stand around a bare verdict."""
_AROUND = MARKUP.replace(".", "")
_QUOTES = "\"'“”‘’«»"
_SPAN = re.compile(r'"[^"]{0,400}"|“[^”]{0,400}”|«[^»]{0,400}»|`[^`]{1,400}`')
_LABEL_ALONE = re.compile(rf"({JUDGMENT}[ \t*_`]{{0,6}})(?:\r?\n)[ \t\r\n]*", re.IGNORECASE)
_LINE_START = 8
_ASKED_ABOUT: Final = 4
"""Replies that are remembered: several ask the same of one, and soon after each other."""
_OTHERS_TURN = re.compile(
    r"(?<![\"'`“‘«])(?:<\|(?:im_start|start_header_id|start|turn)\|>[ \t\n]{0,3}(?:user|system|human|developer|tool)\b"
    r"|<(?:\||｜)(?:user|human|system)(?:\||｜)>|<(?:start_of_turn|\|turn)>[ \t\n]{0,3}(?:user|system)\b|\[INST\])",
    re.IGNORECASE,
)
"""Where a model that doesn't stop at the end of its turn goes on with somebody else's."""
# What marks turns and their parts: <|end|> <|return|> <|open|>response<|sep|> <｜end▁of▁sentence｜>
_TURN = re.compile(
    r"<\|(?:open|close)\|>\w{1,20}<\|sep\|>|<\|\w{1,40}\|>|<｜[\w▁]{1,40}｜>|</s>|<(?:end_of_turn|eos|turn\|)>"
)


def own_lines(raw: str, delimiter: str | None) -> list[str]:
    """The lines in which a judge speaks for itself, none of them blank.

    Args:
        raw: The reply as recorded.
        delimiter: The fence around untrusted text in the request, if there was one.
    """
    return list(_own_lines(raw, delimiter))


@lru_cache(maxsize=_ASKED_ABOUT)
def _own_lines(raw: str, delimiter: str | None) -> tuple[str, ...]:
    text = _LABEL_ALONE.sub(r"\1 ", _TURN.sub(" ", own_text(raw, delimiter)).strip())
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(">")]
    if len(lines) == 1:
        lines = [lines[0].strip().strip(_QUOTES)]
    return tuple(kept for line in lines if (kept := _without_quotations(line)).strip())


def own_text(raw: str, delimiter: str | None) -> str:
    """What a reply says of its own: no thoughts, nothing before data that it repeats, no turns that it invents for
    others; arguments as with `own_lines`."""
    start, end = spoken(raw, delimiter)
    text = raw[start:end]
    text = text[text.rfind(delimiter) + len(delimiter) :] if delimiter and delimiter in text else text
    others = _OTHERS_TURN.search(text) if "<" in text or "[" in text else None
    return text if others is None else text[: others.start()]


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


def declined(lines: Sequence[str]) -> Declined | None:
    """Whether a judge refuses, or says that it can't tell; None where it does neither.

    Args:
        lines: Its own words, as `own_lines` gives them.
    """
    return declined_in("\n".join(line.strip(_AROUND) for line in lines))


ParsedVerdict = Literal["correct", "incorrect", "abstain"]
NoVerdict = Literal["unparsed", "truncated", "refused", "content_filter", "invalid"]
"""Why there is none: nothing in the judge's form; the reply never came to its end; the judge declines to judge; a
filter has taken its words; the judge calls the completion invalid."""
Read = Callable[[str, str | None], "Reading"]
"""Takes a reply and the fence around untrusted text in its request."""


class Reading(Struct, frozen=True):
    """What a judge's reply says.

    Attributes:
        score: ICE-Score's number as the parser read it, from 0 to 4; a fault list's, from 0 to 1.
        label: CompassVerifier's A (correct), B (incorrect) or C (invalid); what a fault list holds, in words.
        reason: Why the verdict is "abstain"; None with a verdict.
    """

    verdict: ParsedVerdict
    score: float | None = None
    label: str | None = None
    reason: NoVerdict | None = None


class Parser(Struct, frozen=True):
    """One version of one family's parser.

    Attributes:
        read: What a whole reply says.
        labelled: What a verdict behind its label says, in a reply of which nothing else counts: it was cut short, or
            its author declines to judge. None for upstream's parsers, which read all replies alike.
        in_words: Whether a verdict may be a word of a sentence, so that "I can't tell. No working is shown." is none.
    """

    name: str
    version: int
    read: Read
    labelled: Read | None = None
    in_words: bool = False

    @property
    def id(self) -> str:
        """Name and version, as results state it."""
        return f"{self.name}@{self.version}"

    @property
    def is_strict(self) -> bool:
        """Whether it tells replies apart by how they end; upstream's parsers don't."""
        return self.labelled is not None

    def parse(self, raw: str, delimiter: str | None = None, ended: Ending = "whole") -> Reading:
        """Read one reply.

        Args:
            raw: The reply as recorded.
            delimiter: The fence that stood around untrusted text in the request. Strict parsers read only what follows
                its last echo; upstream's parsers know no fences.
            ended: How the reply ended. Of one that didn't come to its end, or says that there will be no verdict,
                strict parsers take a verdict behind its label alone.
        """
        is_cut = is_cut_off(raw, delimiter)
        if self.labelled is None:
            reading = self.read(raw, delimiter)
            return Reading("abstain", reason="truncated") if is_cut and reading.reason == "unparsed" else reading
        lines = own_lines(raw, delimiter)
        why: NoVerdict | None = ended if ended != "whole" else "truncated" if is_cut else None
        if why is None:
            says = declined(lines)
            why = "refused" if says == "refused" else "unparsed" if says and self.in_words else None
        if why is None:
            return self.read(raw, delimiter)
        reading = self.labelled(raw, delimiter)
        if reading.reason in (None, "invalid") or why == "unparsed":
            return reading
        return Reading("abstain", reason=why)


def said(correct: bool | None) -> Reading:
    """The reading of a yes, a no, or neither."""
    if correct is None:
        return Reading("abstain", reason="unparsed")
    return Reading("correct" if correct else "incorrect")
