"""Answer types by a published prompt (VerifyBench, appendix C.1): a user's own file, sent unchanged."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

from msgspec import structs

from workbench.core.errors import UsageError
from workbench.core.taxonomy import known_type
from workbench.verifiers.answer_type.verifier import MARKUP, PROMPT, suggestion
from workbench.verifiers.judges.case import JudgeCase, PreparedPrompt
from workbench.verifiers.judges.parsers.thoughts import spoken
from workbench.verifiers.judges.published import ANSWER, read_text
from workbench.verifiers.judges.template import Prompt, plain_names

READING: Final = "answer-type-named@1"
"""The parser of replies to such prompts, whose format isn't known in advance."""
_NAMES: Final = frozenset({"question", ANSWER, "reference"})
_CODE = re.compile(r"(?<![A-Za-z0-9])([A-D]\d)(?![A-Za-z0-9])")
_OUTSIDE: Final = {"proof": "proof", "proof-based": "proof", "open-ended": "open_ended", "open": "open_ended"}
_QUOTES: Final = MARKUP + "\"',"


def prompt_in(path: Path) -> Prompt:
    """Load a prompt file, in which ``{question}`` and ``{answer}`` (or ``{reference}``) will be replaced.

    Raises:
        UsageError: The file can't be read, is not UTF-8, or lacks the question.
    """
    data, text = read_text(path, "It is a prompt with {question} and {answer}, as a text file.")
    names = plain_names(text, _NAMES)
    if "question" not in names:
        raise UsageError(f"{path}: {{question}} is missing.", "A prompt has {question}, and {answer} or {reference}.")
    call = structs.replace(PROMPT.call, messages=(("user", text),), names=names, required=names, is_plain=True)
    return Prompt(call, hashlib.sha256(data).hexdigest())


def published_request(prompt: Prompt, question: str, reference: str) -> PreparedPrompt:
    texts = {"question": question, "reference": reference, ANSWER: reference}
    return JudgeCase(item=0, texts=texts, secret=None, neutralise=False).prepare(prompt.call)


def named_in(reply: str) -> str | None:
    """Return the type or subtype that a reply names, or why the question has no type; None if it is unclear.

    The result comes from the last line in our format, else from the last line with only a type's name or code, else
    from the only subtype code in the reply.
    """
    start, end = spoken(reply, None)
    said = reply[start:end]
    if (ours := suggestion(said)) is not None:
        return ours
    for line in reversed(said.splitlines()):
        bare = line.strip(_QUOTES)
        for text in (bare, bare.rpartition(":")[2].strip(_QUOTES)):
            if (outside := _OUTSIDE.get(re.sub(r"[ _]", "-", text.lower()))) is not None:
                return outside
            if (code := known_type(text) or (text if text in "ABCD" and len(text) == 1 else None)) is not None:
                return code
    found = set(_CODE.findall(said))
    return known_type(found.pop()) if len(found) == 1 else None
