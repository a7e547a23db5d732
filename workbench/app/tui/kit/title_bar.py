"""The first line of a screen: where one is, and who is looking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static


class RemarkPiece(NamedTuple):
    """A piece of a remark.

    Attributes:
        rank: Where there is no room, pieces of the highest rank go first; one of rank 0 stays.
    """

    text: str
    rank: int = 0


class TitleBar(Static):
    """One line: a title at the left, a remark beside it. Both are data, never markup."""

    DEFAULT_CSS = """
    TitleBar {
        dock: top;
        height: 1;
        padding: 0 1;
        background: $panel;
        color: $foreground;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    def __init__(self, title: str, remark: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._title = title
        self._parts: Sequence[RemarkPiece] = (RemarkPiece(remark),)
        self.remark = remark

    def on_mount(self) -> None:
        """Draw."""
        self.say(self.remark)

    def on_resize(self) -> None:
        """There may be room for more, or for less."""
        self.say_parts(self._parts)

    def say(self, remark: str) -> None:
        """Replace the remark."""
        self.say_parts((RemarkPiece(remark),))

    def say_parts(self, parts: Sequence[RemarkPiece]) -> None:
        """Replace the remark by as many pieces as there is room for."""
        self._parts = parts
        room = self.size.width - cell_len(self._title) - 4 if self.size.width else None
        self.remark = fitted(parts, room)
        self.update(Content.assemble((self._title, "bold"), "  ", (self.remark, "$foreground-muted")), layout=False)


def fitted(parts: Sequence[RemarkPiece], room: int | None) -> str:
    """The pieces in their order, those left out that matter least, where they are wider than the room.

    Args:
        room: Cells; None: any number.
    """
    kept = [part for part in parts if part.text]
    while True:
        remark = " · ".join(part.text for part in kept)
        last = max(kept, key=lambda part: part.rank, default=None)
        if room is None or cell_len(remark) <= room or last is None or last.rank == 0:
            return remark
        kept.remove(last)
