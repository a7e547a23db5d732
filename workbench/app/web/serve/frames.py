"""The messages that textual-serve's page sends, taken apart and checked."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from workbench.app.web.serve.app_process import Size

LARGEST = 4 << 20
"""Bytes of one message: keys, or a text pasted into a note."""

_MOST_KEYS = 64 << 10
"""Characters of a message that the app is given: no line takes as many."""
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
"""What a terminal puts before and behind a pasted text."""

_WIDTHS = range(20, 1_001)
_HEIGHTS = range(5, 501)
_LONGEST_PING = 64


class KeysFrame(Struct, frozen=True):
    """Keys, as a terminal sends them."""

    keys: bytes


class Resized(Struct, frozen=True):
    """The terminal has another size."""

    size: Size


class Focused(Struct, frozen=True):
    """The page has got or lost the focus."""

    has_it: bool


class Pinged(Struct, frozen=True):
    """The page wants a text back."""

    text: str


def parse(text: str | None) -> KeysFrame | Resized | Focused | Pinged:
    """A message of the page.

    Args:
        text: JSON such as ``["stdin", "a"]``; None for a frame that is no text.

    Raises:
        ValueError: It is none.
    """
    try:
        match msgspec.json.decode(text or ""):
            case ["stdin", str(keys)]:
                return KeysFrame(_cut(keys).encode())
            case ["resize", {"width": width, "height": height}]:
                return Resized(_size(width, height))
            case ["focus" | "blur" as kind]:
                return Focused(kind == "focus")
            case ["ping", str(said)] if len(said) <= _LONGEST_PING:
                return Pinged(said)
    except RecursionError as error:
        raise ValueError("too deep") from error
    raise ValueError("an unknown message")


def _cut(keys: str) -> str:
    """Keys up to the most; a text whose end is cut off has been pasted all the same."""
    if len(keys) <= _MOST_KEYS:
        return keys
    kept = keys[:_MOST_KEYS]
    return kept + _PASTED if kept.rfind(_PASTE) > kept.rfind(_PASTED) else kept


def size_of(query: Mapping[str, str]) -> Size:
    """The size a page asks for when it connects.

    Raises:
        ValueError: It is none.
    """
    return _size(*(int(query.get(name, "")[:5]) for name in ("width", "height")))


def _size(width: object, height: object) -> Size:
    if type(width) is int and type(height) is int and width in _WIDTHS and height in _HEIGHTS:
        return Size(width, height)
    raise ValueError("no size of a terminal")
