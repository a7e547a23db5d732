"""A request of one message, kept as a text file beside the verifier that sends it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from workbench.llm.records import Sampling
from workbench.verifiers.judges.template import TemplateCall

_SAMPLING: Final = Sampling(temperature=0.0, max_tokens=2048)


class Prompt(Struct, frozen=True):
    """What is asked.

    Attributes:
        sha256: Of its text, in hexadecimal.
    """

    call: TemplateCall
    sha256: str

    def config(self) -> dict[str, object]:
        """What a reply depends on, as plain data that JSON can hold."""
        return {"template_sha256": self.sha256, "sampling": structs.asdict(self.call.sampling)}


def prompt(path: Path, name: str, texts: frozenset[str]) -> Prompt:
    """The prompt in a file of this package.

    Args:
        path: UTF-8 text with placeholders.
        name: The call's.
        texts: The placeholders in it, all of them required.
    """
    text = path.read_text(encoding="utf-8").rstrip("\n")
    call = TemplateCall(name=name, messages=(("user", text),), names=texts, required=texts, sampling=_SAMPLING)
    return Prompt(call, hashlib.sha256(text.encode()).hexdigest())
