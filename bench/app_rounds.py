"""The app at full size: two rounds of all screens, with pauses of the event loop, and memory at the end.

Usage: python -m bench.app_rounds [--items 1450000] [--only accuracy,combine]

The app runs without a terminal, 120 by 40. Each screen is opened, left to settle, and closed again; a heartbeat of
5 ms on the event loop records its longest pause, in wall-clock time and in CPU time of the process, which depends less
on the load of the machine. The first round opens each screen for the first time.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.figures import report
from bench.synthetic import FULL, cached
from workbench.app.tui.allocating import configure_memory
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.destinations import DESTINATIONS
from workbench.core.project import open_project

_KEYS: Final = {
    "browse": ("pagedown", "end", "home"),
    "accuracy": ("b", "b", "b", "o", "d", "d"),
    "compare": ("right_square_bracket", "S", "b", "vertical_line", "o"),
    "combine": ("1", "3", "b", "b", "4", "2"),
    "disagreements": ("n",),
}
"""Additional keys on each screen: its views and groups."""

_OF_PEOPLE: Final = ("annotate", "adjudicate", "conflicts", "history")
"""Screens that first ask for the annotator."""

_GAP_MS, _MB = 100.0, 400.0
_BEAT_S = 0.005
_IDLE_S = 0.3


class _Heart:
    """The longest pause between two beats since the last reset."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    async def beat(self) -> None:
        while True:
            wall, cpu = time.perf_counter(), time.process_time()
            await asyncio.sleep(_BEAT_S)
            if time.perf_counter() - wall > self.wall:
                self.wall, self.cpu = time.perf_counter() - wall, time.process_time() - cpu

    def reset(self) -> tuple[float, float]:
        """Return the wall-clock and CPU milliseconds of the longest pause, and reset it."""
        found = 1000 * self.wall, 1000 * self.cpu
        self.wall = self.cpu = 0.0
        return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=FULL)
    parser.add_argument("--only", type=lambda text: text.split(","), help="screens, with commas between them")
    options, _ = parser.parse_known_args()
    names = [name for name in DESTINATIONS if name != "home" and name not in _OF_PEOPLE]
    asyncio.run(_rounds(cached(options.items, runs=6, models=22), options.only or names))


async def _rounds(path: Path, names: Sequence[str]) -> None:
    app = WorkbenchApp(open_project(path))
    app.garbage = configure_memory()
    async with app.run_test(size=(120, 40)) as pilot:
        heart = _Heart()
        beating = asyncio.create_task(heart.beat())
        await _settled(app, pilot)
        for number in (1, 2):
            for name in names:
                heart.reset()
                app.open_screen(name)
                await _settled(app, pilot)
                for key in _KEYS.get(name, ()):
                    await pilot.press(key)
                    await _settled(app, pilot)
                await _closed(app, pilot)
                wall, cpu = heart.reset()
                goal = None if number == 1 else _GAP_MS
                report(f"round {number}, {name}: longest pause", wall, "ms", goal)
                report(f"round {number}, {name}: CPU in that pause", cpu, "ms")
            report(f"the app after round {number}", _resident_mb(), "MB", _MB)
        beating.cancel()


async def _settled(app: WorkbenchApp, pilot: Any) -> None:
    """Wait until no worker has run for a while."""
    quiet = time.monotonic()
    while time.monotonic() - quiet < _IDLE_S:
        await asyncio.sleep(0.02)
        if any(worker.is_running for worker in app.workers):
            quiet = time.monotonic()
    await pilot.pause()


async def _closed(app: WorkbenchApp, pilot: Any) -> None:
    while len(app.screen_stack) > 2:
        await pilot.press("escape")
        await pilot.pause()
    await _settled(app, pilot)


def _resident_mb() -> float:
    words = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(words[1]) * 4096 / 2**20


if __name__ == "__main__":
    main()
