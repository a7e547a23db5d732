"""CodeJudge's replies: its summary's Yes or No, and its list of faults."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from workbench.verifiers.judges.parsers.base import MARKUP, Reading, last_found, own_lines, own_text, said

_PREFIX = r"(?:final[ \t]+)?(?:answer|judge?ment|verdict)(?:[ \t]*\([^()]{0,30}\))?[*_ \t]{0,4}:[ \t*_`\"'(\[]{0,6}"
_NO_ECHO = r"(?![ \t]{0,3}(?:[/|]|or[ \t])[ \t]{0,3}(?:yes|no)(?![^\W_]))"
# "No" before a noun negates the noun: "No errors found" is no verdict.
_NO = r"no(?![ \t]+(?!(?:because|since|as|it|its|the|this|that)\b)[^\W_])"
_LABELLED = re.compile(rf"{_PREFIX}(yes|{_NO})(?![^\W_]|-[^\W_]){_NO_ECHO}", re.IGNORECASE)
_LEADING = re.compile(rf"(?:{_PREFIX})?(yes|{_NO})(?![^\W_]|-[^\W_]){_NO_ECHO}", re.IGNORECASE)


def upstream(raw: str, delimiter: str | None = None) -> Reading:
    """Correct with "yes" anywhere in the last or first line; else incorrect with "no" anywhere in them."""
    ends = [line.strip().lower() for line in (raw[raw.rfind("\n") + 1 :], raw.partition("\n")[0])]
    if any("yes" in line for line in ends):
        return said(True)
    return said(False if any("no" in line for line in ends) else None)


def strict(raw: str, delimiter: str | None = None) -> Reading:
    """The word the last line begins with; else the last line of that word alone; else what the first begins with."""
    lines = own_lines(raw, delimiter)
    word = _leading(lines[-1]) or last_found(lines, _bare) or _leading(lines[0]) if lines else None
    return said(None if word is None else word == "yes")


def labelled(raw: str, delimiter: str | None = None) -> Reading:
    """The last line that begins with a label and the word behind it."""
    found = last_found(own_lines(raw, delimiter), lambda line: _LABELLED.match(line.lstrip(MARKUP)))
    return said(None if found is None else found[1].lower() == "yes")


def _leading(line: str) -> str | None:
    found = _LEADING.match(line.lstrip(MARKUP))
    return found[1].lower() if found else None


def _bare(line: str) -> str | None:
    word = line.strip(MARKUP).lower()
    return word if word in ("yes", "no") else None


# -- CodeJudge's fault localisation (arXiv 2410.02184): a JSON list of inconsistencies, each with its severity.


Severity = Literal["fatal", "major", "small", "negligible"]
WEIGHTS: dict[Severity, int] = {"fatal": 100, "major": 50, "small": 5, "negligible": 0}
"""What an inconsistency takes from a score of 100."""
_WORDS: dict[str, Severity] = {
    "fatal": "fatal",
    "major": "major",
    "minor": "small",
    "small": "small",
    "negligible": "negligible",
    "none": "negligible",
}
# What the severity of an inconsistency is when nobody says: the catalogue its kinds come from.
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
_LONGEST = 64 * 1024
_MOST_STARTS = 1000


def fault_strict(raw: str, delimiter: str | None = None) -> Reading:
    """The last list of inconsistencies that stands on lines of its own; without a known severity no verdict.

    The score is max(0, 100 - 100 fatal - 50 major - 5 small) / 100; only 1 is correct.
    """
    found = list(_lists(own_text(raw, delimiter)[-_LONGEST:]))
    severities = [_severity(one) for one in found[-1]] if found else [None]
    known = [severity for severity in severities if severity is not None]
    if len(known) < len(severities):
        return said(None)
    score = max(0, 100 - sum(WEIGHTS[severity] for severity in known)) / 100
    counts = Counter(known)
    label = ", ".join(f"{counts[severity]} {severity}" for severity in WEIGHTS if counts[severity])
    return Reading("correct" if score == 1 else "incorrect", score=score, label=label or "no inconsistency")


def fault_labelled(raw: str, delimiter: str | None = None) -> Reading:
    """None: a list has no label, and where a reply ends early nobody knows whether it is the last word."""
    return Reading("abstain", reason="unparsed")


def _lists(text: str) -> Iterator[list[dict[str, object]]]:
    """The lists of inconsistencies in a text, outermost brackets only."""
    at = 0
    for start in list(_START.finditer(text))[-_MOST_STARTS:]:
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
    """An inconsistency's severity: as stated, else as its kind has; None for a word or a kind nobody knows."""
    kind, stated = str(one["inconsistency"]), str(one.get("severity") or "").strip().lower()
    if stated:
        return _WORDS.get(stated)
    return next((severity for pattern, severity in _KINDS if re.search(pattern, kind.strip(), re.IGNORECASE)), None)
