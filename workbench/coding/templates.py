"""Custom prompts that replace the built-in ones: text files with placeholders.

A paper's prompt is sent unchanged in one user message: inserted texts get no delimiters, and control tokens in them
are not broken.
Source of the placeholders: Scoring Verifiers, figures 8, 13 and 14; EvolveCoder, appendix A; and the code that both
have released.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from workbench.core.errors import UsageError, opt
from workbench.llm.records import PromptMessage
from workbench.verifiers.judges.published import read_text

Asked = Literal["tests", "correct", "incorrect", "with-reference", "without-reference", "adversarial", "discriminative"]
"""The purpose of a prompt."""
PROGRAMS: Final = 5
"""Number of programs that a step of an evolution shows."""
_QUESTION: Final = dict.fromkeys(("question", "instruction", "input"), "question")
_SOLUTION: Final = dict.fromkeys(("solution", "program", "code"), "solution")
_COUNT: Final = {"count": "count"}
_SHOWN: Final = {name: name for name in (*(f"program{one}" for one in range(1, PROGRAMS + 1)), "tests", "eval_tests")}
_NAMES: Final[dict[Asked, dict[str, str]]] = {
    "tests": _QUESTION | _SOLUTION | _COUNT,
    "correct": _QUESTION,
    "incorrect": _QUESTION,
    "with-reference": _QUESTION | _SOLUTION | _COUNT,
    "without-reference": _QUESTION | _COUNT,
    "adversarial": _QUESTION | _SHOWN | _COUNT,
    "discriminative": _QUESTION | _SHOWN | _COUNT,
}
"""Purpose of a prompt -> placeholder in braces -> the name of the text that replaces it."""
_NEEDED: Final[dict[Asked, frozenset[str]]] = {
    **dict.fromkeys(_NAMES, frozenset({"question"})),
    "with-reference": frozenset({"question", "solution"}),
    "adversarial": frozenset({"question", "program1"}),
    "discriminative": frozenset({"question", "program1"}),
}


class OwnPrompt(Struct, frozen=True, kw_only=True):
    """A prompt from a file.

    Attributes:
        text: The whole text of the file.
        sha256: SHA-256 of the file's bytes, in hexadecimal.
        texts: Names of the inserted texts, such as ``question``.
    """

    asked: Asked
    text: str
    sha256: str
    texts: frozenset[str]

    def messages(self, texts: Mapping[str, str]) -> tuple[PromptMessage, ...]:
        """Return the request: the file with these texts inserted; placeholders in inserted texts are not replaced."""
        names = _NAMES[self.asked]
        return (
            PromptMessage(
                "user",
                _placeholder_pattern(self.asked).sub(
                    lambda found: texts.get(names[_placeholder_name(found)], ""), self.text
                ),
            ),
        )


OwnPrompts = Mapping[Asked, OwnPrompt]
"""Custom prompts by purpose."""
OURS: Final[OwnPrompts] = MappingProxyType({})
"""No custom prompts."""


def own_prompts(given: Sequence[str], roles: Sequence[Asked]) -> dict[Asked, OwnPrompt]:
    """Return the prompts of options such as ``WHAT=FILE``, or ``FILE`` if there is only one kind of prompt.

    Args:
        roles: The possible purposes.

    Raises:
        UsageError: A file can't be read or lacks a placeholder, or its purpose is ambiguous.
    """
    found: dict[Asked, OwnPrompt] = {}
    for one in given:
        role, file = _split_role(one, roles)
        if role in found:
            raise UsageError(f"{opt.template}: two files are prompts for {role}.", "Give one.")
        found[role] = read_prompt(Path(file), role)
    return found


def read_prompt(path: Path, asked: Asked) -> OwnPrompt:
    """Read the prompt in a file; raises as `own_prompts` does."""
    data, text = read_text(path, f"{opt.template} takes a text file.")
    texts = frozenset(_NAMES[asked][_placeholder_name(mark)] for mark in _placeholder_pattern(asked).finditer(text))
    if missing := _NEEDED[asked] - texts:
        named = " and ".join(f"{{{name}}}" for name in sorted(missing))
        listed = ", ".join(f"{{{name}}}" for name in _NAMES[asked])
        raise UsageError(f"{path}: {named} is missing from it.", f"Placeholders of {asked}: {listed}.")
    return OwnPrompt(asked=asked, text=text, sha256=hashlib.sha256(data).hexdigest(), texts=texts)


def digests(own: OwnPrompts) -> dict[str, str]:
    """Return the SHA-256 of each kind of prompt, which is part of the key under which replies are stored."""
    return {asked: one.sha256 for asked, one in own.items()}


def _split_role(one: str, roles: Sequence[Asked]) -> tuple[Asked, str]:
    said, mark, file = one.partition("=")
    role = next((role for role in roles if mark and role == said), None)
    if role is not None:
        return role, file
    if len(roles) == 1:
        return roles[0], one
    listed = "=FILE or ".join(roles)
    raise UsageError(f"{opt.template:{one}}: the task of the prompt file is missing.", f"Write {listed}=FILE.")


def _placeholder_pattern(asked: Asked) -> re.Pattern[str]:
    names = "|".join(_NAMES[asked])
    return re.compile(rf"\{{({names})\}}|<<({names})>>")


def _placeholder_name(mark: re.Match[str]) -> str:
    return str(mark[1] or mark[2])
