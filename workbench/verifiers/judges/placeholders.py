"""Placeholders in a template's messages.

``{question}`` stands for a text; ``{?reference}…{/reference}`` is there only where there is a reference, and
``{!reference}…{/reference}`` only where there is none. All other braces are braces, so LaTeX and JSON need no care.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

_MARK = re.compile(r"\{([?!/]?)([a-z][a-z_]+)\}")
# Behind one of these a word in braces is LaTeX or the like, no slip of the pen: \\text{so}, x^{up}, {{so}}.
_ATTACHED = re.compile(r"[\w\\{}\]^]")


class Slip(NamedTuple):
    """Something wrong in a message.

    Attributes:
        mark: The very characters at fault.
        message: What is wrong.
        hint: What to do.
    """

    mark: str
    message: str
    hint: str


def fill(content: str, texts: Mapping[str, str], dress: Callable[[str], str]) -> str:
    """A message's text, its placeholders filled in one pass: what is put in is never looked at again.

    Args:
        content: As the template has it.
        texts: The text each placeholder stands for; one that is missing or empty hides its section.
        dress: Makes of a text what is put in.
    """
    return "".join(part for part, _ in pieces(content, texts, dress))


def pieces(content: str, texts: Mapping[str, str], dress: Callable[[str], str]) -> list[tuple[str, bool]]:
    """What `fill` makes, piece by piece, each with whether it was put in."""
    parts: list[tuple[str, bool]] = []
    at, hidden = 0, False
    for mark in _MARK.finditer(content):
        sign, name = mark.groups()
        if name not in texts:
            continue
        if not hidden:
            parts.append((content[at : mark.start()], False))
        at = mark.end()
        if sign:
            hidden = sign != "/" and bool(texts[name]) == (sign == "!")
        elif not hidden:
            parts.append((dress(texts[name]), True))
    return [*parts, (content[at:], False)]


def used(content: str, known: frozenset[str]) -> frozenset[str]:
    """The placeholders in a message."""
    return frozenset(name for _, name in _MARK.findall(content) if name in known)


def required(content: str, known: frozenset[str]) -> frozenset[str]:
    """Those that stand outside a section of their own."""
    found: set[str] = set()
    within = ""
    for sign, name in _MARK.findall(content):
        if name in known:
            within = {"?": name, "/": ""}.get(sign, within)
            if not sign and name != within:
                found.add(name)
    return frozenset(found)


def misplaced(content: str, known: frozenset[str]) -> Slip | None:
    """The first placeholder nobody knows, or section that doesn't end as it begins."""
    opened = ""
    for mark in _MARK.finditer(content):
        sign, name = mark.groups()
        if name not in known:
            if sign or not _ATTACHED.match(content[mark.start() - 1 : mark.start()]):
                listed = ", ".join(f"{{{one}}}" for one in sorted(known))
                hint = f"There are {listed}. Braces that are no placeholder take a space: {{ so }}."
                return Slip(mark[0], f"{mark[0]} is no placeholder here.", hint)
        elif sign and (opened != name if sign == "/" else opened):
            return Slip(mark[0], f"no section can begin or end with {mark[0]} here.", "Sections don't nest.")
        elif sign:
            opened = "" if sign == "/" else name
    return Slip(f"{opened}}}", f"a section of {{{opened}}} never ends.", f"Close it: {{/{opened}}}") if opened else None
