"""Messages of a reader to its screen, and of its thread to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.app.tui.kit.wrapping import Wrapped

if TYPE_CHECKING:
    from workbench.app.tui.kit.reader import Reader


@dataclass
class ReaderMessage(Message, namespace="reader"):
    reader: Reader

    @property
    def control(self) -> Reader:
        return self.reader


@dataclass
class SearchChanged(ReaderMessage, namespace="reader"):
    """The current hit of a search is now hit `number` of `total` (0 of 0 if nothing was found)."""

    query: str
    number: int
    total: int


@dataclass
class WrapReady(Message, bubble=False):
    wrapped: Wrapped
