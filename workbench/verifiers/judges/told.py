"""Filling a template's call with words of our own, before an item's texts are put in behind their fences."""

from __future__ import annotations

from msgspec import structs

from workbench.verifiers.judges.placeholders import fill
from workbench.verifiers.judges.template import TemplateCall


def told(call: TemplateCall, **words: str) -> TemplateCall:
    """The call with our own words in the place of these placeholders; they stand there without a fence.

    Args:
        call: A template's.
        words: What each placeholder stands for; "" hides its section. Never a text of an item or of a model.
    """
    return structs.replace(
        call,
        messages=tuple((role, fill(content, words, str)) for role, content in call.messages),
        names=call.names - words.keys(),
        required=call.required - words.keys(),
    )
