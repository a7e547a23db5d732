"""Messages of a reader to its screen, and of its thread to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from workbench.app.tui.kit.wrapping import Wrapped

if TYPE_CHECKING:
    from workbench.app.tui.kit.reader import Reader


class ReaderMessage(Message, namespace="reader"):
    """A message of a reader; `@on` selects by the reader."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    @property
    def control(self) -> Reader:
        return self.reader


class SearchChanged(ReaderMessage, namespace="reader"):
    """A search is at hit `number` of `total` (0 of 0 when nothing was found)."""

    def __init__(self, reader: Reader, query: str, number: int, total: int) -> None:
        super().__init__(reader)
        self.query = query
        self.number = number
        self.total = total


class WrapReady(Message, bubble=False):
    """A thread has wrapped the whole text."""

    def __init__(self, wrapped: Wrapped) -> None:
        super().__init__()
        self.wrapped = wrapped
