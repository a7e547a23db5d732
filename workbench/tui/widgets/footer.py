"""The footer: whole keys only, and the ways out and to help among them however narrow the terminal is."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from textual import events, widgets
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets._footer import FooterKey

KEPT: Final = ("Back", "Close", "Keys")
"""Labels of what is never left out."""

_LEAST: Final = ("Commands", "Quit")
"""Labels of what is left out first, in this order: both stand in the help screen."""

_PADDING: Final = 3
"""Cells of a key beside its name and its label."""


class Footer(widgets.Footer):
    """Shows the keys that fit; what does not fit whole is left out, and is in the help screen."""

    _room = 0

    def compose(self) -> ComposeResult:
        """All keys, less those for which there is no room."""
        self._room = self.app.size.width
        shown = list(super().compose())
        labels = [(label_of(key), width_of(key)) for key in shown]
        left_out = left_out_of(labels, self._room)
        yield from (key for place, key in enumerate(shown) if place not in left_out)

    async def on_resize(self, event: events.Resize) -> None:
        """Another width has room for others."""
        if self.app.size.width != self._room:
            await self.recompose()


def label_of(key: Widget) -> str:
    """What a key of the footer is called."""
    return key.description if isinstance(key, FooterKey) else ""


def width_of(key: Widget) -> int:
    """The cells a key of the footer takes."""
    return cell_len(key.key_display) + cell_len(key.description) + _PADDING if isinstance(key, FooterKey) else 0


def left_out_of(keys: list[tuple[str, int]], room: int) -> set[int]:
    """Which keys to leave out so that the others fit.

    Args:
        keys: Label and width of each, in order.
        room: Cells there are.

    Returns:
        Their places: first those that matter least, then from the end; never one of `KEPT`.
    """
    last_first = sorted(range(len(keys)), reverse=True)
    least = [place for label in _LEAST for place in last_first if keys[place][0] == label]
    others = [place for place in last_first if keys[place][0] not in (*_LEAST, *KEPT)]
    missing, left_out = sum(width for _, width in keys) - room, set[int]()
    for place in (*least, *others):
        if missing <= 0:
            break
        left_out.add(place)
        missing -= keys[place][1]
    return left_out
