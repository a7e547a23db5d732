"""Parts of long texts, with a mark that says how much was left out."""

from __future__ import annotations

_LONGEST = 4_000
"""Characters of any text of a document: more is none of ours, but a name, an id or a line that came in so."""


def beginning(text: str, most: int) -> str:
    """A text's first characters."""
    return text if len(text) <= most else f"{text[:most]} {_cut(len(text) - most)}"


def end(text: str, most: int) -> str:
    """A text's last characters, where completions state their answers."""
    return text if len(text) <= most else f"{_cut(len(text) - most)} {text[-most:]}"


def limited(text: str) -> str:
    """Any text of a document."""
    return beginning(text, _LONGEST)


def _cut(characters: int) -> str:
    return f"[… {characters:,} characters cut …]"
