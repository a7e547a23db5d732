"""Extracts the question from a prompt, without few-shot examples before it and cues such as ``Answer:`` after it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from workbench.data.formats.fields import FIELDS
from workbench.data.formats.lines import explain_document, has_surrogate

_MIN_QUOTED = 12
"""Fewest characters of a document's text that count as quoted by the prompt."""
_MAX_TEXTS = 200
"""Most texts of a document that are searched in its prompt: a table has thousands."""
_CUE = re.compile(r"\s\w+:\s*\Z")
"""The cue at the end of a prompt, such as ``Answer:``."""


def text_of(prompt: object) -> str | None:
    """Return a prompt as text: a string as it is, chat messages joined; None for other values."""
    if isinstance(prompt, list) and len(prompt) == 1:
        return text_of(prompt[0])
    if not isinstance(prompt, str):
        return None
    if prompt.startswith("[{"):
        try:
            messages = json.loads(prompt)
        except (ValueError, RecursionError):
            return prompt
        contents = [one.get("content") for one in messages if isinstance(one, dict)]
        return "\n\n".join(one for one in contents if isinstance(one, str)) or prompt
    return prompt


def question_of(document: object) -> str | None:
    if isinstance(document, Mapping):
        folded = {str(key).lower(): value for key, value in document.items()}
        for name in FIELDS["question"]:
            if isinstance(value := folded.get(name), str) and value.strip():
                return value.strip()
    return None


def question_in(prompt: str, document: object, answer: str) -> str:
    """Return the question in a prompt: the part from the document's first text in it to its last.

    This leaves out few-shot examples before it and cues such as ``Answer:`` after it, and keeps options and passages. A
    prompt that does not contain the document's question is returned in full: its instructions may be the question.

    Args:
        answer: The reference answer; a text of the document that is part of it may also be in an example, and can't be
            the beginning of the question.
    """
    question = question_of(document)
    body = _CUE.sub("", prompt)
    if question is None or question not in body:
        return prompt
    texts = [
        text for text in islice(_nested_texts(document), _MAX_TEXTS) if any(character.isalnum() for character in text)
    ]
    longer = [text for text in texts if len(text) >= _MIN_QUOTED and text not in answer]
    start = min(place for text in (question, *longer) if (place := body.rfind(text)) >= 0)
    end = max(_end_of_last(body, text, start) for text in (question, *texts))
    return body[start:end]


def _nested_texts(value: object) -> Iterator[str]:
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str) and one.strip():
            yield one.strip()
        elif isinstance(one, Mapping):
            left += reversed(list[Any](one.values()))
        elif isinstance(one, list):
            left += reversed(one)


def _end_of_last(prompt: str, text: str, start: int) -> int:
    end = len(prompt)
    while (place := prompt.rfind(text, start, end)) >= 0:
        after = place + len(text)
        inside = place > start and prompt[place - 1].isalnum() and text[0].isalnum()
        if not inside and not (after < len(prompt) and prompt[after].isalnum() and text[-1].isalnum()):
            return after
        end = after - 1
    return start


# -- Targets of evaluations: one or several reference answers.


_MAX_PARSED: Final = 10_000
"""Most characters of a text that is parsed as Python: the parser's memory grows with its length."""


def join_alternatives(targets: Iterable[str]) -> str:
    return " or ".join(targets)


def targets_of(target: object) -> list[Any] | None:
    """Return the elements of a target that is a list, or the Python source of a list; None for any other target."""
    if isinstance(target, str) and target.startswith("[") and len(target) <= _MAX_PARSED:
        try:
            target = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return target if isinstance(target, list) else None


# -- JSON that Python's ``json`` writes: with NaN, and with integers of any length.


_DIGITS: Final = 19
"""Fewest digits of an integer that may not fit 64 bits."""


def plain_object(document: bytes) -> dict[str, Any]:
    """Parse a JSON object; NaN and infinities become None, integers beyond 64 bits become floats.

    Raises:
        RefusedError: The document is not a JSON object, or has an invalid character.
    """
    found = parse_lenient(document)
    if not isinstance(found, dict) or has_surrogate(document.decode(), found):
        raise explain_document(document)
    return found


def parse_lenient(document: bytes) -> object:
    """Parse a document, tolerating lone surrogates; None if it is not JSON."""
    try:
        return msgspec.json.decode(document)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        return json.loads(document.decode(), parse_constant=lambda _: None, parse_int=_int_or_float)
    except (ValueError, RecursionError):
        return None


def _int_or_float(digits: str) -> int | float:
    return int(digits) if len(digits) < _DIGITS else float(digits)
