"""ICE-Score (arXiv 2304.14317): a score from 0 to 4 for functional correctness or usefulness; 4 is correct."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial

from workbench.verifiers.judges.parsers.base import (
    DOUBT,
    MARKUP,
    Reading,
    reading_of,
    single_match,
    verdict_in,
)

TOP = 4
_MARKERS = ("score", "functional", "correctness")
_NUMBER = r"([-+−]?[0-9]{1,9}(?:\.[0-9]{0,9})?(?:[ \t]{0,2}(?:/|out of)[ \t]{0,2}[0-9]{1,9}(?:\.0{1,9})?)?)(?![0-9/%])"
_LABELLED = re.compile(
    r"(?<![^\W_])(?:functional[ \t_]{1,3}correctness|usefulness|score)(?:[ \t]{0,3}\([^()]{0,40}\))?"
    rf"[ \t*_`]{{0,6}}[:：=][ \t*_`\"'(\[]{{0,8}}{_NUMBER}(?!\w)",
    re.IGNORECASE,
)
_LEADING = re.compile(rf"[ \t*_`#(\[]{{0,8}}{_NUMBER}[ \t*_`]{{0,6}}(?:[-–—][ \t*_`]{{1,6}}(?![0-9.])|\((?![0-9]))")
_WHOLE = re.compile(_NUMBER)
_PARTS = re.compile(r"[ \t]{0,2}(?:/|out of)[ \t]{0,2}")


def upstream(raw: str, delimiter: str | None = None) -> Reading:
    """Read a whole number; else the most frequent number in sentences about a score or correctness; else 0.

    This is upstream's parser for functional correctness: a number with text after it counts as 0, and any number is
    accepted.
    """
    try:
        score = int(raw)
    except ValueError:
        score = _most_frequent_number(raw)
    return _reading_of_score(score)


def strict(lines: Sequence[str]) -> Reading:
    """Read the last line that is a score, begins with one (``3 - …``, ``3 (…``) or has one after its label.

    A score is 0 to 4, as ``3``, ``3.0``, ``3/4`` or ``3 out of 4``; any other number in that place gives no verdict.
    """
    return _reading_of_number(verdict_in(lines, _number_of_line))


def labelled(lines: Sequence[str]) -> Reading:
    return _reading_of_number(verdict_in(lines, partial(single_match, _LABELLED)))


def _reading_of_number(number: str | None) -> Reading:
    score = None if number in (None, DOUBT) else _score_in_range(number)
    return reading_of(None) if score is None else _reading_of_score(score)


def _reading_of_score(score: int) -> Reading:
    return Reading("correct" if score == TOP else "incorrect", score=score)


def _most_frequent_number(raw: str) -> int:
    lines = raw.lower().replace("(", "").replace(")", "").split("\n")
    sentences = (part for line in lines for part in line.lstrip("0123456789. ").split(". "))
    numbers = Counter(
        word
        for sentence in sentences
        if any(marker in sentence for marker in _MARKERS)
        for word in sentence.strip(".").replace("out of ", "/").replace("/4", "").split()
        if word.isnumeric()
    )
    try:
        return int(numbers.most_common(1)[0][0])
    except (IndexError, ValueError):
        return 0


def _number_of_line(line: str) -> str | None:
    bare = line.strip().strip(MARKUP.replace("-", ""))
    if whole := _WHOLE.fullmatch(bare):
        return whole[1]
    leading = _LEADING.match(line.lstrip())
    return leading[1] if leading else single_match(_LABELLED, line)


def _score_in_range(number: str) -> int | None:
    score, *scale = _PARTS.split(number.replace("−", "-"))
    value = float(score)
    if not value.is_integer() or not 0 <= value <= TOP or (scale and float(scale[0]) != TOP):
        return None
    return int(value)
