"""Detect an idle app by its event loop instead of by a clock.

Textual's pilot considers an app idle once its process has used little CPU time for a fiftieth of a second, five times
per key, and asks every widget each time. Here an app is idle when no callback is ready, none is due within a frame, and
no worker runs. Only then the screen is drawn, once: no terminal shows the frames in between.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol, cast

import pytest
from rich.console import RenderableType
from textual import _wait, app, pilot
from textual._compositor import Compositor
from textual._context import active_app
from textual.constants import MAX_FPS

FRAME_S = 2.5 / MAX_FPS
"""Seconds to wait for the next frame, or the one after it: a late timer skips one."""

TURNS = 10_000
"""The maximum number of loop iterations: an app that runs for longer is never idle, and its screen is used as it is."""

DRAWINGS = 3
"""The maximum number of rounds, each of which may cause another."""

_drawn = Compositor.render_update


async def quiet(min_sleep: float = 0, max_sleep: float = 1) -> None:
    """Wait until the loop is idle; takes the arguments of `textual._wait.wait_for_idle`.

    While a worker runs in a thread, idleness is detected as in Textual.
    """
    await _rest()
    running = active_app.get(None)
    if running is not None and any(not worker.is_finished for worker in running.workers):
        await _wait.wait_for_idle(min_sleep, max_sleep)
        await _rest()


class _Loop(Protocol):
    """The internals of asyncio's own loops."""

    _ready: deque[asyncio.Handle]
    _scheduled: list[asyncio.TimerHandle]

    def time(self) -> float: ...


async def _rest() -> None:
    loop = cast(_Loop, asyncio.get_running_loop())
    for _ in range(TURNS):
        await asyncio.sleep(0)
        if loop._ready:
            continue
        due = [timer.when() for timer in loop._scheduled if not timer.cancelled()]
        pause = min(due, default=float("inf")) - loop.time()
        if pause > FRAME_S:
            return
        await asyncio.sleep(max(pause, 0))


async def _screen_is_done(self: pilot.Pilot[object], timeout: float = 30.0) -> bool:
    await _rest()
    return True


async def _pause(self: pilot.Pilot[object], delay: float | None = None) -> None:
    await (quiet() if delay is None else asyncio.sleep(delay))
    running = self.app
    running.screen._on_timer_update()
    # Drawing may request more drawing.
    for _ in range(DRAWINGS):
        if not draw(running):
            break
        await _rest()


def draw(running: app.App[object]) -> bool:
    """Draw what has changed on the current screen; return false if nothing has."""
    screen = running.screen
    if not screen._compositor._dirty_regions:
        return False
    running._display(screen, _drawn(screen._compositor, screen_stack=running._background_screens))
    return True


def _drawn_later(self: Compositor, full: bool = False, **named: Any) -> RenderableType | None:
    """Draw a whole screen if ``full``, as for screenshots; otherwise leave the changes marked."""
    return _drawn(self, full, **named) if full else None


@contextmanager
def pilots_wait_for_the_loop() -> Iterator[None]:
    """Let every pilot wait this way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "wait_for_idle", quiet)
        patch.setattr(pilot, "wait_for_idle", quiet)
        patch.setattr(pilot.Pilot, "_wait_for_screen", _screen_is_done)
        patch.setattr(pilot.Pilot, "pause", _pause)
        patch.setattr(Compositor, "render_update", _drawn_later)
        yield
