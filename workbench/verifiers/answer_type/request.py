"""The request for a question's answer type."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from workbench.verifiers.judges.case import JudgeCase, PreparedPrompt
from workbench.verifiers.judges.prompt import Prompt, prompt

READING: Final = "answer-type@1"
"""The way replies are read; it goes up when the same reply would be read differently."""

PROMPT: Final[Prompt] = prompt(Path(__file__).with_name("prompt.txt"), "classify", frozenset({"question", "reference"}))
"""Ours, after section 3.1 and appendix C.1 of arXiv 2505.15801."""


def request(question: str, reference: str, secret: bytes) -> PreparedPrompt:
    """The request about one question, its texts between lines their author can't guess.

    Args:
        secret: The database's own, from which those lines follow.
    """
    texts = {"question": question, "reference": reference}
    return JudgeCase(item=0, texts=texts, secret=secret, neutralise=True).prepare(PROMPT.call)
