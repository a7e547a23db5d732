"""Extracts the question from a prompt, without the examples and cues around it."""

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

_LONG = 12
"""Characters from which a text that a prompt holds is taken to stand there on purpose."""
_TEXTS = 200
"""Texts of a document that are looked for in its prompt: a table's would be thousands."""
_CUE = re.compile(r"\s\w+:\s*\Z")
"""What a prompt ends in to be completed, such as ``Answer:``."""


def text_of(prompt: object) -> str | None:
    """Return a prompt as text: itself, or its chat messages; None if it is neither."""
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
    """Return the text of a document's question, by known names; None without one."""
    if isinstance(document, Mapping):
        folded = {str(key).lower(): value for key, value in document.items()}
        for name in FIELDS["question"]:
            if isinstance(value := folded.get(name), str) and value.strip():
                return value.strip()
    return None


def question_in(prompt: str, document: object, answer: str) -> str:
    """Return the question that a prompt asks about one document: the part that the document's own texts span.

    That leaves out examples of other documents before it, and cues such as ``Answer:`` behind it; options and passages
    stay. A prompt without the document's own question is taken whole: its instructions may be the question.

    Args:
        answer: The reference answer. A text that says it may stand in an example, too.
    """
    question = question_of(document)
    body = _CUE.sub("", prompt)
    if question is None or question not in body:
        return prompt
    texts = [text for text in islice(_texts(document), _TEXTS) if any(character.isalnum() for character in text)]
    longer = [text for text in texts if len(text) >= _LONG and text not in answer]
    start = min(place for text in (question, *longer) if (place := body.rfind(text)) >= 0)
    end = max(_last(body, text, start) for text in (question, *texts))
    return body[start:end]


def _texts(value: object) -> Iterator[str]:
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str) and one.strip():
            yield one.strip()
        elif isinstance(one, Mapping):
            left += reversed(list[Any](one.values()))
        elif isinstance(one, list):
            left += reversed(one)


def _last(prompt: str, text: str, start: int) -> int:
    end = len(prompt)
    while (place := prompt.rfind(text, start, end)) >= 0:
        after = place + len(text)
        inside = place > start and prompt[place - 1].isalnum() and text[0].isalnum()
        if not inside and not (after < len(prompt) and prompt[after].isalnum() and text[-1].isalnum()):
            return after
        end = after - 1
    return start


# -- Targets of evaluations: reference answers, of which there may be several.


_LONGEST: Final = 10_000
"""Characters of a text that is tried as Python's: its parser takes room in proportion."""


def several(targets: Iterable[str]) -> str:
    return " or ".join(targets)


def targets_of(target: object) -> list[Any] | None:
    """Return the members of a target that is a list, or Python's text of one; None for any other target."""
    if isinstance(target, str) and target.startswith("[") and len(target) <= _LONGEST:
        try:
            target = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
    return target if isinstance(target, list) else None


# -- JSON as plain objects, as Python's own writer writes it: with NaN, and with whole numbers of any length.


_DIGITS: Final = 19
"""Of a number that may not fit 64 bits."""


def plain_object(document: bytes) -> dict[str, Any]:
    """Parse a JSON object; NaN and infinities become None, integers beyond 64 bits become floats.

    Raises:
        RefusedError: It is no JSON object, or a character in it is none.
    """
    found = plain(document)
    if not isinstance(found, dict) or has_surrogate(document.decode(), found):
        raise explain_document(document)
    return found


def plain(document: bytes) -> object:
    """Parse a document, tolerating lone surrogates; None if it is not JSON."""
    try:
        return msgspec.json.decode(document)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    try:
        return json.loads(document.decode(), parse_constant=lambda _: None, parse_int=_number)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) < _DIGITS else float(digits)
