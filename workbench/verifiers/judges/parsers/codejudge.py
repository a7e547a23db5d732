"""CodeJudge's replies: Yes or No in its summary, and its list of faults."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from workbench.verifiers.judges.parsers.base import (
    DOUBT,
    MARKUP,
    Reading,
    begins_statement,
    by_lines,
    own_text,
    reading_of,
    reading_of_word,
    verdict_in,
)

_PREFIX = r"(?:final[ \t]+)?(?:answer|judge?ment|verdict)(?:[ \t]*\([^()]{0,30}\))?[*_ \t]{0,4}:[ \t*_`\"'(\[]{0,6}"
_NO_ECHO = r"(?![ \t,\"'*_]{0,5}(?:[/|&]|(?:or|and|nor|but)[ \t])[ \t\"'*_]{0,5}(?:yes|no)(?![^\W_]))"
# "No" before a noun negates the noun: "No errors found" is no verdict.
_NO = r"no(?![ \t]+(?!(?:because|since|as|it|its|the|this|that)\b)[^\W_])"
_LABELLED = re.compile(rf"{_PREFIX}(yes|{_NO})(?![^\W_]|-[^\W_]){_NO_ECHO}", re.IGNORECASE)
_LEADING = re.compile(rf"(?<![^\W_])(?:{_PREFIX})?(yes|{_NO})(?![^\W_]|-[^\W_]){_NO_ECHO}", re.IGNORECASE)


def upstream(raw: str, delimiter: str | None = None) -> Reading:
    """Return "correct" if "yes" is anywhere in the last or first line, else "incorrect" if "no" is."""
    ends = [line.strip().lower() for line in (raw[raw.rfind("\n") + 1 :], raw.partition("\n")[0])]
    if any("yes" in line for line in ends):
        return reading_of(True)
    return reading_of(False if any("no" in line for line in ends) else None)


def strict(lines: Sequence[str]) -> Reading:
    """Read the Yes or No that the last line begins with.

    Without one, read the last line that is only Yes or No; else the beginning of the first line."""
    if not lines:
        return reading_of(None)
    if last := _leading_word(lines[-1]):
        return reading_of_word(last)
    first, bare = _leading_word(lines[0]), verdict_in(lines, _only_word)
    return reading_of_word(DOUBT if first and bare and first != bare else bare or first)


def _leading_word(line: str) -> str | None:
    line = line.lstrip(MARKUP)
    if not (leading := _LEADING.match(line)):
        return None
    given = {found[1].lower() for found in _LEADING.finditer(line) if begins_statement(line, found)}
    if not begins_statement(line, leading):
        return DOUBT
    given |= {found[1].lower() for found in _LABELLED.finditer(line)}
    return leading[1].lower() if given == {leading[1].lower()} else DOUBT


labelled = by_lines(lambda line: _leading_word(line) if _LABELLED.match(line.lstrip(MARKUP)) else None)
"""Read the Yes or No after the label, in the last line that begins with a label."""


def _only_word(line: str) -> str | None:
    word = line.strip(MARKUP).lower()
    return word if word in ("yes", "no") else None


# -- CodeJudge's fault localisation (arXiv 2410.02184): a JSON list of inconsistencies, each with its severity.


Severity = Literal["fatal", "major", "small", "negligible"]
WEIGHTS: dict[Severity, int] = {"fatal": 100, "major": 50, "small": 5, "negligible": 0}
"""Severity of an inconsistency -> its deduction from a score of 100."""
_WORDS: dict[str, Severity] = {
    "fatal": "fatal",
    "major": "major",
    "minor": "small",
    "small": "small",
    "negligible": "negligible",
    "none": "negligible",
}
# The default severity of each kind of inconsistency, from the catalogue of kinds.
_KINDS: tuple[tuple[str, Severity], ...] = (
    (r"not (?:been )?(?:defined|declared)|undefined|undeclared|not complete|incomplete", "fatal"),
    (r"logic(?:al)? error", "major"),
    (r"edge case", "small"),
    (r"(?:different|another) (?:method|algorithm|approach)", "negligible"),
    (r"missing (?:import|dependency)|no error message|inefficien|unnecessary|redundant", "negligible"),
    (r"^(?:none|no inconsistenc\w+)\W*$", "negligible"),
)
_START = re.compile(r"^[ \t]*+(?:[A-Za-z][A-Za-z ,]{0,60}:[ \t]*+)?(?=[\[{])", re.MULTILINE)
_TAIL = re.compile(r"[ \t`.]*+(?:\n|\Z)")
_MAX_LIST_CHARACTERS = 64 * 1024
_MAX_STARTS = 1000


def fault_strict(raw: str, delimiter: str | None = None) -> Reading:
    """Parse the last list of inconsistencies on separate lines; without a known severity there is no verdict.

    The score is max(0, 100 - 100 fatal - 50 major - 5 small) / 100; only 1 is correct.
    """
    found = list(_fault_lists(own_text(raw, delimiter)[-_MAX_LIST_CHARACTERS:]))
    severities = [_severity(one) for one in found[-1]] if found else [None]
    known = [severity for severity in severities if severity is not None]
    if len(known) < len(severities):
        return reading_of(None)
    score = max(0, 100 - sum(WEIGHTS[severity] for severity in known)) / 100
    counts = Counter(known)
    label = ", ".join(f"{counts[severity]} {severity}" for severity in WEIGHTS if counts[severity])
    return Reading("correct" if score == 1 else "incorrect", score=score, label=label or "no inconsistency")


fault_labelled = by_lines()
"""Read nothing: a list has no label, and in a truncated reply it may not be the last one."""


def _fault_lists(text: str) -> Iterator[list[dict[str, object]]]:
    at = 0
    for start in list(_START.finditer(text))[-_MAX_STARTS:]:
        if start.end() < at:
            continue
        try:
            value, end = json.JSONDecoder().raw_decode(text, start.end())
        except (ValueError, RecursionError):
            continue
        if not _TAIL.match(text, end):
            continue
        at = end
        if isinstance(value, dict):
            value = value.get("inconsistencies", [value])
        if isinstance(value, list) and all(isinstance(one, dict) and "inconsistency" in one for one in value):
            yield value


def _severity(one: dict[str, object]) -> Severity | None:
    kind, stated = str(one["inconsistency"]), str(one.get("severity") or "").strip().lower()
    if stated:
        return _WORDS.get(stated)
    return next((severity for pattern, severity in _KINDS if re.search(pattern, kind.strip(), re.IGNORECASE)), None)
