"""Answers in words: what a sentence says, and when only its meaning could decide."""

from __future__ import annotations

import re

from workbench.verifiers.rules.spelling import plain
from workbench.verifiers.rules.units import unit
from workbench.verifiers.text import canonical_text

_WORD = re.compile(r"[^\W\d_]{2,}")
_MACRO = re.compile(r"\\[A-Za-z]+")
_MATH = re.compile(r"\$\$?([^$]{1,200})\$\$?|\\\(((?:(?!\\\)).){1,200})\\\)")
_QUOTED = re.compile(r"[“\"「『]([^“”\"「」『』]{1,120})[”\"」』]|\*\*([^*]{1,120})\*\*|`([^`]{1,120})`")
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9À-ɏ.,/^_{\\-])[-−]?[$€£]?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?\s?(?:%|\\%|°)?(?![A-Za-z0-9_À-ɏ/^])"
)
_AFTER = re.compile(r".*(?:(?:\bis\b|\bare\b|\bwas\b|:|\bequals\b)\s+|(?<!不)[是为：]\s*)(.{1,80})", re.DOTALL)
_ASIDE = re.compile(
    r",?\s{0,3}(?:\bi\.e\.|\bthat is\b|\bor (?:about|roughly|approximately)\b|\bwhich is\b|\bnothing else\b|\().*",
    re.DOTALL,
)
_NEXT_WORD = re.compile(r"\s?([A-Za-zµΩ°/^23]{1,20})")
_EXPLAINS = re.compile(r"[\s*_\"'”’`]{0,5}(?:[–—:;]|\.\s|\s-\s)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_BEGINS = re.compile(
    r"(?:\A|[:=\"'“‘`*]|\b(?:is|are|was|were|be|called|named))[\s\"'“‘`*]*(?:(?:the|an?|\w+['’]s)\s)?\Z"
)
_ENDS = re.compile(r"[\"'”’`*]*\s*(?:\Z|[,.;:(—–。，]|\s-\s|\b(?:because|since|as|which|who|and so)\b)")
_UNCERTAIN = re.compile(r"\b(?:if|whether|not|cannot|never|unclear|impossible|unknown)\b|n['’]t\b", re.IGNORECASE)
_BLOCKING = re.compile(r"\b(?:not|cannot|either|neither|nor|or|unless|and|except|instead)\b|n['’]t\b", re.IGNORECASE)

_LISTED = re.compile(r"[,;、，]|\band\b")
VALUE = re.compile(r"[\d\\^=]")
"""A sign of a value to work out; what a text without one means, its letters alone say."""

PROSE = 5
"""So many words make an answer a sentence."""

_HAN_PROSE = 8

_CONTAINED = 60


def words(text: str) -> int:
    """How many words an answer has, names of macros left out."""
    return len(_WORD.findall(_MACRO.sub(" ", text) if "\\" in text else text))


def is_prose(text: str) -> bool:
    """Whether an answer is a sentence; a list of words is none."""
    if len(text) > 20 and any(words(part) >= PROSE for part in _LISTED.split(text)):
        return True
    return not text.isascii() and len(_HAN.findall(text)) >= _HAN_PROSE


def sentences(text: str) -> list[str]:
    """A text's sentences; the whole text when it has but one."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part.strip()] or [text]


def value_in(sentence: str) -> str | None:
    """The one value a sentence gives: its only formula, its only quotation, what follows "is", or its only number."""
    formulas = [found[1] or found[2] for found in _MATH.finditer(sentence)]
    if len(formulas) == 1:
        return formulas[0].strip()
    quotations = [found[1] or found[2] or found[3] for found in _QUOTED.finditer(sentence)]
    if len(quotations) == 1 and not formulas:
        return quotations[0].strip()
    sentence = _ASIDE.sub("", sentence)
    if _UNCERTAIN.search(sentence):
        return None
    after = _AFTER.fullmatch(sentence.strip(" ."))
    if after is not None and words(after[1]) < PROSE:
        return after[1].strip()
    numbers = list(_NUMBER.finditer(sentence))
    return _with_unit(sentence, numbers[0]) if len(numbers) == 1 and not formulas else None


def _with_unit(sentence: str, number: re.Match[str]) -> str:
    """A number and, where the word behind it is a unit, that unit."""
    word = _NEXT_WORD.match(sentence, number.end())
    known = word is not None and unit(plain(word[1])) is not None
    return sentence[number.start() : word.end() if word and known else number.end()].strip()


def counted_in(sentence: str, noun: str) -> str | None:
    """The number a sentence gives of what was asked to count: 30000 in "carries 30000 bricks in 6 days"."""
    number = rf"(?<![\w.,])(\d[\d,]*(?:\.\d+)?)\s+(?:\w+\s+)?{re.escape(noun)}\b"
    found = re.findall(number, sentence, re.IGNORECASE)
    return found[0] if len(found) == 1 else None


def leads(sentence: str, answer: str) -> bool:
    """Whether an answer comes first and an explanation of it behind a dash, colon or full stop."""
    rest = sentence.casefold().removeprefix(answer.casefold())
    return len(answer) > 1 and len(rest) < len(sentence) and _EXPLAINS.match(rest) is not None


def contains(sentence: str, answer: str) -> bool:
    """Whether a sentence gives a short answer as a clause of its own: "... is ANSWER, because", "ANSWER, the capital".

    Not so where it is taken back, one of several, or part of a longer name: "North ANSWER", "ANSWER-in-law".
    """
    if len(answer) > _CONTAINED or len(answer) < 2 or len(sentence) > 400:
        return False
    said, wanted = canonical_text(sentence).casefold(), canonical_text(answer).casefold()
    at = said.rfind(wanted)
    if at < 0 or _BLOCKING.search(said.replace(wanted, " ")) or said.count(",") > wanted.count(",") + 1:
        return False
    return _BEGINS.search(said[:at]) is not None and _ENDS.match(said[at + len(wanted) :]) is not None
