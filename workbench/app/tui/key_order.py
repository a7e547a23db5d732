"""Keys in their turn: one that comes before the last one has done its work waits, and goes where that has led."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from textual.app import App
from textual.dom import DOMNode
from textual.events import Event, Key

_ROUNDS: Final = 3
"""A key makes a message, that another screen, and that its focus: each passes through all that a key can bubble to."""
_LONGEST_S: Final = 0.5
"""What is not done by then holds no key back."""


def age_of(event: Event) -> float:
    """Seconds since it came; Textual stamps events with this clock, on every platform."""
    return time.perf_counter() - event.time


class KeyOrder:
    """Hands an app its keys one by one.

    Attributes:
        at_work: The key at work.
        is_idle: The key at work has done nothing so far: it is bound to nothing here, or could not be meant.
        follows_idle: The key before it did nothing.

    Args:
        take: Does with a key what the app does.
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
        """Keys but that to quit wait from now on until `go_on`: a screen reads what it is to ask."""
        self._waiting.add(screen)

    async def go_on(self, screen: DOMNode, *, dropped: bool = False) -> None:
        """What a screen asks is there, or it asks nothing.

        Args:
            dropped: The keys that waited were for a question that doesn't come: nobody gets them.
        """
        if screen not in self._waiting:
            return
        self._waiting.remove(screen)
        if dropped:
            self._held.clear()
        if self._held and not self._waiting and not self._is_busy:
            self._is_busy = True
            await self._begin(self._held.popleft())

    async def come(self, key: Key) -> None:
        """A key was pressed: it is taken now, or once those before it are done."""
        if self._waiting and key.key == "ctrl+q":
            await self._take(key)
        elif self._is_busy or self._waiting:
            self._held.append(key)
        else:
            self._is_busy = True
            await self._begin(key)

    async def _begin(self, key: Key) -> None:
        self._turn += 1
        self.at_work, self.is_idle, self.follows_idle = key.key, False, self.is_idle
        before = self._app.screen
        await self._take(key)
        self._app.set_timer(_LONGEST_S, partial(self._end, self._turn))
        await self._pass(self._turn, before, _ROUNDS, self._reached)

    @property
    def _reached(self) -> Sequence[DOMNode]:
        target = self._app.focused or self._app.screen
        return target.ancestors_with_self

    async def _pass(self, turn: int, before: DOMNode, rounds: int, nodes: Sequence[DOMNode]) -> None:
        for place, node in enumerate(nodes, 1):
            if node.is_running and node.call_later(self._pass, turn, before, rounds, nodes[place:]):
                return
        if rounds > 1:
            await self._pass(turn, before, rounds - 1, self._reached)
        elif self._app.screen is before or not self._app.screen.call_after_refresh(self._end, turn):
            await self._end(turn)

    async def _end(self, turn: int) -> None:
        if turn != self._turn or not self._is_busy:
            return
        if self._held and not self._waiting:
            await self._begin(self._held.popleft())
        else:
            self._is_busy = False
