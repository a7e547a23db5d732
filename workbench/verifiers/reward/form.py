"""How a question and a completion become a reward model's input: every text word for word but for control tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from workbench.core.verdict import VerifierInput
from workbench.verifiers.control_tokens import neutralised, neutralised_within
from workbench.verifiers.serving import switch

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_REFERENCE = "\n\nReference answer: {reference}"
_FIELDS = ("question", "reference", "completion")

FORM_OPTIONS = {
    "format": "the input's text with {question}, {completion} and, where it is on, {reference} in it; "
    "where the model takes question and completion apart, the question's text (default: one below the other)",
    "reference": "true: the reference answer goes in as well (default false)",
    "neutralise": "whether control tokens in texts are broken: on (default) or off",
}
"""Options of `form_from`, and what they do."""


class Form(Struct, frozen=True, kw_only=True):
    """A text with placeholders.

    Attributes:
        text: Known names in braces are replaced in one pass; other braces stand for themselves.
        reference: Whether the reference answer goes in.
        neutralise: Whether control tokens in the item's texts are broken; those in the form's own text never are.
    """

    text: str
    reference: bool
    neutralise: bool

    def fill(self, item: VerifierInput) -> str:
        """The text with an item's question, reference and completion in it."""
        fields = {"question": item.question, "reference": item.reference, "completion": item.completion}
        # Of a split by a pattern with a group every second part is what the group held.
        split = enumerate(_PLACEHOLDER.split(self.text))
        parts = [(fields[part], True) if number % 2 else (part, False) for number, part in split]
        return neutralised_within(parts) if self.neutralise else "".join(part for part, _ in parts)

    def alone(self, text: str) -> str:
        """A text of the item's that goes out beside the form."""
        return neutralised(text) if self.neutralise else text

    def config(self) -> dict[str, object]:
        """What a score depends on."""
        usual = {} if self.neutralise else {"neutralise": False}
        return {"format": self.text, "reference": self.reference, **usual}


def form_from(options: Mapping[str, str], *, whole: bool) -> Form:
    """The form that `FORM_OPTIONS` describe.

    Args:
        whole: The completion is part of the text; else it goes out beside it.

    Raises:
        ValueError: A placeholder is unknown, missing, or out of place.
    """
    reference = switch(options, "reference", default=False)
    plain = "{question}" + _REFERENCE * reference + "\n\n{completion}" * whole
    text = options.get("format", plain)
    wanted = {"question": True, "reference": reference, "completion": whole}
    found = set(_PLACEHOLDER.findall(text))
    for name in sorted(found - wanted.keys()):
        raise ValueError(f"format: there is no {{{name}}}; there are {', '.join(f'{{{name}}}' for name in _FIELDS)}")
    for name, is_wanted in wanted.items():
        if is_wanted and name not in found:
            raise ValueError(f"format: {{{name}}} is missing")
        if not is_wanted and name in found:
            why = "reference is not true" if name == "reference" else "the completion goes out beside it"
            raise ValueError(f"format: {{{name}}} has no place in it, since {why}")
    return Form(text=text, reference=reference, neutralise=switch(options, "neutralise", default=True))
