"""Texts of the command line as the app says them: without flags, and without commands where there is no shell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from workbench.core.errors import WorkbenchError

_REFUSAL: Final = re.compile(
    r"^(?:Error: (?:Invalid value for '[A-Z_…\[\]]+': )?|Wrong usage: |Database: |File: )", re.MULTILINE
)
"""How a command begins to say what it refuses; what stands before is how it is used, or narration."""
FLAG: Final = re.compile(r"(?<![\w-])(--[a-z][\w-]*|-o)\b(?:[ =](?=[A-Z]))?")
_COMMAND: Final = re.compile(r"(?:: |(?<!\S))workbench [a-z].*\Z", re.DOTALL)
"""A command line at the end of what an error says."""


def plain(text: str, names: Mapping[str, str] = {}) -> str:
    """A text of the command line without flags; ``names`` says what some of them are called instead.

    What stands in quotes and is none of these was typed by a person, and stays as it is.
    """

    def said(found: re.Match[str]) -> str:
        if text[found.start() - 1 : found.start()] == text[found.end() : found.end() + 1] == "'":
            return names.get(found[1], found[1])
        return f"{names.get(found[1], found[1].lstrip('-'))} "

    return FLAG.sub(said, text).replace("  ", " ")


def refused_text(said: str) -> str:
    """What a command refused, of all that it said on standard error."""
    begins = _REFUSAL.search(said)
    return " ".join(said[begins.end() if begins else 0 :].split())


def without_command(error: WorkbenchError) -> str:
    """What an error says, but for the command line that its hint ends in, and for flags: here there is no shell."""
    hint = _COMMAND.sub("", error.hint)
    return plain(f"{error.message} {hint if not hint or hint.endswith('.') else f'{hint}.'}".strip())


def sentence(text: str) -> str:
    """What is said of figures, likewise."""
    said = _COMMAND.sub("", text)
    return plain(said if said == text or said.endswith(".") else f"{said}.")
