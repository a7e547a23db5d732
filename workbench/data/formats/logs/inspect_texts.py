"""What Inspect's samples ask and what models said, as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

_ATTACHMENT: Final = "attachment://"
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Resolve = Callable[[str], str]
"""A text itself, or the long text that it stands for."""


def resolver(attachments: object) -> Resolve:
    """A function that looks long texts up among a sample's attachments."""
    known = attachments if isinstance(attachments, Mapping) else {}

    def resolve(text: str) -> str:
        found = known.get(text.removeprefix(_ATTACHMENT)) if text.startswith(_ATTACHMENT) else None
        return found if isinstance(found, str) else text

    return resolve


def question_of(sample: Mapping[str, Any], resolve: Resolve) -> str | None:
    """What a sample asks: its input, with the letters of its options where the input does not give them.

    Of a chat, what the user says; of a longer one all turns but the system's, each under the name of who speaks.
    """
    asked = sample.get("input")
    text = resolve(asked) if isinstance(asked, str) else _chat(asked, resolve) if isinstance(asked, list) else None
    if text is None:
        return None
    choices = [one for one in sample.get("choices") or [] if isinstance(one, str)]
    lettered = list(zip(_LETTERS, choices, strict=False))
    if all(re.search(rf"\b{letter}\W{{1,3}}{re.escape(one)}", text) for letter, one in lettered):
        return text
    return "\n".join([text, "", *(f"{letter}) {one}" for letter, one in lettered)])


def completions_of(sample: Mapping[str, Any], resolve: Resolve) -> list[str]:
    """What the model said; the first is the one that scorers judged."""
    output = sample.get("output")
    if not isinstance(output, Mapping):
        return []
    choices = output.get("choices")
    messages = [one.get("message") for one in choices if isinstance(one, Mapping)] if isinstance(choices, list) else []
    texts = [_content(one.get("content"), resolve) for one in messages if isinstance(one, Mapping)]
    said = output.get("completion")
    if isinstance(said, str) and said:
        return [resolve(said), *texts[1:]]
    return texts


def _chat(messages: list[Any], resolve: Resolve) -> str | None:
    turns = [
        (str(one.get("role")), _content(one.get("content"), resolve)) for one in messages if isinstance(one, Mapping)
    ]
    spoken = [turn for turn in turns if turn[0] != "system"] or turns
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in spoken) if spoken else None


def _content(content: object, resolve: Resolve) -> str:
    """A message's text; what is no text in it stands in brackets, and reasoning is left out."""
    if isinstance(content, str):
        return resolve(content)
    return "".join(_parts(content, resolve)) if isinstance(content, list) else ""


def _parts(content: list[Any], resolve: Resolve) -> Iterator[str]:
    for part in content:
        if isinstance(part, Mapping):
            kind, text = part.get("type"), part.get("text")
            if kind == "text" and isinstance(text, str):
                yield resolve(text)
            elif kind != "reasoning":
                yield f"[{kind}]"
