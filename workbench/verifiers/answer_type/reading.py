"""What a model's reply says of a question's answer type."""

from __future__ import annotations

import re

from workbench.core.taxonomy import SUBTYPES, parse_type
from workbench.verifiers.judges.parsers.reply import own_lines

OUTSIDE = {"PROOF": "proof", "OPEN": "open_ended"}
"""What a model calls a question without a type of answer -> the reason for which people would exclude it."""

_LABEL = re.compile(r"answer[ \t*_]{1,6}type[ \t*_`]{0,6}[:：](.*)", re.IGNORECASE)
_CODE = re.compile(r"(?<![A-Za-z0-9])([A-D]\d|PROOF|OPEN)(?![A-Za-z0-9])")
_MARKUP = " \t*_`$.[](){}\\"


def suggestion(reply: str, fence: str | None = None) -> str | None:
    """A subtype's code (``"B5"``), or a reason of `OUTSIDE`; None where the reply's last line of that form has neither.

    Args:
        reply: As recorded.
        fence: The delimiter around texts in the request: what stands before its last echo is not the model's own.
    """
    said = [label[1] for line in own_lines(reply, fence) if (label := _LABEL.search(line))]
    return _code(said[-1]) if said else None


def _code(text: str) -> str | None:
    found = set(_CODE.findall(text))
    if not found:
        named = parse_type(text.strip(_MARKUP))
        return named.code if named is not None and named.code in SUBTYPES else None
    first = found.pop()
    return OUTSIDE.get(first, first if first in SUBTYPES else None) if not found else None
