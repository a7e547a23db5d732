"""Background work: reading stops when its screen is left; writing is completed."""

from __future__ import annotations

import gc
import threading
import weakref
from itertools import count
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from tests.helpers import make_project, numbered
from workbench.app.tui.allocating import Garbage
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.screen import WorkbenchScreen
from workbench.core.progress import stepping

MOST = 100_000


class Counting(WorkbenchScreen):
    """A screen that counts until it is stopped or cancelled."""

    def __init__(self, *, stops: bool) -> None:
        super().__init__()
        self._stops = stops
        self.began, self.enough, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.finished = False

    def on_mount(self) -> None:
        """Begin."""
        self.in_background(self._read_progress, lambda _: None, group="count", stops=self._stops)

    def _read_progress(self) -> None:
        try:
            for _ in stepping(count(), "counting", total=1):
                self.began.set()
                if self.enough.wait(0.001):
                    self.finished = True
                    break
        finally:
            self.ended.set()


@pytest.mark.parametrize("stops", [True, False], ids=["counts", "writes"])
async def test_only_reading_stops_when_its_screen_is_left(tmp_path: Path, stops: bool) -> None:
    app = WorkbenchApp(make_project(tmp_path, numbered(2)))
    async with app.run_test() as pilot:
        screen = Counting(stops=stops)
        await app.push_screen(screen)
        assert screen.began.wait(PATIENCE_S)
        app.pop_screen()
        await pilot.pause()
        if not stops:
            assert not screen.ended.wait(0.2)
            screen.enough.set()
        assert screen.ended.wait(PATIENCE_S)
        assert screen.finished == (not stops)


async def test_left_screen_is_freed_without_scanning_modules(tmp_path: Path) -> None:
    app = WorkbenchApp(make_project(tmp_path, numbered(2)))
    app.garbage = Garbage()
    gc.unfreeze()
    gc.disable()
    try:
        async with app.run_test() as pilot:
            app.open_screen("browse")
            await pilot.pause()
            left = weakref.ref(app.screen)
            for turn in range(20):
                await pilot.press("escape")
                # An idle widget references its last message, and so the sender: now each gets another message.
                await pilot.resize_terminal(80 + turn % 2, 24)
                await pilot.pause(2.7)
                if left() is None and gc.get_freeze_count():
                    break
                app.open_screen("sets")
                await pilot.pause()
            assert left() is None
            assert len(gc.get_objects()) < gc.get_freeze_count() / 2
    finally:
        gc.unfreeze()
        gc.enable()
        gc.freeze()
