"""Reasoning within a reply, recognised by the marks that models put around it.

Sources: the reasoning parsers of vLLM and SGLang (2026), OpenAI's harmony format, model cards.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Final

_TABLE: Final = tomllib.loads(Path(__file__).with_name("thoughts.toml").read_text(encoding="utf-8"))


def _alternatives(kind: str) -> str:
    pattern = "|".join(_TABLE["marks"][kind])
    for name, fragment in _TABLE["fragments"].items():
        pattern = pattern.replace(f"<{name}>", fragment)
    return pattern


_OPENING, _CLOSING = _alternatives("opening"), _alternatives("closing")
_QUOTE = "\"'`“‘«"
# A quoted mark, or one after a word as in "the <think> tag", is only mentioned.
_SPOKEN_OF = rf"(?<![{_QUOTE}(])(?<![\w,;)] )"
_MARK: Final = re.compile(
    rf"(?P<closing>(?<![{_QUOTE}])(?:{_CLOSING})|(?:{_CLOSING})(?![{_QUOTE}]))"
    rf"|{_SPOKEN_OF}(?:{_OPENING})(?![{_QUOTE}])",
    re.IGNORECASE | re.MULTILINE,
)


@lru_cache(maxsize=4)
def spoken(raw: str, delimiter: str | None = None) -> tuple[int, int]:
    """Return the start and end of a model's answer: after its last closed thought, before a thought that is never
    closed.

    Marks in repeated data of the request are ignored.

    Args:
        raw: The reply as recorded.
        delimiter: The fence around untrusted text in the request, if there was one.
    """
    start, end = 0, len(raw)
    if not _may_hold_marks(raw):
        return start, end
    repeated = _repeated_data_spans(raw, delimiter)
    is_folded = False
    for mark in _MARK.finditer(raw):
        if any(first <= mark.start() < last for first, last in repeated):
            continue
        if mark[0].lower() == "</details>" and not is_folded:
            continue  # Any other fold is part of the reply.
        is_folded = mark[0].lower().startswith("<details")
        if mark["closing"]:
            start, end = mark.end(), len(raw)
        else:
            end = min(end, mark.start())
    return start, end


_SIGNS: Final = (
    *("<", "[", "◁", "&lt;", "assistantfinal", "thought process:", "reasoning steps:", "my response:"),
    *("thinking...", "done thinking.", "to=self", "to=user"),
)


def _may_hold_marks(raw: str) -> bool:
    small = raw.lower()
    return any(sign in small for sign in _SIGNS) or small.lstrip().startswith(("analysis", "commentary"))


def is_cut_off(raw: str, delimiter: str | None = None) -> bool:
    """Return whether a reply ends inside a thought; see `answer_span` for the arguments."""
    return spoken(raw, delimiter)[1] < len(raw)


def _repeated_data_spans(raw: str, delimiter: str | None) -> list[tuple[int, int]]:
    fences: list[int] = []
    while delimiter and (at := raw.find(delimiter, fences[-1] + len(delimiter) if fences else 0)) >= 0:
        fences.append(at)
    return list(zip(fences[::2], fences[1::2], strict=False))
