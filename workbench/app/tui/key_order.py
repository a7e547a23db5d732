"""Keys in order: a key pressed while another is being processed waits, and goes to the resulting screen."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from textual.app import App
from textual.dom import DOMNode
from textual.events import Event, Key

_MESSAGE_ROUNDS: Final = 3
"""Rounds of messages to wait for per key: its message may open a screen, which sets the focus; each bubbles up."""
_MAX_WAIT_S: Final = 0.5
"""Seconds after which unfinished work no longer holds back keys."""


def age_of(event: Event) -> float:
    """Return seconds since the event; Textual stamps events with this clock, on every platform."""
    return time.perf_counter() - event.time


class KeyOrder:
    """Passes keys to an app one by one.

    Attributes:
        at_work: The key being processed.
        is_idle: The key being processed has had no effect so far: it has no action here, or was pressed before its item
            was visible.
        follows_idle: The previous key had no effect.

    Args:
        take: Processes a key.
    """

    def __init__(self, app: App[Any], take: Callable[[Key], Awaitable[None]]) -> None:
        self._app, self._take = app, take
        self._held: deque[Key] = deque()
        self._turn = 0
        self._is_busy = False
        self._waiting: set[DOMNode] = set()
        self.is_idle = self.follows_idle = False
        self.at_work = ""

    def wait(self, screen: DOMNode) -> None:
        """Hold all keys except quit until `go_on`, because the screen is still loading its question."""
        self._waiting.add(screen)

    async def go_on(self, screen: DOMNode, *, dropped: bool = False) -> None:
        """Process the held keys: the screen's question is shown, or there is none.

        Args:
            dropped: Discard the held keys: the question they were meant for doesn't appear.
        """
        if screen not in self._waiting:
            return
        self._waiting.remove(screen)
        if dropped:
            self._held.clear()
        if self._held and not self._waiting and not self._is_busy:
            self._is_busy = True
            await self._process_key(self._held.popleft())

    async def receive(self, key: Key) -> None:
        if self._waiting and key.key == "ctrl+q":
            await self._take(key)
        elif self._is_busy or self._waiting:
            self._held.append(key)
        else:
            self._is_busy = True
            await self._process_key(key)

    async def _process_key(self, key: Key) -> None:
        self._turn += 1
        self.at_work, self.is_idle, self.follows_idle = key.key, False, self.is_idle
        before = self._app.screen
        await self._take(key)
        self._app.set_timer(_MAX_WAIT_S, partial(self._process_next, self._turn))
        await self._wait_for_messages(self._turn, before, _MESSAGE_ROUNDS, self._focus_path)

    @property
    def _focus_path(self) -> Sequence[DOMNode]:
        target = self._app.focused or self._app.screen
        return target.ancestors_with_self

    async def _wait_for_messages(self, turn: int, before: DOMNode, rounds: int, nodes: Sequence[DOMNode]) -> None:
        for place, node in enumerate(nodes, 1):
            if node.is_running and node.call_later(self._wait_for_messages, turn, before, rounds, nodes[place:]):
                return
        if rounds > 1:
            await self._wait_for_messages(turn, before, rounds - 1, self._focus_path)
        elif self._app.screen is before or not self._app.screen.call_after_refresh(self._process_next, turn):
            await self._process_next(turn)

    async def _process_next(self, turn: int) -> None:
        if turn != self._turn or not self._is_busy:
            return
        if self._held and not self._waiting:
            await self._process_key(self._held.popleft())
        else:
            self._is_busy = False
