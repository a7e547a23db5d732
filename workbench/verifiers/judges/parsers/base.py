"""The interface of parsers, and their results. A stray Yes or No of a judge that declines to judge is no verdict."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from workbench.llm.records import Ending
from workbench.verifiers.judges.parsers.thoughts import is_cut_off, spoken

Declined = Literal["refused", "undecided"]
_NEAR: Final = 400
"""Characters at either end of a long reply that are examined: in between a judge discusses the completion."""
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ`´′＇", "'"))


class _DecliningPattern(NamedTuple):
    """A way of declining.

    Attributes:
        pattern: The pattern within a line.
        holds: Lower-case literals; a line without any of them can't match. Finding none takes a hundredth of the time
            of the pattern.
        beyond_ascii: Whether a line with a non-ASCII letter may match, too.
    """

    pattern: re.Pattern[str]
    holds: list[str]
    beyond_ascii: bool = False

    def matches(self, lines: Iterable[tuple[str, str]]) -> bool:
        return any(
            self.pattern.search(line) is not None
            for line, small in lines
            if any(word in small for word in self.holds) or (self.beyond_ascii and not line.isascii())
        )


_TABLE: Final = tomllib.loads(Path(__file__).with_name("declining.toml").read_text(encoding="utf-8"))


def _patterns(kind: str) -> list[_DecliningPattern]:
    found = []
    for one in _TABLE[kind]:
        pattern = "|".join(one["alternatives"])
        for name, fragment in _TABLE["fragments"].items():
            pattern = pattern.replace(f"<{name}>", fragment)
        holds = [*(_TABLE["negations"] if one.get("negated") else ()), *one.get("holds", ())]
        compiled = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        found.append(_DecliningPattern(compiled, holds, one.get("beyond_ascii", False)))
    return found


_REFUSES: Final = _patterns("refuses")
_CANNOT_TELL: Final = _patterns("undecided")


@lru_cache(maxsize=4)
def declined_in(text: str) -> Declined | None:
    """Return whether a judge's own words refuse, or state that it can't decide; None if they do neither."""
    text = text.translate(_APOSTROPHES)
    ends = text if len(text) <= 2 * _NEAR else f"{text[:_NEAR]}\n\n{text[-_NEAR:]}"
    lines = [(line, line.lower()) for line in ends.split("\n")]
    if any(one.matches(lines) for one in _REFUSES):
        return "refused"
    # In a long examination a doubt may be about one step; the verdict then has a separate line.
    told = lines[-1:] if len(text) > _NEAR else lines
    return "undecided" if any(one.matches(told) for one in _CANNOT_TELL) else None


# -- The judge's own words in a reply: without reasoning, fenced echoes and quotations.


Found = TypeVar("Found")
JUDGMENT = r"final[ \t*_]{1,6}judge?ment[ \t*_`]{0,6}[:：]"
"""The label of a verdict line, in either spelling; to be used case-insensitively."""
MARKUP = " \t*_`#[](){}<>$.,;:!-–—•|~\\"
"""Characters that may surround a bare verdict."""
_AROUND = MARKUP.replace(".", "")
_QUOTES = "\"'“”„‘’«»「」"
_FENCED = re.compile(r"^[ \t]{0,3}(```+|~~~+)[^\n`]*\n(.*?)(?:^[ \t]{0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(
    r"\"[^\"\n]{0,400}\"|“[^”]{0,400}”|„[^“”]{0,400}[“”]|«[^»]{0,400}»|»[^«\n]{0,400}«|‹[^›\n]{0,400}›|「[^」]{0,400}」"
    r"|『[^』]{0,400}』|‘(?:[^’\n]|(?<=\w)’(?=\w)){0,400}’(?!\w)|``[^\n]{1,400}?(?:``|'')|`[^`\n]{1,400}`"
    r"|(?<!\w)'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){1,400}'(?!\w)|\([^()\n]{1,400}\)"
)
# A line that announces a quotation, or the possible forms of an answer.
ANNOUNCES = re.compile(
    r"\b(?:says?|said|reads?|writes?|wrote|written|claims?|states?|(?:ends|ended|closes|closed) (?:with|in|on|by)"
    r"|contains?|quotes?|adds?"
    r"|(?:comments?|lines?|words|sentences?|strings?|text)(?: of [^:\n]{1,40})? (?:is|are|was|were))\b"
    r"(?:[^:\n]{0,60}:|(?: (?:the|a|this|these))?(?: (?:last|final|following))?"
    r"(?: (?:lines?|words|sentence|text|comment|string|claim))?)"
    r"[ \t*_]*$",
    re.IGNORECASE,
)
_INSTRUCTS = re.compile(
    r"(?i:\b(?:answer|reply|respond|end|output|choose|pick|either|one of|options|formats?|allowed)\b)"
    r"[^:\n]{0,80}:[ \t*_]*$"
)
_OWN_VERDICT = re.compile(r"(?i)\b(?:i|my|me|we|our)\b(?!.{0,80}\b(?:would|could|might)\b)")
_SENTENCE = re.compile(r".*(?:[.!?;。！？；—]|->|=>|[→⇒])", re.DOTALL)
# Several words in bold or italics, within a sentence.
_EMPHASIS = re.compile(r"(?<=[\w,] )(\*{1,3}|__?)(?=\S)[^*_\n]{1,200}[ ][^*_\n]{1,200}\1(?=,?[ ]\w)")
_TAG = re.compile(r"</?[a-z]{1,12}[ ]?/?>", re.IGNORECASE)
_OPENERS: Final = frozenset(
    re.findall(
        r"\w+",
        "so thus therefore hence overall finally then now and my our the this that is a an in to as it i we conclude"
        " conclusion summary short sum result results analysis step final answer verdict judgment judgement grade"
        " decision output response assistant assistantfinal ok okay accordingly consequently here s hereby give given"
        " reach be must evaluation text boxed assessment note functional correctness usefulness score rating total"
        " code candidate student solution graded n b c",
    )
)
_CONCLUDES: Final = frozenset({"so", "thus", "therefore", "hence"})
GOES_ON = re.compile(
    r"[\s*_`\"'”’»)\]]{0,6}[ \t](?:is|was|were|are|isn't|wasn't|would|will|should|must|can|cannot|can't|may|might"
    r"|could|has|had|seems|if|when|only|unless)\b",
    re.IGNORECASE,
)
DOUBT: Final = "?"
"""The result for words that contain two verdicts, or mention one without giving it."""
_LABEL_ALONE = re.compile(rf"({JUDGMENT}[ \t*_`]{{0,6}})(?:\r?\n)[ \t\r\n]*", re.IGNORECASE)
_LINE_START = 8
_CLAUSE: Final = 120
_ENDS_IN_LABEL = re.compile(
    r"(?:judge?ment|verdict|answer|score|result|grade)[*_ \t]{0,4}[:：][*_ \t]{0,4}$", re.IGNORECASE
)
_CACHED_REPLIES: Final = 4
"""Number of cached replies: several functions examine the same reply in succession."""
_OTHERS_TURN = re.compile(
    r"(?<![\"'`“‘«])(?:<\|(?:im_start|start_header_id|start|turn)\|>[ \t\n]{0,3}(?:user|system|human|developer|tool)\b"
    r"|<(?:\||｜)(?:user|human|system)(?:\||｜)>|<(?:start_of_turn|\|turn)>[ \t\n]{0,3}(?:user|system)\b|\[INST\])",
    re.IGNORECASE,
)
"""The start of another speaker's turn, which a model writes if it doesn't stop at the end of its own turn."""
# Marks of turns and their parts: <|end|> <|return|> <|open|>response<|sep|> <｜end▁of▁sentence｜>
_TURN = re.compile(
    r"<\|(?:open|close)\|>\w{1,20}<\|sep\|>|<\|\w{1,40}\|>|<｜[\w▁]{1,40}｜>|</s>|<(?:end_of_turn|eos|turn\|)>"
)


def own_lines(raw: str, delimiter: str | None) -> list[str]:
    """Return the non-blank lines in which a judge speaks for itself.

    Args:
        raw: The reply as recorded.
        delimiter: The fence around untrusted text in the request, if there was one.
    """
    return list(_own_lines(raw, delimiter))


@lru_cache(maxsize=_CACHED_REPLIES)
def _own_lines(raw: str, delimiter: str | None) -> tuple[str, ...]:
    text = _without_code(_TURN.sub(" ", own_text(raw, delimiter)).strip()).strip()
    if fields := _one_word_fields(text):
        return fields
    text = _LABEL_ALONE.sub(r"\1 ", text)
    whole = _SPAN.fullmatch(text.strip())
    text = text.strip().strip(_QUOTES) if whole and "(" not in whole[0][0] else _without_quotations(text)
    kept: list[str] = []
    skips = "none"
    for line in text.splitlines():
        bare = line.strip()
        if not bare:
            skips = skips if skips == "line" else "none"
            continue
        if skips != "none":
            skips = "block" if skips == "block" else "none"
            continue
        if not bare.startswith(">"):
            kept.append(_without_emphasis(line) if "*" in line or "_" in line else line)
            skips = _quoted_extent(bare) if bare[-1] in ":*_" or bare[-1].isalpha() else "none"
    return tuple(kept)


def _without_emphasis(line: str) -> str:
    return _EMPHASIS.sub(lambda found: found[0] if begins_statement(line, found) else " ", line)


def _one_word_fields(text: str) -> tuple[str, ...]:
    if not (text.startswith("{") and text.endswith("}")):
        return ()
    try:
        fields = msgspec.json.decode(text, type=dict[str, object])
    except (ValueError, RecursionError):
        return ()
    words = ((name, value) for name, value in fields.items() if isinstance(value, str) and len(value.split()) == 1)
    return tuple(f"{name.replace('_', ' ')}: {value}" for name, value in words)


def _quoted_extent(line: str) -> Literal["none", "line", "next", "block"]:
    """Return how much of the following text is quoted: a line, the next line only, or all up to a blank line."""
    if _OWN_VERDICT.search(line):
        return "none"
    if announced := ANNOUNCES.search(line):
        return "block" if "lines" in announced[0] else "line" if ":" in announced[0] else "next"
    return "block" if _INSTRUCTS.search(line) else "none"


def _without_code(text: str) -> str:
    if "```" not in text and "~~~" not in text:
        return text

    def unquoted(block: re.Match[str]) -> str:
        before = text[: block.start()].strip()
        is_own = not (before or text[block.end() :].strip()) or _ENDS_IN_LABEL.search(before[-40:])
        return block[2] if is_own else "\n"

    return _FENCED.sub(unquoted, text)


def own_text(raw: str, delimiter: str | None) -> str:
    """Return a reply's own words: without reasoning, text before the last repeated delimiter, and invented turns.

    For the arguments see `own_lines`."""
    start, end = spoken(raw, delimiter)
    text = raw[start:end]
    text = text[text.rfind(delimiter) + len(delimiter) :] if delimiter and delimiter in text else text
    others = _OTHERS_TURN.search(text) if "<" in text or "[" in text else None
    return text if others is None else text[: others.start()]


def last_found(lines: Sequence[str], read: Callable[[str], Found | None]) -> Found | None:
    """Return the result of ``read`` for the last line that has one."""
    for line in reversed(lines):
        found = read(line)
        if found is not None:
            return found
    return None


def single_match(pattern: re.Pattern[str], line: str) -> str | None:
    """Return the first group, in lower case, of a pattern's matches in a line; None without a match.

    The result is `DOUBT` if the matches differ from each other, or if none of them begins a statement."""
    found = list(pattern.finditer(line))
    words = {match[1].lower() for match in found}
    if not found:
        return None
    return words.pop() if len(words) == 1 and any(begins_statement(line, one) for one in found) else DOUBT


def begins_statement(line: str, found: re.Match[str]) -> bool:
    if GOES_ON.match(line, found.end()):
        return False
    before = line[max(0, found.start() - _CLAUSE) : found.start()]
    clause = before[end.end() :] if (end := _SENTENCE.match(before)) else before
    words = _split_words(clause)
    tail = set(_split_words(clause.rpartition(",")[2]))
    return all(word in _OPENERS or word.isdigit() for word in words) or bool(tail and tail <= _CONCLUDES)


def _split_words(clause: str) -> list[str]:
    return re.findall(r"[^\W_]+", _TAG.sub(" ", clause).lower())


def verdict_in(lines: Sequence[str], read: Callable[[str], str | None]) -> str | None:
    """Return the result of ``read`` for the last line that has one.

    The result is `DOUBT` if other words follow that line and an earlier line has another verdict: it may be a mention.
    """
    found = [(place, verdict) for place, line in enumerate(lines) if (verdict := read(line)) is not None]
    if not found:
        return None
    place, verdict = found[-1]
    is_last = place == len(lines) - 1
    return verdict if is_last or all(one in (verdict, DOUBT) for _, one in found) else DOUBT


def _without_quotations(text: str) -> str:
    def unquoted(span: re.Match[str]) -> str:
        if span[0][0] == "(" and " " not in span[0]:
            return span[0]
        before = text[max(0, span.start() - _LINE_START) : span.start()]
        is_leading = "\n" in before or span.start() < _LINE_START
        before = before[before.rfind("\n") + 1 :].rstrip(MARKUP.replace(":", ""))
        stands_alone = before.endswith((":", " or", " and", "/")) or (not before and is_leading)
        after = text[span.end() : span.end() + _LINE_START].partition("\n")[0]
        is_code = span[0][0] == "`" and not after.strip(MARKUP.replace("`", ""))
        return span[0] if stands_alone and (is_code or " " not in span[0]) else " "

    return _SPAN.sub(unquoted, text)


def find_decline(lines: Sequence[str]) -> Declined | None:
    """Return whether a judge refuses, or states that it can't decide; None if it does neither.

    Args:
        lines: The judge's own words, from `own_lines`.
    """
    return declined_in("\n".join(line.strip(_AROUND) for line in lines))


ParsedVerdict = Literal["correct", "incorrect", "abstain"]
NoVerdict = Literal["unparsed", "truncated", "refused", "content_filter", "invalid"]
"""Why a reply gives no verdict: it has none in the judge's form, is truncated, refuses to judge, was removed by a
filter, or calls the completion invalid.
"""
Read = Callable[[str, str | None], "Reading"]
"""Parses a reply, given the fence around untrusted text in its request."""
ReadLines = Callable[[Sequence[str]], "Reading"]
"""Parses the judge's own words, from `own_lines`."""
ReadLine = Callable[[str], str | None]
"""Returns the word of a verdict in a line; `DOUBT` for words that give none, None without such a word."""


class Reading(Struct, frozen=True):
    """The content of a judge's reply.

    Attributes:
        score: ICE-Score's number, from 0 to 4; a fault list's score, from 0 to 1.
        label: CompassVerifier's A (correct), B (incorrect) or C (invalid); for a fault list its description.
        reason: Why the verdict is "abstain"; None with a verdict.
    """

    verdict: ParsedVerdict
    score: float | None = None
    label: str | None = None
    reason: NoVerdict | None = None


class Parser(Struct, frozen=True):
    """One version of one family's parser.

    Attributes:
        read: Parses a whole reply; None if ``strict`` does.
        strict: Parses the judge's own words.
        labelled: Parses a verdict after its label, the only one that counts in a reply that was truncated or declines
            to judge. None for upstream's parsers, which parse all replies in the same way.
        in_words: Whether a verdict may be a word in a sentence; then a reply that states it can't decide has none,
            such as "I can't tell. No working is shown."
    """

    name: str
    version: int
    read: Read | None = None
    strict: ReadLines | None = None
    labelled: ReadLines | None = None
    in_words: bool = False

    @property
    def id(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def is_strict(self) -> bool:
        """Return whether the parser distinguishes replies by how they end; upstream's parsers don't."""
        return self.labelled is not None

    def parse(self, raw: str, delimiter: str | None = None, ended: Ending = "whole") -> Reading:
        """Parse one reply.

        Args:
            raw: The reply as recorded.
            delimiter: The fence around untrusted text in the request. Strict parsers read only the text after its last
                repetition in the reply; upstream's parsers ignore fences.
            ended: How the reply ended. In an incomplete one, or one that declines to judge, strict parsers accept only
                a verdict after its label.
        """
        is_cut = is_cut_off(raw, delimiter)
        if self.labelled is None:
            reading = self._reading(raw, delimiter, ())
            return Reading("abstain", reason="truncated") if is_cut and reading.reason == "unparsed" else reading
        lines = own_lines(raw, delimiter)
        why: NoVerdict | None = ended if ended != "whole" else "truncated" if is_cut else None
        if why is None:
            says = find_decline(lines)
            why = "refused" if says == "refused" else "unparsed" if says and self.in_words else None
        if why is None:
            return self._reading(raw, delimiter, lines)
        reading = self.labelled(lines)
        if reading.reason in (None, "invalid") or why == "unparsed":
            return reading
        return Reading("abstain", reason=why)

    def _reading(self, raw: str, delimiter: str | None, lines: Sequence[str]) -> Reading:
        if self.strict is not None:
            return self.strict(lines)
        assert self.read is not None
        return self.read(raw, delimiter)


def reading_of(correct: bool | None) -> Reading:
    if correct is None:
        return Reading("abstain", reason="unparsed")
    return Reading("correct" if correct else "incorrect")


_YES_NO: Final = {"yes": True, "no": False}


def reading_of_word(word: str | None, meaning: Mapping[str, bool] = _YES_NO) -> Reading:
    """Return the reading of "yes" or "no"; of anything else, that it can't be parsed."""
    return reading_of(meaning.get(word or ""))


def by_lines(*reads: ReadLine, meaning: Mapping[str, bool] = _YES_NO) -> ReadLines:
    """Return a parser of the last line with a verdict, see `verdict_in`: the first of ``reads`` that finds one counts.

    Args:
        meaning: Whether a word means that the completion is correct.
    """
    return lambda lines: reading_of_word(next(filter(None, (verdict_in(lines, read) for read in reads)), None), meaning)
