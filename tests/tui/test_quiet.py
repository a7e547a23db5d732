"""Tests of the app wait until it is idle: nothing is left to draw, or to do after drawing."""

from __future__ import annotations

import asyncio

from textual.app import App, ComposeResult
from textual.constants import MAX_FPS
from textual.widgets import Static

from tests.tui.quiet import quiet

PARTS = 12


class OneText(App[None]):
    def compose(self) -> ComposeResult:
        yield Static()


async def test_callbacks_after_drawing_are_awaited() -> None:
    app, done = OneText(), list[int]()
    async with app.run_test():
        for part in range(PARTS):
            # A widget that was idle draws at once, and then one or two frames later.
            await asyncio.sleep((6 + part / PARTS) / MAX_FPS)
            app.query_one(Static).update("one")
            await quiet()
            app.query_one(Static).update("two")
            app.screen.call_after_refresh(done.append, part)
            await quiet()
            assert done == [*range(part + 1)]
