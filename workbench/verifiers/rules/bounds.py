"""Bounds and intervals in words, as signs: "at least 37" as ``n ≥ 37``, "50 ± 2" as ``(48, 52)``."""

from __future__ import annotations

import re

from workbench.verifiers.rules.conclusions import conclusion_of
from workbench.verifiers.rules.regions import intervals
from workbench.verifiers.rules.sense import change_marks, has_denial, word_count, words
from workbench.verifiers.rules.spelling import tidy

_DIGIT = re.compile(r"\d")
_FEW_WORDS = 2
_INEQUALITY = re.compile(
    r"(?:[-−\d./π√]+(?:\s[a-z]{1,3})?\s*[<≤]\s*)?\b[A-Za-zμλθ]\s*[<>≤≥≠]\s*[-−+]?[\w./√π^]+(?:\s(?:[mck]?m|[mk]?g|s|m?L)\b)?"
)
_EXCEPTS = re.compile(r"\b(?:except|but|without|excluding|other\s+than|apart\s+from|not)\b|≠")
_SPREAD = re.compile(r"(?:[^=±]{0,40}(?:=|\bis\b)\s*)?(-?[\d.]+)\s*(?:±|\\pm|\+/-)\s*([\d.]+)(?:\s[a-z]{1,3})?")
_FROM_TO = re.compile(r"(?:[^=]{0,40}\bis\s+)?(?:from|between)\s+(-?[\d.]+)\s+(?:to|and)\s+(-?[\d.]+)")
_BOUNDS = (
    (r"(?:strictly\s+)?between\s+(\S+)\s+and\s+(\S+?)[.,]?\Z", r"\1 < {} < \2"),
    (r"(?:is\s+|be\s+)?(?:at\s+least|no\s+less\s+than|not\s+less\s+than|greater\s+than\s+or\s+equal\s+to)\s+", "{} ≥ "),
    (
        r"(?:is\s+|be\s+)?(?:at\s+most|no\s+more\s+than|not\s+exceeding|up\s+to|less\s+than\s+or\s+equal\s+to)\s+",
        "{} ≤ ",
    ),
    (r"(?:is\s+|be\s+)?(?:less|smaller)\s+than\s+", "{} < "),
    (r"(?:is\s+|be\s+)?(?:more|greater|larger)\s+than\s+", "{} > "),
    (r"(?<!\d)(-?\d+)\s+or\s+(?:more|greater|above|higher|larger)[.]?\Z", r"{} ≥ \1"),
    (r"(?<!\d)(-?\d+)\s+or\s+(?:less|fewer|below|lower|smaller)[.]?\Z", r"{} ≤ \1"),
    (r"[Aa]ll\s+real\s+(?:numbers?|x|values)\s+(?:except|but|other\s+than)\s+", "{} ≠ "),
)
_BOUNDED = tuple((re.compile(pattern), signs) for pattern, signs in _BOUNDS)


def interval_by_ends(text: str) -> str:
    """Rewrite an interval given by its middle, or by words between its ends, by its ends: "50 ± 2", "from 48 to 52"."""
    told = tidy(conclusion_of(text)).strip(" .")
    if (middle := _SPREAD.fullmatch(told)) is not None:
        return f"({middle[1]}-{middle[2]}, {middle[1]}+{middle[2]})"
    return f"({ends[1]}, {ends[2]})" if (ends := _FROM_TO.fullmatch(told)) is not None else text


def bound_as_inequality(text: str, name: str) -> str:
    """Rewrite a bound in words as an inequality: "k must be less than 4", "all real numbers except 2"."""
    if intervals(tidy(text)) is not None:
        return text
    stated = list(_INEQUALITY.finditer(text))
    if word_count(text) > _FEW_WORDS and 1 <= len(stated) <= 2:
        if change_marks(text[: stated[0].start()]):
            return text
        told = text[stated[0].start() :].strip(" .")
        if intervals(tidy(told)) is not None:
            return told
        between = text[stated[0].end() : stated[-1].start()]
        if not _EXCEPTS.search(told) and not _DIGIT.search(text, stated[-1].end()):
            both = " and ".join(found[0] for found in stated)
            return " or ".join(found[0] for found in stated) if "or" in words(between) or not intervals(both) else both
    for pattern, signs in _BOUNDED:
        found = pattern.search(text)
        if found is not None and not has_denial(text[: found.start(1) if found.re.groups else found.start()]):
            return found.expand(signs.format(name or "x")) + text[found.end() :].strip(" .")
    return text
