"""CodeJudge's summary call: Yes or No, sometimes with an explanation."""

from __future__ import annotations

import re

from workbench.verifiers.judges.parsers.base import Reading, said
from workbench.verifiers.judges.parsers.reply import MARKUP, last_found, own_lines

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
        return said(True, raw)
    return said(False if any("no" in line for line in ends) else None, raw)


def strict(raw: str, delimiter: str | None = None) -> Reading:
    """The word the last line begins with; else the last line of that word alone; else what the first begins with."""
    lines = own_lines(raw, delimiter)
    word = _leading(lines[-1]) or last_found(lines, _bare) or _leading(lines[0]) if lines else None
    return said(None if word is None else word == "yes", raw)


def labelled(raw: str, delimiter: str | None = None) -> Reading:
    """The last line that begins with a label and the word behind it."""
    found = last_found(own_lines(raw, delimiter), lambda line: _LABELLED.match(line.lstrip(MARKUP)))
    return said(None if found is None else found[1].lower() == "yes", raw)


def _leading(line: str) -> str | None:
    found = _LEADING.match(line.lstrip(MARKUP))
    return found[1].lower() if found else None


def _bare(line: str) -> str | None:
    word = line.strip(MARKUP).lower()
    return word if word in ("yes", "no") else None
