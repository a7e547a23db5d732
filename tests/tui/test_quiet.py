"""Tests of the app wait until it rests: nothing is left to be drawn then, nor to be done after a drawing."""

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


async def test_what_follows_a_drawing_is_waited_for_however_late_that_is() -> None:
    app, done = OneText(), list[int]()
    async with app.run_test():
        for part in range(PARTS):
            # Whatever has rested draws at once, and then one frame later, or up to two.
            await asyncio.sleep((6 + part / PARTS) / MAX_FPS)
            app.query_one(Static).update("one")
            await quiet()
            app.query_one(Static).update("two")
            app.screen.call_after_refresh(done.append, part)
            await quiet()
            assert done == [*range(part + 1)]
