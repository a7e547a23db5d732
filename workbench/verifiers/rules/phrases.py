"""Answers in words: what a sentence says, and when only its meaning could decide."""

from __future__ import annotations

import re

from workbench.verifiers.canonical import canonical_text
from workbench.verifiers.rules.spelling import plain
from workbench.verifiers.rules.units import unit

_WORD = re.compile(r"[^\W\d_]{2,}")
_MACRO = re.compile(r"\\[A-Za-z]+")
_MATH = re.compile(r"\$\$?([^$]{1,200})\$\$?|\\\(((?:(?!\\\)).){1,200})\\\)")
_QUOTED = re.compile(r"[“\"「『]([^“”\"「」『』]{1,120})[”\"」』]|\*\*([^*]{1,120})\*\*|`([^`]{1,120})`")
_NUMBER = re.compile(r"(?<![\w.,/^_{\\-])[-−]?[$€£]?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?\s?(?:%|\\%|°)?(?![\w/^])")
_AFTER = re.compile(r".*(?:(?:\bis\b|\bare\b|\bwas\b|:|\bequals\b)\s+|(?<!不)[是为：]\s*)(.{1,80})", re.DOTALL)
_ASIDE = re.compile(
    r",?\s*(?:\bi\.e\.|\bthat is\b|\bor (?:about|roughly|approximately)\b|\bwhich is\b|\bnothing else\b|\().*",
    re.DOTALL,
)
_NEXT_WORD = re.compile(r"\s?([A-Za-zµΩ°/^23]{1,20})")
_HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_BLOCKING = re.compile(r"\b(?:not|cannot|either|neither|nor|or|unless|and|except|instead)\b|n['’]t\b", re.IGNORECASE)

_LISTED = re.compile(r"[,;、，]|\band\b")
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


def value_in(sentence: str) -> str | None:
    """The one value a sentence gives: its only formula, its only quotation, what follows "is", or its only number."""
    formulas = [found[1] or found[2] for found in _MATH.finditer(sentence)]
    if len(formulas) == 1:
        return formulas[0].strip()
    quotations = [found[1] or found[2] or found[3] for found in _QUOTED.finditer(sentence)]
    if len(quotations) == 1 and not formulas:
        return quotations[0].strip()
    sentence = _ASIDE.sub("", sentence)
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


def contains(sentence: str, answer: str) -> bool:
    """Whether a sentence gives a short answer in so many words, without taking it back or naming alternatives."""
    if len(answer) > _CONTAINED or len(answer) < 2 or len(sentence) > 400:
        return False
    said, wanted = canonical_text(sentence).casefold(), canonical_text(answer).casefold()
    at = said.rfind(wanted)
    if at < 0 or _BLOCKING.search(said.replace(wanted, " ")) or said.count(",") > wanted.count(",") + 1:
        return False
    before, behind = said[at - 1 : at], said[at + len(wanted) : at + len(wanted) + 1]
    return not (before.isalnum() and wanted[0].isalnum()) and not (behind.isalnum() and wanted[-1].isalnum())
