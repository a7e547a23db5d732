"""The app's driver in a browser: after a lost connection, pending keys still take effect, and items stay reserved."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading

from textual.drivers.web_driver import WebDriver
from textual.message_pump import MessagePump
from textual.worker import WorkerFailed

PATIENCE_S = 5.0
"""Seconds the app may continue after its connection was lost."""


class ServedDriver(WebDriver):
    """Textual's driver for a browser; it ends the process when its input ends.

    The end of input means that the tab was closed, the network is gone or the server has died. Keys received before
    that are still processed. Then the process exits without releasing reserved items: the person gets the same item
    when they open the app again.
    """

    def run_input_thread(self) -> None:
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._hang_up()

    def write(self, data: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        with contextlib.suppress(BrokenPipeError):
            super().write_meta(data)

    def _hang_up(self) -> None:
        last = threading.Timer(PATIENCE_S, os._exit, (1,))
        last.daemon = True
        last.start()
        asyncio.run_coroutine_threadsafe(self._exit_when_idle(), self._loop)

    async def _exit_when_idle(self) -> None:
        while True:
            await self._process_pending_keys()
            if all(worker.is_finished for worker in self._app.workers):
                os._exit(0)
            with contextlib.suppress(WorkerFailed):
                await self._app.workers.wait_for_complete()

    async def _process_pending_keys(self) -> None:
        await _wait_until_idle(self._app)
        screen = self._app.screen
        for pump in [*(screen.focused.ancestors_with_self if screen.focused else ()), screen, self._app]:
            await _wait_until_idle(pump)


async def _wait_until_idle(pump: MessagePump) -> None:
    reached = asyncio.Event()
    if pump.is_running and pump.call_later(reached.set):
        await reached.wait()
