"""The messages that textual-serve's page sends, taken apart and checked."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from workbench.web.serve.app_process import Size

LARGEST = 256 << 10
"""Bytes of one message: keys, or a text pasted into a note."""

_WIDTHS = range(20, 1_001)
_HEIGHTS = range(5, 501)
_LONGEST_PING = 64


class Typed(Struct, frozen=True):
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


def parse(text: str | None) -> Typed | Resized | Focused | Pinged:
    """A message of the page.

    Args:
        text: JSON such as ``["stdin", "a"]``; None for a frame that is no text.

    Raises:
        ValueError: It is none.
    """
    try:
        match msgspec.json.decode(text or ""):
            case ["stdin", str(keys)]:
                return Typed(keys.encode())
            case ["resize", {"width": width, "height": height}]:
                return Resized(_size(width, height))
            case ["focus" | "blur" as kind]:
                return Focused(kind == "focus")
            case ["ping", str(said)] if len(said) <= _LONGEST_PING:
                return Pinged(said)
    except RecursionError as error:
        raise ValueError("too deep") from error
    raise ValueError("an unknown message")


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
